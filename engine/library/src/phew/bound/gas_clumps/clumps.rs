//! The gas of the clumps of one halo whose cells are here, one task per clump.

use crate::bound::{HaloClump, HaloFrame};
use crate::phew::bound::gas::ClumpCell;
use crate::phew::bound::gas_clumps::rows::GasOfClump;
use crate::thread_loops::ThreadLoops;
use inselberg_kernels::bound::MemberError;
use inselberg_kernels::gas::{
    GasCell, GasMembers, GasProperties, GasRules, GasScratch, ListedCells, NestedLists,
    gas_properties_of_slices,
};
use inselberg_kernels::geom::{cell_centre, cell_side};
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// The constants and settings of the measurement of gas.
pub struct GasMeasure {
    /// The box.
    pub space: SizedBox,
    /// Gravity and specific heats.
    pub rules: GasRules,
    /// Cells per block of sums.
    pub block: u64,
}

/// Clumps of a halo as a tree.
pub struct GasClumps<'a> {
    /// The clumps, by identifier.
    pub clumps: &'a [HaloClump],
    /// The clump that each merges into, among these.
    pub parent: Vec<Option<u32>>,
    /// The frame of the halo.
    pub frame: HaloFrame,
}

impl GasMeasure {
    /// Local: the clumps of one halo with all its cells, the main one first.
    pub fn halo(&self, clumps: &[HaloClump], cells: &[ClumpCell]) -> Result<Vec<GasOfClump>, MemberError> {
        let of = GasClumps::of_halo(clumps, &self.space);
        let relative: Vec<GasCell> = cells.iter().map(|cell| of.relative(cell)).collect();
        let members = GasMembers::in_blocks(&relative, self.block, &ThreadLoops)?;
        drop(relative);
        let clump_of: Vec<u32> =
            members.entries().iter().map(|entry| of.place(cells[*entry as usize].clump)).collect();
        Ok(of.measure(&members, &clump_of, &self.rules))
    }
}

impl<'a> GasClumps<'a> {
    /// All clumps of a halo, the main one first.
    pub fn of_halo(clumps: &'a [HaloClump], space: &SizedBox) -> Self {
        let frame = HaloFrame { space: *space, peak: clumps[0].peak };
        let mut of = Self { clumps, parent: Vec::new(), frame };
        let parent = |clump: &HaloClump| (clump.id != clump.halo).then(|| of.place(clump.parent));
        of.parent = clumps.iter().map(parent).collect();
        of
    }

    /// The place of a clump. The cells of one that is not listed belong to the main clump.
    pub fn place(&self, id: u64) -> u32 {
        self.clumps.binary_search_by_key(&id, |clump| clump.id).unwrap_or(0) as u32
    }

    /// Local: measures these clumps. `clump_of` has the place of the clump of each cell.
    pub fn measure(&self, members: &GasMembers, clump_of: &[u32], rules: &GasRules) -> Vec<GasOfClump> {
        let lists = NestedLists::new(members, clump_of, &self.parent).expect("a tree of its own clumps");
        let measure = |scratch: &mut GasScratch, clump: usize| {
            let mut of = |list: &[u32]| {
                let cells = ListedCells { members, list, slices: &ThreadLoops };
                let Ok(found) = gas_properties_of_slices(&cells, rules, scratch);
                found
            };
            let own = of(&lists.own[clump]);
            let inclusive = lists.inclusive[clump].as_ref().map_or(own, |list| of(list));
            self.row(clump, own, inclusive)
        };
        // Clumps differ in size by orders of magnitude, so each is a task.
        let each = (0..self.clumps.len()).into_par_iter().with_max_len(1);
        each.map_init(GasScratch::default, measure).collect()
    }

    /// The row of a clump, with centres of mass in the box.
    pub fn row(&self, clump: usize, own: GasProperties, inclusive: GasProperties) -> GasOfClump {
        let HaloClump { id, halo, .. } = self.clumps[clump];
        GasOfClump { id, halo, own: self.in_box(own), inclusive: self.in_box(inclusive) }
    }

    /// A cell about the main peak.
    pub fn relative(&self, cell: &ClumpCell) -> GasCell {
        let (leaf, level, side) = (&cell.leaf, cell.leaf.level as u8, self.frame.space.side);
        GasCell {
            position: self.frame.relative(cell_centre(level, leaf.ijk).map(|x| x * side)),
            side: cell_side(level) * side,
            velocity: leaf.velocity,
            mass: leaf.mass,
            pressure: leaf.pressure,
            magnetic: leaf.magnetic,
        }
    }

    /// With the centre of mass in the box; 0 without gas.
    fn in_box(&self, found: GasProperties) -> GasProperties {
        let centre_of_mass = match found.number {
            0 => [0.0; 3],
            _ => self.frame.in_box(found.centre_of_mass),
        };
        GasProperties { centre_of_mass, ..found }
    }
}
