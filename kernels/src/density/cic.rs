//! Two ways to share out the mass of a particle.

use super::Deposit;
use crate::geom::cell_side;
use crate::ids::CellIdx;
use crate::mesh::Mesh;

/// Deposits particles on every level whose cells exist at their position, with that level's cell
/// size, on the cells of that level alone; what would fall elsewhere is dropped. This is what RAMSES
/// does: leaves do not hold all the mass, split cells have a value too.
///
/// Positions in units of the level-0 cell, within the box.
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
    for corner in 0..8 {
        let (at, weight) = cloud.corner(corner);
        let cell = mesh.domain().wrap(level, at).and_then(|p| mesh.find(level, p));
        if let Some(cell) = cell {
            out.add(cell, mass * weight);
        }
    }
}

/// Deposits particles as cubes of the size of the leaf that each lies in, sharing the mass by
/// overlap with the leaves, whatever their levels. Nothing is lost; at a wall that does not wrap the
/// part outside stays in the particle's own leaf. Split cells get nothing.
///
/// Positions in units of the level-0 cell, within the box.
pub fn deposit_conserving(mesh: &Mesh, position: &[[f64; 3]], mass: &[f64], out: &Deposit) {
    for (x, &m) in position.iter().zip(mass) {
        deposit_cloud(&CloudShares { mesh, out, whole: true }, *x, m);
    }
}

/// [`deposit_conserving`] on a part of an octree, which has the leaf of each particle, and all
/// ancestors of the cells whose masses matter: those get the same as from the whole octree, others may
/// get less.
pub fn deposit_conserving_part(mesh: &Mesh, position: &[[f64; 3]], mass: &[f64], out: &Deposit) {
    for (x, &m) in position.iter().zip(mass) {
        deposit_cloud(&CloudShares { mesh, out, whole: false }, *x, m);
    }
}

fn deposit_cloud(to: &CloudShares, x: [f64; 3], mass: f64) {
    let Some((level, own)) = leaf_at(to.mesh, x) else { return };
    let cloud = Cloud::new(level, x);
    for corner in 0..8 {
        let (at, weight) = cloud.corner(corner);
        match to.mesh.domain().wrap(level, at) {
            None => to.out.add(own, mass * weight),
            Some(p) => to.share(level, at, p, mass * weight, &cloud),
        }
    }
}

/// The leaf around a point and its level.
pub fn leaf_at(mesh: &Mesh, x: [f64; 3]) -> Option<(u8, CellIdx)> {
    let deepest = mesh.n_levels().checked_sub(1)?;
    let at = x.map(|x| (x / cell_side(deepest)).floor() as i64);
    let position = mesh.domain().wrap(deepest, at)?;
    mesh.find_covering_leaf(deepest, position)
}

/// Where the eight cells of `level` are that the cube of their size about a point touches; may lie
/// outside the box.
pub fn cloud_cells(level: u8, x: [f64; 3]) -> [[i64; 3]; 8] {
    let cloud = Cloud::new(level, x);
    std::array::from_fn(|corner| cloud.corner(corner).0)
}

/// What clouds are shared out to.
struct CloudShares<'a> {
    mesh: &'a Mesh,
    out: &'a Deposit,
    /// Whether all cells of the octree are there.
    whole: bool,
}

impl CloudShares<'_> {
    /// Gives `mass` to the leaf at `wrapped`, the coarser leaf around it, or the leaves in it.
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
        let whole = cloud.overlap(level, at);
        for child in 0..8 {
            let bit = |a: usize| child >> a & 1;
            let at = std::array::from_fn(|a| 2 * at[a] + bit(a) as i64);
            let wrapped = std::array::from_fn(|a| 2 * wrapped[a] + bit(a));
            let part = cloud.overlap(level + 1, at) / whole;
            if part > 0.0 && level + 1 < self.mesh.n_levels() {
                self.share(level + 1, at, wrapped, mass * part, cloud);
            }
        }
    }
}

/// A cube of the size of a cell of `level` about a particle.
pub(crate) struct Cloud {
    /// The lower of the two cells it touches along each axis.
    low: [i64; 3],
    /// The part of it in the higher one.
    high_part: [f64; 3],
    /// Its lower and upper corners in units of the level-0 cell.
    bounds: [[f64; 3]; 2],
}

impl Cloud {
    #[inline]
    pub fn new(level: u8, x: [f64; 3]) -> Self {
        let side = cell_side(level);
        let centre = x.map(|x| x / side + 0.5);
        let floor = centre.map(floor);
        let low = floor.map(|f| f as i64 - 1);
        let high_part = std::array::from_fn(|a| centre[a] - floor[a]);
        Self { low, high_part, bounds: [x.map(|x| x - 0.5 * side), x.map(|x| x + 0.5 * side)] }
    }

    /// One of the eight cells that it touches, and the part of it in that.
    #[inline]
    pub fn corner(&self, corner: usize) -> ([i64; 3], f64) {
        let bit = |a: usize| corner >> a & 1;
        let part = |a: usize| if bit(a) == 1 { self.high_part[a] } else { 1.0 - self.high_part[a] };
        (std::array::from_fn(|a| self.low[a] + bit(a) as i64), part(0) * part(1) * part(2))
    }

    /// The volume that it shares with a cell.
    #[inline]
    pub fn overlap(&self, level: u8, at: [i64; 3]) -> f64 {
        let along = |a: usize| self.overlap_along(level, a, at[a]);
        along(0) * along(1) * along(2)
    }

    /// The length that it shares with a cell along an axis.
    #[inline]
    pub fn overlap_along(&self, level: u8, a: usize, at: i64) -> f64 {
        let side = cell_side(level);
        let low = (at as f64 * side).max(self.bounds[0][a]);
        let high = ((at + 1) as f64 * side).min(self.bounds[1][a]);
        (high - low).max(0.0)
    }
}

/// The greatest whole number that is not above a number far from the limits of 64 bits; no call of a library.
#[inline]
fn floor(x: f64) -> f64 {
    let toward_zero = x as i64 as f64;
    if toward_zero > x { toward_zero - 1.0 } else { toward_zero }
}
