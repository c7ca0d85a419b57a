//! Inselberg finds clumps, haloes and their whole hierarchy of substructure in AMR octree density
//! fields (PHEW, Bleuler et al. 2015).
//!
//! This crate is the engine: it reads snapshots, lays the kernels over threads and ranks, and
//! hands back a [`catalogue::Catalogue`]. Data flows one way: reader, mesh, density, ascent,
//! labels, saddles, forest, hierarchy, properties, catalogue.
//!
//! # A snapshot
//!
//! ```no_run
//! use inselberg::comm::Comm;
//! use inselberg::observe::Silent;
//! use inselberg::phew::{FieldChoice, PhewConfig, Rules, Thresholds};
//!
//! let snapshot = inselberg::io::open("output_00002".as_ref())?;
//! let config = PhewConfig {
//!     field: FieldChoice::Auto,
//!     thresholds: Thresholds { density: 80.0, relevance: 3.0, saddle: Some(200.0), mass: 0.0 },
//!     rules: Rules::Paper,
//!     with_cells: false,
//!     with_particles: false,
//! };
//! let outcome = inselberg::run::run(snapshot.as_ref(), &config, &Comm::solo(), &Silent)?;
//! inselberg::catalogue::write("clumps.hdf5".as_ref(), &outcome.catalogue)?;
//!
//! let stored = inselberg::catalogue::read("clumps.hdf5".as_ref())?;
//! println!("{} clumps", stored.table("clumps").map_or(0, |t| t.n_rows()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cells that someone else owns
//!
//! What a simulation calls every step: leaves in any order, those below the threshold left out if one
//! likes.
//!
//! ```
//! use inselberg::amr::AmrField;
//! use inselberg::comm::Comm;
//! use inselberg::kernels::geom::Domain;
//! use inselberg::kernels::phew::hierarchy::Cut;
//! use inselberg::observe::Silent;
//! use inselberg::phew::{Rules, Task, segment};
//! use inselberg::stages::properties::TestFields;
//! use inselberg::stages::tests;
//! use inselberg::structures::structures;
//!
//! // Eight cells of level 3 in a row: two peaks, of density 9 and 5, that meet at (2 + 4) / 2.
//! let rho = [1.0, 9.0, 2.0, 4.0, 5.0, 1.0, 1.0, 1.0];
//! let ijk: Vec<[u32; 3]> = (0..8).map(|x| [x, 0, 0]).collect();
//! let field = AmrField::from_leaves(Domain::CUBE, &[3; 8], &ijk, &rho)?;
//!
//! let task = Task {
//!     field: &field,
//!     extra: &TestFields::default(),
//!     density_threshold: 1.5,
//!     side: 1.0,
//!     rules: Rules::Paper,
//! };
//! let found = segment(&task, tests::find(&field, 1.5), &Comm::solo(), &Silent);
//! assert_eq!((found.tests.len(), found.peaks.len()), (4, 2));
//!
//! let cut = |relevance| Cut { density: 1.5, relevance, saddle: None };
//! let clumps = structures(&found.peaks, &cut(1.5), 0.0, Rules::Paper).clumps;
//! assert_eq!(clumps.len(), 2);
//! assert_eq!((clumps[1].rho_peak, clumps[1].saddle, clumps[1].n_cells), (5.0, 3.0, 2));
//! // Any other thresholds follow from the same tree: 5 / 3 is below 2.
//! assert_eq!(structures(&found.peaks, &cut(2.0), 0.0, Rules::Paper).clumps.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Both use the rayon pool that they are called in; run them inside `ThreadPool::install` to choose it.
//!
//! Architecture invariants: nothing in the library prints, exits or reads the environment; errors
//! are values; `io` and `catalogue` know nothing of `stages`; physics is in the `kernels` crate
//! and ranks are in the `comm` crate, which never see each other.

/// Ranks and bytes.
pub use inselberg_comm as comm;
/// What is computed on one rank.
pub use inselberg_kernels as kernels;

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
