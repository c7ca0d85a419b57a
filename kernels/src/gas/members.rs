//! Cells of one halo in one order, and which of them belong to each of its clumps.

use super::GasCell;
use crate::bound::unbind::hierarchy::{ClumpTree, ClumpTreeError, NO_CLUMP};
use crate::bound::{HaloMembers, MemberColumns, MemberError};

/// The cells of one halo, in the order of (Morton key, place in the caller's order). A member is named by its number in it.
#[derive(Debug, Clone, PartialEq)]
pub struct GasMembers {
    order: HaloMembers,
    cells: Vec<GasCell>,
}

impl GasMembers {
    /// Checks and sorts cells. Their places decide between equals, so the caller has one order for them.
    ///
    /// # Errors
    /// When a position, velocity or mass is not valid.
    pub fn new(cells: &[GasCell]) -> Result<Self, MemberError> {
        let n = cells.len();
        let order = HaloMembers::new(MemberColumns {
            position: cells.iter().map(|cell| cell.position).collect(),
            velocity: cells.iter().map(|cell| cell.velocity).collect(),
            mass: cells.iter().map(|cell| cell.mass).collect(),
            // Cells act on each other as points.
            softening: vec![0.0; n],
            particle_type: vec![0; n],
            internal_energy: Vec::new(),
            id: (0..n as u64).collect(),
        })?;
        let cells = order.entries().iter().map(|entry| cells[*entry as usize]).collect();
        Ok(Self { order, cells })
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

    pub(super) fn order(&self) -> &HaloMembers {
        &self.order
    }
}

/// The members of the clumps of a halo, each list by rising number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NestedLists {
    /// Of each clump, those of its own patches.
    pub own: Vec<Vec<u32>>,
    /// Of each clump that has clumps in it, also those of these clumps. `None`: its own are all.
    pub inclusive: Vec<Option<Vec<u32>>>,
}

impl NestedLists {
    /// Lists the members of each clump. `clump_of` names the clump of each member or [`NO_CLUMP`], `parent` the
    /// clump that each clump merges into, which is `None` for a main clump.
    ///
    /// # Errors
    /// When the clumps are no tree.
    pub fn new(
        members: &GasMembers,
        clump_of: &[u32],
        parent: &[Option<u32>],
    ) -> Result<Self, ClumpTreeError> {
        let centre = vec![[0.0; 3]; parent.len()];
        let tree = ClumpTree { clump_of, parent, centre: &centre };
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
