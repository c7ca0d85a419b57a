//! Smooth spheres of any density profile that end at a radius, with particles in equilibrium. They hold one
//! object each.

use crate::verify::nfw::{direction, normal};
use crate::verify::random::Random;

/// The shape of a sphere: its density by radius in units of its end, in any units.
pub type Profile = fn(f64) -> f64;

/// Profiles by name. All but the cuspy ones have a flat core, whose peaks are noise.
pub const PROFILES: [(&str, Profile); 4] = [
    ("Plummer", |x| (1.0 + (10.0 * x).powi(2)).powf(-2.5)),
    ("NFW", |x| 1.0 / (x * (1.0 + 10.0 * x).powi(2))),
    ("1/r^2", |x| 1.0 / (x * x)),
    ("cored", |x| 1.0 / (1.0 + (5.0 * x).powi(2))),
];

/// A sphere with its tables by radius. Units are the caller's.
#[derive(Debug, Clone)]
pub struct Sphere {
    radius: f64,
    /// Part of the mass within each tabulated radius.
    within: Vec<f64>,
    /// One-dimensional dispersion of velocities there, and the speed of escape.
    speeds: Vec<[f64; 2]>,
}

/// Radii at which a sphere is tabulated, by equal ratios.
const N_RADII: usize = 1000;

/// The least tabulated radius, as a part of the radius of the sphere.
const LEAST: f64 = 1e-4;

/// The tabulated radius of this number, as a part of the radius of the sphere.
fn tabulated(i: usize) -> f64 {
    LEAST.powf(1.0 - i as f64 / (N_RADII - 1) as f64)
}

impl Sphere {
    /// Of this mass within a radius. `newton` is the constant of gravity. Dispersions are those of Jeans'
    /// equation: sigma² rho is the integral of rho G M / r² from r to the end.
    pub fn new(profile: Profile, mass: f64, radius: f64, newton: f64) -> Self {
        let step = -LEAST.ln() / (N_RADII - 1) as f64;
        let shell = |i: usize| profile(tabulated(i)) * tabulated(i).powi(3) * step;
        let mut within = vec![profile(LEAST) * LEAST.powi(3) / 3.0];
        for i in 1..N_RADII {
            within.push(within[i - 1] + 0.5 * (shell(i - 1) + shell(i)));
        }
        let all = within[N_RADII - 1];
        within.iter_mut().for_each(|part| *part /= all);
        let unit = newton * mass / radius;
        let pull = |i: usize| within[i] / tabulated(i);
        let (mut pressure, mut depth) = (0.0, 1.0);
        let mut speeds = vec![[0.0, (2.0 * unit).sqrt()]; N_RADII];
        for i in (0..N_RADII - 1).rev() {
            let weighted = |i: usize| profile(tabulated(i)) * pull(i);
            pressure += 0.5 * step * (weighted(i) + weighted(i + 1));
            depth += 0.5 * step * (pull(i) + pull(i + 1));
            let sigma2 = unit * pressure / profile(tabulated(i));
            speeds[i] = [sigma2.sqrt(), (2.0 * unit * depth).sqrt()];
        }
        Self { radius, within, speeds }
    }

    /// `n` positions from the centre and velocities: isotropic normal deviates, slower than the speed of
    /// escape.
    pub fn particles(&self, n: usize, random: &mut Random) -> Vec<([f64; 3], [f64; 3])> {
        let particle = |_| {
            let (i, part) = self.place(random.real());
            let r = self.radius * tabulated(i) * (tabulated(i + 1) / tabulated(i)).powf(part);
            let at = |k: usize| self.speeds[i][k] * (1.0 - part) + self.speeds[i + 1][k] * part;
            let velocity = loop {
                let v: [f64; 3] = std::array::from_fn(|_| at(0) * normal(random));
                if v.iter().map(|v| v * v).sum::<f64>().sqrt() < at(1) {
                    break v;
                }
            };
            (direction(random).map(|x| r * x), velocity)
        };
        (0..n).map(particle).collect()
    }

    /// The tabulated radius below that which encloses a part of the mass, and how far beyond it that is.
    fn place(&self, part: f64) -> (usize, f64) {
        let above = self.within.partition_point(|within| *within < part).clamp(1, N_RADII - 1);
        let (low, high) = (self.within[above - 1], self.within[above]);
        (above - 1, ((part - low) / (high - low)).clamp(0.0, 1.0))
    }
}

/// Number of particles that stay bound, all of this mass: from all of them, at most a quarter of those left
/// is removed per pass, those of the highest energies first, in the frame of the mean of those left, until
/// none has a positive one. By all pairs.
pub fn n_bound(particles: &[([f64; 3], [f64; 3])], mass: f64, newton: f64) -> usize {
    let pull = |a: &[f64; 3], b: &[f64; 3]| {
        let d2: f64 = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum();
        if d2 > 0.0 { -newton * mass / d2.sqrt() } else { 0.0 }
    };
    let potential = |x: &[f64; 3]| particles.iter().map(|(y, _)| pull(x, y)).sum::<f64>();
    let mut left: Vec<([f64; 3], [f64; 3], f64)> =
        particles.iter().map(|(x, v)| (*x, *v, potential(x))).collect();
    loop {
        let n = left.len() as f64;
        let mean: [f64; 3] = std::array::from_fn(|k| left.iter().map(|(_, v, _)| v[k]).sum::<f64>() / n);
        let energy = |(_, v, phi): &([f64; 3], [f64; 3], f64)| {
            0.5 * (0..3).map(|k| (v[k] - mean[k]).powi(2)).sum::<f64>() + phi
        };
        left.sort_by(|a, b| energy(a).total_cmp(&energy(b)));
        let n_unbound = left.iter().filter(|particle| energy(particle) >= 0.0).count();
        if n_unbound == 0 {
            return left.len();
        }
        let removed = left.split_off(left.len() - n_unbound.min(left.len().div_ceil(4)));
        for (x, _, phi) in &mut left {
            *phi -= removed.iter().map(|(y, ..)| pull(x, y)).sum::<f64>();
        }
    }
}
