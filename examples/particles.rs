//! Friends-of-friends groups of particles in memory.

use inselberg::{Engine, Error, FofParams, Geometry, Linking, ParticleColumns};

fn main() -> Result<(), Error> {
    let positions = clusters();
    let masses = vec![1.0_f32; positions.len()];
    let particles = ParticleColumns::new(Geometry::cube(1.0), &positions).masses(&masses);
    let mut engine = Engine::builder().build()?;
    let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(20);
    let groups = engine.fof(&particles, &params)?;

    println!("{} groups at linking length {:.4}", groups.n_groups(), groups.linking_length());
    let rows = groups.local_groups();
    for (size, centre) in rows.size.iter().zip(&rows.centre) {
        println!("{size} particles around {centre:.3?}");
    }
    let grouped = groups.labels().iter().flatten().count();
    println!("{grouped} of {} particles are in groups", positions.len());
    Ok(())
}

/// A lattice, and three clusters of 50 particles.
fn clusters() -> Vec<[f32; 3]> {
    let lattice = (0..1000_u16).map(|i| [i % 10, i / 10 % 10, i / 100].map(|x| (f32::from(x) + 0.5) / 10.0));
    let cluster = |[x, y, z]: [f32; 3]| {
        (0..50_u8).map(move |i| {
            let (angle, radius) = (f32::from(i) * 2.4, 0.001 * f32::from(i));
            [x + radius * angle.cos(), y + radius * angle.sin(), z + 0.0005 * f32::from(i)]
        })
    };
    let centres = [[0.2, 0.2, 0.2], [0.6, 0.5, 0.4], [0.8, 0.85, 0.7]];
    lattice.chain(centres.into_iter().flat_map(cluster)).collect()
}
