//! The gas of haloes with many cells, which all ranks process together.
//!
//! ```text
//!     cells by (Morton key, row)    [ slice 0   ][ slice 1   ][ slice 2    one slice per rank
//!
//!               A                   A, B have many cells: all ranks, one after the other
//!             / | \                 C, D with all in them go whole to one rank each
//!            B  C  D
//!              / \
//!             E   F
//! ```
//!
//! The kernels do the same for a slice as for a whole halo, with the same bits ([`crate::bound`]).

use crate::bound::{HaloClump, RankSlices, SpanningHalo, even_workers};
use crate::error::RunError;
use crate::phew::bound::gas::ClumpCell;
use crate::phew::bound::gas_clumps::clumps::{GasClumps, GasMeasure};
use crate::phew::bound::gas_clumps::rows::GasOfClump;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::bound::slices::{Slices, SortOrder, block_starts};
use inselberg_kernels::gas::{
    GasBounds, GasCell, GasMembers, GasRules, GasScratch, ListedCells, NestedLists, gas_properties_of_slices,
};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A cell of a halo in slices.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SlicedCell {
    /// Morton key.
    key: u64,
    /// Row in the table of cells. It decides between equals.
    row: u64,
    /// Place of its clump.
    clump: u64,
    cell: GasCell,
}

/// A cell of a clump with few cells, on its way to the rank that processes it.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FewCell {
    cell: GasCell,
    /// Row in the table of cells.
    row: u64,
    /// Number of its block among those of all slices.
    block: u64,
    /// Place of its clump.
    clump: u32,
    /// Place of the outermost clump with few cells around it.
    root: u32,
}

/// The cells of a halo in this slice.
struct SlicedGas {
    members: GasMembers,
    /// The row of each in the table of cells.
    row: Vec<u64>,
    /// The place of the clump of each.
    clump: Vec<u32>,
    /// The first cell of each block.
    starts: Vec<u32>,
    /// The place of the first cell among those of all slices.
    first: u64,
}

/// Collective: measures the clumps of a halo by all ranks. Each row is on one rank. Clumps with fewer than
/// `limit` cells go whole to one rank.
///
/// # Errors
/// When a cell has a value that is not allowed, or another rank fails.
pub fn measure_spanning(
    halo: SpanningHalo<ClumpCell>,
    limit: u64,
    measure: &GasMeasure,
    comm: &Comm,
) -> Result<Vec<GasOfClump>, RunError> {
    let slices = RankSlices { comm };
    let of = GasClumps::of_halo(&halo.clumps, &measure.space);
    let gas = SlicedGas::new(halo.members, &of, measure.block, &slices)?;
    let lists = NestedLists::new(&gas.members, &gas.clump, &of.parent).expect("a tree of its own clumps");
    let own: Vec<u64> = (0..halo.clumps.len()).map(|clump| lists.inclusive(clump).len() as u64).collect();
    let number = slices.add(&own)?;
    let few = FewCells::new(&of, &number, limit);
    let mut found = few.measure(&gas, &lists, &measure.rules, &slices)?;
    for clump in (0..number.len()).filter(|clump| number[*clump] >= limit) {
        let mut scratch = GasScratch::default();
        let mut of_list = |list: &[u32]| {
            let cells = ListedCells { members: &gas.members, list, slices: &slices };
            gas_properties_of_slices(&cells, &measure.rules, &mut scratch)
        };
        let own = of_list(&lists.own[clump])?;
        let inclusive = match &lists.inclusive[clump] {
            Some(list) => of_list(list)?,
            None => own,
        };
        // All ranks know the row; one is enough.
        if slices.here() == 0 {
            found.push(of.row(clump, own, inclusive));
        }
    }
    Ok(found)
}

impl SlicedGas {
    /// Collective: brings cells to the slices of their keys. Two exchanges, of about 100 bytes per cell.
    fn new(cells: Vec<ClumpCell>, of: &GasClumps, block: u64, slices: &RankSlices) -> Result<Self, RunError> {
        let sliced = |cell: &ClumpCell| {
            let clump = of.place(cell.clump).into();
            SlicedCell { key: 0, row: cell.row, clump, cell: of.relative(cell) }
        };
        let mut own: Vec<SlicedCell> = cells.iter().map(sliced).collect();
        drop(cells);
        let bounds = GasBounds::new(own.iter().map(|cell| &cell.cell), block).over(slices)?;
        own.iter_mut().for_each(|cell| cell.key = bounds.members.key(cell.cell.position));
        let order = SortOrder {
            primary: &|cell: &SlicedCell| [cell.key, 0],
            order: &|a, b| (a.key, a.row).cmp(&(b.key, b.row)),
            block,
        };
        let sorted = order.sort(slices, own)?;
        let (cells, first) = (sorted.records, sorted.first);
        let starts = block_starts(cells.len(), |i| cells[i].key, first, block);
        let of_slice = cells.iter().map(|cell| cell.cell).collect();
        let row: Vec<u64> = cells.iter().map(|cell| cell.row).collect();
        let clump = cells.iter().map(|cell| cell.clump as u32).collect();
        drop(cells);
        let members = GasMembers::of_slice(of_slice, row.clone(), bounds, starts.clone())?;
        Ok(Self { members, row, clump, starts, first })
    }

    /// The number of the block of a cell among those of all slices.
    fn block_of(&self, member: u32) -> u64 {
        let block = self.starts.partition_point(|start| *start <= member) - 1;
        (self.first + u64::from(self.starts[block])) / self.members.bounds().members.block
    }
}

/// The clumps with few cells, by the outermost one around them.
struct FewCells<'a> {
    of: &'a GasClumps<'a>,
    /// The places of the clumps of each outermost one, which is among them.
    clumps: BTreeMap<u32, Vec<u32>>,
    /// Number of cells of each outermost one in all slices.
    number: Vec<(u32, u64)>,
}

impl<'a> FewCells<'a> {
    /// The clumps with fewer than `limit` cells, from the number of each in all slices.
    fn new(of: &'a GasClumps<'a>, number: &[u64], limit: u64) -> Self {
        let outermost = |clump: u32| {
            let outer =
                |clump: &u32| of.parent[*clump as usize].filter(|outer| number[*outer as usize] < limit);
            std::iter::successors(Some(clump), outer).last().expect("the clump itself")
        };
        let mut clumps: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for clump in (0..number.len() as u32).filter(|clump| number[*clump as usize] < limit) {
            clumps.entry(outermost(clump)).or_default().push(clump);
        }
        let number = clumps.keys().map(|root| (*root, number[*root as usize])).collect();
        Self { of, clumps, number }
    }

    /// Collective: measures these clumps, each on one rank. One exchange.
    fn measure(
        &self,
        gas: &SlicedGas,
        lists: &NestedLists,
        rules: &GasRules,
        slices: &RankSlices,
    ) -> Result<Vec<GasOfClump>, RunError> {
        let mut work: BTreeMap<u32, Vec<FewCell>> = BTreeMap::new();
        for (_, cells) in self.to_workers(gas, lists, slices, &mut work)? {
            for cell in cells {
                work.entry(cell.root).or_default().push(cell);
            }
        }
        let work: Vec<(u32, Vec<FewCell>)> = work.into_iter().collect();
        let one = |(root, cells): &(u32, Vec<FewCell>)| {
            self.measure_one(&self.clumps[root], cells, gas.members.bounds(), rules)
        };
        let found: Vec<Vec<GasOfClump>> =
            work.par_iter().with_max_len(1).map(one).collect::<Result<_, _>>()?;
        Ok(found.concat())
    }

    /// Collective: the cells for the clumps that this rank processes; the clumps are added to `work`.
    fn to_workers(
        &self,
        gas: &SlicedGas,
        lists: &NestedLists,
        slices: &RankSlices,
        work: &mut BTreeMap<u32, Vec<FewCell>>,
    ) -> Result<Vec<(usize, Vec<FewCell>)>, CommError> {
        let mut parts: BTreeMap<usize, Vec<FewCell>> = BTreeMap::new();
        for (root, worker) in even_workers(&self.number, slices.number()) {
            if worker == slices.here() {
                work.insert(root, Vec::new());
            }
            let cell = |member: &u32| {
                let (at, block) = (*member as usize, gas.block_of(*member));
                FewCell {
                    cell: *gas.members.cell(*member),
                    row: gas.row[at],
                    block,
                    clump: gas.clump[at],
                    root,
                }
            };
            parts.entry(worker).or_default().extend(lists.inclusive(root as usize).iter().map(cell));
        }
        slices.exchange(parts.into_iter().collect())
    }

    /// Local: measures a clump and those in it, with these places among all, from cells in their order.
    fn measure_one(
        &self,
        clumps: &[u32],
        cells: &[FewCell],
        bounds: &GasBounds,
        rules: &GasRules,
    ) -> Result<Vec<GasOfClump>, RunError> {
        let place = |clump: u32| clumps.binary_search(&clump).ok().map(|place| place as u32);
        let listed: Vec<HaloClump> = clumps.iter().map(|clump| self.of.clumps[*clump as usize]).collect();
        let parent = clumps.iter().map(|clump| self.of.parent[*clump as usize].and_then(place)).collect();
        let of = GasClumps { clumps: &listed, parent, frame: self.of.frame };
        let is_first = |i: &u32| {
            let at = *i as usize;
            at == 0 || cells[at].block != cells[at - 1].block
        };
        let starts = (0..cells.len() as u32).filter(is_first).collect();
        let row = cells.iter().map(|cell| cell.row).collect();
        let of_slice = cells.iter().map(|cell| cell.cell).collect();
        let members = GasMembers::of_slice(of_slice, row, *bounds, starts)?;
        let clump_of = |cell: &FewCell| place(cell.clump).expect("a clump within its outermost one");
        let clump_of: Vec<u32> = cells.iter().map(clump_of).collect();
        Ok(of.measure(&members, &clump_of, rules))
    }
}
