//! The results that the whole pipeline must have, from the plain ways, and whether it has them.

use super::brute::Brute;
use super::graph::deaths;
use super::meshes::Field;
use super::paper;
use super::paper::{Graph, Outcome, Thresholds};
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::phew::Rules;
use inselberg::phew::hierarchy::{Structures, structures};
use inselberg::phew::pass::PassContext;
use inselberg::phew::peaks::OwnTree;
use inselberg::phew::region::cut_tasks;
use inselberg::phew::saddle;
use inselberg::phew::segment::{Segmentation, Task, segment};
use inselberg::phew::test_fields::TestFields;
use inselberg::phew::test_links::ALONE;
use inselberg_comm::Comm;
use inselberg_kernels::ids::{PeakIdx, RootIdx};
use inselberg_kernels::phew::forest;
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, cut};
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::Structure;
use inselberg_kernels::props::sums::{MASS, VOLUME};

/// The pipeline's segmentation of a field.
pub fn segmented(field: &AmrField, threshold: f64) -> Segmentation<'_> {
    let extra = TestFields::default();
    let task = Task {
        field,
        links: &ALONE,
        extra: &extra,
        density_threshold: threshold,
        side: 1.0,
        origin: [0.0; 3],
        rules: Rules::Paper,
    };
    segment(&task, test_cells::find(field, threshold), &Comm::solo(), &Executor::default()).expect("one rank")
}

/// The peaks and saddles of a brute-force segmentation.
pub fn graph_of(brute: &Brute) -> Graph {
    let saddles = brute.saddles.iter().map(|s| (s.density, s.peaks)).collect();
    Graph { rho: brute.peak_densities(), saddles }
}

/// Thresholds of persistence and saddle.
type Cuts<'a> = &'a [(Persistence, Option<f64>)];

/// Compares everything in the pipeline with brute force, at each of `cuts`.
pub fn check_field(field: &Field, threshold: f64, cuts: Cuts) {
    check_with(field, threshold, cuts, check_structures);
}

/// The same except for the lists of clumps and haloes. These lack objects whose mass is lost in rounding
/// beside the heaviest.
pub fn check_hierarchies(field: &Field, threshold: f64, cuts: Cuts) {
    check_with(field, threshold, cuts, |_, _, _| ());
}

fn check_with(field: &Field, threshold: f64, cuts: Cuts, lists: impl Fn(&Brute, &Outcome, &Structures)) {
    let brute = Brute::new(&field.domain, &field.leaves, threshold);
    let sparse = field.only(|leaf| leaf.rho > threshold).leaves_as_amr();
    for amr in [Some(field.leaves_as_amr()), field.octs_as_amr(), Some(sparse)].iter().flatten() {
        let found = segmented(amr, threshold);
        check_patches(&brute, amr, &found);
        check_saddle_cells(&brute, amr, &found);
        let graph = graph_of(&brute);
        check_tree(&graph, &found.peaks.tree);
        for &(persistence, saddle) in cuts {
            let outcome = paper::run(
                &graph,
                &Thresholds { density: threshold, persistence, saddle, halo_relevance: None },
            );
            let at = Cut { density: threshold, persistence, saddle, halo_relevance: None };
            check_hierarchy(&outcome, &cut(&found.peaks.tree.to_whole(), &at, Rules::Paper));
            lists(&brute, &outcome, &found_at(&found, &at));
        }
    }
}

fn found_at(found: &Segmentation, at: &Cut) -> Structures {
    structures(&found.peaks, &(*at).into(), Rules::Paper, inselberg::CentralChoice::Heaviest, &Comm::solo())
        .expect("one rank")
}

/// Test cells, labels, peaks and the sums of each patch.
pub fn check_patches(brute: &Brute, amr: &AmrField, found: &Segmentation) {
    let rho: Vec<f64> = brute.cells.iter().map(|c| c.rho).collect();
    let densities = found.test_cells.densities(&amr.mesh).collect::<Vec<f64>>();
    assert_eq!(densities, rho, "test cells");
    let labels: Vec<usize> = found.labels.iter().map(|l| l.at()).collect();
    assert_eq!(labels, brute.patch, "patches");
    let places: Vec<_> = brute.peaks.iter().map(|&c| (brute.cells[c].level, brute.cells[c].ijk)).collect();
    let found_places: Vec<_> = found.peaks.level.iter().copied().zip(found.peaks.ijk.clone()).collect();
    assert_eq!(found_places, places, "peaks");
    for peak in 0..brute.peaks.len() {
        let own = |&c: &usize| brute.patch[c] == peak;
        let expected = Sums::over(brute, (0..brute.cells.len()).filter(own));
        let patch = &found.peaks.patches[peak];
        expected.check([patch.n_cells as f64, patch.sums[VOLUME], patch.sums[MASS], patch.rho_min]);
    }
}

/// Every edge of the forest lies between the two cells of the saddle between its patches.
fn check_saddle_cells(brute: &Brute, amr: &AmrField, found: &Segmentation) {
    let tasks = cut_tasks(&amr.mesh, &found.test_cells);
    let (mesh, test_cells, roots, rules) = (&amr.mesh, &found.test_cells, &found.roots, Rules::Paper);
    let pass = PassContext { mesh, test_cells, roots, tasks: &tasks, own: &[], rules };
    // On a single rank the slot of a peak is that of its root.
    let labels: Vec<RootIdx> = found.labels.iter().map(|slot| RootIdx(slot.0)).collect();
    let found = saddle::run(pass, &labels, &Executor::default());
    let edges: Vec<_> = found.forests.into_iter().flat_map(|found| found.edges).collect();
    for edge in forest::reduce(&edges, &mut forest::ForestScratch::default()) {
        let peaks = edge.peaks.map(|p| p.at());
        let saddle = brute.saddles.iter().find(|s| s.peaks == peaks).expect("patches that touch");
        let cells =
            saddle.cells.map(|c| mesh.find(brute.cells[c].level, brute.cells[c].ijk).expect("a cell"));
        assert_eq!((edge.saddle, edge.cells), (saddle.density, cells), "{peaks:?}");
    }
}

/// Density and death of every peak.
pub fn check_tree(graph: &Graph, tree: &OwnTree) {
    assert_eq!(tree.rho, graph.rho, "peak densities");
    for (p, death) in deaths(graph).into_iter().enumerate() {
        let own = &tree.death[p];
        let found = (!own.is_never()).then(|| (own.saddle, own.near.at(), own.endpoint.at()));
        assert_eq!(found, death, "death of peak {p}");
    }
}

/// Clumps, haloes, levels, parents, relevances and key saddles.
pub fn check_hierarchy(expected: &Outcome, found: &Hierarchy) {
    let some = |p: PeakIdx| (!p.is_none()).then(|| p.at());
    let clump: Vec<_> = found.clump.iter().map(|&c| some(c)).collect();
    assert_eq!(clump, expected.clump, "clumps");
    for p in (0..clump.len()).filter(|&p| clump[p] == Some(p)) {
        assert_eq!(found.halo[p].at(), expected.halo[p], "halo of clump {p}");
        assert_eq!(found.level[p], expected.level[p], "level of clump {p}");
        assert_eq!(found.parent[p].at(), expected.parent[p], "parent of clump {p}");
        assert_eq!(found.relevance[p], expected.relevance[p], "relevance of clump {p}");
        let key = &found.key_saddle[p];
        assert_eq!(some(key.neighbour).map(|n| (key.density, n)), expected.key[p], "key saddle of {p}");
    }
}

/// The lists of clumps and haloes, and which patch belongs to which.
pub fn check_structures(brute: &Brute, expected: &Outcome, found: &Structures) {
    let rank = peak_ranks(brute);
    assert_eq!(found.peak_rank, rank, "ranks of peaks");
    let mut heads: Vec<usize> = (0..rank.len()).filter(|&p| expected.clump[p] == Some(p)).collect();
    heads.sort_by_key(|&p| rank[p]);
    let id = |p: usize| heads.iter().position(|&h| h == p).map_or(0, |i| i as u64 + 1);
    let clump_ids: Vec<u64> = expected.clump.iter().map(|c| c.map_or(0, id)).collect();
    let halo_ids: Vec<u64> = expected.clump.iter().map(|c| c.map_or(0, |c| id(expected.halo[c]))).collect();
    assert_eq!((&found.clump_of_patch, &found.halo_of_patch), (&clump_ids, &halo_ids), "patches");
    let ids: Vec<u64> = found.clumps.iter().map(|c| c.id).collect();
    assert_eq!(ids, (1..=heads.len() as u64).collect::<Vec<_>>(), "clumps are listed by identifier");
    for (clump, &p) in found.clumps.iter().zip(&heads) {
        check_place(clump, expected, p, &id, &rank);
        check_sums(clump, brute, &clump_ids, brute.cells[brute.peaks[p]].rho);
    }
    let main: Vec<u64> = heads.iter().filter(|&&p| expected.halo[p] == p).map(|&p| id(p)).collect();
    assert_eq!(found.haloes.iter().map(|h| h.id).collect::<Vec<_>>(), main, "haloes");
    for halo in &found.haloes {
        check_sums(halo, brute, &halo_ids, brute.cells[brute.peaks[heads[halo.id as usize - 1]]].rho);
        let members = found.clumps.iter().filter(|c| c.halo == halo.id);
        members.for_each(|c| assert_eq!(c.halo_mass, halo.mass, "halo mass of clump {}", c.id));
    }
    let levels = heads.iter().map(|&p| u64::from(expected.level[p]));
    assert_eq!(found.max_level, levels.max().unwrap_or(0), "highest level");
}

fn check_place(clump: &Structure, expected: &Outcome, p: usize, id: &dyn Fn(usize) -> u64, rank: &[u64]) {
    let key = expected.key[p];
    let found = (clump.halo, clump.parent, clump.level, clump.peak_rank);
    let place = (id(expected.halo[p]), id(expected.parent[p]), u64::from(expected.level[p]), rank[p]);
    assert_eq!(found, place, "halo, parent, level, rank of clump {}", clump.id);
    let saddle = (key.map_or(0.0, |k| k.0), key.map_or(0, |k| id(k.1)));
    assert_eq!((clump.saddle, clump.saddle_neighbour), saddle, "saddle of clump {}", clump.id);
    assert_eq!(clump.relevance, expected.relevance[p], "relevance of clump {}", clump.id);
}

fn check_sums(structure: &Structure, brute: &Brute, id_of_patch: &[u64], rho_peak: f64) {
    let is_member = |&c: &usize| id_of_patch[brute.patch[c]] == structure.id;
    let expected = Sums::over(brute, (0..brute.cells.len()).filter(is_member));
    let Structure { n_cells, volume, mass, rho_min, .. } = *structure;
    expected.check([n_cells as f64, volume, mass, rho_min]);
    assert_eq!(structure.rho_peak, rho_peak, "peak density of {}", structure.id);
}

/// Place of each peak by falling density, from 1.
fn peak_ranks(brute: &Brute) -> Vec<u64> {
    let rho = brute.peak_densities();
    let above = |p: usize| (0..rho.len()).filter(|&q| super::brute::order(|i| rho[i], q, p).is_gt()).count();
    (0..rho.len()).map(|p| above(p) as u64 + 1).collect()
}

/// Cells, volume, mass and least density, and how far sums may be off beside 1e-12: the library rounds
/// each term to 93 bits below the largest of the box, which shows where a zoom is 13 levels deep.
struct Sums {
    n_cells: f64,
    volume: f64,
    mass: f64,
    rho_min: f64,
    slack: f64,
}

impl Sums {
    fn over(brute: &Brute, cells: impl Iterator<Item = usize>) -> Self {
        let volume = |c: usize| 0.125f64.powi(i32::from(brute.cells[c].level));
        let mass = |c: usize| brute.cells[c].rho * volume(c);
        let all: f64 = (0..brute.cells.len()).map(|c| mass(c) + volume(c)).sum();
        let mut sums = Self { n_cells: 0.0, volume: 0.0, mass: 0.0, rho_min: f64::INFINITY, slack: 0.0 };
        for c in cells {
            sums.n_cells += 1.0;
            sums.volume += volume(c);
            sums.mass += mass(c);
            sums.rho_min = sums.rho_min.min(brute.cells[c].rho);
            sums.slack += all * 0.5f64.powi(108);
        }
        sums
    }

    /// Against cells, volume, mass and least density.
    fn check(&self, found: [f64; 4]) {
        assert_eq!((found[0], found[3]), (self.n_cells, self.rho_min), "number of cells, least density");
        for (name, expected, found) in [("volume", self.volume, found[1]), ("mass", self.mass, found[2])] {
            let off = (found - expected).abs();
            assert!(off <= 1e-12 * expected + self.slack, "{name} {found} for {expected}");
        }
    }
}
