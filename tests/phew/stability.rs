//! Stability against whole runs: thresholds drawn at random, one at a time, on meshes, cubes and a graph.

use super::particle_graph::{distinct, graph_config, run_with};
use super::particle_mesh::{Given, clumped};
use crate::verify::meshes::{Field, any_field, threshold_for};
use crate::verify::random::Random;
use inselberg::{Cells, Engine, Geometry, Persistence, PhewParams, RankBuilder};
use inselberg_io::catalogue::{Catalogue, Table};
use inselberg_kernels::geom::Domain;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The cells or particles of each clump, or of each halo, by the place of its highest peak.
type Sets = BTreeMap<u64, BTreeSet<usize>>;

/// A run: its catalogue, and the clump and halo of each cell or particle; 0 for none.
struct Run {
    catalogue: Catalogue,
    labels: [Vec<u64>; 2],
}

impl Run {
    fn sets(&self, kind: usize) -> Sets {
        let table = self.table(kind);
        let (ids, ranks) = (table.counts("id").expect("ids"), table.counts("peak_rank").expect("places"));
        let rank_of: BTreeMap<u64, u64> = ids.iter().copied().zip(ranks.iter().copied()).collect();
        let mut sets = Sets::new();
        for (cell, id) in self.labels[kind].iter().enumerate().filter(|(_, id)| **id > 0) {
            sets.entry(rank_of[id]).or_default().insert(cell);
        }
        sets
    }

    fn table(&self, kind: usize) -> &Table {
        self.catalogue.table(["clumps", "haloes"][kind]).expect("a table")
    }

    fn reals(&self, kind: usize, name: &str) -> Vec<f64> {
        self.table(kind).reals(name).unwrap_or_else(|| panic!("no {name}")).to_vec()
    }
}

/// What is compared: relevance and saddle threshold.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    persistence: Persistence,
    saddle: Option<f64>,
}

/// A range that a column pair states, and whether a value lies in it.
fn between(low: f64, value: f64, high: f64, low_counts: bool) -> bool {
    if low_counts { low <= value && value < high } else { low < value && value <= high }
}

/// Compares what `base` says of other thresholds with the runs at these.
///
/// `unit` is that of saddle thresholds in columns, `n` the number of draws.
fn check(
    base: &Run,
    at: Drawn,
    (unit, n): (f64, usize),
    random: &mut Random,
    run: impl Fn(Drawn) -> Run,
) -> [usize; 4] {
    let mut seen = [0; 4];
    for _ in 0..n {
        let threshold = at.persistence.threshold();
        let factor = random.pick(&[0.4, 0.8, 1.0, 1.3, 2.5]) * (0.8 + 0.4 * random.real());
        // Often exactly at an end of a range.
        let ends = [base.reals(0, "relevance_same_high"), base.reals(0, "relevance_same_low")].concat();
        let ends: Vec<f64> = ends.into_iter().filter(|end| end.is_finite() && *end > 0.0).collect();
        let new = match random.chance(0.4) && !ends.is_empty() {
            true => ends[random.below(ends.len())],
            false => threshold * factor,
        };
        let persistence = match at.persistence {
            Persistence::Ratio(_) => Persistence::Ratio(new),
            Persistence::Difference(_) => Persistence::Difference(new),
        };
        let other = run(Drawn { persistence, ..at });
        for kind in [0, 1] {
            let (sets, others) = (base.sets(kind), other.sets(kind));
            let ranks = base.table(kind).counts("peak_rank").expect("places");
            let [low, high, listed] = ["relevance_same_low", "relevance_same_high", "relevance_listed_high"]
                .map(|name| base.reals(kind, name));
            for (row, rank) in ranks.iter().enumerate() {
                let is_same = others.get(rank) == sets.get(rank);
                let expected = between(low[row], new, high[row], false);
                assert_eq!(
                    is_same, expected,
                    "{at:?} {new} kind {kind} peak {rank}: {} {}",
                    low[row], high[row]
                );
                // Only a raised threshold unlists a peak.
                let is_listed = others.contains_key(rank);
                assert_eq!(is_listed, new <= listed[row], "{at:?} {new} kind {kind} peak {rank}");
                seen[usize::from(is_same)] += 1;
            }
        }
        let Some(saddle) = at.saddle else { continue };
        let new = saddle * random.pick(&[0.3, 0.7, 1.0, 1.4, 3.0]) * (0.9 + 0.2 * random.real());
        let other = run(Drawn { saddle: Some(new), ..at });
        assert_eq!(other.sets(0), base.sets(0), "clumps do not depend on the saddle threshold");
        let (sets, others) = (base.sets(1), other.sets(1));
        let [low, high, death] =
            ["saddle_same_low", "saddle_same_high", "death_density"].map(|name| base.reals(1, name));
        let shown = new * unit;
        for (row, rank) in base.table(1).counts("peak_rank").expect("places").iter().enumerate() {
            let is_same = others.get(rank) == sets.get(rank);
            assert_eq!(is_same, between(low[row], shown, high[row], true), "{at:?} saddle {new} halo {rank}");
            assert_eq!(others.contains_key(rank), shown >= death[row], "{at:?} saddle {new} halo {rank}");
            seen[2 + usize::from(is_same)] += 1;
        }
    }
    check_masses(base, at, &run);
    seen
}

/// The range of masses is that of the runs at both ends.
fn check_masses(base: &Run, at: Drawn, run: &impl Fn(Drawn) -> Run) {
    let ends = [1.0 / 1.5, 1.5].map(|factor| {
        let persistence = match at.persistence {
            Persistence::Ratio(x) => Persistence::Ratio(x * factor),
            Persistence::Difference(x) => Persistence::Difference(x * factor),
        };
        run(Drawn { persistence, saddle: at.saddle.map(|saddle| saddle / factor) })
    });
    for kind in [0, 1] {
        let mass = |run: &Run| -> BTreeMap<u64, f64> {
            let ranks = run.table(kind).counts("peak_rank").expect("places").to_vec();
            ranks.into_iter().zip(run.reals(kind, "mass")).collect()
        };
        let (own, others) = (mass(base), ends.each_ref().map(mass));
        let columns = ["mass_low", "mass_high"].map(|name| base.reals(kind, name));
        for (row, (rank, mass)) in base
            .table(kind)
            .counts("peak_rank")
            .expect("places")
            .iter()
            .zip(base.reals(kind, "mass"))
            .enumerate()
        {
            assert_eq!(own[rank], mass);
            let at_ends = others.each_ref().map(|of| of.get(rank).copied().unwrap_or(0.0));
            let expected = [mass.min(at_ends[0]).min(at_ends[1]), mass.max(at_ends[0]).max(at_ends[1])];
            assert_eq!([columns[0][row], columns[1][row]], expected, "{at:?} kind {kind} peak {rank}");
        }
    }
}

fn cells_of(field: &Field) -> (Cells, Vec<f64>) {
    let geometry = Geometry::cube(1.0).coarse(field.domain.coarse).periodic(field.domain.periodic);
    let levels: Vec<u8> = field.leaves.iter().map(|leaf| leaf.level).collect();
    let ijk: Vec<[u32; 3]> = field.leaves.iter().map(|leaf| leaf.ijk).collect();
    let cells = Cells::from_leaves(geometry, &levels, &ijk).expect("cells");
    (cells, field.leaves.iter().map(|leaf| leaf.rho).collect())
}

fn params(density: f64, at: Drawn) -> PhewParams {
    let params = PhewParams::new(density).persistence(at.persistence);
    match at.saddle {
        Some(saddle) => params.saddle(saddle),
        None => params,
    }
}

fn run_on_cells(engine: &mut Engine, (cells, rho): &(Cells, Vec<f64>), params: &PhewParams) -> Run {
    let found = engine.phew(cells, rho, params).expect("clumps");
    let numbers = |labels: &[Option<inselberg::ClumpId>]| {
        labels.iter().map(|label| label.map_or(0, inselberg::ClumpId::get)).collect::<Vec<u64>>()
    };
    let labels = [numbers(found.labels()), numbers(found.halo_labels())];
    Run { catalogue: found.gather(0).expect("gathered").expect("rank 0"), labels }
}

fn check_field(field: &Field, n: usize, random: &mut Random) -> [usize; 4] {
    // Densities of 0 have no ratio.
    let density = threshold_for(field, random).max(0.05);
    let at = Drawn {
        persistence: match random.chance(0.3) {
            true => Persistence::Difference(2.0 * random.real()),
            false => Persistence::Ratio(random.pick(&[1.0, 1.2, 1.5, 2.5])),
        },
        saddle: random.chance(0.7).then(|| density * (1.0 + 3.0 * random.real())),
    };
    let input = cells_of(field);
    let engine = std::cell::RefCell::new(Engine::builder().threads(1).build().expect("an engine"));
    let run = |at| {
        let saddle = |params: PhewParams| match params.saddle {
            // No threshold is below that of the density.
            Some(saddle) => params.saddle(saddle.max(density)),
            None => params,
        };
        run_on_cells(&mut engine.borrow_mut(), &input, &saddle(params(density, at)))
    };
    check(&run(at), at, (1.0, n), random, run)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranges_of_any_mesh_are_those_of_whole_runs(field in any_field(), seed in any::<u64>()) {
        check_field(&field, 8, &mut Random(seed));
    }
}

#[test]
fn ranges_of_a_cube_are_those_of_whole_runs() {
    let mut random = Random(17);
    let mut field = Field::uniform_at(Domain::CUBE, 4);
    let mut seen = [0; 4];
    for _ in 0..6 {
        let bumps: Vec<([f64; 3], f64)> =
            (0..40).map(|_| (std::array::from_fn(|_| random.real()), 1.0 + 9.0 * random.real())).collect();
        for leaf in &mut field.leaves {
            let at = leaf.ijk.map(|x| (f64::from(x) + 0.5) / 16.0);
            let near = |bump: &([f64; 3], f64)| {
                let r2: f64 = (0..3).map(|i| (at[i] - bump.0[i]).powi(2)).sum();
                bump.1 * (-r2 / 0.006).exp()
            };
            leaf.rho = 0.3 + bumps.iter().map(near).sum::<f64>() + 0.2 * random.real();
        }
        let found = check_field(&field, 12, &mut random);
        (0..4).for_each(|i| seen[i] += found[i]);
    }
    // Both cases of both thresholds occur.
    assert!(seen.iter().all(|n| *n > 10), "{seen:?}");
}

#[test]
fn ranges_of_a_graph_are_those_of_whole_runs() {
    let mut random = Random(5);
    let position = distinct(&clumped(1500, 11));
    let n = position.len();
    let input = Given::new(position, vec![1.0; n], true);
    let (graph, density) = (graph_config(12), 3.0);
    let at = Drawn { persistence: Persistence::Ratio(1.4), saddle: Some(30.0) };
    let run = |at: Drawn| {
        let catalogue = run_with(&input, &graph, density, at.persistence, at.saddle.map(|s| s.max(density)));
        let particles = catalogue.table("particles").expect("particles");
        let labels = ["clump", "halo"].map(|name| particles.counts(name).expect("labels").to_vec());
        Run { catalogue, labels }
    };
    let seen = check(&run(at), at, (input.mean(), 25), &mut random, run);
    assert!(seen.iter().all(|n| *n > 10), "{seen:?}");
}

/// The columns have the same bits over any ranks, and after a new cut they are those of a run.
#[test]
fn ranks_and_new_cuts_do_not_change_stability() {
    let mut random = Random(3);
    let mut field = Field::uniform_at(Domain::CUBE, 4);
    field.fill(0, &mut random);
    let (cells, rho) = cells_of(&field);
    let with = |at: Drawn| params(2.0, at);
    let at = Drawn { persistence: Persistence::Ratio(1.3), saddle: Some(6.0) };
    let other = Drawn { persistence: Persistence::Ratio(1.1), saddle: Some(7.5) };
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let [first, second] = [at, other].map(|at| engine.phew(&cells, &rho, &with(at)).expect("clumps"));
    let tables = |clumps: &inselberg::Clumps| {
        let whole = clumps.gather(0).expect("gathered").expect("rank 0");
        ["clumps", "haloes"].map(|name| format!("{:?}", whole.table(name).expect("a table")))
    };
    assert_eq!(tables(&first.recut(&with(other)).expect("a cut")), tables(&second));
    assert!(tables(&first)[1].contains("saddle_same_low"));
    let without = engine.phew(&cells, &rho, &with(at).stability(false)).expect("clumps");
    assert!(!tables(&without)[0].contains("mass_low"));

    let owner: Vec<usize> = (0..rho.len()).map(|_| random.below(3)).collect();
    let expected = tables(&first);
    let found = super::facade::over_ranks(RankBuilder::threads(3), |rank, mut engine| {
        let own: Vec<usize> = (0..rho.len()).filter(|cell| owner[*cell] == rank).collect();
        let levels: Vec<u8> = own.iter().map(|cell| field.leaves[*cell].level).collect();
        let ijk: Vec<[u32; 3]> = own.iter().map(|cell| field.leaves[*cell].ijk).collect();
        let rho: Vec<f64> = own.iter().map(|cell| rho[*cell]).collect();
        let geometry = Geometry::cube(1.0).coarse(field.domain.coarse).periodic(field.domain.periodic);
        let cells = Cells::from_leaves(geometry, &levels, &ijk).expect("cells");
        let found = engine.phew(&cells, &rho, &with(at)).expect("clumps");
        let whole = found.gather(0).expect("gathered");
        whole.map(|whole| {
            ["clumps", "haloes"].map(|name| format!("{:?}", whole.table(name).expect("a table")))
        })
    });
    assert_eq!(found.into_iter().flatten().next(), Some(expected));
}
