//! The engine and the cells that calls take.

use crate::arrays::{NumberArray, Scalars, Vectors};
use crate::call::Calls;
use crate::errors;
use crate::options::{BoxOptions, FofOptions, MeshOptions, PhewOptions, TypeOptions, field_choice};
use crate::results::{NativeClumps, NativeGroups};
use crate::snapshots::{NativeParticles, NativeSnapshot};
use inselberg::{CellFields, Cells, Engine, Error, Geometry, ParticleColumns};
use numpy::PyUntypedArray;
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};

/// An array, as Python hands it over.
type NumPyArray<'py> = Bound<'py, PyUntypedArray>;

/// Threads of its own for work outside an engine, such as checking cells. As many as the process may use by default.
pub fn on_threads<T: Send>(
    n: Option<usize>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    // 0 stands for the default. An engine refuses 0 threads.
    match rayon::ThreadPoolBuilder::new().num_threads(n.unwrap_or(0)).build() {
        Ok(threads) => threads.install(work),
        // A system without threads left: the calling one will do.
        Err(_) => work(),
    }
}

/// An engine: threads, and the mesh of the last cells.
#[pyclass(frozen, name = "Engine", module = "inselberg._native")]
pub struct NativeEngine {
    engine: Arc<Mutex<Engine>>,
    calls: Arc<Calls>,
}

#[pymethods]
impl NativeEngine {
    #[new]
    #[pyo3(signature = (threads=None))]
    fn new(py: Python<'_>, threads: Option<usize>) -> PyResult<Self> {
        crate::call::check_process()?;
        let calls = Arc::<Calls>::default();
        let heard = Arc::clone(&calls);
        let builder = threads.into_iter().fold(Engine::builder(), inselberg::EngineBuilder::threads);
        let engine = builder.hook(move |progress| heard.hear(progress)).build();
        let engine = errors::raised(py, Some(engine))?;
        Ok(Self { engine: Arc::new(Mutex::new(engine)), calls })
    }

    /// PHEW on cells. `field` has one number per cell, or is a three-dimensional array for a grid.
    #[pyo3(signature = (cells, field, options, *, velocity=None, mass_density=None, name="density", report=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn phew(
        &self,
        py: Python<'_>,
        cells: &NativeCells,
        field: &NumPyArray<'_>,
        options: PhewOptions,
        velocity: Option<[NumPyArray<'_>; 3]>,
        mass_density: Option<NumPyArray<'_>>,
        name: &str,
        report: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeClumps> {
        let params = options.params()?;
        let values = |what: &str, array: &NumPyArray<'_>| CellValues::new(what, array, cells.grid);
        let field = values(name, field)?;
        let velocity = velocity.map(|axes| -> PyResult<[CellValues; 3]> {
            let [x, y, z] = axes;
            Ok([values("velocity", &x)?, values("velocity", &y)?, values("velocity", &z)?])
        });
        let velocity = velocity.transpose()?;
        let mass_density = mass_density.map(|density| values("mass density", &density)).transpose()?;
        let (engine, cells, name) = (Arc::clone(&self.engine), cells.cells.clone(), name.to_string());
        let clumps = self.calls.run(py, report, move || {
            let mut fields = CellFields::density(field.column()?).name(&name);
            if let Some([x, y, z]) = &velocity {
                fields = fields.velocity([x.column()?, y.column()?, z.column()?]);
            }
            if let Some(density) = &mass_density {
                fields = fields.mass_density(density.column()?);
            }
            engine.lock().phew(&cells, fields, &params)
        })?;
        Ok(NativeClumps::new(clumps, Arc::clone(&self.calls)))
    }

    /// PHEW on a field of an output.
    #[pyo3(signature = (snapshot, field, options, report=None))]
    fn phew_snapshot(
        &self,
        py: Python<'_>,
        snapshot: &NativeSnapshot,
        field: &str,
        options: PhewOptions,
        report: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeClumps> {
        let (params, field) = (options.params()?, field_choice(field));
        let (engine, snapshot) = (Arc::clone(&self.engine), Arc::clone(&snapshot.0));
        let work = move || engine.lock().phew_snapshot(&snapshot, &field, &params);
        Ok(NativeClumps::new(self.calls.run(py, report, work)?, Arc::clone(&self.calls)))
    }

    /// PHEW on the mesh that particles of an output make.
    #[pyo3(signature = (particles, mesh, options, report=None))]
    fn phew_particles(
        &self,
        py: Python<'_>,
        particles: &NativeParticles,
        mesh: MeshOptions,
        options: PhewOptions,
        report: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeClumps> {
        let (params, mesh) = (options.params()?, mesh.params());
        let (engine, particles) = (Arc::clone(&self.engine), Arc::clone(&particles.0));
        let work = move || engine.lock().phew_particles(&particles, &mesh, &params);
        Ok(NativeClumps::new(self.calls.run(py, report, work)?, Arc::clone(&self.calls)))
    }

    /// Friends-of-friends of the particles of an output.
    #[pyo3(signature = (particles, types, options, report=None))]
    fn fof_particles(
        &self,
        py: Python<'_>,
        particles: &NativeParticles,
        types: TypeOptions,
        options: FofOptions,
        report: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeGroups> {
        let (params, types) = (options.params()?, types.types());
        let (engine, particles) = (Arc::clone(&self.engine), Arc::clone(&particles.0));
        let work = move || engine.lock().fof_particles(&particles, &types, &params);
        Ok(NativeGroups::new(self.calls.run(py, report, work)?, Arc::clone(&self.calls)))
    }

    /// Friends-of-friends.
    #[pyo3(signature = (positions, geometry, options, *, ids=None, masses=None, velocities=None, attached=None, report=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn fof(
        &self,
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        geometry: BoxOptions,
        options: FofOptions,
        ids: Option<NumPyArray<'_>>,
        masses: Option<NumPyArray<'_>>,
        velocities: Option<Bound<'_, PyAny>>,
        attached: Option<NumPyArray<'_>>,
        report: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeGroups> {
        let (params, geometry) = (options.params()?, geometry.geometry());
        let scalars = |what: &str, array: Option<NumPyArray<'_>>| {
            array.map(|array| Scalars::new(what, &array)).transpose()
        };
        let positions = Vectors::new("positions", positions)?;
        let (ids, masses) = (scalars("ids", ids)?, scalars("masses", masses)?);
        let attached = scalars("attached", attached)?;
        let velocities = velocities.map(|arrays| Vectors::new("velocities", &arrays)).transpose()?;
        let engine = Arc::clone(&self.engine);
        let groups = self.calls.run(py, report, move || {
            let mut particles = ParticleColumns::new(geometry, positions.columns()?);
            if let Some(ids) = &ids {
                particles = particles.ids(ids.column()?);
            }
            if let Some(masses) = &masses {
                particles = particles.masses(masses.column()?);
            }
            if let Some(velocities) = &velocities {
                particles = particles.velocities(velocities.columns()?);
            }
            if let Some(flags) = &attached {
                particles = particles.attached(flags.column()?);
            }
            engine.lock().fof(&particles, &params)
        })?;
        Ok(NativeGroups::new(groups, Arc::clone(&self.calls)))
    }
}

/// One number per cell, from a one-dimensional array or, for a grid, from one of its shape.
struct CellValues {
    array: NumberArray,
    /// Where the cells of a grid are, if not at equal distances.
    order: OnceLock<Option<Vec<u64>>>,
    is_grid: bool,
}

impl CellValues {
    fn new(what: &str, array: &NumPyArray<'_>, grid: Option<[usize; 3]>) -> PyResult<Self> {
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

    fn column(&self) -> Result<inselberg::Column<'_>, Error> {
        if !self.is_grid {
            return self.array.column();
        }
        self.array.grid_column(self.order.get_or_init(|| self.array.grid_order()).as_ref())
    }
}

/// The cells of a program: which levels and positions. Immutable.
#[pyclass(frozen, name = "Cells", module = "inselberg._native")]
pub struct NativeCells {
    cells: Cells,
    /// The shape of the arrays, for a grid.
    grid: Option<[usize; 3]>,
}

impl NativeCells {
    fn make(
        py: Python<'_>,
        threads: Option<usize>,
        grid: Option<[usize; 3]>,
        make: impl FnOnce() -> Result<Cells, Error> + Send + 'static,
    ) -> PyResult<Self> {
        let work = move || on_threads(threads, make);
        let cells = Arc::<Calls>::default().run(py, None, work)?;
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

    /// The whole box as a grid of one level.
    #[staticmethod]
    fn grid(py: Python<'_>, level: u8, geometry: BoxOptions, threads: Option<usize>) -> PyResult<Self> {
        let geometry: Geometry = geometry.geometry();
        let shape = geometry.coarse.map(|n| (n as usize) << level.min(31));
        Self::make(py, threads, Some(shape), move || Cells::uniform(geometry, level))
    }

    fn __len__(&self) -> usize {
        self.cells.len()
    }
}
