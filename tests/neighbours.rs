//! Who touches whom: the mesh's neighbourhoods and contacts across levels against all pairs.

mod verify;

use inselberg::amr::AmrField;
use inselberg::stages::{cut_tasks, tests};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::CellIdx;
use inselberg_kernels::mesh::{Mesh, Neighbourhood, local};
use inselberg_kernels::phew::jumps::for_each_contact;
use inselberg_kernels::phew::tests::TestCells;
use proptest::prelude::*;
use std::collections::BTreeSet;
use verify::brute::{Brute, Leaf};
use verify::meshes::{Field, any_field, place};
use verify::random::Random;

/// Pairs of test cells of different levels that touch, by index, the coarser first.
fn contacts_across(mesh: &Mesh, tests: &TestCells, supers: std::ops::Range<usize>) -> BTreeSet<[usize; 2]> {
    let mut pairs = BTreeSet::new();
    for_each_contact(mesh, tests, supers, |contact| {
        for bit in local::bits(contact.fine) {
            let fine = tests.at(contact.brick, bit).expect("contacts are between test cells");
            pairs.insert([contact.coarse.at(), fine.at()]);
        }
    });
    pairs
}

fn check_across(brute: &Brute, amr: &AmrField, tests: &TestCells) {
    let level = |c: usize| brute.cells[c].level;
    let expected: BTreeSet<[usize; 2]> = (0..brute.cells.len())
        .flat_map(|a| brute.neighbours[a].iter().map(move |&b| [a, b]))
        .filter(|&[a, b]| level(a) < level(b))
        .collect();
    assert_eq!(contacts_across(&amr.mesh, tests, 0..amr.mesh.supers().len()), expected);
    let by_task = cut_tasks(&amr.mesh, tests).into_iter();
    let found: BTreeSet<_> = by_task.flat_map(|task| contacts_across(&amr.mesh, tests, task)).collect();
    assert_eq!(found, expected, "task by task");
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

fn check(field: &Field, threshold: f64) {
    let brute = Brute::new(&field.domain, &field.leaves, threshold);
    for amr in [Some(field.leaves_as_amr()), field.octs_as_amr()].iter().flatten() {
        check_across(&brute, amr, &tests::find(amr, threshold));
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
        check_across(&brute, &amr, &tests::find(&amr, 0.0));
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
        check_across(&brute, &amr, &tests::find(&amr, 0.0));
    }
}
