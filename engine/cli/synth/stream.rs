//! Random numbers addressed by (seed, purpose, counter), so that nothing has to be made in order.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// The purpose of a stream; streams of different purposes are independent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Clump = 1,
    OctNoise,
    Mode,
    HaloMass,
    Halo,
    Particle,
    Order,
    Site,
    /// The evolution of a halo of a series in a step.
    Fate,
    /// The view of a halo of a series by a finder.
    Sight,
    /// Identities of the particles of a series.
    Identity,
}

/// One stream of random numbers.
pub(super) struct RandomStream(Pcg64);

impl RandomStream {
    pub(super) fn new(seed: u64, purpose: Purpose, counter: u64) -> Self {
        let start = hash(seed, purpose, counter);
        Self(Pcg64::new(u128::from(start) << 64 | u128::from(mix(start)), u128::from(counter)))
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub(super) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Of mean 0 and variance 1, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Whether something of this chance happens.
    pub(super) fn happens(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }

    /// A unit vector, uniform on the sphere.
    pub(super) fn direction(&mut self) -> [f64; 3] {
        let z = self.within(-1.0, 1.0);
        let (sin, cos) = self.within(0.0, std::f64::consts::TAU).sin_cos();
        let s = (1.0 - z * z).max(0.0).sqrt();
        [s * cos, s * sin, z]
    }
}

/// 64 well-mixed bits of (seed, purpose, counter).
pub(super) fn hash(seed: u64, purpose: Purpose, counter: u64) -> u64 {
    mix(mix(seed ^ (purpose as u64) << 56).wrapping_add(counter.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
pub(super) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A random permutation of `0..n` that is evaluated one place at a time: a Feistel network on the
/// next even number of bits, walked until it lands inside.
pub(super) struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    pub(super) fn new(n: u64, seed: u64, purpose: Purpose) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let keys = [0, 1, 2, 3].map(|round| hash(seed, purpose, round));
        Self { n, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// The new place of `i` among `0..n`.
    pub(super) fn image(&self, i: u64) -> u64 {
        let mut x = self.scramble(i);
        while x >= self.n {
            x = self.scramble(x);
        }
        x
    }

    fn scramble(&self, x: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (x >> self.half_bits, x & mask);
        for key in self.keys {
            (left, right) = (right, left ^ mix(right ^ key) & mask);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_hits_every_place_once() {
        for n in [1u64, 2, 3, 17, 64, 1000] {
            let p = Permutation::new(n, 7, Purpose::Order);
            let mut seen: Vec<u64> = (0..n).map(|i| p.image(i)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }
}
