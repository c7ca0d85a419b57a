//! Which cells touch: the mesh's neighbourhoods and contacts across levels, compared with all pairs.

use crate::verify::brute::{Brute, Leaf};
use crate::verify::meshes::{Field, any_field, place};
use crate::verify::random::Random;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::phew::region::cut_by;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::CellIdx;
use inselberg_kernels::mesh::{Mesh, Neighbourhood};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::ascent::ascend;
use inselberg_kernels::phew::raise::raise;
use inselberg_kernels::phew::test_cells::TestCells;
use proptest::prelude::*;
use std::sync::atomic::AtomicU32;

/// The densest neighbour of every test cell, however the mesh is cut into tasks.
fn check_ascent(brute: &Brute, amr: &AmrField, test_cells: &TestCells) {
    let rho: Vec<f64> = test_cells.densities(&amr.mesh).collect();
    let greater = |a: usize, b: &usize| if (rho[*b], a) > (rho[a], *b) { *b } else { a };
    let expected: Vec<usize> =
        (0..test_cells.len()).map(|c| brute.neighbours[c].iter().fold(c, greater)).collect();
    for least in [1, 20, usize::MAX] {
        assert_eq!(ascended(&amr.mesh, test_cells, least), expected, "tasks of {least} cells");
    }
}

fn ascended(mesh: &Mesh, test_cells: &TestCells, least: usize) -> Vec<usize> {
    let rules = Rules::Paper;
    let up: Vec<AtomicU32> = (0..test_cells.len()).map(|_| AtomicU32::default()).collect();
    let tasks = cut_by(mesh, test_cells, |_| least);
    let later = tasks.iter().rev().flat_map(|task| ascend(mesh, test_cells, rules, task.supers(), &up));
    // All have ascended before the first one gets what lies in other tasks.
    let later: Vec<_> = later.collect();
    later.into_iter().for_each(|rise| raise(mesh, test_cells, rules, &up, rise));
    up.into_iter().map(|up| up.into_inner() as usize).collect()
}

/// Leaves of the level of each brick that touch the brick's own, by the 27 bricks around it.
fn check_within(field: &Field, mesh: &Mesh) {
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let level = mesh.level_of_super(s);
        if field.domain.extent(level).iter().any(|n| n % 4 != 0) {
            continue;
        }
        let around = Neighbourhood::around(mesh, level, super_brick.position);
        for brick in &mesh.bricks()[mesh.bricks_of(super_brick)] {
            let found = around.bricks(mesh, brick.position);
            for (slot, found) in found.iter().enumerate() {
                let step = [slot % 3, slot / 3 % 3, slot / 9].map(|s| s as i64 - 1);
                let at = std::array::from_fn(|a| 4 * (i64::from(brick.position[a]) + step[a]));
                let wrapped = field.domain.wrap(level, at);
                let expected = wrapped.and_then(|p| {
                    let is_it = |b: &usize| {
                        mesh.bricks()[*b].position == p.map(|x| x / 4) && level_of(mesh, *b) == level
                    };
                    (0..mesh.bricks().len()).find(is_it)
                });
                assert_eq!((!found.is_none()).then(|| found.at()), expected, "slot {slot} of {brick:?}");
            }
        }
    }
}

fn level_of(mesh: &Mesh, brick: usize) -> u8 {
    mesh.locate(CellIdx(mesh.bricks()[brick].first)).0
}

/// Every leaf is where it was put, and every place in the box is covered by the leaf around it.
fn check_look_ups(field: &Field, amr: &AmrField) {
    let mesh = &amr.mesh;
    for leaf in &field.leaves {
        let cell = mesh.find(leaf.level, leaf.ijk).expect("a leaf that was given");
        assert_eq!((mesh.locate(cell), amr.rho[cell.at()]), (place(leaf), leaf.rho));
        for deeper in 0..3 {
            let inside = leaf.ijk.map(|x| (x << deeper) + (1 << deeper) - 1);
            assert_eq!(mesh.find_covering_leaf(leaf.level + deeper, inside), Some((leaf.level, cell)));
        }
    }
    assert_eq!(mesh.n_leaves(), field.leaves.len());
}

/// Whether meshes know that levels of touching leaves differ by at most one, or that they do not.
fn check_grading(field: &Field) {
    let mut all = field.clone();
    all.leaves.iter_mut().for_each(|leaf| leaf.rho = 1.0);
    let brute = Brute::new(&all.domain, &all.leaves, 0.0);
    let level = |cell: usize| brute.cells[cell].level;
    let jumps = |cell: usize| brute.neighbours[cell].iter().any(|other| level(*other) > level(cell) + 1);
    let is_graded = !(0..brute.cells.len()).any(jumps);
    for amr in [Some(field.leaves_as_amr()), field.octs_as_amr()].iter().flatten() {
        assert_eq!(amr.mesh.is_graded(), is_graded, "{field:?}");
    }
}

fn check(field: &Field, threshold: f64) {
    let brute = Brute::new(&field.domain, &field.leaves, threshold);
    for amr in [Some(field.leaves_as_amr()), field.octs_as_amr()].iter().flatten() {
        check_ascent(&brute, amr, &test_cells::find(amr, threshold));
        check_within(field, &amr.mesh);
        check_look_ups(field, amr);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mesh_has_the_neighbours_of_all_pairs(field in any_field(), threshold in 0.0..3.0f64) {
        check(&field, threshold);
    }

    /// Equal in single precision, or in the part of it that the first comparison uses.
    #[test]
    fn nearly_equal_densities_have_the_neighbours_of_all_pairs(field in any_field(), seed in any::<u64>()) {
        let (mut random, mut field) = (Random(seed), field);
        let step = random.pick(&[-17, -21, -30, -48]);
        for leaf in &mut field.leaves {
            leaf.rho = 1.0 + random.below(5) as f64 * 2f64.powi(step);
        }
        check(&field, 0.5);
    }
}

/// Levels apart in one place only, or nowhere.
#[test]
fn grading_is_known() {
    for seed in 0..2000u64 {
        let mut random = Random(seed);
        let periodic = std::array::from_fn(|a| seed >> a & 1 == 1);
        let mut field = Field::uniform_at(Domain { coarse: [1; 3], periodic }, 2);
        for _ in 0..1 + random.below(2) {
            let deepest = field.leaves.iter().map(|l| l.level).max();
            let leaves: Vec<Leaf> =
                field.leaves.iter().filter(|l| Some(l.level) == deepest).copied().collect();
            let leaf = random.pick(&leaves);
            field.split(place(&leaf), random.chance(0.3));
        }
        check_grading(&field);
    }
}

/// Levels of whole super-bricks, over the wrap and not, with holes that are finer or not there.
#[test]
fn whole_super_bricks() {
    for seed in 0..8u64 {
        let mut random = Random(seed);
        let periodic = std::array::from_fn(|a| seed >> a & 1 == 1);
        let mut field = Field::uniform_at(Domain { coarse: [1; 3], periodic }, 4);
        field = field.only(|l| l.ijk.iter().all(|x| x % 12 < 4) || l.ijk[0] == 7);
        for leaf in field.leaves.clone() {
            if random.chance(0.25) {
                field.split(place(&leaf), false);
            }
        }
        let brute = Brute::new(&field.domain, &field.leaves, 0.0);
        let amr = field.leaves_as_amr();
        check_ascent(&brute, &amr, &test_cells::find(&amr, 0.0));
        check_within(&field, &amr.mesh);
        check_look_ups(&field, &amr);
    }
}

/// One fine cell at a face, an edge and a corner of a leaf up to 24 levels coarser.
#[test]
fn jumps_of_many_levels() {
    for jump in [1, 2, 5, 24] {
        let side = 1u32 << jump;
        let coarse = Leaf { level: 2, ijk: [1, 2, 1], rho: 1.0 };
        let low = coarse.ijk.map(|x| x * side);
        let beside = [[side, 0, side - 1], [side, side, 0], [side; 3], [side + 1, 0, 0]];
        let fine = beside.map(|d| {
            let ijk = std::array::from_fn(|a| low[a] + d[a]);
            Leaf { level: 2 + jump, ijk, rho: 2.0 }
        });
        let before = [low[0] - 1, low[1] - 1, low[2] - 1];
        let leaves = fine.into_iter().chain([coarse, Leaf { level: 2 + jump, ijk: before, rho: 2.0 }]);
        let field = Field { domain: Domain::CUBE, leaves: leaves.collect() };
        let brute = Brute::new(&field.domain, &field.leaves, 0.0);
        assert_eq!(brute.neighbours[0].len(), 4, "jump {jump}");
        let amr = field.leaves_as_amr();
        check_ascent(&brute, &amr, &test_cells::find(&amr, 0.0));
    }
}
