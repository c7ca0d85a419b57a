//! The plain ways to the same answers: what the fast code is held against.
//!
//! [`brute`] is PHEW by its definitions over all pairs of cells, [`paper`] the paper's own merging procedure
//! round by round, [`graph`] the merge tree by its definition and random graphs of peaks, [`noise`]
//! significance by its definition, [`meshes`] random octrees, [`boxed`] what holds them as a snapshot,
//! [`nfw`] and [`spheres`] ideal haloes of particles. Nothing here calls the code under test, and nothing
//! here is fast.
#![allow(dead_code, reason = "each test uses its part")]

pub mod boxed;
pub mod brute;
pub mod expect;
pub mod graph;
pub mod meshes;
pub mod nfw;
pub mod noise;
pub mod paper;
pub mod random;
pub mod spheres;
