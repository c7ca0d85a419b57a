//! Particles to densities: as in RAMSES, and conserving mass.

use crate::verify::brute::{Leaf, touch};
use crate::verify::meshes::{Field, any_field};
use crate::verify::random::Random;
use inselberg::density::LeafValues;
use inselberg::density::read::read_mesh;
use inselberg::density::{Deposited, PointMasses, Scheme, deposit, read_particles};
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::progress::Silent;
use inselberg_io::Snapshot;
use inselberg_kernels::geom::{Domain, cell_side, cell_volume};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SCHEMES: [Scheme; 2] = [Scheme::Conserving, Scheme::Ramses];

/// Deposits a snapshot's dark matter.
fn deposited(snapshot: &dyn Snapshot, scheme: Scheme) -> (AmrField, PointMasses) {
    let mesh = read_mesh(snapshot, None, LeafValues::NotNegative, &Silent).expect("a mesh").mesh;
    let particles = read_particles(snapshot, Deposited::DarkMatter, &Silent).expect("particles");
    (deposit(mesh, &particles, scheme, snapshot.header().boxlen, &Executor::default()), particles)
}

#[test]
fn as_ramses_on_every_cell_leaf_or_split() {
    for run in ["dm_1rank", "dm_3ranks"] {
        let snapshot = crate::common::open(&crate::common::output(run));
        let levelmin = snapshot.header().levelmin;
        let theirs = read_mesh(&*snapshot, Some("rho"), LeafValues::NotNegative, &Silent).expect("a mesh");
        let (ours, _) = deposited(&*snapshot, Scheme::Ramses);
        let largest = theirs.rho.iter().copied().fold(0.0, f64::max);
        assert_eq!(ours.rho.len(), theirs.mesh.n_cells());
        let mesh = &theirs.mesh;
        mesh.for_each_cell(0..mesh.supers().len(), |level, ijk, cell, _| {
            let (a, b) = (ours.rho[cell.at()], theirs.rho[cell.at()]);
            // RAMSES deposits nothing on levels that are split everywhere.
            let is_same = (a - b).abs() <= 1e-12 * largest || level < levelmin && b == 0.0;
            assert!(is_same, "{run}, cell {ijk:?} of level {level}: RAMSES {b}, here {a}");
        });
    }
}

/// Density of every leaf, by place.
fn leaf_densities(field: &AmrField) -> BTreeMap<(u8, [u32; 3]), f64> {
    let mut leaves = BTreeMap::new();
    field.mesh.for_each_cell(0..field.mesh.supers().len(), |level, ijk, cell, is_leaf| {
        if is_leaf {
            leaves.insert((level, ijk), field.rho[cell.at()]);
        }
    });
    leaves
}

fn mass_in_leaves(field: &AmrField, side: f64) -> f64 {
    leaf_densities(field).iter().map(|((level, _), rho)| rho * cell_volume(*level) * side.powi(3)).sum()
}

#[test]
fn no_gram_is_lost_on_a_real_output() {
    for run in ["dm_1rank", "dm_3ranks"] {
        let snapshot = crate::common::open(&crate::common::output(run));
        let side = snapshot.header().boxlen;
        let (field, particles) = deposited(&*snapshot, Scheme::Conserving);
        let mass: f64 = particles.mass.iter().sum();
        let off = mass_in_leaves(&field, side) / mass - 1.0;
        assert!(off.abs() <= 1e-12, "{run}: {off}");
        let mean = |cells: &[f64]| cells.iter().sum::<f64>() / 8.0;
        let root: f64 = field.rho[0..8].iter().sum::<f64>() / 8.0 * side.powi(3);
        assert!((root / mass - 1.0).abs() <= 1e-12 || mean(&field.rho[0..8]) == 0.0, "split cells: {root}");
    }
}

/// Particles of random places and masses, some on corners and walls.
fn some_particles(domain: &Domain, n: usize, random: &mut Random) -> PointMasses {
    let mut particles = PointMasses::default();
    for _ in 0..n {
        let place = |n: &u32| match random.chance(0.2) {
            true => random.below(8 * *n as usize) as f64 / 8.0,
            false => random.real() * f64::from(*n),
        };
        particles.position.push(std::array::from_fn::<u32, 3, _>(|a| domain.coarse[a]).each_ref().map(place));
        particles.mass.push(0.5 + random.real());
    }
    particles
}

/// By the definition: a cube of the side of the leaf that the particle is in, shared by overlap over
/// all leaves and images; what lies beyond a wall stays in the particle's own leaf.
fn brute_masses(field: &Field, particles: &PointMasses) -> BTreeMap<(u8, [u32; 3]), f64> {
    let mut masses: BTreeMap<_, f64> = field.leaves.iter().map(|l| ((l.level, l.ijk), 0.0)).collect();
    for (x, m) in particles.position.iter().zip(&particles.mass) {
        let own = field.leaves.iter().find(|l| holds(l, x)).expect("leaves fill the box");
        let side = cell_side(own.level);
        let mut given = 0.0;
        for leaf in &field.leaves {
            let parts = [0, 1, 2].map(|a| shared_along(&field.domain, a, leaf, x[a], side));
            let part = parts.iter().product::<f64>() / side.powi(3);
            *masses.get_mut(&(leaf.level, leaf.ijk)).expect("a leaf") += m * part;
            given += part;
        }
        *masses.get_mut(&(own.level, own.ijk)).expect("a leaf") += m * (1.0 - given);
    }
    masses
}

fn holds(leaf: &Leaf, x: &[f64; 3]) -> bool {
    (0..3).all(|a| (x[a] / cell_side(leaf.level)).floor() == f64::from(leaf.ijk[a]))
}

/// Length along an axis that a leaf and all images of a cube about `x` share.
fn shared_along(domain: &Domain, axis: usize, leaf: &Leaf, x: f64, side: f64) -> f64 {
    let low = f64::from(leaf.ijk[axis]) * cell_side(leaf.level);
    let high = low + cell_side(leaf.level);
    let image = if domain.periodic[axis] { f64::from(domain.coarse[axis]) } else { 0.0 };
    let shifts: &[f64] = if image > 0.0 { &[-1.0, 0.0, 1.0] } else { &[0.0] };
    let shared =
        |s: &f64| (high.min(x + s * image + 0.5 * side) - low.max(x + s * image - 0.5 * side)).max(0.0);
    shifts.iter().map(shared).sum()
}

fn check_conserving(field: &Field, particles: &PointMasses) {
    let expected = brute_masses(field, particles);
    let all: f64 = particles.mass.iter().sum();
    for amr in [Some(field.leaves_as_amr()), field.octs_as_amr()].into_iter().flatten() {
        let found = deposit(amr.mesh, particles, Scheme::Conserving, 1.0, &Executor::default());
        let kept = mass_in_leaves(&found, 1.0) / all;
        assert!((kept - 1.0).abs() <= 1e-12, "all leaves hold {kept} of the mass");
        for (place, rho) in leaf_densities(&found) {
            let mass = rho * cell_volume(place.0);
            assert!((mass - expected[&place]).abs() <= 1e-12 * all, "{place:?}: {mass} for {expected:?}");
        }
    }
}

/// Where all 27 cells about a leaf are leaves of its level, the density is that of a uniform grid.
fn check_standard(field: &Field, particles: &PointMasses) {
    let amr = field.leaves_as_amr();
    let found = leaf_densities(&deposit(amr.mesh, particles, Scheme::Conserving, 1.0, &Executor::default()));
    for leaf in &field.leaves {
        let around: Vec<_> = field.leaves.iter().filter(|l| touch(&field.domain, l, leaf)).collect();
        if around.len() < 27 || around.iter().any(|l| l.level != leaf.level) {
            continue;
        }
        let side = cell_side(leaf.level);
        let weight = |x: &[f64; 3]| -> f64 {
            let along = |a: usize| {
                let n = f64::from(field.domain.coarse[a]);
                let d = (x[a] - (f64::from(leaf.ijk[a]) + 0.5) * side).abs();
                let d = if field.domain.periodic[a] { d.min(n - d) } else { d };
                (1.0 - d / side).max(0.0)
            };
            along(0) * along(1) * along(2)
        };
        let mass: f64 = particles.position.iter().zip(&particles.mass).map(|(x, m)| weight(x) * m).sum();
        let all: f64 = particles.mass.iter().sum();
        let off = found[&(leaf.level, leaf.ijk)] * cell_volume(leaf.level) - mass;
        assert!(off.abs() <= 1e-12 * all, "{leaf:?}: {off}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn shares_are_overlaps(field in any_field(), n in 1..60usize, seed: u64) {
        let particles = some_particles(&field.domain, n, &mut Random(seed));
        check_conserving(&field, &particles);
        check_standard(&field, &particles);
    }
}

#[test]
fn far_from_level_jumps_it_is_the_standard_cloud_in_cell() {
    let mut field = Field::uniform(Domain::CUBE, 2);
    let particles = some_particles(&field.domain, 500, &mut Random(3));
    check_standard(&field, &particles);
    field.split((2, [0; 3]), true);
    check_standard(&field, &particles);
    check_conserving(&field, &particles);
}

#[test]
fn order_and_threads_do_not_matter() {
    let mut field = Field::uniform(Domain { coarse: [2, 1, 1], periodic: [true, false, true] }, 2);
    field.split((2, [3, 1, 2]), true);
    let mut random = Random(11);
    let particles = some_particles(&field.domain, 20_000, &mut random);
    for scheme in SCHEMES {
        let bits = |p: &PointMasses, n: usize| -> Vec<u64> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool");
            let amr = field.octs_as_amr().expect("no leaf is a root");
            pool.install(|| deposit(amr.mesh, p, scheme, 2.5, &Executor::default()))
                .rho
                .iter()
                .map(|x| x.to_bits())
                .collect()
        };
        let one = bits(&particles, 1);
        for n in [2, 3, 7] {
            let mut order: Vec<usize> = (0..particles.mass.len()).collect();
            random.shuffle(&mut order);
            let mixed = PointMasses {
                position: order.iter().map(|&i| particles.position[i]).collect(),
                mass: order.iter().map(|&i| particles.mass[i]).collect(),
            };
            assert!(bits(&mixed, n) == one, "{scheme:?} on {n} threads");
        }
    }
}

/// All mass in one cell: far more than the first quantum allows.
#[test]
fn a_heap_of_particles_in_one_cell_keeps_its_mass() {
    let field = Field::uniform(Domain::CUBE, 2);
    let particles = PointMasses { position: vec![[0.375; 3]; 5000], mass: vec![3e7; 5000] };
    check_conserving(&field, &particles);
}

/// Was lost: more than a counter holds, and more at once.
#[test]
fn a_single_particle_keeps_its_mass() {
    let field = Field::uniform(Domain::CUBE, 1);
    for mass in [1e-30, 1.0, 3e33] {
        check_conserving(&field, &PointMasses { position: vec![[0.25; 3]], mass: vec![mass] });
    }
}
