//! Results do not depend on the number of threads, the order of the input, the place where a periodic box
//! begins, or the level from which it is counted.

use crate::verify::brute::Leaf;
use crate::verify::expect::segmented;
use crate::verify::meshes::{Field, place};
use crate::verify::random::Random;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::phew::Rules;
use inselberg::phew::hierarchy::structures;
use inselberg::phew::region::cut_tasks;
use inselberg::phew::segment::Segmentation;
use inselberg_comm::Comm;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;
use std::collections::BTreeMap;

const CUT: Cut =
    Cut { density: 2.0, persistence: Persistence::Ratio(1.3), saddle: Some(3.0), halo_relevance: None };

/// Some 60 000 leaves over three levels, enough for several tasks, with waves and noise.
fn large_field(n_values: usize) -> Field {
    let mut random = Random(n_values as u64);
    let mut field = Field::uniform_at(Domain::CUBE, 5);
    let mut leaves = Vec::new();
    for leaf in std::mem::take(&mut field.leaves) {
        let depth = if leaf.ijk.iter().all(|x| x % 16 > 10) { 2 } else { u8::from(random.chance(0.05)) };
        refine(leaf, depth, &mut leaves);
    }
    field.leaves = leaves;
    field.fill(n_values, &mut random);
    let wave =
        |l: &Leaf| l.ijk.iter().map(|&x| (f64::from(x) / f64::from(1 << l.level) * 12.0).sin()).sum::<f64>();
    field.with(|l| if n_values == 0 { l.rho * (1.5 + wave(l).abs()) } else { l.rho + wave(l).abs().round() })
}

fn refine(leaf: Leaf, depth: u8, out: &mut Vec<Leaf>) {
    if depth == 0 {
        return out.push(leaf);
    }
    for i in 0..8 {
        let (level, ijk) = crate::verify::meshes::child(place(&leaf), i);
        refine(Leaf { level, ijk, ..leaf }, depth - 1, out);
    }
}

/// Everything that a run finds, to the last bit.
fn everything(amr: &AmrField) -> String {
    let found = segmented(amr, CUT.density);
    let listed = structures(
        &found.peaks,
        &CUT.into(),
        Rules::Paper,
        inselberg::CentralChoice::Heaviest,
        &Comm::solo(),
    )
    .expect("one rank");
    format!("{:?} {:?} {:?} {listed:?}", found.labels, found.test_cells, found.peaks)
}

fn on_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool");
    pool.install(work)
}

#[test]
fn threads_do_not_matter() {
    for n_values in [0, 5] {
        let field = large_field(n_values);
        let one = on_threads(1, || everything(&field.leaves_as_amr()));
        let amr = field.leaves_as_amr();
        let n_tasks = cut_tasks(&amr.mesh, &test_cells::find(&amr, CUT.density)).len();
        assert!(n_tasks > 3, "{n_tasks} tasks are not enough to mix up");
        for n in [2, 3, 7] {
            assert!(on_threads(n, || everything(&field.leaves_as_amr())) == one, "{n} threads, {n_values}");
        }
    }
}

#[test]
fn order_of_input_does_not_matter() {
    let field = large_field(4);
    let sorted = everything(&field.leaves_as_amr());
    for seed in 0..3 {
        let mut mixed = field.clone();
        Random(seed).shuffle(&mut mixed.leaves);
        assert!(everything(&mixed.leaves_as_amr()) == sorted, "seed {seed}");
    }
}

#[test]
fn leaves_and_octs_are_the_same() {
    let field = large_field(3);
    let (a, b) = (field.leaves_as_amr(), field.octs_as_amr().expect("no leaf is a root"));
    let (a, b) = (segmented(&a, CUT.density), segmented(&b, CUT.density));
    assert!(a.labels == b.labels && a.peaks.tree == b.peaks.tree && a.peaks.patches == b.peaks.patches);
}

/// The patch, clump and halo of a leaf in terms that do not depend on where the box begins or how it is
/// counted: the density of the peak, and those of its clump and halo with the clump's level, parent and
/// relevance.
type Belongs = (f64, f64, f64, u64, f64, f64);

fn belongings(field: &Field) -> BTreeMap<(u8, [u32; 3]), Belongs> {
    let amr = field.leaves_as_amr();
    let found = segmented(&amr, CUT.density);
    let listed = structures(
        &found.peaks,
        &CUT.into(),
        Rules::Paper,
        inselberg::CentralChoice::Heaviest,
        &Comm::solo(),
    )
    .expect("one rank");
    let density_of = |id: u64| listed.clumps.get((id as usize).wrapping_sub(1)).map_or(0.0, |c| c.rho_peak);
    let belongs = |patch: usize| {
        let id = listed.clump_of_patch[patch];
        let clump = listed.clumps.get((id as usize).wrapping_sub(1));
        let (level, parent, relevance) = clump.map_or((0, 0, 0.0), |c| (c.level, c.parent, c.relevance));
        let halo = density_of(listed.halo_of_patch[patch]);
        (found.peaks.tree.rho[patch], density_of(id), halo, level, density_of(parent), relevance)
    };
    by_place(field, &found, belongs)
}

fn by_place<T>(field: &Field, found: &Segmentation, of: impl Fn(usize) -> T) -> BTreeMap<(u8, [u32; 3]), T> {
    let mut leaves: Vec<&Leaf> = field.leaves.iter().filter(|l| l.rho > CUT.density).collect();
    leaves.sort_by_key(|l| crate::verify::brute::key(l));
    leaves.iter().zip(&found.labels).map(|(l, label)| (place(l), of(label.at()))).collect()
}

fn moved(leaf: &Leaf, by: [u32; 3]) -> Leaf {
    let n = 1 << leaf.level;
    Leaf { ijk: std::array::from_fn(|a| (leaf.ijk[a] + (by[a] << (leaf.level - 5))) % n), ..*leaf }
}

#[test]
fn where_a_periodic_box_begins_does_not_matter() {
    let field = large_field(0);
    let at_rest = belongings(&field);
    for by in [[1, 0, 0], [31, 5, 18], [16, 16, 3]] {
        let leaves: Vec<Leaf> = field.leaves.iter().map(|l| moved(l, by)).collect();
        let there = belongings(&Field { domain: field.domain, leaves });
        assert_eq!(there.len(), at_rest.len());
        for leaf in field.leaves.iter().filter(|l| l.rho > CUT.density) {
            assert_eq!(there[&place(&moved(leaf, by))], at_rest[&place(leaf)], "moved by {by:?}: {leaf:?}");
        }
    }
}

/// The same cells counted from the root, and from eight coarse cells an axis three levels below it.
#[test]
fn the_level_counted_from_does_not_matter() {
    for n_values in [0, 4] {
        let field = large_field(n_values);
        let leaves = field.leaves.iter().map(|l| Leaf { level: l.level - 3, ..*l }).collect();
        let coarse = Field { domain: Domain { coarse: [8; 3], ..field.domain }, leaves };
        let (a, b) = (field.leaves_as_amr(), coarse.leaves_as_amr());
        let (a, b) = (segmented(&a, 2.0), segmented(&b, 2.0));
        assert!(a.labels == b.labels && a.peaks.tree == b.peaks.tree);
    }
}
