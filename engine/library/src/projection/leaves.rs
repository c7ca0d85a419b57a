//! The leaves of a mesh, kept for maps.

use super::maps::{KeptForMaps, Mappable, check_views, maps};
use super::view::{DensityMap, Exposure, MapBox, View};
use crate::error::{Error, ErrorKind};
use crate::partition::LocalField;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::geom::{Domain, cell_side};
use inselberg_kernels::mesh::{Mesh, local};
use inselberg_kernels::particle_mesh::TestLevel;
use inselberg_kernels::sfc::position63;

/// Cells along a side of a brick.
const BRICK: u32 = 4;

/// The leaves of one rank with their densities, for maps.
#[derive(Debug)]
pub struct KeptLeaves {
    leaves: Leaves,
    /// Side of a level-0 cell.
    side: f64,
    space: MapBox,
    /// Side of the smallest leaf of all ranks.
    finest: f64,
}

#[derive(Debug)]
enum Leaves {
    /// Own leaves of a field.
    Field { mesh: Box<Mesh>, rho: Vec<f64>, own: Vec<u64> },
    /// Leaves of the roots of a mesh of particles.
    Roots(RootLeaves),
    /// Leaves of a catalogue.
    List(ListedLeaves),
}

/// The leaves that a catalogue lists: one row per leaf.
#[derive(Debug)]
pub struct ListedLeaves {
    /// The box.
    pub domain: Domain,
    /// Levels.
    pub level: Vec<u8>,
    /// Positions on the grids of their levels.
    pub ijk: Vec<[u32; 3]>,
    /// Densities.
    pub density: Vec<f64>,
}

/// All leaves of the roots that a rank owns.
#[derive(Debug)]
pub struct RootLeaves {
    /// The box.
    pub domain: Domain,
    /// The coarsest level of leaves.
    pub level_min: u8,
    /// By root, the leaves of each level from `level_min` on.
    pub roots: Vec<Vec<TestLevel>>,
}

impl KeptLeaves {
    /// Collective: the own leaves of a part; `side` is that of a level-0 cell.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn of_part(part: LocalField, side: f64, comm: &Comm) -> Result<Self, CommError> {
        let LocalField { field, own, .. } = part;
        let (domain, deepest) = (*field.mesh.domain(), field.mesh.n_levels().max(1) - 1);
        let leaves = Leaves::Field { mesh: Box::new(field.mesh), rho: field.rho, own };
        Self::new(leaves, (domain, deepest), side, comm)
    }

    /// Collective: of roots.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn of_roots(roots: RootLeaves, side: f64, comm: &Comm) -> Result<Self, CommError> {
        let has_leaves = |depth: &usize| roots.roots.iter().any(|levels| !levels[*depth].rho.is_empty());
        let n_levels = roots.roots.first().map_or(0, Vec::len);
        let depth = (0..n_levels).rev().find(has_leaves).unwrap_or(0);
        let (domain, deepest) = (roots.domain, roots.level_min + depth as u8);
        Self::new(Leaves::Roots(roots), (domain, deepest), side, comm)
    }

    /// Local: of a catalogue. `side` is that of a level-0 cell.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidCells`] for a leaf outside of the box, or with a density that is not finite.
    pub fn of_rows(rows: ListedLeaves, side: f64) -> Result<Self, Error> {
        let ListedLeaves { domain, level, ijk, density } = &rows;
        let is_inside = |level: u8, ijk: &[u32; 3]| {
            let extent = domain.holds_level(level).then(|| domain.extent(level));
            extent.is_some_and(|extent| (0..3).all(|axis| i64::from(ijk[axis]) < extent[axis]))
        };
        let is_good = |i: &usize| is_inside(level[*i], &ijk[*i]) && density[*i].is_finite();
        if let Some(bad) = (0..level.len()).find(|i| !is_good(i)) {
            let place = format!("level {}, position {:?}, density {}", level[bad], ijk[bad], density[bad]);
            let message = format!("cell {bad}: {place}; expected a cell in the box with a finite density");
            return Err(Error::new(ErrorKind::InvalidCells, message));
        }
        let (domain, deepest) = (*domain, level.iter().copied().max().unwrap_or(0));
        Ok(Self::new(Leaves::List(rows), (domain, deepest), side, &Comm::solo())?)
    }

    /// Local: as [`maps`], with the leaves of this rank only.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for views that cannot be made.
    pub fn maps(&self, views: &[View]) -> Result<Vec<DensityMap>, Error> {
        check_views(views, &self.space)?;
        Ok(maps(self, &self.space, views, &Comm::solo())?.expect("the only rank has the maps"))
    }

    fn new(
        leaves: Leaves,
        (domain, deepest): (Domain, u8),
        side: f64,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let sides = domain.coarse.map(|n| f64::from(n) * side);
        let deepest = comm.all_max(&[f64::from(deepest)])?[0] as u8;
        let space = MapBox { low: [0.0; 3], sides, periodic: domain.periodic };
        Ok(Self { leaves, side, space, finest: cell_side(deepest) * side })
    }

    /// The same leaves in a box with this lower corner.
    #[must_use]
    pub fn at_origin(mut self, origin: [f64; 3]) -> Self {
        self.space.low = origin;
        self
    }

    /// The box.
    pub fn space(&self) -> &MapBox {
        &self.space
    }

    /// The side of the smallest leaf of all ranks.
    pub fn finest(&self) -> f64 {
        self.finest
    }
}

/// Calls `leaf` with level, position and density of the own leaves of a field in each brick for which
/// `is_near`.
fn each_of_field(
    mesh: &Mesh,
    rho: &[f64],
    own: &[u64],
    is_near: &dyn Fn(u8, [u32; 3]) -> bool,
    leaf: &mut dyn FnMut(u8, [u32; 3], f64),
) {
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let level = mesh.level_of_super(s);
        for b in mesh.bricks_of(super_brick) {
            let brick = &mesh.bricks()[b];
            let mask = brick.leaf & own[b];
            if mask == 0 || !is_near(level, brick.position) {
                continue;
            }
            for bit in local::bits(mask) {
                let cell = brick.cell(bit).expect("a leaf is a cell");
                leaf(level, local::position_of(brick.position, bit), rho[cell.at()]);
            }
        }
    }
}

impl KeptForMaps for KeptLeaves {
    fn space(&self) -> &MapBox {
        &self.space
    }

    fn finest(&self) -> f64 {
        self.finest
    }
}

/// Leaves of a mesh, as maps show them.
trait EachLeaf: Sync {
    /// Calls `leaf` with level, position and density of the leaves in each brick for which `is_near`.
    fn each_leaf(&self, is_near: &dyn Fn(u8, [u32; 3]) -> bool, leaf: &mut dyn FnMut(u8, [u32; 3], f64));

    /// The lower corner of the box, and the side of a level-0 cell.
    fn place(&self) -> ([f64; 3], f64);
}

impl EachLeaf for KeptLeaves {
    fn each_leaf(&self, is_near: &dyn Fn(u8, [u32; 3]) -> bool, leaf: &mut dyn FnMut(u8, [u32; 3], f64)) {
        match &self.leaves {
            Leaves::Field { mesh, rho, own } => each_of_field(mesh, rho, own, is_near, leaf),
            Leaves::Roots(RootLeaves { level_min, roots, .. }) => {
                for (level, leaves) in roots.iter().flat_map(|levels| (*level_min..).zip(levels)) {
                    let mut first = 0;
                    for (key, mask) in leaves.key.iter().zip(&leaves.mask) {
                        let (brick, n) = (position63(*key), mask.count_ones() as usize);
                        if is_near(level, brick) {
                            for (bit, rho) in local::bits(*mask).zip(&leaves.rho[first..first + n]) {
                                leaf(level, local::position_of(brick, bit), *rho);
                            }
                        }
                        first += n;
                    }
                }
            }
            Leaves::List(ListedLeaves { level, ijk, density, .. }) => {
                for ((level, ijk), density) in level.iter().zip(ijk).zip(density) {
                    if is_near(*level, ijk.map(|x| x / BRICK)) {
                        leaf(*level, *ijk, *density);
                    }
                }
            }
        }
    }

    fn place(&self) -> ([f64; 3], f64) {
        (self.space.low, self.side)
    }
}

/// The own leaves of a part, in units of the level-0 cell.
impl EachLeaf for LocalField {
    fn each_leaf(&self, is_near: &dyn Fn(u8, [u32; 3]) -> bool, leaf: &mut dyn FnMut(u8, [u32; 3], f64)) {
        each_of_field(&self.field.mesh, &self.field.rho, &self.own, is_near, leaf);
    }

    fn place(&self) -> ([f64; 3], f64) {
        ([0.0; 3], 1.0)
    }
}

impl<T: EachLeaf> Mappable for T {
    fn bounds(&self) -> (u64, f64) {
        let (mut n, mut greatest) = (0, 0.0);
        self.each_leaf(&|_, _| true, &mut |_, _, rho| {
            n += 1;
            greatest = f64::max(greatest, rho.abs());
        });
        (n, greatest)
    }

    fn add_to(&self, exposure: &mut Exposure) {
        let (seen, (low, coarse)) = (exposure.sight(), self.place());
        let side = |level: u8| cell_side(level) * coarse;
        let place = |x: [u32; 3], side: f64| std::array::from_fn(|a| low[a] + f64::from(x[a]) * side);
        let is_near = |level: u8, brick: [u32; 3]| {
            let side = side(level) * f64::from(BRICK);
            seen.reaches(place(brick, side), [side; 3])
        };
        self.each_leaf(&is_near, &mut |level, position, rho| {
            let side = side(level);
            exposure.add(place(position, side), [side; 3], rho);
        });
    }
}
