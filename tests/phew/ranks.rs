//! One input gives one catalogue, bit for bit, on any number of ranks and threads, whatever the order of
//! messages.

use crate::common::case::{Case, DARK, GAS, SYNTH, config};
use crate::common::compare::assert_same;
use crate::verify::boxed::Boxed;
use crate::verify::brute::Leaf;
use crate::verify::meshes::{Field, any_field};
use crate::verify::random::Random;
use inselberg::executor::Executor;
use inselberg::phew::params::{Persistence, Thresholds};
use inselberg::phew::run::run;
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg::progress::Silent;
use inselberg::projection::project;
use inselberg_cli::synth::{FieldKind, FieldParams, SynthField};
use inselberg_comm::{Comm, CommBuilder, run_ranks};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::Catalogue;
use inselberg_kernels::geom::Domain;
use inselberg_tasks::ThreadPool;
use proptest::prelude::*;

/// The catalogue of all `ranks`.
fn over(snapshot: &dyn Snapshot, case: Case, rules: Rules, ranks: Vec<CommBuilder>) -> Catalogue {
    over_with(snapshot, &config(snapshot, case, rules), ranks)
}

fn over_with(snapshot: &dyn Snapshot, config: &PhewRequest, ranks: Vec<CommBuilder>) -> Catalogue {
    let work = |comm: &Comm| match run(snapshot, config, comm, &Executor::default()) {
        Ok(outcome) => outcome.catalogue.gather(comm),
        Err(error) => Err(comm.abort(error.to_string())),
    };
    let parts = run_ranks(ranks, work).expect("no panic");
    let mut parts = parts.into_iter().map(|part| part.expect("no failure"));
    let whole = parts.next().flatten().expect("rank 0 has it");
    assert!(parts.all(|part| part.is_none()), "only rank 0 has it");
    whole
}

/// Checks that every number of ranks in `n_ranks` gives the catalogue of one.
fn check(snapshot: &dyn Snapshot, case: Case, rules: Rules, n_ranks: &[usize]) {
    let one = over(snapshot, case, rules, Comm::threads(1));
    for &n in n_ranks {
        let many = over(snapshot, case, rules, Comm::threads(n));
        assert_same(&one, &many, &format!("{} on {n} ranks", case.field));
    }
}

/// The same under disorder: messages that are late and overtake each other.
fn check_chaos(snapshot: &dyn Snapshot, case: Case, n_ranks: usize, seeds: std::ops::Range<u64>) {
    let one = over(snapshot, case, Rules::Paper, Comm::threads(1));
    for seed in seeds {
        let ranks = Comm::threads(n_ranks).into_iter().zip(0..).map(|(b, rank)| b.chaos(seed << 8 | rank));
        let many = over(snapshot, case, Rules::Paper, ranks.collect());
        assert_same(&one, &many, &format!("chaos {seed} on {n_ranks} ranks"));
    }
}

#[test]
fn dark_matter_of_the_output() {
    for rules in [Rules::Paper, Rules::Ramses] {
        check(&*crate::common::open(&crate::common::output("dm_3ranks")), DARK, rules, &[2, 3, 4, 5, 8]);
    }
}

#[test]
fn particles() {
    for field in ["cic", "cic-ramses"] {
        let case = Case { field, ..DARK };
        check(&*crate::common::open(&crate::common::output("dm_1rank")), case, Rules::Paper, &[2, 5]);
    }
}

#[test]
fn gas() {
    for rules in [Rules::Paper, Rules::Ramses] {
        check(&*crate::common::open(&crate::common::output("gas_2ranks")), GAS, rules, &[1, 2, 3, 8]);
    }
}

fn synth(kind: FieldKind, test_cells: u64) -> SynthField {
    SynthField::new(&FieldParams { kind, test_cells, ..FieldParams::default() }).expect("a field")
}

#[test]
fn a_noisy_field() {
    check(&synth(FieldKind::Clumps, 30_000), SYNTH, Rules::Paper, &[2, 3, 8, 64]);
}

#[test]
fn a_lattice_of_equal_peaks() {
    for rules in [Rules::Paper, Rules::Ramses] {
        check(&synth(FieldKind::Lattice, 10_000), SYNTH, rules, &[2, 3, 4, 5, 8]);
    }
}

#[test]
fn one_clump_over_all_ranks() {
    check(&synth(FieldKind::Giant, 10_000), SYNTH, Rules::Paper, &[2, 3, 4, 5, 8]);
}

#[test]
fn a_chain_of_peaks_through_every_domain() {
    check(&synth(FieldKind::Chain, 10_000), SYNTH, Rules::Paper, &[2, 3, 4, 5, 8, 32]);
}

/// What a cell of level 21 adds to a sum with one of level 1 is rounded, and must be rounded in the same way
/// everywhere.
#[test]
fn the_smallest_cells_beside_the_largest() {
    for seed in 0..10 {
        let mut random = Random(seed);
        let mut field = Field::uniform(Domain::CUBE, 1);
        field.zoom((1, [0, 1, 1]), 20, false, &mut random);
        field.fill(0, &mut random);
        let octs = Boxed::new(&field, 1 + random.below(3), &mut random);
        check(&octs, Case { field: "density", thresholds: [0.05, 1.2, 4.0] }, Rules::Paper, &[2, 3, 5, 8]);
    }
}

#[test]
fn late_messages_do_not_matter() {
    check_chaos(&synth(FieldKind::Chain, 300), SYNTH, 5, 0..30);
    check_chaos(&synth(FieldKind::Giant, 2_000), SYNTH, 4, 0..30);
    check_chaos(&synth(FieldKind::Lattice, 600), SYNTH, 8, 0..30);
    check_chaos(&*crate::common::open(&crate::common::output("dm_3ranks")), DARK, 3, 0..10);
}

/// Test cells of densities from 1 in a uniform box of 8^3 cells, 0 elsewhere.
fn uniform(rho: impl Fn([u32; 3]) -> f64) -> Boxed {
    let mut field = Field::uniform(Domain::CUBE, 3);
    field.leaves.iter_mut().for_each(|leaf: &mut Leaf| leaf.rho = rho(leaf.ijk));
    Boxed::new(&field, 3, &mut Random(5)).with_particles(50, &mut Random(6))
}

const PLAIN: Case = Case { field: "density", thresholds: [0.5, 1.5, 2.0] };

/// A catalogue has the ties that can decide anything: of a plain one, of terraces few. Of all there are 13
/// for each cell of a plain under RAMSES's rules. The two higher cells of the third field have neighbours.
#[test]
fn plains_have_few_ties() {
    let side = 24;
    let of = |rho: &dyn Fn([u32; 3]) -> f64| {
        let grid = Domain { coarse: [side / 8; 3], periodic: [true; 3] };
        let mut field = Field::uniform_at(grid, 3);
        field.leaves.iter_mut().for_each(|leaf: &mut Leaf| leaf.rho = rho(leaf.ijk));
        Boxed::new(&field, 3, &mut Random(5))
    };
    let higher = |x: [u32; 3]| if x == [7, 7, 7] || x == [9, 17, 2] { 5.0 } else { 1.0 };
    let (plain, terraces) = (of(&|_| 1.0), of(&|[x, ..]| f64::from(1 + (x / 6).min(2))));
    for (box_of, most) in [(plain, 1), (of(&higher), 2 * 98), (terraces, 24 * 24 * 24 / 4)] {
        let one = over(&box_of, PLAIN, Rules::Ramses, Comm::threads(1));
        let n_ties = one.table("ties").expect("saddles tie").n_rows();
        assert!((1..=most).contains(&n_ties), "{n_ties} ties, at most {most} expected");
        check(&box_of, PLAIN, Rules::Ramses, &[2, 3, 4, 7]);
    }
}

/// Thresholds that no run takes, and cells that only a difference takes.
#[test]
fn what_ratios_and_ramses_do_not_take_is_refused() {
    let deep = uniform(|x| if x == [1, 1, 1] { 3.0 } else { -1.0 });
    let refused = |thresholds: Thresholds, rules| {
        let config = config(&deep, PLAIN, rules)
            .with(|params| PhewParams::from(thresholds).rules(rules).bound(params.bound));
        let ran = run(&deep, &config, &Comm::solo(), &Executor::default()).map(|_| ());
        ran.map_err(|error| error.to_string()).err()
    };
    let of = |persistence, density| Thresholds {
        density,
        persistence,
        significance: None,
        saddle: None,
        halo_relevance: None,
        mass: 0.0,
        min_cells: 0,
    };
    let (ratio, difference) = (Persistence::Ratio(1.5), Persistence::Difference(1.0));
    let contains = |said: Option<String>, part: &str| {
        assert!(said.as_ref().is_some_and(|s| s.contains(part)), "{said:?}")
    };
    assert_eq!(refused(of(difference, 0.0), Rules::Paper), None);
    contains(refused(of(ratio, 0.5), Rules::Paper), "expected 0 or more in a leaf");
    contains(refused(of(difference, 0.5), Rules::Ramses), "expected `relevance_threshold`");
    for density in [-0.5, f64::NAN] {
        contains(refused(of(difference, density), Rules::Paper), "expected 0 or more");
    }
}

#[test]
fn one_cell_a_rank() {
    let eight = uniform(|x| if x.iter().all(|x| *x < 2) { 1.0 + f64::from(x[0] + 2 * x[1]) } else { 0.0 });
    check(&eight, PLAIN, Rules::Paper, &[2, 7, 8]);
    let row = uniform(|x| if x[1] == 0 && x[2] == 0 { f64::from(1 + x[0]) } else { 0.0 });
    check(&row, PLAIN, Rules::Paper, &[8]);
}

#[test]
fn more_ranks_than_peaks_and_ranks_without_cells() {
    let three = uniform(|x| match x {
        [1, 1, 1] | [6, 1, 1] => 9.0,
        [2, 1, 1] | [6, 6, 6] => 4.0,
        _ => 0.0,
    });
    check(&three, PLAIN, Rules::Paper, &[2, 5, 16]);
    check(&uniform(|_| 0.0), PLAIN, Rules::Paper, &[2, 5]);
    check(&uniform(|_| 3.0), PLAIN, Rules::Paper, &[2, 5, 8]);
}

/// Sums of reals along these columns depend on their order, even in single precision: the great value lies
/// half-way between two, and what is added to it is half of its last digit.
#[test]
fn a_projection_is_the_same_on_any_number_of_ranks() {
    let great = 2f64.powi(53) * (1.0 + 2f64.powi(-24));
    let mut random = Random(7);
    let mut field = Field::uniform_at(Domain::CUBE, 3);
    field.split((3, [2, 5, 1]), false);
    field.leaves.iter_mut().for_each(|leaf: &mut Leaf| leaf.rho = [1.0, great][random.below(2)]);
    let octs = Boxed::new(&field, 3, &mut random);
    let config = config(&octs, Case { field: "density", thresholds: [2.0, 1.5, 4.0] }, Rules::Paper);
    for level in [1, 3, 5] {
        let on = |n_ranks| {
            let work = |comm: &Comm| {
                let outcome = run(&octs, &config, comm, &Executor::default()).expect("a run");
                project(outcome.part.as_ref().expect("cells"), level, comm).expect("no failure")
            };
            let all = run_ranks(Comm::threads(n_ranks), work).expect("no panic");
            let whole = all.into_iter().next().flatten().expect("rank 0 has it");
            whole.values.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let one = on(1);
        assert!([2, 3, 5, 8].into_iter().all(|n| on(n) == one), "level {level}");
    }
}

/// The paper needs 35 to 45 sweeps from labels to haloes.
#[test]
fn few_exchanges() {
    let field = synth(FieldKind::Clumps, 100_000);
    let config = config(&field, Case { thresholds: [80.0, 3.0, 200.0], ..SYNTH }, Rules::Paper);
    let counts = |comm: &Comm| {
        run(&field, &config, comm, &Executor::default()).expect("a run");
        let stages = ["ascent", "labels", "saddles", "sums", "forest", "positions", "hierarchy"];
        let is_one = |stage: &str| stages.iter().any(|one| stage.starts_with(one));
        let traffic = comm.traffic().into_iter().filter(|t| is_one(t.stage));
        traffic.map(|t| t.rounds).sum::<u64>()
    };
    let rounds = run_ranks(Comm::threads(8), counts).expect("no panic");
    assert!(rounds.iter().all(|n| (5..=18).contains(n)), "{rounds:?}");
}

/// Haloes are cut by the ranks of their highest peaks: no rank gets most of what all ranks send for that.
#[test]
fn haloes_are_cut_on_many_ranks() {
    let field = synth(FieldKind::Clumps, 100_000);
    let config = config(&field, Case { thresholds: [80.0, 1.1, 200.0], ..SYNTH }, Rules::Paper);
    let received = |comm: &Comm| {
        let outcome = run(&field, &config, comm, &Executor::default()).expect("a run");
        let of_stage = comm.traffic().into_iter().find(|t| t.stage == "hierarchy").expect("the stage");
        (of_stage.received_bytes, outcome.structures.n_cut)
    };
    let received = run_ranks(Comm::threads(32), received).expect("no panic");
    let (all, most) = (received.iter().map(|r| r.0).sum::<u64>(), received.iter().map(|r| r.0).max());
    assert!(received[0].1 > 32, "{} clumps", received[0].1);
    assert!(most.is_some_and(|most| 5 * most < all), "{most:?} of {all} bytes");
}

/// On so large a number of ranks, places of peaks are exchanged over relays.
#[test]
fn more_ranks_than_send_straight() {
    check(&synth(FieldKind::Lattice, 2_000), SYNTH, Rules::Paper, &[300]);
}

/// The catalogues compared are the ones of whole runs: another field has another one.
#[test]
fn different_fields_differ() {
    let [a, b] = [2.0, 3.0].map(|top| uniform(|x| if x == [1, 1, 1] { top } else { 1.0 }));
    let [a, b] = [a, b].map(|field| over(&field, PLAIN, Rules::Paper, Comm::threads(2)));
    assert_ne!(
        a.table("tree").expect("a tree").reals("density"),
        b.table("tree").expect("a tree").reals("density")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Persistence by difference, on fields with leaves below zero.
    #[test]
    fn any_octree_with_negative_leaves(field in any_field(), shift in 0.0..4.0f64, seed: u64) {
        prop_assume!(field.leaves.iter().all(|leaf| leaf.level > 0));
        let (field, mut random) = (field.with(|leaf| leaf.rho - shift), Random(seed));
        let octs = Boxed::new(&field, 1 + random.below(5), &mut random);
        let at = [0.0, 0.5, 1.0][random.below(3)];
        let case = Case { field: "density", thresholds: [at, 1.0, 2.0] };
        let by_difference = |config: PhewRequest| {
            let persistence = Persistence::Difference([0.0, 0.75, 2.0][seed as usize % 3]);
            config.with(|params| params.persistence(persistence))
        };
        let over = |n| over_with(&octs, &by_difference(config(&octs, case, Rules::Paper)), Comm::threads(n));
        let one = over(1);
        for n in [2, 3, 5] {
            assert_same(&one, &over(n), &format!("{n} ranks"));
        }
    }

    /// Jumps of several levels, walls, narrow boxes, equal densities.
    #[test]
    fn any_octree(field in any_field(), n_ranks in 2..9usize, ramses: bool, seed: u64) {
        prop_assume!(field.leaves.iter().all(|leaf| leaf.level > 0));
        let mut random = Random(seed);
        let octs = Boxed::new(&field, 1 + random.below(5), &mut random).with_particles(60, &mut random);
        let rules = if ramses { Rules::Ramses } else { Rules::Paper };
        for thresholds in [[2.0, 1.2, 4.0], [0.5, 3.0, 2.5]] {
            check(&octs, Case { field: "density", thresholds }, rules, &[n_ranks]);
            check(&octs, Case { field: "other", thresholds }, rules, &[n_ranks]);
        }
        check(&octs, Case { field: "cic", thresholds: [1.0, 2.0, 5.0] }, rules, &[n_ranks]);
    }
    /// Few different densities, so peaks and saddles tie; late messages; one or two threads per rank.
    #[test]
    fn equal_densities_under_disorder(densities in prop::collection::vec(1..5u32, 512), cut in 0..4usize, seed: u64) {
        let octs = uniform(|[x, y, z]| f64::from(densities[(x + 8 * y + 64 * z) as usize]));
        let thresholds = [[0.5, 1.2, 2.0], [0.5, 1.2, 3.2], [1.5, 1.0, 2.2], [0.5, 3.0, 1.0]][cut];
        let case = Case { field: "density", thresholds };
        let one = over(&octs, case, Rules::Paper, Comm::threads(1));
        for n_ranks in [1, 2, 3, 5, 8] {
            let ranks = Comm::threads(n_ranks).into_iter().zip(0..).map(|(b, rank)| b.chaos(seed ^ rank));
            let config = config(&octs, case, Rules::Paper);
            let n_threads = 1 + (seed as usize + n_ranks) % 2;
            let work = |comm: &Comm| {
                let executor = Executor::new(ThreadPool::with_threads(n_threads), &Silent);
                match run(&octs, &config, comm, &executor) {
                    Ok(outcome) => outcome.catalogue.gather(comm),
                    Err(error) => Err(comm.abort(error.to_string())),
                }
            };
            let parts = run_ranks(ranks.collect(), work).expect("no panic");
            let many = parts.into_iter().next().expect("rank 0").expect("no failure").expect("rank 0 has it");
            assert_same(&one, &many, &format!("{n_ranks} ranks with {n_threads} threads"));
        }
    }
}
