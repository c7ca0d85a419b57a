//! What an output leaves to the next one.

use crate::hash::mixed;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::tracks::Track;
use inselberg_kernels::trees::join::MemberEntry;
use std::fmt;
use std::sync::Arc;

/// The tables of the state: tracks, and the particles of their sources.
pub const STATE: [&str; 2] = ["tracks", "sources"];

/// The attribute with the number of the output in numbers of tracks.
pub const STEP: &str = "unbind_tracks_output";

/// Tracks and their sources after an output.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrackState {
    /// The number of the output, in numbers of tracks.
    pub step: u64,
    /// The time of the output in code units.
    pub time: f64,
    /// All tracks, by number; the same on all ranks.
    pub tracks: Vec<Track>,
    /// Some particles of sources, each with its slot and its rank in the source. Over all ranks each is there
    /// once.
    pub sources: Vec<MemberEntry>,
}

impl TrackState {
    /// The number of an output after this state, or of a first one; `stated` is the number that its input
    /// states.
    pub fn next_step(last: Option<&Self>, stated: Option<u32>) -> u64 {
        let least = last.map_or(0, |last| last.step + 1);
        stated.map(u64::from).filter(|number| (least..1 << 22).contains(number)).unwrap_or(least)
    }

    /// Collective: a number of the whole state, by which a series recognises that an output follows it.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn digest(&self, comm: &Comm) -> Result<u64, CommError> {
        let of_source = |entry: &MemberEntry| {
            let place = u64::from(entry.object) << 32 | u64::from(entry.rank().unwrap_or(0));
            mixed(mixed(entry.id ^ entry.key().kind << 61) ^ place)
        };
        // Sums do not depend on which rank has which source.
        let sum = self.sources.iter().fold(0u64, |sum, entry| sum.wrapping_add(of_source(entry)));
        let halves = comm.all_reduce_counts(&[sum >> 32, sum & u64::from(u32::MAX)], Reduce::Sum)?;
        let words: &[u64] = bytemuck::cast_slice(&self.tracks);
        let begin = (halves[0] << 32).wrapping_add(halves[1]) ^ self.step;
        Ok(words.iter().fold(mixed(begin), |digest, word| mixed(digest ^ word).wrapping_add(*word)))
    }
}

/// The state that a search goes on from. Parameters carry it, so it is compared by identity and shown in few
/// words.
#[derive(Clone, Default)]
pub struct TracksBefore(pub Option<Arc<TrackState>>);

impl PartialEq for TracksBefore {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

impl fmt::Debug for TracksBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(state) => write!(f, "{} tracks of output {}", state.tracks.len(), state.step),
            None => write!(f, "none"),
        }
    }
}
