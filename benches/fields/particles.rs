//! The mesh of a clustered particle box.

use super::{BenchCells, BenchField};
use inselberg::executor::Executor;
use inselberg::particle_mesh::{MeshUse, ParticleMeshConfig, grow};
use inselberg::progress::Silent;
use inselberg_cli::synth::{ParticleBox, ParticleParams};
use inselberg_comm::Comm;
use inselberg_io::ReadResult;
use inselberg_io::particles::{
    Columns, DARK_MATTER, MassOf, N_KINDS, ParticleHeader, ParticleInput, Species,
};
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;
use std::ops::Range;
use std::path::PathBuf;

/// In mean densities.
const DENSITY: f64 = 80.0;
const SADDLE: f64 = 200.0;

/// The mesh that `size` particles make.
pub fn mesh(size: f64) -> BenchField {
    let n = size as u64;
    let input = InMemory::new(ParticleBox::new(ParticleParams { number: n, seed: 1 }));
    let config = ParticleMeshConfig {
        m_refine: 8,
        level_min: None,
        level_max: 20,
        kinds: [true; N_KINDS],
        side: Some(f64::from(input.particles.side())),
        root_level: None,
    };
    let purpose = MeshUse { threshold: DENSITY, ..MeshUse::default() };
    let executor = Executor::with_observer(&Silent);
    let grown = grow(&input, &config, purpose, &Comm::solo(), &executor).expect("a mesh");
    let unit = grown.mean_density;
    let (density, saddle) = (DENSITY * unit, Some(SADDLE * unit));
    let cut = Cut { density, persistence: Persistence::Ratio(3.0), saddle };
    BenchField { cells: BenchCells::Mesh(Box::new(grown.part.field)), cut }
}

struct InMemory {
    header: ParticleHeader,
    particles: ParticleBox,
}

impl InMemory {
    fn new(particles: ParticleBox) -> Self {
        let species = Species {
            name: "Particles".into(),
            kind: Some(DARK_MATTER),
            n: particles.params().number,
            mass: MassOf::Unknown,
            is_double: false,
            has_ids: false,
            has_velocities: false,
            has_densities: false,
        };
        let header = ParticleHeader {
            format: "memory",
            sides: None,
            periodic: true,
            time: 0.0,
            units: None,
            assumed_units: Vec::new(),
            cosmology: None,
            matter: None,
            softening: [None; N_KINDS],
            species: vec![species],
        };
        Self { header, particles }
    }
}

impl ParticleInput for InMemory {
    fn about(&self) -> &ParticleHeader {
        &self.header
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        let positions: Vec<[f32; 3]> = rows.map(|row| self.particles.position(row)).collect();
        into.position.extend_from_singles(&positions);
        Ok(())
    }

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        (species.to_string().into(), row.to_string())
    }
}
