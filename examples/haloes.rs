//! Bound haloes of the particles of a program: clumps on a mesh that the particles refine, and what gravity
//! holds of each.

mod common;

use common::Particles;
use inselberg::{BoundRequest, Engine, Error, ParticleMeshParams, PhewParams};

fn main() -> Result<(), Error> {
    let particles = Particles::at(0.0);
    let mut engine = Engine::builder().build()?;
    let held = engine.hold_particles(&particles.columns())?;
    let bound = BoundRequest::default().unbind(true);
    let found =
        engine.phew_particles(&held, &ParticleMeshParams::default(), &PhewParams::default().bound(bound))?;

    let haloes = found.table("haloes").expect("this search has a table of haloes");
    let members = haloes.counts("n_bound").expect("the haloes are unbound");
    let centres = haloes.vectors("most_bound_position").expect("the haloes are unbound");
    for (n, centre) in members.iter().zip(centres).filter(|(n, _)| **n > 0) {
        println!("{n} bound particles around {centre:.3?}");
    }
    found.write(std::env::temp_dir().join("inselberg_example_haloes.csv"))
}
