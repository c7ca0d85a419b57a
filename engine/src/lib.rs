//! Clumps, haloes and their hierarchy of substructure in AMR octree density fields (PHEW, Bleuler et al. 2015), and
//! friends-of-friends groups of particles.
//!
//! Data flows one way: reader, mesh, partition and ghosts, density, ascent, labels, saddles, forest, hierarchy,
//! properties, catalogue. The readers and the catalogue formats are in `inselberg-io`, the numerical kernels in
//! `inselberg-kernels`, the messages between ranks in `inselberg-comm`, the scheduler in `inselberg-tasks`. This crate
//! combines them; it never prints, exits or reads the environment.
//!
//! A snapshot becomes a catalogue:
//!
//! ```no_run
//! use inselberg::prelude::*;
//!
//! let snapshot = inselberg_io::open("output_00080".as_ref())?;
//! let config = PhewConfig {
//!     field: FieldChoice::Auto,
//!     thresholds: Thresholds { density: 80.0, persistence: Persistence::Ratio(3.0), saddle: Some(200.0), mass: 0.0 },
//!     rules: Rules::Paper,
//!     with_cells: false,
//!     with_particles: false,
//!     weights: Weights::default(),
//! };
//! let comm = Comm::solo();
//! let outcome = run(snapshot.as_ref(), &config, &comm, &Executor::default())?;
//! let catalogue = outcome.catalogue.gather(&comm)?.expect("rank 0 holds the catalogue");
//! println!("{} clumps", catalogue.table("clumps").expect("every catalogue has clumps").n_rows());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A simulation passes the leaf cells that it owns:
//!
//! ```
//! use inselberg::prelude::*;
//!
//! // Two peaks, 9 and 7, on a line of cells of level 3, with a saddle between 4 and 7.
//! let ijk: Vec<[u32; 3]> = (0..6).map(|x| [x, 4, 4]).collect();
//! let rho = [2.0, 9.0, 4.0, 7.0, 3.0, 0.5];
//! let field = AmrField::from_leaves(Domain::CUBE, &[3; 6], &ijk, &rho)?;
//!
//! let cut = Cut { density: 1.0, persistence: Persistence::Ratio(1.2), saddle: Some(5.0) };
//! let extra = TestFields::default();
//! let task = Task { field: &field, links: &ALONE, extra: &extra, density_threshold: cut.density, side: 1.0, rules: Rules::Paper };
//! let comm = Comm::solo();
//! let patches = segment(&task, test_cells::find(&field, cut.density), &comm, &Executor::default())?;
//! let found = structures(&patches.peaks, &cut, 0.0, Rules::Paper, &comm)?;
//! assert_eq!((found.clumps.len(), found.haloes.len()), (2, 1));
//! assert_eq!((found.clumps[1].parent, found.clumps[1].saddle), (1, 5.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]

mod argsort;
mod chunks;
pub mod density;
pub mod error;
pub mod exchange;
pub mod executor;
pub mod field;
pub mod fof;
pub mod particle_mesh;
pub mod partition;
pub mod phew;
pub mod prelude;
pub mod progress;
pub mod projection;
pub mod stage;
mod tables;
