//! What the whole pipeline must say, taken from the plain ways, and whether it does.

use super::brute::Brute;
use super::graph::deaths;
use super::meshes::Field;
use super::paper::{self, Graph, Outcome, Thresholds};
use inselberg::amr::AmrField;
use inselberg::observe::Silent;
use inselberg::phew::{Rules, Segmentation, Task, segment};
use inselberg::stages::properties::TestFields;
use inselberg::stages::tests;
use inselberg::structures::{Structures, structures};
use inselberg_comm::Comm;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, cut};
use inselberg_kernels::props::Structure;
use inselberg_kernels::props::sums::{MASS, VOLUME};

/// The pipeline's segmentation of a field.
pub fn segmented(field: &AmrField, threshold: f64) -> Segmentation {
    let extra = TestFields::default();
    let task = Task { field, extra: &extra, density_threshold: threshold, side: 1.0, rules: Rules::Paper };
    segment(&task, tests::find(field, threshold), &Comm::solo(), &Silent)
}

/// The peaks and saddles of a brute-force segmentation.
pub fn graph_of(brute: &Brute) -> Graph {
    let saddles = brute.saddles.iter().map(|s| (s.density, s.peaks)).collect();
    Graph { rho: brute.peak_densities(), saddles }
}

/// Holds the pipeline against the brute force in everything, at every one of `cuts`.
pub fn check_field(field: &Field, threshold: f64, cuts: &[(f64, Option<f64>)]) {
    let brute = Brute::new(&field.domain, &field.leaves, threshold);
    let sparse = field.only(|leaf| leaf.rho > threshold).leaves_as_amr();
    for amr in [Some(field.leaves_as_amr()), field.octs_as_amr(), Some(sparse)].iter().flatten() {
        check_against(&brute, amr, threshold, cuts);
    }
}

fn check_against(brute: &Brute, amr: &AmrField, threshold: f64, cuts: &[(f64, Option<f64>)]) {
    let found = segmented(amr, threshold);
    check_patches(brute, &found);
    let graph = graph_of(brute);
    check_tree(&graph, &found);
    for &(relevance, saddle) in cuts {
        let outcome = paper::run(&graph, &Thresholds { density: threshold, relevance, saddle });
        let at = Cut { density: threshold, relevance, saddle };
        check_hierarchy(&outcome, &cut(&found.peaks.tree, &at, Rules::Paper));
        check_structures(brute, &outcome, &structures(&found.peaks, &at, 0.0, Rules::Paper));
    }
}

/// Test cells, labels, peaks and the sums of each patch.
pub fn check_patches(brute: &Brute, found: &Segmentation) {
    let rho: Vec<f64> = brute.cells.iter().map(|c| c.rho).collect();
    assert_eq!(found.tests.rho, rho, "test cells");
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

/// Density and death of every peak.
pub fn check_tree(graph: &Graph, found: &Segmentation) {
    let tree = &found.peaks.tree;
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

/// Cells, volume, mass and least density.
struct Sums([f64; 4]);

impl Sums {
    fn over(brute: &Brute, cells: impl Iterator<Item = usize>) -> Self {
        let mut sums = [0.0, 0.0, 0.0, f64::INFINITY];
        for cell in cells.map(|c| &brute.cells[c]) {
            let volume = 0.125f64.powi(i32::from(cell.level));
            let [n, v, m, least] = sums;
            sums = [n + 1.0, v + volume, m + cell.rho * volume, least.min(cell.rho)];
        }
        Self(sums)
    }

    fn check(&self, found: [f64; 4]) {
        let [n, volume, mass, least] = self.0;
        assert_eq!((found[0], found[3]), (n, least), "number of cells, least density");
        assert!((found[1] - volume).abs() <= 1e-12 * volume, "volume {} for {volume}", found[1]);
        assert!((found[2] - mass).abs() <= 1e-12 * mass, "mass {} for {mass}", found[2]);
    }
}
