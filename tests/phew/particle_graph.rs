//! PHEW on the graph of particles: the whole procedure by brute force, ranks and threads, members, and what
//! it refuses.

use super::bound::{bound_config, counts, reals, table, vectors};
use super::particle_mesh::{Given, SIDE, clumped, config as mesh_config};
use crate::common::compare::assert_same;
use crate::common::swift_fixture;
use crate::verify::expect::{check_hierarchy, check_tree};
use crate::verify::paper::{self, Graph, Outcome};
use crate::verify::random::Random;
use inselberg::error::RunError;
use inselberg::executor::Executor;
use inselberg::graph::{GraphDensity, ParticleGraphConfig};
use inselberg::particle_mesh::ParticleSnapshot;
use inselberg::phew::params::{FieldChoice, Persistence, PotentialChoice, Thresholds};
use inselberg::phew::run::{PhewOutcome, run_on_graph};
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg_comm::{Comm, CommBuilder, run_ranks};
use inselberg_io::catalogue::Catalogue;
use inselberg_io::particles::open_particles;
use inselberg_kernels::graph::{Neighbour, SplineSum, key_of};
use inselberg_kernels::phew::hierarchy::{Cut, cut};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub fn graph_config(neighbours: usize) -> ParticleGraphConfig {
    ParticleGraphConfig { neighbours, density: GraphDensity::Neighbours, mesh: mesh_config(8, 2..10) }
}

fn phew_config(density: f64, persistence: Persistence, saddle: Option<f64>) -> PhewRequest {
    PhewRequest {
        field: FieldChoice::Auto,
        params: PhewParams::from(Thresholds {
            density,
            persistence,
            significance: Some(0.0),
            saddle,
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .with_particles(true)
        .weights(Default::default()),
    }
}

/// The catalogue of a run on one rank, with its particles.
pub fn run_with(
    input: &Given,
    graph: &ParticleGraphConfig,
    density: f64,
    persistence: Persistence,
    saddle: Option<f64>,
) -> Catalogue {
    on(input, graph, &phew_config(density, persistence, saddle), Comm::threads(1))
}

pub fn snapshot(input: &Given, graph: &ParticleGraphConfig) -> ParticleSnapshot {
    ParticleSnapshot::new(std::sync::Arc::new(input.clone()), &graph.mesh).expect("particles")
}

fn on(
    input: &Given,
    graph: &ParticleGraphConfig,
    config: &PhewRequest,
    ranks: Vec<CommBuilder>,
) -> Catalogue {
    let parts = run_ranks(ranks, |comm| {
        let outcome = run_on_graph(&snapshot(input, graph), graph, config, comm, &Executor::default());
        outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
    });
    parts.expect("no panic").swap_remove(0).expect("rank 0")
}

/// The whole procedure, particle by particle and pair by pair. Particles are in the order of their keys and
/// identities.
pub struct Plain {
    pub id: Vec<u64>,
    /// Density, or specific volume for voids.
    pub rho: Vec<f64>,
    pub mass: Vec<f64>,
    /// In units of the box.
    position: Vec<[f64; 3]>,
    is_periodic: bool,
    /// The neighbours of each particle.
    near: Vec<Vec<usize>>,
    threshold: f64,
    /// The patch of each particle; `None` at or below the threshold.
    patch: Vec<Option<usize>>,
    peaks: Vec<usize>,
    pub graph: Graph,
}

impl Plain {
    fn new(input: &Given, k: usize, threshold: f64) -> Self {
        Self::of_field(input, k, threshold, |density| density)
    }

    /// The same on the specific volume.
    pub fn of_voids(input: &Given, k: usize, threshold: f64) -> Self {
        let mean = input.mean();
        Self::of_field(input, k, threshold, |density| mean / density)
    }

    fn of_field(input: &Given, k: usize, threshold: f64, field: impl Fn(f64) -> f64) -> Self {
        let unit = |x: f64| x.rem_euclid(SIDE) / SIDE;
        let mut all: Vec<([f64; 3], f64, u64)> = (0..input.position.len())
            .map(|i| (input.position[i].map(unit), input.mass[i], 1000 + i as u64))
            .collect();
        all.sort_by_key(|(x, _, id)| (key_of(*x), *id));
        let n = all.len();
        let apart =
            |a: f64, b: f64| (a - b).abs().min(if input.is_periodic() { 1.0 - (a - b).abs() } else { 1.0 });
        let square = |i: usize, j: usize| {
            let [x, y, z] = [0, 1, 2].map(|a| apart(all[i].0[a], all[j].0[a]));
            x * x + y * y + z * z
        };
        let nearest = |i: usize| {
            let mut others: Vec<(f64, usize)> =
                (0..n).filter(|j| *j != i).map(|j| (square(i, j), j)).collect();
            others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            others.truncate(k);
            others
        };
        let near: Vec<Vec<(f64, usize)>> = (0..n).map(nearest).collect();
        let heaviest = input.mass.iter().copied().fold(0.0, f64::max);
        let mass = |i: u32| all[i as usize].1 / heaviest;
        let density = |i: usize| {
            if let Some(given) = &input.density {
                return field(f64::from(given[all[i].2 as usize - 1000]));
            }
            let list: Vec<Neighbour> =
                near[i].iter().map(|(square, j)| Neighbour { square: *square, index: *j as u32 }).collect();
            let sum = SplineSum::new(&list, mass(i as u32), mass).density().expect("not all at one place");
            field(sum * (heaviest / SIDE.powi(3)))
        };
        let rho: Vec<f64> = (0..n).map(density).collect();
        let is_test = |i: usize| rho[i] > threshold;
        let lists = |i: usize, j: usize| near[i].iter().any(|(_, other)| *other == j);
        let linked = |i: usize, j: usize| i != j && is_test(i) && is_test(j) && (lists(i, j) || lists(j, i));
        let greater = |i: usize, j: usize| rho[i] > rho[j] || rho[i] == rho[j] && i < j;
        let up: Vec<usize> = (0..n)
            .map(|i| {
                (0..n).filter(|j| linked(i, *j)).fold(i, |best, j| if greater(j, best) { j } else { best })
            })
            .collect();
        let end = |mut i: usize| {
            while up[i] != i {
                i = up[i];
            }
            i
        };
        let peaks: Vec<usize> = (0..n).filter(|i| is_test(*i) && up[*i] == *i).collect();
        let patch_of =
            |i: usize| is_test(i).then(|| peaks.iter().position(|p| *p == end(i)).expect("a peak"));
        let patch: Vec<Option<usize>> = (0..n).map(patch_of).collect();
        let mut saddles: BTreeMap<[usize; 2], f64> = BTreeMap::new();
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|(i, j)| linked(*i, *j)) {
            let (Some(a), Some(b)) = (patch[i], patch[j]) else { continue };
            if a != b {
                let saddle = saddles.entry([a.min(b), a.max(b)]).or_insert(0.0);
                *saddle = saddle.max(0.5 * (rho[i] + rho[j]));
            }
        }
        let graph = Graph {
            rho: peaks.iter().map(|p| rho[*p]).collect(),
            saddles: saddles.into_iter().map(|(peaks, density)| (density, peaks)).collect(),
        };
        let (id, mass) = all.iter().map(|(_, mass, id)| (*id, *mass)).unzip();
        let position = all.iter().map(|(x, ..)| *x).collect();
        let near = near.into_iter().map(|list| list.into_iter().map(|(_, j)| j).collect()).collect();
        Self {
            id,
            rho,
            mass,
            position,
            is_periodic: input.is_periodic(),
            near,
            threshold,
            patch,
            peaks,
            graph,
        }
    }

    /// Whether two test particles are linked.
    pub fn linked(&self, i: usize, j: usize) -> bool {
        let is_test = |i: usize| self.rho[i] > self.threshold;
        i != j && is_test(i) && is_test(j) && (self.near[i].contains(&j) || self.near[j].contains(&i))
    }

    /// The distance of a particle from a place, in code units.
    pub fn distance(&self, from: [f64; 3], i: usize) -> f64 {
        let apart = |a: usize| {
            let d = (from[a] / SIDE - self.position[i][a]).abs();
            if self.is_periodic { d.min(1.0 - d) } else { d }
        };
        let [x, y, z] = [0, 1, 2].map(apart);
        SIDE * (x * x + y * y + z * z).sqrt()
    }

    /// Compares everything that a run found.
    fn check(&self, found: &PhewOutcome, config: &PhewRequest, mean: f64) {
        check_tree(&self.graph, &found.peaks.tree);
        let Thresholds { density, persistence, saddle, .. } = config.params.thresholds();
        let (density, saddle) = (density * mean, saddle.map(|saddle| saddle * mean));
        let persistence = match persistence {
            Persistence::Difference(difference) => Persistence::Difference(difference * mean),
            ratio => ratio,
        };
        let outcome = paper::run(
            &self.graph,
            &paper::Thresholds { density, persistence, saddle, halo_relevance: None },
        );
        let at = Cut { density, persistence, saddle, halo_relevance: None };
        check_hierarchy(&outcome, &cut(&found.peaks.tree.to_whole(), &at, Rules::Paper));
        let clumps = self.clumps(&outcome);
        let tables: Vec<_> = found.catalogue.tables.iter().map(|part| part.table.clone()).collect();
        let catalogue = Catalogue { attributes: Vec::new(), tables };
        let listed = table(&catalogue, "clumps");
        assert_eq!(counts(listed, "n_cells"), clumps.iter().map(|of| of.len() as u64).collect::<Vec<_>>());
        let of_clumps = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            clumps.iter().map(|of| of.iter().map(|i| value(*i)).sum()).collect()
        };
        let expected =
            [("mass", of_clumps(&|i| self.mass[i])), ("volume", of_clumps(&|i| self.mass[i] / self.rho[i]))];
        for (name, expected) in expected {
            for (found, expected) in reals(listed, name).iter().zip(&expected) {
                assert!((found / expected - 1.0).abs() < 1e-12, "{name}: {found}, not {expected}");
            }
        }
        let rows = table(&catalogue, "particles");
        let of_rows: BTreeMap<u64, u64> = counts(rows, "id").into_iter().zip(counts(rows, "clump")).collect();
        for (i, id) in self.id.iter().enumerate() {
            let clump = clumps.iter().position(|of| of.contains(&i)).map_or(0, |clump| clump as u64 + 1);
            assert_eq!(of_rows[id], clump, "clump of particle {id}");
        }
    }

    /// The particles of each clump, clumps by falling density of their peaks.
    pub fn clumps(&self, outcome: &Outcome) -> Vec<Vec<usize>> {
        let mut heads: Vec<usize> = (0..self.peaks.len()).filter(|p| outcome.clump[*p] == Some(*p)).collect();
        heads.sort_by(|a, b| self.graph.rho[*b].total_cmp(&self.graph.rho[*a]).then(a.cmp(b)));
        let of_head = |head: &usize| {
            let is_own = |i: &usize| self.patch[*i].is_some_and(|patch| outcome.clump[patch] == Some(*head));
            (0..self.id.len()).filter(is_own).collect()
        };
        heads.iter().map(of_head).collect()
    }
}

/// Particles of one mass on a lattice, whose densities are often equal, or of several masses anywhere.
pub fn particles() -> impl Strategy<Value = Given> {
    let on_lattice = prop::collection::btree_set((0..6u32, 0..6u32, 0..6u32), 10..80);
    let on_lattice = on_lattice.prop_map(|set| {
        let place = |(x, y, z): (u32, u32, u32)| [x, y, z].map(|x| f64::from(x) * SIDE / 8.0);
        let position: Vec<[f64; 3]> = set.into_iter().map(place).collect();
        let mass = vec![2.0; position.len()];
        (position, mass)
    });
    let anywhere = (10..80usize, any::<u64>()).prop_map(|(n, salt)| {
        let mut random = Random(salt);
        let position = (0..n).map(|_| std::array::from_fn(|_| SIDE * random.real().powi(2))).collect();
        (position, (0..n).map(|_| [1.0, 8.0][random.below(2)]).collect())
    });
    (prop_oneof![on_lattice, anywhere], any::<bool>())
        .prop_map(|((position, mass), periodic)| Given::new(position, mass, periodic))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn is_the_procedure_by_brute_force(
        input in particles(), k in 1..9usize, threshold in 0.0..2.0f64, relevance in 1.0..3.0f64, saddle in 0.5..4.0f64,
    ) {
        let graph = graph_config(k);
        let config = phew_config(threshold, Persistence::Ratio(relevance), Some(saddle));
        let plain = Plain::new(&input, k, threshold * input.mean());
        let found = run_on_graph(&snapshot(&input, &graph), &graph, &config, &Comm::solo(), &Executor::default());
        plain.check(&found.expect("clumps"), &config, input.mean());
    }

    #[test]
    fn densities_may_be_given(
        input in particles(), k in 1..9usize, threshold in 0.0..2.0f64, salt in any::<u64>(), n_ranks in 1..4usize,
    ) {
        let mut random = Random(salt);
        let density = input.position.iter().map(|_| (1 + random.below(9)) as f32 * 0.5).collect();
        let input = input.densities(density);
        let graph = ParticleGraphConfig { density: GraphDensity::Given, ..graph_config(k) };
        let config = phew_config(threshold, Persistence::Ratio(1.3), Some(2.0));
        let plain = Plain::new(&input, k, threshold * input.mean());
        let found = run_on_graph(&snapshot(&input, &graph), &graph, &config, &Comm::solo(), &Executor::default());
        plain.check(&found.expect("clumps"), &config, input.mean());
        let alone = on(&input, &graph, &config, Comm::threads(1));
        assert_same(&alone, &on(&input, &graph, &config, Comm::threads(n_ranks)), &format!("{n_ranks} ranks"));
    }

    /// Few particles on many ranks: some have fewer than they have neighbours, some none.
    #[test]
    fn few_particles_on_many_ranks(input in particles(), k in 1..9usize, n_ranks in 2..8usize, salt in any::<u64>()) {
        let (graph, config) = (graph_config(k), phew_config(0.5, Persistence::Ratio(1.5), Some(2.0)));
        let alone = on(&input, &graph, &config, Comm::threads(1));
        let late = Comm::threads(n_ranks).into_iter().zip(0..).map(|(rank, i)| rank.chaos(salt << 8 | i));
        assert_same(&alone, &on(&input, &graph, &config, late.collect()), &format!("{n_ranks} ranks"));
    }
}

#[test]
fn ranks_and_threads_change_no_bit() {
    let position = clumped(6000, 11);
    let mut random = Random(5);
    let mass: Vec<f64> = position.iter().map(|_| [1.0, 1.0, 3.5][random.below(3)]).collect();
    for (periodic, k) in [(true, 32), (false, 12)] {
        let input = Given::new(distinct(&position), mass.clone(), periodic);
        let (graph, config) = (graph_config(k), phew_config(3.0, Persistence::Ratio(2.0), Some(30.0)));
        let alone = on(&input, &graph, &config, Comm::threads(1));
        assert!(counts(table(&alone, "clumps"), "n_cells").len() > 2, "several clumps");
        for n_ranks in [1, 2, 3, 5] {
            for n_threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
                let found = pool.install(|| on(&input, &graph, &config, Comm::threads(n_ranks)));
                assert_same(&alone, &found, &format!("{n_ranks} ranks, {n_threads} threads"));
            }
        }
    }
}

/// The positions, moved a little where many share a place.
pub fn distinct(position: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut random = Random(3);
    position.iter().map(|x| x.map(|x| (x + 1e-4 * random.real()).rem_euclid(SIDE))).collect()
}

#[cfg(feature = "hdf5")]
#[test]
fn members_are_bound_on_any_number_of_ranks() {
    let path = swift_fixture().join("snap_0000.hdf5");
    let graph = graph_config(32);
    let found = |n_ranks: usize| {
        let parts = run_ranks(Comm::threads(n_ranks), |comm| {
            let input = open_particles(std::slice::from_ref(&path)).expect("a snapshot");
            let snapshot = ParticleSnapshot::new(input.into(), &graph.mesh).expect("particles");
            let config = phew_config(80.0, Persistence::Ratio(3.0), Some(200.0))
                .with(|params| params.bound(bound_config(&snapshot, PotentialChoice::Tree).params.bound));
            let outcome = run_on_graph(&snapshot, &graph, &config, comm, &Executor::default());
            outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
        });
        parts.expect("no panic").swap_remove(0).expect("rank 0")
    };
    let alone = found(1);
    let (clumps, members) = (table(&alone, "clumps"), table(&alone, "members"));
    let n_bound = counts(clumps, "n_bound");
    assert!(n_bound.iter().sum::<u64>() > 100, "{n_bound:?}");
    assert_eq!(n_bound.iter().sum::<u64>(), members.n_rows() as u64);
    let rows = table(&alone, "particles");
    let of_rows: BTreeMap<u64, u64> = counts(rows, "id").into_iter().zip(counts(rows, "halo")).collect();
    let halo_of: BTreeMap<u64, u64> = counts(clumps, "id").into_iter().zip(counts(clumps, "halo")).collect();
    for (id, clump) in counts(members, "id").into_iter().zip(counts(members, "clump")) {
        assert_eq!(of_rows[&id], halo_of[&clump], "halo of member {id}");
    }
    for n_ranks in [2, 3, 5] {
        assert_same(&alone, &found(n_ranks), &format!("{n_ranks} ranks"));
    }
}

#[test]
fn a_peak_is_at_its_particle() {
    let position = distinct(&clumped(2000, 7));
    let input = Given::new(position.clone(), vec![1.0; position.len()], true);
    let graph = graph_config(20);
    let config = phew_config(2.0, Persistence::Ratio(2.0), None);
    let found = on(&input, &graph, &config, Comm::threads(1));
    let peaks = vectors(table(&found, "clumps"), "peak_position_refined");
    assert!(!peaks.is_empty());
    for peak in peaks {
        let is_near = |x: &[f64; 3]| (0..3).all(|a| (x[a] - peak[a]).abs() < 1e-12 * SIDE);
        assert!(position.iter().any(is_near), "{peak:?}");
    }
}

fn refused(input: &Given, k: usize, config: &PhewRequest) -> String {
    let graph = graph_config(k);
    let error: RunError =
        run_on_graph(&snapshot(input, &graph), &graph, config, &Comm::solo(), &Executor::default())
            .expect_err("refused");
    error.to_string()
}

#[test]
fn given_densities_are_checked() {
    let config = phew_config(1.0, Persistence::Ratio(2.0), None);
    let graph = ParticleGraphConfig { density: GraphDensity::Given, ..graph_config(2) };
    let refused = |input: &Given| {
        let found =
            run_on_graph(&snapshot(input, &graph), &graph, &config, &Comm::solo(), &Executor::default());
        found.expect_err("refused").to_string()
    };
    let position: Vec<[f64; 3]> = (0..5).map(|i| [f64::from(i); 3]).collect();
    let input = Given::new(position, vec![1.0; 5], true);
    assert!(refused(&input).starts_with("PartType1 of the input have no densities; expected gas"));
    for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut density = vec![1.0; 5];
        density[3] = wrong;
        let said = refused(&input.clone().densities(density));
        assert!(said.starts_with("particle 1003: its density in the input is"), "{said}");
    }
}

#[test]
fn what_is_refused_says_why() {
    let config = phew_config(1.0, Persistence::Ratio(2.0), None);
    let few = Given::new(vec![[1.0; 3], [2.0; 3]], vec![1.0; 2], true);
    assert!(refused(&few, 2, &config).starts_with("2 neighbours for each of 2 particles; expected 1 to 254"));
    let mut crowd = vec![[1.0; 3]; 5];
    crowd.push([2.0; 3]);
    let crowd = Given::new(crowd, vec![1.0; 6], true);
    assert!(
        refused(&crowd, 3, &config)
            .starts_with("particle 1000: its 3 nearest neighbours are all at its place")
    );
    let cells = config.clone().with(|params| params.with_cells(true));
    assert!(refused(&few, 1, &cells).starts_with("the table of cells needs cells"));
    let thresholds = Thresholds { significance: None, ..config.params.thresholds() };
    let ramses =
        PhewRequest { params: PhewParams::from(thresholds).rules(Rules::Ramses), field: config.field };
    assert!(refused(&few, 1, &ramses).starts_with("a run by RAMSES's rules needs cells"));
}
