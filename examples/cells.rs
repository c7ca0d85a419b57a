//! PHEW on cells in memory: a uniform grid of 32^3 cells with three blobs.

use inselberg::{Cells, Engine, Error, Geometry, Persistence, PhewParams};

fn main() -> Result<(), Error> {
    let positions: Vec<[u32; 3]> = (0..32_u32.pow(3)).map(|i| [i % 32, i / 32 % 32, i / 1024]).collect();
    let density: Vec<f64> = positions.iter().map(|cell| blobs(*cell)).collect();

    let mut engine = Engine::builder().build()?;
    let cells = Cells::from_leaves(Geometry::cube(1.0), &vec![5_u8; positions.len()], &positions)?;
    let params = PhewParams::new(0.5).persistence(Persistence::Ratio(1.5)).saddle(2.0);
    let found = engine.phew(&cells, &density, &params)?;

    for clump in found.local_clumps() {
        println!(
            "clump {} of halo {}: mass {:.4} at {:.3?}",
            clump.id, clump.halo, clump.mass, clump.peak_refined
        );
    }
    let labelled = found.labels().iter().flatten().count();
    println!("{labelled} of {} cells are in clumps", positions.len());
    found.write(std::env::temp_dir().join("inselberg_example_cells.csv"))
}

/// Two blobs that touch, and one apart.
fn blobs(cell: [u32; 3]) -> f64 {
    let blob = |centre: [f64; 3], height: f64| {
        let distance2: f64 = (0..3).map(|a| (f64::from(cell[a]) - centre[a]).powi(2)).sum();
        height * (-distance2 / 12.0).exp()
    };
    blob([9.0, 16.0, 16.0], 10.0) + blob([16.0, 16.0, 16.0], 7.0) + blob([26.0, 8.0, 16.0], 5.0)
}
