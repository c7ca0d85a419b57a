//! Catalogue to HDF5.

use super::chunks::{GZIP, packed, rows_a_chunk};
use super::raw_chunk::write_chunk;
use super::seal::seal;
use super::swift;
use super::{MARK, VERSION, reason};
use crate::catalogue::units::{cgs_factor, unit_name};
use crate::catalogue::{
    Attribute, Catalogue, Column, ReadyRows, Table, Values, WriteError, WriteResult, check_shape,
};
use crate::staging::{Staged, stage_path};
use ::hdf5::plist::file_create::{AttrCreationOrder, LinkCreationOrder};
use ::hdf5::types::VarLenUnicode;
use ::hdf5::{Dataset, File, Group, H5Type, Location};
use ndarray::{ArrayView1, ArrayView2};
use std::path::Path;
use std::str::FromStr;

/// Writes `catalogue`, which is then ready to become `path`.
///
/// # Errors
/// The place cannot be written, or a name or text does not fit the format; `path` is then as before.
pub fn stage(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(path, catalogue)?;
    let tables: Vec<_> = catalogue.tables.iter().map(|t| (t, t.n_rows() as u64)).collect();
    let to = Target { path };
    let fill = |hidden: &Path| {
        let file = to.make(hidden, &catalogue.attributes, &tables)?;
        tables.iter().try_for_each(|(table, n)| to.rows(&file, table, 0, chunks(table, *n)))?;
        to.close(file)?;
        finish(path, hidden)
    };
    Ok(stage_path(path, fill)?.into())
}

/// Makes the file `hidden`, which becomes `path`, with every dataset at its whole size: that of the
/// number that goes with its table. Only names and types of the columns count.
pub fn begin(
    path: &Path,
    hidden: &Path,
    attributes: &[(String, Attribute)],
    tables: &[(&Table, u64)],
) -> WriteResult<()> {
    let to = Target { path };
    to.close(to.make(hidden, attributes, tables)?)
}

/// Makes rows of one table ready: those of whole chunks, from row `first` on, of `n_rows` in all. What comes back
/// writes them; the file must then be open nowhere else.
pub fn ready(table: &Table, first: u64, n_rows: u64) -> ReadyRows<'_> {
    let chunks = chunks(table, n_rows);
    Box::new(move |path, hidden| {
        let to = Target { path };
        let file = File::open_rw(hidden).map_err(to.failed("opening the file"))?;
        to.rows(&file, table, first as usize, chunks)?;
        to.close(file)
    })
}

/// Compressed chunks of so many rows each, by column.
struct Chunks {
    rows: usize,
    columns: Vec<Vec<Vec<u8>>>,
}

/// Those of rows of a table of `n_rows`; `None` if its values are stored as they are.
fn chunks(table: &Table, n_rows: u64) -> std::io::Result<Option<Chunks>> {
    let rows = rows_a_chunk(n_rows as usize);
    rows.map(|rows| packed(table, rows).map(|columns| Chunks { rows, columns })).transpose()
}

/// Seals the file once all its rows are there. Costs reading it.
pub fn finish(path: &Path, hidden: &Path) -> WriteResult<()> {
    seal(hidden).map_err(WriteError::io(path, "writing the checksum"))
}

/// Knows the final name for the messages.
struct Target<'a> {
    path: &'a Path,
}

impl Target<'_> {
    fn make(
        &self,
        hidden: &Path,
        attributes: &[(String, Attribute)],
        tables: &[(&Table, u64)],
    ) -> WriteResult<File> {
        let file = crate::hidden::making(|| self.create(hidden))?;
        self.attribute(&file, MARK, &Attribute::Int(VERSION))?;
        attributes.iter().try_for_each(|(name, value)| self.attribute(&file, name, value))?;
        for (table, n_rows) in tables {
            self.table(&file, attributes, table, *n_rows as usize)?;
        }
        swift::dress(&file, attributes, tables).map_err(self.failed("SWIFT's attributes"))?;
        Ok(file)
    }

    fn close(&self, file: File) -> WriteResult<()> {
        file.flush().and_then(|()| file.close()).map_err(self.failed("end of file"))
    }

    fn create(&self, hidden: &Path) -> WriteResult<File> {
        let mut options = File::with_options();
        options.with_fcpl(|p| {
            p.obj_track_times(false)
                .attr_creation_order(AttrCreationOrder::Indexed)
                .link_creation_order(LinkCreationOrder::Indexed)
        });
        options.create(hidden).map_err(self.failed("creating the file"))
    }

    fn table(
        &self,
        file: &File,
        attributes: &[(String, Attribute)],
        table: &Table,
        n_rows: usize,
    ) -> WriteResult<()> {
        let group = file
            .create_group_builder()
            .obj_track_times(false)
            .with_gcpl(|p| p.link_creation_order(LinkCreationOrder::Indexed))
            .create(table.name.as_str())
            .map_err(self.failed(&table.name))?;
        table.columns.iter().try_for_each(|column| {
            let place = format!("{}/{}", table.name, column.name);
            let dataset = new_dataset(&group, column, n_rows).map_err(self.failed(&place))?;
            self.attribute(&dataset, "units", &Attribute::Text(unit_name(column.dimension)))?;
            if let Some(factor) = cgs_factor(attributes, column.dimension) {
                self.attribute(&dataset, "cgs_factor", &Attribute::Real(factor))?;
            }
            self.attribute(&dataset, "description", &Attribute::Text(column.description.clone()))
        })
    }

    /// Writes the rows of `table` from row `first` on, as `chunks` where there are some.
    fn rows(
        &self,
        file: &File,
        table: &Table,
        first: usize,
        chunks: std::io::Result<Option<Chunks>>,
    ) -> WriteResult<()> {
        let chunks = chunks.map_err(WriteError::io(self.path, "compressing"))?;
        for (i, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.values.is_empty()) {
            let place = format!("{}/{}", table.name, column.name);
            let dataset = file.dataset(&place).map_err(self.failed(&place))?;
            let written = match &chunks {
                Some(chunks) => chunks.put(&dataset, i, first),
                None => put(&dataset, &column.values, first),
            };
            written.map_err(self.failed(&place))?;
        }
        Ok(())
    }

    fn attribute(&self, at: &Location, name: &str, value: &Attribute) -> WriteResult<()> {
        let place = format!("attribute {name}");
        let written = match value {
            Attribute::Int(v) => scalar(at, name, v),
            Attribute::Real(v) => scalar(at, name, v),
            Attribute::Reals(v) => {
                at.new_attr::<f64>().shape([v.len()]).create(name).and_then(|a| a.write_raw(v.as_slice()))
            }
            Attribute::Text(v) => scalar(at, name, &self.text(&place, v)?),
        };
        written.map_err(self.failed(&place))
    }

    fn text(&self, place: &str, text: &str) -> WriteResult<VarLenUnicode> {
        VarLenUnicode::from_str(text)
            .map_err(|_| WriteError::content(self.path, place, "a zero byte in a text", "none"))
    }

    fn failed(&self, place: &str) -> impl FnOnce(::hdf5::Error) -> WriteError {
        let (path, place) = (self.path.to_path_buf(), place.to_string());
        move |e| WriteError::Library { path, place, problem: reason(&e) }
    }
}

impl Chunks {
    /// Writes those of a column from row `first` on.
    fn put(&self, dataset: &Dataset, column: usize, first: usize) -> ::hdf5::Result<()> {
        let begins = (first..).step_by(self.rows);
        begins.zip(&self.columns[column]).try_for_each(|(row, chunk)| write_chunk(dataset, row, chunk))
    }
}

fn scalar<T: H5Type>(at: &Location, name: &str, value: &T) -> ::hdf5::Result<()> {
    at.new_attr::<T>().create(name)?.write_scalar(value)
}

fn new_dataset(group: &Group, column: &Column, n_rows: usize) -> ::hdf5::Result<Dataset> {
    let name = &column.name;
    match &column.values {
        Values::U8(_) => raw::<u8>(group, name, &[n_rows]),
        Values::U64(_) => raw::<u64>(group, name, &[n_rows]),
        Values::I64(_) => raw::<i64>(group, name, &[n_rows]),
        Values::F64(_) => raw::<f64>(group, name, &[n_rows]),
        Values::F32(_) => raw::<f32>(group, name, &[n_rows]),
        Values::F64x3(_) => raw::<f64>(group, name, &[n_rows, 3]),
        Values::U32x3(_) => raw::<u32>(group, name, &[n_rows, 3]),
    }
}

fn raw<T: H5Type>(group: &Group, name: &str, shape: &[usize]) -> ::hdf5::Result<Dataset> {
    let mut builder =
        group.new_dataset::<T>().obj_track_times(false).attr_creation_order(AttrCreationOrder::Tracked);
    if let Some(rows) = rows_a_chunk(shape[0]) {
        let mut chunk = shape.to_vec();
        chunk[0] = rows;
        builder = builder.chunk(chunk).shuffle().deflate(GZIP);
    }
    builder.shape(shape).create(name)
}

fn put(dataset: &Dataset, values: &Values, first: usize) -> ::hdf5::Result<()> {
    let rows = first..first + values.len();
    match values {
        Values::U8(v) => dataset.write_slice(ArrayView1::from(v.as_slice()), rows),
        Values::U64(v) => dataset.write_slice(ArrayView1::from(v.as_slice()), rows),
        Values::I64(v) => dataset.write_slice(ArrayView1::from(v.as_slice()), rows),
        Values::F64(v) => dataset.write_slice(ArrayView1::from(v.as_slice()), rows),
        Values::F32(v) => dataset.write_slice(ArrayView1::from(v.as_slice()), rows),
        Values::F64x3(v) => dataset.write_slice(ArrayView2::from(v.as_slice()), (rows, ..)),
        Values::U32x3(v) => dataset.write_slice(ArrayView2::from(v.as_slice()), (rows, ..)),
    }
}
