//! HDF5 to catalogue.

use super::dendrogram::is_of_dendrogram;
use super::seal::{Seal, check};
use super::swift;
use super::{MARK, VERSION, reason};
use crate::catalogue::units::parse_unit;
use crate::catalogue::{
    Attribute, Attributes, Catalogue, CatalogueOutline, Table, TableColumn, TableOutline, Values,
};
use crate::hdf5_file;
use crate::{ReadError, ReadResult};
use ::hdf5::types::{FloatSize, IntSize, TypeDescriptor, VarLenUnicode};
use ::hdf5::{Dataset, File, Group, H5Type, IndexType, IterationOrder, Location};
use std::ops::Range;
use std::path::Path;

/// The highest compression that gzip can reach. A larger claim is false.
const MOST_COMPRESSION: u64 = 1100;

/// Reads a catalogue with its values, order and units.
///
/// # Errors
/// The file is absent, is not HDF5, is truncated, or is not our catalogue.
pub fn read(path: &Path) -> ReadResult<Catalogue> {
    let bytes = std::fs::metadata(path).map_err(|e| ReadError::io(path, "opening", e))?.len();
    let source = CatalogueFile { path, bytes };
    let seal = check(path).map_err(|e| ReadError::io(path, "reading", e))?;
    if seal == Seal::Broken {
        return Err(source.bad("checksum", "the file is damaged", "the bytes that were written"));
    }
    let file =
        hdf5_file::open(path).map_err(|e| source.bad("opening", reason(&e), "a complete HDF5 file"))?;
    source.check_mark(&file)?;
    let attributes = source.attributes(&file)?;
    let names = source.tables(&file)?.into_iter();
    let tables = names.map(|name| source.table(&file, &name));
    let catalogue = Catalogue { attributes, tables: tables.collect::<Result<_, _>>()? };
    match seal {
        Seal::Intact(Some(sum)) if sum != catalogue.checksum() => {
            Err(source.bad("checksum", "the content is not what was written", "the values that were written"))
        }
        _ => Ok(catalogue),
    }
}

/// The attributes of a catalogue with an intact seal.
///
/// # Errors
/// As [`read`], or the file has no seal of its bytes.
pub fn attributes_if_whole(path: &Path) -> ReadResult<Attributes> {
    let bytes = std::fs::metadata(path).map_err(|e| ReadError::io(path, "opening", e))?.len();
    let source = CatalogueFile { path, bytes };
    match check(path).map_err(|e| ReadError::io(path, "reading", e))? {
        Seal::Intact(_) => {}
        Seal::Broken | Seal::Absent => {
            let problem = "no checksum of these bytes";
            return Err(source.bad("checksum", problem, "the bytes that were written"));
        }
    }
    let file =
        hdf5_file::open(path).map_err(|e| source.bad("opening", reason(&e), "a complete HDF5 file"))?;
    source.check_mark(&file)?;
    source.attributes(&file)
}

/// A catalogue without its values. All bytes are read once and compared with their checksum, if there is one.
///
/// # Errors
/// As [`read`].
pub fn outline(path: &Path) -> ReadResult<CatalogueOutline> {
    let source = CatalogueFile::new(path)?;
    if check(path).map_err(|e| ReadError::io(path, "reading", e))? == Seal::Broken {
        return Err(source.bad("checksum", "the file is damaged", "the bytes that were written"));
    }
    let file = source.open()?;
    let names = source.tables(&file)?.into_iter();
    let table = |name: String| {
        let group = file.group(&name).map_err(source.failed(&name))?;
        let columns = source.names(&group)?;
        let n_rows = match columns.first() {
            Some(first) => {
                let place = format!("{name}/{first}");
                let dataset = group.dataset(first).map_err(source.failed(&place))?;
                dataset.shape().first().map_or(0, |n| *n as u64)
            }
            None => 0,
        };
        Ok(TableOutline { name, columns, n_rows })
    };
    Ok(CatalogueOutline {
        attributes: source.attributes(&file)?,
        tables: names.map(table).collect::<ReadResult<_>>()?,
    })
}

/// Some columns and rows of a table. Nothing is compared with a checksum; see [`outline`].
///
/// # Errors
/// The file cannot be read, or has no such column or rows.
pub fn read_rows(path: &Path, table: &str, columns: &[&str], rows: Range<u64>) -> ReadResult<Table> {
    let source = CatalogueFile::new(path)?;
    let file = source.open()?;
    let group = file.group(table).map_err(source.failed(table))?;
    let column = |name: &&str| {
        let (column, n) = source.column_rows(&group, table, name, &rows)?;
        let place = format!("{table}/{name}");
        match rows.end <= n && column.values.len() as u64 == rows.end - rows.start {
            true => Ok(column),
            false => Err(source.bad(&place, format!("{n} rows"), format!("at least {}", rows.end))),
        }
    };
    Ok(Table { name: table.into(), columns: columns.iter().map(column).collect::<ReadResult<_>>()? })
}

struct CatalogueFile<'a> {
    path: &'a Path,
    bytes: u64,
}

impl<'a> CatalogueFile<'a> {
    fn new(path: &'a Path) -> ReadResult<Self> {
        let bytes = std::fs::metadata(path).map_err(|e| ReadError::io(path, "opening", e))?.len();
        Ok(Self { path, bytes })
    }
}

impl CatalogueFile<'_> {
    fn open(&self) -> ReadResult<File> {
        let opened = hdf5_file::open(self.path);
        let file = opened.map_err(|e| self.bad("opening", reason(&e), "a complete HDF5 file"))?;
        self.check_mark(&file)?;
        Ok(file)
    }

    fn check_mark(&self, file: &File) -> ReadResult<()> {
        if !file.attr_names().is_ok_and(|names| names.iter().any(|n| n == MARK)) {
            return Err(self.bad("/", format!("no attribute {MARK}"), "a catalogue written by inselberg"));
        }
        match self.attribute(file, MARK)? {
            Attribute::Int(VERSION) => Ok(()),
            other => Err(self.bad(MARK, format!("version {other:?}"), format!("version {VERSION}"))),
        }
    }

    fn attributes(&self, file: &File) -> ReadResult<Vec<(String, Attribute)>> {
        let names = file
            .attr_names_by(IndexType::CreationOrder, IterationOrder::Increasing)
            .map_err(self.failed("root attributes"))?;
        let ours = names.into_iter().filter(|name| name != MARK);
        ours.map(|name| self.attribute(file, &name).map(|value| (name, value))).collect()
    }

    fn names(&self, group: &Group) -> ReadResult<Vec<String>> {
        group
            .member_names_by(IndexType::CreationOrder, IterationOrder::Increasing)
            .map_err(self.failed(&group.name()))
    }

    /// The names of the tables.
    fn tables(&self, file: &File) -> ReadResult<Vec<String>> {
        let is_table = |name: &String| !swift::is_dress(file, name) && !is_of_dendrogram(file, name);
        Ok(self.names(file)?.into_iter().filter(is_table).collect())
    }

    fn table(&self, file: &File, name: &str) -> ReadResult<Table> {
        let group = file.group(name).map_err(self.failed(name))?;
        let columns = self.names(&group)?;
        let columns: Vec<_> =
            columns.iter().map(|c| self.column(&group, name, c)).collect::<Result<_, _>>()?;
        let table = Table { name: name.into(), columns };
        match table.columns.iter().find(|c| c.values.len() != table.n_rows()) {
            None => Ok(table),
            Some(c) => {
                let place = format!("{name}/{}", c.name);
                let problem = format!("{} rows", c.values.len());
                Err(self.bad(&place, problem, format!("{} as in the first column", table.n_rows())))
            }
        }
    }

    fn column(&self, group: &Group, table: &str, name: &str) -> ReadResult<TableColumn> {
        Ok(self.column_rows(group, table, name, &(0..u64::MAX))?.0)
    }

    /// The rows of a column that are in `rows`, and the number of all its rows.
    fn column_rows(
        &self,
        group: &Group,
        table: &str,
        name: &str,
        rows: &Range<u64>,
    ) -> ReadResult<(TableColumn, u64)> {
        let place = format!("{table}/{name}");
        let dataset = group.dataset(name).map_err(self.failed(&place))?;
        let n = dataset.shape().first().map_or(0, |n| *n as u64);
        let units = self.text(&dataset, &place, "units")?;
        let dimension =
            parse_unit(&units).ok_or_else(|| self.bad(&place, format!("units {units:?}"), "code units"))?;
        let description = self.text(&dataset, &place, "description")?;
        let values = self.values(&dataset, rows.start.min(n)..rows.end.min(n), &place)?;
        Ok((TableColumn { name: name.into(), dimension, description, values }, n))
    }

    fn values(&self, dataset: &Dataset, rows: Range<u64>, place: &str) -> ReadResult<Values> {
        let shape = dataset.shape();
        let kind = dataset.dtype().and_then(|t| t.to_descriptor()).map_err(self.failed(place))?;
        hdf5_file::check_claim(self.path, dataset)
            .map_err(|(problem, expected)| self.bad(place, problem, expected))?;
        let vector = shape.len() == 2 && shape[1] == 3;
        match (&kind, shape.len()) {
            (TypeDescriptor::Unsigned(IntSize::U1), 1) => self.raw(dataset, &rows, place).map(Values::U8),
            (TypeDescriptor::Unsigned(IntSize::U8), 1) => self.raw(dataset, &rows, place).map(Values::U64),
            (TypeDescriptor::Integer(IntSize::U8), 1) => self.raw(dataset, &rows, place).map(Values::I64),
            (TypeDescriptor::Float(FloatSize::U8), 1) => self.raw(dataset, &rows, place).map(Values::F64),
            (TypeDescriptor::Float(FloatSize::U4), 1) => self.raw(dataset, &rows, place).map(Values::F32),
            (TypeDescriptor::Float(FloatSize::U8), 2) if vector => {
                self.raw(dataset, &rows, place).map(|v| Values::F64x3(triples(&v)))
            }
            (TypeDescriptor::Unsigned(IntSize::U4), 2) if vector => {
                self.raw(dataset, &rows, place).map(|v| Values::U32x3(triples(&v)))
            }
            _ => Err(self.bad(place, format!("{kind} of shape {shape:?}"), "a column of a catalogue")),
        }
    }

    /// Refuses a shape that the file cannot hold, before any allocation.
    fn check_size(&self, shape: &[usize], kind: &TypeDescriptor, place: &str) -> ReadResult<()> {
        let claimed = shape.iter().fold(kind.size() as u64, |n, s| n.saturating_mul(*s as u64));
        let most = self.bytes.saturating_mul(MOST_COMPRESSION);
        if claimed <= most {
            return Ok(());
        }
        Err(self.bad(place, format!("shape {shape:?}"), format!("at most {most} bytes in this file")))
    }

    fn raw<T: H5Type>(&self, dataset: &Dataset, rows: &Range<u64>, place: &str) -> ReadResult<Vec<T>> {
        let shape = dataset.shape();
        if shape.first() == Some(&((rows.end - rows.start) as usize)) {
            return dataset.read_raw().map_err(self.failed(place));
        }
        let rows = rows.start as usize..rows.end as usize;
        let values = match shape.len() {
            1 => dataset.read_slice_1d(rows).map(|array| array.into_raw_vec_and_offset().0),
            _ => dataset.read_slice_2d((rows, ..)).map(|array| array.into_raw_vec_and_offset().0),
        };
        values.map_err(self.failed(place))
    }

    fn attribute(&self, at: &Location, name: &str) -> ReadResult<Attribute> {
        let place = format!("attribute {name}");
        let attribute = at.attr(name).map_err(self.failed(&place))?;
        let kind = attribute.dtype().and_then(|t| t.to_descriptor()).map_err(self.failed(&place))?;
        self.check_size(&attribute.shape(), &kind, &place)?;
        let value = match (&kind, attribute.ndim()) {
            (TypeDescriptor::Integer(_), 0) => attribute.read_scalar().map(Attribute::Int),
            (TypeDescriptor::Float(_), 0) => attribute.read_scalar().map(Attribute::Real),
            (TypeDescriptor::Float(_), 1) => attribute.read_raw().map(Attribute::Reals),
            (TypeDescriptor::VarLenUnicode, 0) => {
                attribute.read_scalar::<VarLenUnicode>().map(|v| Attribute::Text(owned(&v)))
            }
            _ => return Err(self.bad(&place, kind.to_string(), "an integer, reals or a UTF-8 text")),
        };
        value.map_err(self.failed(&place))
    }

    fn text(&self, at: &Location, place: &str, name: &str) -> ReadResult<String> {
        match self.attribute(at, name) {
            Ok(Attribute::Text(text)) => Ok(text),
            _ => Err(self.bad(place, format!("no text attribute {name}"), "one on every column")),
        }
    }

    fn failed(&self, place: &str) -> impl Fn(::hdf5::Error) -> ReadError {
        let (path, place) = (self.path.to_path_buf(), place.to_string());
        move |e| ReadError::content(&path, place.clone(), reason(&e), "a complete catalogue")
    }

    fn bad(&self, place: &str, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(self.path, place, problem, expected)
    }
}

/// A damaged file may have any bytes, so texts are checked again.
fn owned(text: &VarLenUnicode) -> String {
    String::from_utf8_lossy(text.as_str().as_bytes()).into_owned()
}

fn triples<T: Copy>(flat: &[T]) -> Vec<[T; 3]> {
    flat.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
}
