//! Objects that are remembered: from output to output, which particles belonged to which track, and so which
//! clumps have no peak?
//!
//! Place in the flow: between the hierarchy and the unbinding of an output, and after it.
//!
//! | step | file |
//! |---|---|
//! | what a search asks for | [`params`] |
//! | what an output leaves to the next one | [`state`] |
//! | the same as tables of a catalogue, and back | [`tables`], [`stored`] |
//! | particles of sources, found by identity | [`sources`] |
//! | where the cores of tracks are now | [`cores`] |
//! | places of the tracks, clumps without a peak, and candidates of every track | [`before`] |
//! | bound particles and losers become the sources of the next output | [`after`] |
//! | both, for a search | [`output`] |
//!
//! ```text
//!   every rank:  its particles ──► rank of their identity: track, rank in its source ──► back, 8 bytes per particle
//!                sums of votes per track and clump ──► rank 0
//!   rank 0:      haloes and clumps of the tracks ──► every rank
//!   every rank:  its share of pairs whose cores coincide ──► rank 0: mergers, clumps without a peak ──► every rank
//!                (`inselberg_kernels::tracks`)
//!   every rank:  the clump of which each particle is a candidate; then `crate::bound`
//!                bound particles ──► rank of their identity, beside the last sources ──► sorted by track and rank
//! ```
//!
//! All ranks hold all tracks, 80 bytes each, and a share of the sources, 16 bytes per particle. Votes are sums of
//! integers, and lists are in orders that do not depend on ranks. So a series has the same bits on any ranks
//! and threads, and after an interruption.
//!
//! This folder does not know how particles get their clumps, nor options. `docs/tracks.md` explains the rules.

mod after;
mod before;
mod cores;
mod output;
mod params;
mod sources;
mod state;
mod stored;
mod tables;

pub use before::{PlacedTracks, TrackRules};
pub use output::{TrackCatalogue, TrackedOutput};
pub use params::TrackParams;
pub use state::{STATE, TrackState, TracksBefore};
pub use stored::read_tracks;
pub use tables::{DIGEST, DIGEST_BEFORE, add_peakless, add_track_columns};
