//! A clustered particle box: haloes of NFW profile on a smooth displacement field, and a displaced
//! background. Unit of length: the mean distance of particles, so the box side is N^(1/3).

use super::stream::{Permutation, Purpose, RandomStream};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// The parameters of a particle box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParticleParams {
    /// Number of particles.
    pub number: u64,
    /// Seed.
    pub seed: u64,
}

/// Share of the particles in haloes.
const IN_HALOES: f64 = 0.45;
/// Slope of the halo mass function, dn/dm = m^-SLOPE from `SMALLEST` particles on.
const SLOPE: f64 = 1.9;
const SMALLEST: f64 = 20.0;
/// Halo masses are cut off exponentially here.
const CUTOFF: f64 = 3e4;
/// Number of plane waves of the displacement field and the rms contrast that they make.
const MODES: u64 = 48;
const CONTRAST: f64 = 0.8;
/// Halo centres prefer dense places by exp(BIAS · contrast).
const BIAS: f64 = 1.2;

/// A particle box: tables of its haloes and waves; particles are made on demand.
pub struct ParticleBox {
    params: ParticleParams,
    side: f64,
    modes: Vec<Mode>,
    haloes: Vec<Halo>,
    /// First particle of each halo, and the number of particles in haloes at the end.
    starts: Vec<u64>,
    nfw: NfwTable,
    order: Permutation,
    sites: Permutation,
    sites_per_side: u64,
}

struct Mode {
    k: [f64; 3],
    amplitude: f64,
    phase: f64,
}

struct Halo {
    centre: [f64; 3],
    radius: f64,
    concentration: f64,
    /// Takes the unit sphere to an ellipsoid of the same volume.
    shape: [[f64; 3]; 3],
}

impl ParticleBox {
    /// Lays out the haloes; memory grows with their number, about one in 430 particles.
    pub fn new(params: ParticleParams) -> Self {
        let side = (params.number as f64).cbrt();
        let modes: Vec<Mode> = (0..MODES).map(|i| mode(params.seed, i, side)).collect();
        let masses = masses(params);
        let starts: Vec<u64> = std::iter::once(0)
            .chain(masses.iter().scan(0, |sum, m| {
                *sum += m;
                Some(*sum)
            }))
            .collect();
        let haloes = masses
            .par_iter()
            .enumerate()
            .map(|(i, &m)| halo(params.seed, i as u64, m as f64, side, &modes))
            .collect();
        let sites_per_side = side.ceil() as u64;
        Self {
            params,
            side,
            modes,
            haloes,
            starts,
            nfw: NfwTable::new(),
            order: Permutation::new(params.number, params.seed, Purpose::Order),
            sites: Permutation::new(sites_per_side.pow(3), params.seed, Purpose::Site),
            sites_per_side,
        }
    }

    /// Its parameters.
    pub fn params(&self) -> ParticleParams {
        self.params
    }

    /// Side of the periodic box: the smallest f32 that is not below N^(1/3).
    pub fn side(&self) -> f32 {
        let side = self.side as f32;
        if f64::from(side) < self.side { side.next_up() } else { side }
    }

    /// Number of haloes.
    pub fn n_haloes(&self) -> usize {
        self.haloes.len()
    }

    /// Number of particles in haloes.
    pub fn n_in_haloes(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// Particles of the most massive halo.
    pub fn largest_halo(&self) -> u64 {
        self.starts.get(1).copied().unwrap_or(0)
    }

    /// Position of particle `i`, each component in `[0, side)`; haloes and background are mixed in
    /// random order.
    pub fn position(&self, i: u64) -> [f32; 3] {
        let logical = self.order.image(i);
        let place =
            if logical < self.n_in_haloes() { self.in_halo(logical) } else { self.background(logical) };
        let side = self.side();
        place.map(|x| {
            let x = x.rem_euclid(self.side) as f32;
            if x >= side { 0.0 } else { x }
        })
    }

    fn in_halo(&self, i: u64) -> [f64; 3] {
        let halo = &self.haloes[self.starts.partition_point(|&s| s <= i) - 1];
        let mut stream = RandomStream::new(self.params.seed, Purpose::Particle, i);
        let c = halo.concentration;
        let x = self.nfw.radius(stream.unit() * nfw_mass(c));
        let (r, n) = (x / c * halo.radius, stream.direction());
        [0, 1, 2].map(|a| halo.centre[a] + r * (0..3).map(|b| halo.shape[a][b] * n[b]).sum::<f64>())
    }

    fn background(&self, i: u64) -> [f64; 3] {
        let n = self.sites_per_side;
        let site = self.sites.image(i - self.n_in_haloes());
        let step = self.side / n as f64;
        let q = [site / (n * n), site / n % n, site % n].map(|x| (x as f64 + 0.5) * step);
        displaced(q, &self.modes)
    }
}

fn mode(seed: u64, i: u64, side: f64) -> Mode {
    let mut stream = RandomStream::new(seed, Purpose::Mode, i);
    // Wavelengths from the box down to eight particle distances, even in their logarithm.
    let longest = (side / 8.0).max(1.0);
    let waves = longest.powf(stream.unit());
    let direction = stream.direction();
    let mut n = direction.map(|x| (x * waves).round());
    if n == [0.0; 3] {
        n[(i % 3) as usize] = 1.0;
    }
    let amplitude = CONTRAST * (2.0 / MODES as f64).sqrt();
    Mode { k: n.map(|n| n * TAU / side), amplitude, phase: stream.within(0.0, TAU) }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Zel'dovich displacement: minus its divergence is [`contrast`].
fn displaced(q: [f64; 3], modes: &[Mode]) -> [f64; 3] {
    let mut x = q;
    for m in modes {
        let s = -m.amplitude * (dot(m.k, q) + m.phase).sin() / dot(m.k, m.k);
        (0..3).for_each(|a| x[a] += s * m.k[a]);
    }
    x
}

fn contrast(q: [f64; 3], modes: &[Mode]) -> f64 {
    modes.iter().map(|m| m.amplitude * (dot(m.k, q) + m.phase).cos()).sum()
}

/// Halo masses in particles, falling; together about [`IN_HALOES`] of all.
fn masses(params: ParticleParams) -> Vec<u64> {
    let total = (params.number as f64 * IN_HALOES) as u64;
    let largest = (params.number as f64 / 20.0).min(10.0 * CUTOFF);
    let p = 1.0 - SLOPE;
    let (low, high) = (SMALLEST.powf(p), largest.max(SMALLEST).powf(p));
    let (mut masses, mut sum) = (Vec::new(), 0);
    for i in 0.. {
        let mut stream = RandomStream::new(params.seed, Purpose::HaloMass, i);
        let m = (low + stream.unit() * (high - low)).powf(1.0 / p);
        if stream.unit() >= (-m / CUTOFF).exp() {
            continue;
        }
        sum += m.round() as u64;
        if sum > total {
            break;
        }
        masses.push(m.round() as u64);
    }
    masses.sort_unstable_by(|a, b| b.cmp(a));
    masses
}

fn halo(seed: u64, i: u64, mass: f64, side: f64, modes: &[Mode]) -> Halo {
    let mut stream = RandomStream::new(seed, Purpose::Halo, i);
    let q = loop {
        let q = [stream.unit(), stream.unit(), stream.unit()].map(|u| u * side);
        if stream.unit() < (BIAS * (contrast(q, modes) - 2.5 * CONTRAST)).exp() {
            break q;
        }
    };
    // Overdensity 200.
    let radius = (3.0 * mass / (800.0 * std::f64::consts::PI)).cbrt();
    let scatter = (0.2 * stream.normal()).exp();
    let concentration = (9.0 * (mass / 1e3).powf(-0.1)).clamp(3.0, 20.0) * scatter;
    let axes = [1.0, stream.within(0.6, 1.0), stream.within(0.4, 0.8)];
    let scale = 1.0 / axes.iter().product::<f64>().cbrt();
    let rotation = rotation(&mut stream);
    let shape = rotation.map(|row| [0, 1, 2].map(|b| row[b] * axes[b] * scale));
    Halo { centre: displaced(q, modes), radius, concentration, shape }
}

/// A uniform random rotation, from a random unit quaternion.
fn rotation(stream: &mut RandomStream) -> [[f64; 3]; 3] {
    let q = [stream.normal(), stream.normal(), stream.normal(), stream.normal()];
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [a, b, c, d] = q.map(|x| x / norm);
    [
        [1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
        [2.0 * (b * c + a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d - a * b)],
        [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), 1.0 - 2.0 * (b * b + c * c)],
    ]
}

/// Mass within x scale radii of an NFW halo, up to a factor.
fn nfw_mass(x: f64) -> f64 {
    x.ln_1p() - x / (1.0 + x)
}

/// Inverse of [`nfw_mass`], by interpolation.
struct NfwTable {
    radius: Vec<f64>,
    mass: Vec<f64>,
}

impl NfwTable {
    fn new() -> Self {
        let (n, low, high) = (4096, 1e-4f64, 64.0f64);
        let radius: Vec<f64> = (0..n).map(|i| low * (high / low).powf(i as f64 / (n - 1) as f64)).collect();
        let mass = radius.iter().map(|&x| nfw_mass(x)).collect();
        Self { radius, mass }
    }

    fn radius(&self, mass: f64) -> f64 {
        let i = self.mass.partition_point(|&m| m < mass).clamp(1, self.mass.len() - 1);
        let (m0, m1) = (self.mass[i - 1], self.mass[i]);
        let t = ((mass - m0) / (m1 - m0)).clamp(0.0, 1.0);
        self.radius[i - 1] + t * (self.radius[i] - self.radius[i - 1])
    }
}
