//! Noise by significance against the plain way, on small meshes of every kind over one and several ranks.

use crate::verify::boxed::Boxed;
use crate::verify::brute::Brute;
use crate::verify::meshes::{Field, any_field, child, place, threshold_for};
use crate::verify::noise::{NoiseCut, NoiseOutcome, Part, Reason, outcome};
use crate::verify::random::Random;
use inselberg::CentralChoice;
use inselberg::executor::Executor;
use inselberg::field::test_cells;
use inselberg::partition::{LocalField, Weights, partition_leaves};
use inselberg::phew::Rules;
use inselberg::phew::hierarchy::structures;
use inselberg::phew::params::{Persistence, Thresholds};
use inselberg::phew::prominence::DepositedParticles;
use inselberg::phew::segment::{Task, segment};
use inselberg::phew::test_fields::TestFields;
use inselberg::phew::test_links::TestLinks;
use inselberg_comm::{Comm, run_ranks};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::significance::Prominence;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The results for a peak: its part above the saddle, that of its elder, and the identifiers of clump and
/// halo of its patch.
#[derive(Debug, Clone, Copy)]
struct FoundPeak {
    parts: [Prominence; 2],
    ids: [u64; 2],
}

/// The results of a rank, by the numbers of its peaks.
fn found_here(part: &LocalField, cut: &NoiseCut, comm: &Comm) -> BTreeMap<u64, FoundPeak> {
    let executor = Executor::default();
    let cells = test_cells::find(&part.field, cut.density);
    let links = TestLinks::new(part, &cells);
    let task = Task {
        field: &part.field,
        links: &links,
        extra: &TestFields::default(),
        density_threshold: cut.density,
        side: 1.0,
        origin: [0.0; 3],
        rules: Rules::Paper,
    };
    let mut found = segment(&task, cells, comm, &executor).expect("no rank fails");
    // All particles have one known mass, so none is read.
    let snapshot = Boxed::new(&Field::uniform(Domain::CUBE, 0), 1, &mut Random(0));
    let deposited =
        DepositedParticles { snapshot: &snapshot, mass: Some(cut.particle), is_deposited: |_| true };
    let prominences =
        deposited.prominences(part, &links.own, &found, comm, &executor).expect("no rank fails");
    let parts: Vec<_> = prominences.iter().map(|of| [of.prominence, of.of_elder]).collect();
    found.peaks.prominence = Some(prominences);
    let thresholds = Thresholds {
        density: cut.density,
        persistence: cut.persistence,
        significance: Some(cut.significance),
        saddle: cut.saddle,
        halo_relevance: None,
        mass: 0.0,
        min_cells: 0,
    };
    let all = structures(&found.peaks, &thresholds, Rules::Paper, CentralChoice::Heaviest, comm)
        .expect("no rank fails");
    let of_peak =
        |i: usize| FoundPeak { parts: parts[i], ids: [all.clump_of_patch[i], all.halo_of_patch[i]] };
    found.peaks.name.iter().enumerate().map(|(i, name)| (name.number(), of_peak(i))).collect()
}

/// The results of all ranks, by the numbers of the peaks.
fn found_on(field: &Field, cut: &NoiseCut, n_ranks: usize, seed: u64) -> Vec<FoundPeak> {
    let mut random = Random(seed);
    let mut held = vec![Vec::new(); n_ranks];
    field.leaves.iter().for_each(|leaf| held[random.below(n_ranks)].push((leaf.level, leaf.ijk, leaf.rho)));
    let ranks = Comm::threads(n_ranks).into_iter().map(|builder| builder.chaos(seed));
    let parts = run_ranks(ranks.collect(), |comm| {
        let held = held[comm.rank().at()].iter().copied();
        let by = Weights::TestCells;
        let part = partition_leaves(field.domain, held, cut.density, by, comm, &Executor::default());
        found_here(&part.expect("sound leaves"), cut, comm)
    });
    let all: BTreeMap<_, _> = parts.expect("no rank fails").into_iter().flatten().collect();
    all.into_values().collect()
}

fn assert_near(found: Prominence, expected: Part, what: &str) {
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * (1.0 + b.abs());
    let both = near(found.significance, expected.significance) && near(found.mass, expected.mass);
    assert!(both, "{what}: {found:?} for {expected:?}");
}

/// Patches with the same mark, and those without one, are the same by both.
fn assert_same_sets(found: &[u64], expected: &[Option<usize>], what: &str) {
    for a in 0..found.len() {
        assert_eq!(found[a] == 0, expected[a].is_none(), "{what} of patch {a}");
        for b in 0..a {
            assert_eq!(found[a] == found[b], expected[a] == expected[b], "{what} of patches {a} and {b}");
        }
    }
}

fn compare(found: &[FoundPeak], expected: &NoiseOutcome) {
    assert_eq!(found.len(), expected.part.len(), "peaks");
    for (p, peak) in found.iter().enumerate() {
        assert_near(peak.parts[0], expected.part[p], &format!("peak {p}"));
        match expected.merger[p].filter(|merger| merger.parts[0].significance >= 1.0) {
            Some(merger) => assert_near(peak.parts[1], merger.parts[1], &format!("elder of peak {p}")),
            None => assert!(peak.parts[1].significance.is_nan(), "peak {p} does not stand out"),
        }
    }
    let ids = |kind: usize| found.iter().map(|peak| peak.ids[kind]).collect::<Vec<_>>();
    assert_same_sets(&ids(0), &expected.clump, "clump");
    let halo = |p: usize| expected.clump[p].map(|_| expected.halo[p]);
    assert_same_sets(&ids(1), &(0..found.len()).map(halo).collect::<Vec<_>>(), "halo");
}

/// Thresholds, and a mass of particles of which cells hold a few to a few hundred.
fn cut_for(field: &Field, random: &mut Random) -> NoiseCut {
    let volume = |level: u8| 0.125f64.powi(i32::from(level));
    let mass: f64 = field.leaves.iter().map(|leaf| leaf.rho * volume(leaf.level)).sum();
    NoiseCut {
        density: threshold_for(field, random),
        persistence: Persistence::Ratio(random.pick(&[1.0, 1.1, 1.4, 2.0])),
        significance: random.pick(&[0.7, 1.0, 3.0, 10.0]),
        saddle: random.pick(&[None, Some(0.0), Some(1.75), Some(3.3)]),
        particle: mass / field.leaves.len() as f64 * 10.0_f64.powf(-2.5 * random.real()),
    }
}

/// Compares the library with the plain way. Returns the reasons that occur.
fn check(field: &Field, cut: NoiseCut, random: &mut Random) -> Vec<Reason> {
    let brute = Brute::new(&field.domain, &field.leaves, cut.density);
    let expected = outcome(&brute, &cut);
    for n_ranks in [1, random.pick(&[2, 3, 5])] {
        compare(&found_on(field, &cut, n_ranks, random.bits()), &expected);
    }
    expected.reason.into_iter().flatten().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_of_any_mesh_agrees(field in any_field(), seed in any::<u64>()) {
        let mut random = Random(seed);
        check(&field, cut_for(&field, &mut random), &mut random);
    }

    #[test]
    fn noise_beside_a_core_agrees(seed in any::<u64>()) {
        check_core(seed);
    }
}

/// A smooth core with noise, often of few values, and one to three small cells outside of it which are
/// denser.
fn core_and_spikes(seed: u64) -> Field {
    let mut random = Random(seed);
    let mut field = Field::uniform_at(Domain::CUBE, 3);
    let spikes: Vec<(u8, [u32; 3])> =
        (0..1 + random.below(3)).map(|i| (3, [6, 1 + 2 * i as u32, 4])).collect();
    for at in &spikes {
        field.split(*at, true);
        field.split(child(*at, 0), true);
    }
    let spikes: Vec<_> = spikes.into_iter().map(|at| child(child(at, 0), 7)).collect();
    let (noise, step) = (random.pick(&[0.0, 0.5, 1.5]), random.pick(&[0.0, 0.25]));
    for leaf in &mut field.leaves {
        let side = 0.5f64.powi(i32::from(leaf.level));
        let r2: f64 = leaf.ijk.iter().map(|x| ((f64::from(*x) + 0.5) * side - 0.4).powi(2)).sum();
        let rho = 1.0 + 6.0 * (-r2 / 0.04).exp() + noise * random.real();
        let rho = if spikes.contains(&place(leaf)) { rho + random.pick(&[4.0, 8.0]) } else { rho };
        leaf.rho = if step > 0.0 { (rho / step).round() * step } else { rho };
    }
    field
}

/// By thresholds that let the core be one of several clumps.
fn check_core(seed: u64) -> Vec<Reason> {
    let (field, mut random) = (core_and_spikes(seed), Random(seed));
    let (density, significance) = (random.pick(&[0.0, 1.0]), random.pick(&[3.0, 10.0]));
    let cut = NoiseCut { density, significance, ..cut_for(&field, &mut random) };
    check(&field, cut, &mut random)
}

/// The draws of the other tests may miss some reason for noise; these do not.
#[test]
fn every_reason_for_noise_occurs() {
    let mut n_of = BTreeMap::new();
    for seed in 0..40 {
        check_core(seed).into_iter().for_each(|reason| *n_of.entry(reason).or_insert(0) += 1);
    }
    for reason in [Reason::Persistence, Reason::OwnPart, Reason::PartOfElder] {
        assert!(n_of.get(&reason).is_some_and(|n| *n > 5), "{n_of:?}");
    }
}
