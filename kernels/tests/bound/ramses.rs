//! RAMSES's rules of unbinding against plain sums and by hand.

use super::samples::{Random, members, plummer};
use super::unbinding::{GRAVITY, bound_entries};
use inselberg_kernels::bound::slices::Whole;
use inselberg_kernels::bound::unbind::UnbindCall;
use inselberg_kernels::bound::unbind::hierarchy::{
    BoundHierarchy, ClumpTree, ClumpTreeError, PeaklessClumps,
};
use inselberg_kernels::bound::unbind::ramses::{RamsesUnbindRules, unbind_ramses};
use inselberg_kernels::bound::{HaloMembers, MemberColumns};

/// RAMSES's rules in an open box.
const OPEN: RamsesUnbindRules =
    RamsesUnbindRules { finest_cell: 1e-3, period: [f64::INFINITY; 3], speed_change: 0.01, max_passes: 100 };

fn unbound(
    members: &HaloMembers,
    tree: &ClumpTree,
    border: &[Option<f64>],
    rules: &RamsesUnbindRules,
) -> Result<BoundHierarchy, ClumpTreeError> {
    unbind_ramses(members, tree, border, &UnbindCall { gravity: &GRAVITY, rules, slices: &Whole })
}

/// By hand: one clump below a main one, the potential by shells nearly that of RAMSES's bins.
#[test]
fn ramses_keeps_main_clumps_and_hands_losers_up() {
    let mut columns = plummer(4000, 5.0, &mut Random::new(21));
    // Of the first 2000, which are the lower clump, each tenth is fast; so is each tenth of the others. The
    // mean is at rest.
    (0..4000)
        .step_by(10)
        .for_each(|i| columns.velocity[i] = [if i % 20 == 0 { 40.0 } else { -40.0 }, 0.0, 0.0]);
    let members = members(columns);
    let clump_of: Vec<u32> = members.entries().iter().map(|entry| u32::from(*entry < 2000)).collect();
    let tree = ClumpTree {
        clump_of: &clump_of,
        parent: &[None, Some(0)],
        centre: &[[0.0; 3]; 2],
        whole: None,
        peakless: PeaklessClumps::default(),
    };
    let result = unbound(&members, &tree, &[None; 2], &OPEN).expect("a tree");
    assert!(result.unbound.is_empty());
    let [main, lower] = &result.clumps[..] else { panic!("two clumps") };
    assert_eq!(main.bound.len() + lower.bound.len(), 4000);
    let entries = bound_entries(&members, lower);
    assert!(entries.iter().all(|entry| entry % 10 != 0), "no fast one is kept");
    let main_entries = bound_entries(&members, main);
    assert!((0..4000).filter(|i| i % 10 == 0).all(|i| main_entries.contains(&i)));
    // The frame settles at rest, so slow ones stay unless they are near the speed of escape from half the
    // mass.
    assert!(entries.len() > 1000, "{} kept", entries.len());
    let phi = |r: f64| {
        result.clumps[1]
            .bound
            .member
            .iter()
            .zip(&lower.bound.potential)
            .fold((f64::MAX, 0.0), |best, (m, phi)| {
                let x = members.columns().position[*m as usize];
                let off = ((x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt() - r).abs();
                if off < best.0 { (off, *phi) } else { best }
            })
            .1
    };
    // Half the mass within 5: -0.5 (1/sqrt(1 + r²) - 1/sqrt(26)) / (25/26)^1.5 - 0.5/5.
    for r in [0.3, 1.0, 3.0f64] {
        let part = (25.0f64 / 26.0).powf(1.5);
        let exact = -0.5 * ((1.0 / (1.0 + r * r).sqrt() - 1.0 / 26f64.sqrt()) / part + 0.2);
        assert!((phi(r) / exact - 1.0).abs() < 0.05, "{r}: {} {exact}", phi(r));
    }
    // A border at the scale length binds fewer.
    let bordered = unbound(&members, &tree, &[None, Some(1.0)], &OPEN).expect("a tree");
    assert!(bordered.clumps[1].bound.len() < lower.bound.len());
    assert!(unbound(&members, &tree, &[None], &OPEN).is_err());
}

/// A clump 2 in a clump 1 in a main clump 0, each with 500 members near the same place. Entries 0 to 499 are
/// those of clump 1, the next ones those of clump 2.
fn three_deep(mut columns: MemberColumns, of_second: impl Fn(usize) -> [f64; 3]) -> (HaloMembers, Vec<u32>) {
    (500..1000).for_each(|i| columns.velocity[i] = of_second(i));
    let members = members(columns);
    let clump_of = members.entries().iter().map(|entry| [1, 2, 0][*entry as usize / 500]).collect();
    (members, clump_of)
}

/// Clump 2 loses all its particles. They move at 20 on average, but have no say in the first frame of clump
/// 1, which is at rest.
#[test]
fn clumps_without_bound_particles_are_silent() {
    let fast = |i: usize| [if i.is_multiple_of(2) { 60.0 } else { -20.0 }, 0.0, 0.0];
    let (members, clump_of) = three_deep(plummer(1500, 2.0, &mut Random::new(4)), fast);
    let tree = ClumpTree {
        clump_of: &clump_of,
        parent: &[None, Some(0), Some(1)],
        centre: &[[0.0; 3]; 3],
        whole: None,
        peakless: PeaklessClumps::default(),
    };
    let found = unbound(&members, &tree, &[None; 3], &OPEN).expect("a tree");
    let n_bound: Vec<usize> = found.clumps.iter().map(|clump| clump.bound.len()).collect();
    assert_eq!(n_bound[2], 0);
    assert!(n_bound[1] > 350, "{n_bound:?}");
    assert!(bound_entries(&members, &found.clumps[1]).iter().all(|entry| *entry < 500));
    assert_eq!(n_bound.iter().sum::<usize>(), 1500);
}

/// Clump 2 loses all its particles, because its border is at its peak. Clump 1 has no others, so all of them
/// count there after all.
#[test]
fn silent_particles_count_where_no_others_are() {
    let columns = plummer(1500, 2.0, &mut Random::new(4));
    let velocity = columns.velocity.clone();
    let (members, mut clump_of) = three_deep(columns, |i| velocity[i]);
    clump_of.iter_mut().filter(|clump| **clump == 1).for_each(|clump| *clump = 0);
    let tree = ClumpTree {
        clump_of: &clump_of,
        parent: &[None, Some(0), Some(1)],
        centre: &[[0.0; 3]; 3],
        whole: None,
        peakless: PeaklessClumps::default(),
    };
    let border = [None, None, Some(0.0)];
    let found = unbound(&members, &tree, &border, &OPEN).expect("a tree");
    assert_eq!(found.clumps[2].bound.len(), 0);
    assert!(found.clumps[1].bound.len() > 100, "{}", found.clumps[1].bound.len());
}

/// A clump across the edge of a periodic box is as bound as one inside it.
#[test]
fn ramses_measures_over_periodic_images() {
    let columns = plummer(1500, 2.0, &mut Random::new(5));
    let with = |columns: MemberColumns, period: [f64; 3]| {
        let (members, clump_of) = three_deep(columns, |i| {
            [
                match i % 14 {
                    0 => 30.0,
                    7 => -30.0,
                    _ => 0.1,
                },
                0.0,
                0.0,
            ]
        });
        let tree = ClumpTree {
            clump_of: &clump_of,
            parent: &[None, Some(0), Some(1)],
            centre: &[[0.0; 3]; 3],
            whole: None,
            peakless: PeaklessClumps::default(),
        };
        let rules = RamsesUnbindRules { period, ..OPEN };
        let border = [None, Some(1.5), Some(1.0)];
        let found = unbound(&members, &tree, &border, &rules).expect("a tree");
        found.clumps.iter().map(|clump| bound_entries(&members, clump)).collect::<Vec<_>>()
    };
    let inside = with(columns.clone(), [f64::INFINITY; 3]);
    assert!(
        inside.iter().all(|entries| entries.len() > 50),
        "{:?}",
        inside.iter().map(Vec::len).collect::<Vec<_>>()
    );
    let mut across = columns;
    across.position.iter_mut().filter(|x| x[0] < 0.0).for_each(|x| x[0] += 64.0);
    assert_ne!(with(across.clone(), [f64::INFINITY; 3]), inside);
    assert_eq!(with(across, [64.0, f64::INFINITY, f64::INFINITY]), inside);
}
