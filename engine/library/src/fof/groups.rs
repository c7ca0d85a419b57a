//! The search step by step: from the particles of all ranks to their groups.

use crate::executor::Executor;
use crate::fof::block_owners::BlockOwners;
use crate::fof::error::FofError;
use crate::fof::search::SearchSpace;
use crate::fof::types::{FoundGroups, LinkingRules, Particles};
use crate::fof::{check, local, migrate};
use crate::particles::Bounds;
use crate::stage::Stage;
use inselberg_comm::Comm;

/// Collective: the groups of the particles of all ranks. The result is the same bit for bit for any number of
/// ranks and threads and any distribution of the particles over ranks.
///
/// About linear in the particles. Takes at most 40 bytes per particle beside the input.
///
/// # Errors
/// When the rules or the particles are not valid, and when another rank fails. An error on one rank only must
/// be passed on to the others by the caller ([`Comm::abort`]).
pub fn find_groups(
    particles: Particles,
    rules: &LinkingRules,
    comm: &Comm,
    executor: &Executor,
) -> Result<FoundGroups, FofError> {
    let observer = executor.observer();
    check::rules(rules)?;
    let n = particles.len() as u64;
    let spread = Stage::run("checks", n, comm, observer, || {
        let spread = Bounds::from_positions(&particles.position);
        check::particles(&particles, rules.sides, &spread)?;
        if !rules.allow_duplicate_ids {
            check::ids(&particles, comm)?;
        }
        Ok::<_, FofError>(spread.over_ranks(comm)?)
    })?;
    check::length(rules, &spread)?;
    let frame = SearchSpace::new(rules, &spread);
    let (particles, owners, returns) = Stage::run("domains", n, comm, observer, || {
        let owners = BlockOwners::new(&frame.grid, &particles.position, comm)?;
        let (particles, returns) = migrate::migrate(particles, &frame, &owners, comm)?;
        Ok::<_, FofError>((particles, owners, returns))
    })?;
    // No two particles are farther apart along any axis.
    let reach = rules.sides.map_or(spread.widest(), |sides| sides.iter().copied().fold(0.0, f64::max));
    let rank = local::RankContext { frame: &frame, owners: &owners, rules, reach, comm, executor };
    let (groups, own_ids) = rank.groups(particles)?;
    let group_of = match returns {
        Some(returns) => Stage::run("results", n, comm, observer, || returns.back(&own_ids, comm))?,
        None => own_ids,
    };
    Ok(FoundGroups { groups, group_of })
}
