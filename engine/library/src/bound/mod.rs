//! Bound particles over ranks: which particles does gravity bind to clumps or groups, and what are their
//! properties?
//!
//! `phew` and `fof` pass particles, each with the halo and the clump of which it is a candidate. They get
//! columns for their tables. In the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | the request of a caller | `request` |
//! | particles and gas cells, as ranks exchange them | `candidates` |
//! | the strength of gravity in code units; positions about a halo | `gravity`, `frame` |
//! | haloes to the ranks that process them | `workers`, `rows` |
//! | unbinding, halo by halo, by one of the methods | `unbind`, `method` |
//! | the same of large haloes, by all ranks together | `spanning` ([protocol](spanning/README.md)) |
//! | properties, each one column | `columns`, `chosen_columns`, `type_columns` |
//! | spheres about the centres of haloes, over all ranks | `spheres`, `point_grid`, `leaf_grid` |
//! | the connection of the slices of large haloes and spheres | `rank_slices` |
//! | columns of clumps and haloes, and the table of members | `tables`, `member_rows` |
//!
//! There are four exchanges, in addition to those of large haloes. A halo is whole on one rank, at 200 bytes
//! per particle, unless it has more than a quarter of the share of a rank. Results do not depend on which
//! ranks process it. The numerical part is in `inselberg_kernels::bound`.
//!
//! This folder does not depend on how particles get their clumps, nor on inputs and files.

mod candidates;
mod chosen_columns;
mod columns;
mod error;
mod frame;
mod gravity;
mod leaf_grid;
mod member_rows;
mod method;
mod point_grid;
mod rank_slices;
mod request;
mod rows;
mod spanning;
mod spheres;
mod tables;
mod type_columns;
mod unbind;
mod workers;

pub use candidates::{CandidateParticles, ClumpParticle, HaloMember};
pub use columns::BoundColumn;
pub use error::BoundError;
pub use frame::HaloFrame;
pub use gravity::gravity;
pub use leaf_grid::length;
pub use method::{RamsesUnits, UnbindMethod};
pub use point_grid::{PointGrid, PointMass};
pub use rank_slices::RankSlices;
pub(crate) use request::allows_duplicates;
pub use request::{
    BoundRequest, CentralChoice, PotentialChoice, PropertyChoice, PropertyWords, SofteningLengths,
    SourceTypes, SpanRules,
};
pub use rows::{HaloClump, HaloRows, RowDirectory};
pub use spheres::{Sphere, SphereCentre, SphereDensities, Surroundings};
pub use tables::{BoundTables, IS_CENTRAL, MemberNames, sphere_columns};
pub use unbind::{BoundClump, BoundParticle, ShellCentre, Unbinder};
pub use workers::{HaloWork, SpanningHalo, even_workers, to_workers};

use crate::bound::tables::TableRequest;
use crate::executor::Executor;
use crate::stage::Stage;
use inselberg_comm::Comm;

/// The haloes to unbind, and the requested results. The same on all ranks except for the rows.
pub struct BoundTask<'a> {
    /// How haloes are unbound.
    pub unbinder: Unbinder<'a>,
    /// The mean densities of spheres about the centres of haloes, if these are requested.
    pub densities: Option<SphereDensities>,
    /// The rows of this rank.
    pub rows: &'a HaloRows,
    /// Whether bound particles are listed.
    pub with_members: bool,
    /// Whether bound particles are kept with their ranks, for tracks.
    pub with_ranks: bool,
}

impl BoundTask<'_> {
    /// Collective: unbinds all haloes.
    ///
    /// # Errors
    /// When a particle has a value that is not allowed, or shares its identity; when another rank fails.
    pub fn run(
        &self,
        candidates: CandidateParticles,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<BoundTables<'_>, BoundError> {
        let (observer, unbinder) = (executor.observer(), &self.unbinder);
        let CandidateParticles { in_haloes, all, leaves } = candidates;
        let (work, spanning) = Stage::run("haloes to ranks", 0, comm, observer, || {
            workers::to_workers(in_haloes, self.rows, &unbinder.spanning, comm)
        })?;
        if !unbinder.allow_duplicate_ids {
            work.check_ids()?;
        }
        let n_spanning: usize = spanning.haloes.iter().map(|halo| halo.members.len()).sum();
        let stage = Stage::begin("unbinding", (work.members.len() + n_spanning) as u64, comm, observer);
        let mut bound = unbinder.unbind(&work, |n| observer.advance(n as u64))?;
        drop(work);
        bound.spanning = spanning.haloes.iter().map(|halo| halo.clumps[0].halo).collect();
        for halo in spanning.haloes {
            let n = halo.members.len() as u64;
            spanning::unbind_spanning(halo, spanning.limit, unbinder, comm, &mut bound)?;
            observer.advance(n);
        }
        bound.sort(unbinder.columns.iter().map(|column| column.n_parts()).sum());
        drop(stage);
        let spheres = match &self.densities {
            None => None,
            Some(densities) => {
                let _spheres = Stage::begin("spheres", 0, comm, observer);
                let surroundings = Surroundings::new(all, leaves, &unbinder.space);
                Some(surroundings.spheres(&bound.centres(), densities, &unbinder.spanning, comm)?)
            }
        };
        let has_haloes = unbinder.method.energy_rules().is_some();
        let (columns, with_members, with_ranks) = (unbinder.columns, self.with_members, self.with_ranks);
        let request = TableRequest { columns, spheres, with_members, with_ranks, has_haloes };
        Ok(request.tables(bound, self.rows, comm)?)
    }
}
