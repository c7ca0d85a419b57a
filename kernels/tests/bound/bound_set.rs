//! The definition of a bound set: all its members are bound, and no clearly bound member is left out. Tested
//! on mergers, cold groups with fast interlopers, and small clumps in the stream of their host.

use super::samples::{Random, clump_in_host, columns, hernquist, members, plummer};
use super::unbinding::{GRAVITY, bound_entries, joined};
use inselberg_kernels::bound::slices::Whole;
use inselberg_kernels::bound::unbind::hierarchy::{
    ClumpTree, PeaklessClumps, heaviest, turned, unbind_hierarchy,
};
use inselberg_kernels::bound::unbind::{
    Candidates, UnbindCall, UnbindRules, UnbindScratch, Unbinding, unbind,
};
use inselberg_kernels::bound::{Gravity, HaloMembers, MemberColumns};

fn unbound_from(members: &HaloMembers, peak: [f64; 3], is_within: bool, gravity: &Gravity) -> Unbinding {
    let all = members.all();
    let candidates = Candidates { list: &all, handed: &[], whole: None, peak, is_within, is_claimed: false };
    unbind(members, &candidates, gravity, &UnbindRules::default(), &mut UnbindScratch::default())
}

fn mean(members: &HaloMembers, list: &[u32], of: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
    let mass = &members.columns().mass;
    let total: f64 = list.iter().map(|i| mass[*i as usize]).sum();
    std::array::from_fn(|a| list.iter().map(|i| mass[*i as usize] * of(*i as usize)[a]).sum::<f64>() / total)
}

/// Energy of motion and potential of any member, in the mean frame and the potential of a set, by all pairs.
fn energies(members: &HaloMembers, set: &[u32], of: &[u32], gravity: &Gravity) -> Vec<[f64; 2]> {
    let columns = members.columns();
    let centre = mean(members, set, |i| columns.position[i]);
    let velocity = mean(members, set, |i| columns.velocity[i]);
    let energy = |i: &u32| {
        let (x, v) = (columns.position[*i as usize], columns.velocity[*i as usize]);
        let flow = |a: usize| v[a] - velocity[a] + gravity.hubble_flow * (x[a] - centre[a]);
        let motion = 0.5 * (0..3).map(|a| flow(a) * flow(a)).sum::<f64>();
        let others = set.iter().filter(|j| *j != i);
        let potential = others.map(|j| {
            let y = columns.position[*j as usize];
            let r2 = (0..3).map(|a| (x[a] - y[a]).powi(2)).sum::<f64>();
            -gravity.g * columns.mass[*j as usize] / r2.sqrt()
        });
        [motion, potential.sum()]
    };
    of.iter().map(energy).collect()
}

/// Checks the definition of a bound set by all pairs. Potentials of the tree may be wrong by half a per cent.
fn check(members: &HaloMembers, found: &Unbinding, gravity: &Gravity) {
    assert!(found.report.converged, "{:?}", found.report);
    assert_eq!(found.bound.len() + found.unbound.len(), members.len());
    for [motion, potential] in energies(members, &found.bound.member, &found.bound.member, gravity) {
        assert!(motion + potential < -0.005 * potential, "unbound in it: {motion} {potential}");
    }
    for [motion, potential] in energies(members, &found.bound.member, &found.unbound, gravity) {
        assert!(motion + potential > 0.505 * potential, "plainly bound outside: {motion} {potential}");
    }
}

/// Moves and boosts all members of a sample.
fn moved(mut columns: MemberColumns, place: [f64; 3], velocity: [f64; 3]) -> MemberColumns {
    columns.position.iter_mut().for_each(|x| (0..3).for_each(|a| x[a] += place[a]));
    columns.velocity.iter_mut().for_each(|v| (0..3).for_each(|a| v[a] += velocity[a]));
    columns
}

/// Two spheres on a bound orbit: the frame of either loses the other, that of both keeps them.
#[test]
fn a_merger_keeps_its_mass() {
    let mut random = Random::new(60);
    for (speed, distance) in [(0.3, 3.0), (0.4, 2.0), (0.2, 5.0)] {
        let one = moved(hernquist(1500, 20.0, &mut random), [-distance, 0.0, 0.0], [0.0, speed, 0.0]);
        let other = moved(hernquist(1500, 20.0, &mut random), [distance, 0.0, 0.0], [0.0, -speed, 0.0]);
        let members = members(joined([one, other]));
        let found = unbound_from(&members, [-distance, 0.0, 0.0], false, &GRAVITY);
        check(&members, &found, &GRAVITY);
        assert!(
            found.bound.len() > 2700,
            "speed {speed}, distance {distance}: {} of 3000",
            found.bound.len()
        );
    }
}

/// Two spheres that fly past each other: the frame of both is that of neither, and one of them is the bound
/// set.
#[test]
fn a_fly_by_keeps_the_heavier_one() {
    let mut random = Random::new(61);
    let one = moved(plummer(1200, 10.0, &mut random), [-4.0, 0.0, 0.0], [8.0, 0.0, 0.0]);
    let mut other = moved(plummer(800, 10.0, &mut random), [4.0, 0.0, 0.0], [-8.0, 0.0, 0.0]);
    other.mass.fill(1.0 / 1200.0);
    let members = members(joined([one, other]));
    let found = unbound_from(&members, [0.0; 3], false, &GRAVITY);
    check(&members, &found, &GRAVITY);
    let kept = bound_entries(&members, &found);
    let own = kept.iter().filter(|entry| **entry < 1200).count();
    assert!(own >= 1190 && kept.len() - own <= 2, "{own} of {}", kept.len());
}

/// Fast interlopers, up to as many as there are members. In a core with interlopers in it half of the group
/// once left in one pass.
#[test]
fn interlopers_take_nobody_with_them() {
    for n in [20, 24, 30, 40, 60, 100, 200, 400] {
        for (seed, part) in [(1, 4), (2, 2), (3, 1), (4, 1), (5, 2)] {
            let mut random = Random::new(1000 * seed + n as u64);
            let group = columns(n, |_| (random.normal(0.03), random.normal(0.02)));
            let mut fast = columns(n / part, |_| (random.normal(0.03), random.normal(30.0)));
            fast.mass.fill(1.0 / n as f64);
            let members = members(joined([group, fast]));
            let gravity = Gravity { g: 0.4, hubble_flow: 0.07 };
            let found = unbound_from(&members, [0.0; 3], false, &gravity);
            check(&members, &found, &gravity);
            let kept = bound_entries(&members, &found);
            let own = kept.iter().filter(|entry| **entry < n as u32).count();
            assert!(own == n && kept.len() - n <= 1, "{n} and {}: {own} of {}", n / part, kept.len());
        }
    }
}

/// The host may be bound to itself within the patch of a clump. It is not the clump.
#[test]
fn a_clump_is_not_the_stream_of_its_host() {
    let mut random = Random::new(62);
    let clump = {
        let mut clump = plummer(100, 3.0, &mut random);
        clump.position.iter_mut().flatten().for_each(|x| *x *= 0.1);
        clump.velocity.iter_mut().flatten().for_each(|v| *v *= 0.1);
        clump.mass.fill(1e-3 / 100.0);
        moved(clump, [3.0, 0.0, 0.0], [0.0, 3.0, 0.0])
    };
    let mut stream = plummer(900, 2.5, &mut random);
    stream.mass.fill(3e-2 / 900.0);
    stream.velocity.iter_mut().flatten().for_each(|v| *v *= 0.1);
    let members = members(joined([clump, stream]));
    let peak = [3.0, 0.0, 0.0];
    let own_of =
        |found: &Unbinding| bound_entries(&members, found).iter().filter(|entry| **entry < 100).count();
    let alone = unbound_from(&members, peak, false, &GRAVITY);
    assert!(own_of(&alone) < 10 && alone.bound.len() > 800, "{} of {}", own_of(&alone), alone.bound.len());
    let within = unbound_from(&members, peak, true, &GRAVITY);
    assert!(
        own_of(&within) > 90 && within.bound.len() < 110,
        "{} of {}",
        own_of(&within),
        within.bound.len()
    );
}

#[test]
fn small_clumps_are_bound_sets_too() {
    for seed in 70..73 {
        let members = members(clump_in_host(150, 3000, &mut Random::new(seed)));
        let found = unbound_from(&members, [0.0; 3], true, &GRAVITY);
        let softened = found.report.converged && found.bound.len() > 120;
        assert!(softened, "{:?}, {} of 150", found.report, found.bound.len());
    }
}

#[test]
fn trees_turn_to_any_root() {
    // 0 - 1 - 2, 0 - 3, 2 - 4.
    let parent = [None, Some(0), Some(1), Some(0), Some(2)];
    assert_eq!(turned(&parent, 0), parent);
    assert_eq!(turned(&parent, 2), [Some(1), Some(2), None, Some(0), Some(2)]);
    assert_eq!(turned(&turned(&parent, 4), 0), parent);
    assert_eq!(heaviest(&[1.0, 3.0, 3.0]), Some(1), "of equals the denser peak");
    assert_eq!(heaviest(&[0.0, 0.0]), None);
    assert_eq!(heaviest(&[]), None);
}

/// The densest peak is noise in a host, whose own clump is the second one.
#[test]
fn the_heaviest_clump_gets_what_no_clump_holds() {
    let mut random = Random::new(63);
    let members = members(hernquist(3000, 20.0, &mut random));
    let columns = members.columns();
    // A small ball is the patch of the densest peak, all else that of the host; a part of that is handed to
    // the ball.
    let radius = |i: usize| columns.position[i].iter().map(|x| x * x).sum::<f64>().sqrt();
    let clump_of: Vec<u32> = (0..members.len()).map(|i| u32::from(radius(i) > 0.2)).collect();
    let tree_of = |parent: &[Option<u32>; 2]| {
        let tree = ClumpTree {
            clump_of: &clump_of,
            parent,
            centre: &[[0.0; 3]; 2],
            whole: None,
            peakless: PeaklessClumps::default(),
        };
        let mut scratch = UnbindScratch::default();
        let call = UnbindCall { gravity: &GRAVITY, rules: &UnbindRules::default(), slices: &Whole };
        let mut found = unbind_hierarchy(&members, &tree, &call, &mut scratch).expect("a tree");
        if let Some(heir) = found.heir(&members, &tree, &Whole) {
            let Ok(()) = found.unbind_heir(&members, heir, &tree, &call, &mut scratch);
        }
        let n_of_clumps: Vec<usize> = found.clumps.iter().map(|clump| clump.bound.len()).collect();
        assert_eq!(n_of_clumps.iter().sum::<usize>() + found.unbound.len(), members.len());
        n_of_clumps
    };
    let by_density = tree_of(&[None, Some(0)]);
    let by_mass = tree_of(&[Some(1), None]);
    assert!(by_mass[1] > 2500, "{by_mass:?}");
    assert!(by_density[0] + by_density[1] > 2500, "{by_density:?}");
}
