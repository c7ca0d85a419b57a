//! Tracks: which clump of this output is which object of the last one, and which objects have no peak now?
//!
//! Place in the flow: after the clumps of an output are known, before they are unbound. What came before is a
//! list of tracks and, per track, its *source*: its former members, the most bound first. Sums of integers
//! over particles go in, one placement per track comes out. The files:
//!
//! | step | file |
//! |---|---|
//! | tracks, votes of their particles, clumps | this one |
//! | host, pairing with a clump, merging; clumps without a peak and their parents | [`placement`] |
//!
//! It does not use ranks, files or positions of particles. Nothing depends on the order of its input: sums are
//! of integers, and every choice between equals is by identifier.

pub mod placement;

use bytemuck::{Pod, Zeroable};

/// Number of tracers of a track: its most bound former members, which vote for the place of the track.
pub const N_TRACERS: u32 = 40;

/// The tracers whose mean position and velocity are the core of a track.
pub const N_CORE: u32 = 20;

/// A satellite keeps this many former members per bound one, so that what it lost for a while may come back.
pub const SOURCE_FACTOR: u64 = 3;

/// A track after an output. Its slot is its place among the tracks, which ascend by number.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Track {
    /// Its number, the same for life: the output of its birth times 2^40, plus its clump there.
    pub number: u64,
    /// Number of the track in which it lies; 0 for none.
    pub parent: u64,
    /// Identifier of its clump in that output; 0 if it was not bound there.
    pub clump: u64,
    /// Number of its bound particles when it was last bound.
    pub n_bound: u64,
    /// Their mass.
    pub mass: f64,
    /// The greatest bound mass so far.
    pub greatest_mass: f64,
    /// Number of particles in its source.
    pub n_sources: u64,
    /// 1 if it is the central of its halo, whose source only pairs.
    pub is_central: u64,
    /// Consecutive outputs in which it was not bound.
    pub n_missed: u64,
    /// Number of the track into which it has merged in that output; 0 for none. It then has no source, and ends.
    pub merged_into: u64,
}

/// What the particles of a source say of a clump, summed over particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Vote {
    /// Slot of the track.
    pub slot: u64,
    /// Identifier of the halo in which the particles lie; 0 for none.
    pub halo: u64,
    /// Identifier of the clump in whose patch they lie; 0 for none.
    pub clump: u64,
    /// Sum of the weights of its tracers there.
    pub weight: u64,
    /// Number of its formerly bound particles there.
    pub n_bound: u64,
}

/// Adds up the terms of each track and clump. Returns them by slot, halo and clump; the order of the terms
/// does not matter.
pub fn summed(mut terms: Vec<Vote>) -> Vec<Vote> {
    let key = |vote: &Vote| (vote.slot, vote.halo, vote.clump);
    terms.sort_unstable_by_key(key);
    terms.dedup_by(|term, sum| {
        let joins = key(term) == key(sum);
        if joins {
            sum.weight += term.weight;
            sum.n_bound += term.n_bound;
        }
        joins
    });
    terms
}

/// A listed clump with a peak.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct PeakedClump {
    /// Identifier of its halo.
    pub halo: u64,
    /// Its identifier.
    pub id: u64,
    /// Mass of its patch, by which the root of its halo is chosen.
    pub mass: f64,
}
