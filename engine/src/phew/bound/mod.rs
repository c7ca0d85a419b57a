//! Bound haloes: which particles does gravity hold in each clump?
//!
//! Place in the flow: after the hierarchy, before the catalogue. `particles` puts each particle into the clump of its leaf;
//! `crate::bound` does the rest, and adds columns to the tables of clumps and haloes. By RAMSES's rules, `borders` finds the
//! nearest borders of clumps before, by three exchanges.

mod borders;
mod input;
mod particles;
mod ramses_units;

pub use input::BoundInput;

use crate::bound::{
    BoundColumn, BoundRequest, BoundTask, HaloClump, HaloRows, MemberNames, ShellCentre, UnbindMethod,
    Unbinder, densities, gravity,
};
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::borders::ClumpBorders;
use crate::phew::bound::ramses_units::ramses_units;
use crate::phew::hierarchy::Structures;
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::catalogue::PartTable;
use inselberg_kernels::props::Structure;
use inselberg_kernels::props::combine::SizedBox;

/// Collective: unbinds the clumps, and adds what is bound to the tables of clumps and haloes. Does nothing unless asked.
///
/// # Errors
/// When the input has no particles or no units; when they cannot be read; when another rank fails.
pub(crate) fn add_to(
    tables: &mut Vec<PartTable>,
    input: &BoundInput,
    request: BoundRequest,
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
    let mut particles = Stage::run("members", 0, comm, executor.observer(), || {
        particles::read(input, cosmology.is_some(), comm)
    })?;
    let columns = BoundColumn::chosen(request.properties);
    let mut rows = rows_of(input.structures);
    let method = match UnbindMethod::by_energies(potential) {
        Some(method) => method,
        None => {
            let _borders = Stage::begin("borders", 0, comm, executor.observer());
            let borders = ClumpBorders::find(input, &rows.clumps, comm)?;
            // RAMSES gives no particles to isolated peaks of too low relevance.
            particles.in_haloes.retain(|particle| borders.is_listed(particle.clump));
            rows.clumps.iter_mut().zip(&borders.of_row).for_each(|(row, border)| row.border = *border);
            UnbindMethod::Ramses(ramses_units(input, comm)?)
        }
    };
    let task = BoundTask {
        unbinder: Unbinder { space, gravity, method, shell_centre: ShellCentre::Peak, columns: &columns },
        densities: cosmology.map(|cosmology| densities(&gravity, cosmology)),
        rows: &rows,
        with_members: request.with_members,
    };
    let found = task.run(particles, comm, executor)?;
    for part in tables.iter_mut() {
        match part.table.name.as_str() {
            "clumps" => found.add_to_clumps(&mut part.table, &rows.clumps),
            "haloes" => found.add_to_haloes(&mut part.table, &rows.haloes),
            _ => {}
        }
    }
    tables.extend(found.members(&MemberNames { owner: "clump", number: &|id| id }, comm)?);
    Ok(())
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
