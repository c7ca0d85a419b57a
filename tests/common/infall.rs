//! Subhaloes that fall through their host, with known members.
//!
//! The host is a Plummer sphere whose particles move in its own analytic potential. Each subhalo is a live
//! Plummer sphere in this potential: all pairs of its own particles attract each other. So tides strip it, and
//! nothing else happens to it. Its truth in an output is the self-bound part of its members, by all pairs.

use super::fly_through::{Uniform, plummer};

/// Scale length of the host, whose mass is 1, with G = 1.
const HOST_SCALE: f64 = 0.03;

/// Mass and scale length of each subhalo: ten times as dense as the centre of the host.
const MASS: f64 = 0.03;
const SCALE: f64 = 0.0043;

/// Softening length of forces and potentials.
pub const SOFTENING: f64 = 0.0015;

/// Time per step of the leapfrog.
const STEP: f64 = 2e-4;

/// Place and velocity of a subhalo at the beginning, about the centre of the host.
#[derive(Debug, Clone, Copy)]
pub struct InfallOrbit {
    pub at: [f64; 3],
    pub velocity: [f64; 3],
}

/// Particles of a host and its subhaloes; those of the first subhalo come first, those of the host last.
pub struct Infall {
    /// About the centre of the host.
    pub position: Vec<[f64; 3]>,
    pub velocity: Vec<[f64; 3]>,
    /// Mass of a particle.
    pub mass: f64,
    /// Number of particles of a subhalo.
    pub n_sub: usize,
    /// Which particles of each subhalo are bound to it.
    pub bound: Vec<Vec<bool>>,
}

impl Infall {
    /// Of a host of so many particles.
    pub fn new(n_host: usize, orbits: &[InfallOrbit], real: &mut Uniform) -> Self {
        let (mass, n_sub) = (1.0 / n_host as f64, (MASS * n_host as f64) as usize);
        let (mut position, mut velocity) = (Vec::new(), Vec::new());
        let mut add = |n: usize, of: [f64; 2], orbit: &InfallOrbit| {
            for (x, v) in plummer(n, of[0], of[1], real) {
                position.push(std::array::from_fn(|a| x[a] + orbit.at[a]));
                velocity.push(std::array::from_fn(|a| v[a] + orbit.velocity[a]));
            }
        };
        orbits.iter().for_each(|orbit| add(n_sub, [MASS, SCALE], orbit));
        add(n_host, [1.0, HOST_SCALE], &InfallOrbit { at: [0.0; 3], velocity: [0.0; 3] });
        let bound = vec![vec![true; n_sub]; orbits.len()];
        let mut infall = Self { position, velocity, mass, n_sub, bound };
        infall.find_truth();
        infall
    }

    /// Moves all particles on, and finds what is bound.
    pub fn advance(&mut self, time: f64) {
        let n_steps = (time / STEP).round() as usize;
        let mut force = self.forces();
        for _ in 0..n_steps {
            for ((x, v), a) in self.position.iter_mut().zip(&mut self.velocity).zip(&force) {
                for axis in 0..3 {
                    v[axis] += 0.5 * STEP * a[axis];
                    x[axis] += STEP * v[axis];
                }
            }
            force = self.forces();
            for (v, a) in self.velocity.iter_mut().zip(&force) {
                (0..3).for_each(|axis| v[axis] += 0.5 * STEP * a[axis]);
            }
        }
        self.find_truth();
    }

    fn forces(&self) -> Vec<[f64; 3]> {
        let of_host = |x: &[f64; 3]| {
            let per_length = -(square(x) + HOST_SCALE * HOST_SCALE).powf(-1.5);
            x.map(|x| per_length * x)
        };
        let mut force: Vec<[f64; 3]> = self.position.iter().map(of_host).collect();
        for sub in 0..self.bound.len() {
            let rows = sub * self.n_sub..(sub + 1) * self.n_sub;
            let x = &self.position[rows.clone()];
            let force = &mut force[rows];
            for i in 0..x.len() {
                for j in 0..i {
                    let d = [x[j][0] - x[i][0], x[j][1] - x[i][1], x[j][2] - x[i][2]];
                    let r2 = square(&d) + SOFTENING * SOFTENING;
                    let pull = self.mass / (r2 * r2.sqrt());
                    for axis in 0..3 {
                        force[i][axis] += pull * d[axis];
                        force[j][axis] -= pull * d[axis];
                    }
                }
            }
        }
        force
    }

    /// The members of each subhalo that are bound to those that are bound, beginning with those before.
    fn find_truth(&mut self) {
        for sub in 0..self.bound.len() {
            for _ in 0..30 {
                let next: Vec<bool> = self.energies(sub).iter().map(|energy| *energy < 0.0).collect();
                if next == self.bound[sub] {
                    break;
                }
                self.bound[sub] = next;
            }
        }
    }

    /// The energy of each member of a subhalo per mass, in the frame and the potential of those that are bound.
    pub fn energies(&self, sub: usize) -> Vec<f64> {
        let rows = sub * self.n_sub..(sub + 1) * self.n_sub;
        let (x, v, bound) = (&self.position[rows.clone()], &self.velocity[rows], &self.bound[sub]);
        let held: Vec<usize> = (0..self.n_sub).filter(|i| bound[*i]).collect();
        let mean = |axis: usize| held.iter().map(|i| v[*i][axis]).sum::<f64>() / held.len().max(1) as f64;
        let frame = [mean(0), mean(1), mean(2)];
        let energy = |i: usize| {
            let potential = |j: &usize| {
                let d: [f64; 3] = std::array::from_fn(|a| x[*j][a] - x[i][a]);
                if *j == i { 0.0 } else { -self.mass / (square(&d) + SOFTENING * SOFTENING).sqrt() }
            };
            let speed: [f64; 3] = std::array::from_fn(|a| v[i][a] - frame[a]);
            0.5 * square(&speed) + held.iter().map(potential).sum::<f64>()
        };
        (0..self.n_sub).map(energy).collect()
    }

    /// The bound members of a subhalo, the most bound first.
    pub fn truth(&self, sub: usize) -> Vec<usize> {
        let energy = self.energies(sub);
        let mut held: Vec<usize> = (0..self.n_sub).filter(|i| self.bound[sub][*i]).collect();
        held.sort_by(|a, b| energy[*a].total_cmp(&energy[*b]));
        held.into_iter().map(|i| sub * self.n_sub + i).collect()
    }
}

fn square(x: &[f64; 3]) -> f64 {
    x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
}
