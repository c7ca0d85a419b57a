//! Times of the search.
use inselberg::fof::search::{sort, Frame};
use inselberg::fof::spread::Spread;
use inselberg::fof::{Positions, Role, Rules};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let threads: usize = args.get(1).map_or(1, |a| a.parse().unwrap());
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().unwrap();
    let bytes = std::fs::read(&args[0]).unwrap();
    let h = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let p: Vec<[f32; 3]> = bytes[h..].chunks_exact(12).map(|c| std::array::from_fn(|i| f32::from_le_bytes(c[4*i..4*i+4].try_into().unwrap()))).collect();
    let n = p.len();
    let side = (n as f64).cbrt() as f32;
    let side = if (side as f64) < (n as f64).cbrt() { side.next_up() } else { side } as f64;
    let positions = Positions::Single(p);
    let rules = Rules { linking_length: 0.2, min_size: 20, sides: Some([side; 3]), seeds: None };
    for _ in 0..args.get(2).map_or(3, |a| a.parse().unwrap()) {
        let t0 = Instant::now();
        let s = Spread::of(&positions);
        let t1 = Instant::now();
        let frame = Frame::new(&rules, &s);
        let Positions::Single(p) = &positions else { panic!() };
        let sorted = sort(&frame, p, None, Role::Linkable);
        let t2 = Instant::now();
        sorted.link(&frame);
        let t3 = Instant::now();
        let mut size = vec![0u32; sorted.blocks.n_cells()];
        for c in 0..sorted.blocks.n_cells() { size[sorted.root(c) as usize] += sorted.blocks.particles(c as u32).len() as u32; }
        let t4 = Instant::now();
        let big: Vec<u32> = size.into_iter().filter(|s| *s >= 20).collect();
        let ns = |a: Instant, b: Instant| (b - a).as_secs_f64() * 1e9 / n as f64;
        println!("spread {:.1} sort {:.1} link {:.1} count {:.1}; {} cells {} blocks {} rows; {} groups, {:?}, {}", ns(t0, t1), ns(t1, t2), ns(t2, t3), ns(t3, t4),
          sorted.blocks.n_cells(), sorted.blocks.blocks.len(), sorted.blocks.n_rows(), big.len(), big.iter().max(), big.iter().map(|b| *b as u64).sum::<u64>());
    }
}
