//! Inertia tensors: what is the shape of a component?
//!
//! ```text
//!     plain      sum m x x / sum m             reduced    sum (m / r²) x x / sum m, members at r = 0 left out
//! ```
//!
//! The first tensor is that of the members in a sphere about the centre. Iterated, the sphere becomes the
//! ellipsoid of equal volume with the axes of the tensor, and the tensor is that of the members inside, until
//! the ratio of the second to the first axis changes by less than 1e-4, 20 times at most. Elements are in the
//! order xx, yy, zz, xy, xz, yz.

use super::super::elementary::power;
use super::super::members::{HaloMembers, N_TYPES};
use super::super::slices::{BlockSums, HaloBounds, Slices, Whole};
use super::symmetric::{PrincipalAxes, principal_axes};
use super::{ByComponent, Component};
use crate::simd::wide;
use std::ops::Range;

/// Fewest members for a tensor.
const FEWEST: u64 = 20;

/// Most iterations.
const MOST: usize = 20;

/// Iterations end when the ratio of axes changes by less.
const CHANGE: f64 = 1e-4;

/// The radius of the first sphere in half-mass radii.
const HALF_MASS_RADII: f64 = 10.0;

/// The four tensors of a component; `None` for fewer than 20 members.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InertiaTensors {
    /// Plain and iterated: `InertiaTensor`.
    pub plain: Option<[f64; 6]>,
    /// Reduced and iterated: `InertiaTensorReduced`.
    pub reduced: Option<[f64; 6]>,
    /// Plain in the sphere: `InertiaTensorNoniterative`.
    pub plain_in_sphere: Option<[f64; 6]>,
    /// Reduced in the sphere: `InertiaTensorReducedNoniterative`.
    pub reduced_in_sphere: Option<[f64; 6]>,
}

/// The weight of a member besides its mass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Plain,
    Reduced,
}

/// The members of a component in this slice, in lanes of eight that begin anew with each block.
struct Offsets<'a, S> {
    x: [Vec<[f64; 8]>; 3],
    mass: Vec<[f64; 8]>,
    /// The end of each block.
    blocks: Vec<usize>,
    bounds: &'a HaloBounds,
    slices: &'a S,
}

/// An ellipsoid x A x <= 1: the matrix A.
type Ellipsoid = [f64; 6];

/// A sphere of members and the slices that it is in.
pub(super) struct InertiaSphere<'a, S> {
    /// The members of this slice.
    pub members: &'a HaloMembers,
    /// The centre.
    pub centre: [f64; 3],
    /// What joins the slices.
    pub slices: &'a S,
}

/// The tensors of listed members in a sphere. Time: one pass per iteration.
pub fn tensors_in_sphere(
    members: &HaloMembers,
    list: &[u32],
    centre: [f64; 3],
    radius: f64,
) -> InertiaTensors {
    let Ok(found) = InertiaSphere { members, centre, slices: &Whole }.tensors(list, |_| true, radius);
    found
}

impl<S: Slices> InertiaSphere<'_, S> {
    /// The tensors of each component of listed members in spheres of ten of its half-mass radii. `number` has
    /// the members of each type in all slices.
    pub fn by_component(
        &self,
        list: &[u32],
        number: &[u64; N_TYPES],
        half_mass_radius: &ByComponent<f64>,
    ) -> Result<ByComponent<InertiaTensors>, S::Error> {
        let types = &self.members.columns().particle_type;
        let mut found = [InertiaTensors::default(); 5];
        for (i, component) in Component::ALL.into_iter().enumerate() {
            let radius = HALF_MASS_RADII * half_mass_radius.of(component);
            // Of the same members the tensors are the same.
            let same = (0..i).find(|j| {
                (0..8)
                    .all(|t| number[usize::from(t)] == 0 || Component::ALL[*j].holds(t) == component.holds(t))
            });
            found[i] = match same {
                Some(same) => found[same],
                None => self.tensors(list, |member| component.holds(types[member]), radius)?,
            };
        }
        Ok(ByComponent(found))
    }

    /// The tensors of the listed members that a closure holds.
    fn tensors(
        &self,
        list: &[u32],
        holds: impl Fn(usize) -> bool,
        radius: f64,
    ) -> Result<InertiaTensors, S::Error> {
        if radius <= 0.0 {
            return Ok(InertiaTensors::default());
        }
        let offsets = Offsets::new(self, list, holds);
        let per_square = 1.0 / (radius * radius);
        let sphere = [per_square, per_square, per_square, 0.0, 0.0, 0.0];
        let mut found = InertiaTensors {
            plain_in_sphere: offsets.tensor(&sphere, Weight::Plain)?,
            reduced_in_sphere: offsets.tensor(&sphere, Weight::Reduced)?,
            ..InertiaTensors::default()
        };
        if let Some(tensor) = found.plain_in_sphere {
            found.plain = offsets.iterated(tensor, radius, Weight::Plain)?;
        }
        if let Some(tensor) = found.reduced_in_sphere {
            found.reduced = offsets.iterated(tensor, radius, Weight::Reduced)?;
        }
        Ok(found)
    }
}

impl<'a, S: Slices> Offsets<'a, S> {
    fn new(sphere: &InertiaSphere<'a, S>, list: &[u32], holds: impl Fn(usize) -> bool) -> Self {
        let InertiaSphere { members, centre, slices } = *sphere;
        let columns = members.columns();
        let mut offsets = Self {
            x: [const { Vec::new() }; 3],
            mass: Vec::new(),
            blocks: Vec::new(),
            bounds: members.bounds(),
            slices,
        };
        for run in members.runs(list) {
            let inside = list[run].iter().map(|member| *member as usize).filter(|member| holds(*member));
            for (n, member) in inside.enumerate() {
                let lane = n % 8;
                if lane == 0 {
                    // Unused lanes are outside every ellipsoid.
                    offsets.x.iter_mut().for_each(|x| x.push([f64::INFINITY; 8]));
                    offsets.mass.push([0.0; 8]);
                }
                let last = offsets.mass.len() - 1;
                (0..3).for_each(|a| offsets.x[a][last][lane] = columns.position[member][a] - centre[a]);
                offsets.mass[last][lane] = columns.mass[member];
            }
            offsets.blocks.push(offsets.mass.len());
        }
        offsets
    }

    /// The tensor after iterations from that of a sphere.
    fn iterated(
        &self,
        in_sphere: [f64; 6],
        radius: f64,
        weight: Weight,
    ) -> Result<Option<[f64; 6]>, S::Error> {
        let mut tensor = in_sphere;
        let mut ratio = 1.0;
        for _ in 0..MOST {
            let axes = principal_axes(tensor);
            if axes.value[2] <= 0.0 {
                // A flat shape has no ellipsoid of equal volume.
                return Ok(Some(tensor));
            }
            let next = (axes.value[1] / axes.value[0]).sqrt();
            if (next - ratio).abs() < CHANGE {
                return Ok(Some(tensor));
            }
            ratio = next;
            match self.tensor(&ellipsoid(&axes, radius), weight)? {
                Some(next) => tensor = next,
                None => return Ok(None),
            }
        }
        Ok(Some(tensor))
    }

    /// The tensor of the members in an ellipsoid; `None` for fewer than 20 or without mass.
    fn tensor(&self, ellipsoid: &Ellipsoid, weight: Weight) -> Result<Option<[f64; 6]>, S::Error> {
        let (number, mass) = (1.0, self.bounds.mass);
        // Of a reduced tensor each term is at most the mass.
        let second = match weight {
            Weight::Plain => mass * (4.0 * self.bounds.reach * self.bounds.reach),
            Weight::Reduced => mass,
        };
        let most = [number, mass, second, second, second, second, second, second];
        let mut sums = BlockSums::new(self.bounds, most);
        let starts = std::iter::once(&0).chain(&self.blocks);
        let runs = starts.zip(&self.blocks).map(|(first, end)| *first..*end);
        let Self { x, mass, .. } = self;
        sums.add_blocks(self.slices, runs, |run| sums_inside(x, mass, ellipsoid, run, weight));
        let [number, mass, second @ ..] = sums.over(self.slices)?;
        Ok((number as u64 >= FEWEST && mass > 0.0).then(|| second.map(|sum: f64| sum / mass)))
    }
}

/// Number, mass and weighted second moments inside an ellipsoid of a run of members. It is not generic, so that
/// this crate compiles it, with its own optimisation.
fn sums_inside(
    x: &[Vec<[f64; 8]>; 3],
    mass: &[[f64; 8]],
    ellipsoid: &Ellipsoid,
    run: Range<usize>,
    weight: Weight,
) -> [f64; 8] {
    wide(
        #[inline(always)]
        || match weight {
            Weight::Plain => sums_by_lanes::<false>(x, mass, ellipsoid, run),
            Weight::Reduced => sums_by_lanes::<true>(x, mass, ellipsoid, run),
        },
    )
}

/// The same by eight lanes that are joined at the end.
#[inline(always)]
fn sums_by_lanes<const REDUCED: bool>(
    [all_x, all_y, all_z]: &[Vec<[f64; 8]>; 3],
    mass: &[[f64; 8]],
    ellipsoid: &Ellipsoid,
    run: Range<usize>,
) -> [f64; 8] {
    let [xx, yy, zz, xy, xz, yz] = *ellipsoid;
    let mut sums = [[0.0; 8]; 8];
    let places = all_x[run.clone()].iter().zip(&all_y[run.clone()]).zip(&all_z[run.clone()]);
    for (((xs, ys), zs), masses) in places.zip(&mass[run]) {
        for i in 0..8 {
            let (x, y, z) = (xs[i], ys[i], zs[i]);
            let form = xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + xz * x * z + yz * y * z);
            let r2 = x * x + y * y + z * z;
            let inside = (form <= 1.0) & (!REDUCED | (r2 > 0.0));
            let mass = if inside { masses[i] } else { 0.0 };
            let weight = if REDUCED { mass / r2 } else { mass };
            let weight = if inside { weight } else { 0.0 };
            let (x, y, z) = if inside { (x, y, z) } else { (0.0, 0.0, 0.0) };
            sums[0][i] += if inside { 1.0 } else { 0.0 };
            sums[1][i] += mass;
            sums[2][i] += weight * x * x;
            sums[3][i] += weight * y * y;
            sums[4][i] += weight * z * z;
            sums[5][i] += weight * x * y;
            sums[6][i] += weight * x * z;
            sums[7][i] += weight * y * z;
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// The ellipsoid with the axes of a tensor and the volume of a sphere.
fn ellipsoid(axes: &PrincipalAxes, radius: f64) -> Ellipsoid {
    let [a, b, c] = axes.value;
    // Semi-axes are radius sqrt(value / mean), with the geometric mean.
    let mean = power(a, 1.0 / 3.0) * power(b, 1.0 / 3.0) * power(c, 1.0 / 3.0);
    let scale = [a, b, c].map(|value| mean / (value * radius * radius));
    let element =
        |p: usize, q: usize| (0..3).fold(0.0, |sum, k| sum + scale[k] * axes.axis[k][p] * axes.axis[k][q]);
    [element(0, 0), element(1, 1), element(2, 2), element(0, 1), element(0, 2), element(1, 2)]
}
