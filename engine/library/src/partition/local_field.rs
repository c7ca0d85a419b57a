//! The cells of one rank: its own cells and its ghosts.

use super::ghosts::Ghosts;
use super::held_cells::HeldCells;
use super::lowered::LoweredLeaves;
use super::oct_record::OctRecord;
use super::splits::{Splits, owner_of_place};
use super::test_rule::TestRule;
use crate::field::AmrField;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::CellIdx;
use inselberg_kernels::mesh::local;
use inselberg_kernels::phew::test_cells::TestCells;

/// The cells of one rank: its own cells and its ghosts.
///
/// Every cell is owned by one rank. The ghosts of a rank are all cells of other ranks that touch or contain
/// one of its own leaves, at any level, and all that touch or contain an ancestor of one of its own cells and
/// are no finer than it. Octs of ghosts may be incomplete.
#[derive(Debug, Clone)]
pub struct LocalField {
    /// Mesh and density of own cells and ghosts.
    pub field: AmrField,
    /// For every brick of the mesh, the mask of own cells: a subset of those that exist.
    pub own: Vec<u64>,
    /// Links to other ranks.
    pub ghosts: Ghosts,
    /// The owner of each cell.
    pub splits: Splits,
    /// Further fields, one vector per field: one value per own test cell, in the order of the cells.
    pub extra: Vec<Vec<f64>>,
    /// The leaves that do not take part, if any.
    pub lowered: LoweredLeaves,
}

impl LocalField {
    /// A whole field on one rank. Linear in the bricks.
    pub fn whole(field: AmrField) -> Self {
        let own = field.mesh.bricks().iter().map(|brick| brick.exists).collect();
        Self {
            field,
            own,
            ghosts: Ghosts::default(),
            splits: Splits::one(0),
            extra: Vec::new(),
            lowered: LoweredLeaves::default(),
        }
    }

    /// Number of own cells, leaves and split cells. Linear in the bricks.
    pub fn n_own(&self) -> usize {
        self.own.iter().map(|mask| mask.count_ones() as usize).sum()
    }

    /// Number of own leaf cells. Linear in the bricks.
    pub fn n_own_leaves(&self) -> usize {
        let own_leaves = self.field.mesh.bricks().iter().zip(&self.own).map(|(b, own)| b.leaf & own);
        own_leaves.map(|mask| mask.count_ones() as usize).sum()
    }

    /// Collective: compares this part with those of the other ranks. Both sides of every link must have the
    /// same cells in the same order, and every cell must be either own or a ghost. For tests and debug
    /// builds.
    ///
    /// # Errors
    /// When they differ, or another rank fails.
    pub fn check(&self, comm: &Comm) -> Result<(), CommError> {
        self.ghosts.check(comm, &self.field.mesh, &self.splits)?;
        if self.n_own() + self.ghosts.len() != self.field.mesh.n_cells() {
            let what = format!("{} has cells that are neither its own nor ghosts", comm.rank());
            return Err(CommError::Mismatch { what });
        }
        let ghosts = self.ghosts.links().iter().flat_map(|link| &link.ghosts);
        match ghosts.copied().find(|ghost| self.is_own(CellIdx(*ghost))) {
            None => Ok(()),
            Some(cell) => {
                let what = format!("cell {cell} of {} is both its own and a ghost", comm.rank());
                Err(CommError::Mismatch { what })
            }
        }
    }

    /// Whether a cell is this rank's own. Logarithmic in the bricks.
    pub fn is_own(&self, cell: CellIdx) -> bool {
        let (brick, bit) = self.place(cell);
        self.own[brick] >> bit & 1 == 1
    }

    /// The links between test cells only, as indices into `test_cells`: the test cells of this part, ghosts
    /// included. Local; logarithmic in the bricks per ghost and mirror.
    pub fn test_links(&self, test_cells: &TestCells) -> Ghosts {
        self.ghosts.restrict(|cell| {
            let (brick, bit) = self.place(cell);
            test_cells.at(brick, bit).map(|test| test.0)
        })
    }

    /// The brick of a cell and its bit there.
    fn place(&self, cell: CellIdx) -> (usize, u32) {
        let bricks = self.field.mesh.bricks();
        let b = bricks.partition_point(|brick| brick.first <= cell.0) - 1;
        (b, local::nth_set_bit(bricks[b].exists, cell.0 - bricks[b].first))
    }

    /// The own cells with their densities, to be partitioned again.
    pub(super) fn into_held(self) -> HeldCells {
        let (mesh, mut held) = (&self.field.mesh, HeldCells::default());
        for s in 0..mesh.supers().len() {
            let level = mesh.level_of_super(s);
            for b in mesh.bricks_of(&mesh.supers()[s]) {
                let brick = &mesh.bricks()[b];
                for bit in local::bits(self.own[b]) {
                    let cell = brick.cell(bit).expect("an own cell exists");
                    let rho = self.field.rho[cell.at()];
                    let position = local::position_of(brick.position, bit);
                    held.add(OctRecord::of_cell(level, position, brick.leaf >> bit & 1 == 1, rho));
                }
            }
        }
        held
    }

    /// Lowers the density of the leaves that do not take part to at most the threshold, so that they are no
    /// test cells.
    pub fn lower_others(&mut self, tests: &TestRule) {
        self.lowered = LoweredLeaves::of(&mut self.field, tests);
    }

    /// The density of a cell, also of one whose density is lowered.
    pub fn density(&self, cell: CellIdx) -> f64 {
        self.lowered.density(&self.field, cell)
    }

    /// Gives all leaves their own densities again.
    pub fn raise(&mut self) {
        std::mem::take(&mut self.lowered).raise(&mut self.field);
    }

    /// The rank that owns the leaf around a point, in units of the level-0 cell; none outside the box.
    pub fn owner_of(&self, position: [f64; 3]) -> Option<Rank> {
        owner_of_place(&self.splits, self.field.mesh.domain(), position)
    }
}
