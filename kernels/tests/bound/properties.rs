//! Properties of ideal systems.

use super::samples::{Random, columns, members, nfw_radius};
use inselberg_kernels::bound::mass_profile::{MassProfile, ProfilePoint};
use inselberg_kernels::bound::properties::concentration::{InsideSums, concentration};
use inselberg_kernels::bound::properties::spherical_overdensity::{
    SphereSearch, SphericalOverdensity, bryan_norman,
};
use inselberg_kernels::bound::properties::spin::{inside, spin_bullock};
use inselberg_kernels::bound::properties::symmetric::principal_axes;
use inselberg_kernels::bound::properties::{
    Component, bound_properties, circular_velocity, half_mass, inertia,
};
use inselberg_kernels::bound::radial::RadialMembers;
use inselberg_kernels::bound::slices::Whole;
use inselberg_kernels::bound::unbind::BoundMembers;
use inselberg_kernels::bound::{Gravity, HaloMembers};
use std::f64::consts::PI;

const GRAVITY: Gravity = Gravity { g: 1.0, hubble_flow: 0.0 };
const OMEGA_MATTER: f64 = 0.3089;

fn is_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, expected {expected}");
}

fn profile(radius: &[f64], mass: &[f64]) -> MassProfile<'static, Whole> {
    let point =
        |(radius, mass): (&f64, &f64)| ProfilePoint { radius: *radius, mass: *mass, particle_type: 1 };
    let Ok(profile) = MassProfile::new(radius.iter().zip(mass).map(point).collect(), 4096, &Whole);
    profile
}

fn search(profile: &MassProfile<Whole>, density: f64) -> SphereSearch {
    let Ok([found]) = profile.spheres([density], 0.0);
    found
}

fn found(profile: &MassProfile<Whole>, density: f64) -> SphericalOverdensity {
    match search(profile, density) {
        SphereSearch::Found(sphere) => sphere,
        other => panic!("no sphere: {other:?}"),
    }
}

/// An NFW halo of concentration 10 out to 3 R200, with M200 = R200 = 1. The radii are quantiles, or random.
fn nfw_halo(n: usize, is_random: bool) -> HaloMembers {
    let mut random = Random::new(12);
    let mut quantile = 0.0;
    let mut halo = columns(n, |_| {
        quantile += 1.0;
        let part = if is_random { random.unit() } else { (quantile - 0.5) / n as f64 };
        let r = 0.1 * nfw_radius(30.0, part);
        (random.direction(r), [0.0; 3])
    });
    let total = (31f64.ln() - 30.0 / 31.0) / (11f64.ln() - 10.0 / 11.0);
    halo.mass.fill(total / n as f64);
    members(halo)
}

fn check_nfw(members: &HaloMembers) {
    let all = members.all();
    let order = RadialMembers::new(members, &all, [0.0; 3]);
    let masses: Vec<f64> = order.place.iter().map(|place| members.columns().mass[*place as usize]).collect();
    let enclosed = profile(&order.radius, &masses);
    let density200 = 3.0 / (4.0 * PI);
    let sphere = |factor: f64| found(&enclosed, density200 * factor);
    let (c200, c500) = (sphere(1.0), sphere(2.5));
    is_near(c200.mass, 1.0, 0.005, "M200c");
    is_near(c500.mass / c200.mass, 0.7964, 0.01, "M500c/M200c");
    is_near(c500.radius / c200.radius, 0.6830, 0.01, "R500c/R200c");
    is_near(sphere(OMEGA_MATTER).mass / c200.mass, 1.2719, 0.01, "M200m/M200c");
    let virial = bryan_norman(OMEGA_MATTER);
    is_near(virial, 102.36, 1e-4, "BN98");
    is_near(sphere(virial / 200.0).mass / c200.mass, 1.1539, 0.01, "BN98/M200c");
    for sphere in [c200, c500] {
        let density = if sphere == c200 { density200 } else { 2.5 * density200 };
        is_near(sphere.mass, 4.0 / 3.0 * PI * density * sphere.radius.powi(3), 1e-12, "M of R");
    }
    is_near(c200.concentration().expect("enough members"), 10.10, 0.03, "concentration");
    is_near(c200.inside.of_type[1], c200.inside.mass, 1e-12, "mass of dark matter");
    let mut within: Vec<u32> = order.place[..c200.inside.number as usize].to_vec();
    within.sort_unstable();
    let order = RadialMembers::new(members, &within, [0.0; 3]);
    let Ok(half) = half_mass::half_mass_radii(&order, &Whole);
    is_near(half.of(Component::Total) / c200.radius, 0.3606, 0.01, "half-mass radius");
    assert_eq!(half.of(Component::Gas), 0.0);
    let Ok([softened, unsoftened]) = circular_velocity::maximum(&order, &GRAVITY, &Whole);
    assert_eq!(softened, unsoftened);
    is_near(softened.velocity, 1.2051, 0.01, "V_max/V200");
    is_near(softened.radius / c200.radius, 0.2163, 0.1, "R_max/R200");
}

#[test]
fn an_nfw_halo_has_its_known_masses() {
    check_nfw(&nfw_halo(200_000, false));
}

#[test]
#[ignore = "slow: 1e6 random members"]
fn a_random_nfw_halo_has_its_known_masses() {
    check_nfw(&nfw_halo(1_000_000, true));
}

#[test]
fn spheres_at_the_ends_of_the_profile() {
    let all = profile(&[0.0, 0.0, 2.0, 3.0], &[1.0; 4]);
    // All below: M1 = 3 at 2, and 3 r / 2 = (4π/3) density r³.
    let sphere = found(&all, 3.0 / (4.0 * PI));
    is_near(sphere.radius, 1.5f64.sqrt(), 1e-14, "first interval");
    assert_eq!(sphere.inside.number, 2);
    // Between 2 and 3 the mass is 1 + r.
    let sphere = found(&all, 3.0 / (4.0 * PI) * 0.2);
    is_near(0.2 * sphere.radius.powi(3), 1.0 + sphere.radius, 1e-14, "interval");
    assert_eq!(search(&all, 1e-3), SphereSearch::BeyondPoints);
    assert_eq!(search(&profile(&[0.0, 0.0], &[1.0; 2]), 1.0), SphereSearch::Empty);
    assert_eq!(search(&profile(&[], &[]), 1.0), SphereSearch::Empty);
}

/// The published values: NFW concentrations and the results of the fit.
#[test]
fn concentrations_are_those_of_the_fit() {
    for (c, expected) in [(5.0, 5.06), (10.0, 10.10), (20.0, 20.02)] {
        let n = 20_000;
        let radii = (0..n).map(|i| nfw_radius(c, (f64::from(i) + 0.5) / f64::from(n)) / c);
        let moment = radii.sum::<f64>() / f64::from(n);
        let inside = InsideSums { number: n as u64, mass: 1.0, moment, ..InsideSums::default() };
        is_near(concentration(&inside, 1.0, 1.0).expect("enough"), expected, 0.002, "concentration");
    }
    let few = InsideSums { number: 9, mass: 0.9, moment: 0.45, ..InsideSums::default() };
    assert_eq!(concentration(&few, 1.0, 1.0), None);
}

#[test]
fn a_squeezed_halo_has_its_axes() {
    let mut random = Random::new(13);
    // A rotation from two directions.
    let first = random.direction(1.0);
    let other = random.direction(1.0);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let third = cross(first, other);
    let length = third.iter().map(|x| x * x).sum::<f64>().sqrt();
    let third = third.map(|x| x / length);
    let axes = [first, cross(third, first), third];
    let n = 100_000;
    let halo = members(columns(n, |i| {
        let r = nfw_radius(30.0, (i as f64 + 0.5) / n as f64);
        let d = random.direction(r);
        let d = [d[0], 0.8 * d[1], 0.6 * d[2]];
        (std::array::from_fn(|a| (0..3).map(|k| d[k] * axes[k][a]).sum()), [0.0; 3])
    }));
    let tensors = inertia::tensors_in_sphere(&halo, &halo.all(), [0.0; 3], 10.0);
    for (name, tensor) in [("plain", tensors.plain), ("reduced", tensors.reduced)] {
        let found = principal_axes(tensor.expect("enough members"));
        // Weights by spherical radii make shapes rounder; SOAP's definition has them.
        let expected = if name == "plain" { [(0.8, 0.02), (0.6, 0.02)] } else { [(0.9, 0.1), (0.8, 0.1)] };
        for (k, (ratio, off)) in (1..).zip(expected) {
            let value = (found.value[k] / found.value[0]).sqrt();
            assert!((value - ratio).abs() < off, "{name}: {value}, expected {ratio}");
        }
        for (k, (found, expected)) in found.axis.iter().zip(&axes).enumerate() {
            let cosine: f64 = found.iter().zip(expected).map(|(found, expected)| found * expected).sum();
            assert!(
                cosine.abs() > (2.0 * PI / 180.0).cos(),
                "{name}: axis {k} off by {}",
                cosine.abs().acos()
            );
        }
    }
    let sphere = principal_axes(tensors.plain_in_sphere.expect("enough members"));
    assert!((sphere.value[2] / sphere.value[0]).sqrt() > 0.65, "a sphere makes shapes rounder");
    assert_eq!(
        inertia::tensors_in_sphere(&halo, &halo.all()[..19], [0.0; 3], 100.0),
        inertia::InertiaTensors::default()
    );
}

#[test]
fn a_rotating_sphere_has_its_spins() {
    let (n, omega, sphere_mass, radius) = (100_000, 0.3, 2.0, 3.0);
    let mut random = Random::new(14);
    let mut sphere = columns(n, |_| {
        let r = radius * random.unit().cbrt();
        let d = random.direction(r);
        (d.map(|d| d + 1.0), [-omega * d[1] + 50.0, omega * d[0], 7.0])
    });
    sphere.mass.fill(sphere_mass / n as f64);
    // The most bound one is the centre.
    (sphere.position[0], sphere.velocity[0]) = ([1.0; 3], [50.0, 0.0, 7.0]);
    let sphere = members(sphere);
    let r2 = |x: [f64; 3]| x.iter().map(|x| (x - 1.0) * (x - 1.0)).sum::<f64>();
    let potential: Vec<f64> = sphere
        .columns()
        .position
        .iter()
        .map(|x| -sphere_mass * (3.0 * radius * radius - r2(*x)) / (2.0 * radius * radius * radius))
        .collect();
    let bound = BoundMembers { member: sphere.all(), energy: potential.clone(), potential };
    let found = bound_properties(&sphere, &bound, &GRAVITY).expect("members");
    let total = found.motion.of(Component::Total);
    let expected = 0.4 * sphere_mass * radius * radius * omega;
    is_near(total.angular_momentum[2], expected, 0.01, "angular momentum");
    assert!(total.angular_momentum[0].abs() < 0.01 * expected);
    is_near(total.velocity[0], 50.0, 1e-3, "velocity");
    let circular = (sphere_mass / radius).sqrt();
    is_near(found.maximum_circular_velocity.velocity, circular, 0.01, "V_max");
    let spin = expected / (2f64.sqrt() * sphere_mass * circular * radius);
    is_near(found.spin_parameter, spin, 0.01, "SOAP's spin");
    let all = inside(&sphere, &bound.member, radius, found.halo_centre, total.velocity);
    is_near(spin_bullock(&all, radius, &GRAVITY), spin, 0.01, "Bullock's spin");
    let kinetic = 0.2 * sphere_mass * radius * radius * omega * omega;
    let energy = kinetic - 0.6 * sphere_mass * sphere_mass / radius;
    is_near(found.kinetic_energy, kinetic, 0.01, "kinetic energy");
    is_near(found.potential_energy, -0.6 * sphere_mass * sphere_mass / radius, 0.01, "potential energy");
    is_near(
        found.spin_peebles,
        expected * energy.abs().sqrt() / sphere_mass.powf(2.5),
        0.01,
        "Peebles's spin",
    );
    // v_x = -Ω y: a fifth of R² Ω² in x and y.
    let dispersion = total.dispersion;
    is_near(dispersion[0], 0.2 * radius * radius * omega * omega, 0.01, "dispersion");
    assert!(dispersion[2].abs() < 1e-9);
}

/// Every sum against one that is written out, on members of several types with expansion.
#[test]
fn sums_are_those_of_plain_loops() {
    let mut random = Random::new(15);
    let mut halo = columns(500, |_| (random.normal(2.0), random.normal(30.0)));
    for (i, t) in halo.particle_type.iter_mut().enumerate() {
        *t = [0, 1, 4, 5, 1][i % 5];
    }
    halo.mass = (0..500).map(|i| 1.0 + f64::from(i % 7)).collect();
    halo.internal_energy = (0..500).map(|i| f64::from(i % 11)).collect();
    let halo = members(halo);
    let energy: Vec<f64> = (0..500).map(|i| -1.0 - f64::from(i * 37 % 500)).collect();
    let bound = BoundMembers { member: halo.all(), energy: energy.clone(), potential: energy };
    let gravity = Gravity { g: 2.0, hubble_flow: 3.0 };
    let found = bound_properties(&halo, &bound, &gravity).expect("members");
    let columns = halo.columns();
    let centre = found.halo_centre;
    let deepest = bound.member[bound.deepest(&halo).expect("bound members")];
    assert_eq!(centre, columns.position[deepest as usize]);
    for component in Component::ALL {
        let held: Vec<usize> = (0..500).filter(|i| component.holds(columns.particle_type[*i])).collect();
        let sum = |term: &dyn Fn(usize) -> f64| held.iter().map(|i| columns.mass[*i] * term(*i)).sum::<f64>();
        let mass = sum(&|_| 1.0);
        let motion = found.motion.of(component);
        is_near(motion.mass, mass, 1e-13, "mass");
        let mean: [f64; 3] = std::array::from_fn(|a| sum(&|i| columns.velocity[i][a]) / mass);
        for a in 0..3 {
            is_near(motion.velocity[a], mean[a], 1e-9, "velocity");
            is_near(
                motion.centre_of_mass[a],
                sum(&|i| columns.position[i][a]) / mass,
                1e-9,
                "centre of mass",
            );
            let spread = sum(&|i| (columns.velocity[i][a] - mean[a]).powi(2)) / mass;
            is_near(motion.dispersion[a], spread, 1e-10, "dispersion");
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            let spin = sum(&|i| {
                let d = |a: usize| columns.position[i][a] - centre[a];
                let u = |a: usize| columns.velocity[i][a] - mean[a];
                d(b) * u(c) - d(c) * u(b)
            });
            assert!((motion.angular_momentum[a] - spin).abs() < 1e-9 * mass * 60.0, "angular momentum");
        }
    }
    let kinetic = |component: Component| -> f64 {
        let mean = found.motion.of(component).velocity;
        let held = (0..500).filter(|i| component.holds(columns.particle_type[*i]));
        held.map(|i| {
            let w = |a: usize| columns.velocity[i][a] - mean[a] + 3.0 * (columns.position[i][a] - centre[a]);
            0.5 * columns.mass[i] * (0..3).map(|a| w(a) * w(a)).sum::<f64>()
        })
        .sum()
    };
    is_near(found.kinetic_energy, kinetic(Component::Total), 1e-11, "kinetic energy");
    is_near(found.gas_kinetic_energy, kinetic(Component::Gas), 1e-11, "kinetic energy of the gas");
    let gas = (0..500).filter(|i| columns.particle_type[*i] == 0);
    let thermal: f64 = gas.map(|i| columns.mass[i] * columns.internal_energy[i]).sum();
    is_near(found.gas_thermal_energy, thermal, 1e-12, "thermal energy");
    assert_eq!(found.number, [100, 200, 0, 0, 100, 100, 0, 0]);
    let farthest =
        columns.position.iter().map(|x| (0..3).map(|a| (x[a] - centre[a]).powi(2)).sum::<f64>().sqrt());
    assert_eq!(found.enclose_radius, farthest.fold(0.0, f64::max));
}
