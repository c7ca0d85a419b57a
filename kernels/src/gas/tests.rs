//! Gas of ideal clouds, and plain sums over few cells.

use super::cube::SELF_ENERGY;
use super::*;

const G: f64 = 4.5;
const GAMMA: f64 = 1.4;

fn found(cells: &[GasCell], newton: f64) -> GasProperties {
    let members = GasMembers::new(cells).expect("cells");
    let list: Vec<u32> = (0..cells.len() as u32).collect();
    let rules = GasRules { newton, adiabatic_index: GAMMA };
    gas_properties(&members, &list, &rules, &mut GasScratch::default())
}

fn assert_near(found: f64, expected: f64, part: f64, what: &str) {
    assert!((found - expected).abs() <= part * expected.abs(), "{what}: {found}, expected {expected}");
}

/// Numbers between -1 and 1 that follow from a seed.
fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Cells of a uniform ellipsoid with these semi-axes in cells. Velocities alternate, so they have no bulk.
fn ellipsoid(axes: [f64; 3]) -> Vec<GasCell> {
    let reach = axes.map(|axis| axis as i32 + 1);
    let mut cells = Vec::new();
    for i in -reach[0]..reach[0] {
        for j in -reach[1]..reach[1] {
            for k in -reach[2]..reach[2] {
                let position = [i, j, k].map(|n| f64::from(n) + 0.5);
                if (0..3).map(|a| (position[a] / axes[a]).powi(2)).sum::<f64>() < 1.0 {
                    let sign = f64::from(1 - 2 * ((i + j + k) & 1));
                    let velocity = [2.0, 1.0, -1.5].map(|v| 3.0 + sign * v);
                    cells.push(GasCell {
                        position,
                        side: 1.0,
                        velocity,
                        mass: 0.5,
                        pressure: 7.0,
                        magnetic: 2.5,
                    });
                }
            }
        }
    }
    cells
}

/// The mean inverse distance of points of a cube in closed form, and by cutting the cube: points err where
/// cubes touch, at 3 n² (n - 1) faces.
#[test]
fn a_cube_has_its_known_energy() {
    let root = f64::sqrt;
    let closed =
        (1.0 + root(2.0) - 2.0 * root(3.0)) / 5.0 - PI / 3.0 + ((1.0 + root(2.0)) * (2.0 + root(3.0))).ln();
    assert_near(SELF_ENERGY, closed, 1e-14, "closed form");
    for n in [2, 4, 8] {
        let place = |i: i32| f64::from(i) / f64::from(n);
        let cut = (0..n * n * n).map(|i| [place(i % n), place(i / n % n), place(i / n / n)]);
        let cell =
            |position| GasCell { position, side: place(1), mass: place(1).powi(3), ..GasCell::default() };
        let cells: Vec<GasCell> = cut.map(cell).collect();
        assert_near(
            found(&cells, 1.0).potential_energy,
            -SELF_ENERGY,
            0.07 * f64::from(n - 1) / f64::from(n).powi(3),
            "cut",
        );
    }
}

/// W = -3/5 G M² / R; then the virial parameter is the virial ratio.
#[test]
fn a_uniform_sphere_is_known() {
    let cells = ellipsoid([12.0; 3]);
    let (n, gas) = (cells.len() as f64, found(&cells, G));
    assert_eq!(gas.number, cells.len() as u64);
    assert_near(gas.mass, 0.5 * n, 1e-12, "mass");
    assert_near(gas.volume, n, 1e-12, "volume");
    assert_near(gas.radius, 12.0, 0.003, "radius");
    assert_near(gas.potential_energy, -0.6 * G * gas.mass.powi(2) / gas.radius, 0.002, "W");
    assert_near(gas.half_mass_radius, gas.radius * 0.5f64.cbrt(), 0.005, "half-mass radius");
    assert_near(gas.velocity_dispersion, (7.25f64 / 3.0).sqrt(), 1e-9, "dispersion");
    assert_near(gas.turbulent_energy, 0.5 * gas.mass * 7.25, 1e-9, "K");
    assert_near(gas.thermal_energy, 7.0 * n / 0.4, 1e-12, "U");
    assert_near(gas.sound_speed, (7.0f64 / 0.5).sqrt(), 1e-12, "sound speed");
    assert_near(gas.magnetic_energy, 2.5 * n, 1e-12, "E_B");
    assert_near(gas.virial_parameter, gas.virial_ratio, 0.003, "virial parameter");
    let total = (2.0 * gas.turbulent_energy + 21.0 * n + 2.5 * n) / -gas.potential_energy;
    assert_near(gas.total_virial_ratio, total, 1e-12, "total virial ratio");
    assert_near(gas.free_fall_time, (3.0 * PI / (32.0 * G * 0.5)).sqrt(), 1e-9, "free-fall time");
    assert_near(gas.b_over_a, 1.0, 1e-9, "b/a");
    assert_near(gas.c_over_a, 1.0, 1e-9, "c/a");
    assert!(gas.centre_of_mass.iter().all(|x| x.abs() < 1e-9));
    assert!(gas.velocity.iter().all(|v| (v - 3.0).abs() < 1e-9));
}

#[test]
fn axes_of_an_ellipsoid_are_known() {
    let gas = found(&ellipsoid([20.0, 6.0, 12.0]), G);
    assert_near(gas.b_over_a, 0.6, 0.025, "b/a");
    assert_near(gas.c_over_a, 0.3, 0.025, "c/a");
}

#[test]
fn one_cell_is_a_cube() {
    let cell = GasCell { position: [3.0, 1.0, 2.0], side: 0.25, mass: 6.0, ..GasCell::default() };
    let gas = found(&[cell], G);
    assert_near(gas.potential_energy, -SELF_ENERGY * G * 36.0 / 0.25, 1e-14, "W");
    assert_eq!((gas.b_over_a, gas.c_over_a, gas.velocity_dispersion), (1.0, 1.0, 0.0));
    assert_eq!(gas.centre_of_mass, cell.position);
    // Half of a cube is in the sphere of this radius, which does not reach its sides.
    assert_near(gas.half_mass_radius, 0.25 * (3.0 / (8.0 * PI)).cbrt(), 0.03, "half-mass radius");
}

#[test]
fn nothing_that_needs_gravity_is_made_up() {
    let gas = found(&ellipsoid([3.0; 3]), 0.0);
    assert!(gas.thermal_energy > 0.0 && gas.velocity_dispersion > 0.0);
    let of_gravity = [
        gas.potential_energy,
        gas.virial_parameter,
        gas.virial_ratio,
        gas.total_virial_ratio,
        gas.free_fall_time,
    ];
    assert_eq!(of_gravity, [0.0; 5]);
    assert_eq!(found(&[], G), GasProperties::default());
}

/// Cells of two sizes at random places of a lattice, without a cell twice.
fn lattice(n: usize, seed: u64) -> Vec<GasCell> {
    let mut seed = seed;
    let mut random = || random(&mut seed);
    let cell = |i: usize| {
        let side = if i.is_multiple_of(3) { 1.0 } else { 0.5 };
        GasCell {
            position: [i % 17, i / 17 % 13, i / 221].map(|x| 1.25 * x as f64 + side),
            side,
            velocity: std::array::from_fn(|_| random() * 5.0 + 2.0),
            mass: 1.5 + random(),
            pressure: 2.0 + random(),
            magnetic: 1.0 + random(),
        }
    };
    (0..n).map(cell).collect()
}

/// All pairs, and sums in the order of the cells.
#[test]
fn random_cells_are_as_plain_sums() {
    for n in [1, 2, 3, 20, 63, 64, 65, 700, 3000] {
        let cells = lattice(n, n as u64);
        let gas = found(&cells, G);
        let mass: f64 = cells.iter().map(|c| c.mass).sum();
        let mean = |of: &dyn Fn(&GasCell) -> f64| cells.iter().map(|c| c.mass * of(c)).sum::<f64>() / mass;
        let v: [f64; 3] = std::array::from_fn(|a| mean(&|c| c.velocity[a]));
        let v2 = mean(&|c| (0..3).map(|a| (c.velocity[a] - v[a]).powi(2)).sum());
        let volume: f64 = cells.iter().map(|c| c.side.powi(3)).sum();
        let mut potential = 0.0;
        for (i, a) in cells.iter().enumerate() {
            potential -= SELF_ENERGY * G * a.mass.powi(2) / a.side;
            for b in &cells[..i] {
                let r2: f64 = (0..3).map(|k| (a.position[k] - b.position[k]).powi(2)).sum();
                potential -= G * a.mass * b.mass / r2.sqrt();
            }
        }
        let what = format!("{n} cells");
        assert_near(gas.mass, mass, 1e-12, &what);
        assert_near(gas.volume, volume, 1e-12, &what);
        assert_near(gas.radius, (volume / (4.0 / 3.0 * PI)).cbrt(), 1e-12, &what);
        assert_near(gas.turbulent_energy, 0.5 * mass * v2, 1e-9, &what);
        assert_near(gas.velocity_dispersion, (v2 / 3.0).sqrt(), 1e-9, &what);
        assert_near(gas.potential_energy, potential, 1e-4, &what);
        let thermal: f64 = cells.iter().map(|c| c.pressure * c.side.powi(3) / (GAMMA - 1.0)).sum();
        assert_near(gas.thermal_energy, thermal, 1e-12, &what);
        let magnetic: f64 = cells.iter().map(|c| c.magnetic * c.side.powi(3)).sum();
        assert_near(gas.magnetic_energy, magnetic, 1e-12, &what);
        let reversed: Vec<GasCell> = cells.into_iter().rev().collect();
        assert_eq!(found(&reversed, G), gas, "{what} in another order");
    }
}

#[test]
fn clumps_hold_the_cells_of_clumps_in_them() {
    let members = GasMembers::new(&lattice(8, 1)).expect("cells");
    // 0 holds 1 and 3, and 1 holds 2.
    let (clump_of, parent) = ([0, 1, 2, 3, 0, 1, 2, 3], [None, Some(0), Some(1), Some(0)]);
    let lists = NestedLists::new(&members, &clump_of, &parent).expect("a tree");
    assert_eq!(lists.own, [vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]]);
    assert_eq!(lists.inclusive(0), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(lists.inclusive(1), [1, 2, 5, 6]);
    assert_eq!(lists.inclusive(2), [2, 6]);
    assert_eq!(lists.inclusive[2..], [None, None]);
    let circle = NestedLists::new(&members, &clump_of, &[Some(1), Some(0), None, None]);
    assert!(circle.is_err());
}
