//! The dendrogram of cells of one size, over ranks.
//!
//! Each rank takes planes of the array of cells, and finds which of its cells decide. Rank 0 grows the
//! structures from these cells alone. Then each rank finds the structures of its other cells, and rank 0
//! writes the array part by part. So no rank holds the whole array.
//!
//! ```text
//!     cells --planes--> ranks --deciding cells--> rank 0 --structures--> ranks --parts--> file
//! ```
//!
//! The file also has a row for each structure ([`rows`]).

mod rows;

use crate::exchange::grouped;
use crate::phew::image::{NOISE_OF_CELLS as NOISE, SkyArray, is_fits, sides_of_cells};
use inselberg_comm::agree::{first_message, share_of_rank};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_io::catalogue::{
    Attribute, DendrogramFile, DendrogramPart, Table, WriteError, stage_dendrogram,
};
use inselberg_io::staging::Staged;
use inselberg_kernels::dendrogram::{
    Dendrogram, DendrogramLimits, GrownStructures, NO_CELL, NO_STRUCTURE, StructureTotals, deciding_cells,
    face_neighbours, grow,
};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;

/// Why there is no dendrogram.
#[derive(Debug, thiserror::Error)]
pub enum DendrogramError {
    /// The cells are no array, or too many: the same on all ranks.
    #[error("{0}")]
    Cells(String),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Another rank failed.
    #[error(transparent)]
    Comm(#[from] CommError),
}

/// The most cells of the planes of a rank.
const MOST_CELLS: usize = NO_CELL as usize;
/// Cells of a part of the file, where planes allow it.
const PART: usize = 1 << 22;

/// Collective: stages the dendrogram of the cells, of which `cells` are those of this rank; rank 0 gets the
/// file. `threshold` is the density up to which cells may be missing.
///
/// # Errors
/// The cells are no array of one size, or some above the limit may be missing. The file cannot be written, or
/// another rank fails.
pub fn stage(
    path: &Path,
    attributes: &[(String, Attribute)],
    cells: &Table,
    limits: &DendrogramLimits,
    threshold: Option<f64>,
    comm: &Comm,
) -> Result<Staged, DendrogramError> {
    let slab = CellSlab::new(attributes, cells, comm)?;
    // A mesh from particles lists only cells denser than the threshold.
    let may_miss = slab.has_gaps && !is_fits(attributes);
    if may_miss && threshold.is_some_and(|threshold| limits.value < threshold) {
        let expected = "cells that fill the box, or a least density above the threshold";
        let problem = "cells are missing, perhaps those below the density threshold";
        return Err(DendrogramError::Cells(format!("{problem}; expected {expected}")));
    }
    let found = SlabDendrogram::find(&slab, limits, comm)?;
    let structures = rows::table(attributes, &slab, &found, comm)?;
    let about = rows::attributes(attributes, structures.n_rows());
    found.stage(path, &slab, limits, (&about, &structures), comm)
}

/// The planes of a rank, with the last plane before and the first one behind them.
struct CellSlab {
    /// The whole array; the slowest axis first.
    shape: Vec<usize>,
    /// Cells of a plane.
    plane: usize,
    /// The planes of this rank.
    planes: Range<usize>,
    /// The densities in them; NaN for absent cells, and for those outside of the searched region.
    density: Vec<f64>,
    /// Those of the planes before and behind; empty at the ends.
    beside: [Vec<f64>; 2],
    /// Whether cells of the box are missing.
    has_gaps: bool,
    /// What is summed, where it is not the density.
    value: Option<Vec<f64>>,
    /// The axes of the box that are those of the array.
    axes: Vec<usize>,
    /// Cells along each axis of the box.
    sides: [usize; 3],
    /// The coordinates of a FITS image.
    header: Option<String>,
}

/// The columns of cells that an array needs.
struct ArrayCells<'a> {
    levels: &'a [u8],
    places: &'a [[u32; 3]],
    density: &'a [f64],
    /// 1 for those that were searched; `None`: all were.
    selected: Option<&'a [u8]>,
    /// The unit of the densities of cells, where each has its own.
    noise: Option<&'a [f64]>,
}

impl<'a> ArrayCells<'a> {
    fn new(cells: &'a Table) -> Option<Self> {
        let (levels, places) = (cells.bytes("level")?, cells.positions("ijk")?);
        let (selected, noise) = (cells.bytes("selected"), cells.reals(NOISE));
        Some(Self { levels, places, density: cells.reals("density")?, selected, noise })
    }
}

impl CellSlab {
    /// Collective: brings cells to the ranks of their planes.
    fn new(attributes: &[(String, Attribute)], cells: &Table, comm: &Comm) -> Result<Self, DendrogramError> {
        let expected = "a catalogue of `inselberg phew --with-cells`";
        let columns = ArrayCells::new(cells)
            .ok_or_else(|| DendrogramError::Cells(format!("no density of cells; expected {expected}")))?;
        let sides = sides_of_cells(attributes, columns.levels, comm)?;
        let sides = sides.map_err(|(problem, expected)| {
            DendrogramError::Cells(format!("{problem}; expected {expected}"))
        })?;
        let SkyArray { axes, header } = SkyArray::from_attributes(attributes);
        let shape: Vec<usize> = axes.iter().map(|axis| sides[*axis]).collect();
        let n_cells = comm.all_reduce_counts(&[columns.levels.len() as u64], Reduce::Sum)?[0];
        let plane = plane_of(&shape, n_cells, comm.n_ranks()).ok_or_else(|| {
            let [nx, ny, nz] = sides;
            DendrogramError::Cells(format!(
                "{n_cells} cells in a box of {nx} x {ny} x {nz}; expected as many or fewer, and less than 2^32 per rank"
            ))
        })?;
        let outside = columns.places.iter().find(|place| (0..3).any(|a| place[a] as usize >= sides[a]));
        let outside = outside.map(|place| {
            let [nx, ny, nz] = sides;
            format!("a cell at {place:?}; expected places within {nx} x {ny} x {nz}")
        });
        if let Some((_, problem)) = first_message(comm, outside)? {
            return Err(DendrogramError::Cells(problem));
        }
        let planes = planes_of(comm.rank(), shape[0], comm);
        let n_own = planes.len() * plane;
        let mut density = Vec::new();
        let has_room = density.try_reserve_exact(n_own).map_err(|_| format!("no memory for {n_own} cells"));
        if let Some((_, problem)) = first_message(comm, has_room.err())? {
            return Err(DendrogramError::Cells(format!("{problem}; expected more memory")));
        }
        density.resize(n_own, f64::NAN);
        let place = |i: usize| {
            let at = columns.places[i];
            axes.iter().fold(0, |flat, axis| flat * sides[*axis] + at[*axis] as usize)
        };
        let is_searched = |i: &usize| columns.selected.is_none_or(|of| of[*i] == 1);
        let searched = (0..columns.levels.len()).filter(is_searched);
        let has_noise = comm.all_max(&[f64::from(u8::from(columns.noise.is_some()))])?[0] > 0.0;
        let mut value = has_noise.then(|| vec![0.0; n_own]);
        let mut put = |[flat, found, noise]: [u64; 3]| {
            let (at, found) = (flat as usize - planes.start * plane, f64::from_bits(found));
            density[at] = found;
            if let Some(value) = &mut value {
                value[at] = found * f64::from_bits(noise);
            }
        };
        let mut others: Vec<(Rank, [u64; 3])> = Vec::new();
        for i in searched {
            let (flat, noise) = (place(i), columns.noise.map_or(1.0, |of| of[i]));
            let cell = [flat as u64, columns.density[i].to_bits(), noise.to_bits()];
            match owner(flat / plane, shape[0], comm) {
                rank if rank == comm.rank() => put(cell),
                rank => others.push((rank, cell)),
            }
        }
        let received = comm.exchange(grouped(&others, |other| *other))?;
        received.into_iter().flat_map(|(_, list)| list).for_each(put);
        let has_gaps = n_cells < (plane * shape[0]) as u64;
        let header = header.map(|cards| cards.to_text());
        let beside = Default::default();
        let slab = Self { shape, plane, planes, density, beside, has_gaps, value, axes, sides, header };
        slab.with_planes_beside(comm)
    }

    /// Collective: gets the planes beside those of this rank.
    fn with_planes_beside(mut self, comm: &Comm) -> Result<Self, DendrogramError> {
        let mut parts = Vec::new();
        if let (Some(first), Some(last)) = (self.planes.clone().next(), self.planes.clone().last()) {
            if first > 0 {
                parts.push((owner(first - 1, self.shape[0], comm), self.density[..self.plane].to_vec()));
            }
            if last + 1 < self.shape[0] {
                let from = self.density.len() - self.plane;
                parts.push((owner(last + 1, self.shape[0], comm), self.density[from..].to_vec()));
            }
        }
        for (rank, plane) in comm.exchange(parts)? {
            self.beside[usize::from(rank > comm.rank())] = plane;
        }
        Ok(self)
    }

    /// The first cell of this rank in the whole array.
    fn first(&self) -> usize {
        self.planes.start * self.plane
    }

    /// The shape of the planes of this rank.
    fn own_shape(&self) -> Vec<usize> {
        std::iter::once(self.planes.len()).chain(self.shape[1..].iter().copied()).collect()
    }

    /// The cells of other ranks that touch a cell and are denser than `value`, in the whole array.
    fn outside(&self, cell: usize, value: f64) -> impl Iterator<Item = usize> {
        let (at, n) = (cell % self.plane, self.density.len());
        let touches = [cell < self.plane, cell + self.plane >= n];
        let place = self.first() + cell;
        let is_dense = |side: usize| touches[side] && self.beside[side].get(at).is_some_and(|of| *of > value);
        let before = is_dense(0).then(|| place - self.plane);
        before.into_iter().chain(is_dense(1).then(|| place + self.plane))
    }
}

/// Cells of a plane of an array with `n_cells` cells with a value; `None` if it has no room for them, or the
/// planes of a rank have too many.
fn plane_of(shape: &[usize], n_cells: u64, n_ranks: usize) -> Option<usize> {
    let plane = shape[1..].iter().try_fold(1_usize, |n, side| n.checked_mul(*side))?;
    let (n, of_rank) = (plane.checked_mul(shape[0])?, plane.checked_mul(shape[0].div_ceil(n_ranks))?);
    (n as u64 >= n_cells && of_rank < MOST_CELLS).then_some(plane)
}

/// The planes of a rank.
fn planes_of(rank: Rank, n: usize, comm: &Comm) -> Range<usize> {
    let share = share_of_rank(n as u64, rank, comm.n_ranks());
    share.start as usize..share.end as usize
}

/// The rank of a plane.
fn owner(plane: usize, n: usize, comm: &Comm) -> Rank {
    let mut rank = Rank((plane * comm.n_ranks() / n) as u32);
    while planes_of(rank, n, comm).end <= plane {
        rank.0 += 1;
    }
    while planes_of(rank, n, comm).start > plane {
        rank.0 -= 1;
    }
    rank
}

/// The structures of the cells of a rank.
struct SlabDendrogram {
    /// The structure of each cell; -1 for none.
    of_cell: Vec<i32>,
    /// The tree, on rank 0.
    newick: String,
    /// The structures, on rank 0.
    found: Dendrogram,
}

/// A structure, as all ranks know it: its branch, and the cell that began it.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct KnownStructure {
    /// The branch that contains it; [`u64::MAX`] for none.
    parent: u64,
    cell: u64,
    density: f64,
}

impl SlabDendrogram {
    /// Collective: the structures of all cells.
    fn find(slab: &CellSlab, limits: &DendrogramLimits, comm: &Comm) -> Result<Self, DendrogramError> {
        let shape = slab.own_shape();
        let deciding = deciding_cells(
            &slab.density,
            limits,
            |cell| slab.outside(cell, limits.value).next().is_some(),
            |cell, to| face_neighbours(&shape, cell, to),
        );
        let mut links = deciding.links;
        links.par_sort_unstable_by_key(|(cell, _)| *cell);
        let cells: Vec<u32> = links.iter().map(|(cell, _)| *cell).collect();
        let whole = DecidingOfAll::gather(slab, limits, &links, comm)?;
        drop(links);
        let (grown, known) = whole.grown(limits, comm)?;
        let of_deciding = whole.structures_of(grown.as_ref(), cells.len(), comm)?;
        let structure = |cell: usize| -> Option<u32> {
            let join = deciding.joins[cell];
            let at = cells.binary_search(&join).ok()?;
            let (mut of, density) = (of_deciding[at], slab.density[cell]);
            let place = (slab.first() + cell) as u64;
            // Branches that began before this cell contain what it joins.
            while let Some(parent) = known.get(known[of as usize].parent as usize)
                && (parent.density > density || parent.density == density && parent.cell < place)
            {
                of = known[of as usize].parent as u32;
            }
            Some(of)
        };
        let of_cell: Vec<u32> = (0..slab.density.len())
            .into_par_iter()
            .map(|cell| structure(cell).unwrap_or(NO_STRUCTURE))
            .collect();
        let totals = totals(slab, &of_cell, known.len(), comm)?;
        let (number, nodes) = grown.map_or_else(Default::default, |grown| grown.finished(limits, &totals));
        let found = Dendrogram { of_cell: Vec::new(), nodes };
        let newick = if comm.rank() == Rank(0) { found.newick() } else { String::new() };
        let number = comm.broadcast(Rank(0), &number)?;
        let n = number.iter().filter(|of| **of != NO_STRUCTURE).count();
        if i32::try_from(n).is_err() {
            let problem = format!("{n} structures; expected at most {}", i32::MAX);
            return Err(DendrogramError::Cells(problem));
        }
        let renamed = |of: &u32| match number.get(*of as usize) {
            Some(number) if *number != NO_STRUCTURE => *number as i32,
            _ => -1,
        };
        Ok(Self { of_cell: of_cell.par_iter().map(renamed).collect(), newick, found })
    }

    /// Collective: stages the file, on rank 0.
    fn stage(
        &self,
        path: &Path,
        slab: &CellSlab,
        limits: &DendrogramLimits,
        (attributes, structures): (&[(String, Attribute)], &Table),
        comm: &Comm,
    ) -> Result<Staged, DendrogramError> {
        let mut parts = DendrogramParts { of: self, slab, comm, rank: Rank(0), done: 0 };
        if comm.rank() != Rank(0) {
            while parts.next()?.is_some() {}
            return Ok(Staged::default());
        }
        let content = DendrogramFile {
            shape: &slab.shape,
            newick: &self.newick,
            limits: (limits.value, limits.delta, limits.cells),
            wcs_header: slab.header.as_deref(),
            attributes,
            structures,
        };
        Ok(stage_dendrogram(path, &content, &mut || parts.next().map_err(|error| error.to_string()))?)
    }
}

/// Collective: what the cells of each structure are together.
fn totals(
    slab: &CellSlab,
    of_cell: &[u32],
    n: usize,
    comm: &Comm,
) -> Result<Vec<StructureTotals>, CommError> {
    let (mut counts, mut least, mut first) =
        (vec![0; n], vec![f64::NEG_INFINITY; n], vec![f64::NEG_INFINITY; n]);
    for (cell, of) in of_cell.iter().enumerate().filter(|(_, of)| **of != NO_STRUCTURE) {
        let of = *of as usize;
        counts[of] += 1;
        // Both are below 0, so that the greatest is the least. Places are exact below 2^53.
        least[of] = least[of].max(-slab.density[cell]);
        first[of] = first[of].max(-((slab.first() + cell) as f64));
    }
    let counts = comm.all_reduce_counts(&counts, Reduce::Sum)?;
    let (least, first) = (comm.all_max(&least)?, comm.all_max(&first)?);
    let total =
        |i: usize| StructureTotals { least: -least[i], n_cells: counts[i], first: (-first[i]) as u64 };
    Ok((0..n).map(total).collect())
}

/// The deciding cells of all ranks, on rank 0.
#[derive(Default)]
struct DecidingOfAll {
    /// Their places in the whole array, ascending.
    place: Vec<u64>,
    density: Vec<f64>,
    /// For each the ends of its part of `links`.
    ends: Vec<usize>,
    /// Places of deciding cells of the components that it touches.
    links: Vec<u64>,
}

impl DecidingOfAll {
    /// Collective: sends what decides to rank 0.
    fn gather(
        slab: &CellSlab,
        limits: &DendrogramLimits,
        links: &[(u32, Vec<u32>)],
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let mut words: Vec<u64> = Vec::new();
        for (cell, here) in links {
            let cell = *cell as usize;
            let outside = slab.outside(cell, limits.value);
            let all = here.iter().map(|of| slab.first() + *of as usize).chain(outside);
            let all: Vec<u64> = all.map(|place| place as u64).collect();
            words.extend([(slab.first() + cell) as u64, slab.density[cell].to_bits(), all.len() as u64]);
            words.extend(all);
        }
        let mut received = comm.exchange(vec![(Rank(0), words)])?;
        received.sort_by_key(|(rank, _)| *rank);
        let mut all = Self::default();
        for (_, words) in received {
            let mut left = &words[..];
            while let [place, density, n, rest @ ..] = left {
                let (links, later) = rest.split_at(*n as usize);
                all.place.push(*place);
                all.density.push(f64::from_bits(*density));
                all.links.extend(links);
                all.ends.push(all.links.len());
                left = later;
            }
        }
        Ok(all)
    }

    /// Collective: grows the structures on rank 0, and tells all ranks of them.
    fn grown(
        &self,
        limits: &DendrogramLimits,
        comm: &Comm,
    ) -> Result<(Option<GrownStructures>, Vec<KnownStructure>), CommError> {
        let grown = (comm.rank() == Rank(0)).then(|| {
            let place = |of: &u64| self.place.binary_search(of).expect("links are to cells that decide");
            grow(&self.density, limits, |cell, to| {
                let first = cell.checked_sub(1).map_or(0, |before| self.ends[before]);
                to.extend(self.links[first..self.ends[cell]].iter().map(place));
            })
        });
        let structures = grown.iter().flat_map(GrownStructures::structures);
        let known: Vec<KnownStructure> = structures
            .map(|of| KnownStructure {
                parent: of.parent().map_or(u64::MAX, u64::from),
                cell: self.place[of.begun_by()],
                density: self.density[of.begun_by()],
            })
            .collect();
        Ok((grown, comm.broadcast(Rank(0), &known)?))
    }

    /// Collective: the structures of the `n` deciding cells of this rank, in their order.
    fn structures_of(
        &self,
        grown: Option<&GrownStructures>,
        n: usize,
        comm: &Comm,
    ) -> Result<Vec<u32>, CommError> {
        let counts = comm.all_gather(&[n as u64])?;
        let mut parts = Vec::new();
        if let Some(grown) = grown {
            let mut left = &grown.of_cell[..];
            for (rank, n) in counts.iter().enumerate() {
                let (own, later) = left.split_at(*n as usize);
                parts.push((Rank(rank as u32), own.to_vec()));
                left = later;
            }
        }
        Ok(comm.exchange(parts)?.into_iter().flat_map(|(_, list)| list).collect())
    }
}

/// The parts of the file, in the order of the array.
struct DendrogramParts<'a> {
    of: &'a SlabDendrogram,
    slab: &'a CellSlab,
    comm: &'a Comm,
    /// The rank whose planes are next, and how many of them are done.
    rank: Rank,
    done: usize,
}

impl DendrogramParts<'_> {
    /// Collective: the next part on rank 0, nothing on the others; `None` past the last one.
    fn next(&mut self) -> Result<Option<DendrogramPart>, CommError> {
        let planes = loop {
            if self.rank.at() >= self.comm.n_ranks() {
                return Ok(None);
            }
            let planes = planes_of(self.rank, self.slab.shape[0], self.comm);
            let first = planes.start + self.done;
            if first < planes.end {
                break first..planes.end.min(first + (PART / self.slab.plane).max(1));
            }
            (self.rank, self.done) = (Rank(self.rank.0 + 1), 0);
        };
        self.done += planes.len();
        let (mut data, mut index_map) = (Vec::new(), Vec::new());
        if self.rank == self.comm.rank() {
            let plane = self.slab.plane;
            let first = (planes.start - self.slab.planes.start) * plane;
            let here = first..first + planes.len() * plane;
            data.push((Rank(0), self.slab.density[here.clone()].to_vec()));
            index_map.push((Rank(0), self.of.of_cell[here].to_vec()));
        }
        let data = self.comm.exchange(data)?.into_iter().flat_map(|(_, list)| list).collect();
        let index_map = self.comm.exchange(index_map)?.into_iter().flat_map(|(_, list)| list).collect();
        Ok(Some(DendrogramPart { first: planes.start, n: planes.len(), data, index_map }))
    }
}
