//! Outputs on disk: opened by their headers, read by a call.

use crate::options::CosmologyNumbers;
use inselberg::{OpenParticles, OpenSnapshot};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// An output with cells.
#[pyclass(frozen, name = "Snapshot", module = "inselberg._native")]
pub struct NativeSnapshot(pub Arc<OpenSnapshot>);

/// Particles of an output.
#[pyclass(frozen, name = "Particles", module = "inselberg._native")]
pub struct NativeParticles(pub Arc<OpenParticles>);

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
        let cosmology = geometry.cosmology.map(|c| -> CosmologyNumbers {
            (c.aexp, c.h0, c.omega_m, c.omega_l, c.omega_k, c.omega_b, c.omega_r, c.omega_nu, c.w0, c.wa)
        });
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
