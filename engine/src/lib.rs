//! Inselberg finds clumps, haloes and their whole hierarchy of substructure in AMR octree density
//! fields (PHEW, Bleuler et al. 2015).
//!
//! This crate is the engine: it reads snapshots, lays the kernels over threads and ranks, and
//! hands back a [`catalogue::Catalogue`]. Data flows one way: reader, mesh, density, ascent,
//! labels, saddles, forest, hierarchy, properties, catalogue.
//!
//! Architecture invariants: nothing in the library prints, exits or reads the environment; errors
//! are values; `io` and `catalogue` know nothing of `stages`; physics is in the `kernels` crate
//! and ranks are in the `comm` crate, which never see each other.

pub mod amr;
pub mod catalogue;
pub mod config;
pub mod io;
pub mod observe;
pub mod peaks;
pub mod phew;
pub mod project;
pub mod recut;
pub mod report;
pub mod run;
pub mod stages;
pub mod structures;
pub mod synth;
pub mod tables;
