//! Members of clumps: which particles and gas cells does gravity bind to each clump, and which properties has
//! its gas?
//!
//! Place in the flow: after the hierarchy, before the catalogue. In the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | particles and gas cells to their clumps | `particles`, `gas`, `leaf_rows` |
//! | tracks of the last output: rows without a peak, and what they claim; later those of this one | `tracks` |
//! | nearest borders of clumps, for RAMSES's rules | `borders`, `ramses_units` |
//! | unbinding, properties, and columns of clumps and haloes | `crate::bound` |
//! | properties of gas, bound or not | `gas_clumps` |
//! | attributes | `attributes` |
//!
//! There are one exchange for gas and three for borders, in addition to those of `crate::bound` and
//! `gas_clumps`.

mod attributes;
mod borders;
mod gas;
mod gas_clumps;
mod input;
mod leaf_rows;
mod particles;
mod ramses_units;
mod tracks;

pub use gas::GasCells;
pub use input::{BoundInput, TestField};

use crate::bound::{
    BoundColumn, BoundRequest, BoundTask, HaloClump, HaloRows, MemberNames, PotentialChoice, ShellCentre,
    SphereDensities, UnbindMethod, Unbinder, gravity,
};
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::attributes::attributes;
use crate::phew::bound::borders::ClumpBorders;
use crate::phew::bound::gas::OwnGas;
use crate::phew::bound::gas_clumps::GasTask;
use crate::phew::bound::ramses_units::ramses_units;
use crate::phew::hierarchy::Structures;
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::catalogue::CataloguePart;
use inselberg_io::{Header, Snapshot};
use inselberg_kernels::props::Structure;
use inselberg_kernels::props::combine::SizedBox;

/// Local: checks before reading whether an input states the facts that spheres need.
///
/// # Errors
/// When it has no cosmology.
pub(crate) fn check(snapshot: &dyn Snapshot, request: &BoundRequest) -> Result<(), RunError> {
    let has_spheres = request.unbind && request.properties.has_spheres();
    match has_spheres && snapshot.header().cosmology.is_none() {
        true => Err(RunError::NoCosmology),
        false => Ok(()),
    }
}

/// Collective: unbinds the clumps, measures their gas, and adds the results to the tables of clumps and
/// haloes, as far as requested.
///
/// # Errors
/// When the input has no units for unbinding, or no requested gas. When members cannot be read, have values
/// that are not allowed, or share identities although that is not allowed. When another rank fails.
pub(crate) fn add_to(
    catalogue: &mut CataloguePart,
    input: &BoundInput,
    request: &BoundRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<(), RunError> {
    if !request.needs_members() {
        return Ok(());
    }
    if request.unbind && !input.snapshot.has_units() {
        return Err(RunError::NoUnits);
    }
    // RAMSES's rules of unbinding apply to particles.
    let unbinds_gas = request.unbinding().is_some_and(|potential| potential != PotentialChoice::Ramses);
    let gas = match unbinds_gas || request.gas {
        true => GasCells::of_input(input.snapshot, request)?,
        false => None,
    };
    let mut work =
        MemberWork { input, request, gas: gas.as_ref(), unbinds_gas, rows: rows_of(input.structures) };
    let mut own_gas = match gas {
        Some(_) => Stage::run("gas cells", 0, comm, executor.observer(), || work.read_gas(comm))?,
        None => OwnGas::default(),
    };
    let cells = match (request.gas, request.unbinding()) {
        (true, Some(_)) => own_gas.in_haloes.clone(),
        (true, None) => std::mem::take(&mut own_gas.in_haloes),
        (false, _) => Vec::new(),
    };
    if let Some(potential) = request.unbinding() {
        work.unbind(catalogue, potential, own_gas, comm, executor)?;
    }
    if let (true, Some(gas)) = (request.gas, &gas) {
        let (snapshot, space) = (input.snapshot, work.space());
        let task = GasTask { gas, snapshot, space, rows: &work.rows, spanning: request.spanning };
        task.add_to(catalogue, cells, comm, executor)?;
    }
    Ok(())
}

/// The requested properties of the members of clumps.
struct MemberWork<'a> {
    input: &'a BoundInput<'a>,
    request: &'a BoundRequest,
    gas: Option<&'a GasCells<'a>>,
    /// Whether gas cells take part in unbinding.
    unbinds_gas: bool,
    /// The rows of this rank, those without a peak at the end.
    rows: HaloRows,
}

impl MemberWork<'_> {
    fn space(&self) -> SizedBox {
        let Header { boxlen: side, origin, .. } = *self.input.snapshot.header();
        SizedBox { domain: self.input.places.domain(), side, origin }
    }

    /// Whether there are spheres, which contain members and other particles.
    fn has_spheres(&self) -> bool {
        self.request.unbind && self.request.properties.has_spheres()
    }

    /// Collective: the gas cells of this rank.
    fn read_gas(&self, comm: &Comm) -> Result<OwnGas, RunError> {
        let with_all = self.unbinds_gas && self.has_spheres();
        self.gas.map_or_else(|| Ok(OwnGas::default()), |gas| gas.read(self.input, with_all, comm))
    }

    /// Collective: unbinds the clumps.
    fn unbind(
        &mut self,
        catalogue: &mut CataloguePart,
        potential: PotentialChoice,
        own_gas: OwnGas,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), RunError> {
        let Self { input, request, .. } = *self;
        let header = input.snapshot.header();
        let gravity = gravity(&header.units, header.cosmology.as_ref());
        let cosmology = header.cosmology.as_ref().filter(|_| self.has_spheres());
        let mut members = Stage::run("members", 0, comm, executor.observer(), || {
            particles::read(input, request, cosmology.is_some(), comm)
        })?;
        if self.unbinds_gas {
            let side = header.boxlen;
            members.in_haloes.extend(own_gas.in_haloes.iter().map(|cell| cell.as_particle(side)));
            members.leaves = own_gas.by_level;
        }
        let placed = self.place_tracks(&mut members, catalogue, comm, executor)?;
        let method = match UnbindMethod::by_energies(request) {
            Some(method) => method,
            None => {
                let _borders = Stage::begin("borders", 0, comm, executor.observer());
                let borders = ClumpBorders::find(input, &self.rows.clumps, comm)?;
                // In RAMSES, isolated peaks of too low relevance have no particles.
                members.in_haloes.retain(|particle| borders.is_listed(particle.clump));
                let rows = self.rows.clumps.iter_mut().zip(&borders.of_row);
                rows.for_each(|(row, border)| row.border = *border);
                UnbindMethod::Ramses(ramses_units(input, comm)?)
            }
        };
        let (space, shell_centre) = (self.space(), ShellCentre::Peak);
        let columns = BoundColumn::chosen(request.properties);
        let task = BoundTask {
            unbinder: Unbinder {
                space,
                gravity,
                method,
                central: request.central,
                shell_centre,
                columns: &columns,
                allow_duplicate_ids: request.allow_duplicate_ids,
                spanning: request.spanning,
                has_tracks: placed.is_some(),
            },
            densities: cosmology.map(|cosmology| SphereDensities::new(&header.units, cosmology, false)),
            rows: &self.rows,
            with_members: request.with_members,
            with_ranks: input.tracks.on,
        };
        let found = task.run(members, comm, executor)?;
        let gas = self.gas.filter(|_| self.unbinds_gas);
        catalogue.attributes.extend(attributes(potential, request, input, gas));
        for part in &mut catalogue.tables {
            match part.table.name.as_str() {
                "clumps" => found.add_to_clumps(&mut part.table, &self.rows.clumps),
                "haloes" => found.add_to_haloes(&mut part.table, &self.rows.haloes),
                _ => {}
            }
        }
        catalogue.tables.extend(found.members(&MemberNames { owner: "clump", number: &|id| id }));
        self.advance_tracks(catalogue, placed.as_ref(), &found, comm, executor)
    }
}

fn rows_of(structures: &Structures) -> HaloRows {
    let row = |of: &Structure| {
        let Structure { halo, id, parent, patch_mass: mass, peak, peak_refined, .. } = *of;
        HaloClump { halo, id, parent, mass, peak, peak_refined, border: f64::INFINITY, is_peakless: 0 }
    };
    HaloRows {
        clumps: structures.clumps.iter().map(row).collect(),
        haloes: structures.haloes.iter().map(row).collect(),
    }
}
