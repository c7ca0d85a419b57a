//! Sums over the members of a group, which do not depend on their order.

use super::Particles;
use crate::particles::Masses;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::geom::fold;
use inselberg_kernels::sum::{FixedSum, Quantum};
use rayon::prelude::*;
use std::cmp::Ordering;

/// The lowest member of a group, to which positions and velocities are relative, and the number of linkable
/// members.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Lowest {
    /// Number of linkable members.
    pub n: u64,
    /// The lowest ID of a linkable member.
    pub id: u64,
    /// The position of that member.
    pub position: [f64; 3],
    /// The velocity of that member.
    pub velocity: [f64; 3],
}

impl Lowest {
    /// No members.
    pub const NONE: Self = Self { n: 0, id: u64::MAX, position: [0.0; 3], velocity: [0.0; 3] };

    /// Whether another member precedes this one: by ID, then by position, then by velocity.
    #[inline(always)]
    pub fn is_after(&self, id: u64, position: [f64; 3], velocity: impl FnOnce() -> [f64; 3]) -> bool {
        let ties = || compare(&position, &self.position).then_with(|| compare(&velocity(), &self.velocity));
        self.n == 0 || id < self.id || id == self.id && ties().is_lt()
    }

    /// Adds the members of `other`.
    pub fn join(&mut self, other: Self) {
        let n = self.n + other.n;
        if other.n > 0 && self.is_after(other.id, other.position, || other.velocity) {
            *self = other;
        }
        self.n = n;
    }
}

/// The lexicographic order of positions, and of velocities.
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
    /// Mass times velocity relative to the lowest member.
    momentum: [FixedSum; 3],
    /// Mass times the square of that velocity.
    kinetic: FixedSum,
    /// Number of members.
    pub size: u64,
    /// Number of black holes.
    pub n_black_holes: u64,
    /// Least offsets from the lowest member.
    low: [f64; 3],
    /// Greatest offsets.
    high: [f64; 3],
    /// Density of the densest gas particle; NaN: there is none.
    pub gas_density: f64,
    /// Its ID.
    pub gas_id: u64,
    /// Its position.
    pub gas_position: [f64; 3],
    /// The ID of the group, when sums are sent.
    pub row: u64,
}

/// The quanta of the sums; the same on all ranks.
#[derive(Debug, Clone, Copy)]
pub struct Quanta {
    mass: Quantum,
    moment: Quantum,
    momentum: Quantum,
    kinetic: Quantum,
}

impl Quanta {
    /// Collective: quanta for the particles of all ranks, `n` of them on this one, with offsets of at most
    /// `reach`. Two reductions.
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
        // Without velocities, no momentum is added.
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

/// The columns of own particles, the quanta and the box, from which members are added.
pub struct Members<'a> {
    /// The columns.
    pub particles: &'a Particles,
    /// The quanta.
    pub quanta: &'a Quanta,
    /// The periodic sides, infinite for open boundaries.
    pub sides: [f64; 3],
}

/// The offset from `from` to the nearest image of `to` along one axis. Of two images at half a side, `to`
/// itself counts; `Domain::displacement` takes the positive one.
#[inline(always)]
fn offset(from: f64, to: f64, side: f64) -> f64 {
    let d = to - from;
    let image = if d > 0.0 { d - side } else { d + side };
    if image.abs() < d.abs() { image } else { d }
}

impl Particles {
    /// Velocity of particle `i`; 0 if velocities are not known, which only takes part in comparisons.
    #[inline(always)]
    pub(super) fn velocity_of(&self, i: usize) -> [f64; 3] {
        self.velocity.as_ref().map_or([0.0; 3], |list| list[i].map(f64::from))
    }
}

impl Sums {
    /// No members.
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

    /// The same sums, marked with the group `row`.
    pub fn of_row(self, row: u64) -> Self {
        Self { row, ..self }
    }

    /// Adds member `i` at `position`.
    #[inline(always)]
    pub fn add(&mut self, of: &Members, lowest: &Lowest, i: usize, position: [f64; 3]) {
        let (particles, quanta) = (of.particles, of.quanta);
        let mass = particles.mass.get(i);
        let along = |a: usize| offset(lowest.position[a], position[a], of.sides[a]);
        let offset = [along(0), along(1), along(2)];
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

    /// Adds the members of `other`.
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

    /// The mass of all members.
    pub fn mass(&self, quanta: &Quanta) -> f64 {
        quanta.mass.value(self.mass)
    }

    /// Centre of mass, in `[0, side)` along periodic axes; without mass, the position of the lowest member.
    pub fn centre(&self, quanta: &Quanta, lowest: &Lowest, sides: [f64; 3]) -> [f64; 3] {
        let mass = self.mass(quanta);
        [0, 1, 2].map(|a| {
            let offset = if mass == 0.0 { 0.0 } else { quanta.moment.value(self.moment[a]) / mass };
            let x = lowest.position[a] + offset;
            if sides[a].is_finite() { fold(x, sides[a]) } else { x }
        })
    }

    /// Velocity of the centre of mass, and the one-dimensional velocity dispersion about it.
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
