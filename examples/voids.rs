//! Voids among the particles of a program: a lattice with two holes.

use inselberg::{Engine, Error, Geometry, ParticleColumns, ParticleGraphParams, VoidParams};

/// Centre and radius of each hole.
const HOLES: [([f64; 3], f64); 2] = [([0.3, 0.3, 0.3], 0.2), ([0.75, 0.7, 0.6], 0.15)];

fn main() -> Result<(), Error> {
    let positions: Vec<[f64; 3]> = (0..20_u32.pow(3)).map(place).filter(|x| !is_in_a_hole(*x)).collect();
    let mut engine = Engine::builder().build()?;
    let held = engine.hold_particles(&ParticleColumns::new(Geometry::cube(1.0), &positions))?;
    let voids =
        engine.voids(&held, &ParticleGraphParams::for_voids(), &VoidParams::default().relevance(1.3))?;

    println!("{} voids of {} zones", voids.n_voids(), voids.n_zones());
    let table = voids.table("voids").expect("this search has a table of voids");
    let (radii, centres) = (table.reals("radius"), table.vectors("centre"));
    for (radius, centre) in radii.into_iter().flatten().zip(centres.into_iter().flatten()) {
        println!("a radius of {radius:.3} around {centre:.3?}");
    }
    Ok(())
}

/// A place on the lattice, a little aside.
fn place(i: u32) -> [f64; 3] {
    let aside = |factor: f64| 0.4 * ((f64::from(i) * factor).fract() - 0.5);
    let [x, y, z] = [i % 20, i / 20 % 20, i / 400].map(|x| f64::from(x) + 0.5);
    [x + aside(0.618), y + aside(0.732), z + aside(0.414)].map(|x| x / 20.0)
}

fn is_in_a_hole(position: [f64; 3]) -> bool {
    HOLES.iter().any(|(centre, radius)| {
        (0..3).map(|a| (position[a] - centre[a]).powi(2)).sum::<f64>() < radius * radius
    })
}
