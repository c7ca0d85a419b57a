//! Spherical overdensity: how large is the sphere whose mean density is a given one? Any number of them from one sort.
//!
//! All particles of all types count, bound or not. The first member and all at the centre are skipped as ends of the sphere,
//! not as mass. The sphere ends in the first interval between members at whose outer end the mean density is no longer above
//! the given one. Within it the enclosed mass is linear in radius:
//!
//! ```text
//!     (4π/3) density R³ = M_inner + (M_outer - M_inner) (R - r_inner) / (r_outer - r_inner)
//! ```
//!
//! The mass of the sphere is (4π/3) density R³ by definition, which differs from the sum over particles.

use std::f64::consts::PI;

/// The mass within each radius.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnclosedMass {
    radius: Vec<f64>,
    mass: Vec<f64>,
}

/// A sphere of given mean density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphericalOverdensity {
    /// Its radius.
    pub radius: f64,
    /// Its mass, by definition.
    pub mass: f64,
    /// Number of particles inside.
    pub number: usize,
}

/// Where a sphere of given mean density ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SphereSearch {
    /// There it is.
    Found(SphericalOverdensity),
    /// The density is above the given one out to the last particle: more particles are needed.
    BeyondParticles,
    /// There are no two particles, or none with mass outside the centre.
    Empty,
}

impl EnclosedMass {
    /// From particles by rising radius; equals in the order of their identifiers. `mass` has one entry per radius.
    pub fn new(radius: Vec<f64>, mass: &[f64]) -> Self {
        assert_eq!(radius.len(), mass.len(), "one mass per radius");
        debug_assert!(radius.is_sorted());
        let mut sum = 0.0;
        let enclosed = mass.iter().map(|mass| {
            sum += mass;
            sum
        });
        Self { mass: enclosed.collect(), radius }
    }

    /// The sphere of this mean density, in units of mass per length³.
    pub fn sphere(&self, density: f64) -> SphereSearch {
        self.sphere_around(density, 0.0)
    }

    /// The same where the centre is sampled by few particles and many light gas cells, so that the first end may be in the gas
    /// between particles. Within the radius of this `core` mass the outermost end counts, or the first one beyond.
    pub fn sphere_around(&self, density: f64, core: f64) -> SphereSearch {
        let n_central = self.radius.partition_point(|r| *r == 0.0).max(1);
        if self.radius.len() <= n_central {
            return SphereSearch::Empty;
        }
        let per_volume = 4.0 / 3.0 * PI * density;
        let is_end = |at: &usize| self.mass[*at] <= per_volume * cube(self.radius[*at]);
        let of_core = self.mass.partition_point(|mass| *mass < core);
        let within_core = n_central..(of_core + 1).min(self.radius.len());
        let start = within_core.rev().find(|at| !is_end(at)).unwrap_or(n_central);
        let Some(end) = (start..self.radius.len()).find(is_end) else {
            return SphereSearch::BeyondParticles;
        };
        let radius = match end == n_central {
            true => self.first_interval(end, per_volume),
            false => self.in_interval(end, per_volume),
        };
        if radius == 0.0 {
            return SphereSearch::Empty;
        }
        let number = self.radius.partition_point(|r| *r <= radius);
        SphereSearch::Found(SphericalOverdensity { radius, mass: per_volume * cube(radius), number })
    }

    /// All is below the density: the mass is linear from 0 at the centre to the first end.
    fn first_interval(&self, end: usize, per_volume: f64) -> f64 {
        (self.mass[end] / (self.radius[end] * per_volume)).sqrt()
    }

    /// Newton's method from the outer end. The cubic less a line is convex, and positive there, so it falls to the root.
    fn in_interval(&self, end: usize, per_volume: f64) -> f64 {
        let (inner, outer) = (self.radius[end - 1], self.radius[end]);
        let (mass, gain) = (self.mass[end - 1], self.mass[end] - self.mass[end - 1]);
        if outer <= inner {
            return outer;
        }
        let slope = gain / (outer - inner);
        let mut r = outer;
        for _ in 0..60 {
            let excess = per_volume * cube(r) - mass - slope * (r - inner);
            let next = r - excess / (3.0 * per_volume * r * r - slope);
            if next >= r || next < inner {
                break;
            }
            r = next;
        }
        r
    }
}

/// The virial density over the critical one (Bryan & Norman 1998), from the matter density over the critical one at the
/// time of the snapshot.
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

    /// A singular isothermal sphere of 100 heavy particles, and light gas inside the first of them.
    #[test]
    fn light_points_at_the_centre_do_not_end_the_sphere_around_a_core() {
        let gas = (1..=20).map(|i| (0.0004 * f64::from(i), 1e-9));
        let particles = (1..=100).map(|i| (0.01 * f64::from(i), 0.01));
        let (radius, mass): (Vec<f64>, Vec<f64>) = gas.chain(particles).unzip();
        let enclosed = EnclosedMass::new(radius, &mass);
        let density = 1.0 / (4.0 / 3.0 * PI * 0.25);
        let radius_of = |found: SphereSearch| match found {
            SphereSearch::Found(sphere) => sphere.radius,
            other => panic!("{other:?}"),
        };
        assert!(radius_of(enclosed.sphere(density)) < 0.01);
        assert!((radius_of(enclosed.sphere_around(density, 0.1)) - 0.5).abs() < 1e-3);
        assert!((radius_of(enclosed.sphere_around(4.0 * density, 0.5)) - 0.25).abs() < 1e-3);
        let dilute = 4000.0 * density;
        assert_eq!(enclosed.sphere_around(dilute, 0.9), enclosed.sphere(dilute));
        let light = EnclosedMass::new(vec![0.0, 0.1, 0.2, 0.9], &[1e-6, 1e-6, 0.5, 1e-6]);
        assert!(radius_of(light.sphere(1.0)) < 0.1);
        assert!(radius_of(light.sphere_around(1.0, 0.25)) > 0.2);
    }
}
