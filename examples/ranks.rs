//! PHEW over ranks: four threads, each with every fourth cell, as a host program may divide them.

use inselberg::{Cells, Engine, Error, Geometry, PhewParams, RankBuilder};

const N_RANKS: usize = 4;

fn main() -> Result<(), Error> {
    std::thread::scope(|scope| {
        let ranks = RankBuilder::threads(N_RANKS).into_iter().enumerate();
        let threads: Vec<_> =
            ranks.map(|(number, rank)| scope.spawn(move || one_rank(number, rank))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

/// The work of one rank. All ranks make the same calls in the same order.
fn one_rank(number: usize, rank: RankBuilder) -> Result<(), Error> {
    let own = (0..16_u32.pow(3)).skip(number).step_by(N_RANKS);
    let positions: Vec<[u32; 3]> = own.map(|i| [i % 16, i / 16 % 16, i / 256]).collect();
    let wave = |x: u32| 1.0 + (std::f64::consts::TAU * f64::from(x) / 8.0).sin();
    let density: Vec<f64> = positions.iter().map(|[x, y, z]| wave(*x) * wave(*y) * wave(*z)).collect();

    let mut engine = Engine::builder().threads(1).rank(rank).build()?;
    let cells = Cells::from_leaves(Geometry::cube(1.0), &vec![4_u8; positions.len()], &positions)?;
    let found = engine.phew(&cells, &density, &PhewParams::new(2.0))?;
    let labelled = found.labels().iter().flatten().count();
    println!(
        "rank {number}: {labelled} of {} cells in {} clumps of all ranks",
        cells.len(),
        found.n_clumps()
    );
    if let Some(catalogue) = found.gather(0)? {
        let clumps = catalogue.table("clumps").expect("every catalogue has clumps");
        println!("rank {number}: masses {:?}", clumps.reals("mass").expect("clumps have masses"));
    }
    engine.close()
}
