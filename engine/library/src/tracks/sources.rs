//! Particles of sources, each on the rank of its identity, sorted there: which track had a particle?

use crate::bound::ClumpParticle;
use crate::exchange::relay::ask;
use crate::exchange::{dealt, rank_of_identity};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::bound::members::NO_RANK;
use inselberg_kernels::trees::join::MemberEntry;
use inselberg_kernels::trees::tracer::TracerKey;
use rayon::prelude::*;

/// The sources whose identities belong to this rank, by identity and type.
pub struct SourceIndex(pub Vec<MemberEntry>);

/// The track that had a particle, and its rank in the source; both [`NO_RANK`] if none had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FormerPlace {
    pub slot: u32,
    pub rank: u32,
}

impl FormerPlace {
    const NONE: Self = Self { slot: NO_RANK, rank: NO_RANK };

    /// The slot of the track, if there is one.
    pub fn slot(self) -> Option<usize> {
        (self.slot != NO_RANK).then_some(self.slot as usize)
    }
}

/// Collective: entries to the ranks of their identities, by identity and type there. One exchange.
///
/// # Errors
/// When another rank fails.
pub fn by_identity(entries: Vec<MemberEntry>, comm: &Comm) -> Result<Vec<MemberEntry>, CommError> {
    let mut entries = match comm.n_ranks() {
        1 => entries,
        n => {
            let parts = dealt(&entries, |entry| (rank_of_identity(entry.id, n), *entry));
            drop(entries);
            comm.exchange(parts)?.into_iter().flat_map(|(_, entries)| entries).collect()
        }
    };
    entries.par_sort_unstable_by_key(|entry| (entry.id, entry.key().kind, entry.object, entry.rank()));
    Ok(entries)
}

impl SourceIndex {
    /// Collective: of sources on any ranks.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(sources: &[MemberEntry], comm: &Comm) -> Result<Self, CommError> {
        Ok(Self(by_identity(sources.to_vec(), comm)?))
    }

    /// Collective: the former place of each of these particles. Two exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn of(&self, particles: &[ClumpParticle], comm: &Comm) -> Result<Vec<FormerPlace>, CommError> {
        let key =
            |particle: &ClumpParticle| TracerKey { id: particle.id, kind: particle.particle_type.into() };
        if comm.n_ranks() == 1 {
            return Ok(particles.par_iter().map(|particle| self.find(key(particle))).collect());
        }
        let keys: Vec<TracerKey> = particles.par_iter().map(key).collect();
        let to = |key: &TracerKey| rank_of_identity(key.id, comm.n_ranks());
        ask(comm, &keys, to, |asked| Ok(asked.par_iter().map(|key| self.find(*key)).collect()))
    }

    fn find(&self, key: TracerKey) -> FormerPlace {
        let place = self.0.binary_search_by_key(&(key.id, key.kind), |entry| (entry.id, entry.key().kind));
        place.map_or(FormerPlace::NONE, |at| {
            let entry = &self.0[at];
            FormerPlace { slot: entry.object, rank: entry.rank().unwrap_or(NO_RANK) }
        })
    }
}
