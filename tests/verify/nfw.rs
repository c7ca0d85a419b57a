//! Haloes of NFW profile that end at a radius, with particles in equilibrium.

use crate::verify::random::Random;
use std::f64::consts::TAU;

/// A halo of NFW profile. Units are the caller's.
#[derive(Debug, Clone, Copy)]
pub struct NfwHalo {
    /// Mass within the radius, which is all of it.
    pub mass: f64,
    /// Radius at which it ends.
    pub radius: f64,
    /// Scale radius.
    pub scale: f64,
    /// The constant of gravity.
    pub newton: f64,
}

/// Radii at which velocity dispersions are tabulated, by equal ratios.
const N_RADII: usize = 400;

/// The least tabulated radius, as a part of the scale radius.
const LEAST: f64 = 1e-5;

fn mass_within(x: f64) -> f64 {
    x.ln_1p() - x / (1.0 + x)
}

impl NfwHalo {
    /// The mass within a radius.
    pub fn enclosed(&self, r: f64) -> f64 {
        self.mass * mass_within(r.min(self.radius) / self.scale) / mass_within(self.radius / self.scale)
    }

    /// The density at a radius within the end.
    pub fn density(&self, r: f64) -> f64 {
        let x = r / self.scale;
        let of_unit = 1.0 / (x * (1.0 + x).powi(2));
        of_unit * self.mass / (2.0 * TAU * self.scale.powi(3) * mass_within(self.radius / self.scale))
    }

    /// The greatest circular velocity.
    pub fn maximum_circular_velocity(&self) -> f64 {
        let speed2 = |i: usize| {
            let r = self.radius * i as f64 / 2000.0;
            self.newton * self.enclosed(r) / r
        };
        (1..=2000).map(speed2).fold(0.0, f64::max).sqrt()
    }

    /// The speed that leads from a radius to infinity.
    fn escape_speed(&self, r: f64) -> f64 {
        let (x, c) = (r / self.scale, self.radius / self.scale);
        let outer = self.mass / (mass_within(c) * self.scale) * (1.0 / (1.0 + x) - 1.0 / (1.0 + c));
        (2.0 * self.newton * (self.enclosed(r) / r + outer)).sqrt()
    }

    /// `n` positions from the centre and velocities: isotropic normal deviates with the dispersion of Jeans'
    /// equation, slower than the speed of escape.
    pub fn particles(&self, n: usize, random: &mut Random) -> Vec<([f64; 3], [f64; 3])> {
        let dispersions = self.dispersions();
        let particle = |_| {
            let r = self.radius_of(random.real());
            let (sigma, escape) = (dispersions.at(r), self.escape_speed(r));
            let velocity = loop {
                let v = std::array::from_fn(|_| sigma * normal(random));
                if v.iter().map(|v: &f64| v * v).sum::<f64>().sqrt() < escape {
                    break v;
                }
            };
            (direction(random).map(|x| r * x), velocity)
        };
        (0..n).map(particle).collect()
    }

    /// The radius that encloses a part of the mass, by bisection.
    fn radius_of(&self, part: f64) -> f64 {
        let wanted = part * mass_within(self.radius / self.scale);
        let (mut low, mut high) = (0.0, self.radius / self.scale);
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if mass_within(middle) < wanted { low = middle } else { high = middle }
        }
        self.scale * high.max(LEAST)
    }

    /// One-dimensional dispersions: sigma² rho is the integral of rho G M / r² from r to the end.
    fn dispersions(&self) -> Dispersions {
        let least = LEAST * self.scale;
        let step = (self.radius / least).ln() / (N_RADII - 1) as f64;
        let radius = |i: usize| least * (step * i as f64).exp();
        let density = |r: f64| self.scale / r / (1.0 + r / self.scale).powi(2);
        let slope = |i: usize| density(radius(i)) * self.newton * self.enclosed(radius(i)) / radius(i);
        let (mut sigma, mut pressure) = (vec![0.0; N_RADII], 0.0);
        for i in (0..N_RADII - 1).rev() {
            pressure += 0.5 * step * (slope(i) + slope(i + 1));
            sigma[i] = (pressure / density(radius(i))).sqrt();
        }
        Dispersions { least, step, sigma }
    }
}

/// Dispersions at radii of equal ratios.
struct Dispersions {
    least: f64,
    step: f64,
    sigma: Vec<f64>,
}

impl Dispersions {
    fn at(&self, r: f64) -> f64 {
        let place = ((r / self.least).ln() / self.step).clamp(0.0, (N_RADII - 1) as f64);
        let i = (place as usize).min(N_RADII - 2);
        let part = place - i as f64;
        self.sigma[i] * (1.0 - part) + self.sigma[i + 1] * part
    }
}

/// A normal deviate.
pub fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.real()).ln()).sqrt() * (TAU * random.real()).cos()
}

/// A unit vector in any direction.
pub fn direction(random: &mut Random) -> [f64; 3] {
    let (z, angle) = (2.0 * random.real() - 1.0, TAU * random.real());
    let flat = (1.0 - z * z).sqrt();
    [flat * angle.cos(), flat * angle.sin(), z]
}
