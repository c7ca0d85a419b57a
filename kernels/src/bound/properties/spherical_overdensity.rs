//! Spherical overdensity: how large is the sphere with a given mean density, and what does it contain? One
//! sort serves any number of spheres, also for points in slices.
//!
//! All particles of all types count, bound or not. The sphere cannot end at the first point or at the centre,
//! but their mass counts. The sphere ends in the first interval between points at whose outer end the mean
//! density is no longer above the given one. Within it the enclosed mass is linear in radius:
//!
//! ```text
//!     (4π/3) density R³ = M_inner + (M_outer - M_inner) (R - r_inner) / (r_outer - r_inner)
//! ```
//!
//! The mass of the sphere is (4π/3) density R³ by definition, which differs from the sum over particles.
//! Points may be in slices: they come as a [`MassProfile`].

use super::Component;
use super::concentration::{InsideSums, concentration};
use crate::bound::mass_profile::{MassProfile, ProfilePoint};
use crate::bound::slices::{BlockSums, HaloBounds, Slices};
use bytemuck::{Pod, Zeroable};
use std::f64::consts::PI;
use std::ops::Range;

/// The components whose masses in spheres are known.
const OF_TYPE: [Component; 3] = [Component::Gas, Component::DarkMatter, Component::Stars];

/// A sphere of given mean density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphericalOverdensity {
    /// Its radius.
    pub radius: f64,
    /// Its mass, by definition.
    pub mass: f64,
    /// The points inside.
    pub inside: InsideSums,
}

impl SphericalOverdensity {
    /// Its concentration; `None` if it has too few points.
    pub fn concentration(&self) -> Option<f64> {
        concentration(&self.inside, self.mass, self.radius)
    }
}

/// Where a sphere of given mean density ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SphereSearch {
    /// The sphere.
    Found(SphericalOverdensity),
    /// The mean density exceeds the given one out to the last point: more points are needed.
    BeyondPoints,
    /// There are no two points, or none with mass outside the centre.
    Empty,
}

/// The end of a sphere, and the place of the point at which the interval ends.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SphereEnd {
    place: u64,
    radius: f64,
}

/// Stands for a missing end.
const NO_END: SphereEnd = SphereEnd { place: u64::MAX, radius: 0.0 };

impl<S: Slices> MassProfile<'_, S> {
    /// The spheres of these mean densities, in units of mass per length³.
    ///
    /// The centre may contain few particles and many light gas cells. Then the first end may be in the gas
    /// between particles. So within the radius of this `core` mass the outermost end counts; without one
    /// there, the first end beyond it. A core of 0 has no radius. Four gatherings and two sums over slices.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn spheres<const N: usize>(
        &self,
        densities: [f64; N],
        core: f64,
    ) -> Result<[SphereSearch; N], S::Error> {
        let per_volume = densities.map(|density| 4.0 / 3.0 * PI * density);
        let n_within = |is_within: &dyn Fn(usize) -> bool| {
            (0..self.points.len()).filter(|at| is_within(*at)).count() as u64
        };
        let own = [n_within(&|at| self.points[at].radius == 0.0), n_within(&|at| self.enclosed[at] < core)];
        let all = self.slices.add(&own)?;
        let n_central = all[0].max(1);
        if self.bounds.number <= n_central {
            return Ok([SphereSearch::Empty; N]);
        }
        let within_core = n_central..(all[1] + 1).max(n_central);
        let ends = self.ends(per_volume, n_central, within_core)?;
        let inside = self.inside(ends.map(|end| end.radius))?;
        Ok(std::array::from_fn(|i| match ends[i] {
            SphereEnd { place: u64::MAX, .. } => SphereSearch::BeyondPoints,
            SphereEnd { radius: 0.0, .. } => SphereSearch::Empty,
            SphereEnd { radius, .. } => {
                let mass = per_volume[i] * cube(radius);
                SphereSearch::Found(SphericalOverdensity { radius, mass, inside: inside[i] })
            }
        }))
    }

    /// The end of each sphere; [`NO_END`] for one beyond the last point.
    fn ends<const N: usize>(
        &self,
        per_volume: [f64; N],
        n_central: u64,
        within_core: Range<u64>,
    ) -> Result<[SphereEnd; N], S::Error> {
        let is_end =
            |at: usize, per_volume: f64| self.enclosed[at] <= per_volume * cube(self.points[at].radius);
        let start = per_volume.map(|per_volume| {
            let last = self.here(within_core.clone()).rev().find(|at| !is_end(*at, per_volume));
            last.map_or(n_central, |at| self.first + at as u64)
        });
        let of_slices = self.slices.gather(&start)?;
        let end = |i: usize| {
            let start = of_slices.iter().fold(n_central, |most, of| most.max(of[i]));
            let at = self.here(start..u64::MAX).find(|at| is_end(*at, per_volume[i]));
            at.map_or(NO_END, |at| {
                let place = self.first + at as u64;
                SphereEnd { place, radius: self.radius_of_end(at, place == n_central, per_volume[i]) }
            })
        };
        let of_slices = self.slices.gather(&std::array::from_fn::<_, N, _>(end))?;
        let first = |i: usize| of_slices.iter().map(|of| of[i]).min_by_key(|end| end.place);
        Ok(std::array::from_fn(|i| first(i).expect("a slice")))
    }

    /// The radius of a sphere in the interval that ends at a point, from 0 on for the first one.
    fn radius_of_end(&self, at: usize, is_first: bool, per_volume: f64) -> f64 {
        let outer = [self.points[at].radius, self.enclosed[at]];
        if is_first {
            // All mean densities are below: the mass is linear from 0 at the centre.
            return (outer[1].max(0.0) / (outer[0] * per_volume)).sqrt();
        }
        radius_in_interval(self.inner(at), outer, per_volume)
    }

    /// Sums over the points within each radius.
    fn inside<const N: usize>(&self, radii: [f64; N]) -> Result<[InsideSums; N], S::Error> {
        let HaloBounds { mass, reach, .. } = self.bounds;
        let within = radii.map(|radius| self.points.partition_point(|point| point.radius <= radius));
        let sums = |n: usize| {
            let mut sums = BlockSums::new(&self.bounds, [mass, mass * reach, mass, mass, mass]);
            let runs = self.runs().take_while(|run| run.start < n);
            runs.for_each(|run| sums.add(block_sums(&self.points[run.start..run.end.min(n)])));
            sums
        };
        let sums = BlockSums::over_all(&within.map(sums), self.slices)?;
        let numbers = self.slices.add(&within.map(|n| n as u64))?;
        Ok(std::array::from_fn(|i| {
            let [mass, moment, gas, dark_matter, stars] = sums[i];
            InsideSums { number: numbers[i], mass, moment, of_type: [gas, dark_matter, stars] }
        }))
    }
}

/// Plain sums of mass, of mass times radius, and of the masses of gas, dark matter and stars.
fn block_sums(points: &[ProfilePoint]) -> [f64; 5] {
    points.iter().fold([0.0; 5], |mut sums, point| {
        sums[0] += point.mass;
        sums[1] += point.mass * point.radius;
        for (component, sum) in OF_TYPE.into_iter().zip(&mut sums[2..]) {
            *sum += if component.holds(point.particle_type as u8) { point.mass } else { 0.0 };
        }
        sums
    })
}

/// The radius between two points, each with the mass within, by Newton's method from the outer end. The cubic
/// less a line is convex, and positive there, so it falls to the root.
fn radius_in_interval(inner: [f64; 2], outer: [f64; 2], per_volume: f64) -> f64 {
    if outer[0] <= inner[0] {
        return outer[0];
    }
    let slope = (outer[1] - inner[1]) / (outer[0] - inner[0]);
    let mut r = outer[0];
    for _ in 0..60 {
        let excess = per_volume * cube(r) - inner[1] - slope * (r - inner[0]);
        let next = r - excess / (3.0 * per_volume * r * r - slope);
        if next >= r || next < inner[0] {
            break;
        }
        r = next;
    }
    r
}

/// The virial density over the critical one (Bryan & Norman 1998), from the matter density over the critical
/// one at the time of the snapshot.
pub fn bryan_norman(omega_matter: f64) -> f64 {
    let x = omega_matter - 1.0;
    18.0 * PI * PI + 82.0 * x - 39.0 * x * x
}

fn cube(x: f64) -> f64 {
    x * x * x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::slices::Whole;

    fn profile(points: impl Iterator<Item = (f64, f64)>) -> MassProfile<'static, Whole> {
        let points = points.map(|(radius, mass)| ProfilePoint { radius, mass, particle_type: 1 });
        let Ok(profile) = MassProfile::new(points.collect(), 16, &Whole);
        profile
    }

    fn sphere(of: &MassProfile<Whole>, density: f64, core: f64) -> SphericalOverdensity {
        match of.spheres([density], core) {
            Ok([SphereSearch::Found(sphere)]) => sphere,
            Ok([other]) => panic!("{other:?}"),
        }
    }

    /// A singular isothermal sphere of 100 heavy particles, and light gas inside the first of them.
    #[test]
    fn light_points_at_the_centre_do_not_end_the_sphere_around_a_core() {
        let gas = (1..=20).map(|i| (0.0004 * f64::from(i), 1e-9));
        let particles = (1..=100).map(|i| (0.01 * f64::from(i), 0.01));
        let all = profile(gas.chain(particles));
        let density = 1.0 / (4.0 / 3.0 * PI * 0.25);
        assert!(sphere(&all, density, 0.0).radius < 0.01);
        assert!((sphere(&all, density, 0.1).radius - 0.5).abs() < 1e-3);
        assert!((sphere(&all, 4.0 * density, 0.5).radius - 0.25).abs() < 1e-3);
        let dilute = 4000.0 * density;
        assert_eq!(all.spheres([dilute], 0.9), all.spheres([dilute], 0.0));
        let light = profile([(0.0, 1e-6), (0.1, 1e-6), (0.2, 0.5), (0.9, 1e-6)].into_iter());
        assert!(sphere(&light, 1.0, 0.0).radius < 0.1);
        assert!(sphere(&light, 1.0, 0.25).radius > 0.2);
    }
}
