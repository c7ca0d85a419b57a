//! Plain arrays of cells: one number per cell of a grid, which fills the box. A cell whose value is not a
//! number is absent. An array of two axes is an image: one plane of pixels.
//!
//! A format is a file here that makes a [`Uniform`] from a header: numbers at regular places of a file
//! ([`ArrayValues::Stored`]), or a dataset. A piece is a slab of cells.

#[cfg(feature = "hdf5")]
mod dataset;
mod fits;
mod npy;

#[cfg(feature = "hdf5")]
pub use dataset::READER as DATASET;
pub use fits::READER as FITS;
pub use npy::READER as NPY;

use crate::attribute::Attribute;
use crate::block_grid::RootGrid;
use crate::leaf_snapshot::{LeafFacts, LeafSnapshot, cell_fields, count_of};
use crate::leaf_stream::{LeafSink, LeafSource, stream};
use crate::source_file::SourceFile;
use crate::stored_array::StoredArray;
use crate::tiles::Tile;
use crate::{Counted, FieldDefaults, ReadError, ReadResult, StaticName};
use fits::{OpenTiles, PackedTiles, Scaling};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The attribute of catalogues of images; those of boxes lack it.
const DIMENSIONS: &str = "dimensions";
/// Cells of a piece, where its planes allow it.
const PIECE: u64 = 1 << 20;

/// An array of cells.
#[derive(Serialize, Deserialize)]
struct Uniform {
    facts: LeafFacts,
    /// Cells along each axis.
    size: [u32; 3],
    /// The axes by the distance of neighbours in the file, the least first.
    order: [usize; 3],
    /// Planes of a piece, an even number, across the axis `order[2]`.
    planes: u32,
    values: ArrayValues,
    /// Whether it has two axes, x and y: one plane of pixels of side 1.
    is_flat: bool,
    /// What catalogues keep of its header.
    kept: Vec<(String, Attribute)>,
    /// As [`Snapshot::notes`].
    notes: Vec<String>,
    /// Whether gzip has packed the file.
    is_unpacked: bool,
    /// The unpacked file, once one of its pieces is read.
    #[serde(skip)]
    unpacked: Mutex<Option<Arc<SourceFile>>>,
}

/// Where the values are.
#[derive(Clone, Serialize, Deserialize)]
enum ArrayValues {
    /// At regular places of the file.
    Stored(StoredArray),
    /// The same, as numbers that are scaled.
    Scaled(StoredArray, Scaling),
    /// In compressed tiles, as numbers that may be scaled.
    Packed(Box<PackedTiles>, Option<Scaling>),
    /// In a dataset of an HDF5 file.
    #[cfg(feature = "hdf5")]
    Dataset(String),
}

/// How many cells an array has, and how they lie in the file.
#[derive(Debug, Clone, Copy)]
struct ArrayShape {
    /// Cells along each axis; 1 along z for an image.
    size: [u32; 3],
    /// The axes by the distance of neighbours in the file, the least first.
    order: [usize; 3],
    /// Planes across the axis `order[2]` that are best read together.
    chunk: u32,
    /// Whether it has two axes.
    is_flat: bool,
}

impl ArrayShape {
    /// Of an array of two or three axes: x, y and z. Along the last one numbers are contiguous, or along the
    /// first one in Fortran order.
    ///
    /// # Errors
    /// It has other axes, or is no image though said to be one.
    fn new(path: &Path, shape: &[u64], is_fortran: bool, defaults: &FieldDefaults) -> ReadResult<Self> {
        let sizes: Option<Vec<u32>> = shape.iter().map(|n| u32::try_from(*n).ok()).collect();
        // Images are read in parts along their slow axis. So z is never the slowest.
        let (size, order) = match (sizes.as_deref(), is_fortran) {
            (Some(&[x, y]), false) => ([x, y, 1], [1, 2, 0]),
            (Some(&[x, y]), true) => ([x, y, 1], [0, 2, 1]),
            (Some(&[x, y, z]), false) if !defaults.is_image => ([x, y, z], [2, 1, 0]),
            (Some(&[x, y, z]), true) if !defaults.is_image => ([x, y, z], [0, 1, 2]),
            _ => {
                let expected = if defaults.is_image { "two axes: x and y" } else { "three axes: x, y and z" };
                let problem = format!("{shape:?}: {}-D", shape.len());
                return Err(ReadError::content(path, "shape", problem, expected));
            }
        };
        Ok(Self { size, order, chunk: 1, is_flat: shape.len() == 2 })
    }
}

impl Uniform {
    /// An array of this shape.
    fn new(
        path: &Path,
        format: StaticName,
        name: &str,
        shape: ArrayShape,
        values: ArrayValues,
        defaults: &FieldDefaults,
    ) -> ReadResult<Self> {
        let ArrayShape { size, order, chunk, is_flat } = shape;
        if is_flat {
            defaults.refuse_flat(path)?;
        }
        let n_cells = size.iter().try_fold(1_u64, |n, side| n.checked_mul(u64::from(*side)));
        let Some(n_cells) =
            n_cells.filter(|n| (1..1 << 48).contains(n) && size.iter().all(|n| *n <= 1 << 31))
        else {
            return Err(ReadError::content(
                path,
                "shape",
                format!("{size:?}"),
                "1 cell or more along each axis",
            ));
        };
        let side = defaults.spacing.unwrap_or(1.0);
        let root = RootGrid::of_cubes(size, defaults.origin.unwrap_or([0.0; 3]), side);
        let periodic = defaults.periodic.unwrap_or([false; 3]);
        let mut header = root.header(format, 0.0, periodic, 0);
        if !header.boxlen.is_finite() {
            return Err(ReadError::content(path, "spacing", format!("{side}"), "a side with a finite box"));
        }
        let plane = n_cells / u64::from(size[order[2]]);
        let planes = (PIECE / plane).clamp(1, 1 << 20) as u32;
        let planes = planes.next_multiple_of(chunk.max(1)).next_multiple_of(2);
        header.n_pieces = size[order[2]].div_ceil(planes) as usize;
        Ok(Self {
            facts: LeafFacts { path: path.into(), header, fields: cell_fields([name.into()]) },
            size,
            order,
            planes,
            values,
            is_flat,
            kept: Vec::new(),
            notes: Vec::new(),
            is_unpacked: false,
            unpacked: Mutex::default(),
        })
    }

    /// The file with the numbers. One that gzip has packed is unpacked once.
    fn source(&self) -> ReadResult<Arc<SourceFile>> {
        if !self.is_unpacked {
            return Ok(Arc::new(SourceFile::open(&self.facts.path)?));
        }
        let mut unpacked = self.unpacked.lock();
        if let Some(file) = &*unpacked {
            return Ok(file.clone());
        }
        let file = Arc::new(fits::unpacked(&self.facts.path)?);
        *unpacked = Some(file.clone());
        Ok(file)
    }

    /// The cells of a piece.
    fn slab(&self, piece: usize) -> ReadResult<Tile> {
        if piece >= self.facts.header.n_pieces {
            return Err(self.facts.no_piece(piece));
        }
        let (slow, mut slab) = (self.order[2], Tile { low: [0; 3], size: self.size });
        slab.low[slow] = piece as u32 * self.planes;
        slab.size[slow] = self.planes.min(self.size[slow] - slab.low[slow]);
        Ok(slab)
    }
}

/// A slab that is read.
struct OpenSlab<'a, R> {
    of: &'a Uniform,
    slab: Tile,
    read: R,
}

impl<R: FnMut(&Tile, &mut Vec<f64>) -> ReadResult<()>> LeafSource for OpenSlab<'_, R> {
    fn level(&self) -> u8 {
        self.of.facts.header.levelmin
    }

    fn corner(&self) -> [u32; 3] {
        self.slab.low
    }

    fn size(&self) -> [u32; 3] {
        self.slab.size
    }

    fn order(&self) -> [usize; 3] {
        self.of.order
    }

    fn read(&mut self, tile: &Tile, _field: usize, to: &mut Vec<f64>) -> ReadResult<()> {
        let low = std::array::from_fn(|a| self.slab.low[a] + tile.low[a]);
        (self.read)(&Tile { low, size: tile.size }, to)
    }
}

impl LeafSnapshot for Uniform {
    fn facts(&self) -> &LeafFacts {
        &self.facts
    }

    fn attributes(&self) -> Vec<(String, Attribute)> {
        let dimensions = self.is_flat.then(|| (DIMENSIONS.to_string(), Attribute::Int(2)));
        dimensions.into_iter().chain(self.kept.iter().cloned()).collect()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn count_leaves(&self, piece: usize) -> ReadResult<Vec<u64>> {
        Ok(count_of(self.facts.header.levelmin, self.slab(piece)?.n_cells() as u64))
    }

    fn stream_leaves(
        &self,
        piece: usize,
        fields: &[usize],
        blocks: &mut Counted,
        sink: LeafSink<'_>,
    ) -> ReadResult<()> {
        let (n, slab) = (fields.len(), self.slab(piece)?);
        match &self.values {
            ArrayValues::Stored(array) => {
                let file = self.source()?;
                array.check(&file, "values")?;
                let read = |tile: &Tile, to: &mut Vec<f64>| array.read(&file, tile, to);
                stream(OpenSlab { of: self, slab, read }, n, true, blocks, sink)
            }
            ArrayValues::Scaled(array, scaling) => {
                let file = self.source()?;
                array.check(&file, "values")?;
                let read = |tile: &Tile, to: &mut Vec<f64>| {
                    let first = to.len();
                    array.read(&file, tile, to)?;
                    scaling.apply(&mut to[first..]);
                    Ok(())
                };
                stream(OpenSlab { of: self, slab, read }, n, true, blocks, sink)
            }
            ArrayValues::Packed(tiles, scaling) => {
                let file = self.source()?;
                let mut open = OpenTiles::new(tiles, &file);
                let read = |tile: &Tile, to: &mut Vec<f64>| {
                    let first = to.len();
                    open.read(tile, to)?;
                    scaling.iter().for_each(|scaling| scaling.apply(&mut to[first..]));
                    Ok(())
                };
                stream(OpenSlab { of: self, slab, read }, n, true, blocks, sink)
            }
            #[cfg(feature = "hdf5")]
            ArrayValues::Dataset(place) => {
                let file = crate::hdf5_file::Hdf5File::open(&self.facts.path)?;
                let mut open = dataset::OpenDataset::new(&file, place, self.size, slab)?;
                let read = |tile: &Tile, to: &mut Vec<f64>| open.read(tile, to);
                stream(OpenSlab { of: self, slab, read }, n, true, blocks, sink)
            }
        }
    }
}
