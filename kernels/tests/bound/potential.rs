//! Potentials against all pairs and against integrals.

use super::samples::{Random, hernquist, members, plummer};
use inselberg_kernels::bound::potential::direct::direct;
use inselberg_kernels::bound::potential::octree::Octree;
use inselberg_kernels::bound::potential::points::Points;
use inselberg_kernels::bound::potential::spherical::spherical;
use inselberg_kernels::bound::potential::tree::{Rooted, TreeScratch, tree};
use inselberg_kernels::bound::slices::Whole;
use inselberg_kernels::bound::{Gravity, HaloMembers, MemberColumns, SourceTypes};

const GRAVITY: Gravity = Gravity { g: 1.0, hubble_flow: 0.0 };

fn points_of(members: &HaloMembers) -> Points {
    let mut points = Points::default();
    points.gather(members, &members.all(), SourceTypes::ALL);
    points
}

fn by_tree(members: &HaloMembers) -> Vec<f64> {
    let (points, mut octree, mut potential) = (points_of(members), Octree::default(), Vec::new());
    octree.build(&points, &Whole);
    let all = Rooted { points: &points, tree: &octree };
    tree(all, &GRAVITY, &Whole, &mut TreeScratch::default(), &mut potential);
    potential
}

fn by_pairs(members: &HaloMembers) -> Vec<f64> {
    let mut potential = Vec::new();
    direct(&points_of(members), &GRAVITY, &mut potential);
    potential
}

/// The root mean square and the largest relative error.
pub fn errors(found: &[f64], exact: &[f64]) -> (f64, f64) {
    let error = || found.iter().zip(exact).map(|(found, exact)| found / exact - 1.0);
    let square: f64 = error().map(|e| e * e).sum();
    ((square / exact.len() as f64).sqrt(), error().fold(0.0, |most, e| e.abs().max(most)))
}

fn energy(members: &HaloMembers, potential: &[f64]) -> f64 {
    0.5 * members.columns().mass.iter().zip(potential).map(|(m, phi)| m * phi).sum::<f64>()
}

#[test]
fn the_tree_agrees_with_all_pairs() {
    for (softening, most) in [(0.0, 1e9), (0.02, 1e9), (0.5, 20.0)] {
        let mut columns = plummer(10_000, most, &mut Random::new(1));
        columns.softening.fill(softening);
        let members = members(columns);
        let (rms, most) = errors(&by_tree(&members), &by_pairs(&members));
        println!("softening {softening}: rms {rms:.2e}, largest {most:.2e}");
        // The goals are 5e-4 and 5e-3. Where particles happen to be changes the largest error by half.
        assert!(rms < 3e-4 && most < 3e-3, "softening {softening}: rms {rms}, max {most}");
    }
}

#[test]
fn energies_are_those_of_the_integrals() {
    let pi = std::f64::consts::PI;
    let spheres = [
        ("Plummer", plummer(100_000, 1e9, &mut Random::new(8)), -3.0 * pi / 32.0),
        ("Hernquist", hernquist(100_000, 1e9, &mut Random::new(9)), -1.0 / 6.0),
    ];
    for (name, columns, expected) in spheres {
        let members = members(columns);
        let found = energy(&members, &by_tree(&members));
        assert!((found / expected - 1.0).abs() < 0.005, "{name}: {found}, expected {expected}");
        let mut shells = Vec::new();
        spherical(&members, &members.all(), [0.0; 3], SourceTypes::ALL, &GRAVITY, &mut shells);
        let found = energy(&members, &shells);
        assert!((found / expected - 1.0).abs() < 0.005, "{name}, shells: {found}, expected {expected}");
    }
}

/// The sums over all pairs, written out.
#[test]
fn shells_are_those_of_all_pairs() {
    let members = members(plummer(300, 1e9, &mut Random::new(10)));
    let radius = |i: usize| members.columns().position[i].iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut found = Vec::new();
    spherical(&members, &members.all(), [0.0; 3], SourceTypes::ALL, &GRAVITY, &mut found);
    for (i, found) in found.iter().enumerate() {
        let others = (0..members.len()).filter(|j| *j != i);
        let plain: f64 = others.map(|j| -members.columns().mass[j] / radius(i).max(radius(j))).sum();
        assert!((found / plain - 1.0).abs() < 1e-12);
    }
}

#[test]
fn potentials_do_not_depend_on_the_order_of_the_input() {
    let mut columns = plummer(3000, 1e9, &mut Random::new(11));
    columns.softening.fill(0.01);
    let first = members(columns.clone());
    let reversed = members(MemberColumns {
        position: columns.position.into_iter().rev().collect(),
        velocity: columns.velocity.into_iter().rev().collect(),
        id: columns.id.into_iter().rev().collect(),
        ..columns
    });
    assert_eq!(by_tree(&first), by_tree(&reversed));
}
