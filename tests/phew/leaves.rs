//! Leaves alone, over ranks: levels may jump anywhere, and any leaf up to the threshold may be missing.
//! Everything that several ranks find has the bits of one rank.

use crate::verify::brute::{Leaf, touch};
use crate::verify::meshes::{Field, any_field, child, place};
use crate::verify::random::Random;
use inselberg::error::RunError;
use inselberg::executor::Executor;
use inselberg::field::test_cells;
use inselberg::partition::{LocalField, Weights, partition_leaves};
use inselberg::phew::Rules;
use inselberg::phew::hierarchy::structures;
use inselberg::phew::params::Persistence;
use inselberg::phew::segment::{Task, segment};
use inselberg::phew::test_fields::TestFields;
use inselberg::phew::test_links::TestLinks;
use inselberg_comm::{Comm, CommError, run_ranks};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::TestIdx;
use inselberg_kernels::phew::hierarchy::Cut;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Place = (u8, [u32; 3]);

const WEIGHTS: [Weights; 3] = [Weights::TestCells, Weights::Leaves, Weights::Work];

/// Which rank holds each leaf before the partition.
fn dealt(leaves: &[Leaf], n_ranks: usize, random: &mut Random) -> Vec<Vec<Leaf>> {
    let mut held = vec![Vec::new(); n_ranks];
    leaves.iter().for_each(|leaf| held[random.below(n_ranks)].push(*leaf));
    held
}

/// The part of a rank from the leaves that it holds.
fn part_of(
    domain: Domain,
    held: &[Leaf],
    (threshold, by): (f64, Weights),
    comm: &Comm,
) -> Result<LocalField, RunError> {
    let leaves = held.iter().map(|leaf| (leaf.level, leaf.ijk, leaf.rho));
    partition_leaves(domain, leaves, threshold, by, comm, &Executor::default())
}

/// All results, in bits: peaks by number, the peak of each test cell, clumps and haloes.
#[derive(Debug, PartialEq)]
struct Found {
    is_graded: bool,
    peaks: BTreeMap<u64, Vec<u64>>,
    patch_of: BTreeMap<Place, u64>,
    clump_of_patch: BTreeMap<u64, [u64; 2]>,
    /// Rows of clumps and of haloes. The digits of a row determine all bits of its reals.
    rows: [Vec<String>; 2],
}

/// The results of one rank for its part.
fn found_here(part: &LocalField, cut: &Cut, rules: Rules, comm: &Comm) -> Found {
    let cells = test_cells::find(&part.field, cut.density);
    let links = TestLinks::new(part, &cells);
    let task = Task {
        field: &part.field,
        links: &links,
        extra: &TestFields::default(),
        density_threshold: cut.density,
        side: 1.25,
        origin: [0.0; 3],
        rules,
    };
    let found = segment(&task, cells, comm, &Executor::default()).expect("no rank fails");
    let all = structures(&found.peaks, &(*cut).into(), rules, inselberg::CentralChoice::Heaviest, comm)
        .expect("no rank fails");
    let (peaks, mesh) = (&found.peaks, &part.field.mesh);
    let row = |i: usize| {
        let death = &peaks.tree.death[i];
        let reals = [peaks.tree.rho[i], death.saddle, peaks.patches[i].rho_min];
        let reals = reals.into_iter().chain(peaks.refined[i]).chain(peaks.saddle_position[i]);
        let reals = reals.chain(peaks.patches[i].sums).map(f64::to_bits);
        let whole = [u64::from(peaks.level[i]), peaks.patches[i].n_cells, all.peak_rank[i]];
        let ends = [death.near, death.endpoint].map(|patch| peaks.name_of(patch).number());
        reals.chain(whole).chain(ends).chain(peaks.ijk[i].map(u64::from)).collect()
    };
    let numbers = || peaks.name.iter().map(|name| name.number());
    let mut of_slot = vec![0; found.known.n_slots()];
    found.known.own.iter().zip(numbers()).for_each(|(slot, number)| of_slot[slot.at()] = number);
    found.known.push(comm, &mut of_slot).expect("no rank fails");
    let of_patch = |(i, n): (usize, u64)| (n, [all.clump_of_patch[i], all.halo_of_patch[i]]);
    let patch_of = (0..found.test_cells.len()).filter_map(|t| {
        let (level, ijk) = found.test_cells.locate(mesh, TestIdx(t as u32));
        let cell = mesh.find(level, ijk).expect("a test cell");
        part.is_own(cell).then(|| ((level, ijk), of_slot[found.labels[t].at()]))
    });
    Found {
        is_graded: mesh.is_graded(),
        peaks: numbers().enumerate().map(|(i, n)| (n, row(i))).collect(),
        patch_of: patch_of.collect(),
        clump_of_patch: numbers().enumerate().map(of_patch).collect(),
        rows: [all.clumps, all.haloes].map(|list| list.iter().map(|row| format!("{row:?}")).collect()),
    }
}

/// The results of all ranks together. The rows of clumps and haloes are in the order of the ranks.
fn found_on(field: &Field, cut: &Cut, (rules, by): (Rules, Weights), n_ranks: usize, seed: u64) -> Found {
    let held = dealt(&field.leaves, n_ranks, &mut Random(seed));
    let ranks = Comm::threads(n_ranks).into_iter().map(|builder| builder.chaos(seed));
    let parts = run_ranks(ranks.collect(), |comm| {
        let held = &held[comm.rank().at()];
        let part = part_of(field.domain, held, (cut.density, by), comm).unwrap_or_else(|e| panic!("{e}"));
        found_here(&part, cut, rules, comm)
    });
    let parts = parts.expect("no rank fails").into_iter();
    parts
        .reduce(|mut all, part| {
            assert_eq!(all.is_graded, part.is_graded);
            all.peaks.extend(part.peaks);
            all.patch_of.extend(part.patch_of);
            all.clump_of_patch.extend(part.clump_of_patch);
            all.rows.iter_mut().zip(part.rows).for_each(|(all, rows)| all.extend(rows));
            all
        })
        .expect("at least one rank")
}

/// The same from leaves that one rank has, without a partition.
fn found_alone(field: &Field, cut: &Cut, rules: Rules) -> Found {
    let mut amr = field.leaves_as_amr();
    amr.mesh.set_leaves_above(cut.density);
    found_here(&LocalField::whole(amr), cut, rules, &Comm::solo())
}

fn check(field: &Field, cut: &Cut, how: (Rules, Weights), seed: u64) {
    let expected = found_alone(field, cut, how.0);
    for n_ranks in 1..=4 {
        assert_eq!(found_on(field, cut, how, n_ranks, seed), expected, "{n_ranks} ranks, {how:?}");
    }
}

/// Whether the levels of leaves that touch differ by one at most.
fn is_graded(field: &Field) -> bool {
    let jumps = |a: &Leaf| field.leaves.iter().any(|b| b.level > a.level + 1 && touch(&field.domain, a, b));
    !field.leaves.iter().any(jumps)
}

/// A box in which cells are split twice at once, so that each touches cells of the next level but one.
fn jumping(seed: u64) -> Field {
    let mut random = Random(seed);
    let periodic = std::array::from_fn(|_| random.chance(0.5));
    let mut field = Field::uniform_at(Domain { coarse: [1; 3], periodic }, 3);
    for leaf in field.leaves.clone().iter().filter(|_| random.chance(0.03)) {
        field.split(place(leaf), false);
        (0..8).for_each(|i| field.split(child(place(leaf), i), false));
    }
    field.fill([0, 2, 3, 6][seed as usize % 4], &mut random);
    field
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Jumps of several levels, walls, narrow boxes, equal densities; leaves below the threshold are there or
    /// not.
    #[test]
    fn any_leaves_have_the_results_of_one_rank(
        field in any_field(),
        at in 0.0..4.0f64,
        ramses: bool,
        is_sparse: bool,
        by in 0..3usize,
        seed: u64,
    ) {
        let field = if is_sparse { field.only(|leaf| leaf.rho > at) } else { field };
        let rules = if ramses { Rules::Ramses } else { Rules::Paper };
        let cut = Cut { density: at, persistence: Persistence::Ratio(1.2), saddle: Some(at + 1.0), halo_relevance: None };
        prop_assert_eq!(field.leaves_as_amr().mesh.is_graded(), is_graded(&field));
        check(&field, &cut, (rules, WEIGHTS[by]), seed);
    }
}

#[test]
fn jumps_of_two_levels_at_once() {
    for seed in 0..8 {
        let cut = Cut {
            density: 1.5,
            persistence: Persistence::Difference(0.5),
            saddle: Some(2.0),
            halo_relevance: None,
        };
        let whole = jumping(seed);
        assert!(!is_graded(&whole));
        for field in [whole.only(|leaf| leaf.rho > cut.density), whole] {
            let found = found_alone(&field, &cut, Rules::Paper);
            assert_eq!(found.is_graded, is_graded(&field));
            check(&field, &cut, (Rules::Paper, WEIGHTS[seed as usize % 3]), seed);
        }
    }
}

/// Ranks see the same octree whether its split cells are given or not, except where positions take values of
/// split cells.
#[test]
fn graded_leaves_are_known_to_be_graded() {
    let mut random = Random(4);
    let mut field = Field::uniform_at(Domain::CUBE, 3);
    (0..12).for_each(|_| field.split(place(&field.leaves[random.below(field.leaves.len())].clone()), true));
    field.fill(0, &mut random);
    let cut = Cut { density: 2.0, persistence: Persistence::Ratio(1.1), saddle: None, halo_relevance: None };
    for field in [field.only(|leaf| leaf.rho > cut.density), field] {
        assert!(found_on(&field, &cut, (Rules::Paper, Weights::Leaves), 3, 1).is_graded);
        check(&field, &cut, (Rules::Paper, Weights::Leaves), 7);
    }
}

/// Why several ranks refuse leaves: the errors of the ranks that find the fault. They reach the others as
/// messages.
fn refused_on(domain: Domain, leaves: &[Leaf], n_ranks: usize, seed: u64) -> BTreeSet<String> {
    let mut random = Random(seed);
    let (held, by) = (dealt(leaves, n_ranks, &mut random), random.pick(&WEIGHTS));
    let parts = run_ranks(Comm::threads(n_ranks), |comm| {
        let part = part_of(domain, &held[comm.rank().at()], (0.5, by), comm);
        part.map(|_| ()).inspect_err(|e| {
            comm.abort(e.to_string());
        })
    });
    let errors = parts.expect("no panic").into_iter().map(|part| part.expect_err("refused"));
    let seen = errors.filter(|error| !matches!(error, RunError::Comm(CommError::Aborted { .. })));
    seen.map(|error| error.to_string()).collect()
}

#[test]
fn leaves_that_overlap_are_refused_wherever_they_are() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut field = Field::uniform_at(Domain::CUBE, 2);
        (0..3)
            .for_each(|_| field.split(place(&field.leaves[random.below(field.leaves.len())].clone()), false));
        let outer = field.leaves[random.below(field.leaves.len())];
        let mut inner = place(&outer);
        (0..1 + seed % 3).for_each(|_| inner = child(inner, random.below(8) as u32));
        field.leaves.push(Leaf { level: inner.0, ijk: inner.1, rho: 1.0 });
        for n_ranks in [1, 2, 3, 5] {
            let said = refused_on(field.domain, &field.leaves, n_ranks, seed);
            let expected = format!("the cell {:?} of level {} lies inside a leaf", inner.1, inner.0);
            assert!(
                said.len() == 1 && said.iter().all(|s| s.contains(&expected)),
                "{n_ranks} ranks: {said:?}"
            );
        }
    }
}

#[test]
fn leaves_given_twice_or_outside_the_box_are_refused() {
    let field = Field::uniform_at(Domain::CUBE, 2);
    let with = |level: u8, ijk: [u32; 3]| [&field.leaves[..], &[Leaf { level, ijk, rho: 1.0 }]].concat();
    for (leaves, part) in [
        (with(2, [3, 1, 2]), "the cell [3, 1, 2] of level 2 is given twice"),
        (with(2, [4, 1, 2]), "outside the box"),
        (with(40, [1; 3]), "cells of level 40"),
    ] {
        for n_ranks in [1, 2, 4] {
            let said = refused_on(field.domain, &leaves, n_ranks, 1);
            assert!(!said.is_empty() && said.iter().all(|s| s.contains(part)), "{n_ranks} ranks: {said:?}");
        }
    }
}
