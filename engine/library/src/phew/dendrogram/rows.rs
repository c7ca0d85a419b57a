//! A row for each structure, with all that is in it.
//!
//! Ranks add up their own cells, exactly. Rank 0 adds the sums of ranks, then those of structures to the ones
//! around them. Places on the sky are counted once per structure: a rank gets all cells of its places.

use super::{CellSlab, DendrogramError, SlabDendrogram};
use crate::exchange::grouped;
use crate::phew::image;
use crate::phew::tables::property_columns;
use crate::tables::column;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_io::catalogue::{Attribute, Dimension, Table, Values};
use inselberg_kernels::dendrogram::{Dendrogram, Nesting, StructureCell, StructureSums, quantum_of_values};
use inselberg_kernels::props::Structure;
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;

/// Columns of clumps that structures have, too.
const COLUMNS: [&str; 8] = [
    "n_cells",
    "volume",
    "mass",
    "density_peak",
    "density_min",
    "density_mean",
    "peak_position",
    "centre_of_mass",
];
/// Attributes of a catalogue that say nothing of its dendrogram.
const OF_CLUMPS: [&str; 5] = ["n_test_cells", "n_peaks", "n_clumps", "n_haloes", "n_levels"];

/// Stands for no structure.
const NONE: u64 = u64::MAX;

/// The attributes of a catalogue of `n` structures, from those of the search.
pub fn attributes(of_search: &[(String, Attribute)], n: usize) -> Vec<(String, Attribute)> {
    let is_kept = |name: &str| !name.starts_with("run_") && !OF_CLUMPS.contains(&name);
    let kept = of_search.iter().filter(|(name, _)| is_kept(name)).cloned();
    kept.chain([("n_structures".into(), Attribute::Int(n as i64))]).collect()
}

/// Collective: the table `structures`, on rank 0; without rows on the others.
pub fn table(
    attributes: &[(String, Attribute)],
    slab: &CellSlab,
    found: &SlabDendrogram,
    comm: &Comm,
) -> Result<Table, DendrogramError> {
    let (side, origin) = image::side_of_cells(attributes, slab.sides)
        .ok_or_else(|| DendrogramError::Cells("no attribute boxlen; expected the side of the box".into()))?;
    let parents =
        found.found.nodes.iter().map(|node| node.parent.map_or(NONE, u64::from)).collect::<Vec<_>>();
    let parents = comm.broadcast(Rank(0), &parents)?;
    let parents: Vec<Option<u32>> = parents.iter().map(|of| (*of != NONE).then_some(*of as u32)).collect();
    let nesting = Nesting::new(&parents);
    let cells = StructureCells { slab, of_cell: &found.of_cell };
    let (quantum, sums) = cells.sums(&nesting, comm)?;
    let places = match image::sky_axes(attributes) {
        Some(axes) => Some(cells.places(axes, &nesting, comm)?),
        None => None,
    };
    let rows = StructureRows { found: &found.found, nesting: &nesting, sums: &sums, quantum, side, origin };
    let mut table = rows.table();
    let shapes: Vec<_> = sums.iter().map(|of| of.shape(quantum).in_cells_of(side)).collect();
    let places = places.map(|list| list[..table.n_rows()].to_vec());
    image::complete_table(attributes, &mut table, Some((&shapes, places.as_deref())));
    Ok(table)
}

/// The cells of a rank that are in structures.
struct StructureCells<'a> {
    slab: &'a CellSlab,
    of_cell: &'a [i32],
}

impl StructureCells<'_> {
    /// The structure of each cell that has one, and the cell.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        let cells = self.of_cell.iter().enumerate();
        cells.filter_map(|(cell, of)| usize::try_from(*of).ok().map(|of| (of, cell)))
    }

    /// What is summed.
    fn value(&self, cell: usize) -> f64 {
        self.slab.value.as_ref().unwrap_or(&self.slab.density)[cell]
    }

    /// Collective: the sums over each structure with all that is in it, on rank 0, and their quantum.
    fn sums(&self, nesting: &Nesting, comm: &Comm) -> Result<(Quantum, Vec<StructureSums>), CommError> {
        let most = self.all().map(|(_, cell)| self.value(cell).abs()).fold(0.0, f64::max);
        let n = self.slab.shape.iter().product::<usize>() as u64;
        let side = self.slab.shape.iter().copied().max().unwrap_or(1) as u64;
        let quantum = quantum_of_values(comm.all_max(&[most])?[0], n, side);
        let mut own = vec![StructureSums::default(); nesting.depth.len()];
        for (of, cell) in self.all() {
            own[of].add(&StructureCell {
                density: self.slab.density[cell],
                value: quantum.quantize(self.value(cell)),
                place: (self.slab.first() + cell) as u64,
                at: self.slab.at(cell),
                touches_blank: self.slab.touches_blank(cell),
            });
        }
        let known: Vec<u64> =
            (0..).zip(&own).filter(|(_, sums)| sums.n_cells > 0).map(|(of, _)| of).collect();
        let parts: Vec<StructureSums> = known.iter().map(|of| own[*of as usize]).collect();
        let known = comm.exchange(vec![(Rank(0), known)])?;
        let parts = comm.exchange(vec![(Rank(0), parts)])?;
        if comm.rank() != Rank(0) {
            return Ok((quantum, Vec::new()));
        }
        own.fill(StructureSums::default());
        let known = known.into_iter().flat_map(|(_, list)| list);
        for (of, part) in known.zip(parts.into_iter().flat_map(|(_, list)| list)) {
            own[of as usize].merge(&part);
        }
        nesting.gather(&mut own, StructureSums::merge);
        Ok((quantum, own))
    }

    /// Collective: the number of places on the sky of each structure with all that is in it.
    fn places(&self, axes: [usize; 2], nesting: &Nesting, comm: &Comm) -> Result<Vec<u64>, CommError> {
        let place = |(of, cell): (usize, usize)| (image::sky_place(self.slab.at(cell), axes), of as u32);
        let mut places: Vec<(u64, u32)> = self.all().map(place).collect();
        let distinct = |places: &mut Vec<(u64, u32)>| {
            places.par_sort_unstable();
            places.dedup();
        };
        distinct(&mut places);
        if comm.n_ranks() > 1 {
            let rank = |place: u64| Rank(((place >> 32 ^ place) % comm.n_ranks() as u64) as u32);
            let to: Vec<(Rank, [u64; 2])> =
                places.iter().map(|(place, of)| (rank(*place), [*place, u64::from(*of)])).collect();
            let received = comm.exchange(grouped(&to, |of| *of))?;
            places =
                received.into_iter().flat_map(|(_, list)| list).map(|[at, of]| (at, of as u32)).collect();
            distinct(&mut places);
        }
        let terms = nesting.place_terms(&mut places);
        // Counts have no sign.
        let split = |sign: i64| terms.iter().map(|term| (sign * term).max(0) as u64).collect::<Vec<_>>();
        let [more, less] = [1, -1].map(split);
        let [more, less] =
            [comm.all_reduce_counts(&more, Reduce::Sum)?, comm.all_reduce_counts(&less, Reduce::Sum)?];
        let mut n: Vec<i64> =
            more.iter().zip(&less).map(|(more, less)| *more as i64 - *less as i64).collect();
        nesting.gather(&mut n, |sum, term| *sum += *term);
        Ok(n.into_iter().map(i64::cast_unsigned).collect())
    }
}

/// The structures with their sums.
struct StructureRows<'a> {
    found: &'a Dendrogram,
    nesting: &'a Nesting,
    sums: &'a [StructureSums],
    quantum: Quantum,
    /// Code length of a cell, and the lower corner of the box.
    side: f64,
    origin: [f64; 3],
}

impl StructureRows<'_> {
    /// The columns of the tree, then those that clumps have, too.
    fn table(&self) -> Table {
        let nodes = &self.found.nodes;
        let all = || 0..nodes.len() as u32;
        let mut leaves: Vec<u64> = nodes.iter().map(|node| node.children.is_empty().into()).collect();
        if !nodes.is_empty() {
            self.nesting.gather(&mut leaves, |sum, inner| *sum += *inner);
        }
        let number = |name: &str, text: &str, values: Vec<u64>| {
            column(name, Dimension::NONE, text, Values::U64(values))
        };
        let parent = nodes.iter().map(|node| node.parent.map_or(-1, i64::from)).collect();
        let height = all().map(|of| self.found.height(of)).collect();
        let mut columns = vec![
            number("id", "identifier, from 0, as in index_map", all().map(u64::from).collect()),
            column("parent", Dimension::NONE, "structure that contains it; -1 for none", Values::I64(parent)),
            number(
                "ancestor",
                "outermost structure that contains it",
                all().map(|of| self.nesting.outermost(of).into()).collect(),
            ),
            number(
                "level",
                "number of structures that contain it",
                all().map(|of| self.nesting.depth[of as usize].into()).collect(),
            ),
            number("n_leaves", "number of leaves in it; 1 of a leaf", leaves),
            column(
                "height",
                Dimension::DENSITY,
                "density up to which it reaches: the peak of a leaf, the merger of a branch",
                Values::F64(height),
            ),
        ];
        let rows: Vec<Structure> =
            nodes.iter().zip(self.sums).map(|(node, sums)| self.row(node.least, sums)).collect();
        columns.extend(property_columns(&rows, &COLUMNS));
        Table { name: "structures".into(), columns }
    }

    fn row(&self, least: f64, sums: &StructureSums) -> Structure {
        let volume = self.side.powi(3);
        let (peak, mean) = (sums.peak_at(), sums.mean(self.quantum));
        let place = |from_peak: [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|a| self.origin[a] + self.side * (f64::from(peak[a]) + 0.5 + from_peak[a]))
        };
        Structure {
            n_cells: sums.n_cells,
            volume: sums.n_cells as f64 * volume,
            mass: sums.total(self.quantum) * volume,
            rho_peak: sums.peak,
            rho_min: least,
            peak: place([0.0; 3]),
            centre_of_mass: place(mean),
            ..Structure::default()
        }
    }
}

impl CellSlab {
    /// The place of a cell of this rank along each axis of the box.
    fn at(&self, cell: usize) -> [u32; 3] {
        let (mut at, mut left) = ([0; 3], self.first() + cell);
        for (axis, n) in self.axes.iter().zip(&self.shape).rev() {
            at[*axis] = (left % n) as u32;
            left /= n;
        }
        at
    }

    /// Whether a cell of this rank shares a face with a place of the box without a value.
    fn touches_blank(&self, cell: usize) -> bool {
        let (n, at) = (self.density.len(), cell % self.plane);
        let before = match cell.checked_sub(self.plane) {
            Some(other) => Some(self.density[other]),
            None => self.beside[0].get(at).copied(),
        };
        let behind = if cell + self.plane < n {
            Some(self.density[cell + self.plane])
        } else {
            self.beside[1].get(at).copied()
        };
        let mut step = 1;
        let mut is_blank = before.into_iter().chain(behind).any(f64::is_nan);
        for side in self.shape[1..].iter().rev() {
            let place = cell / step % side;
            is_blank |= place > 0 && self.density[cell - step].is_nan();
            is_blank |= place + 1 < *side && self.density[cell + step].is_nan();
            step *= side;
        }
        is_blank
    }
}
