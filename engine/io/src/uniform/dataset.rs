//! A dataset of three axes, x, y and z, or of two for an image, in an HDF5 file: `box.hdf5:/path/to/density`.

use super::{ArrayShape, ArrayValues, Uniform};
use crate::dataset_path::{file_of, split_dataset};
use crate::hdf5_file::{DatasetRows, Hdf5File};
use crate::tiles::Tile;
use crate::{FieldDefaults, ReadResult, Reader, facts};
use std::path::Path;

/// The reader of single datasets of cells.
pub const READER: Reader = Reader {
    name: "HDF5 array of cells",
    looks: "file.hdf5:/path/to/a/dataset of three axes, or an image of two",
    recognises,
    read_headers: |path, defaults| Ok(facts::encode(&open(path, defaults)?)),
    open: |known| Box::new(facts::decode::<Uniform>(known)),
};

/// The most cells that are kept of a slab.
const MOST_KEPT: usize = 1 << 24;

/// Datasets of shape (N, 3) are positions of particles, unless they are said to be images.
fn recognises(path: &Path, defaults: &FieldDefaults) -> bool {
    let shape = || {
        let (file, place) = split_dataset(path)?;
        let source = Hdf5File::open(file).ok()?;
        Some(source.find(&format!("/{place}")).ok()??.shape)
    };
    shape().is_some_and(|shape| defaults.is_image || !matches!(shape[..], [_, 3]))
}

fn open(path: &Path, defaults: &FieldDefaults) -> ReadResult<Uniform> {
    let (_, place) = split_dataset(path).expect("the reader recognises paths with a dataset");
    let (file, place) = (file_of(path), format!("/{place}"));
    let source = Hdf5File::open(file)?;
    let found =
        source.find(&place)?.ok_or_else(|| source.bad(&place, "no such dataset", "one of three axes"))?;
    source.check_numbers(&found)?;
    let shape: Vec<u64> = found.shape.iter().map(|n| *n as u64).collect();
    let array = ArrayShape::new(path, &shape, false, defaults)?;
    let size = array.size;
    let chunk = found.chunk_planes().and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
    let planes = MOST_KEPT as u64 / (u64::from(size[1]) * u64::from(size[2])).max(1);
    let chunk = if u64::from(chunk) <= planes { chunk } else { 1 };
    let name = place.rsplit('/').next().unwrap_or("density");
    Uniform::new(
        file,
        READER.name,
        name,
        ArrayShape { chunk, ..array },
        ArrayValues::Dataset(place.clone()),
        defaults,
    )
}

/// A slab of an open dataset.
pub(super) struct OpenDataset<'a> {
    file: &'a Hdf5File<'a>,
    rows: DatasetRows,
    slab: Tile,
    /// All its values, z fastest, if they are few: chunks are then decompressed once.
    kept: Option<Vec<f64>>,
}

impl<'a> OpenDataset<'a> {
    pub fn new(file: &'a Hdf5File<'a>, place: &str, size: [u32; 3], slab: Tile) -> ReadResult<Self> {
        let rows =
            file.find(place)?.ok_or_else(|| file.bad(place, "no such dataset", "that of the header"))?;
        // An image has no axis z.
        let size = size.map(|n| n as usize);
        if !matches!(rows.shape.len(), 2 | 3) || rows.shape != size[..rows.shape.len()] {
            return Err(file.bad(place, format!("shape {:?}", rows.shape), format!("{size:?}")));
        }
        Ok(Self { file, rows, slab, kept: None })
    }

    /// Appends the values of a tile of the array in the slab, x fastest.
    pub fn read(&mut self, tile: &Tile, to: &mut Vec<f64>) -> ReadResult<()> {
        let part = |tile: &Tile| {
            let range = |a: usize| tile.low[a] as usize..(tile.low[a] + tile.size[a]) as usize;
            self.file.part(&self.rows, &[0, 1, 2].map(range)[..self.rows.shape.len()])
        };
        if self.slab.n_cells() > MOST_KEPT {
            append(&part(tile)?, tile, [0; 3], tile.size, to);
            return Ok(());
        }
        if self.kept.is_none() {
            self.kept = Some(part(&self.slab)?);
        }
        let kept = self.kept.as_deref().expect("it was read");
        let low = std::array::from_fn(|a| tile.low[a] - self.slab.low[a]);
        append(kept, tile, low, self.slab.size, to);
        Ok(())
    }
}

/// Appends a tile of values that lie with z fastest in a block of `size` cells; `low` is its place there.
fn append(values: &[f64], tile: &Tile, low: [u32; 3], size: [u32; 3], to: &mut Vec<f64>) {
    let [_, ny, nz] = size.map(|n| n as usize);
    let [x0, y0, z0] = low.map(|n| n as usize);
    let [tx, ty, tz] = tile.size.map(|n| n as usize);
    for z in z0..z0 + tz {
        for y in y0..y0 + ty {
            to.extend((x0..x0 + tx).map(|x| values[(x * ny + y) * nz + z]));
        }
    }
}
