//! Friends-of-friends by its definition, all pairs, and boxes that are hard to get right.
#![allow(dead_code)]

use inselberg::executor::Executor;
use inselberg::fof::{FofError, FoundGroups, GroupIds, Groups, LinkingRules, Particles, Role, find_groups};
use inselberg::particles::{Ids, Masses, Positions};
use inselberg_comm::{Comm, CommBuilder, run_ranks};

#[path = "../verify/random.rs"]
pub mod random;

use random::Random;

/// Square of the distance of the nearest images.
pub fn distance2(a: [f64; 3], b: [f64; 3], sides: Option<[f64; 3]>) -> f64 {
    let along = |i: usize| {
        let d = (a[i] - b[i]).abs();
        sides.map_or(d, |sides| d.min(sides[i] - d))
    };
    let (x, y, z) = (along(0), along(1), along(2));
    x * x + y * y + z * z
}

/// A row as the oracle sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub members: Vec<usize>,
    pub n_linked: u64,
    pub lowest_id: u64,
}

/// Groups in the order of their IDs, and the group of each particle.
pub fn brute(particles: &Particles, rules: &LinkingRules) -> (Vec<Row>, Vec<u64>) {
    let n = particles.len();
    let role = |i: usize| particles.role.as_ref().map_or(Role::Linkable, |role| role[i]);
    let at = |i: usize| particles.position.get(i);
    let limit = rules.linking_length * rules.linking_length;
    let mut label: Vec<usize> = (0..n).collect();
    let linkable: Vec<usize> = (0..n).filter(|i| role(*i) == Role::Linkable).collect();
    for (k, &i) in linkable.iter().enumerate() {
        for &j in &linkable[..k] {
            if label[i] != label[j] && distance2(at(i), at(j), rules.sides) < limit {
                let (low, high) = (label[i].min(label[j]), label[i].max(label[j]));
                label.iter_mut().filter(|l| **l == high).for_each(|l| *l = low);
            }
        }
    }
    let mut nearest: Vec<Option<usize>> = vec![None; n];
    for i in (0..n).filter(|i| role(*i) == Role::Attachable) {
        let near = linkable.iter().map(|&j| (distance2(at(i), at(j), rules.sides), particles.id.get(j), j));
        let best = near.filter(|near| near.0 < limit).min_by(|a, b| a.partial_cmp(b).expect("numbers"));
        nearest[i] = best.map(|best| best.2);
    }
    let mut rows: Vec<Row> = Vec::new();
    for root in 0..n {
        let linked: Vec<usize> = linkable.iter().copied().filter(|i| label[*i] == root).collect();
        if linked.is_empty() || (linked.len() as u64) < rules.min_size {
            continue;
        }
        let lowest_id = linked.iter().map(|i| particles.id.get(*i)).min().expect("a member");
        let joined = (0..n).filter(|i| nearest[*i].is_some_and(|j| label[j] == root));
        let n_linked = linked.len() as u64;
        let members = linked.iter().copied().chain(joined).collect();
        rows.push(Row { members, n_linked, lowest_id });
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.n_linked), row.lowest_id));
    let mut group_of = vec![0; n];
    for (row, id) in rows.iter().zip(1..) {
        row.members.iter().for_each(|i| group_of[*i] = id);
    }
    (rows, group_of)
}

/// The search on one rank.
pub fn find(particles: &Particles, rules: &LinkingRules) -> Result<FoundGroups, FofError> {
    find_groups(particles.clone(), rules, &Comm::solo(), &Executor::default())
}

fn rows_of<T: Clone>(list: &[T], part: &[usize]) -> Vec<T> {
    part.iter().map(|i| list[*i].clone()).collect()
}

/// Some of the particles.
pub fn part(all: &Particles, of: &[usize]) -> Particles {
    Particles {
        position: match &all.position {
            Positions::Single(list) => Positions::Single(rows_of(list, of)),
            Positions::Double(list) => Positions::Double(rows_of(list, of)),
        },
        mass: match &all.mass {
            Masses::Same(mass) => Masses::Same(*mass),
            Masses::Each(list) => Masses::Each(rows_of(list, of)),
        },
        id: Ids::Each(of.iter().map(|i| all.id.get(*i)).collect()),
        role: all.role.as_ref().map(|list| rows_of(list, of)),
        velocity: all.velocity.as_ref().map(|list| rows_of(list, of)),
        gas_density: all.gas_density.as_ref().map(|list| rows_of(list, of)),
        is_black_hole: all.is_black_hole.as_ref().map(|list| rows_of(list, of)),
    }
}

/// The search over `ranks`, of which particle i is read by rank `reader(i)`; put together as of one rank.
pub fn find_over(
    particles: &Particles,
    rules: &LinkingRules,
    ranks: Vec<CommBuilder>,
    reader: impl Fn(usize) -> usize + Sync,
) -> FoundGroups {
    let n_ranks = ranks.len();
    let reads =
        |rank: usize| (0..particles.len()).filter(|i| reader(*i) % n_ranks == rank).collect::<Vec<_>>();
    let ran = run_ranks(ranks, |comm: &Comm| {
        let own = part(particles, &reads(comm.rank().at()));
        find_groups(own, rules, comm, &Executor::default()).unwrap_or_else(|error| panic!("{error}"))
    });
    let mut group_of = vec![0; particles.len()];
    let mut groups: Option<Groups> = None;
    for (rank, outcome) in ran.expect("no panic").into_iter().enumerate() {
        reads(rank).iter().zip(outcome.group_of.iter()).for_each(|(i, id)| group_of[*i] = id as u32);
        match &mut groups {
            Some(all) => append(all, outcome.groups),
            None => groups = Some(outcome.groups),
        }
    }
    FoundGroups { groups: groups.expect("a rank"), group_of: GroupIds::Narrow(group_of) }
}

fn append(all: &mut Groups, next: Groups) {
    fn join<T>(a: &mut Option<Vec<T>>, b: Option<Vec<T>>) {
        assert_eq!(a.is_some(), b.is_some(), "ranks have the same columns");
        a.iter_mut().zip(b).for_each(|(a, b)| a.extend(b));
    }
    assert_eq!((next.first_id, next.n_total), (all.first_id + all.len() as u64, all.n_total));
    all.size.extend(next.size);
    all.n_linked.extend(next.n_linked);
    all.lowest_id.extend(next.lowest_id);
    all.mass.extend(next.mass);
    all.centre.extend(next.centre);
    all.radius.extend(next.radius);
    all.extent.extend(next.extent);
    join(&mut all.velocity, next.velocity);
    join(&mut all.dispersion, next.dispersion);
    join(&mut all.densest_gas_id, next.densest_gas_id);
    join(&mut all.densest_gas_density, next.densest_gas_density);
    join(&mut all.densest_gas_position, next.densest_gas_position);
    join(&mut all.has_black_hole, next.has_black_hole);
    join(&mut all.is_seeded, next.is_seeded);
}

/// That two outcomes are the same to the bit.
pub fn assert_same(a: &FoundGroups, b: &FoundGroups, what: &str) {
    let ids = |o: &FoundGroups| o.group_of.iter().collect::<Vec<_>>();
    assert_eq!(ids(a), ids(b), "{what}: groups of particles");
    // NaN stands where there is no gas, and is not equal to itself.
    assert_eq!(format!("{:?}", a.groups), format!("{:?}", b.groups), "{what}: rows");
}

/// A small box: clusters, a background, duplicates, points on faces, and pairs at just the linking length.
pub fn hard_box(seed: u64, n: usize, sides: Option<[f64; 3]>, length: f64, single: bool) -> Vec<[f64; 3]> {
    let mut random = Random(seed);
    let extent = sides.unwrap_or([1.0, 1.0, 1.0]);
    let round = |x: f64| if single { f64::from(x as f32) } else { x };
    let mut list: Vec<[f64; 3]> = Vec::new();
    let inside = |p: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|a| match sides {
            Some(sides) => round(p[a].rem_euclid(sides[a])).min(round(sides[a])),
            None => round(p[a]),
        })
    };
    while list.len() < n {
        let any = [0, 1, 2].map(|a| random.real() * extent[a]);
        let old = if list.is_empty() { any } else { list[random.below(list.len())] };
        let mut p = match random.below(10) {
            0 => old,
            1..4 => old.map(|x| x + (random.real() - 0.5) * length * 0.7),
            4 => {
                let axis = random.below(3);
                let mut p = old;
                p[axis] += if random.below(2) == 0 { length } else { -length };
                p
            }
            5 => old.map(|x| x + (random.real() - 0.5) * length * 2.2),
            _ => any,
        };
        p = inside(p);
        if random.below(6) == 0 {
            let axis = random.below(3);
            p[axis] = round([0.0, extent[axis], extent[axis] / 2.0][random.below(3)]);
        }
        list.push(p);
    }
    list
}

/// As positions of either kind.
pub fn positions(list: &[[f64; 3]], single: bool) -> Positions {
    match single {
        true => Positions::Single(list.iter().map(|p| p.map(|x| x as f32)).collect()),
        false => Positions::Double(list.to_vec()),
    }
}

/// The plain case.
pub fn rules(length: f64, min_size: u64, sides: Option<[f64; 3]>) -> LinkingRules {
    LinkingRules { linking_length: length, min_size, sides, seeds: None, allow_duplicate_ids: false }
}

/// Particles with every column there is.
pub fn rich(seed: u64, position: Positions) -> Particles {
    let mut random = Random(seed ^ 0x5eed);
    let n = position.len();
    let mut each =
        |of: &mut dyn FnMut(&mut Random) -> f64| (0..n).map(|_| of(&mut random)).collect::<Vec<f64>>();
    let mass = each(&mut |r| 0.5 + r.real());
    let kind = each(&mut |r| r.below(10) as f64);
    let v: [Vec<f64>; 3] = std::array::from_fn(|_| each(&mut |r| 100.0 * r.real() - 30.0));
    let density = each(&mut |r| r.below(5) as f64);
    let role = |kind: &f64| match *kind as u32 {
        0..6 => Role::Linkable,
        6..9 => Role::Attachable,
        _ => Role::Ignored,
    };
    Particles {
        mass: Masses::Each(mass),
        // In no order, and far apart.
        id: Ids::Each((0..n as u64).map(|i| (i * 7919 % n.max(1) as u64) * 1_000_003 + 17).collect()),
        role: Some(kind.iter().map(role).collect()),
        velocity: Some((0..n).map(|i| [0, 1, 2].map(|a| v[a][i] as f32)).collect()),
        gas_density: Some(
            (0..n).map(|i| if kind[i] == 7.0 { density[i] as f32 } else { f32::NAN }).collect(),
        ),
        is_black_hole: Some(kind.iter().map(|k| *k == 8.0).collect()),
        position,
    }
}
