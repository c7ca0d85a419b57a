//! Finds tracers among members by merging two sorted lists.

use crate::trees::tracer::TracerKey;
use bytemuck::{Pod, Zeroable};

/// The type of a star among members.
const STAR: u32 = 1 << 31;

/// A particle of an object, with its place among the tracers of that object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MemberEntry {
    /// The identity.
    pub id: u64,
    /// The place of the object.
    pub object: u32,
    /// The type in the top bit; below it 1 more than the rank as a tracer, or 0.
    mark: u32,
}

impl MemberEntry {
    /// A member; `rank` if it is a tracer. Rank must be below 2^31 - 1.
    pub fn new(key: TracerKey, object: u32, rank: Option<u32>) -> Self {
        let star = if key.kind == 1 { 0 } else { STAR };
        Self { id: key.id, object, mark: star | rank.map_or(0, |rank| rank + 1) }
    }

    /// The same member with another rank.
    #[must_use]
    pub fn with_rank(&self, rank: Option<u32>) -> Self {
        Self::new(self.key(), self.object, rank)
    }

    /// The particle.
    pub fn key(&self) -> TracerKey {
        TracerKey { id: self.id, kind: if self.mark & STAR == 0 { 1 } else { 4 } }
    }

    /// Its rank as a tracer.
    pub fn rank(&self) -> Option<u32> {
        (self.mark & !STAR).checked_sub(1)
    }
}

/// Calls `hit` with each tracer and the member that is the same particle. Both lists ascend by identity;
/// members are distinct, tracers need not be. O(n + m).
pub fn join(
    tracers: &[MemberEntry],
    members: &[MemberEntry],
    mut hit: impl FnMut(&MemberEntry, &MemberEntry),
) {
    let mut rest = members;
    for tracer in tracers {
        let n_below = rest.iter().take_while(|member| member.id < tracer.id).count();
        rest = &rest[n_below..];
        // Particles of different types may have one identity.
        let same = rest.iter().take_while(|member| member.id == tracer.id);
        same.filter(|member| member.key() == tracer.key()).for_each(|member| hit(tracer, member));
    }
}

/// The first particle that occurs twice in a list that ascends by identity, with both entries.
pub fn first_twin(members: &[MemberEntry]) -> Option<[MemberEntry; 2]> {
    let runs = members.chunk_by(|a, b| a.id == b.id).filter(|run| run.len() > 1);
    let twins = runs.flat_map(|run| {
        let pair = |i: usize| run[..i].iter().find(|e| e.key() == run[i].key()).map(|e| [*e, run[i]]);
        (1..run.len()).find_map(pair)
    });
    twins.into_iter().next()
}
