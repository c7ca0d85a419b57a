//! Cells of one halo in one order, and which of them belong to each of its clumps.

use super::GasCell;
use crate::bound::slices::{BLOCK, BlockSums, Slices, Whole, greatest};
use crate::bound::unbind::hierarchy::{ClumpTree, ClumpTreeError, NO_CLUMP, PeaklessClumps};
use crate::bound::{HaloBounds, HaloMembers, MemberColumns, MemberError};

/// The cells of one halo, or those of a slice of it, in the order of (Morton key, place in the caller's
/// order). A member is named by its number in it.
#[derive(Debug, Clone, PartialEq)]
pub struct GasMembers {
    order: HaloMembers,
    cells: Vec<GasCell>,
    bounds: GasBounds,
}

/// The bounds of the whole halo that sums over some cells need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GasBounds {
    /// The bounds that sums over any members need.
    pub members: HaloBounds,
    /// The greatest side.
    pub side: f64,
    /// The greatest pressure.
    pub pressure: f64,
    /// The greatest magnetic energy per volume.
    pub magnetic: f64,
}

impl GasBounds {
    /// The bounds of these cells, with `block` cells per block of sums.
    pub fn new<'a>(cells: impl Iterator<Item = &'a GasCell>, block: u64) -> Self {
        let members = HaloBounds { number: 0, mass: 0.0, reach: 0.0, speed: 0.0, block };
        let none = Self { members, side: 0.0, pressure: 0.0, magnetic: 0.0 };
        let longest = |most: f64, x: &[f64; 3]| x.iter().fold(most, |most, x| most.max(x.abs()));
        cells.fold(none, |Self { members, side, pressure, magnetic }, cell| Self {
            members: HaloBounds {
                number: members.number + 1,
                mass: members.mass.max(cell.mass),
                reach: longest(members.reach, &cell.position),
                speed: longest(members.speed, &cell.velocity),
                block,
            },
            side: side.max(cell.side),
            pressure: pressure.max(cell.pressure),
            magnetic: magnetic.max(cell.magnetic),
        })
    }

    /// The bounds of a halo from those of its slices.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn over<S: Slices>(&self, slices: &S) -> Result<Self, S::Error> {
        let [side, pressure, magnetic] = greatest(slices, [self.side, self.pressure, self.magnetic])?;
        Ok(Self { members: self.members.over(slices)?, side, pressure, magnetic })
    }
}

impl GasMembers {
    /// Checks and sorts cells. Their places decide between equals, so the caller has one order for them.
    ///
    /// # Errors
    /// When a position, velocity or mass is not valid.
    pub fn new(cells: &[GasCell]) -> Result<Self, MemberError> {
        Self::in_blocks(cells, BLOCK, &Whole)
    }

    /// The same, with `block` cells per block of sums, on the threads of `slices`.
    ///
    /// # Errors
    /// When a position, velocity or mass is not valid.
    pub fn in_blocks<S: Slices>(cells: &[GasCell], block: u64, slices: &S) -> Result<Self, MemberError> {
        let columns = columns(cells, (0..cells.len() as u64).collect());
        let order = HaloMembers::in_blocks(columns, block, slices)?;
        let cells: Vec<GasCell> = order.entries().iter().map(|entry| cells[*entry as usize]).collect();
        let bounds = GasBounds::new(cells.iter(), block);
        Ok(Self { order, cells, bounds })
    }

    /// Some cells of a halo: in the order of (key, identifier), with the bounds of the whole halo. `blocks`
    /// has the first cell of each block.
    ///
    /// # Errors
    /// When a position, velocity or mass is not valid.
    pub fn of_slice(
        cells: Vec<GasCell>,
        id: Vec<u64>,
        bounds: GasBounds,
        blocks: Vec<u32>,
    ) -> Result<Self, MemberError> {
        let columns = columns(&cells, id);
        columns.check()?;
        Ok(Self { order: HaloMembers::of_slice(columns, bounds.members, blocks), cells, bounds })
    }

    /// The place of each member in the caller's order.
    pub fn entries(&self) -> &[u32] {
        self.order.entries()
    }

    /// A member.
    #[inline]
    pub fn cell(&self, member: u32) -> &GasCell {
        &self.cells[member as usize]
    }

    /// The bounds of the whole halo that sums need.
    pub fn bounds(&self) -> &GasBounds {
        &self.bounds
    }

    pub(super) fn order(&self) -> &HaloMembers {
        &self.order
    }
}

fn columns(cells: &[GasCell], id: Vec<u64>) -> MemberColumns {
    MemberColumns {
        position: cells.iter().map(|cell| cell.position).collect(),
        velocity: cells.iter().map(|cell| cell.velocity).collect(),
        mass: cells.iter().map(|cell| cell.mass).collect(),
        // Cells attract each other as points.
        softening: vec![0.0; cells.len()],
        particle_type: vec![0; cells.len()],
        internal_energy: Vec::new(),
        id,
        former_rank: Vec::new(),
    }
}

/// Some cells of a slice, by rising number.
#[derive(Debug, Clone, Copy)]
pub struct ListedCells<'a, S> {
    /// All cells of the slice.
    pub members: &'a GasMembers,
    /// The cells of the list.
    pub list: &'a [u32],
    /// The connection of the slices.
    pub slices: &'a S,
}

impl<'a, S: Slices> ListedCells<'a, S> {
    /// The cells of this slice.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a GasCell> + use<'a, S> {
        let members = self.members;
        self.list.iter().map(move |member| members.cell(*member))
    }

    /// Sums over the cells of all slices, of terms no greater than `most`. The closure gets the place of a
    /// cell in the list.
    pub(super) fn sums<const N: usize>(
        &self,
        most: [f64; N],
        terms: impl Fn(usize, &GasCell) -> [f64; N],
    ) -> Result<[f64; N], S::Error> {
        let mut sums = BlockSums::new(&self.members.bounds.members, most);
        for run in self.members.order.runs(self.list) {
            sums.add(run.fold([0.0; N], |block, place| {
                let terms = terms(place, self.members.cell(self.list[place]));
                std::array::from_fn(|i| block[i] + terms[i])
            }));
        }
        sums.over(self.slices)
    }
}

/// The members of the clumps of a halo, each list by rising number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NestedLists {
    /// The members of each clump in its own patches.
    pub own: Vec<Vec<u32>>,
    /// The same including those of subclumps, for each clump that has subclumps; else `None`.
    pub inclusive: Vec<Option<Vec<u32>>>,
}

impl NestedLists {
    /// Lists the members of each clump. `clump_of` names the clump of each member or [`NO_CLUMP`], `parent`
    /// the clump that each clump merges into, which is `None` for a main clump.
    ///
    /// # Errors
    /// When the clumps are no tree.
    pub fn new(
        members: &GasMembers,
        clump_of: &[u32],
        parent: &[Option<u32>],
    ) -> Result<Self, ClumpTreeError> {
        let centre = vec![[0.0; 3]; parent.len()];
        let tree =
            ClumpTree { clump_of, parent, centre: &centre, whole: None, peakless: PeaklessClumps::default() };
        let children_first = tree.children_first(members.order())?;
        let mut own = vec![Vec::new(); parent.len()];
        let in_clumps = (0..).zip(clump_of).filter(|(_, clump)| **clump != NO_CLUMP);
        in_clumps.for_each(|(member, clump)| own[*clump as usize].push(member));
        let mut inclusive: Vec<Option<Vec<u32>>> = vec![None; parent.len()];
        for clump in children_first {
            let at = clump as usize;
            if let Some(list) = &mut inclusive[at] {
                list.extend_from_slice(&own[at]);
                list.sort_unstable();
            }
            if let Some(parent) = parent[at] {
                let all = inclusive[at].as_ref().unwrap_or(&own[at]).clone();
                inclusive[parent as usize].get_or_insert_default().extend_from_slice(&all);
            }
        }
        Ok(Self { own, inclusive })
    }

    /// The members of a clump and of all clumps in it.
    pub fn inclusive(&self, clump: usize) -> &[u32] {
        self.inclusive[clump].as_ref().unwrap_or(&self.own[clump])
    }
}
