//! What is added up over the members of a group, in any order.

use super::{Masses, Particles};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::sum::{FixedSum, Quantum};
use rayon::prelude::*;
use std::cmp::Ordering;

/// The lowest member, from which positions and velocities of the group are counted, and the number of
/// linkable members.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Lowest {
    /// Linkable members.
    pub n: u64,
    /// The lowest ID of these.
    pub id: u64,
    /// Where it is.
    pub position: [f64; 3],
    /// How it moves.
    pub velocity: [f64; 3],
}

impl Lowest {
    /// Nothing yet.
    pub const NONE: Self = Self { n: 0, id: u64::MAX, position: [0.0; 3], velocity: [0.0; 3] };

    /// Whether a member comes before this one: by its ID, then by its position and velocity.
    #[inline(always)]
    pub fn is_after(&self, id: u64, position: [f64; 3], velocity: impl FnOnce() -> [f64; 3]) -> bool {
        let ties = || compare(&position, &self.position).then_with(|| compare(&velocity(), &self.velocity));
        self.n == 0 || id < self.id || id == self.id && ties().is_lt()
    }

    /// Of both.
    pub fn join(&mut self, other: Self) {
        let n = self.n + other.n;
        if other.n > 0 && self.is_after(other.id, other.position, || other.velocity) {
            *self = other;
        }
        self.n = n;
    }
}

/// The order of places, and of velocities.
#[cold]
pub fn compare(a: &[f64; 3], b: &[f64; 3]) -> Ordering {
    let axes = || a.iter().zip(b);
    axes().map(|(a, b)| a.total_cmp(b)).fold(Ordering::Equal, Ordering::then)
}

/// Sums over members.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Sums {
    mass: FixedSum,
    /// Mass times offset from the lowest member.
    moment: [FixedSum; 3],
    /// Mass times velocity, less that of the lowest member.
    momentum: [FixedSum; 3],
    /// Mass times the square of that.
    kinetic: FixedSum,
    /// Members.
    pub size: u64,
    /// Black holes among them.
    pub n_black_holes: u64,
    /// Least offsets.
    low: [f64; 3],
    /// Greatest offsets.
    high: [f64; 3],
    /// The densest gas particle; density NaN: none.
    pub gas_density: f64,
    /// Its ID.
    pub gas_id: u64,
    /// Its position.
    pub gas_position: [f64; 3],
    /// The row that this belongs to.
    pub row: u64,
}

/// In what multiples terms are added; the same on all ranks.
#[derive(Debug, Clone, Copy)]
pub struct Quanta {
    mass: Quantum,
    moment: Quantum,
    momentum: Quantum,
    kinetic: Quantum,
}

impl Quanta {
    /// Collective: for the particles of all ranks, `n` of this one, whose offsets are at most `reach`.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(particles: &Particles, n: usize, reach: f64, comm: &Comm) -> Result<Self, CommError> {
        let greatest = |of: &(dyn Fn(usize) -> f64 + Sync)| {
            let each = (0..n).into_par_iter().with_min_len(1 << 14);
            each.map(of).reduce(|| 0.0, f64::max)
        };
        let mass = match &particles.mass {
            Masses::Same(mass) => mass.abs(),
            Masses::Each(list) => greatest(&|i| list[i].abs()),
        };
        let speed = particles.velocity.as_ref().map_or(0.0, |list| {
            greatest(&|i| list[i].iter().fold(0.0f64, |most, v| most.max(f64::from(v.abs()))))
        });
        let most = comm.all_max(&[mass, speed])?;
        let n = comm.all_reduce_counts(&[n as u64], Reduce::Sum)?[0];
        let (mass, speed) = (most[0], 2.0 * most[1]);
        Ok(Self {
            mass: Quantum::for_terms(mass, n),
            moment: Quantum::for_terms(mass * reach, n),
            momentum: Quantum::for_terms(mass * speed, n),
            kinetic: Quantum::for_terms(3.0 * mass * speed * speed, n),
        })
    }
}

/// What is known of all members: columns of own particles, and the box.
pub struct Members<'a> {
    /// The columns.
    pub particles: &'a Particles,
    /// The quanta.
    pub quanta: &'a Quanta,
    /// The periodic sides, infinite for open boundaries.
    pub sides: [f64; 3],
}

/// The way from `from` to the nearest image of `to` along one axis.
#[inline(always)]
pub fn way(from: f64, to: f64, side: f64) -> f64 {
    let d = to - from;
    let image = if d > 0.0 { d - side } else { d + side };
    if image.abs() < d.abs() { image } else { d }
}

impl Particles {
    /// Velocity of particle `i`; 0 if not known.
    #[inline(always)]
    pub(super) fn velocity_of(&self, i: usize) -> [f64; 3] {
        self.velocity.as_ref().map_or([0.0; 3], |list| list[i].map(f64::from))
    }
}

impl Sums {
    /// Of nothing.
    pub const NONE: Self = Self {
        mass: FixedSum(0),
        moment: [FixedSum(0); 3],
        momentum: [FixedSum(0); 3],
        kinetic: FixedSum(0),
        size: 0,
        n_black_holes: 0,
        low: [f64::INFINITY; 3],
        high: [f64::NEG_INFINITY; 3],
        gas_density: f64::NAN,
        gas_id: 0,
        gas_position: [f64::NAN; 3],
        row: 0,
    };

    /// The same, of a row.
    pub fn of_row(self, row: u64) -> Self {
        Self { row, ..self }
    }

    /// Takes in a member.
    #[inline(always)]
    pub fn add(&mut self, of: &Members, lowest: &Lowest, i: usize, position: [f64; 3]) {
        let (particles, quanta) = (of.particles, of.quanta);
        let mass = particles.mass.get(i);
        let way = |a: usize| way(lowest.position[a], position[a], of.sides[a]);
        let offset = [way(0), way(1), way(2)];
        self.size += 1;
        self.mass += quanta.mass.quantize(mass);
        for (a, &d) in offset.iter().enumerate() {
            self.moment[a] += quanta.moment.quantize(mass * d);
            self.low[a] = self.low[a].min(d);
            self.high[a] = self.high[a].max(d);
        }
        if particles.velocity.is_some() {
            let velocity = particles.velocity_of(i);
            let v = [0, 1, 2].map(|a| velocity[a] - lowest.velocity[a]);
            (0..3).for_each(|a| self.momentum[a] += quanta.momentum.quantize(mass * v[a]));
            self.kinetic += quanta.kinetic.quantize(mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        }
        if let Some(density) = &particles.gas_density
            && !density[i].is_nan()
        {
            self.densest(f64::from(density[i]), particles.id.get(i), position);
        }
        self.n_black_holes += u64::from(particles.is_black_hole.as_ref().is_some_and(|list| list[i]));
    }

    fn densest(&mut self, density: f64, id: u64, position: [f64; 3]) {
        let is_first = self.gas_density.is_nan();
        let is_lower =
            || id < self.gas_id || id == self.gas_id && compare(&position, &self.gas_position).is_lt();
        if is_first || density > self.gas_density || density == self.gas_density && is_lower() {
            (self.gas_density, self.gas_id, self.gas_position) = (density, id, position);
        }
    }

    /// Of both.
    pub fn join(&mut self, other: Self) {
        self.mass += other.mass;
        self.kinetic += other.kinetic;
        self.size += other.size;
        self.n_black_holes += other.n_black_holes;
        for a in 0..3 {
            self.moment[a] += other.moment[a];
            self.momentum[a] += other.momentum[a];
            self.low[a] = self.low[a].min(other.low[a]);
            self.high[a] = self.high[a].max(other.high[a]);
        }
        if !other.gas_density.is_nan() {
            self.densest(other.gas_density, other.gas_id, other.gas_position);
        }
    }

    /// Mass.
    pub fn mass(&self, quanta: &Quanta) -> f64 {
        quanta.mass.value(self.mass)
    }

    /// Centre of mass, the place of the lowest member where there is no mass; in `[0, side)`.
    pub fn centre(&self, quanta: &Quanta, lowest: &Lowest, sides: [f64; 3]) -> [f64; 3] {
        let mass = self.mass(quanta);
        [0, 1, 2].map(|a| {
            let offset = if mass == 0.0 { 0.0 } else { quanta.moment.value(self.moment[a]) / mass };
            let x = lowest.position[a] + offset;
            let x = if sides[a].is_finite() { x.rem_euclid(sides[a]) } else { x };
            if x >= sides[a] { 0.0 } else { x }
        })
    }

    /// Velocity of the centre of mass, and the one-dimensional dispersion about it.
    pub fn motion(&self, quanta: &Quanta, lowest: &Lowest) -> ([f64; 3], f64) {
        let mass = self.mass(quanta);
        let mean = |sum: f64| if mass == 0.0 { 0.0 } else { sum / mass };
        let v = self.momentum.map(|sum| mean(quanta.momentum.value(sum)));
        let square = mean(quanta.kinetic.value(self.kinetic)) - v.iter().map(|v| v * v).sum::<f64>();
        ([0, 1, 2].map(|a| lowest.velocity[a] + v[a]), (square.max(0.0) / 3.0).sqrt())
    }

    /// Sides of the smallest box around the members.
    pub fn extent(&self) -> [f64; 3] {
        [0, 1, 2].map(|a| self.high[a] - self.low[a])
    }
}
