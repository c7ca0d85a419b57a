//! Spheres of given mean density about the centres of haloes, over all particles and gas cells, bound or not, of all ranks.
//!
//! Each halo asks all ranks for the particles within a radius. Where the mean density is still above the lowest one there,
//! it asks again with twice the radius.
//!
//! ```text
//!   halo on rank 1     within 0.1?  ->  rank 0: 40 particles     rank 1: 900     rank 2: none
//!                      mean density of 940 particles still too high
//!                      within 0.2?  ->  ...                      the sphere ends at 0.13
//! ```

use crate::bound::leaf_grid::{LeafGrid, length};
use crate::bound::member_type::MemberType;
use crate::bound::point_grid::{PointGrid, PointMass};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_io::Cosmology;
use inselberg_kernels::bound::Gravity;
use inselberg_kernels::bound::properties::concentration::concentration;
use inselberg_kernels::bound::properties::spherical_overdensity::{EnclosedMass, SphereSearch, bryan_norman};
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// The mean densities that end spheres.
pub const N_DENSITIES: usize = 4;

/// The types whose masses in spheres are known.
const SPHERE_TYPES: [MemberType; 3] = [MemberType::Gas, MemberType::DarkMatter, MemberType::Stars];

/// How far the first radius lies beyond that of the bound mass.
const FIRST_REACH: f64 = 1.5;

/// Within the radius of this part of the bound mass the outermost end of a sphere counts.
const CORE: f64 = 0.1;

/// A sphere, in code units. 0 where it is not found, or has too few particles.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Sphere {
    /// By definition 4π/3 density radius³.
    pub mass: f64,
    /// Its radius.
    pub radius: f64,
    /// By the first moment of the mass profile.
    pub concentration: f64,
    /// Masses of the gas, the dark matter and the stars within the radius.
    pub mass_of_type: [f64; 3],
}

/// The centre of a halo and the mass from which the first radius follows.
#[derive(Debug, Clone, Copy)]
pub struct SphereCentre {
    /// Centre, in code units.
    pub centre: [f64; 3],
    /// Mass of all that is bound, or of the group; 0: no spheres.
    pub mass: f64,
}

/// The mean densities of 200 times the critical and the mean density, 500 times the critical one, and Bryan & Norman's, in
/// code units.
pub fn densities(gravity: &Gravity, cosmology: &Cosmology) -> [f64; N_DENSITIES] {
    let critical = gravity.critical_density();
    let matter = cosmology.matter_parameter();
    [200.0 * critical, 200.0 * matter * critical, 500.0 * critical, bryan_norman(matter) * critical]
}

/// The particles and gas cells of this rank, and the box.
pub struct Surroundings<'a> {
    /// The particles.
    pub points: PointGrid,
    /// The leaves with gas, one grid per level.
    pub leaves: Vec<LeafGrid>,
    /// The box.
    pub space: &'a SizedBox,
}

/// A question of a halo, in units of the level-0 cell.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SphereQuery {
    halo: u64,
    centre: [f64; 3],
    radius: f64,
}

/// A particle, or a part of a gas cell, within the radius.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SpherePoint {
    halo: u64,
    radius: f64,
    mass: f64,
    particle_type: u64,
}

impl<'a> Surroundings<'a> {
    /// Of particles, and of leaves with gas by level.
    pub fn new(particles: Vec<PointMass>, leaves: Vec<Vec<PointMass>>, space: &'a SizedBox) -> Self {
        let levels = (0..).zip(leaves);
        let leaves = levels.map(|(level, leaves)| LeafGrid::new(level, leaves, space.domain)).collect();
        Self { points: PointGrid::new(particles, space.domain), leaves, space }
    }

    /// Collective: the spheres of the haloes of this rank. Two exchanges per round, two rounds as a rule.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn spheres(
        &self,
        haloes: &[SphereCentre],
        densities: &[f64; N_DENSITIES],
        comm: &Comm,
    ) -> Result<Vec<[Sphere; N_DENSITIES]>, CommError> {
        let side = self.space.side;
        let least = densities.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.greatest_radius();
        let first = |halo: &SphereCentre| {
            let of_mass = (halo.mass / (4.0 / 3.0 * std::f64::consts::PI * least)).cbrt();
            (FIRST_REACH * of_mass / side).min(most)
        };
        let mut radius: Vec<f64> = haloes.iter().map(first).collect();
        let mut found = vec![[Sphere::default(); N_DENSITIES]; haloes.len()];
        let mut open: Vec<usize> = (0..haloes.len()).filter(|i| haloes[*i].mass > 0.0).collect();
        while comm.all_reduce_counts(&[open.len() as u64], Reduce::Sum)?[0] > 0 {
            let query = |i: &usize| {
                let centre = haloes[*i].centre.map(|x| x / side);
                SphereQuery { halo: *i as u64, centre, radius: radius[*i] }
            };
            let profiles = self.ask(&open.iter().map(query).collect::<Vec<_>>(), haloes.len(), comm)?;
            open.retain(|i| {
                let profile = RadialProfile::new(&profiles[*i], side);
                let spheres = densities.map(|density| profile.sphere(density, CORE * haloes[*i].mass));
                let is_done = spheres.iter().all(Option::is_some) || radius[*i] >= most;
                if is_done {
                    found[*i] = spheres.map(Option::unwrap_or_default);
                }
                radius[*i] = (2.0 * radius[*i]).min(most);
                !is_done
            });
        }
        Ok(found)
    }

    /// Half of the shortest periodic side, or the longest side of an open box, in units of the level-0 cell.
    fn greatest_radius(&self) -> f64 {
        let domain = &self.space.domain;
        let periodic = (0..3).filter(|a| domain.periodic[*a]).map(|a| 0.5 * f64::from(domain.coarse[a]));
        let open = domain.coarse.iter().map(|n| f64::from(*n)).fold(0.0, f64::max);
        periodic.fold(open, f64::min)
    }

    /// Collective: the points within the radii of the queries, by halo.
    fn ask(
        &self,
        queries: &[SphereQuery],
        n_haloes: usize,
        comm: &Comm,
    ) -> Result<Vec<Vec<SpherePoint>>, CommError> {
        let asked = comm.all_gather_lists(queries)?;
        let answer = |(rank, queries): (usize, Vec<SphereQuery>)| {
            let near = |query: &SphereQuery| {
                let mut near = Vec::new();
                let mut push = |radius, mass, particle_type| {
                    near.push(SpherePoint { halo: query.halo, radius, mass, particle_type });
                };
                self.points.visit(query.centre, query.radius, |point, offset| {
                    push(length(offset), point.mass, point.particle_type);
                });
                let mut push_gas = |radius, mass| push(radius, mass, MemberType::Gas as u64);
                self.leaves.iter().for_each(|leaves| leaves.visit(query.centre, query.radius, &mut push_gas));
                near
            };
            (Rank(rank as u32), queries.par_iter().flat_map_iter(near).collect::<Vec<_>>())
        };
        let answers = asked.into_iter().enumerate().map(answer).filter(|(_, points)| !points.is_empty());
        let mut profiles = vec![Vec::new(); n_haloes];
        for (_, points) in comm.exchange(answers.collect())? {
            points.into_iter().for_each(|point| profiles[point.halo as usize].push(point));
        }
        profiles.par_iter_mut().for_each(|points| {
            // Points that agree in all are the same to a profile.
            points.sort_unstable_by(|a, b| {
                let by_mass = || a.mass.total_cmp(&b.mass).then(a.particle_type.cmp(&b.particle_type));
                a.radius.total_cmp(&b.radius).then_with(by_mass)
            });
        });
        Ok(profiles)
    }
}

/// The points around a centre by rising radius, in code units.
struct RadialProfile {
    radius: Vec<f64>,
    mass: Vec<f64>,
    particle_type: Vec<u64>,
    enclosed: EnclosedMass,
}

impl RadialProfile {
    fn new(points: &[SpherePoint], side: f64) -> Self {
        let radius: Vec<f64> = points.iter().map(|point| point.radius * side).collect();
        let mass: Vec<f64> = points.iter().map(|point| point.mass).collect();
        let enclosed = EnclosedMass::new(radius.clone(), &mass);
        let particle_type = points.iter().map(|point| point.particle_type).collect();
        Self { radius, mass, particle_type, enclosed }
    }

    /// `None` if the points do not reach far enough.
    fn sphere(&self, density: f64, core: f64) -> Option<Sphere> {
        let SphereSearch::Found(sphere) = self.enclosed.sphere_around(density, core) else { return None };
        let inside = 0..sphere.number;
        let of_profile =
            concentration(&self.radius[inside.clone()], &self.mass[inside], sphere.mass, sphere.radius);
        Some(Sphere {
            mass: sphere.mass,
            radius: sphere.radius,
            concentration: of_profile.unwrap_or(0.0),
            mass_of_type: self.mass_of_type(sphere.radius),
        })
    }

    /// The masses of gas, dark matter and stars within a radius.
    fn mass_of_type(&self, radius: f64) -> [f64; 3] {
        let n = self.radius.partition_point(|r| *r <= radius);
        SPHERE_TYPES.map(|of_type| {
            let of_type = |i: &usize| self.particle_type[*i] == of_type as u64;
            (0..n).filter(of_type).map(|i| self.mass[i]).sum::<f64>() + 0.0
        })
    }
}
