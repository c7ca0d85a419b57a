//! Clumps, haloes and their hierarchy of substructure in AMR octree density fields (PHEW, Bleuler et al.
//! 2015), and friends-of-friends groups of particles.
//!
//! A program passes its own cells or particles, in its own order and decomposition. It gets labels back in
//! that order,
//! and the clumps, haloes or groups as typed columns.
//!
//! PHEW on cells in memory:
//!
//! ```
//! use inselberg::{Cells, Engine, Geometry, Persistence, PhewParams};
//!
//! // Two peaks, 9 and 7, on a line of cells of level 3, with a saddle between 4 and 7.
//! let positions: Vec<[u32; 3]> = (0..6).map(|x| [x, 4, 4]).collect();
//! let density = [2.0, 9.0, 4.0, 7.0, 3.0, 0.5];
//!
//! let mut engine = Engine::builder().threads(2).build()?;
//! let cells = Cells::from_leaves(Geometry::cube(1.0), &[3_u8; 6], &positions)?;
//! let params = PhewParams::new(1.0).persistence(Persistence::Ratio(1.2)).saddle(5.0);
//! let found = engine.phew(&cells, &density, &params)?;
//! let labels: Vec<u64> = found.labels().iter().map(|label| label.map_or(0, |clump| clump.get())).collect();
//!
//! assert_eq!(labels, [1, 1, 1, 2, 2, 0]);
//! assert_eq!((found.n_clumps(), found.n_haloes()), (2, 1));
//! assert_eq!((found.local_clumps()[1].parent, found.local_clumps()[1].saddle), (1, 5.5));
//! # Ok::<(), inselberg::Error>(())
//! ```
//!
//! The next step of a simulation has other densities on the same cells, and its mesh is kept. Other
//! thresholds need no run at all ([`recut`] does the same for a stored catalogue):
//!
//! ```
//! # use inselberg::{Cells, Engine, Geometry, Persistence, PhewParams};
//! # let positions: Vec<[u32; 3]> = (0..6).map(|x| [x, 4, 4]).collect();
//! # let mut engine = Engine::builder().threads(2).build()?;
//! # let cells = Cells::from_leaves(Geometry::cube(1.0), &[3_u8; 6], &positions)?;
//! let params = PhewParams::new(1.0).persistence(Persistence::Ratio(1.2));
//! for step in 0..3 {
//!     let density = [2.0, 9.0, 4.0, 7.0 - 0.25 * f64::from(step), 3.0, 0.5];
//!     let found = engine.phew(&cells, &density, &params)?;
//!     let robust = found.recut(&params.clone().persistence(Persistence::Ratio(2.0)))?;
//!     assert_eq!((found.n_clumps(), robust.n_clumps()), (2, 1));
//! }
//! # Ok::<(), inselberg::Error>(())
//! ```
//!
//! Several ranks, here as threads. Each has the cells that it owns, and all make the same calls:
//!
//! ```
//! use inselberg::{Cells, Engine, Error, Geometry, PhewParams, RankBuilder};
//!
//! std::thread::scope(|scope| {
//!     let ranks = RankBuilder::threads(2).into_iter().zip(0_u32..);
//!     let threads: Vec<_> = ranks
//!         .map(|(rank, number)| {
//!             scope.spawn(move || -> Result<(usize, bool), Error> {
//!                 let mut engine = Engine::builder().threads(1).rank(rank).build()?;
//!                 let positions: Vec<[u32; 3]> = (0..4).map(|x| [4 * number + x, 4, 4]).collect();
//!                 let density = if number == 0 { [2.0, 3.0, 9.0, 5.0] } else { [4.0, 3.0, 8.0, 2.0] };
//!                 let cells = Cells::from_leaves(Geometry::cube(1.0), &[3_u8; 4], &positions)?;
//!                 let found = engine.phew(&cells, &density, &PhewParams::new(1.0))?;
//!                 let whole = found.gather(0)?;
//!                 engine.close()?;
//!                 Ok((found.labels().len(), whole.is_some()))
//!             })
//!         })
//!         .collect();
//!     let found: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
//!     assert_eq!(found, [Ok((4, true)), Ok((4, false))]);
//! });
//! ```
//!
//! Friends-of-friends groups of particles:
//!
//! ```
//! use inselberg::{Engine, FofParams, Geometry, GroupId, Linking, ParticleColumns};
//!
//! let positions = [[0.10_f32, 0.5, 0.5], [0.12, 0.5, 0.5], [0.7, 0.5, 0.5], [0.99, 0.5, 0.5], [0.01, 0.5, 0.5]];
//! let particles = ParticleColumns::new(Geometry::cube(1.0), &positions);
//! let mut engine = Engine::builder().threads(1).build()?;
//! let groups = engine.fof(&particles, &FofParams::default().linking(Linking::Length(0.05)).min_size(2))?;
//! let [first, second] = [GroupId::new(1), GroupId::new(2)];
//! assert_eq!(groups.labels(), [first, first, None, second, second]);
//! # Ok::<(), inselberg::Error>(())
//! ```
//!
//! Outputs on disk need no arrays: the command `inselberg phew` is written on [`Engine::phew_snapshot`] and
//! [`Engine::phew_particles`], and `inselberg fof` on [`Engine::fof_particles`].
//!
//! An engine can be a guest in the MPI of a host program (`EngineBuilder::guest_of`, feature `mpi`). It never
//! prints, exits, aborts, installs hooks or reads the environment. A failure on one rank is the same
//! [`Error`] on all ranks, and the next call works.
//!
//! Inside, data flows one way: reader, mesh, partition and ghosts, density, ascent, labels, saddles, forest,
//! hierarchy, properties, catalogue. The readers and the catalogue formats are in `inselberg-io`, the
//! numerical kernels in `inselberg-kernels`, the messages between ranks in `inselberg-comm`, the scheduler in
//! `inselberg-tasks`. This crate combines them.

#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]

mod api;
mod argsort;
#[doc(hidden)]
pub mod atlas;
#[doc(hidden)]
pub mod bound;
mod chunks;
mod column;
#[doc(hidden)]
pub mod compare;
#[doc(hidden)]
pub mod density;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod exchange;
#[doc(hidden)]
pub mod executor;
#[doc(hidden)]
pub mod field;
#[doc(hidden)]
pub mod fof;
#[doc(hidden)]
pub mod graph;
mod hash;
#[doc(hidden)]
pub mod particle_mesh;
#[doc(hidden)]
pub mod particles;
#[doc(hidden)]
pub mod partition;
#[doc(hidden)]
pub mod phew;
mod pieces;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod projection;
#[doc(hidden)]
pub mod stage;
mod tables;
mod thread_loops;
#[doc(hidden)]
pub mod tracks;
#[doc(hidden)]
pub mod trees;
#[doc(hidden)]
pub mod voids;

pub use api::cell_fields::CellFields;
pub use api::cells::{Cells, Geometry};
pub use api::clumps::{ClumpId, Clumps};
pub use api::engine::{Engine, EngineBuilder};
pub use api::found::FoundCatalogue;
pub use api::groups::{FofGroups, GroupId};
pub use api::hook::Progress;
pub use api::opened::{OpenParticles, OpenSnapshot};
pub use api::params::{
    Beam, FieldDefaults, FofParams, GivenNoise, ImageParams, Linking, LinkingTypes, Measure, NewThresholds,
    NewVoidThresholds, ParamError, ParamKind, Parameter, Params, ParticleGraphParams, ParticleMeshParams,
    PhewParams, TimeLimits, Topic, TreeParams,
};
pub use api::particles::ParticleColumns;
pub use api::rank_builder::RankBuilder;
pub use api::stored::{is_void_catalogue, read_catalogue, recut, recut_voids, write_catalogue, write_labels};
pub use api::tree_objects::{TreeColumns, TreeObject};
pub use api::trees::MergerTree;
pub use api::voids::Voids;
pub use atlas::{
    AtlasLine, AtlasParams, AtlasPlane, CompactTree, CountedObjects, CutNumbers, GridUnits, MassBins,
    PeakBar, Plateau, ThresholdAtlas, VariedThreshold,
};
pub use bound::{
    BoundRequest, CentralChoice, PotentialChoice, PropertyChoice, SofteningLengths, SourceTypes,
};
pub use column::{Column, NumberType, VectorColumn};
pub use compare::{
    CatalogueComparison, CentreOffsets, CompareParams, ComparedCatalogue, Difference, Disagreement,
    LevelComparison, LevelKind, LevelObjects, ObjectPair, Partition, Ratios, SizeCount,
};
pub use error::{Error, ErrorKind};
pub use fof::Groups;
#[cfg(feature = "mpi")]
pub use inselberg_comm::HostComm;
pub use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, TableColumn, Values};
pub use inselberg_io::particles::{BlockOrder, InputDefaults};
pub use inselberg_io::{Cosmology, ExtraCosmology, Units};
pub use inselberg_kernels::phew::persistence::Persistence;
pub use inselberg_kernels::props::Structure;
pub use particles::{MemberType, source_types};
pub use partition::Weights;
pub use phew::Rules;
pub use phew::defaults::{ThresholdInForce, ThresholdsInForce};
pub use phew::image::LabelsOf;
pub use phew::params::{DensityUnit, FieldChoice};
pub use phew::selection::{Region, Selection};
pub use projection::{DensityMap, MapBox, Projection, View};
pub use tracks::TrackParams;
pub use trees::series::SeriesOrder;
pub use voids::VoidParams;
