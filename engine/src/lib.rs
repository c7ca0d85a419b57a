//! Inselberg finds clumps, haloes and their whole hierarchy of substructure in AMR octree density
//! fields (PHEW, Bleuler et al. 2015).
//!
//! This crate is the engine: it reads snapshots, lays the kernels over threads and ranks, and
//! hands back a [`catalogue::Catalogue`]. Data flows one way: reader, mesh, density, ascent,
//! labels, saddles, forest, hierarchy, properties, catalogue.
//!
//! What the command line does is a few calls. A snapshot, here one made in memory, becomes a catalogue:
//!
//! ```
//! use inselberg::prelude::*;
//!
//! let snapshot = SynthField::new(&FieldParams { test_cells: 5_000, ..FieldParams::default() })?;
//! let config = PhewConfig {
//!     field: FieldChoice::Auto,
//!     thresholds: Thresholds { density: 80.0, relevance: 1.1, saddle: Some(200.0), mass: 0.0 },
//!     rules: Rules::Paper,
//!     with_cells: false,
//!     with_particles: false,
//! };
//! let comm = Comm::solo();
//! let catalogue = run(&snapshot, &config, &comm, &Crew::default())?.catalogue.gather(&comm)?.expect("rank 0 has it");
//! let clumps = catalogue.table("clumps").expect("every catalogue has clumps");
//! let (mass, halo) = (clumps.reals("mass").unwrap(), clumps.counts("halo").unwrap());
//! assert!(mass.len() == halo.len() && mass.iter().all(|m| *m > 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A simulation hands over leaf cells that it owns, at every step if it likes:
//!
//! ```
//! use inselberg::prelude::*;
//!
//! // Two peaks, 9 and 7, on a line of cells of level 3, with a saddle between 4 and 7.
//! let ijk: Vec<[u32; 3]> = (0..6).map(|x| [x, 4, 4]).collect();
//! let rho = [2.0, 9.0, 4.0, 7.0, 3.0, 0.5];
//! let field = AmrField::from_leaves(Domain::CUBE, &[3; 6], &ijk, &rho)?;
//!
//! let cut = Cut { density: 1.0, relevance: 1.2, saddle: Some(5.0) };
//! let extra = TestFields::default();
//! let task = Task { field: &field, links: &ALONE, extra: &extra, density_threshold: cut.density, side: 1.0, rules: Rules::Paper };
//! let comm = Comm::solo();
//! let patches = segment(&task, tests::find(&field, cut.density), &comm, &Crew::default())?;
//! let found = structures(&patches.peaks, &cut, 0.0, Rules::Paper, &comm)?;
//! assert_eq!((found.clumps.len(), found.haloes.len()), (2, 1));
//! assert_eq!((found.clumps[1].parent, found.clumps[1].saddle), (1, 5.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Architecture invariants: nothing in the library prints, exits or reads the environment; errors
//! are values; `io` and `catalogue` know nothing of `stages`; physics is in the `kernels` crate
//! and ranks are in the `comm` crate, which never see each other.

/// Ranks and bytes.
pub use inselberg_comm as comm;
/// What is computed on one rank.
pub use inselberg_kernels as kernels;
/// Graphs of tasks, and who runs them.
pub use inselberg_tasks as tasks;

pub mod amr;
pub mod catalogue;
pub mod config;
pub mod crew;
pub mod domains;
pub mod fof;
mod gate;
pub mod groups;
pub mod grow;
pub mod hidden;
mod input_file;
#[cfg(feature = "hdf5")]
mod input_hdf5;
pub mod io;
pub mod observe;
pub mod opening;
pub mod peaks;
pub mod phew;
mod pieces;
pub mod prelude;
pub mod project;
pub mod ranks;
pub mod recut;
pub mod report;
pub mod reserve;
pub mod run;
pub mod scaling;
mod sorted;
pub mod stages;
pub mod staging;
pub mod structures;
pub mod synth;
pub mod tables;
pub mod topology;
