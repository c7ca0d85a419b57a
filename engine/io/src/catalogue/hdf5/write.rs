//! Catalogue to HDF5.

use super::chunks::{GZIP, packed, rows_a_chunk};
use super::raw_chunk::write_chunk;
use super::seal::{Extent, seal};
use super::swift;
use super::{MARK, VERSION, reason};
use crate::catalogue::checksum::{TableSums, bytes_of, content, sum_of};
use crate::catalogue::units::{cgs_factor, image_unit, unit_name};
use crate::catalogue::{
    Attribute, Catalogue, PackedRows, PartWriter, Table, TableColumn, Values, WriteError, WriteResult,
    check_shape,
};
use crate::hdf5_file::Utf8Name;
use crate::staging::{Staged, stage_path};
use ::hdf5::plist::file_create::{AttrCreationOrder, LinkCreationOrder};
use ::hdf5::types::VarLenUnicode;
use ::hdf5::{Dataset, File, Group, H5Type, Location};
use crc32fast::Hasher;
use ndarray::{ArrayView1, ArrayView2};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Stages `catalogue` for `path`.
///
/// # Errors
/// The place cannot be written, or a name or text does not fit the format; `path` is then unchanged.
pub fn stage(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(path, catalogue)?;
    let tables: Vec<_> = catalogue.tables.iter().map(|t| (t, t.n_rows() as u64)).collect();
    let fill = |hidden: &Path| {
        let mut file = create(path, hidden, &catalogue.attributes, &tables)?;
        for (t, table) in catalogue.tables.iter().enumerate() {
            let Some(rows) = rows_a_chunk(table.n_rows()) else {
                file.put_table(t, table)?;
                continue;
            };
            for (c, column) in table.columns.iter().enumerate() {
                let chunks = (0..).step_by(rows).zip(packed(&column.values, rows));
                chunks.into_iter().try_for_each(|(first, chunk)| file.put_rows(t, c, first, &chunk))?;
            }
        }
        file.finish()
    };
    Ok(stage_path(path, fill)?.into())
}

/// Creates the file `hidden`, which becomes `path`, with every dataset at its full size. Each table comes
/// with its number of rows; only names and types of its columns are used.
pub fn create(
    path: &Path,
    hidden: &Path,
    attributes: &[(String, Attribute)],
    tables: &[(&Table, u64)],
) -> WriteResult<Box<dyn PartWriter>> {
    let file = Hdf5Target { path }.make(hidden, attributes, tables)?;
    let place = |table: &Table, column: &TableColumn| format!("{}/{}", table.name, column.name);
    let places = |table: &Table| table.columns.iter().map(|column| place(table, column)).collect();
    Ok(Box::new(Hdf5Writer {
        path: path.into(),
        hidden: hidden.into(),
        file,
        open: None,
        attributes: attributes.to_vec(),
        places: tables.iter().map(|(table, _)| places(table)).collect(),
        sums: tables.iter().map(|(table, n)| TableSums::new(table, *n)).collect(),
        extents: Vec::new(),
    }))
}

/// A file that is being written.
struct Hdf5Writer {
    path: PathBuf,
    hidden: PathBuf,
    file: File,
    /// The dataset of the last write, and its index.
    open: Option<(String, Dataset)>,
    attributes: Vec<(String, Attribute)>,
    /// Names of the datasets, by table and column.
    places: Vec<Vec<String>>,
    sums: Vec<TableSums>,
    /// The written extents.
    extents: Vec<Extent>,
}

impl Hdf5Writer {
    fn dataset(&mut self, place: &str) -> WriteResult<&Dataset> {
        if self.open.as_ref().is_none_or(|(open, _)| open != place) {
            let found = self.file.dataset(place);
            let found = found.map_err(Hdf5Target { path: &self.path }.failed(place))?;
            self.open = Some((place.into(), found));
        }
        Ok(&self.open.as_ref().expect("it was opened above").1)
    }
}

impl PartWriter for Hdf5Writer {
    fn put_table(&mut self, table: usize, rows: &Table) -> WriteResult<()> {
        for (i, column) in rows.columns.iter().enumerate().filter(|(_, c)| !c.values.is_empty()) {
            let place = self.places[table][i].clone();
            let dataset = self.dataset(&place)?;
            let written = put(dataset, &column.values).map(|()| dataset.offset());
            let at = written.map_err(Hdf5Target { path: &self.path }.failed(&place))?;
            let (bytes, sum) = (bytes_of(&column.values).0, sum_of(bytes_of(&column.values).0));
            // Without an offset from the library the values are read again at the end.
            let known = |at| Extent { at, length: bytes.len() as u64, sum: sum.clone().finalize() };
            self.extents.extend(at.map(known));
            self.sums[table].add(i, &sum);
        }
        Ok(())
    }

    fn put_rows(&mut self, table: usize, column: usize, first: u64, rows: &PackedRows) -> WriteResult<()> {
        let place = self.places[table][column].clone();
        let written = write_chunk(self.dataset(&place)?, first as usize, &rows.bytes);
        let at = written.map_err(Hdf5Target { path: &self.path }.failed(&place))?;
        self.extents.push(Extent { at, length: rows.bytes.len() as u64, sum: rows.sum });
        self.sums[table].add(column, &Hasher::new_with_initial_len(rows.values_sum, rows.values_bytes));
        Ok(())
    }

    fn finish(self: Box<Self>) -> WriteResult<()> {
        let Self { path, hidden, file, open, attributes, sums, extents, .. } = *self;
        // A file with an open dataset stays open.
        drop(open);
        Hdf5Target { path: &path }.close(file)?;
        let sealed = seal(&hidden, extents, content(&attributes, &sums));
        sealed.map_err(WriteError::io(&path, "writing the checksum"))
    }
}

/// The final name, for messages.
pub struct Hdf5Target<'a> {
    pub path: &'a Path,
}

impl Hdf5Target<'_> {
    /// Creates the file `hidden` with these attributes, and every dataset at its full size.
    ///
    /// # Errors
    /// As [`create`].
    pub fn make(
        &self,
        hidden: &Path,
        attributes: &[(String, Attribute)],
        tables: &[(&Table, u64)],
    ) -> WriteResult<File> {
        let file = crate::staging::hidden::making(|| self.create(hidden))?;
        self.attribute(&file, MARK, &Attribute::Int(VERSION))?;
        attributes.iter().try_for_each(|(name, value)| self.attribute(&file, name, value))?;
        for (table, n_rows) in tables {
            self.table(&file, attributes, table, *n_rows as usize)?;
        }
        swift::dress(&file, attributes, tables).map_err(self.failed("SWIFT's attributes"))?;
        Ok(file)
    }

    /// Closes the file, which is whole.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn close(&self, file: File) -> WriteResult<()> {
        file.flush().and_then(|()| file.close()).map_err(self.failed("end of file"))
    }

    fn create(&self, hidden: &Path) -> WriteResult<File> {
        let mut options = File::with_options();
        options.with_fcpl(|p| {
            p.obj_track_times(false)
                .attr_creation_order(AttrCreationOrder::Indexed)
                .link_creation_order(LinkCreationOrder::Indexed)
        });
        let name = Utf8Name::new(hidden, std::fs::File::options().write(true))
            .map_err(WriteError::io(self.path, "opening"))?;
        options.create(name.path()).map_err(self.failed("creating the file"))
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
            let dataset = new_dataset(&group, &column.name, &column.values, n_rows);
            let dataset = dataset.map_err(self.failed(&place))?;
            self.attribute(&dataset, "units", &Attribute::Text(unit_name(column.dimension)))?;
            if let Some(factor) = cgs_factor(attributes, column.dimension) {
                self.attribute(&dataset, "cgs_factor", &Attribute::Real(factor))?;
            }
            if let Some(unit) = image_unit(attributes, column) {
                self.attribute(&dataset, "image_unit", &Attribute::Text(unit.into()))?;
            }
            self.attribute(&dataset, "description", &Attribute::Text(column.description.clone()))
        })
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

    /// The library's error at this place of the file.
    pub fn failed(&self, place: &str) -> impl FnOnce(::hdf5::Error) -> WriteError {
        let (path, place) = (self.path.to_path_buf(), place.to_string());
        move |e| WriteError::Library { path, place, problem: reason(&e) }
    }
}

/// Writes a dataset of its own: large ones compressed by all threads, as in catalogues.
pub fn put_values(group: &Group, name: &str, values: &Values) -> ::hdf5::Result<Dataset> {
    let dataset = new_dataset(group, name, values, values.len())?;
    put_all(&dataset, values)?;
    Ok(dataset)
}

/// Writes all rows of a table whose datasets are there.
pub fn put_table(file: &File, table: &Table) -> ::hdf5::Result<()> {
    let group = file.group(&table.name)?;
    table.columns.iter().try_for_each(|column| put_all(&group.dataset(&column.name)?, &column.values))
}

fn put_all(dataset: &Dataset, values: &Values) -> ::hdf5::Result<()> {
    if let Some(rows) = rows_a_chunk(values.len()) {
        let mut chunks = (0..).step_by(rows).zip(packed(values, rows));
        return chunks.try_for_each(|(first, chunk)| write_chunk(dataset, first, &chunk.bytes).map(drop));
    }
    // The library refuses to write nothing.
    if values.is_empty() { Ok(()) } else { put(dataset, values) }
}

/// A new attribute of one value.
pub fn scalar<T: H5Type>(at: &Location, name: &str, value: &T) -> ::hdf5::Result<()> {
    at.new_attr::<T>().create(name)?.write_scalar(value)
}

fn new_dataset(group: &Group, name: &str, values: &Values, n_rows: usize) -> ::hdf5::Result<Dataset> {
    match values {
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

fn put(dataset: &Dataset, values: &Values) -> ::hdf5::Result<()> {
    match values {
        Values::U8(v) => dataset.write(ArrayView1::from(v.as_slice())),
        Values::U64(v) => dataset.write(ArrayView1::from(v.as_slice())),
        Values::I64(v) => dataset.write(ArrayView1::from(v.as_slice())),
        Values::F64(v) => dataset.write(ArrayView1::from(v.as_slice())),
        Values::F32(v) => dataset.write(ArrayView1::from(v.as_slice())),
        Values::F64x3(v) => dataset.write(ArrayView2::from(v.as_slice())),
        Values::U32x3(v) => dataset.write(ArrayView2::from(v.as_slice())),
    }
}
