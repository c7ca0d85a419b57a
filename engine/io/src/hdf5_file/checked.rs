//! One HDF5 file, open for reading, with errors that name the place.

use crate::hdf5_file;
use crate::{ReadError, ReadResult, reserve};
use ::hdf5::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use ::hdf5::{Attribute, Dataset, Datatype, File, Group, H5Type, Hyperslab, SliceOrIndex};
use ndarray::IxDyn;
use std::ops::Range;
use std::path::Path;

/// An open file.
pub struct Hdf5File<'a> {
    path: &'a Path,
    file: File,
}

/// Rows of one dataset.
pub struct DatasetRows {
    dataset: Dataset,
    /// Its path in the file.
    pub place: String,
    /// Its shape.
    pub shape: Vec<usize>,
    kind: ElementKind,
}

/// The type of the elements of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ElementKind {
    /// Reals with this number of bytes. The library converts those of any size.
    Real(usize),
    /// Integers below and above 0.
    Signed,
    /// Integers of 0 and more.
    Unsigned,
    /// Another type, by its name.
    Other(String),
}

impl ElementKind {
    fn of_type(elements: &Datatype) -> Self {
        match elements.to_descriptor() {
            Ok(TypeDescriptor::Float(size)) => Self::Real(size as usize),
            Ok(TypeDescriptor::Integer(_)) => Self::Signed,
            Ok(TypeDescriptor::Unsigned(_)) => Self::Unsigned,
            Ok(other) => Self::Other(other.to_string()),
            // The binding knows 4 and 8 bytes. Codes write half precision, and some machines have longer
            // reals.
            Err(_) if [2, 10, 12, 16].contains(&elements.size()) && elements.conv_to::<f64>().is_some() => {
                Self::Real(elements.size())
            }
            Err(error) => Self::Other(error.to_string()),
        }
    }

    /// The name of a type that is not a number.
    fn other(&self) -> Option<&str> {
        match self {
            Self::Other(name) => Some(name),
            Self::Real(_) | Self::Signed | Self::Unsigned => None,
        }
    }
}

impl DatasetRows {
    /// Rows of a chunk, if it is stored in chunks.
    pub fn chunk_planes(&self) -> Option<usize> {
        self.dataset.chunk()?.first().copied()
    }
}

impl<'a> Hdf5File<'a> {
    /// Opens `path`.
    pub fn open(path: &'a Path) -> ReadResult<Self> {
        let file = hdf5_file::open(path)
            .map_err(|e| ReadError::content(path, "opening", reason(&e), "a complete HDF5 file"))?;
        Ok(Self { path, file })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.path
    }

    /// Numbers of the attribute `name` of the group at `place`, of any numeric type and shape; `None` if
    /// there is no such group or attribute.
    pub fn numbers(&self, place: &str, name: &str) -> ReadResult<Option<Vec<f64>>> {
        match self.group(place).and_then(|g| g.attr(name).ok()) {
            Some(attribute) => self.numbers_in(&attribute, &format!("{place}/{name}")).map(Some),
            None => Ok(None),
        }
    }

    /// The first number of an attribute of a dataset; `None` if there is none.
    pub fn number_of(&self, column: &DatasetRows, name: &str) -> ReadResult<Option<f64>> {
        let names = column.dataset.attr_names().map_err(self.failed(&column.place))?;
        if !names.iter().any(|n| n == name) {
            return Ok(None);
        }
        let attribute = column.dataset.attr(name).map_err(self.failed(&column.place))?;
        Ok(self.numbers_in(&attribute, &format!("{}/{name}", column.place))?.first().copied())
    }

    fn numbers_in(&self, attribute: &Attribute, what: &str) -> ReadResult<Vec<f64>> {
        hdf5_file::check_attribute(self.path, attribute)
            .map_err(|(problem, expected)| self.bad(what, problem, expected))?;
        let kind = ElementKind::of_type(&attribute.dtype().map_err(self.failed(what))?);
        match kind.other() {
            None => attribute.read_raw::<f64>().map_err(self.failed(what)),
            Some(kind) => Err(self.bad(what, kind, "numbers")),
        }
    }

    /// The first of [`Self::numbers`].
    pub fn number(&self, place: &str, name: &str) -> ReadResult<Option<f64>> {
        Ok(self.numbers(place, name)?.and_then(|values| values.first().copied()))
    }

    /// The text of an attribute; `None` where there is none. Texts only distinguish dialects, so one that
    /// cannot be read counts as absent.
    pub fn text(&self, place: &str, name: &str) -> Option<String> {
        self.text_in(&self.group(place)?.attr(name).ok()?)
    }

    /// The text of an attribute of a dataset, as [`Self::text`].
    pub fn text_of(&self, column: &DatasetRows, name: &str) -> Option<String> {
        let names = column.dataset.attr_names().ok()?;
        names
            .iter()
            .any(|n| n == name)
            .then(|| column.dataset.attr(name).ok())?
            .and_then(|a| self.text_in(&a))
    }

    fn text_in(&self, attribute: &Attribute) -> Option<String> {
        hdf5_file::check_attribute(self.path, attribute).ok()?;
        let text = match attribute.dtype().and_then(|t| t.to_descriptor()).ok()? {
            TypeDescriptor::FixedAscii(_) => {
                attribute.read_raw::<FixedAscii<256>>().ok()?.first()?.to_string()
            }
            TypeDescriptor::FixedUnicode(_) => {
                attribute.read_raw::<FixedUnicode<256>>().ok()?.first()?.to_string()
            }
            TypeDescriptor::VarLenAscii => attribute.read_raw::<VarLenAscii>().ok()?.first()?.to_string(),
            TypeDescriptor::VarLenUnicode => attribute.read_raw::<VarLenUnicode>().ok()?.first()?.to_string(),
            _ => return None,
        };
        Some(text.trim().into())
    }

    /// Whether the group at `place` has this attribute.
    pub fn has_attribute(&self, place: &str, name: &str) -> bool {
        self.group(place)
            .is_some_and(|group| group.attr_names().is_ok_and(|all| all.iter().any(|n| n == name)))
    }

    /// The texts of an attribute, which must exist.
    pub fn texts(&self, place: &str, name: &str) -> ReadResult<Vec<String>> {
        let what = format!("{place}/{name}");
        let Some(attribute) = self.group(place).and_then(|g| g.attr(name).ok()) else {
            return Err(self.bad(&what, "no such attribute", "a list of names"));
        };
        hdf5_file::check_attribute(self.path, &attribute)
            .map_err(|(problem, expected)| self.bad(&what, problem, expected))?;
        macro_rules! read {
            ($kind:ty) => {{
                let texts = attribute.read_raw::<$kind>().map_err(self.failed(&what))?;
                Ok(texts.iter().map(|text| text.to_string().trim().to_string()).collect())
            }};
        }
        match attribute.dtype().and_then(|t| t.to_descriptor()).map_err(self.failed(&what))? {
            TypeDescriptor::FixedAscii(_) => read!(FixedAscii<256>),
            TypeDescriptor::FixedUnicode(_) => read!(FixedUnicode<256>),
            TypeDescriptor::VarLenAscii => read!(VarLenAscii),
            TypeDescriptor::VarLenUnicode => read!(VarLenUnicode),
            kind => Err(self.bad(&what, kind.to_string(), "texts")),
        }
    }

    /// Whether the elements of `column` are numbers; an error otherwise.
    pub fn check_numbers(&self, column: &DatasetRows) -> ReadResult<()> {
        match column.kind.other() {
            None => Ok(()),
            Some(kind) => Err(self.bad(&column.place, kind, "numbers")),
        }
    }

    /// Numbers of a part of `column`, a range per axis, the last axis fastest.
    pub fn part(&self, column: &DatasetRows, ranges: &[Range<usize>]) -> ReadResult<Vec<f64>> {
        self.check_numbers(column)?;
        let n = ranges.iter().map(ExactSizeIterator::len).fold(1, usize::saturating_mul);
        reserve(&mut Vec::<f64>::new(), n, self.path, column.place.clone())?;
        let ranges: Vec<SliceOrIndex> = ranges.iter().map(|range| range.clone().into()).collect();
        let read = column.dataset.read_slice::<f64, _, IxDyn>(Hyperslab::from(ranges));
        read.map(|part| part.into_raw_vec_and_offset().0).map_err(self.failed(&column.place))
    }

    /// Whether there is a group or dataset at this path.
    pub fn has_link(&self, path: &str) -> bool {
        let (group, name) = path.rsplit_once('/').unwrap_or(("/", path));
        self.group(group).is_some_and(|group| group.link_exists(name))
    }

    /// The dataset at `place`, if there is one.
    pub fn find(&self, place: &str) -> ReadResult<Option<DatasetRows>> {
        let (group, name) = place.trim_start_matches('/').rsplit_once('/').unwrap_or(("/", place));
        if !self.group(group).is_some_and(|g| g.link_exists(name.trim_start_matches('/'))) {
            return Ok(None);
        }
        let dataset = self.file.dataset(place).map_err(self.failed(place))?;
        let shape = dataset.shape();
        let kind = ElementKind::of_type(&dataset.dtype().map_err(self.failed(place))?);
        hdf5_file::check_claim(self.path, &dataset)
            .map_err(|(problem, expected)| self.bad(place, problem, expected))?;
        Ok(Some(DatasetRows { dataset, place: place.into(), shape, kind }))
    }

    /// The dataset at `place`, which must exist with `n` rows of `width` values.
    pub fn need(&self, place: &str, n: u64, width: usize) -> ReadResult<DatasetRows> {
        match self.find(place)? {
            Some(column) => self.fits(column, n, width),
            None => Err(self.bad(place, "no such dataset", format!("one of {n} rows"))),
        }
    }

    /// `column`, if it has `n` rows of `width` values.
    pub fn fits(&self, column: DatasetRows, n: u64, width: usize) -> ReadResult<DatasetRows> {
        let rows = usize::try_from(n).unwrap_or(usize::MAX);
        let expected = if width == 1 { vec![rows] } else { vec![rows, width] };
        if column.shape == expected {
            return Ok(column);
        }
        Err(self.bad(&column.place, format!("shape {:?}", column.shape), format!("{expected:?}")))
    }

    /// Whether reals are in double precision or more; an error for other types.
    pub fn is_double(&self, column: &DatasetRows) -> ReadResult<bool> {
        let kind = match &column.kind {
            ElementKind::Real(bytes) => return Ok(*bytes > 4),
            ElementKind::Signed => "signed integers",
            ElementKind::Unsigned => "unsigned integers",
            ElementKind::Other(name) => name,
        };
        Err(self.bad(&column.place, kind, "reals"))
    }

    /// Reals of the rows of `column`, row by row.
    pub fn reals<T: H5Type>(&self, column: &DatasetRows, rows: Range<u64>) -> ReadResult<Vec<T>> {
        self.is_double(column)?;
        self.values(column, rows)
    }

    /// Integers of the rows; negative ones with the same bits.
    pub fn integers(&self, column: &DatasetRows, rows: Range<u64>) -> ReadResult<Vec<u64>> {
        let kind = match &column.kind {
            ElementKind::Unsigned => return self.values(column, rows),
            ElementKind::Signed => {
                let signed: Vec<i64> = self.values(column, rows)?;
                return Ok(signed.into_iter().map(i64::cast_unsigned).collect());
            }
            ElementKind::Real(_) => "reals",
            ElementKind::Other(name) => name,
        };
        Err(self.bad(&column.place, kind, "integers"))
    }

    fn values<T: H5Type>(&self, column: &DatasetRows, rows: Range<u64>) -> ReadResult<Vec<T>> {
        let rows = rows.start as usize..rows.end as usize;
        // The library allocates a buffer of its own, and aborts if memory does not suffice.
        let width: usize = column.shape[1..].iter().product();
        reserve(&mut Vec::<T>::new(), rows.len().saturating_mul(width), self.path, column.place.clone())?;
        let read = if column.shape.len() == 1 {
            column.dataset.read_slice_1d(rows).map(|a| a.into_raw_vec_and_offset().0)
        } else {
            column.dataset.read_slice_2d((rows, ..)).map(|a| a.into_raw_vec_and_offset().0)
        };
        read.map_err(self.failed(&column.place))
    }

    fn group(&self, place: &str) -> Option<Group> {
        // The library reports a missing link as an error, so each part of the path is checked.
        let parts = place.split('/').filter(|part| !part.is_empty());
        let root = self.file.group("/").ok()?;
        parts
            .into_iter()
            .try_fold(root, |group, part| group.link_exists(part).then(|| group.group(part).ok()).flatten())
    }

    fn failed(&self, place: &str) -> impl Fn(::hdf5::Error) -> ReadError {
        let (path, place) = (self.path.to_path_buf(), place.to_string());
        move |e| ReadError::content(&path, place.clone(), reason(&e), "data as the header states")
    }

    /// An error at `place`.
    pub fn bad(&self, place: &str, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(self.path, place, problem, expected)
    }
}

/// The library's reason, on one line.
fn reason(error: &::hdf5::Error) -> String {
    error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
