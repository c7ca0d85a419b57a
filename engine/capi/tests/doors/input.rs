//! Octs with a field, and particles: as the Rust library takes them, and as text for a host.

use std::fmt::Write;

/// Peaks of the field: place in the unit box, height and width.
const PEAKS: [([f64; 3], f64, f64); 6] = [
    ([0.20, 0.25, 0.30], 40.0, 0.06),
    ([0.34, 0.30, 0.36], 30.0, 0.05),
    ([0.70, 0.60, 0.55], 50.0, 0.07),
    ([0.98, 0.97, 0.50], 35.0, 0.06),
    ([0.60, 0.20, 0.85], 25.0, 0.05),
    ([0.72, 0.28, 0.80], 20.0, 0.05),
];
const DEEPEST: u8 = 5;

fn density(at: [f64; 3]) -> f64 {
    let of_peak = |(centre, height, width): ([f64; 3], f64, f64)| {
        let square: f64 = (0..3)
            .map(|a| {
                let d = (at[a] - centre[a]).abs();
                (d.min(1.0 - d) / width).powi(2)
            })
            .sum();
        height / (1.0 + square).powi(2)
    };
    0.5 + PEAKS.into_iter().map(of_peak).sum::<f64>()
}

/// Octs of a whole octree.
#[derive(Default)]
pub struct Octs {
    pub level: Vec<u8>,
    pub position: Vec<[u32; 3]>,
    pub split: Vec<u8>,
    pub rho: Vec<f64>,
}

impl Octs {
    pub fn new() -> Self {
        let mut octs = Self::default();
        octs.add(1, [0; 3]);
        octs
    }

    fn add(&mut self, level: u8, position: [u32; 3]) {
        let at = self.level.len();
        self.level.push(level);
        self.position.push(position);
        self.split.push(0);
        for c in 0..8 {
            let cell: [u32; 3] = std::array::from_fn(|a| 2 * position[a] + (c >> a & 1));
            let rho = density(cell.map(|x| (f64::from(x) + 0.5) / f64::from(1 << level)));
            self.rho.push(rho);
            if level < 3 || (level < DEEPEST && rho > 5.0) {
                self.split[at] |= 1 << c;
            }
        }
        for c in (0..8).filter(|c| self.split[at] >> c & 1 == 1).collect::<Vec<u32>>() {
            self.add(level + 1, std::array::from_fn(|a| 2 * position[a] + (c >> a & 1)));
        }
    }

    /// The field of the next step of the host.
    pub fn advance(&mut self) {
        for (i, rho) in self.rho.iter_mut().enumerate() {
            *rho *= 1.0 + (i * 7919 % 13) as f64 / 64.0;
        }
    }

    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.level.len());
        for i in 0..self.level.len() {
            let [x, y, z] = self.position[i];
            write!(text, "{} {x} {y} {z} {}", self.level[i], self.split[i]).expect("text");
            self.rho[8 * i..8 * i + 8].iter().for_each(|rho| write!(text, " {rho:?}").expect("text"));
            text.push('\n');
        }
        text
    }
}

/// Particles in clusters of a box of side 2, some slightly outside.
pub fn particles() -> Vec<[f64; 3]> {
    let mut state = 12345_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    let centres = [[0.0, 1.0, 1.0], [1.3, 0.4, 0.7], [0.5, 1.9, 1.99]];
    (0..600).map(|i| std::array::from_fn(|a| centres[i % 3][a] + 0.1 * (random() - 0.5))).collect()
}

/// As text, each with the mass 1.
pub fn particles_text(particles: &[[f64; 3]]) -> String {
    let lines = particles.iter().map(|[x, y, z]| format!("{x:?} {y:?} {z:?} 1\n"));
    format!("{}\n{}", particles.len(), lines.collect::<String>())
}
