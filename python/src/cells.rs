//! The cells of a program, and numbers that belong to them.

use crate::arrays::{NumPyArray, NumberArray, Scalars, Vectors};
use crate::call::Calls;
use crate::errors;
use crate::options::BoxOptions;
use inselberg::{Cells, Error, Geometry};
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};

/// Threads for work outside an engine, such as checking cells. By default as many as the process may use.
pub fn on_threads<T: Send>(
    n: Option<usize>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    // 0 stands for the default. An engine refuses 0 threads.
    match rayon::ThreadPoolBuilder::new().num_threads(n.unwrap_or(0)).build() {
        Ok(threads) => threads.install(work),
        // The system has no threads left: the calling one does the work.
        Err(_) => work(),
    }
}

/// One number per cell, from a one-dimensional array or, for a grid, from one of its shape.
pub struct CellValues {
    array: NumberArray,
    /// Where the cells of a grid are, if not at equal distances.
    order: OnceLock<Option<Vec<u64>>>,
    is_grid: bool,
}

impl CellValues {
    pub fn new(what: &str, array: &NumPyArray<'_>, grid: Option<[usize; 3]>) -> PyResult<Self> {
        let array = NumberArray::new(what, array)?;
        let is_grid = grid.is_some_and(|shape| array.shape() == shape);
        if !is_grid && (grid.is_some() || array.shape().len() != 1) {
            let expected = grid.map_or("one dimension".into(), |shape| format!("the shape {shape:?}"));
            let message = format!("{what} has the shape {:?}; expected {expected}", array.shape());
            return Err(errors::invalid_argument(&message));
        }
        if is_grid && !array.is_aligned_grid() {
            let message =
                format!("{what} has strides between its numbers; expected numpy.asfortranarray of it");
            return Err(errors::invalid_argument(&message));
        }
        Ok(Self { array, order: OnceLock::new(), is_grid })
    }

    pub fn column(&self) -> Result<inselberg::Column<'_>, Error> {
        if !self.is_grid {
            return self.array.column();
        }
        self.array.grid_column(self.order.get_or_init(|| self.array.grid_order()).as_ref())
    }
}

/// The cells of a program: their levels and positions. Immutable.
#[pyclass(frozen, name = "Cells", module = "inselberg._native")]
pub struct NativeCells {
    pub cells: Cells,
    /// The shape of the arrays, for a grid.
    pub grid: Option<[usize; 3]>,
}

impl NativeCells {
    fn make(
        py: Python<'_>,
        threads: Option<usize>,
        grid: Option<[usize; 3]>,
        make: impl FnOnce() -> Result<Cells, Error> + Send + 'static,
    ) -> PyResult<Self> {
        let cells = Arc::<Calls>::default().run(py, None, move |_| on_threads(threads, make))?;
        Ok(Self { cells, grid })
    }
}

#[pymethods]
impl NativeCells {
    /// Leaves: level and integer position of each.
    #[staticmethod]
    fn leaves(
        py: Python<'_>,
        levels: &NumPyArray<'_>,
        positions: &Bound<'_, PyAny>,
        geometry: BoxOptions,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (levels, positions) = (Scalars::new("levels", levels)?, Vectors::new("positions", positions)?);
        let geometry = geometry.geometry();
        Self::make(py, threads, None, move || {
            Cells::from_leaves(geometry, levels.column()?, positions.columns()?)
        })
    }

    /// Octs: level of the cells, integer position of the oct, and mask of its split cells.
    #[staticmethod]
    fn octs(
        py: Python<'_>,
        levels: &NumPyArray<'_>,
        positions: &Bound<'_, PyAny>,
        splits: &NumPyArray<'_>,
        geometry: BoxOptions,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (levels, positions) = (Scalars::new("levels", levels)?, Vectors::new("positions", positions)?);
        let (splits, geometry) = (Scalars::new("splits", splits)?, geometry.geometry());
        Self::make(py, threads, None, move || {
            Cells::from_octs(geometry, levels.column()?, positions.columns()?, splits.column()?)
        })
    }

    /// A block of a grid of one level: `shape` cells from `start` on. A shape with a 0 has no cells.
    #[staticmethod]
    fn grid(
        py: Python<'_>,
        level: u8,
        start: [u32; 3],
        shape: [u32; 3],
        geometry: BoxOptions,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let geometry: Geometry = geometry.geometry();
        let grid = Some(shape.map(|n| n as usize));
        Self::make(py, threads, grid, move || {
            let none: &[u8] = &[];
            if shape.contains(&0) {
                return Cells::from_leaves(geometry, none, &[] as &[[u32; 3]]);
            }
            Cells::from_blocks(geometry, &[level], &[start], shape, none)
        })
    }

    /// The same cells in the box of another time.
    fn at(&self, py: Python<'_>, geometry: BoxOptions) -> PyResult<Self> {
        let cells = errors::raised(py, Some(self.cells.at(geometry.geometry())))?;
        Ok(Self { cells, grid: self.grid })
    }

    fn __len__(&self) -> usize {
        self.cells.len()
    }
}
