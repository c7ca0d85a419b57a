//! Sums: one pass over the members gives masses, means, dispersions, angular momenta and the kinetic energy.
//!
//! Positions are relative to the centre, velocities to that of the most bound member, so that products lose
//! few bits. With d and u for these and bars for mass-weighted means of one component:
//!
//! ```text
//!     dispersion        sum m u u / M - ū ū                          xx, yy, zz, xy, xz, yz
//!     angular momentum  sum m d × u - (sum m d) × ū                  = sum m d × (v - v̄), without Hubble flow
//!     kinetic energy    ½ sum m |u + H d - ū|²
//! ```

use super::super::Gravity;
use super::super::members::{HaloMembers, N_TYPES};
use super::super::slices::{BlockSums, HaloBounds, Slices, greatest};
use super::super::unbind::BoundMembers;
use super::{ByComponent, Component};
use crate::loops::most_of;
use std::ops::Range;

/// Sums by type about a member.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionSums {
    types: [TypeSums; N_TYPES],
    centre: [f64; 3],
    velocity: [f64; 3],
}

/// The mean motion of one component. All 0 without mass.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motions {
    /// Mass.
    pub mass: f64,
    /// Centre of mass.
    pub centre_of_mass: [f64; 3],
    /// Velocity of the centre of mass.
    pub velocity: [f64; 3],
    /// Velocity dispersion matrix about that velocity: xx, yy, zz, xy, xz, yz. The one-dimensional dispersion
    /// is the root of a third of its trace.
    pub dispersion: [f64; 6],
    /// Angular momentum about the centre, in the frame of that velocity.
    pub angular_momentum: [f64; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct TypeSums {
    number: u64,
    mass: f64,
    position: [f64; 3],
    velocity: [f64; 3],
    velocity2: [f64; 6],
    spin: [f64; 3],
    position2: f64,
    expansion: f64,
}

/// Number of real sums per type.
const N_SUMS: usize = 18;

impl TypeSums {
    /// The real sums, one after the other.
    fn reals(&self) -> [f64; N_SUMS] {
        let ([x, y, z], [u, v, w], [l, m, n]) = (self.position, self.velocity, self.spin);
        let [xx, yy, zz, xy, xz, yz] = self.velocity2;
        let (position2, expansion) = (self.position2, self.expansion);
        [self.mass, x, y, z, u, v, w, xx, yy, zz, xy, xz, yz, l, m, n, position2, expansion]
    }

    /// From the real sums, one after the other.
    fn from_reals(number: u64, reals: [f64; N_SUMS]) -> Self {
        let [mass, x, y, z, u, v, w, xx, yy, zz, xy, xz, yz, l, m, n, position2, expansion] = reals;
        Self {
            number,
            mass,
            position: [x, y, z],
            velocity: [u, v, w],
            velocity2: [xx, yy, zz, xy, xz, yz],
            spin: [l, m, n],
            position2,
            expansion,
        }
    }

    /// Upper bounds of the terms of one member.
    fn most(bounds: &HaloBounds) -> [f64; N_SUMS] {
        let (mass, d, u) = (bounds.mass, 2.0 * bounds.reach, 2.0 * bounds.speed);
        let vector = |most: f64| [most; 3];
        let most = Self {
            number: 0,
            mass,
            position: vector(mass * d),
            velocity: vector(mass * u),
            velocity2: [mass * u * u; 6],
            spin: vector(2.0 * mass * d * u),
            position2: 3.0 * mass * d * d,
            expansion: 3.0 * mass * d * u,
        };
        most.reals()
    }

    #[inline(always)]
    fn add(&mut self, mass: f64, d: [f64; 3], u: [f64; 3]) {
        let squares = [u[0] * u[0], u[1] * u[1], u[2] * u[2], u[0] * u[1], u[0] * u[2], u[1] * u[2]];
        let spin = cross(d, u);
        self.number += 1;
        self.mass += mass;
        (0..3).for_each(|a| self.position[a] += mass * d[a]);
        (0..3).for_each(|a| self.velocity[a] += mass * u[a]);
        (0..3).for_each(|a| self.spin[a] += mass * spin[a]);
        (0..6).for_each(|i| self.velocity2[i] += mass * squares[i]);
        self.position2 += mass * dot(d, d);
        self.expansion += mass * dot(d, u);
    }

    fn merge(&mut self, other: &Self) {
        self.number += other.number;
        self.mass += other.mass;
        (0..3).for_each(|a| self.position[a] += other.position[a]);
        (0..3).for_each(|a| self.velocity[a] += other.velocity[a]);
        (0..3).for_each(|a| self.spin[a] += other.spin[a]);
        (0..6).for_each(|i| self.velocity2[i] += other.velocity2[i]);
        self.position2 += other.position2;
        self.expansion += other.expansion;
    }
}

impl MotionSums {
    /// The sums over the listed members of all slices about a centre, in a frame.
    pub(super) fn new<S: Slices>(
        members: &HaloMembers,
        list: &[u32],
        centre: [f64; 3],
        velocity: [f64; 3],
        slices: &S,
    ) -> Result<Self, S::Error> {
        let (columns, bounds) = (members.columns(), members.bounds());
        let mut sums = [BlockSums::new(bounds, TypeSums::most(bounds)); N_TYPES];
        let mut number = [0u64; N_TYPES];
        let runs: Vec<Range<usize>> = members.runs(list).collect();
        let of_block = |i: usize| {
            let mut types = [TypeSums::default(); N_TYPES];
            for member in list[runs[i].clone()].iter().map(|member| *member as usize) {
                let d = minus(columns.position[member], centre);
                let u = minus(columns.velocity[member], velocity);
                types[usize::from(columns.particle_type[member])].add(columns.mass[member], d, u);
            }
            types
        };
        for types in slices.each(runs.len(), of_block) {
            for (t, block) in types.iter().enumerate().filter(|(_, block)| block.number > 0) {
                number[t] += block.number;
                sums[t].add(block.reals());
            }
        }
        let number = slices.add(&number)?;
        let mut types = [TypeSums::default(); N_TYPES];
        for t in (0..N_TYPES).filter(|t| number[*t] > 0) {
            types[t] = TypeSums::from_reals(number[t], sums[t].over(slices)?);
        }
        Ok(Self { types, centre, velocity })
    }

    /// Mass by type.
    pub fn mass(&self) -> [f64; N_TYPES] {
        self.types.map(|sums| sums.mass)
    }

    /// Number of members by type.
    pub fn number(&self) -> [u64; N_TYPES] {
        self.types.map(|sums| sums.number)
    }

    /// The mean motions of all components.
    pub fn motions(&self) -> ByComponent<Motions> {
        ByComponent(Component::ALL.map(|component| self.motion(&self.of(component))))
    }

    /// The kinetic energy of a component in the frame of its mean velocity, with the Hubble flow about the
    /// centre.
    pub fn kinetic_energy(&self, component: Component, gravity: &Gravity) -> f64 {
        let all = self.of(component);
        if all.mass == 0.0 {
            return 0.0;
        }
        let flow = gravity.hubble_flow;
        let mean = all.velocity.map(|sum| sum / all.mass);
        let moving: [f64; 3] = std::array::from_fn(|a| all.velocity[a] + flow * all.position[a]);
        let squares = all.velocity2[0] + all.velocity2[1] + all.velocity2[2];
        let in_frame = squares + flow * (2.0 * all.expansion + flow * all.position2);
        0.5 * (in_frame - 2.0 * dot(mean, moving) + all.mass * dot(mean, mean))
    }

    fn of(&self, component: Component) -> TypeSums {
        let mut all = TypeSums::default();
        (0..).zip(&self.types).filter(|(t, _)| component.holds(*t)).for_each(|(_, sums)| all.merge(sums));
        all
    }

    fn motion(&self, sums: &TypeSums) -> Motions {
        if sums.mass == 0.0 {
            return Motions::default();
        }
        let (shift, mean) = (sums.position.map(|x| x / sums.mass), sums.velocity.map(|v| v / sums.mass));
        let products = [
            mean[0] * mean[0],
            mean[1] * mean[1],
            mean[2] * mean[2],
            mean[0] * mean[1],
            mean[0] * mean[2],
            mean[1] * mean[2],
        ];
        Motions {
            mass: sums.mass,
            centre_of_mass: std::array::from_fn(|a| self.centre[a] + shift[a]),
            velocity: std::array::from_fn(|a| self.velocity[a] + mean[a]),
            dispersion: std::array::from_fn(|i| sums.velocity2[i] / sums.mass - products[i]),
            angular_momentum: minus(sums.spin, cross(sums.position, mean)),
        }
    }
}

/// The sum of mass times internal energy over the gas; 0 where members have no internal energy.
pub(super) fn thermal_energy<S: Slices>(
    members: &HaloMembers,
    bound: &BoundMembers,
    slices: &S,
) -> Result<f64, S::Error> {
    let (columns, bounds) = (members.columns(), members.bounds());
    let internal_energy = |member: u32| {
        let is_gas = Component::Gas.holds(columns.particle_type[member as usize]);
        columns.internal_energy.get(member as usize).filter(|_| is_gas).copied().unwrap_or(0.0)
    };
    let hottest = most_of(slices, bound.len(), |at| internal_energy(bound.member[at]).abs());
    let [hottest] = greatest(slices, [hottest])?;
    if hottest == 0.0 {
        return Ok(0.0);
    }
    let mut sums = BlockSums::new(bounds, [bounds.mass * hottest]);
    let term = |member: u32| columns.mass[member as usize] * internal_energy(member);
    let of_block = |run: Range<usize>| [run.map(|place| term(bound.member[place])).sum()];
    sums.add_blocks(slices, members.runs(&bound.member), of_block);
    Ok(sums.over(slices)?[0])
}

/// Half the sum of mass times potential.
pub(super) fn potential_energy<S: Slices>(
    members: &HaloMembers,
    bound: &BoundMembers,
    slices: &S,
) -> Result<f64, S::Error> {
    let (mass, bounds) = (&members.columns().mass, members.bounds());
    let deepest = most_of(slices, bound.len(), |at| bound.potential[at].abs());
    let [deepest] = greatest(slices, [deepest])?;
    let mut sums = BlockSums::new(bounds, [bounds.mass * deepest]);
    let term = |place: usize| mass[bound.member[place] as usize] * bound.potential[place];
    sums.add_blocks(slices, members.runs(&bound.member), |run| [run.map(term).sum()]);
    Ok(0.5 * sums.over(slices)?[0])
}

#[inline(always)]
pub(super) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
