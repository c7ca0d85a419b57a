//! Copies of the bundled RAMSES output, side by side in a longer box.

use super::{BenchCells, BenchField};
use crate::common::collect_field;
use inselberg::field::LevelOcts;
use inselberg_io::open;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;

/// The thresholds, in the units of `rho`.
const CUT: Cut =
    Cut { density: 40.0, persistence: Persistence::Ratio(3.0), saddle: Some(200.0), halo_relevance: None };
/// How far a density may be from that of the output.
const JITTER: f64 = 0.01;

/// Whole numbers of copies along the axes, with about `test_cells` cells above the threshold together.
pub fn copies(test_cells: f64) -> BenchField {
    let packed = liblzma::read::XzDecoder::new(&include_bytes!("../../tests/fixtures/ramses_32.tar.xz")[..]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    tar::Archive::new(packed).unpack(folder.path()).expect("the output");
    let snapshot = open(&folder.path().join("ramses_32/output_00002")).expect("an output");
    let levels = collect_field(snapshot.as_ref(), "rho");
    let n = (test_cells / tests_of(&levels)).cbrt().round().max(1.0) as u32;
    let domain = Domain { coarse: [n; 3], periodic: [true; 3] };
    assert_eq!(snapshot.header().coarse, [1; 3]);
    let all = levels.iter().enumerate().map(|(level, octs)| side_by_side(level as u32, octs, n)).collect();
    BenchField { cells: BenchCells::Octs(domain, all), cut: CUT }
}

fn tests_of(levels: &[LevelOcts]) -> f64 {
    let of_oct = |(split, values): (&u8, &[f64; 8])| {
        (0..8).filter(|i| split >> i & 1 == 0 && values[*i] > CUT.density).count()
    };
    levels.iter().flat_map(|octs| octs.split.iter().zip(&octs.values)).map(of_oct).sum::<usize>() as f64
}

fn side_by_side(level: u32, octs: &LevelOcts, n: u32) -> LevelOcts {
    let mut all = LevelOcts::default();
    for copy in 0..n.pow(3) {
        let at = [copy % n, copy / n % n, copy / (n * n)];
        let side = 1 << level.saturating_sub(1);
        all.position.extend(octs.position.iter().map(|oct| [0, 1, 2].map(|a| oct[a] + at[a] * side)));
        all.split.extend_from_slice(&octs.split);
        let jittered = |(i, values): (usize, &[f64; 8])| {
            let seed = u64::from(copy) << 40 | u64::from(level) << 34 | i as u64;
            std::array::from_fn(|cell| values[cell] * (1.0 + JITTER * unit(seed * 8 + cell as u64)))
        };
        all.values.extend(octs.values.iter().enumerate().map(jittered));
    }
    all
}

/// A number in -1 to 1 that belongs to a place.
fn unit(place: u64) -> f64 {
    let mixed = (place ^ place >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 32) as f64 / (u64::MAX as f64 / 2.0) - 1.0
}
