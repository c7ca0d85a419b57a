//! Positions `[N, 3]` in a dataset of an HDF5 file: `box.hdf5:/path/to/positions`.

use crate::dataset_path::split_dataset;
use crate::hdf5_file::Hdf5File;
use crate::open_files;
use crate::particles::array;
use crate::particles::array::Array;
use crate::particles::{InputDefaults, ParticleReader, Positions};
use crate::{ReadResult, facts};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The reader of single datasets.
pub const READER: ParticleReader = ParticleReader {
    name: "HDF5 array",
    looks: "file.hdf5:/path/to/a/dataset of shape (N, 3)",
    recognises: |path| split_dataset(path).is_some(),
    has_several_files: false,
    read_headers,
    open: |known| array::input(READER.name, facts::decode::<Vec<Dataset>>(known)),
};

#[derive(Serialize, Deserialize)]
struct Dataset {
    #[serde(with = "facts::path")]
    path: PathBuf,
    place: String,
    n: u64,
    is_double: bool,
}

fn read_headers(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<Vec<u8>> {
    defaults.refuse_units(&paths[0])?;
    let parts = paths.iter().map(|path| Dataset::open(path)).collect::<ReadResult<Vec<_>>>()?;
    Ok(facts::encode(&parts))
}

impl Dataset {
    fn open(path: &Path) -> ReadResult<Self> {
        let (file, place) = split_dataset(path).expect("the reader recognises paths with a dataset");
        let source = Hdf5File::open(file)?;
        let column = source
            .find(&format!("/{place}"))?
            .ok_or_else(|| source.bad(&format!("/{place}"), "no such dataset", "one of shape [N, 3]"))?;
        let &[n, 3] = &column.shape[..] else {
            return Err(source.bad(&column.place, format!("shape {:?}", column.shape), "[N, 3]"));
        };
        let is_double = source.is_double(&column)?;
        Ok(Self { path: file.to_path_buf(), place: column.place, n: n as u64, is_double })
    }
}

impl Array for Dataset {
    fn n(&self) -> u64 {
        self.n
    }

    fn is_double(&self) -> bool {
        self.is_double
    }

    fn read(&self, rows: Range<u64>, to: &mut Positions) -> ReadResult<()> {
        let _pass = open_files::pass();
        let source = Hdf5File::open(&self.path)?;
        let column = source.find(&self.place)?;
        let column = column.ok_or_else(|| source.bad(&self.place, "it has gone", "a dataset"))?;
        read_positions(&source, &column, rows, to)
    }

    fn place_of(&self, row: u64) -> (PathBuf, String) {
        (self.path.clone(), format!("{} row {row}", self.place))
    }
}

/// Appends positions in the requested precision.
pub fn read_positions(
    source: &Hdf5File,
    column: &crate::hdf5_file::DatasetRows,
    rows: Range<u64>,
    to: &mut Positions,
) -> ReadResult<()> {
    match to {
        Positions::Single(to) => append(to, triples(source.reals::<f32>(column, rows)?)),
        Positions::Double(to) => append(to, triples(source.reals::<f64>(column, rows)?)),
    }
    Ok(())
}

/// Values in triples, without a copy.
pub fn triples<T: bytemuck::Pod>(flat: Vec<T>) -> Vec<[T; 3]> {
    bytemuck::try_cast_vec(flat).unwrap_or_else(|(_, flat)| flat.as_chunks().0.to_vec())
}

/// Appends `more`, without a copy if `to` is empty.
pub fn append<T: Copy>(to: &mut Vec<T>, more: Vec<T>) {
    if to.capacity() == 0 { *to = more } else { to.extend_from_slice(&more) }
}
