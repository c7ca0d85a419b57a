//! A loop of 20 steps, as in a running simulation: the mesh, the threads and the plans of the first step
//! serve all others.

use inselberg::{Cells, Engine, Error, Geometry, Persistence, PhewParams};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let n = 64_u32;
    let positions: Vec<[u32; 3]> = (0..n.pow(3)).map(|i| [i % n, i / n % n, i / (n * n)]).collect();
    let mut engine = Engine::builder().build()?;
    let cells = Cells::from_leaves(Geometry::cube(1.0), &vec![6_u8; positions.len()], &positions)?;
    let params = PhewParams::new(1.0).persistence(Persistence::Ratio(1.3)).saddle(3.0);
    for step in 0..20 {
        let density: Vec<f32> = positions.iter().map(|cell| density(*cell, step)).collect();
        let started = Instant::now();
        let found = engine.phew(&cells, &density, &params)?;
        let (clumps, haloes) = (found.n_clumps(), found.n_haloes());
        println!(
            "step {step:2}: {clumps} clumps, {haloes} haloes, {:.1} ms",
            started.elapsed().as_secs_f64() * 1e3
        );
    }
    engine.close()
}

/// Blobs on a lattice that drift along x, with ripples.
fn density([x, y, z]: [u32; 3], step: u8) -> f32 {
    let wave = |x: f32, length: f32| 1.0 + (std::f32::consts::TAU * x / length).sin();
    let (x, y, z) = (x as f32 + f32::from(step), y as f32, z as f32);
    wave(x, 16.0) * wave(y, 16.0) * wave(z, 16.0) * (1.0 + 0.1 * wave(x + y, 5.0))
}
