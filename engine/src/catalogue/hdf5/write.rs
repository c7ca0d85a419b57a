//! Catalogue to HDF5.

use super::seal::seal;
use super::{MARK, VERSION, reason};
use crate::catalogue::atomic::stage_path;
use crate::catalogue::units::{cgs_factor, unit_name};
use crate::catalogue::{Attribute, Catalogue, Column, Table, Values, WriteError, WriteResult, check_shape};
use ::hdf5::plist::file_create::{AttrCreationOrder, LinkCreationOrder};
use ::hdf5::types::VarLenUnicode;
use ::hdf5::{File, Group, H5Type, Location};
use std::path::Path;
use std::str::FromStr;

/// Rows above which a table is compressed.
const LARGE: usize = 1 << 14;
/// Rows of a chunk of a large table.
const CHUNK: usize = 1 << 16;
/// The cheapest level of gzip: shuffled columns gain little from more.
const GZIP: u8 = 1;

/// Writes `catalogue` to `path`, whole or not at all.
///
/// # Errors
/// The place cannot be written, or a name or text does not fit the format; `path` is then as before.
pub fn write(path: &Path, catalogue: &Catalogue) -> WriteResult<()> {
    check_shape(path, catalogue)?;
    let to = Target { path };
    stage_path(path, |hidden| to.fill(hidden, catalogue))?.commit()
}

/// Knows the final name for the messages.
struct Target<'a> {
    path: &'a Path,
}

impl Target<'_> {
    fn fill(&self, hidden: &Path, catalogue: &Catalogue) -> WriteResult<()> {
        let file = self.create(hidden)?;
        self.attribute(&file, MARK, &Attribute::Int(VERSION))?;
        for (name, value) in &catalogue.attributes {
            self.attribute(&file, name, value)?;
        }
        for table in &catalogue.tables {
            self.table(&file, catalogue, table)?;
        }
        file.flush().and_then(|()| file.close()).map_err(self.failed("end of file"))?;
        seal(hidden).map_err(WriteError::io(self.path, "writing the checksum"))
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

    fn table(&self, file: &File, catalogue: &Catalogue, table: &Table) -> WriteResult<()> {
        let group = file
            .create_group_builder()
            .obj_track_times(false)
            .with_gcpl(|p| p.link_creation_order(LinkCreationOrder::Indexed))
            .create(table.name.as_str())
            .map_err(self.failed(&table.name))?;
        table.columns.iter().try_for_each(|column| self.column(&group, catalogue, table, column))
    }

    fn column(
        &self,
        group: &Group,
        catalogue: &Catalogue,
        table: &Table,
        column: &Column,
    ) -> WriteResult<()> {
        let place = format!("{}/{}", table.name, column.name);
        let dataset = dataset(group, &column.name, &column.values).map_err(self.failed(&place))?;
        self.attribute(&dataset, "units", &Attribute::Text(unit_name(column.dimension)))?;
        if let Some(factor) = cgs_factor(catalogue, column.dimension) {
            self.attribute(&dataset, "cgs_factor", &Attribute::Real(factor))?;
        }
        self.attribute(&dataset, "description", &Attribute::Text(column.description.clone()))
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

fn scalar<T: H5Type>(at: &Location, name: &str, value: &T) -> ::hdf5::Result<()> {
    at.new_attr::<T>().create(name)?.write_scalar(value)
}

fn dataset(group: &Group, name: &str, values: &Values) -> ::hdf5::Result<::hdf5::Dataset> {
    match values {
        Values::U8(v) => raw(group, name, &[v.len()], v),
        Values::U64(v) => raw(group, name, &[v.len()], v),
        Values::I64(v) => raw(group, name, &[v.len()], v),
        Values::F64(v) => raw(group, name, &[v.len()], v),
        Values::F64x3(v) => raw(group, name, &[v.len(), 3], v.as_flattened()),
        Values::U32x3(v) => raw(group, name, &[v.len(), 3], v.as_flattened()),
    }
}

fn raw<T: H5Type>(
    group: &Group,
    name: &str,
    shape: &[usize],
    values: &[T],
) -> ::hdf5::Result<::hdf5::Dataset> {
    let mut builder =
        group.new_dataset::<T>().obj_track_times(false).attr_creation_order(AttrCreationOrder::Tracked);
    if shape[0] > LARGE {
        let mut chunk = shape.to_vec();
        chunk[0] = CHUNK.min(shape[0]);
        builder = builder.chunk(chunk).shuffle().deflate(GZIP);
    }
    let dataset = builder.shape(shape).create(name)?;
    dataset.write_raw(values)?;
    Ok(dataset)
}
