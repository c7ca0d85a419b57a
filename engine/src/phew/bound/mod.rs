//! Bound haloes: which particles does gravity hold in each clump?
//!
//! Place in the flow: after the hierarchy, before the catalogue. In the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | particles to their clumps | `particles` |
//! | haloes to the ranks that work on them | `workers` |
//! | unbinding, halo by halo | `unbind` |
//! | properties, each one column | `columns` |
//! | spheres about the centres of haloes, over all ranks | `spheres`, `point_grid` |
//! | columns of clumps and haloes, and the table of members | `tables` |
//!
//! Four exchanges in all. Each halo is whole on one rank, so the largest one must fit into the memory of a rank, at 200 bytes
//! per particle. No result depends on which rank that is. The numerical part is in `inselberg_kernels::bound`.

mod columns;
mod gravity;
mod input;
mod particles;
mod point_grid;
mod rows;
mod spheres;
mod tables;
mod unbind;
mod workers;

pub use input::BoundInput;

use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::columns::BoundColumn;
use crate::phew::bound::particles::OwnParticles;
use crate::phew::bound::point_grid::PointGrid;
use crate::phew::bound::spheres::Surroundings;
use crate::phew::bound::tables::TableRequest;
use crate::phew::bound::unbind::Unbinder;
use crate::phew::params::{BoundRequest, PropertyChoice};
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::catalogue::PartTable;
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
    let Some(method) = request.unbind else { return Ok(()) };
    let gravity = gravity::of_input(input.snapshot)?;
    let space = SizedBox { domain: *input.part.field.mesh.domain(), side: input.snapshot.header().boxlen };
    let observer = executor.observer();
    let cosmology = input.snapshot.header().cosmology.as_ref();
    let cosmology = cosmology.filter(|_| request.properties == PropertyChoice::All);
    let OwnParticles { in_haloes, all } =
        Stage::run("members", 0, comm, observer, || particles::read(input, cosmology.is_some(), comm))?;
    let work = Stage::run("haloes to ranks", 0, comm, observer, || {
        workers::to_workers(in_haloes, input.structures, comm)
    })?;
    let stage = Stage::begin("unbinding", work.particles.len() as u64, comm, observer);
    let columns = BoundColumn::chosen(request.properties);
    let unbinder = Unbinder { space, gravity, method, columns: &columns };
    let bound = unbinder.unbind(&work, |n| observer.advance(n as u64))?;
    drop(stage);
    let spheres = match cosmology {
        None => None,
        Some(cosmology) => {
            let _spheres = Stage::begin("spheres", 0, comm, observer);
            let points = PointGrid::new(all, space.domain);
            let densities = spheres::densities(&gravity, cosmology);
            Some(Surroundings { points, space: &space }.spheres(&bound.centres(), &densities, comm)?)
        }
    };
    let found = TableRequest { columns: &columns, spheres, with_members: request.with_members };
    found.add(tables, bound, input.structures, comm)
}
