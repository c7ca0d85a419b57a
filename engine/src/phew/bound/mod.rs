//! Bound haloes: which particles and gas cells does gravity hold in each clump?
//!
//! Place in the flow: after the hierarchy, before the catalogue. In the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | particles and gas cells to their clumps | `particles`, `gas`, `leaf_rows` |
//! | nearest borders of clumps, for RAMSES's rules | `borders`, `ramses_units` |
//! | unbinding, properties, and columns of clumps and haloes | `crate::bound` |
//! | attributes | `attributes` |
//!
//! One exchange for gas and three for borders, beside those of `crate::bound`.

mod attributes;
mod borders;
mod gas;
mod input;
mod leaf_rows;
mod particles;
mod ramses_units;

pub use gas::GasCells;
pub use input::{BoundInput, TestField};

use crate::bound::{
    BoundColumn, BoundRequest, BoundTask, CandidateParticles, HaloClump, HaloRows, MemberNames,
    PotentialChoice, ShellCentre, UnbindMethod, Unbinder, densities, gravity,
};
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::attributes::attributes;
use crate::phew::bound::borders::ClumpBorders;
use crate::phew::bound::ramses_units::ramses_units;
use crate::phew::hierarchy::Structures;
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::catalogue::CataloguePart;
use inselberg_kernels::props::Structure;
use inselberg_kernels::props::combine::SizedBox;

/// Collective: unbinds the clumps, and adds what is bound to the tables of clumps and haloes. Does nothing unless asked.
///
/// # Errors
/// When the input has no units. When members cannot be read, have values that are not allowed, or share identities against
/// the request. When another rank fails.
pub(crate) fn add_to(
    catalogue: &mut CataloguePart,
    input: &BoundInput,
    request: &BoundRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<(), RunError> {
    let Some(potential) = request.unbind else { return Ok(()) };
    if !input.snapshot.has_units() {
        return Err(RunError::NoUnits);
    }
    let header = input.snapshot.header();
    let gravity = gravity(&header.units, header.cosmology.as_ref());
    let space = SizedBox { domain: *input.part.field.mesh.domain(), side: header.boxlen };
    let cosmology = header.cosmology.as_ref().filter(|_| request.properties.has_spheres());
    // RAMSES's rules are about particles.
    let gas = match potential {
        PotentialChoice::Ramses => None,
        _ => GasCells::of_input(input.snapshot)?,
    };
    let mut members = Stage::run("members", 0, comm, executor.observer(), || {
        read_members(input, gas.as_ref(), request, cosmology.is_some(), comm)
    })?;
    let columns = BoundColumn::chosen(request.properties);
    let mut rows = rows_of(input.structures);
    let method = match UnbindMethod::by_energies(request) {
        Some(method) => method,
        None => {
            let _borders = Stage::begin("borders", 0, comm, executor.observer());
            let borders = ClumpBorders::find(input, &rows.clumps, comm)?;
            // RAMSES gives no particles to isolated peaks of too low relevance.
            members.in_haloes.retain(|particle| borders.is_listed(particle.clump));
            rows.clumps.iter_mut().zip(&borders.of_row).for_each(|(row, border)| row.border = *border);
            UnbindMethod::Ramses(ramses_units(input, comm)?)
        }
    };
    let task = BoundTask {
        unbinder: Unbinder { space, gravity, method, shell_centre: ShellCentre::Peak, columns: &columns },
        densities: cosmology.map(|cosmology| densities(&gravity, cosmology)),
        rows: &rows,
        with_members: request.with_members,
        allow_duplicate_ids: request.allow_duplicate_ids,
    };
    let found = task.run(members, comm, executor)?;
    catalogue.attributes.extend(attributes(request, input.snapshot, gas.as_ref()));
    for part in &mut catalogue.tables {
        match part.table.name.as_str() {
            "clumps" => found.add_to_clumps(&mut part.table, &rows.clumps),
            "haloes" => found.add_to_haloes(&mut part.table, &rows.haloes),
            _ => {}
        }
    }
    catalogue.tables.extend(found.members(&MemberNames { owner: "clump", number: &|id| id }, comm)?);
    Ok(())
}

/// Collective: reads particles and gas cells, and finds the clump of each.
fn read_members(
    input: &BoundInput,
    gas: Option<&GasCells>,
    request: &BoundRequest,
    with_all: bool,
    comm: &Comm,
) -> Result<CandidateParticles, RunError> {
    let mut members = particles::read(input, request, with_all, comm)?;
    if let Some(gas) = gas {
        let gas = gas.read(input, with_all, comm)?;
        members.in_haloes.extend(gas.in_haloes);
        members.leaves = gas.by_level;
    }
    Ok(members)
}

fn rows_of(structures: &Structures) -> HaloRows {
    let row = |of: &Structure| {
        let Structure { halo, id, parent, peak, peak_refined, .. } = *of;
        HaloClump { halo, id, parent, peak, peak_refined, border: f64::INFINITY }
    };
    HaloRows {
        clumps: structures.clumps.iter().map(row).collect(),
        haloes: structures.haloes.iter().map(row).collect(),
    }
}
