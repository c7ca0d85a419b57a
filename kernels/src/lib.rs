//! Kernels: all computations on one rank, from slices to slices.
//!
//! Place in the flow: octs come in as plain arrays and become a sorted [`mesh::Mesh`]. A [`density`] is
//! deposited on it, or [`particle_mesh`] builds mesh and density from particles. [`phew`] turns densities
//! into peaks, saddles, a merge tree and, under given thresholds, clumps and haloes; [`props`] computes their
//! properties. [`graph`] links particles for the same steps without a mesh. [`fof`] groups particles.
//! [`bound`] removes unbound members and measures the rest. [`gas`] measures the gas of clumps. [`sky`]
//! places pixels on the sky. [`trees`] links objects of consecutive outputs.
//!
//! Terms: a *cell* is a cube of the octree, an *oct* the eight children of a cell, a *level* the depth of a
//! cell. A *brick* is a 4x4x4 block of cells of one level, a *super-brick* a 4x4x4 block of bricks. A *test
//! cell* is a leaf above the density threshold, a *peak* a test cell without a denser neighbour, a *patch*
//! the set of all test cells whose ascent ends at one peak. A *saddle* joins two patches. A *clump* is a
//! union of patches left by noise removal, a *halo* a union of clumps above the saddle threshold.
//!
//! It does not use threads, files, or clocks, and of ranks only the number of a peak's owner. There is no
//! unsafe code. Functions work on borrowed slices (of atomics where several callers share them). Once a mesh
//! and its densities are validated, nothing here fails. All comparisons of cells use the total order
//! (density, cell index), where the index order of a mesh is the order of (level, Morton key). No sum depends
//! on the order of its terms.
#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]
#![forbid(unsafe_code)]

pub mod bound;
pub mod dendrogram;
pub mod density;
pub mod fof;
pub mod gas;
pub mod geom;
pub mod graph;
pub mod ids;
pub mod loops;
pub mod mesh;
pub mod noise;
pub mod packed_key;
pub mod particle_mesh;
pub mod phew;
pub mod props;
pub mod sfc;
pub mod simd;
pub mod sky;
pub mod sum;
pub mod sync;
pub mod tracks;
pub mod trees;
pub mod union_find;
