//! PHEW as a library: against brute force, over ranks and threads, from cells and from particles.

#[path = "../common/mod.rs"]
mod common;
#[path = "../verify/mod.rs"]
mod verify;

mod below_zero;
mod bound;
mod bound_gas;
mod brute_force;
mod chains;
mod contacts;
mod density;
mod determinism;
mod executor;
mod facade;
mod facade_blocks;
mod facade_projection;
mod facade_snapshots;
mod forest;
mod gas_clumps;
mod held_particles;
mod infall;
mod invariance;
mod leaves;
mod mock_haloes;
mod neighbours;
mod particle_graph;
mod particle_mesh;
mod partition;
mod ramses_parity;
mod ramses_unbinding;
mod ranks;
mod recut;
mod refined;
mod significance;
mod spanning;
mod spheres;
mod stability;
mod subsamples;
mod synth;
mod tracks;
mod voids;
