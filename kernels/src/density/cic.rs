//! Cloud-in-cell: how is the mass of a particle shared among cells?
//!
//! A cloud is a cube around the particle, of the size of the cell that it lies in. Each of the 8 cells that
//! it touches gets the part of the mass that is in it:
//!
//! ```text
//!     along one axis, x in cells             the share of cell i      the share of cell i + 1
//!
//!      |     i     |   i + 1   |
//!             [-----x-----]                  1 - high_part            high_part
//!                   cloud                    8 products of three such parts
//! ```
//!
//! Where a touched cell does not exist, one of two rules holds: RAMSES drops its part ([`deposit_ramses`]);
//! or the part goes to the leaf that covers the cell, or is shared by overlap among the leaves in it
//! ([`deposit_conserving`]). The particle mesh shares by [`Cloud`] too.

use super::Deposit;
use crate::geom::cell_side;
use crate::ids::CellIdx;
use crate::mesh::{Mesh, local};

/// Deposits particles on every level that has a cell at their position: with the cell size of that level, on
/// the cells of that level only. Parts outside them are dropped. This is what RAMSES does: leaves do not hold
/// all the mass, and split cells have a value too.
///
/// Positions are in units of the level-0 cell, inside the box.
pub fn deposit_ramses(mesh: &Mesh, position: &[[f64; 3]], mass: &[f64], out: &Deposit) {
    for (x, &m) in position.iter().zip(mass) {
        for level in 0..mesh.n_levels() {
            if mesh.supers_of(level).is_empty() {
                continue;
            }
            match find_at(mesh, level, *x) {
                Some(_) => deposit_on_level(mesh, level, *x, m, out),
                None if level > 0 && !mesh.supers_of(level - 1).is_empty() => break,
                None => {}
            }
        }
    }
}

fn find_at(mesh: &Mesh, level: u8, x: [f64; 3]) -> Option<CellIdx> {
    let at = x.map(|x| (x / cell_side(level)).floor() as i64);
    mesh.domain().wrap(level, at).and_then(|p| mesh.find(level, p))
}

fn deposit_on_level(mesh: &Mesh, level: u8, x: [f64; 3], mass: f64, out: &Deposit) {
    let cloud = Cloud::new(level, x);
    for (at, weight) in cloud.corners() {
        let cell = mesh.domain().wrap(level, at).and_then(|p| mesh.find(level, p));
        if let Some(cell) = cell {
            out.add(cell, mass * weight);
        }
    }
}

/// Deposits particles as cubes of the size of the leaf that each lies in, and shares the mass by overlap
/// among leaves of any level. No mass is lost: at a wall that is not periodic, the part outside goes to the
/// particle's own leaf. Split cells get nothing.
///
/// Positions are in units of the level-0 cell, inside the box.
pub fn deposit_conserving(mesh: &Mesh, position: &[[f64; 3]], mass: &[f64], out: &Deposit) {
    for (x, &m) in position.iter().zip(mass) {
        deposit_cloud(&CloudShares { mesh, out, whole: true }, *x, m);
    }
}

/// [`deposit_conserving`] on a part of an octree. The part must contain the leaf of each particle. Cells all
/// of whose ancestors are in the part get the same mass as from the whole octree; others may get less.
pub fn deposit_conserving_part(mesh: &Mesh, position: &[[f64; 3]], mass: &[f64], out: &Deposit) {
    for (x, &m) in position.iter().zip(mass) {
        deposit_cloud(&CloudShares { mesh, out, whole: false }, *x, m);
    }
}

fn deposit_cloud(to: &CloudShares, x: [f64; 3], mass: f64) {
    let Some((level, own)) = leaf_at(to.mesh, x) else { return };
    let cloud = Cloud::new(level, x);
    for (at, weight) in cloud.corners() {
        match to.mesh.domain().wrap(level, at) {
            None => to.out.add(own, mass * weight),
            Some(p) => to.share(level, at, p, mass * weight, &cloud),
        }
    }
}

/// The leaf that contains a point, and its level.
pub fn leaf_at(mesh: &Mesh, x: [f64; 3]) -> Option<(u8, CellIdx)> {
    let deepest = mesh.n_levels().checked_sub(1)?;
    let at = x.map(|x| (x / cell_side(deepest)).floor() as i64);
    let position = mesh.domain().wrap(deepest, at)?;
    mesh.find_covering_leaf(deepest, position)
}

/// The positions of the eight cells of `level` that a cloud around a point touches; they may be outside the
/// box.
pub fn cloud_cells(level: u8, x: [f64; 3]) -> [[i64; 3]; 8] {
    let cloud = Cloud::new(level, x);
    std::array::from_fn(|corner| cloud.cell(corner))
}

/// The target of [`deposit_conserving`].
struct CloudShares<'a> {
    mesh: &'a Mesh,
    out: &'a Deposit,
    /// Whether the mesh is a whole octree.
    whole: bool,
}

impl CloudShares<'_> {
    /// Adds `mass` to the leaf at `wrapped`, the coarser leaf that covers it, or the leaves in it.
    fn share(&self, level: u8, at: [i64; 3], wrapped: [u32; 3], mass: f64, cloud: &Cloud) {
        if mass == 0.0 {
            return;
        }
        if let Some((_, leaf)) = self.mesh.find_covering_leaf(level, wrapped) {
            return self.out.add(leaf, mass);
        }
        if !self.whole && self.mesh.find(level, wrapped).is_none() {
            return;
        }
        if level + 1 < self.mesh.n_levels() {
            for (child, part) in (0..).zip(cloud.parts(level, at)).filter(|(_, part)| *part > 0.0) {
                let wrapped = local::child_of(wrapped, child);
                self.share(level + 1, child_at(at, child), wrapped, mass * part, cloud);
            }
        }
    }
}

/// A cube of the size of a cell of some level around a particle.
pub(crate) struct Cloud {
    /// The lower of the two cells it touches along each axis.
    low: [i64; 3],
    /// The fraction of the cloud in the higher one.
    high_part: [f64; 3],
    /// Lower and upper corner in units of the level-0 cell.
    bounds: [[f64; 3]; 2],
}

impl Cloud {
    /// The cloud of a particle at `x` (in level-0 cells), of the size of a cell of `level`.
    #[inline(always)]
    pub fn new(level: u8, x: [f64; 3]) -> Self {
        let side = cell_side(level);
        // The side is a power of two, so its inverse is exact.
        let per_unit = 1.0 / side;
        let centre = x.map(|x| x * per_unit + 0.5);
        let floor = centre.map(floor);
        let low = floor.map(|f| f as i64 - 1);
        let high_part = std::array::from_fn(|a| centre[a] - floor[a]);
        Self { low, high_part, bounds: [x.map(|x| x - 0.5 * side), x.map(|x| x + 0.5 * side)] }
    }

    /// The fraction of the cloud in each of the eight cells that it touches, x fastest.
    #[inline(always)]
    pub fn weights(&self) -> [f64; 8] {
        let parts = self.high_part.map(|high| [1.0 - high, high]);
        std::array::from_fn(|corner| {
            let part = |a: usize| parts[a][corner >> a & 1];
            part(0) * part(1) * part(2)
        })
    }

    /// The position of one of the eight cells that it touches.
    #[inline(always)]
    pub fn cell(&self, corner: usize) -> [i64; 3] {
        std::array::from_fn(|a| self.low[a] + (corner >> a & 1) as i64)
    }

    /// The eight cells that it touches, and the fraction of the cloud in each.
    pub fn corners(&self) -> impl Iterator<Item = ([i64; 3], f64)> {
        self.weights().into_iter().enumerate().map(|(corner, weight)| (self.cell(corner), weight))
    }

    /// For each child of the cell of `level` at `at`, the fraction of the overlap with the cell that is in
    /// the child.
    #[inline(always)]
    pub fn parts(&self, level: u8, at: [i64; 3]) -> [f64; 8] {
        let whole = self.overlap(level, at);
        let half = |a: usize| [0, 1].map(|bit| self.overlap_along(level + 1, a, 2 * at[a] + bit));
        let halves = [half(0), half(1), half(2)];
        std::array::from_fn(|child| {
            let half = |a: usize| halves[a][child >> a & 1];
            let part = half(0) * half(1) * half(2) / whole;
            // Without an overlap it is not a number.
            if part > 0.0 { part } else { 0.0 }
        })
    }

    /// The volume of the overlap with a cell.
    #[inline(always)]
    fn overlap(&self, level: u8, at: [i64; 3]) -> f64 {
        let along = |a: usize| self.overlap_along(level, a, at[a]);
        along(0) * along(1) * along(2)
    }

    /// The length of the overlap with a cell along an axis.
    #[inline(always)]
    fn overlap_along(&self, level: u8, a: usize, at: i64) -> f64 {
        let side = cell_side(level);
        let low = (at as f64 * side).max(self.bounds[0][a]);
        let high = ((at + 1) as f64 * side).min(self.bounds[1][a]);
        (high - low).max(0.0)
    }
}

/// The position of child `child` of the cell at `at`, on the grid of the next finer level.
#[inline(always)]
pub(crate) fn child_at(at: [i64; 3], child: u32) -> [i64; 3] {
    std::array::from_fn(|a| 2 * at[a] + i64::from(child >> a & 1))
}

/// The floor of a number far from the limits of 64 bits. Unlike `f64::floor`, it is never a call of a
/// library.
#[inline(always)]
fn floor(x: f64) -> f64 {
    let toward_zero = x as i64 as f64;
    if toward_zero > x { toward_zero - 1.0 } else { toward_zero }
}
