//! Friends-of-friends: groups of particles that chains of steps shorter than the linking length join.
//!
//! Each rank hands over the particles that it read; they are brought to the owners of their places, searched
//! there, joined over ranks, and every particle's group goes back to where it came from. `README.md` beside
//! this file says which exchanges are made and why the result is the same for any number of ranks.

mod attach;
mod borders;
mod bounds;
mod check;
mod components;
mod domain;
mod error;
mod labels;
mod length;
mod load;
mod local;
mod merge;
mod migrate;
mod picture;
mod plan;
mod rows;
pub mod run;
mod run_error;
mod search;
pub(crate) mod sound;
mod sums;
pub mod tables;
mod types;

pub use error::FofError;
pub use length::LinkingLength;
pub use load::RowRange;
pub(crate) use load::{make_room, read};
pub use plan::ParticleCounts;
pub(crate) use plan::contents;
pub use run::{FofConfig, FofOutcome, run_fof};
pub use run_error::FofRunError;
pub use types::{
    FoundGroups, GroupIds, Groups, Ids, LinkingRules, Masses, Particles, Positions, Role, SeedRule,
};

use crate::executor::Executor;
use crate::stage::Stage;
use bounds::Bounds;
use domain::BlockOwners;
use inselberg_comm::Comm;
use search::SearchSpace;

/// Collective: the groups of the particles of all ranks. Uses the crew, and the current rayon pool for plain
/// loops. The result is the same bit for bit for any number of ranks and threads and any division of the particles among ranks.
///
/// Linear in the particles, but for chains of cells that are joined at almost one time; beside the input 40
/// bytes a particle at most.
///
/// # Errors
/// When the rules or the particles are no sound input, and when another rank fails. What goes wrong on one
/// rank only is for its caller to pass on to the others ([`Comm::abort`]).
pub fn find_groups(
    particles: Particles,
    rules: &LinkingRules,
    comm: &Comm,
    executor: &Executor,
) -> Result<FoundGroups, FofError> {
    let observer = executor.observer();
    check::rules(rules)?;
    let n = particles.len() as u64;
    let spread = Stage::run("particles", n, comm, observer, || {
        let spread = Bounds::from_positions(&particles.position);
        check::particles(&particles, rules.sides, &spread)?;
        if !rules.allow_duplicate_ids {
            check::ids(&particles, comm)?;
        }
        Ok::<_, FofError>(spread.over_ranks(comm)?)
    })?;
    check::length(rules, &spread)?;
    let frame = SearchSpace::new(rules, &spread);
    let (particles, domain, routes) = Stage::run("domains", n, comm, observer, || {
        let domain = BlockOwners::new(&frame.grid, &particles.position, comm)?;
        let (particles, routes) = migrate::migrate(particles, &frame, &domain, comm)?;
        Ok::<_, FofError>((particles, domain, routes))
    })?;
    let reach = rules.sides.map_or(spread.widest(), |sides| sides.iter().copied().fold(0.0, f64::max));
    let here = local::RankContext { frame: &frame, domain: &domain, rules, reach, comm, executor };
    let (groups, found) = here.groups(particles)?;
    let group_of = match routes {
        Some(routes) => Stage::run("results", n, comm, observer, || routes.back(&found, comm))?,
        None => found,
    };
    Ok(FoundGroups { groups, group_of })
}
