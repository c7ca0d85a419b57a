//! The part of a snapshot that one rank reads, before its cells have owners.

use super::oct_record::OctRecord;
use super::rounds::ROUND;
use super::splits::key;
use super::test_rule::TestRule;
use crate::chunks::carve;
use crate::density::LeafValues;
use crate::density::domain;
use crate::density::read::first_bad;
use crate::error::RunError;
use crate::pieces::{Part, begun, each_part};
use crate::progress::Observer;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::{OctBlock, ReadError, Snapshot};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::mesh::{MeshError, local};
use rayon::prelude::*;

/// What to read of the cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// The density; none: zeros.
    pub field: Option<&'a str>,
    /// The values that leaves may have.
    pub values: LeafValues,
    /// Which leaves are test cells.
    pub tests: TestRule<'a>,
    /// Further fields, read for test cells only.
    pub extra: &'a [&'a str],
}

/// Cells that a rank happens to hold, as octs, in chunks of at most [`ROUND`] cells.
#[derive(Debug, Default)]
pub(super) struct HeldCells {
    pub chunks: Vec<Chunk>,
}

/// Octs, and the values of further fields of their test cells, cell by cell.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub octs: Vec<OctRecord>,
    pub extra: Vec<f64>,
}

impl HeldCells {
    /// The last chunk, with space for one more oct.
    pub fn open_chunk(&mut self) -> &mut Chunk {
        if self.chunks.last().is_none_or(|chunk| chunk.octs.len() == ROUND / 8) {
            self.chunks.push(Chunk::default());
        }
        self.chunks.last_mut().expect("a chunk was added if there was none")
    }

    /// Adds cells without values of further fields. They join the last oct if they belong to it.
    pub fn add(&mut self, oct: OctRecord) {
        let last = self.chunks.last_mut().and_then(|chunk| chunk.octs.last_mut());
        if !last.is_some_and(|last| last.join(&oct)) {
            self.open_chunk().octs.push(oct);
        }
    }

    /// Number of cells.
    pub fn n_cells(&self) -> u64 {
        self.chunks_of_octs().flatten().map(OctRecord::n_cells).sum::<usize>() as u64
    }

    /// The octs of each chunk.
    fn chunks_of_octs(&self) -> impl IndexedParallelIterator<Item = &[OctRecord]> + '_ {
        self.chunks.par_iter().map(|chunk| chunk.octs.as_slice())
    }

    /// Of each oct with a weight, the key of its first leaf and the weight. An oct that is held in several
    /// parts occurs several times. Octs without leaves weigh nothing.
    pub fn weighted(&self, deepest: u8, weight: impl Fn(&OctRecord) -> u32 + Sync) -> Vec<(u128, u32)> {
        let first = |oct: &OctRecord| key(deepest, oct.level, oct.cell(oct.leaf.trailing_zeros()));
        let of_oct = |oct: &OctRecord| match weight(oct) {
            0 => None,
            weight => Some((first(oct), weight)),
        };
        let n_weighted = |octs: &[OctRecord]| octs.iter().filter(|oct| weight(oct) > 0).count();
        let lengths: Vec<usize> = self.chunks_of_octs().map(n_weighted).collect();
        // Each thread is the first to touch the memory that it fills.
        let mut all = vec![(0, 0); lengths.iter().sum()];
        let pieces = carve(&mut all, lengths.into_iter());
        pieces.into_par_iter().zip(self.chunks_of_octs()).for_each(|(piece, octs)| {
            piece.iter_mut().zip(octs.iter().filter_map(of_oct)).for_each(|(to, weighted)| *to = weighted);
        });
        all
    }

    /// Collective: the levels that have cells on any rank; bit l stands for level l.
    pub fn levels(&self, comm: &Comm) -> Result<u32, CommError> {
        let of_chunk = |octs: &[OctRecord]| octs.iter().fold(0, |levels, oct| levels | 1 << (oct.level & 31));
        let own = self.chunks_of_octs().map(of_chunk).reduce(|| 0, |a: u32, b| a | b);
        let counts: [u64; 32] = std::array::from_fn(|level| u64::from(own >> level & 1));
        let counts = comm.all_reduce_counts(&counts, Reduce::Max)?;
        Ok(counts.iter().enumerate().fold(0, |mask, (l, n)| mask | u32::from(*n > 0) << l))
    }
}

/// Local: reads the cells of the pieces of this rank, in parallel.
///
/// # Errors
/// When a piece cannot be read, a leaf has a value that the request does not allow, a further value of a test
/// cell is not finite, or a cell is outside the box.
pub(super) fn read_cells(
    snapshot: &dyn Snapshot,
    request: &Request,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<HeldCells, RunError> {
    let read = |part: Part| {
        let held = read_part(snapshot, request, part);
        observer.advance(begun(part));
        held
    };
    let held: Vec<HeldCells> = each_part(snapshot, comm, read)?;
    Ok(HeldCells { chunks: held.into_iter().flat_map(|held| held.chunks).collect() })
}

fn read_part(snapshot: &dyn Snapshot, request: &Request, part: Part) -> Result<HeldCells, RunError> {
    let fields: Vec<&str> = request.field.into_iter().chain(request.extra.iter().copied()).collect();
    let domain = domain(snapshot);
    let mut held = HeldCells::default();
    let mut outside = None;
    let mut take = |block: &OctBlock| {
        if outside.is_none() {
            outside = first_outside(&domain, block);
        }
        if outside.is_some() {
            return Ok(());
        }
        let bad = |field: &str, (value, at)| {
            ReadError::bad_value(snapshot.place_of(part.0, Some(field)), field, value, block.level, at)
        };
        if let Some(field) = request.field {
            first_bad(block, &block.values[0], request.values)
                .map_or(Ok(()), |found| Err(bad(field, found)))?;
        }
        let parts_of_octs = !snapshot.is_octree();
        append(&mut held, block, parts_of_octs, request)
            .map_err(|(field, value, at)| bad(request.extra[field], (value, at)))
    };
    snapshot.octs_of(part.0, part.1, &fields, &mut take)?;
    held.chunks.iter_mut().for_each(|chunk| chunk.octs.shrink_to_fit());
    outside.map_or(Ok(held), |problem| Err(problem.into()))
}

/// Checks that a cell is in the box and its level fits the coordinates.
pub(super) fn check_place(domain: &Domain, level: u8, position: [u32; 3]) -> Result<(), MeshError> {
    if !domain.holds_level(level) {
        return Err(MeshError::TooDeep(level));
    }
    let extent = domain.extent(level);
    match (0..3).all(|a| i64::from(position[a]) < extent[a]) {
        true => Ok(()),
        false => Err(MeshError::Outside(level, position)),
    }
}

/// The first oct of a block that is outside the box or too deep. An oct of level 0 may reach over the edge of
/// the box.
fn first_outside(domain: &Domain, block: &OctBlock) -> Option<MeshError> {
    if !block.position.is_empty() && !domain.holds_level(block.level) {
        return Some(MeshError::TooDeep(block.level));
    }
    let extent = domain.extent(block.level).map(|n| (n + 1) >> 1);
    let is_outside = |p: &&[u32; 3]| (0..3).any(|a| i64::from(p[a]) >= extent[a]);
    let outside = block.position.iter().find(is_outside);
    outside.map(|p| MeshError::Outside(block.level, p.map(|x| x.wrapping_mul(2))))
}

/// Adds the octs of a block. `parts_of_octs`: only their leaves exist.
///
/// # Errors
/// The number of a further field that is not finite in a test cell, its value and the position of the cell.
fn append(
    held: &mut HeldCells,
    block: &OctBlock,
    parts_of_octs: bool,
    request: &Request,
) -> Result<(), (usize, f64, [u32; 3])> {
    let (own, extra) = block.values.split_at(usize::from(request.field.is_some()));
    for (at, position) in block.position.iter().enumerate() {
        // Without a field the densities are not known yet.
        let rho = own.first().map_or([0.0; 8], |column| column[at]);
        let (position, level, leaf) = (*position, block.level, !block.split[at]);
        let exists = if parts_of_octs { leaf } else { 0xff };
        let oct = OctRecord { position, level, exists, leaf, unused: 0, rho };
        let chunk = held.open_chunk();
        chunk.octs.push(oct);
        if extra.is_empty() {
            continue;
        }
        for bit in local::bits(oct.test_cells(&request.tests).into()) {
            let values = extra.iter().map(|column| column[at][bit as usize]);
            if let Some((field, value)) = values.clone().enumerate().find(|(_, x)| !x.is_finite()) {
                return Err((field, value, oct.cell(bit)));
            }
            chunk.extra.extend(values);
        }
    }
    Ok(())
}
