//! Spheres of given mean density about the centres of haloes, over all particles and gas cells, bound or not,
//! of all ranks.
//!
//! Each halo queries all ranks for the particles within a radius. If the mean density there is still above
//! the lowest one, it queries again with twice the radius.
//!
//! ```text
//!   halo on rank 1     within 0.1?  ->  rank 0: 40 particles     rank 1: 900     rank 2: none
//!                      mean density of 940 particles still too high
//!                      within 0.2?  ->  ...                      the sphere ends at 0.13
//! ```
//!
//! The points of a halo come to its rank. If they are too many for that, all ranks sort them together by
//! radius, one slice per rank. The bits are the same.

use crate::bound::leaf_grid::{LeafGrid, length};
use crate::bound::point_grid::{PointGrid, PointMass};
use crate::bound::rank_slices::RankSlices;
use crate::bound::request::SpanRules;
use crate::bound::thread_slices::ThreadSlices;
use crate::particles::MemberType;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_io::{Cosmology, Units};
use inselberg_kernels::bound::mass_profile::{MassProfile, ProfilePoint};
use inselberg_kernels::bound::properties::spherical_overdensity::{SphereSearch, bryan_norman};
use inselberg_kernels::bound::slices::Slices;
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// The mean densities that end spheres.
pub const N_DENSITIES: usize = 4;

/// How far the first radius lies beyond that of the bound mass.
const FIRST_REACH: f64 = 1.5;

/// Within the radius of this part of the bound mass the outermost end of a sphere counts.
const CORE: f64 = 0.1;

/// A sphere, in code units. 0 if it is not found or has too few particles.
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
    /// Bound mass, or mass of the group; 0: no spheres.
    pub mass: f64,
}

/// The mean densities at which spheres end, in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphereDensities {
    /// The mean densities of 200 times the critical and the mean density, 500 times the critical one, and
    /// Bryan & Norman's.
    pub ends: [f64; N_DENSITIES],
    /// The density of uniform matter that no particle carries: neutrinos whose particles are weighted by the
    /// deviation from their mean.
    pub smooth: f64,
}

impl SphereDensities {
    /// Of a cosmology in these units. Matter is all in particles and cells unless neutrinos are weighted.
    pub fn new(units: &Units, cosmology: &Cosmology, has_weights: bool) -> Self {
        let critical = cosmology.critical_density() / units.density;
        let matter = cosmology.matter_parameter();
        let smooth = if has_weights { cosmology.neutrino_part() * matter * critical } else { 0.0 };
        let ends =
            [200.0 * critical, 200.0 * matter * critical, 500.0 * critical, bryan_norman(matter) * critical];
        Self { ends, smooth }
    }

    /// The mean densities of particles and cells.
    fn of_points(&self) -> [f64; N_DENSITIES] {
        self.ends.map(|density| density - self.smooth)
    }
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

/// A query of a halo. Lengths are in units of the level-0 cell.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SphereQuery {
    /// Its place among the haloes of its rank.
    halo: u64,
    centre: [f64; 3],
    radius: f64,
    /// Within the radius of this mass the outermost end of a sphere counts.
    core: f64,
}

/// The spheres of a halo; `None` if the points do not reach far enough.
type FoundSpheres = [Option<Sphere>; N_DENSITIES];

/// Queries of all ranks in one round.
struct SphereRound<'a> {
    /// The queries of each rank.
    asked: Vec<Vec<SphereQuery>>,
    densities: &'a SphereDensities,
    rules: &'a SpanRules,
    comm: &'a Comm,
}

/// The number of points for a halo in a list of points.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PointCount {
    halo: u64,
    number: u64,
}

impl<'a> Surroundings<'a> {
    /// Of particles, and of leaves with gas by level.
    pub fn new(particles: Vec<PointMass>, leaves: Vec<Vec<PointMass>>, space: &'a SizedBox) -> Self {
        let levels = (0..).zip(leaves);
        let leaves = levels.map(|(level, leaves)| LeafGrid::new(level, leaves, space.domain)).collect();
        Self { points: PointGrid::new(particles, space.domain), leaves, space }
    }

    /// Collective: the spheres of the haloes of this rank. By the rules the points of some haloes are in
    /// slices. Two exchanges per round, two rounds as a rule, and two more exchanges per halo with points in
    /// slices.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn spheres(
        &self,
        haloes: &[SphereCentre],
        densities: &SphereDensities,
        rules: &SpanRules,
        comm: &Comm,
    ) -> Result<Vec<[Sphere; N_DENSITIES]>, CommError> {
        let side = self.space.side;
        let least = densities.of_points().into_iter().fold(f64::INFINITY, f64::min);
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
                let SphereCentre { centre, mass } = haloes[*i];
                let centre = centre.map(|x| x / side);
                SphereQuery { halo: *i as u64, centre, radius: radius[*i], core: CORE * mass }
            };
            let asked = comm.all_gather_lists(&open.iter().map(query).collect::<Vec<_>>())?;
            let answers = SphereRound { asked, densities, rules, comm }.answers(self)?;
            open.clear();
            for (query, spheres) in answers {
                let i = query.halo as usize;
                if spheres.iter().all(Option::is_some) || radius[i] >= most {
                    found[i] = spheres.map(Option::unwrap_or_default);
                } else {
                    radius[i] = (2.0 * radius[i]).min(most);
                    open.push(i);
                }
            }
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

    /// Local: the points within the radius of a query, in code units.
    fn near(&self, query: &SphereQuery) -> Vec<ProfilePoint> {
        let side = self.space.side;
        let mut near = Vec::new();
        let mut push = |radius: f64, mass, particle_type| {
            near.push(ProfilePoint { radius: radius * side, mass, particle_type })
        };
        self.points.visit(query.centre, query.radius, |point, offset| {
            push(length(offset), point.mass, point.particle_type);
        });
        let mut push_gas = |radius, mass| push(radius, mass, MemberType::Gas as u64);
        self.leaves.iter().for_each(|leaves| leaves.visit(query.centre, query.radius, &mut push_gas));
        near
    }
}

impl SphereRound<'_> {
    /// Collective: the spheres of the queries of this rank, in their order.
    fn answers(&self, of: &Surroundings) -> Result<Vec<(SphereQuery, FoundSpheres)>, CommError> {
        let all: Vec<&SphereQuery> = self.asked.iter().flatten().collect();
        let near: Vec<Vec<ProfilePoint>> =
            all.par_iter().with_max_len(1).map(|query| of.near(query)).collect();
        let counts: Vec<u64> = near.iter().map(|points| points.len() as u64).collect();
        let counts = self.comm.all_reduce_counts(&counts, Reduce::Sum)?;
        let limit = self.rules.limit(counts.iter().sum(), self.comm.n_ranks());
        let spans = |query: usize| counts[query] >= limit;
        let here = self.comm.rank().at();
        let first: usize = self.asked[..here].iter().map(Vec::len).sum();
        let own = first..first + self.asked[here].len();
        let (mut whole, mut sliced) = (Vec::new(), Vec::new());
        for (query, points) in near.into_iter().enumerate() {
            match spans(query) {
                true => {
                    whole.push(Vec::new());
                    sliced.push((query, points));
                }
                false => whole.push(points),
            }
        }
        let profiles = self.bring_home(whole)?;
        let of_profile = |(query, points): (&SphereQuery, Vec<ProfilePoint>)| {
            let Ok(found) = self.found(query, points, &ThreadSlices);
            found
        };
        let work = self.asked[here].par_iter().zip(profiles).with_max_len(1);
        let mut found: Vec<FoundSpheres> = work.map(of_profile).collect();
        let slices = RankSlices { comm: self.comm };
        for (query, points) in sliced {
            let of_all = self.found(all[query], points, &slices)?;
            if own.contains(&query) {
                found[query - first] = of_all;
            }
        }
        Ok(self.asked[here].iter().copied().zip(found).collect())
    }

    /// Collective: the points for each query of this rank, from the points here for each query of all ranks.
    /// Two exchanges.
    fn bring_home(&self, near: Vec<Vec<ProfilePoint>>) -> Result<Vec<Vec<ProfilePoint>>, CommError> {
        if self.comm.n_ranks() == 1 {
            return Ok(near);
        }
        let mut near = near.into_iter();
        let (mut counts, mut points) = (Vec::new(), Vec::new());
        for (rank, queries) in (0..).map(Rank).zip(&self.asked) {
            let (mut to, mut joined) = (Vec::new(), Vec::new());
            for (place, mut points) in (0..).zip(near.by_ref().take(queries.len())) {
                if !points.is_empty() {
                    to.push(PointCount { halo: place, number: points.len() as u64 });
                    joined.append(&mut points);
                }
            }
            if !to.is_empty() {
                counts.push((rank, to));
                points.push((rank, joined));
            }
        }
        let (counts, points) = (self.comm.exchange(counts)?, self.comm.exchange(points)?);
        let mut profiles = vec![Vec::new(); self.asked[self.comm.rank().at()].len()];
        for ((_, counts), (_, points)) in counts.into_iter().zip(points) {
            let mut rest = points.as_slice();
            for PointCount { halo, number } in counts {
                let (of_halo, others) = rest.split_at(number as usize);
                profiles[halo as usize].extend_from_slice(of_halo);
                rest = others;
            }
        }
        Ok(profiles)
    }

    /// The spheres of a query from the points of all slices.
    fn found<S: Slices>(
        &self,
        query: &SphereQuery,
        points: Vec<ProfilePoint>,
        slices: &S,
    ) -> Result<FoundSpheres, S::Error> {
        let profile = MassProfile::new(points, self.rules.block, slices)?;
        let of_points = self.densities.of_points();
        let found = profile.spheres(of_points, query.core)?;
        let with_smooth = |i: usize| self.densities.ends[i] / of_points[i];
        Ok(std::array::from_fn(|i| match found[i] {
            SphereSearch::Found(sphere) => Some(Sphere {
                mass: sphere.mass * with_smooth(i),
                radius: sphere.radius,
                concentration: sphere.concentration().unwrap_or(0.0),
                mass_of_type: sphere.inside.of_type,
            }),
            SphereSearch::BeyondPoints | SphereSearch::Empty => None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matter that no particle carries is missing from the mean density of particles.
    #[test]
    fn neutrinos_with_weights_leave_their_mean_density_to_all_spheres() {
        let cosmology = Cosmology { omega_m: 0.3, omega_nu: 0.1, omega_l: 0.6, ..Cosmology::default() };
        let units = Units { length: 1.0, density: cosmology.critical_density(), time: 1.0 };
        let [plain, weighted] =
            [false, true].map(|has_weights| SphereDensities::new(&units, &cosmology, has_weights));
        assert_eq!((plain.smooth, plain.of_points()), (0.0, plain.ends));
        assert_eq!(weighted.ends, plain.ends);
        assert!((weighted.smooth - 0.1).abs() < 1e-12, "{}", weighted.smooth);
        assert!((weighted.of_points()[1] - (80.0 - 0.1)).abs() < 1e-9, "{:?}", weighted.of_points());
    }
}
