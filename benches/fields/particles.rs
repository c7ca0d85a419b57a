//! The mesh of a clustered particle box.

use super::{BenchCells, BenchField};
use inselberg::executor::Executor;
use inselberg::particle_mesh::{MeshUse, ParticleMeshConfig, grow};
use inselberg::progress::Silent;
use inselberg_cli::synth::{ParticleBox, ParticleParams, write_particles};
use inselberg_comm::Comm;
use inselberg_io::particles::{N_KINDS, open_particles};
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;

/// In mean densities.
const DENSITY: f64 = 80.0;
const SADDLE: f64 = 200.0;

/// The mesh made from `size` particles. For a short time they take 12 bytes each in a file.
pub fn mesh(size: f64) -> BenchField {
    let particles = ParticleBox::new(ParticleParams { number: size as u64, seed: 1 });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("box.npy");
    write_particles(&path, &particles, &Comm::solo()).expect("a file of positions");
    let input = open_particles(&[path]).expect("positions");
    let config = ParticleMeshConfig {
        m_refine: 8,
        level_min: None,
        level_max: 20,
        kinds: [true; N_KINDS],
        side: Some(f64::from(particles.side())),
        root_level: None,
    };
    let purpose = MeshUse { threshold: DENSITY, ..MeshUse::default() };
    let executor = Executor::with_observer(&Silent);
    let grown = grow(input.as_ref(), &config, purpose, &Comm::solo(), &executor).expect("a mesh");
    let unit = grown.mean_density;
    let (density, saddle) = (DENSITY * unit, Some(SADDLE * unit));
    let cut = Cut { density, persistence: Persistence::Ratio(3.0), saddle, halo_relevance: None };
    BenchField { cells: BenchCells::Mesh(Box::new(grown.part.field)), cut }
}
