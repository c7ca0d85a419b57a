//! One set of particles gives one outcome, bit for bit, on any number of ranks and threads, however the
//! particles are divided, whatever the order of messages.

use crate::fof_oracle::random::Random;
use crate::fof_oracle::{assert_same, brute, find, find_over, hard_box, part, positions, rich, rules};
use inselberg::executor::Executor;
use inselberg::fof::{FofError, FoundGroups, LinkingRules, Particles, SeedRule, find_groups};
use inselberg::particles::{Ids, Positions};
use inselberg_cli::synth::{ParticleBox, ParticleParams};
use inselberg_comm::{Comm, CommBuilder, run_threads};

const RANKS: [usize; 7] = [1, 2, 3, 4, 5, 8, 64];

/// Checks that any number of ranks finds the groups of one rank.
fn check(particles: &Particles, rules: &LinkingRules, n_ranks: &[usize], what: &str) -> FoundGroups {
    let one = find(particles, rules).unwrap_or_else(|e| panic!("{what}: {e}"));
    for &n in n_ranks {
        let many = find_over(particles, rules, Comm::threads(n), |i| i);
        assert_same(&one, &many, &format!("{what} on {n} ranks"));
        let runs = find_over(particles, rules, Comm::threads(n), |i| i / 37);
        assert_same(&one, &runs, &format!("{what} on {n} ranks, read in runs"));
    }
    one
}

fn chaos(n_ranks: usize, seed: u64) -> Vec<CommBuilder> {
    Comm::threads(n_ranks).into_iter().zip(0..).map(|(b, rank)| b.chaos(seed << 8 | rank)).collect()
}

fn synthetic(number: u64) -> (Vec<[f64; 3]>, [f64; 3]) {
    let made = ParticleBox::new(ParticleParams { number, seed: 3 });
    let list = (0..number).map(|i| made.position(i).map(f64::from)).collect();
    (list, [f64::from(made.side()); 3])
}

#[test]
fn a_clustered_box_with_every_column() {
    let (list, sides) = synthetic(20_000);
    for single in [true, false] {
        let particles = rich(5, positions(&list, single));
        let rules = LinkingRules { seeds: Some(SeedRule { least_mass: 30.0 }), ..rules(0.3, 5, Some(sides)) };
        let found = check(&particles, &rules, &RANKS, "clustered box");
        assert!(found.groups.len() > 20, "{}", found.groups.len());
    }
    // As sorted along a curve, and all read by the last rank.
    let particles = Particles::plain(positions(&list, true));
    let one = check(&particles, &rules(0.2, 20, Some(sides)), &[8], "plain box");
    let last = find_over(&particles, &rules(0.2, 20, Some(sides)), Comm::threads(4), |_| 3);
    assert_same(&one, &last, "all read by one rank");
}

#[test]
fn hard_boxes() {
    for seed in 0..40 {
        let sides = [None, Some([1.0; 3]), Some([1.0, 0.8, 1.3])][seed as usize % 3];
        let length = [0.05, 0.1, 0.2, 0.4, 1e-4, 1.0 / 3.0][seed as usize / 3 % 6];
        let list = hard_box(seed, 300, sides, length, false);
        let particles = rich(seed, positions(&list, false));
        let rules = rules(length, 1 + seed % 3, sides);
        let n_ranks = [2, 3, 5, 8, 64][seed as usize % 5];
        let one = check(&particles, &rules, &[n_ranks], &format!("box {seed}"));
        assert_eq!(one.group_of.iter().collect::<Vec<_>>(), brute(&particles, &rules).1, "box {seed}");
    }
}

/// A thread of particles that winds through the whole box: one group on all ranks.
#[test]
fn one_group_spans_all_ranks() {
    let mut list = Vec::new();
    for layer in 0..8 {
        for row in 0..8 {
            for step in 0..80 {
                let x = f64::from(step) / 80.0;
                let x = if (layer * 8 + row) % 2 == 0 { x } else { 1.0 - 1.0 / 80.0 - x };
                list.push([x, f64::from(row) / 8.0, f64::from(layer) / 8.0]);
            }
            let end = list[list.len() - 1];
            let side: [f64; 3] = if row < 7 { [0.0, 0.125, 0.0] } else { [0.0, -0.875, 0.125] };
            let n = if row < 7 { 9 } else { 64 };
            list.extend((1..n).map(|i| [0, 1, 2].map(|a| end[a] + side[a] * f64::from(i) / f64::from(n))));
        }
    }
    let particles = Particles::plain(positions(&list, false));
    let found = check(&particles, &rules(0.0151, 1, None), &RANKS, "winding thread");
    assert_eq!(found.groups.size, [list.len() as u64]);
    let long = check(&particles, &rules(0.013, 1, None), &[64], "rows apart");
    assert!(long.groups.len() > 50);
}

/// A synthetic box with every column there is, and the groups of two members and more on one rank.
fn synthetic_rich(seed: u64, n: u64, length: f64) -> (Particles, LinkingRules, FoundGroups) {
    let (list, sides) = synthetic(n);
    let (particles, rules) = (rich(seed, positions(&list, true)), rules(length, 2, Some(sides)));
    let one = find(&particles, &rules).expect("found");
    (particles, rules, one)
}

#[test]
fn messages_that_are_late_and_overtake_each_other() {
    let (particles, rules, one) = synthetic_rich(9, 4000, 0.35);
    for seed in 0..12 {
        let n_ranks = [2, 3, 5, 8][seed as usize % 4];
        let many = find_over(&particles, &rules, chaos(n_ranks, seed), |i| i);
        assert_same(&one, &many, &format!("chaos {seed} on {n_ranks} ranks"));
    }
}

#[test]
fn any_number_of_threads() {
    // With the longer one most particles are in one group, and every thread works on a part of it.
    for length in [0.25, 0.9] {
        let (particles, rules, one) = synthetic_rich(2, 12_000, length);
        for n in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool");
            let many = pool.install(|| find(&particles, &rules)).expect("found");
            assert_same(&one, &many, &format!("{n} threads"));
        }
        let over = find_over(&particles, &rules, Comm::threads(3), |i| i * 7);
        assert_same(&one, &over, "3 ranks");
    }
}

#[test]
fn no_particles_and_few() {
    for n in [0, 1, 2, 5] {
        let mut random = Random(n);
        let list: Vec<[f64; 3]> = (0..n).map(|_| [0, 1, 2].map(|_| random.real())).collect();
        for sides in [None, Some([1.0; 3])] {
            let particles = rich(n, positions(&list, false));
            let found = check(&particles, &rules(0.4, 1, sides), &[1, 3, 8], "few particles");
            assert_eq!(found.group_of.len(), n as usize);
            assert_eq!((found.groups.first_id, found.groups.len() as u64), (1, found.groups.n_total));
        }
    }
}

#[test]
fn one_id_on_two_ranks_is_refused() {
    let mut particles = Particles::plain(positions(&hard_box(1, 50, None, 0.1, false), false));
    let twice = [(41, 7), (42, 9), (43, 8)];
    let id = |i| twice.iter().find(|t| t.0 == i).map_or(i, |t| t.1);
    particles.id = Ids::Each((0..50).map(id).collect());
    assert_eq!(find(&particles, &rules(0.1, 1, None)), Err(FofError::SameId(7)));
    let ran = run_threads(3, |comm| {
        let own = part(&particles, &(0..50).filter(|i| i % 3 == comm.rank().at()).collect::<Vec<_>>());
        let found = find_groups(own, &rules(0.1, 1, None), comm, &Executor::default());
        found.map_err(|error| comm.abort(error.to_string())).map(|_| ())
    });
    let errors = ran.expect("no panic").into_iter().map(|r| r.expect_err("refused").to_string());
    assert!(errors.into_iter().all(|e| e.contains("two particles have the ID 7")));
}

#[test]
fn ranks_that_read_nothing_know_the_columns() {
    let particles = Particles::plain(Positions::Single(vec![[0.5; 3]; 4]));
    let found = find_over(&particles, &rules(0.1, 1, Some([1.0; 3])), Comm::threads(5), |i| i);
    assert_eq!(found.groups.size, [4]);
}
