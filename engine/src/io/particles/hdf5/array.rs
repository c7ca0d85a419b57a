//! Positions `[N, 3]` in a dataset of an HDF5 file: `box.hdf5:/path/to/positions`.

use super::file::Source;
use crate::io::ReadResult;
use crate::io::particles::spread::Spread;
use crate::io::particles::{
    About, Columns, DARK_MATTER, ParticleInput, ParticleReader, Positions, array, split_dataset,
};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The reader of single datasets.
pub const READER: ParticleReader = ParticleReader {
    name: "HDF5 array",
    looks: "file.hdf5:/path/to/a/dataset of shape (N, 3)",
    recognises: |path| split_dataset(path).is_some(),
    open,
};

struct Arrays {
    about: About,
    /// File and place of each.
    parts: Vec<(PathBuf, String)>,
    spread: Spread,
}

fn open(paths: &[PathBuf]) -> ReadResult<Box<dyn ParticleInput>> {
    let (mut parts, mut counts, mut is_double) = (Vec::new(), Vec::new(), false);
    for path in paths {
        let (file, place) = split_dataset(path).unwrap_or((path, ""));
        let source = Source::open(file)?;
        let column = source
            .find(&format!("/{place}"))?
            .ok_or_else(|| source.bad(&format!("/{place}"), "no such dataset", "one of shape [N, 3]"))?;
        let n = column.shape.first().copied().unwrap_or(0) as u64;
        if column.shape.len() != 2 || column.shape[1] != 3 {
            return Err(source.bad(&column.place, format!("shape {:?}", column.shape), "[N, 3]"));
        }
        is_double |= source.is_double(&column)?;
        parts.push((file.to_path_buf(), column.place));
        counts.push(n);
    }
    let spread = Spread::of(counts);
    Ok(Box::new(Arrays { about: array::about(READER.name, spread.total(), is_double), parts, spread }))
}

impl ParticleInput for Arrays {
    fn about(&self) -> &About {
        &self.about
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        into.pad(rows.start, (rows.end - rows.start) as usize, DARK_MATTER);
        for (part, rows) in self.spread.parts(rows) {
            let (path, place) = &self.parts[part];
            let source = Source::open(path)?;
            let column = source.find(place)?.ok_or_else(|| source.bad(place, "it has gone", "a dataset"))?;
            read_positions(&source, &column, rows, &mut into.position)?;
        }
        Ok(())
    }

    fn place_of(&self, _species: usize, row: u64) -> (PathBuf, String) {
        let (part, row) = self.spread.find(row);
        let (path, place) = &self.parts[part];
        (Path::new(path).into(), format!("{place} row {row}"))
    }
}

/// Appends positions in the precision that is wanted.
pub fn read_positions(
    source: &Source,
    column: &super::file::Column,
    rows: Range<u64>,
    to: &mut Positions,
) -> ReadResult<()> {
    match to {
        Positions::Single(to) => append(to, triples(source.reals::<f32>(column, rows)?)),
        Positions::Double(to) => append(to, triples(source.reals::<f64>(column, rows)?)),
    }
    Ok(())
}

/// Values three by three, without a copy.
pub fn triples<T: bytemuck::Pod>(flat: Vec<T>) -> Vec<[T; 3]> {
    bytemuck::try_cast_vec(flat).unwrap_or_else(|(_, flat)| flat.as_chunks().0.to_vec())
}

/// Appends `more`, or takes its place.
pub fn append<T: Copy>(to: &mut Vec<T>, more: Vec<T>) {
    if to.capacity() == 0 { *to = more } else { to.extend_from_slice(&more) }
}
