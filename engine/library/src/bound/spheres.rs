//! Spheres of given mean density about the centres of haloes, over all particles and gas cells, bound or not,
//! of all ranks.
//!
//! Each halo queries the ranks that have particles nearby for those within a radius. If the mean density there
//! is still above the lowest one, it queries again with twice the radius. A round has a limited number of
//! queries over all ranks, so that no rank holds those of all haloes.
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
use crate::particles::MemberType;
use crate::thread_loops::ThreadLoops;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_io::{Cosmology, Units};
use inselberg_kernels::bound::mass_profile::{MassProfile, ProfilePoint};
use inselberg_kernels::bound::properties::spherical_overdensity::{SphereSearch, bryan_norman};
use inselberg_kernels::bound::slices::Slices;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::graph::PointBox;
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The mean densities that end spheres.
pub const N_DENSITIES: usize = 4;

/// How far the first radius lies beyond that of the bound mass.
const FIRST_REACH: f64 = 1.5;

/// Within the radius of this part of the bound mass the outermost end of a sphere counts.
const CORE: f64 = 0.1;

/// Queries of all ranks in a round: 48 MB, if all come to one rank.
const ROUND: usize = 1 << 20;

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

/// The points of this rank near a query, with the rank of the query and the number of its halo there.
type QueryPoints = ((Rank, u64), Vec<ProfilePoint>);

/// The spheres of a halo; `None` if the points do not reach far enough.
type FoundSpheres = [Option<Sphere>; N_DENSITIES];

/// A round of queries of all ranks.
struct SphereRound<'a> {
    /// The least box around the points of each rank, in units of the level-0 cell.
    boxes: &'a [PointBox],
    domain: &'a Domain,
    densities: &'a SphereDensities,
    rules: &'a SpanRules,
    comm: &'a Comm,
}

/// The number of points for a query in a list of points.
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
    /// slices. Four exchanges per round, two rounds per 10^6 haloes as a rule, and two more exchanges per halo
    /// with points in slices.
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
        self.in_rounds(haloes, densities, rules, (ROUND / comm.n_ranks()).max(1), comm)
    }

    /// Collective: [`Self::spheres`], with this number of queries of a rank in a round.
    fn in_rounds(
        &self,
        haloes: &[SphereCentre],
        densities: &SphereDensities,
        rules: &SpanRules,
        per_round: usize,
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
        let mut open: VecDeque<usize> = (0..haloes.len()).filter(|i| haloes[*i].mass > 0.0).collect();
        let boxes = comm.all_gather(&[self.bounds()])?;
        let round = SphereRound { boxes: &boxes, domain: &self.space.domain, densities, rules, comm };
        while comm.all_reduce_counts(&[open.len() as u64], Reduce::Sum)?[0] > 0 {
            let query = |i: usize| {
                let SphereCentre { centre, mass } = haloes[i];
                let centre = centre.map(|x| x / side);
                SphereQuery { halo: i as u64, centre, radius: radius[i], core: CORE * mass }
            };
            let queries: Vec<SphereQuery> = open.drain(..per_round.min(open.len())).map(query).collect();
            for (query, spheres) in queries.iter().zip(round.answers(&queries, self)?) {
                let i = query.halo as usize;
                if spheres.iter().all(Option::is_some) || radius[i] >= most {
                    found[i] = spheres.map(Option::unwrap_or_default);
                } else {
                    radius[i] = (2.0 * radius[i]).min(most);
                    open.push_back(i);
                }
            }
        }
        Ok(found)
    }

    /// The least box around the points here.
    fn bounds(&self) -> PointBox {
        self.leaves.iter().map(LeafGrid::bounds).fold(*self.points.bounds(), PointBox::join)
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

/// Whether points of a box may lie within the radius of a query.
fn meets(bounds: &PointBox, query: &SphereQuery, domain: &Domain) -> bool {
    // A little more, for rounding.
    let radius = query.radius * (1.0 + 1e-9);
    let apart = |axis: usize| {
        let side = f64::from(domain.coarse[axis]);
        let shifts: &[f64] = if domain.periodic[axis] { &[-1.0, 0.0, 1.0] } else { &[0.0] };
        let to_image = |shift: &f64| {
            let x = query.centre[axis] + shift * side;
            (bounds.low[axis] - x).max(x - bounds.high[axis]).max(0.0)
        };
        shifts.iter().map(to_image).fold(f64::INFINITY, f64::min)
    };
    (0..3).map(apart).map(|apart| apart * apart).sum::<f64>() <= radius * radius
}

impl SphereRound<'_> {
    /// Collective: the spheres of the queries of this rank, in their order.
    fn answers(&self, queries: &[SphereQuery], of: &Surroundings) -> Result<Vec<FoundSpheres>, CommError> {
        let place: FxHashMap<u64, usize> = queries.iter().map(|query| query.halo).zip(0..).collect();
        let asked = self.comm.exchange(self.to_ranks(queries))?;
        let mut near = Vec::new();
        for (from, asked) in asked {
            let points: Vec<Vec<ProfilePoint>> =
                asked.par_iter().with_max_len(1).map(|query| of.near(query)).collect();
            near.extend(asked.into_iter().zip(points).map(|(query, points)| ((from, query.halo), points)));
        }
        let sliced = self.sliced(queries, &place, &near)?;
        // Points of a query in slices stay here.
        let mut staying: FxHashMap<(Rank, u64), Vec<ProfilePoint>> =
            sliced.iter().map(|(of, query)| ((*of, query.halo), Vec::new())).collect();
        let (stay, whole): (Vec<_>, Vec<_>) = near.into_iter().partition(|(of, _)| staying.contains_key(of));
        staying.extend(stay);
        let profiles = self.bring_home(whole, &place)?;
        let of_profile = |(query, points): (&SphereQuery, Vec<ProfilePoint>)| {
            let Ok(found) = self.found(query, points, &ThreadLoops);
            found
        };
        let work = queries.par_iter().zip(profiles).with_max_len(1);
        let mut found: Vec<FoundSpheres> = work.map(of_profile).collect();
        let slices = RankSlices { comm: self.comm };
        for (of, query) in sliced {
            let points = staying.remove(&(of, query.halo)).unwrap_or_default();
            let of_all = self.found(&query, points, &slices)?;
            if of == self.comm.rank() {
                found[place[&query.halo]] = of_all;
            }
        }
        Ok(found)
    }

    /// The queries for each rank with points nearby.
    fn to_ranks(&self, queries: &[SphereQuery]) -> Vec<(Rank, Vec<SphereQuery>)> {
        let nearby = |bounds: &PointBox| -> Vec<SphereQuery> {
            queries.iter().filter(|query| meets(bounds, query, self.domain)).copied().collect()
        };
        let parts = (0..).map(Rank).zip(self.boxes.iter().map(nearby));
        parts.filter(|(_, queries)| !queries.is_empty()).collect()
    }

    /// Collective: the queries of all ranks whose points are too many for one rank and stay in slices, the same
    /// list on each rank. One exchange and one gathering.
    fn sliced(
        &self,
        queries: &[SphereQuery],
        place: &FxHashMap<u64, usize>,
        near: &[QueryPoints],
    ) -> Result<Vec<(Rank, SphereQuery)>, CommError> {
        if self.rules.limit(u64::MAX, self.comm.n_ranks()) == u64::MAX {
            return Ok(Vec::new());
        }
        let count = |of: &QueryPoints| PointCount { halo: of.0.1, number: of.1.len() as u64 };
        let counts = near.chunk_by(|a, b| a.0.0 == b.0.0);
        let counts = counts.map(|part| (part[0].0.0, part.iter().map(count).collect())).collect();
        let mut n_points = vec![0; queries.len()];
        for PointCount { halo, number } in self.comm.exchange(counts)?.into_iter().flat_map(|(_, part)| part)
        {
            n_points[place[&halo]] += number;
        }
        let total = self.comm.all_reduce_counts(&[n_points.iter().sum()], Reduce::Sum)?[0];
        let limit = self.rules.limit(total, self.comm.n_ranks());
        let own: Vec<SphereQuery> =
            queries.iter().zip(n_points).filter(|(_, n)| *n >= limit).map(|(query, _)| *query).collect();
        let all = (0..).map(Rank).zip(self.comm.all_gather_lists(&own)?);
        Ok(all.flat_map(|(rank, list)| list.into_iter().map(move |query| (rank, query))).collect())
    }

    /// Collective: the points for each query of this rank, from those near the queries of all ranks. Two
    /// exchanges.
    fn bring_home(
        &self,
        near: Vec<QueryPoints>,
        place: &FxHashMap<u64, usize>,
    ) -> Result<Vec<Vec<ProfilePoint>>, CommError> {
        let mut profiles = vec![Vec::new(); place.len()];
        if self.comm.n_ranks() == 1 {
            near.into_iter().for_each(|((_, halo), points)| profiles[place[&halo]] = points);
            return Ok(profiles);
        }
        let (mut counts, mut points) = (Vec::<(Rank, Vec<PointCount>)>::new(), Vec::new());
        for ((to, halo), mut own) in near.into_iter().filter(|(_, points)| !points.is_empty()) {
            if counts.last().is_none_or(|(last, _)| *last != to) {
                counts.push((to, Vec::new()));
                points.push((to, Vec::<ProfilePoint>::new()));
            }
            let count = PointCount { halo, number: own.len() as u64 };
            counts.last_mut().expect("pushed").1.push(count);
            points.last_mut().expect("pushed").1.append(&mut own);
        }
        let (counts, points) = (self.comm.exchange(counts)?, self.comm.exchange(points)?);
        for ((_, counts), (_, points)) in counts.into_iter().zip(points) {
            let mut rest = points.as_slice();
            for PointCount { halo, number } in counts {
                let (of_halo, others) = rest.split_at(number as usize);
                profiles[place[&halo]].extend_from_slice(of_halo);
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
    use inselberg_comm::run_threads;

    /// Real numbers in `[0, 1)`.
    fn reals() -> impl FnMut() -> f64 {
        let mut state = 7u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Balls of particles, one beyond the edges of the box, and their centres.
    fn balls(domain: &Domain) -> (Vec<PointMass>, Vec<SphereCentre>) {
        let mut real = reals();
        let centres: Vec<[f64; 3]> =
            (0..12).map(|i| if i == 0 { [0.999; 3] } else { std::array::from_fn(|_| real()) }).collect();
        let mut points = Vec::new();
        for centre in &centres {
            for _ in 0..200 {
                let offset: [f64; 3] = std::array::from_fn(|_| 0.08 * (real() - 0.5) * real());
                let position = std::array::from_fn(|a| (centre[a] + offset[a]).rem_euclid(1.0));
                points.push(PointMass { position, mass: 1.0 + real(), particle_type: 1 });
            }
        }
        assert!(domain.periodic[0], "one ball has images");
        (points, centres.into_iter().map(|centre| SphereCentre { centre, mass: 290.0 }).collect())
    }

    /// Neither the ranks of the particles, nor rounds, nor slices change a sphere.
    #[test]
    fn spheres_do_not_depend_on_ranks_and_rounds() {
        let domain = Domain { coarse: [1; 3], periodic: [true; 3] };
        let space = SizedBox { domain, side: 1.0, origin: [0.0; 3] };
        let (points, centres) = balls(&domain);
        let densities = SphereDensities { ends: [4e5, 6e5, 1e6, 5e5], smooth: 0.0 };
        let spheres = |n_ranks: usize, per_round: usize, fewest: Option<u64>, by_place: bool| {
            let rules = SpanRules { fewest, block: 64 };
            let found = run_threads(n_ranks, |comm| {
                let here = comm.rank().at();
                let owner = |i: usize| match by_place {
                    true => (points[i].position[0] * n_ranks as f64) as usize,
                    false => i % n_ranks,
                };
                let own = (0..points.len()).filter(|i| owner(*i) == here).map(|i| points[i]).collect();
                let haloes: Vec<SphereCentre> = centres
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| i % n_ranks == here)
                    .map(|(_, c)| *c)
                    .collect();
                let all = Surroundings::new(own, Vec::new(), &space);
                all.in_rounds(&haloes, &densities, &rules, per_round, comm).expect("spheres")
            });
            let found = found.expect("ranks");
            (0..centres.len()).map(|i| found[i % n_ranks][i / n_ranks]).collect::<Vec<_>>()
        };
        let alone = spheres(1, 100, None, true);
        assert!(alone.iter().flatten().all(|sphere| sphere.radius > 0.0 && sphere.mass > 0.0), "{alone:?}");
        for (n_ranks, per_round, fewest, by_place) in [
            (1, 1, None, true),
            (1, 5, Some(1), true),
            (3, 100, None, true),
            (3, 1, None, false),
            (3, 2, Some(150), true),
            (4, 3, Some(1), false),
        ] {
            let found = spheres(n_ranks, per_round, fewest, by_place);
            assert_eq!(found, alone, "{n_ranks} ranks, {per_round} a round, fewest {fewest:?}");
        }
    }

    #[test]
    fn a_query_asks_only_ranks_with_points_nearby() {
        let domain = Domain { coarse: [1; 3], periodic: [true, false, true] };
        let bounds = PointBox { low: [0.1; 3], high: [0.3; 3] };
        let query = |centre, radius| SphereQuery { halo: 0, centre, radius, core: 0.0 };
        for (centre, radius, expected) in [
            ([0.2; 3], 0.01, true),
            ([0.5, 0.2, 0.2], 0.19, false),
            ([0.5, 0.2, 0.2], 0.21, true),
            // Across the periodic edge, and not across the open one.
            ([0.95, 0.2, 0.2], 0.16, true),
            ([0.2, 0.95, 0.2], 0.16, false),
            ([0.4, 0.4, 0.4], 0.17, false),
            ([0.4, 0.4, 0.4], 0.18, true),
        ] {
            assert_eq!(meets(&bounds, &query(centre, radius), &domain), expected, "{centre:?} {radius}");
        }
        assert!(!meets(&PointBox::EMPTY, &query([0.5; 3], 0.5), &domain));
    }

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
