//! Samples of known distributions, with G = 1, total mass 1 and scale length 1.

use inselberg_kernels::bound::{HaloMembers, MemberColumns};
use std::f64::consts::PI;

/// Numbers that look random: splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Between 0 and 1, neither included.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A vector of this length in any direction.
    pub fn direction(&mut self, length: f64) -> [f64; 3] {
        let (z, angle) = (2.0 * self.unit() - 1.0, 2.0 * PI * self.unit());
        let flat = length * (1.0 - z * z).sqrt();
        [flat * angle.cos(), flat * angle.sin(), length * z]
    }

    /// A vector of three normal deviates.
    pub fn normal(&mut self, sigma: f64) -> [f64; 3] {
        let mut one = || (-2.0 * self.unit().ln()).sqrt() * (2.0 * PI * self.unit()).cos() * sigma;
        [one(), one(), one()]
    }
}

/// Columns of `n` members of equal mass 1/n, type 1, without softening; positions and velocities from `each`.
pub fn columns(n: usize, mut each: impl FnMut(usize) -> ([f64; 3], [f64; 3])) -> MemberColumns {
    let (position, velocity) = (0..n).map(&mut each).unzip();
    MemberColumns {
        position,
        velocity,
        mass: vec![1.0 / n as f64; n],
        softening: vec![0.0; n],
        particle_type: vec![1; n],
        internal_energy: vec![],
        id: (0..n as u64).map(|i| i * 0x9e37_79b9 % 0xffff_fffb).collect(),
        former_rank: vec![],
    }
}

pub fn members(columns: MemberColumns) -> HaloMembers {
    HaloMembers::new(columns).expect("members")
}

/// A Plummer sphere in equilibrium with radii below `most`, from its distribution function.
pub fn plummer(n: usize, most: f64, random: &mut Random) -> MemberColumns {
    columns(n, |_| {
        let r = loop {
            let r = (random.unit().powf(-2.0 / 3.0) - 1.0).powf(-0.5);
            if r < most {
                break r;
            }
        };
        let escape = (2.0 / (1.0 + r * r).sqrt()).sqrt();
        let q = loop {
            let (q, height) = (random.unit(), 0.1 * random.unit());
            if height < q * q * (1.0 - q * q).powf(3.5) {
                break q;
            }
        };
        (random.direction(r), random.direction(q * escape))
    })
}

/// A Plummer sphere of `n` members among `n_host` members of a host that pass by, fast and in all directions,
/// within 10 scale lengths.
pub fn clump_in_host(n: usize, n_host: usize, random: &mut Random) -> MemberColumns {
    let clump = plummer(n, 10.0, random);
    let mut all = columns(n + n_host, |i| match clump.position.get(i) {
        Some(x) => (*x, clump.velocity[i]),
        None => {
            let r = 10.0 * random.unit().cbrt();
            let v = random.normal(8.0);
            (random.direction(r), [v[0] + 10.0, v[1], v[2]])
        }
    });
    all.mass.fill(1.0 / n as f64);
    all.softening.fill(0.1);
    all
}

/// A Hernquist sphere in equilibrium with radii below `most`, from its isotropic distribution function
/// (Hernquist 1990, equation 17).
pub fn hernquist(n: usize, most: f64, random: &mut Random) -> MemberColumns {
    columns(n, |_| {
        let r = loop {
            let root = random.unit().sqrt();
            let r = root / (1.0 - root);
            if r < most {
                break r;
            }
        };
        let depth = 1.0 / (1.0 + r);
        let weight = |speed: f64| speed * speed * hernquist_df(depth - 0.5 * speed * speed);
        let escape = (2.0 * depth).sqrt();
        let highest = (1..50).map(|i| weight(escape * f64::from(i) / 50.0)).fold(0.0, f64::max) * 1.2;
        let speed = loop {
            let speed = escape * random.unit();
            if highest * random.unit() < weight(speed) {
                break speed;
            }
        };
        (random.direction(r), random.direction(speed))
    })
}

/// The distribution function at a binding energy, but for a factor.
fn hernquist_df(energy: f64) -> f64 {
    let q = energy.max(0.0).sqrt();
    let q2 = q * q;
    let bracket =
        3.0 * q.asin() + q * (1.0 - q2).sqrt() * (1.0 - 2.0 * q2) * (8.0 * q2 * q2 - 8.0 * q2 - 3.0);
    bracket / (1.0 - q2).powf(2.5)
}

/// Mass of a Navarro, Frenk and White halo within x scale radii, but for a factor.
fn nfw_mass(x: f64) -> f64 {
    x.ln_1p() - x / (1.0 + x)
}

/// The radius in scale radii within which a part of the mass within `most` lies.
pub fn nfw_radius(most: f64, part: f64) -> f64 {
    let wanted = nfw_mass(most) * part;
    let (mut low, mut high) = (0.0, most);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if nfw_mass(middle) < wanted { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
