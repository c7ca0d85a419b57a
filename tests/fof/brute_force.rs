//! Friends-of-friends against its definition, all pairs, on small boxes that are hard to get right.

use crate::fof_oracle::random::Random;
use crate::fof_oracle::{Row, brute, distance2, find, hard_box, positions, rich, rules};
use inselberg::fof::{Groups, LinkingRules, Particles, SeedRule};
use inselberg::particles::{Masses, Positions};

/// A box by number: open and periodic, even and oblong, 32 and 64 bits, lengths from tiny to half the box.
fn case(seed: u64) -> (Vec<[f64; 3]>, LinkingRules, bool) {
    let mut random = Random(seed);
    let sides = match seed % 3 {
        0 => None,
        1 => Some([1.0; 3]),
        _ => Some([1.0, 0.75 + random.real() * 0.5, 0.5 + random.real()]),
    };
    let least = sides.map_or(1.0, |sides| sides.iter().copied().fold(f64::INFINITY, f64::min));
    // Anywhere, at a third, at a quarter, and at the very end.
    let length = match seed / 3 % 8 {
        0 => least / 2.0,
        1 => least / 3.0,
        2 => least * (1.0 / 3.0 + random.real() / 6.0),
        3 => least / 4.0,
        4 => least * 0.25 * random.real().max(1e-3),
        5 => least * 0.02,
        6 => least * 10f64.powf(-1.0 - 5.0 * random.real()),
        _ => least * 0.125 * (1.0 + random.real()),
    };
    let single = random.below(2) == 0;
    let n = [5, 40, 150, 400][random.below(4)];
    let list = hard_box(seed, n, sides, length, single);
    (list, rules(length, 1 + random.below(4) as u64, sides), single)
}

#[test]
fn groups_are_those_of_the_definition() {
    for seed in 0..500 {
        let (list, rules, single) = case(seed);
        let particles = Particles::plain(positions(&list, single));
        let (rows, group_of) = brute(&particles, &rules);
        let found = find(&particles, &rules).unwrap_or_else(|e| panic!("{seed}: {e}"));
        assert_eq!(found.group_of.iter().collect::<Vec<_>>(), group_of, "box {seed}: {rules:?}");
        assert_eq!(found.groups.n_total, rows.len() as u64, "box {seed}");
        check_rows(&found.groups, &rows, &particles, &rules, seed);
    }
}

#[test]
fn attached_particles_and_properties_are_those_of_the_definition() {
    for seed in 1000..1200 {
        let (list, mut rules, single) = case(seed);
        rules.seeds = Some(SeedRule { least_mass: 3.0 });
        let particles = rich(seed, positions(&list, single));
        let (rows, group_of) = brute(&particles, &rules);
        let found = find(&particles, &rules).unwrap_or_else(|e| panic!("{seed}: {e}"));
        assert_eq!(found.group_of.iter().collect::<Vec<_>>(), group_of, "box {seed}: {rules:?}");
        check_rows(&found.groups, &rows, &particles, &rules, seed);
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * (1.0 + a.abs().max(b.abs()))
}

fn check_rows(groups: &Groups, rows: &[Row], particles: &Particles, rules: &LinkingRules, seed: u64) {
    assert_eq!((groups.first_id, groups.len()), (1, rows.len()), "box {seed}");
    for (g, row) in rows.iter().enumerate() {
        let what = format!("box {seed}, group {}", g + 1);
        assert_eq!(groups.size[g], row.members.len() as u64, "{what}");
        assert_eq!((groups.n_linked[g], groups.lowest_id[g]), (row.n_linked, row.lowest_id), "{what}");
        let mass: f64 = row.members.iter().map(|i| particles.mass.get(*i)).sum();
        assert!(near(groups.mass[g], mass), "{what}: mass {} and {mass}", groups.mass[g]);
        check_places(groups, g, row, particles, rules, &what);
        check_motion(groups, g, row, particles, mass, &what);
        check_gas(groups, g, row, particles, rules, mass, &what);
    }
}

/// Offsets are from the lowest member, each to its nearest image; at half a side there are two.
fn check_places(
    groups: &Groups,
    g: usize,
    row: &Row,
    particles: &Particles,
    rules: &LinkingRules,
    what: &str,
) {
    let at = |i: usize| particles.position.get(i);
    let lowest = row.members.iter().find(|i| particles.id.get(**i) == row.lowest_id).expect("the lowest");
    let origin = at(*lowest);
    let mass: f64 = row.members.iter().map(|i| particles.mass.get(*i)).sum();
    for a in 0..3 {
        let side = rules.sides.map(|sides| sides[a]);
        let offset = |i: &usize| {
            let d = at(*i)[a] - origin[a];
            side.map_or(d, |side| {
                if (d - side * (d / side).round()).abs() < d.abs() { d - side * d.signum() } else { d }
            })
        };
        let mean = row.members.iter().map(|i| particles.mass.get(*i) * offset(i)).sum::<f64>() / mass;
        let centre = side.map_or(origin[a] + mean, |side| (origin[a] + mean).rem_euclid(side));
        let apart = (groups.centre[g][a] - centre).abs();
        assert!(
            apart.min(side.unwrap_or(f64::MAX) - apart) < 1e-11,
            "{what}: {:?}, {centre}",
            groups.centre[g]
        );
        let offsets: Vec<f64> = row.members.iter().map(offset).collect();
        let extent = offsets.iter().copied().fold(f64::MIN, f64::max)
            - offsets.iter().copied().fold(f64::MAX, f64::min);
        assert!(near(groups.extent[g][a], extent), "{what}: extent {:?}, {extent}", groups.extent[g]);
    }
    let far =
        row.members.iter().map(|i| distance2(at(*i), groups.centre[g], rules.sides)).fold(0.0, f64::max);
    assert!(near(groups.radius[g], far.sqrt()), "{what}: radius {} and {}", groups.radius[g], far.sqrt());
    assert!(rules.sides.is_none_or(|sides| (0..3).all(|a| (0.0..sides[a]).contains(&groups.centre[g][a]))));
}

fn check_motion(groups: &Groups, g: usize, row: &Row, particles: &Particles, mass: f64, what: &str) {
    let (Some(v), Some(found), Some(dispersion)) =
        (&particles.velocity, &groups.velocity, &groups.dispersion)
    else {
        return assert!(particles.velocity.is_none() && groups.velocity.is_none());
    };
    let weighted = |of: &dyn Fn(usize) -> f64| {
        row.members.iter().map(|i| particles.mass.get(*i) * of(*i)).sum::<f64>() / mass
    };
    let mean = [0, 1, 2].map(|a| weighted(&|i| f64::from(v[i][a])));
    assert!((0..3).all(|a| near(found[g][a], mean[a])), "{what}: {:?} and {mean:?}", found[g]);
    let square = weighted(&|i| (0..3).map(|a| (f64::from(v[i][a]) - mean[a]).powi(2)).sum());
    // The root of the rounding error of 0.
    assert!((dispersion[g].powi(2) - square / 3.0).abs() < 1e-9, "{what}: dispersion {}", dispersion[g]);
}

fn check_gas(
    groups: &Groups,
    g: usize,
    row: &Row,
    particles: &Particles,
    rules: &LinkingRules,
    mass: f64,
    what: &str,
) {
    let (Some(density), Some(holes)) = (&particles.gas_density, &particles.is_black_hole) else { return };
    let gas = row.members.iter().filter(|i| !density[**i].is_nan());
    let order = |i: &&usize| (-f64::from(density[**i]), particles.id.get(**i) as f64);
    let best = gas.min_by(|a, b| order(a).partial_cmp(&order(b)).expect("numbers"));
    let id = groups.densest_gas_id.as_ref().expect("gas")[g];
    assert_eq!(id, best.map_or(0, |i| particles.id.get(*i)), "{what}: densest gas");
    let place = groups.densest_gas_position.as_ref().expect("gas")[g];
    assert!(best.map_or(place[0].is_nan(), |i| place == particles.position.get(*i)), "{what}: {place:?}");
    let has = row.members.iter().any(|i| holes[*i]);
    assert_eq!(groups.has_black_hole.as_ref().expect("holes")[g], has, "{what}: black hole");
    let seeded = !has && best.is_some() && rules.seeds.is_some_and(|rule| mass > rule.least_mass);
    assert_eq!(groups.is_seeded.as_ref().expect("seeds")[g], seeded, "{what}: seed");
}

/// Neighbouring dense cells that are almost linked, or by a single pair: boxes are compared, not all pairs.
#[test]
fn dense_neighbours_are_told_apart() {
    let mut random = Random(7);
    let mut cloud = |at: f64, n: usize, edge: f64| {
        (0..n)
            .map(|_| [at + edge * random.real(), random.real() * 0.1, random.real() * 0.1])
            .collect::<Vec<_>>()
    };
    let two = [cloud(0.0, 3000, 0.2), cloud(1.2001, 3000, 0.2)].concat();
    let find = |list: &[[f64; 3]], length| {
        let particles = Particles::plain(Positions::Double(list.to_vec()));
        find(&particles, &rules(length, 1, None)).expect("found").groups.size
    };
    assert_eq!(find(&two, 1.0), [3000, 3000]);
    let bridge = [two, vec![[0.2001, 0.05, 0.05]; 2], vec![[1.2000, 0.05, 0.05]; 2]].concat();
    assert_eq!(find(&bridge, 1.0), [6004]);
}

#[test]
fn a_million_particles_in_one_point_take_no_time() {
    let particles = Particles::plain(Positions::Single(vec![[0.3, 0.4, 0.5]; 1_000_000]));
    let found = find(&particles, &rules(0.1, 2, Some([1.0; 3]))).expect("found");
    assert_eq!((found.groups.size, found.groups.radius), (vec![1_000_000], vec![0.0]));
    let mut list = vec![[0.3, 0.4, 0.5]; 500_000];
    list.extend(vec![[0.4, 0.4, 0.5]; 500_000]);
    let tie = Particles { mass: Masses::Same(2.0), ..Particles::plain(Positions::Double(list)) };
    let apart = 0.4 - 0.3;
    assert_eq!(find(&tie, &rules(apart, 2, None)).expect("found").groups.size, [500_000, 500_000]);
    assert_eq!(find(&tie, &rules(f64::next_up(apart), 2, None)).expect("found").groups.size, [1_000_000]);
}
