//! Friends-of-friends: groups of particles that chains of steps shorter than the linking length join.
//!
//! Each rank hands over the particles that it read; they are brought to the owners of their places, searched
//! there, joined over ranks, and every particle's group goes back to where it came from. `README.md` beside
//! this file says which exchanges are made and why the result is the same for any number of ranks.

mod attach;
mod borders;
mod check;
mod components;
mod domain;
mod error;
mod labels;
mod local;
mod merge;
mod migrate;
mod rows;
mod search;
mod spread;
mod sums;
mod types;

pub use error::FofError;
pub use types::{GroupIds, Groups, Ids, Masses, Outcome, Particles, Positions, Role, Rules, SeedRule};

use crate::crew::Crew;
use crate::phew::timed;
use domain::Domain;
use inselberg_comm::Comm;
use search::Frame;
use spread::Spread;

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
    rules: &Rules,
    comm: &Comm,
    crew: &Crew,
) -> Result<Outcome, FofError> {
    let observer = crew.observer();
    check::rules(rules)?;
    let n = particles.len() as u64;
    comm.at("particles");
    let spread = timed(observer, "particles", n, || {
        let spread = Spread::of(&particles.position);
        check::particles(&particles, rules.sides, &spread)?;
        if !rules.allow_duplicate_ids {
            check::ids(&particles, comm)?;
        }
        Ok::<_, FofError>(spread.over_ranks(comm)?)
    })?;
    check::length(rules, &spread)?;
    let frame = Frame::new(rules, &spread);
    comm.at("domains");
    let (particles, domain, routes) = timed(observer, "domains", n, || {
        let domain = Domain::new(&frame.grid, &particles.position, comm)?;
        let (particles, routes) = migrate::migrate(particles, &frame, &domain, comm)?;
        Ok::<_, FofError>((particles, domain, routes))
    })?;
    let reach = rules.sides.map_or(spread.widest(), |sides| sides.iter().copied().fold(0.0, f64::max));
    let here = local::Here { frame: &frame, domain: &domain, rules, reach, comm, crew };
    let (groups, found) = here.groups(particles)?;
    comm.at("results");
    let group_of = match routes {
        Some(routes) => timed(observer, "results", n, || routes.back(&found, comm))?,
        None => found,
    };
    Ok(Outcome { groups, group_of })
}
