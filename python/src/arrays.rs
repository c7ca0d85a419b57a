//! NumPy arrays as columns: which numbers, and where in memory?
//!
//! Nothing is copied here. An array is kept alive by a reference until its call has ended.

#![allow(unsafe_code, reason = "the memory of NumPy arrays is reached by its address")]

use crate::errors;
use inselberg::{Column, Error, NumberType, VectorColumn};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::slice;

/// An array, as Python hands it over.
pub type NumPyArray<'py> = Bound<'py, PyUntypedArray>;

/// The memory that the elements of an array span, from its lowest to its highest byte.
struct Memory {
    _array: Py<PyUntypedArray>,
    start: *const u8,
    n_bytes: usize,
}

// SAFETY: the memory belongs to the array, which `_array` keeps alive. It is only read. A caller who writes
// to an array while a call reads it gets arbitrary numbers, as from other functions that release the
// interpreter lock; docs/python.md forbids it.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`; threads only read.
unsafe impl Sync for Memory {}

impl Memory {
    fn bytes(&self) -> &[u8] {
        if self.n_bytes == 0 {
            return &[];
        }
        // SAFETY: NumPy vouches that every element that the shape and the strides reach is inside its
        // allocation, and the array lives as long as `self`.
        unsafe { slice::from_raw_parts(self.start, self.n_bytes) }
    }
}

/// An array of numbers: its memory, and the position of each number in it.
pub struct NumberArray {
    memory: Memory,
    kind: NumberType,
    shape: Vec<usize>,
    strides: Vec<isize>,
    /// Of the first element, in bytes from the lowest address.
    offset: usize,
}

impl NumberArray {
    /// Of an array of 8- to 64-bit integers or 32- or 64-bit reals, in the byte order of the machine.
    pub fn new(what: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        let kind = number_type(what, array)?;
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        let (address, _): (usize, bool) =
            array.getattr("__array_interface__")?.get_item("data")?.extract()?;
        let (mut below, mut above) = (0, 0);
        for (n, stride) in shape.iter().zip(&strides) {
            let reach = stride * (n.saturating_sub(1) as isize);
            (below, above) = (below + (-reach).max(0) as usize, above + reach.max(0) as usize);
        }
        let is_empty = shape.contains(&0);
        let n_bytes = if is_empty { 0 } else { below + above + kind.size() };
        let start = address.wrapping_sub(below) as *const u8;
        let memory = Memory { _array: array.clone().unbind(), start, n_bytes };
        Ok(Self { memory, kind, shape, strides, offset: if is_empty { 0 } else { below } })
    }

    /// A one-dimensional array as a column. Its numbers are in its memory, so that there is no error.
    pub fn column(&self) -> Result<Column<'_>, Error> {
        self.strided(self.shape[0], self.offset, self.strides[0])
    }

    /// An array of n rows of 3 as a column per axis.
    pub fn vectors(&self) -> Result<VectorColumn<'_>, Error> {
        let [n, row, step] = [self.shape[0], self.strides[0] as usize, self.strides[1] as usize];
        // An empty array has no element to start from.
        let start = |axis: usize| if n == 0 { 0 } else { self.offset.wrapping_add(step.wrapping_mul(axis)) };
        let axis = |axis| self.strided(n, start(axis), row as isize);
        Ok(VectorColumn([axis(0)?, axis(1)?, axis(2)?]))
    }

    fn strided(&self, n: usize, offset: usize, stride: isize) -> Result<Column<'_>, Error> {
        Column::strided(self.memory.bytes(), self.kind, n, offset, stride)
    }

    /// Where the cells of a three-dimensional array are, with the first index fastest: `None` if at equal
    /// distances. Else their places in the memory, counted in numbers.
    pub fn grid_order(&self) -> Option<Vec<u64>> {
        let [nx, ny, nz] = [self.shape[0], self.shape[1], self.shape[2]];
        let [sx, sy, sz] = [self.strides[0], self.strides[1], self.strides[2]];
        if sy == sx * nx as isize && sz == sy * ny as isize {
            return None;
        }
        let size = self.kind.size() as isize;
        let mut order = Vec::with_capacity(nx * ny * nz);
        for row in (0..ny * nz).map(|i| [(i % ny) as isize, (i / ny) as isize]) {
            let start = self.offset as isize + sy * row[0] + sz * row[1];
            order.extend((0..nx as isize).map(|x| ((start + sx * x) / size) as u64));
        }
        Some(order)
    }

    /// The cells of a three-dimensional array with the first index fastest.
    pub fn grid_column<'a>(&'a self, order: Option<&'a Vec<u64>>) -> Result<Column<'a>, Error> {
        match order {
            None => self.strided(self.shape.iter().product(), self.offset, self.strides[0]),
            Some(order) => {
                let n = self.memory.n_bytes / self.kind.size();
                self.strided(n, 0, self.kind.size() as isize)?.gathered(order.into())
            }
        }
    }

    /// Whether every number starts at a multiple of its size from the lowest one.
    pub fn is_aligned_grid(&self) -> bool {
        let size = self.kind.size();
        self.strides.iter().all(|stride| stride.unsigned_abs() % size == 0)
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}

fn number_type(what: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<NumberType> {
    let kind = array.dtype();
    let is_native = kind.is_native_byteorder() != Some(false);
    let found = match (kind.kind(), kind.itemsize()) {
        (b'f', 4) => NumberType::F32,
        (b'f', 8) => NumberType::F64,
        (b'i', 1) => NumberType::I8,
        (b'i', 2) => NumberType::I16,
        (b'i', 4) => NumberType::I32,
        (b'i', 8) => NumberType::I64,
        (b'u' | b'b', 1) => NumberType::U8,
        (b'u', 2) => NumberType::U16,
        (b'u', 4) => NumberType::U32,
        (b'u', 8) => NumberType::U64,
        _ => return Err(refused(what, &kind.str()?.to_string())),
    };
    if is_native { Ok(found) } else { Err(refused(what, &format!("{} in foreign byte order", kind.str()?))) }
}

fn refused(what: &str, found: &str) -> PyErr {
    let expected = "integers of 8 to 64 bits, float32 or float64 in native byte order";
    errors::invalid_argument(&format!("{what} has the dtype {found}; expected {expected}"))
}

/// One number per item, from a one-dimensional array.
pub struct Scalars(NumberArray);

impl Scalars {
    pub fn new(what: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        match array.ndim() {
            1 => Ok(Self(NumberArray::new(what, array)?)),
            n => Err(errors::invalid_argument(&format!("{what} has {n} dimensions; expected 1"))),
        }
    }

    pub fn column(&self) -> Result<Column<'_>, Error> {
        self.0.column()
    }
}

/// One vector per item: rows of 3, or an array per axis.
pub enum Vectors {
    Rows(NumberArray),
    Axes([Scalars; 3]),
}

impl Vectors {
    /// From an array of shape (n, 3), or from three arrays of n.
    pub fn new(what: &str, arrays: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(array) = arrays.cast::<PyUntypedArray>() {
            return match array.shape() {
                [_, 3] => Ok(Self::Rows(NumberArray::new(what, array)?)),
                shape => Err(errors::invalid_argument(&format!(
                    "{what} has the shape {shape:?}; expected (n, 3), or three arrays of n"
                ))),
            };
        }
        let [x, y, z]: [Bound<'_, PyUntypedArray>; 3] = arrays.extract().map_err(|_| {
            errors::invalid_argument(&format!(
                "{what} is no array; expected shape (n, 3), or three arrays of n"
            ))
        })?;
        Ok(Self::Axes([Scalars::new(what, &x)?, Scalars::new(what, &y)?, Scalars::new(what, &z)?]))
    }

    pub fn columns(&self) -> Result<VectorColumn<'_>, Error> {
        match self {
            Self::Rows(array) => array.vectors(),
            Self::Axes([x, y, z]) => Ok(VectorColumn([x.column()?, y.column()?, z.column()?])),
        }
    }
}
