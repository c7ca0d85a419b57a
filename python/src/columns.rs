//! Tables of a catalogue as NumPy arrays.

use inselberg::{Attribute, Table, Values};
use inselberg_io::catalogue::units::{cgs_factor, image_unit, unit_name};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A column without its values: name, unit, factor to cgs where units are known, description.
type ColumnHead = (String, String, Option<f64>, String);
/// A table without its values: name, number of rows here and on all ranks, columns.
type TableHead = (String, usize, u64, Vec<ColumnHead>);

/// What every table and column is called. Each table comes with its number of rows on all ranks.
pub fn layout<'a>(
    tables: impl IntoIterator<Item = (&'a Table, u64)>,
    attributes: &[(String, Attribute)],
) -> Vec<TableHead> {
    let head = |(table, n_rows): (&Table, u64)| {
        let columns = table.columns.iter().map(|c| {
            let factor = cgs_factor(attributes, c.dimension);
            let unit = image_unit(attributes, c).map_or_else(|| unit_name(c.dimension), str::to_string);
            (c.name.clone(), unit, factor, c.description.clone())
        });
        (table.name.clone(), table.n_rows(), n_rows, columns.collect())
    };
    tables.into_iter().map(head).collect()
}

/// The values of one column, copied.
pub fn values<'py>(py: Python<'py>, table: &Table, column: usize) -> PyResult<Bound<'py, PyAny>> {
    let column = table.columns.get(column).ok_or_else(|| PyIndexError::new_err("no such column"))?;
    Ok(match &column.values {
        Values::U8(v) => PyArray1::from_slice(py, v).into_any(),
        Values::U64(v) => PyArray1::from_slice(py, v).into_any(),
        Values::I64(v) => PyArray1::from_slice(py, v).into_any(),
        Values::F64(v) => PyArray1::from_slice(py, v).into_any(),
        Values::F32(v) => PyArray1::from_slice(py, v).into_any(),
        Values::F64x3(v) => rows_of_3(py, v)?,
        Values::U32x3(v) => rows_of_3(py, v)?,
    })
}

fn rows_of_3<'py, T: Element + Copy>(py: Python<'py>, rows: &[[T; 3]]) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyArray1::from_slice(py, rows.as_flattened()).reshape([rows.len(), 3])?.into_any())
}

/// The attributes, in their order.
pub fn attributes<'py>(py: Python<'py>, attributes: &[(String, Attribute)]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, value) in attributes {
        match value {
            Attribute::Int(value) => all.set_item(name, value)?,
            Attribute::Real(value) => all.set_item(name, value)?,
            Attribute::Reals(values) => all.set_item(name, PyList::new(py, values)?)?,
            Attribute::Text(value) => all.set_item(name, value)?,
        }
    }
    Ok(all)
}
