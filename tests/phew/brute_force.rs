//! The whole pipeline against brute force and the paper's procedure: labels, peaks, trees, clumps,
//! haloes, levels, parents, relevances, saddles and sums, on small meshes of every kind.

use crate::verify::boxed::Boxed;
use crate::verify::brute::Leaf;
use crate::verify::expect::{check_field, check_hierarchies, segmented};
use crate::verify::meshes::{Field, any_field, child, place, threshold_for};
use crate::verify::random::Random;
use inselberg::executor::Executor;
use inselberg::phew::params::{FieldChoice, Persistence, Thresholds};
use inselberg::phew::run::run;
use inselberg::phew::{PhewParams, PhewRequest};
use inselberg_comm::Comm;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::persistence::Persistence::{Difference, Ratio};
use proptest::prelude::*;

const OPEN: Domain = Domain { coarse: [1; 3], periodic: [false; 3] };

/// Cuts that any field can be tried with; ties of small values hit them exactly.
const CUTS: [(Persistence, Option<f64>); 9] = [
    (Ratio(1.0), None),
    (Ratio(1.0), Some(0.0)),
    (Ratio(1.4), Some(1.75)),
    (Ratio(2.0), Some(1.0)),
    (Ratio(1.1), Some(2.5)),
    (Ratio(f64::INFINITY), Some(0.0)),
    (Difference(0.0), Some(0.0)),
    (Difference(0.375), Some(1.75)),
    (Difference(f64::INFINITY), Some(0.0)),
];

fn check(field: &Field, threshold: f64) {
    check_field(field, threshold, &CUTS);
}

/// Thresholds drawn from the field's own ratios, differences and means.
fn cuts_for(field: &Field, random: &mut Random) -> Vec<(Persistence, Option<f64>)> {
    let mut rho = || field.leaves[random.below(field.leaves.len())].rho;
    let ratio = (rho() / rho()).max(1.0);
    let between = rho().midpoint(rho());
    let difference = (rho() - rho()).abs();
    vec![
        (Ratio(ratio), Some(between)),
        (Ratio(1.0), Some(between)),
        (Ratio(2.0 * ratio), None),
        (Difference(difference), Some(between)),
        (Difference(0.5 * difference), None),
        CUTS[2],
        CUTS[1],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mesh_agrees(field in any_field(), seed in any::<u64>()) {
        let mut random = Random(seed);
        let threshold = threshold_for(&field, &mut random);
        let cuts = cuts_for(&field, &mut random);
        check_field(&field, threshold, &cuts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Leaves that are negative are never test cells. Many are as deep below zero as others, or exactly at
    /// it.
    #[test]
    fn any_mesh_with_negative_cells_agrees(field in any_field(), seed in any::<u64>()) {
        let (mut field, mut random) = (field, Random(seed));
        let (shift, scale) = (random.pick(&[1.0, 1.75, 2.5, 5.0]), random.pick(&[1.0, 1.0, 1e30]));
        field.leaves.iter_mut().for_each(|leaf| leaf.rho -= shift);
        // A void may be far deeper than any peak is high.
        field.leaves.iter_mut().filter(|leaf| leaf.rho < 0.0).for_each(|leaf| leaf.rho *= scale);
        let threshold = threshold_for(&field, &mut random).max(0.0);
        let cuts: Vec<_> =
            cuts_for(&field, &mut random).into_iter().filter(|cut| cut.0.is_difference()).collect();
        check_field(&field, threshold, &cuts);
        for amr in [Some(field.leaves_as_amr()), field.octs_as_amr()].iter().flatten() {
            let peaks = segmented(amr, threshold).peaks;
            prop_assert!(peaks.refined.iter().flatten().all(|x| x.is_finite()), "{:?}", peaks.refined);
        }
    }

    #[test]
    fn densities_far_apart_agree(field in any_field(), seed in any::<u64>()) {
        let (mut field, mut random) = (field, Random(seed));
        field.fill_far_apart(&mut random);
        let threshold = threshold_for(&field, &mut random);
        let cuts = cuts_for(&field, &mut random);
        check_hierarchies(&field, threshold, &cuts);
    }
}

/// On whole bricks, where contacts are sieved with wide compares.
#[test]
fn densities_far_apart_agree_on_whole_bricks() {
    for seed in 0..40 {
        let mut random = Random(seed);
        let mut field = Field::uniform_at(Domain::CUBE, 3);
        if seed % 2 == 0 {
            field.split((3, [4; 3]), true);
        }
        field.fill_far_apart(&mut random);
        let threshold = threshold_for(&field, &mut random);
        check_hierarchies(&field, threshold, &cuts_for(&field, &mut random));
    }
}

/// A run that would write masses of zero says so instead.
#[test]
fn masses_that_would_be_lost_are_refused() {
    let dense = |magnitude: f64| {
        let two_peaks = |l: &Leaf| match l.ijk {
            [1, 1, 1] => magnitude,
            [6, 6, 6] => 3.0,
            _ => 1.0,
        };
        Field::uniform_at(OPEN, 3).with(two_peaks)
    };
    let thresholds = Thresholds {
        density: 1.0,
        persistence: Persistence::Ratio(1.0),
        significance: None,
        saddle: None,
        halo_relevance: None,
        mass: 0.0,
        min_cells: 0,
    };
    let field = FieldChoice::Named("density".into());
    let config = PhewRequest { field, params: PhewParams::from(thresholds) };
    let outcome = |magnitude: f64| {
        let snapshot = Boxed::new(&dense(magnitude), 1, &mut Random(1));
        run(&snapshot, &config, &Comm::solo(), &Executor::default()).map(|_| ())
    };
    assert!(outcome(1e20).is_ok());
    let error = outcome(1e100).expect_err("one peak is 10^100 times the other").to_string();
    assert!(error.contains("no mass; expected a higher density threshold"), "{error}");
}

/// The sum of two densities would be infinite; their mean is not, and peaks have finite positions.
#[test]
fn densities_beside_the_greatest_number() {
    for seed in 0..10 {
        let mut random = Random(seed);
        let mut field = Field::uniform_at(Domain::CUBE, 3);
        field.leaves.iter_mut().for_each(|leaf| leaf.rho = f64::MAX * (1.0 - 0.4 * random.real()));
        check_field(&field, 0.0, &cuts_for(&field, &mut random));
        let peaks = segmented(&field.leaves_as_amr(), 0.0).peaks;
        assert!(peaks.refined.iter().flatten().all(|x| x.is_finite()), "positions {:?}", peaks.refined);
    }
}

/// Positions do not depend on the unit of density.
#[test]
fn refined_positions_are_the_same_in_any_unit() {
    let mut random = Random(1);
    let mut field = Field::uniform_at(Domain::CUBE, 3);
    field.leaves.iter_mut().for_each(|leaf| leaf.rho = 1.0 + random.real());
    let refined = |unit: i32| {
        let field = field.clone().with(|leaf| leaf.rho * 2.0_f64.powi(unit));
        segmented(&field.leaves_as_amr(), 0.0).peaks.refined
    };
    for unit in [-1000, -500, 500, 1000] {
        assert_eq!(refined(unit), refined(0), "densities times 2^{unit}");
    }
}

/// Boxes whose levels are whole super-bricks, half of them refined: the fast ways.
#[test]
fn whole_bricks_agree() {
    for seed in 0..14 {
        let mut random = Random(seed);
        let periodic = std::array::from_fn(|_| random.chance(0.5));
        let mut field = Field::uniform_at(Domain { coarse: [1; 3], periodic }, 3);
        for leaf in field.leaves.clone() {
            if leaf.ijk.iter().sum::<u32>() % 7 > 4 || random.chance(0.2) {
                field.split(place(&leaf), seed % 2 == 0);
            }
        }
        field.fill([0, 2, 3, 6][seed as usize % 4], &mut random);
        let threshold = threshold_for(&field, &mut random);
        check_field(&field, threshold, &cuts_for(&field, &mut random));
    }
}

/// Densities so large that smaller ones are lost in sums: saddles are equal although the cells at their ends
/// are not.
#[test]
fn contrasts_beyond_double_precision() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let mut field = Field::uniform_at(Domain::CUBE, 3);
        if seed % 2 == 0 {
            field.split((3, [4; 3]), true);
        }
        for leaf in &mut field.leaves {
            let magnitude = if random.chance(0.06) { 1e18 } else { 1.0 };
            leaf.rho = magnitude * (1.0 + random.below(9) as f64 * 1e-4);
        }
        check_field(&field, 0.5, &cuts_for(&field, &mut random));
    }
}

#[test]
fn uniform_density_is_one_patch() {
    for level in 0..4 {
        let field = Field::uniform(Domain::CUBE, level);
        check(&field, 0.5);
        check(&field, 1.0); // none is above the threshold
    }
}

#[test]
fn lattices_of_equal_peaks() {
    for (domain, spacing) in [(Domain::CUBE, 2), (OPEN, 2), (Domain::CUBE, 3), (OPEN, 4)] {
        let on = |x: &u32| x.is_multiple_of(spacing);
        let field = Field::uniform_at(domain, 3).with(|l| if l.ijk.iter().all(on) { 5.0 } else { 2.0 });
        check(&field, 0.0);
        check(&field, 2.0);
    }
}

#[test]
fn checkerboards() {
    for domain in [Domain::CUBE, OPEN] {
        let even = |l: &Leaf| l.ijk.iter().sum::<u32>().is_multiple_of(2);
        let field = Field::uniform_at(domain, 3).with(|l| if even(l) { 3.0 } else { 1.5 });
        check(&field, 1.0);
        check(&field, 1.5);
    }
}

#[test]
fn single_cells() {
    for periodic in [[true; 3], [false; 3], [true, false, true]] {
        check(&Field::uniform(Domain { coarse: [1; 3], periodic }, 0), 0.5);
        check(&Field::uniform(Domain { coarse: [2, 1, 3], periodic }, 0), 0.5);
        check(&Field::uniform(Domain { coarse: [1, 2, 1], periodic }, 1), 0.5);
    }
}

#[test]
fn one_test_cell() {
    let field = Field::uniform_at(OPEN, 3).with(|l| if l.ijk == [7, 0, 3] { 9.0 } else { 1.0 });
    check(&field, 1.0);
    check(&field, 8.0);
    check(&field, 9.0);
}

/// A ridge that winds through the box with a peak in every second cell, each higher than the last.
#[test]
fn snakes_of_peaks() {
    let step = |l: &Leaf| {
        let [x, y, z] = l.ijk;
        let row = if y / 2 % 2 == 0 { x } else { 7 - x };
        (z.is_multiple_of(2) && y.is_multiple_of(2)).then(|| row + 8 * (y / 2) + 32 * (z / 2))
    };
    for domain in [Domain::CUBE, OPEN] {
        for fall in [false, true] {
            let height = |s: u32| if s.is_multiple_of(2) { 20.0 } else { 10.0 } + 0.01 * f64::from(s);
            let along = |s: u32| height(if fall { 127 - s } else { s });
            let field = Field::uniform_at(domain, 3).with(|l| step(l).map_or(1.0, along));
            check(&field, 1.0);
            check(&field, 0.5);
        }
    }
}

#[test]
fn patches_that_touch_at_corners_only() {
    let peaks = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [7, 7, 7], [3, 1, 1]];
    for domain in [Domain::CUBE, OPEN] {
        let at = |l: &Leaf| peaks.iter().position(|&p| p == l.ijk);
        let field = Field::uniform_at(domain, 3).with(|l| at(l).map_or(0.5, |i| 2.0 + (i % 2) as f64));
        check(&field, 1.0);
    }
}

/// Peaks that meet only over the faces, edges and corners of the box.
#[test]
fn contacts_over_the_wrap() {
    for axes in 1..8u32 {
        let periodic = std::array::from_fn(|a| axes >> a & 1 == 1);
        let mut field = Field::uniform_at(Domain { coarse: [1; 3], periodic }, 4);
        field.fill(5, &mut Random(axes.into()));
        let is_at_edge = |l: &Leaf| (0..3).all(|a| !periodic[a] || l.ijk[a] % 15 < 3);
        let is_high = |l: &Leaf| is_at_edge(l) && l.ijk.iter().sum::<u32>().is_multiple_of(3);
        check(&field.with(|l| if is_high(l) { l.rho + f64::from(l.ijk[0]) * 1e-3 } else { 0.5 }), 1.5);
    }
}

/// A cell of level 1 next to cells of level 4, and of level 0 next to level 3 in a narrow box.
#[test]
fn jumps_of_three_levels() {
    for (domain, base) in [(Domain::CUBE, 1), (OPEN, 1), (Domain { coarse: [3, 1, 2], ..OPEN }, 0)] {
        for n_values in [0, 1, 2, 4] {
            let mut random = Random(n_values as u64);
            let mut field = Field::uniform(domain, base);
            let mut at = place(&field.leaves[0]);
            for corner in [7, 0, 7] {
                field.split(at, false);
                at = child(at, corner);
            }
            field.fill(n_values, &mut random);
            check(&field, 0.0);
            check(&field, 1.0);
        }
    }
}

/// Zooms to levels 25 and 29: towards a corner of the box, and towards its middle.
#[test]
fn deep_zooms() {
    for (domain, corners) in [(Domain::CUBE, [0, 0]), (Domain::CUBE, [7, 0]), (OPEN, [0, 7]), (OPEN, [5, 2])]
    {
        for (n_values, deepest) in [(0, 25u32), (1, 25), (3, 25), (3, 29)] {
            let mut field = Field::uniform(domain, 0);
            let mut at = (0, [0; 3]);
            for depth in 0..deepest {
                field.split(at, false);
                at = child(at, if depth == 0 { corners[0] } else { corners[1] });
            }
            field.fill(n_values, &mut Random(deepest.into()));
            check(&field, 0.0);
            check(&field, 1.0);
        }
    }
}
