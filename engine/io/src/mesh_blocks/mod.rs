//! Athena++ (`.athdf`) and Parthenon (`.phdf`, restarts `.rhdf`) files: HDF5 with leaf blocks of one size,
//! each at a level and a place there.
//!
//! A piece is a run of blocks. Which of both formats a file has is found from its content.

mod athena;
mod parthenon;
mod places;

use crate::block_grid::RootGrid;
use crate::hdf5_file::{self, DatasetRows, Hdf5File};
use crate::leaf_snapshot::{LeafFacts, LeafSnapshot, cell_fields, count_of};
use crate::leaf_stream::{LeafSink, LeafSource, stream};
use crate::tiles::Tile;
use crate::{Counted, ReadResult, Reader, facts};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The reader of Athena++ files.
pub const ATHENA: Reader = Reader {
    name: athena::NAME,
    looks: "an .athdf file",
    recognises: |path, _| athena::recognises(path),
    read_headers: |path, defaults| Ok(facts::encode(&athena::open(path, defaults)?)),
    open: |known| Box::new(facts::decode::<BlockFile>(known)),
};

/// The reader of Parthenon files.
pub const PARTHENON: Reader = Reader {
    name: parthenon::NAME,
    looks: "a .phdf or .rhdf file",
    recognises: |path, _| parthenon::recognises(path),
    read_headers: |path, defaults| Ok(facts::encode(&parthenon::open(path, defaults)?)),
    open: |known| Box::new(facts::decode::<BlockFile>(known)),
};

/// Blocks per piece: files are opened once per piece.
const BLOCKS: usize = 16;
/// The most blocks of a file.
const MOST_BLOCKS: u64 = 1 << 27;

/// A file of leaf blocks.
#[derive(Serialize, Deserialize)]
struct BlockFile {
    facts: LeafFacts,
    /// Where the values of each field are.
    places: Vec<FieldPlace>,
    /// Cells of a block along each axis.
    size: [u32; 3],
    /// Cells around each block whose values are stored as well.
    ghosts: [u32; 3],
    /// Level in the mesh and lowest cell of each block.
    blocks: Vec<(u8, [u32; 3])>,
}

/// The place of a field: its dataset, and the ranges that name it before or behind the axis of blocks.
#[derive(Clone, Serialize, Deserialize)]
struct FieldPlace {
    dataset: String,
    /// Indices along the axes before those of z, y and x; `None` for that of blocks.
    indices: Vec<Option<usize>>,
}

/// The grid of a file before its blocks are known.
struct BlockGrid {
    root: RootGrid,
    size: [u32; 3],
    ghosts: [u32; 3],
    /// The datasets with the faces of blocks.
    faces: [&'static str; 3],
}

impl BlockGrid {
    /// The blocks by the datasets `Levels` and `LogicalLocations` of the file.
    fn blocks(&self, file: &Hdf5File, n: u64) -> ReadResult<Vec<(u8, [u32; 3])>> {
        if n == 0 || n > MOST_BLOCKS {
            return Err(file.bad("/NumMeshBlocks", format!("{n}"), format!("1 to {MOST_BLOCKS}")));
        }
        let levels = file.integers(&file.need("/Levels", n, 1)?, 0..n)?;
        let places = file.integers(&file.need("/LogicalLocations", n, 3)?, 0..n)?;
        let block = |(i, (level, place)): (usize, (&u64, &[u64]))| {
            self.block(*level, place).ok_or_else(|| {
                let problem = format!("block {i} at {place:?} of level {level}");
                file.bad("/LogicalLocations", problem, "blocks in the box, of level 0 or more")
            })
        };
        levels.iter().zip(places.chunks(3)).enumerate().map(block).collect()
    }

    fn block(&self, level: u64, place: &[u64]) -> Option<(u8, [u32; 3])> {
        let up = u32::try_from(level).ok().filter(|up| *up < 32)?;
        let mut corner = [0; 3];
        for a in 0..3 {
            let low = place[a].checked_mul(self.size[a].into())?;
            let end = low.checked_add(self.size[a].into())?;
            (end <= u64::from(self.root.size[a]) << up && end <= 1 << 31).then_some(())?;
            corner[a] = low as u32;
        }
        Some((self.root.level.checked_add(up as u8)?, corner))
    }
}

impl BlockFile {
    /// The snapshot of a file.
    fn new(
        file: &Hdf5File,
        format: &'static str,
        grid: &BlockGrid,
        named: Vec<(String, FieldPlace)>,
        (time, n_blocks, periodic): (f64, u64, [bool; 3]),
    ) -> ReadResult<Self> {
        let path = file.path();
        if !time.is_finite() {
            return Err(file.bad("/Time", format!("{time}"), "a finite number"));
        }
        if named.is_empty() {
            return Err(file.bad("/", "no field of cells", "one or more"));
        }
        let fits = |a: usize| grid.size[a] > 0 && grid.root.size[a].is_multiple_of(grid.size[a]);
        if !(0..3).all(fits) {
            let problem = format!("blocks of {:?} cells", grid.size);
            return Err(file.bad("/MeshBlockSize", problem, format!("parts of {:?} cells", grid.root.size)));
        }
        grid.check_whole(file, "/MeshBlockSize")?;
        let blocks = grid.blocks(file, n_blocks)?;
        grid.check_faces(file, grid.faces, &blocks)?;
        grid.check_volume(file, &blocks)?;
        let deepest = blocks.iter().map(|block| block.0).max().unwrap_or(grid.root.level) - grid.root.level;
        grid.root.check_levels(path, deepest.into())?;
        let mut header = grid.root.header(format, time, periodic, deepest);
        header.number = crate::input_file::number_of(path);
        header.n_pieces = blocks.len().div_ceil(BLOCKS);
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for (mut name, place) in named {
            while names.contains(&name) {
                name.push('_');
            }
            names.push(name);
            places.push(place);
        }
        let (size, ghosts) = (grid.size, grid.ghosts);
        let facts = LeafFacts { path: path.into(), header, fields: cell_fields(names) };
        Ok(Self { facts, places, size, ghosts, blocks })
    }

    fn blocks_of(&self, piece: usize) -> ReadResult<std::ops::Range<usize>> {
        if piece < self.facts.header.n_pieces {
            return Ok(piece * BLOCKS..(piece * BLOCKS + BLOCKS).min(self.blocks.len()));
        }
        Err(self.facts.no_piece(piece))
    }
}

/// A block that is read.
struct OpenBlock<'a> {
    of: &'a BlockFile,
    file: &'a Hdf5File<'a>,
    block: usize,
    /// Dataset and place of each requested field.
    fields: &'a [(DatasetRows, &'a FieldPlace)],
}

impl LeafSource for OpenBlock<'_> {
    fn level(&self) -> u8 {
        self.of.blocks[self.block].0
    }

    fn corner(&self) -> [u32; 3] {
        self.of.blocks[self.block].1
    }

    fn size(&self) -> [u32; 3] {
        self.of.size
    }

    fn order(&self) -> [usize; 3] {
        [0, 1, 2]
    }

    fn read(&mut self, tile: &Tile, field: usize, to: &mut Vec<f64>) -> ReadResult<()> {
        let (dataset, place) = &self.fields[field];
        let one = |i: usize| i..i + 1;
        let before = place.indices.iter().map(|index| one(index.unwrap_or(self.block)));
        let of_axis = |a: usize| {
            let low = (self.of.ghosts[a] + tile.low[a]) as usize;
            low..low + tile.size[a] as usize
        };
        let ranges: Vec<_> = before.chain([2, 1, 0].map(of_axis)).collect();
        to.append(&mut self.file.part(dataset, &ranges)?);
        Ok(())
    }
}

impl LeafSnapshot for BlockFile {
    fn facts(&self) -> &LeafFacts {
        &self.facts
    }

    fn count_leaves(&self, piece: usize) -> ReadResult<Vec<u64>> {
        let each = self.size.iter().map(|n| u64::from(*n)).product();
        let mut all = Vec::new();
        for (level, _) in &self.blocks[self.blocks_of(piece)?] {
            let counts = count_of(*level, each);
            all.resize(all.len().max(counts.len()), 0);
            all.iter_mut().zip(counts).for_each(|(all, n)| *all += n);
        }
        Ok(all)
    }

    fn stream_leaves(
        &self,
        piece: usize,
        fields: &[usize],
        blocks: &mut Counted,
        sink: LeafSink<'_>,
    ) -> ReadResult<()> {
        let own = self.blocks_of(piece)?;
        let file = Hdf5File::open(&self.facts.path)?;
        let opened = |i: &usize| {
            let place = &self.places[*i];
            let found = file.find(&place.dataset)?;
            let found =
                found.ok_or_else(|| file.bad(&place.dataset, "no such dataset", "that of the header"))?;
            let most = [2, 1, 0].map(|a| (self.size[a] + 2 * self.ghosts[a]) as usize);
            let n = place.indices.len();
            let holds = found.shape.len() == n + 3
                && found.shape[n..] == most
                && place
                    .indices
                    .iter()
                    .zip(&found.shape)
                    .all(|(i, n)| i.unwrap_or(self.blocks.len() - 1) < *n);
            match holds {
                true => Ok((found, place)),
                false => {
                    Err(file.bad(&place.dataset, format!("shape {:?}", found.shape), "that of the header"))
                }
            }
        };
        let fields = fields.iter().map(opened).collect::<ReadResult<Vec<_>>>()?;
        for block in own {
            let source = OpenBlock { of: self, file: &file, block, fields: &fields };
            stream(source, fields.len(), false, blocks, sink)?;
        }
        Ok(())
    }
}

/// Whether the file at `path` is HDF5 and `has` the marks of the format.
fn recognises(path: &Path, has: impl Fn(&Hdf5File) -> bool) -> bool {
    hdf5_file::is_hdf5(path) && Hdf5File::open(path).is_ok_and(|file| has(&file))
}

/// Three whole numbers of an attribute, each of them from 1 to 2^31.
fn sizes(file: &Hdf5File, place: &str, name: &str) -> ReadResult<[u32; 3]> {
    let all = file.numbers(place, name)?.unwrap_or_default();
    let is_size = |x: &f64| (1.0..=2_147_483_648.0).contains(x) && x.fract() == 0.0;
    match all[..] {
        [x, y, z] if [x, y, z].iter().all(is_size) => Ok([x, y, z].map(|x| x as u32)),
        _ => Err(file.bad(&attribute(place, name), format!("{all:?}"), "three whole numbers from 1")),
    }
}

/// The place of an attribute in messages.
fn attribute(place: &str, name: &str) -> String {
    format!("{}/{name}", place.trim_end_matches('/'))
}

/// A count in an attribute.
fn count(file: &Hdf5File, place: &str, name: &str) -> ReadResult<u64> {
    match file.number(place, name)? {
        Some(n) if (0.0..1e15).contains(&n) && n.fract() == 0.0 => Ok(n as u64),
        Some(other) => Err(file.bad(&attribute(place, name), format!("{other}"), "a count")),
        None => Err(file.bad(&attribute(place, name), "no such attribute", "a count")),
    }
}

/// Refuses boxes in fewer than three dimensions.
fn check_dimensions(file: &Hdf5File, root: [u32; 3]) -> ReadResult<()> {
    match root.iter().filter(|n| **n > 1).count() {
        3 => Ok(()),
        n => Err(file.bad("/RootGridSize", format!("{root:?}: {n}-D"), "three dimensions")),
    }
}

/// The ends of the box from low end, high end and ratio of neighbouring cells along each axis.
fn ends(file: &Hdf5File, place: &str, all: &[f64]) -> ReadResult<[[f64; 3]; 2]> {
    let &[x0, x1, rx, y0, y1, ry, z0, z1, rz] = all else {
        return Err(file.bad(
            place,
            format!("{} numbers", all.len()),
            "low end, high end and ratio of each axis",
        ));
    };
    match [rx, ry, rz].iter().all(|ratio| *ratio == 1.0) {
        true => Ok([[x0, y0, z0], [x1, y1, z1]]),
        false => Err(file.bad(place, format!("ratios {:?}", [rx, ry, rz]), "1: cells of equal size")),
    }
}
