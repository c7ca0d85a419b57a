//! Voids: the zones around the emptiest places of a particle graph, and their hierarchy.
//!
//! PHEW holds for any field on any graph (paper, section 6). Here the field is the specific volume of
//! particles, mean density over density. Its peaks are the emptiest places, its saddles the lowest points of
//! walls. So everything from ascent to hierarchy is done by [`crate::phew`], upside down. `docs/voids.md` has
//! the definitions.
//!
//! | phew | here |
//! |---|---|
//! | density | specific volume: mean density / density |
//! | volume, mass | mass, volume: the integral of the specific volume over mass |
//! | peak, saddle | emptiest particle, lowest point of a wall |
//! | clump, halo | zone, void |
//!
//! | file | question |
//! |---|---|
//! | `config` | which walls divide voids, and which voids are listed? |
//! | `run` | the whole procedure: from particles to a catalogue |
//! | `rows` | over which wall does each zone overflow, and how many zones has each void? |
//! | `walls` | which particles are at walls or in cores, and how dense is it there? |
//! | `tables` | the tables of a catalogue |
//! | `recut` | new thresholds for a stored catalogue |
//!
//! Invariants: a void has the identifier of its emptiest zone. Nothing depends on ranks or threads.

mod config;
mod recut;
mod rows;
mod run;
mod tables;
mod walls;

pub use config::VoidParams;
pub use recut::{NewVoidThresholds, is_void_catalogue, recut_voids};
pub use run::{VoidOutcome, run_voids};
