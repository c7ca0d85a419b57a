//! A picture in letters: the density along z of cells in memory, with the clumps found in them.

use inselberg::{Cells, Engine, Error, Geometry, PhewParams};

fn main() -> Result<(), Error> {
    let cells = Cells::uniform(Geometry::cube(1.0), 5)?;
    let density: Vec<f64> = (0..32_u32.pow(3)).map(|i| blobs([i % 32, i / 32 % 32, i / 1024])).collect();
    let mut engine = Engine::builder().build()?;
    // A map of 2^5 x 2^5 pixels.
    let found = engine.phew(&cells, &density, &PhewParams::new(0.5).projection_level(5))?;

    let map = found.projection().expect("rank 0 has the map");
    for row in map.values.chunks(map.n).rev() {
        println!("{}", row.iter().map(|value| shade(*value)).collect::<String>());
    }
    found
        .local_clumps()
        .iter()
        .for_each(|clump| println!("clump {} at {:.2?}", clump.id, clump.peak_refined));
    Ok(())
}

/// Darker letters for denser pixels.
fn shade(density: f32) -> char {
    let shades = [' ', '.', ':', '+', '*', '#', '@'];
    shades[((8.0 * density) as usize).min(shades.len() - 1)]
}

/// Three blobs of other heights.
fn blobs(cell: [u32; 3]) -> f64 {
    let blob = |centre: [f64; 3], height: f64| {
        let distance2: f64 = (0..3).map(|a| (f64::from(cell[a]) - centre[a]).powi(2)).sum();
        height * (-distance2 / 20.0).exp()
    };
    blob([9.0, 10.0, 16.0], 6.0) + blob([16.0, 18.0, 16.0], 3.0) + blob([25.0, 8.0, 12.0], 2.0)
}
