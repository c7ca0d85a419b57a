//! A snapshot over ranks: all parts together are what one rank has, and no rank lacks a ghost.

use crate::verify::boxed::Boxed;
use crate::verify::brute::{Leaf, touch};
use crate::verify::meshes::{Field, any_field};
use crate::verify::random::Random;
use inselberg::density::{DensitySource, LeafValues, Scheme};
use inselberg::error::RunError;
use inselberg::executor::Executor;
use inselberg::field::LevelOcts;
use inselberg::field::test_cells;
use inselberg::partition::{LoadRequest, LocalField, TestRule, Weights, load};
use inselberg_cli::synth::{FieldParams, SynthField};
use inselberg_comm::{Comm, CommError, run_ranks};
use inselberg_io::Snapshot;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::CellIdx;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const RANKS: [usize; 4] = [2, 3, 5, 8];
const SCHEMES: [Scheme; 2] = [Scheme::Conserving, Scheme::Ramses];

type Place = (u8, [u32; 3]);

/// Settings of a load.
#[derive(Clone, Copy)]
struct Case<'a> {
    snapshot: &'a dyn Snapshot,
    source: DensitySource<'a>,
    threshold: f64,
    extra: &'a [&'a str],
}

impl Case<'_> {
    /// The part of each rank, or its error. A rank that fails ends the job.
    fn try_on(&self, n_ranks: usize, seed: Option<u64>) -> Vec<Result<LocalField, RunError>> {
        self.try_by(Weights::TestCells, n_ranks, seed)
    }

    fn try_by(&self, by: Weights, n_ranks: usize, seed: Option<u64>) -> Vec<Result<LocalField, RunError>> {
        let builders = Comm::threads(n_ranks).into_iter().map(|builder| match seed {
            Some(seed) => builder.chaos(seed),
            None => builder,
        });
        run_ranks(builders.collect(), |comm| {
            let part = load(
                self.snapshot,
                &LoadRequest {
                    source: self.source,
                    values: LeafValues::NotNegative,
                    tests: TestRule::above(self.threshold),
                    extra_fields: self.extra,
                    weights: by,
                },
                comm,
                &Executor::default(),
            );
            part.inspect_err(|e| {
                comm.abort(e.to_string());
            })
        })
        .expect("no rank panics")
    }

    fn on(&self, n_ranks: usize) -> Vec<LocalField> {
        let parts = self.try_on(n_ranks, Some(n_ranks as u64)).into_iter();
        parts.map(|part| part.unwrap_or_else(|e| panic!("{n_ranks} ranks: {e}"))).collect()
    }

    /// Loads on all numbers of ranks; every part must agree with the whole.
    fn check(&self) {
        let whole = self.on(1).remove(0);
        for n_ranks in RANKS {
            let parts = self.on(n_ranks);
            check_parts(&whole, &parts, self.threshold);
            check_loads(&parts, self.threshold);
            for by in [Weights::Leaves, Weights::Work] {
                let parts = self.try_by(by, n_ranks, None).into_iter();
                let parts: Vec<LocalField> =
                    parts.map(|part| part.unwrap_or_else(|e| panic!("{e}"))).collect();
                check_parts(&whole, &parts, self.threshold);
            }
        }
    }
}

/// Every cell of a part: leaf or not, own or not, bits of its density.
fn cells(part: &LocalField) -> BTreeMap<Place, (bool, bool, u64)> {
    let (mesh, mut cells) = (&part.field.mesh, BTreeMap::new());
    mesh.for_each_cell(0..mesh.supers().len(), |level, ijk, cell, is_leaf| {
        cells.insert((level, ijk), (is_leaf, part.is_own(cell), part.field.rho[cell.at()].to_bits()));
    });
    cells
}

/// The cells that several ranks have of a whole octree: all but those of the coarsest levels, as long as such
/// a level has no leaf, and it and the next one cover the box.
fn kept(whole: &LocalField) -> BTreeMap<Place, (bool, bool, u64)> {
    let (domain, mut all) = (whole.field.mesh.domain(), cells(whole));
    while let Some(level) = all.keys().next().map(|place| place.0) {
        let of_level = |level: u8| all.range((level, [0; 3])..=(level, [u32::MAX; 3]));
        let covers =
            |level: u8| of_level(level).count() as i64 == domain.extent(level).iter().product::<i64>();
        let has_leaf = of_level(level).any(|(_, (is_leaf, ..))| *is_leaf);
        if has_leaf || !covers(level) || !covers(level + 1) {
            break;
        }
        all.retain(|place, _| place.0 > level);
    }
    all
}

/// Further values by own test cell.
fn extras(part: &LocalField, threshold: f64) -> BTreeMap<Place, Vec<u64>> {
    let (mesh, test_cells) = (&part.field.mesh, test_cells::find(&part.field, threshold));
    let (mut n, mut extras) = (0, BTreeMap::new());
    mesh.for_each_cell(0..mesh.supers().len(), |level, ijk, cell, is_leaf| {
        if is_leaf && part.is_own(cell) && part.field.rho[cell.at()] > threshold {
            extras.insert((level, ijk), part.extra.iter().map(|column| column[n].to_bits()).collect());
            n += 1;
        }
    });
    assert!(n <= test_cells.len() && part.extra.iter().all(|column| column.len() == n));
    extras
}

fn check_parts(whole: &LocalField, parts: &[LocalField], threshold: f64) {
    let all = kept(whole);
    let (mut owned, mut values) = (BTreeSet::new(), BTreeMap::new());
    for (rank, part) in parts.iter().enumerate() {
        assert_eq!(part.field.rho.len(), part.field.mesh.n_cells());
        assert_eq!(part.splits, parts[0].splits);
        assert_eq!(part.field.mesh.is_graded(), whole.field.mesh.is_graded());
        for (place, (is_leaf, is_own, rho)) in cells(part) {
            assert_eq!(all.get(&place), Some(&(is_leaf, true, rho)), "rank {rank}, {place:?}");
            assert_eq!(part.splits.owner(place.0, place.1).at() == rank, is_own, "rank {rank}, {place:?}");
            assert!(!is_own || owned.insert(place), "{place:?} is owned twice");
        }
        values.extend(extras(part, threshold));
    }
    assert_eq!(owned.len(), all.len(), "a cell is owned by nobody");
    assert_eq!(values, extras(whole, threshold));
}

/// A rank has no more than its share of the test cells, and those of octs at the splits: on each level one
/// that a split cuts, and one after it.
fn check_loads(parts: &[LocalField], threshold: f64) {
    let loads: Vec<usize> = parts.iter().map(|part| extras(part, threshold).len()).collect();
    let n_levels = usize::from(parts[0].splits.deepest()) + 1;
    let at_splits = if parts.len() > 1 { 8 * (n_levels + 1) } else { 0 };
    let n_tests: usize = loads.iter().sum();
    let most = n_tests.div_ceil(parts.len()) + at_splits;
    assert!(loads.iter().all(|load| *load <= most), "{loads:?}");
}

/// Every cell that touches an own leaf, or an ancestor of an own cell that is no coarser, is there.
fn check_ghosts(whole: &LocalField, parts: &[LocalField]) {
    let domain = whole.field.mesh.domain();
    let all: Vec<(Leaf, bool)> = kept(whole).into_iter().map(|(p, (l, ..))| (cell(p), l)).collect();
    for (rank, part) in parts.iter().enumerate() {
        let here = cells(part);
        let mut needing: BTreeMap<Place, bool> = BTreeMap::new();
        for (&(level, ijk), &(is_leaf, is_own, _)) in &here {
            for up in (0..=level).filter(|_| is_own) {
                *needing.entry((level - up, ijk.map(|x| x >> up))).or_default() |= is_leaf && up == 0;
            }
        }
        for (near, _) in &all {
            let is_needed = needing.iter().any(|(&place, &is_leaf)| {
                (is_leaf || near.level <= place.0) && touch(domain, near, &cell(place))
            });
            assert!(!is_needed || here.contains_key(&(near.level, near.ijk)), "rank {rank} lacks {near:?}");
        }
    }
}

fn cell((level, ijk): Place) -> Leaf {
    Leaf { level, ijk, rho: 0.0 }
}

#[test]
fn a_noisy_field() {
    let params = FieldParams { test_cells: 4_000, ..FieldParams::default() };
    let snapshot = SynthField::new(&params).expect("a field");
    let case =
        Case { snapshot: &snapshot, source: DensitySource::Cells("density"), threshold: 80.0, extra: &[] };
    case.check();
    check_parts(&case.on(1)[0], &case.on(64), case.threshold);
    Case { extra: &["density"], ..case }.check();
    Case { threshold: f64::INFINITY, ..case }.check();
}

#[test]
fn outputs_of_ramses() {
    for (run, field, threshold, extra) in [
        ("dm_1rank", "rho", 40.0, &[][..]),
        ("dm_3ranks", "rho", 40.0, &["potential"]),
        ("gas_2ranks", "density", 2.0, &["velocity_x", "pressure", "velocity_z"]),
    ] {
        let snapshot = crate::common::open(&crate::common::output(run));
        let known = |name: &&str| snapshot.fields().iter().any(|f| f.name == *name);
        let extra: Vec<&str> = extra.iter().copied().filter(known).collect();
        Case { snapshot: &*snapshot, source: DensitySource::Cells(field), threshold, extra: &extra }.check();
    }
}

#[test]
fn particles_of_ramses() {
    for run in ["dm_1rank", "dm_3ranks"] {
        let snapshot = crate::common::open(&crate::common::output(run));
        for scheme in SCHEMES {
            let source = DensitySource::Particles(scheme);
            Case { snapshot: &*snapshot, source, threshold: 40.0, extra: &[] }.check();
        }
    }
}

#[test]
fn parts_do_not_depend_on_files() {
    let output = crate::common::output("gas_2ranks");
    let folder = tempfile::tempdir().expect("a folder");
    let (two, seven) = (
        crate::common::open(&output),
        crate::common::open(&crate::common::resplit(&output, folder.path(), 7)),
    );
    let case = |snapshot| Case {
        snapshot,
        source: DensitySource::Cells("density"),
        threshold: 2.0,
        extra: &["velocity_x", "pressure"],
    };
    for n_ranks in RANKS {
        let pairs = case(&*two).on(n_ranks).into_iter().zip(case(&*seven).on(n_ranks));
        for (a, b) in pairs {
            assert_eq!((a.splits, a.own, a.ghosts), (b.splits, b.own, b.ghosts));
            assert_eq!((a.field.rho, a.extra), (b.field.rho, b.extra));
            assert_eq!(a.field.mesh.bricks(), b.field.mesh.bricks());
        }
    }
}

#[test]
fn more_ranks_than_cells() {
    let mut random = Random(3);
    let field = Field::uniform(Domain::CUBE, 1);
    let octs = Boxed::new(&field, 1, &mut random).with_particles(3, &mut random);
    for source in [
        DensitySource::Cells("density"),
        DensitySource::Particles(SCHEMES[0]),
        DensitySource::Particles(SCHEMES[1]),
    ] {
        for threshold in [0.0, 1e9] {
            let case = Case { snapshot: &octs, source, threshold, extra: &[] };
            check_parts(&case.on(1)[0], &case.on(20), threshold);
        }
    }
}

#[test]
fn no_cells_at_all() {
    let none = Boxed::of_octs(Domain::CUBE, &[], 2, &mut Random(1));
    let source = DensitySource::Cells("density");
    let parts = Case { snapshot: &none, source, threshold: 0.0, extra: &[] }.on(3);
    assert!(parts.iter().all(|part| part.field.mesh.n_cells() == 0 && part.ghosts.is_empty()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Jumps of several levels, boxes narrower than a neighbourhood, walls.
    #[test]
    fn any_octree(field in any_field(), n_pieces in 1..6usize, n_ranks in 2..9usize, seed: u64) {
        prop_assume!(field.leaves.iter().all(|leaf| leaf.level > 0));
        let mut random = Random(seed);
        let octs = Boxed::new(&field, n_pieces, &mut random).with_particles(300, &mut random);
        let case = |source| Case { snapshot: &octs, source, threshold: 2.0, extra: &[] };
        let cells = Case { extra: &["other", "density"], ..case(DensitySource::Cells("density")) };
        let (whole, parts) = (cells.on(1).remove(0), cells.on(n_ranks));
        check_parts(&whole, &parts, 2.0);
        check_ghosts(&whole, &parts);
        for scheme in SCHEMES {
            let case = case(DensitySource::Particles(scheme));
            check_parts(&case.on(1)[0], &case.on(n_ranks), 2.0);
        }
    }
}

/// Octs of levels 1 to 3, sound except for the change by `spoil`.
fn spoiled(spoil: impl Fn(&mut Vec<LevelOcts>)) -> Boxed {
    let mut field = Field::uniform(Domain::CUBE, 2);
    field.split((2, [3, 0, 1]), true);
    let mut octs = field.octs();
    spoil(&mut octs);
    Boxed::of_octs(Domain::CUBE, &octs, 3, &mut Random(5))
}

/// Some rank finds the fault that a single rank finds, and the others get its error.
fn check_broken(what: &str, octs: &Boxed) {
    let case =
        Case { snapshot: octs, source: DensitySource::Cells("density"), threshold: 0.5, extra: &["other"] };
    let alone = case.try_on(1, None).remove(0).expect_err(what).to_string();
    for n_ranks in RANKS {
        let (mut seen, mut heard) = (0, 0);
        for error in case.try_on(n_ranks, None).into_iter().map(|part| part.expect_err(what)) {
            match error {
                RunError::Comm(CommError::Aborted { .. }) => heard += 1,
                error => {
                    assert_eq!(error.to_string(), alone, "{what} on {n_ranks} ranks");
                    seen += 1;
                }
            }
        }
        assert!(seen > 0 && seen + heard == n_ranks, "{what}: {seen} of {n_ranks} ranks see it");
    }
}

#[test]
fn broken_octrees_are_errors() {
    check_broken("childless", &spoiled(|octs| octs[3] = LevelOcts::default()));
    check_broken("inside a leaf", &spoiled(|octs| octs[2].split.fill(0)));
    check_broken("twice", &spoiled(|octs| octs[3] = doubled(&octs[3])));
    check_broken("orphan", &spoiled(|octs| without_parent(octs)));
    check_broken("outside", &spoiled(|octs| octs[3].position[0] = [4, 0, 1]));
    check_broken("not a number", &spoiled(|octs| octs[3].values[0][5] = f64::NAN));
    check_broken("negative", &spoiled(|octs| octs[2].values[2][0] = -1.0));
    let mut octs = spoiled(|_| ());
    for block in octs.octs.iter_mut().flatten().filter(|block| block.level == 3) {
        block.values[1][0][4] = f64::INFINITY;
    }
    check_broken("further value", &octs);
}

/// Makes a leaf of the cell of level 1 in which level 3 is.
fn without_parent(octs: &mut [LevelOcts]) {
    octs[1].split[0] &= !2;
    let at = octs[2].position.iter().position(|p| *p == [1, 0, 0]).expect("an oct");
    octs[2].position.remove(at);
    octs[2].split.remove(at);
    octs[2].values.remove(at);
}

fn doubled(octs: &LevelOcts) -> LevelOcts {
    LevelOcts {
        position: octs.position.repeat(2),
        split: octs.split.repeat(2),
        values: octs.values.repeat(2),
    }
}

/// The densities of all cells.
fn request(threshold: f64) -> LoadRequest<'static> {
    let (source, weights) = (DensitySource::Cells("density"), Weights::default());
    LoadRequest {
        source,
        values: LeafValues::NotNegative,
        tests: TestRule::above(threshold),
        extra_fields: &[],
        weights,
    }
}

#[test]
fn values_cross_between_owners_and_ghosts() {
    let params = FieldParams { test_cells: 2_000, ..FieldParams::default() };
    let snapshot = SynthField::new(&params).expect("a field");
    let ran = run_ranks(Comm::threads(5), |comm| {
        let part = load(&snapshot, &request(80.0), comm, &Executor::default()).expect("a part");
        part.check(comm).expect("ghosts agree");
        let (mesh, rho) = (&part.field.mesh, &part.field.rho);
        let n = mesh.n_cells();
        let is_own: Vec<bool> = (0..n).map(|c| part.is_own(CellIdx(c as u32))).collect();
        let mut pushed: Vec<f64> =
            rho.iter().zip(&is_own).map(|(r, own)| if *own { *r } else { -1.0 }).collect();
        part.ghosts.push(comm, &mut pushed).expect("pushed");
        assert!(pushed == *rho);
        let mut copies: Vec<u64> = is_own.iter().map(|own| u64::from(!own)).collect();
        part.ghosts.reduce(comm, &mut copies, |a, b| *a += b).expect("reduced");
        let own_copies = copies.iter().zip(&is_own).filter(|c| *c.1).map(|c| c.0).sum::<u64>();
        let test_cells = test_cells::find(&part.field, 80.0);
        let links = part.test_links(&test_cells);
        let expected: Vec<f64> = test_cells.densities(&part.field.mesh).collect();
        let mut densities = expected.clone();
        let ghosts = links.links().iter().flat_map(|link| &link.ghosts);
        ghosts.for_each(|ghost| densities[*ghost as usize] = 0.0);
        assert!(links.is_empty() || densities != expected);
        links.push(comm, &mut densities).expect("pushed");
        assert!(densities == expected);
        (own_copies, part.ghosts.len() as u64)
    });
    let ran = ran.expect("no rank fails");
    let (copies, ghosts) = ran.iter().fold((0, 0), |sum, r| (sum.0 + r.0, sum.1 + r.1));
    assert!(copies == ghosts && ghosts > 0);
}
