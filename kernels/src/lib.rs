//! What is computed on one rank: from slices to slices.
//!
//! Place in the flow: octs come in as plain arrays, a sorted [`mesh::Mesh`] is made of them, a
//! density is laid on it, and [`phew`] turns it into peaks, saddles, a merge tree and, under given
//! thresholds, clumps and haloes; [`props`] says what each of them is like.
//!
//! Words: a *cell* is a cube of the octree, an *oct* its eight children, a *level* its depth. A
//! *brick* is a 4x4x4 block of cells of one level, a *super-brick* a 4x4x4 block of bricks. A *test
//! cell* is a leaf above the density threshold, a *peak* a test cell without a denser neighbour, a
//! *patch* all test cells whose ascent ends in it. A *saddle* joins two patches. A *clump* is a
//! union of patches left by noise removal, a *halo* a union of clumps left by the saddle threshold.
//!
//! Architecture invariants: no unsafe code, no threads, no files, no clock, and of ranks no more than
//! the number of the one that owns a peak. Functions work on borrowed slices (atomic where several
//! callers share them), and once a mesh and its densities are validated nothing here fails. Every
//! comparison of cells is on the total order (density, cell index), where the index order of a mesh
//! is the order of (level, Morton key), and no sum depends on the order of its terms.
#![forbid(unsafe_code)]

pub mod density;
pub mod fof;
pub mod geom;
pub mod ids;
pub mod mesh;
pub mod packed_key;
pub mod particle_mesh;
pub mod phew;
pub mod props;
pub mod sfc;
pub mod simd;
pub mod sum;
pub mod sync;
pub mod union_find;
