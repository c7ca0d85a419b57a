//! Outputs on disk: opened by their headers, read by a call.

use crate::call::Calls;
use inselberg::{Engine, Error, OpenParticles, OpenSnapshot};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// An output with cells.
#[pyclass(frozen, name = "Snapshot", module = "inselberg._native")]
pub struct NativeSnapshot(pub Arc<OpenSnapshot>);

/// Particles of an output.
#[pyclass(frozen, name = "Particles", module = "inselberg._native")]
pub struct NativeParticles(pub Arc<OpenParticles>);

/// Headers need no more than one thread.
fn with_engine<T: Send + 'static>(
    py: Python<'_>,
    open: impl FnOnce(&mut Engine) -> Result<T, Error> + Send + 'static,
) -> PyResult<Arc<T>> {
    let work = move || open(&mut Engine::builder().threads(1).build()?);
    Arc::<Calls>::default().run(py, None, work).map(Arc::new)
}

/// Opens an output with cells.
#[pyfunction]
pub fn open_snapshot(py: Python<'_>, path: PathBuf) -> PyResult<NativeSnapshot> {
    with_engine(py, move |engine| engine.open(path)).map(NativeSnapshot)
}

/// Opens the particles in the files of one input.
#[pyfunction]
pub fn open_particles(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<NativeParticles> {
    with_engine(py, move |engine| engine.open_particles(&paths)).map(NativeParticles)
}

#[pymethods]
impl NativeSnapshot {
    /// What the headers say.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (about, geometry) = (PyDict::new(py), self.0.geometry());
        about.set_item("format", self.0.format())?;
        about.set_item("number", self.0.number())?;
        about.set_item("levels", self.0.levels().map(u32::from))?;
        about.set_item("fields", self.0.fields().collect::<Vec<_>>())?;
        about.set_item("has_particles", self.0.has_particles())?;
        about.set_item("sides", geometry.sides())?;
        about.set_item("periodic", geometry.periodic)?;
        about.set_item("time", geometry.time)?;
        about.set_item("units", geometry.units.map(|u| (u.length, u.density, u.time)))?;
        let cosmology =
            geometry.cosmology.map(|c| (c.aexp, c.h0, c.omega_m, c.omega_l, c.omega_k, c.omega_b));
        about.set_item("cosmology", cosmology)?;
        Ok(about)
    }
}

#[pymethods]
impl NativeParticles {
    /// What the headers say.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (about, species) = (PyDict::new(py), PyDict::new(py));
        for (name, n) in self.0.species() {
            species.set_item(name, n)?;
        }
        about.set_item("format", self.0.format())?;
        about.set_item("sides", self.0.sides())?;
        about.set_item("time", self.0.time())?;
        about.set_item("species", species)?;
        Ok(about)
    }
}
