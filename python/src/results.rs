//! What calls return: labels, and the tables of a catalogue.

use crate::arrays::{NumPyArray, NumberArray};
use crate::call::Calls;
use crate::cells::on_threads;
use crate::columns;
use crate::engine::SharedEngine;
use crate::errors;
use crate::options::{GivenTexts, filled, params};
use crate::snapshots::NativeParticles;
use inselberg::{Catalogue, Clumps, Error, FofGroups, FoundCatalogue, LabelsOf, OpenParticles, Table, Voids};
use inselberg_io::catalogue::{self, SoapPlace};
use numpy::PyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

/// Identifiers as NumPy takes them for indices; 0 for none.
fn labels<'py, T: Copy>(
    py: Python<'py>,
    ids: &[Option<T>],
    number: impl Fn(T) -> u64,
) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_vec(py, ids.iter().map(|id| id.map_or(0, |id| number(id) as i64)).collect())
}

fn opened(particles: Option<&NativeParticles>) -> Option<Arc<OpenParticles>> {
    particles.map(|particles| Arc::clone(&particles.0))
}

fn column<'py>(py: Python<'py>, table: Option<&Table>, column: usize) -> PyResult<Bound<'py, PyAny>> {
    columns::values(py, table.ok_or_else(|| PyIndexError::new_err("no such table"))?, column)
}

/// The catalogue that a call found: clumps, groups or voids.
#[pyclass(frozen, subclass, name = "Found", module = "inselberg._native")]
pub struct NativeFound {
    found: Arc<dyn Deref<Target = FoundCatalogue> + Send + Sync>,
    engine: Arc<SharedEngine>,
}

impl NativeFound {
    /// Makes a collective call on the catalogue.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&FoundCatalogue) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let found = Arc::clone(&self.found);
        self.engine.run(py, None, move |_| work(&found))
    }
}

#[pymethods]
impl NativeFound {
    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(columns::layout(self.found.tables(), self.found.attributes()).into_pyobject(py)?.into_any())
    }

    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns::attributes(py, self.found.attributes())
    }

    /// Values of a column, by the numbers of table and column in the layout.
    fn column<'py>(&self, py: Python<'py>, table: usize, number: usize) -> PyResult<Bound<'py, PyAny>> {
        column(py, self.found.tables().nth(table).map(|(table, _)| table), number)
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.call(py, move |found| found.write(path))
    }

    /// Over ranks collective: writes labels of clumps or haloes.
    fn write_labels(&self, py: Python<'_>, path: PathBuf, of: &str) -> PyResult<()> {
        let of = errors::raised(py, Some(of.parse::<LabelsOf>()))?;
        self.call(py, move |found| found.write_labels(path, of))
    }

    /// Over ranks collective: writes the layout of SOAP. `particles`: those that the call ran on.
    #[pyo3(signature = (path, particles=None))]
    fn write_soap(&self, py: Python<'_>, path: PathBuf, particles: Option<&NativeParticles>) -> PyResult<()> {
        let particles = opened(particles);
        self.call(py, move |found| found.write_soap(path, particles.as_deref()))
    }

    /// Over ranks collective: the whole catalogue on one rank, none on the others.
    fn gather(&self, py: Python<'_>, rank: u32) -> PyResult<Option<NativeStored>> {
        Ok(self.call(py, move |found| found.gather(rank))?.map(NativeStored::new))
    }
}

/// Clumps and haloes that a call found.
#[pyclass(frozen, extends = NativeFound, name = "Clumps", module = "inselberg._native")]
pub struct NativeClumps(pub Arc<Clumps>);

impl NativeClumps {
    pub fn new(clumps: Clumps, engine: Arc<SharedEngine>) -> PyClassInitializer<Self> {
        let clumps = Arc::new(clumps);
        PyClassInitializer::from(NativeFound { found: Arc::<Clumps>::clone(&clumps), engine })
            .add_subclass(Self(clumps))
    }
}

#[pymethods]
impl NativeClumps {
    /// The clump of each cell; 0 for none.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        labels(py, self.0.labels(), inselberg::ClumpId::get)
    }

    /// The halo of each cell; 0 for none.
    fn halo_labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        labels(py, self.0.halo_labels(), inselberg::ClumpId::get)
    }

    /// The part of the box that the leaves cover.
    fn coverage(&self) -> f64 {
        self.0.coverage()
    }

    /// Over ranks collective: sums of values over the cells of each clump or halo of this rank.
    fn sums<'py>(
        found: &Bound<'py, Self>,
        values: NumPyArray<'py>,
        of: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (py, values) = (found.py(), NumberArray::new("values", &values)?);
        let of = errors::raised(py, Some(of.parse::<LabelsOf>()))?;
        let clumps = Arc::clone(&found.get().0);
        let sums =
            found.as_super().get().call(py, move |_| clumps.sums(of, &[("values", values.column()?)]))?;
        Ok(PyArray1::from_vec(py, sums.into_iter().next().unwrap_or_default()))
    }

    fn recut<'py>(of: &Bound<'py, Self>, options: GivenTexts) -> PyResult<Bound<'py, Self>> {
        let (py, engine) = (of.py(), Arc::clone(&of.as_super().get().engine));
        let clumps = Arc::clone(&of.get().0);
        let found = engine.run(py, None, move |engine| {
            let params = engine.agree_beside("recut", || filled(clumps.params().clone(), &options))?;
            clumps.recut(&params)
        })?;
        Bound::new(py, Self::new(found, engine))
    }
}

/// Groups that a call found.
#[pyclass(frozen, extends = NativeFound, name = "Groups", module = "inselberg._native")]
pub struct NativeGroups(pub Arc<FofGroups>);

impl NativeGroups {
    pub fn new(groups: FofGroups, engine: Arc<SharedEngine>) -> PyClassInitializer<Self> {
        let groups = Arc::new(groups);
        PyClassInitializer::from(NativeFound { found: Arc::<FofGroups>::clone(&groups), engine })
            .add_subclass(Self(groups))
    }
}

#[pymethods]
impl NativeGroups {
    /// The group of each particle; 0 for none.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        labels(py, self.0.labels(), inselberg::GroupId::get)
    }

    /// Over ranks collective: sums of values over the particles of each group of this rank.
    fn sums<'py>(found: &Bound<'py, Self>, values: NumPyArray<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (py, values) = (found.py(), NumberArray::new("values", &values)?);
        let groups = Arc::clone(&found.get().0);
        let sums = found.as_super().get().call(py, move |_| groups.sums(&[("values", values.column()?)]))?;
        Ok(PyArray1::from_vec(py, sums.into_iter().next().unwrap_or_default()))
    }

    fn linking_length(&self) -> f64 {
        self.0.linking_length()
    }
}

/// Voids that a call found.
#[pyclass(frozen, extends = NativeFound, name = "Voids", module = "inselberg._native")]
pub struct NativeVoids;

impl NativeVoids {
    pub fn new(voids: Voids, engine: Arc<SharedEngine>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(NativeFound { found: Arc::new(voids), engine }).add_subclass(Self)
    }
}

/// A catalogue from a file, or a new cut of one.
#[pyclass(frozen, name = "Stored", module = "inselberg._native")]
pub struct NativeStored(Arc<Catalogue>);

impl NativeStored {
    pub fn new(catalogue: Catalogue) -> Self {
        Self(Arc::new(catalogue))
    }

    /// Works on the catalogue outside an engine, so that Ctrl-C ends the wait.
    fn run<T: Send + 'static>(
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        Arc::<Calls>::default().run(py, None, move |_| on_threads(None, work))
    }
}

#[pymethods]
impl NativeStored {
    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(columns::layout(
            self.0.tables.iter().map(|table| (table, table.n_rows() as u64)),
            &self.0.attributes,
        )
        .into_pyobject(py)?
        .into_any())
    }

    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns::attributes(py, &self.0.attributes)
    }

    fn column<'py>(&self, py: Python<'py>, table: usize, number: usize) -> PyResult<Bound<'py, PyAny>> {
        column(py, self.0.tables.get(table), number)
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let stored = Arc::clone(&self.0);
        Self::run(py, move || inselberg::write_catalogue(&path, &stored))
    }

    /// Writes labels of clumps or haloes.
    fn write_labels(&self, py: Python<'_>, path: PathBuf, of: &str) -> PyResult<()> {
        let (stored, of) = (Arc::clone(&self.0), errors::raised(py, Some(of.parse::<LabelsOf>()))?);
        Self::run(py, move || inselberg::write_labels(&path, &stored, of))
    }

    /// Writes the layout of SOAP. `particles`: those that the catalogue was made from.
    #[pyo3(signature = (path, particles=None))]
    fn write_soap(&self, py: Python<'_>, path: PathBuf, particles: Option<&NativeParticles>) -> PyResult<()> {
        let (stored, particles) = (Arc::clone(&self.0), opened(particles));
        Self::run(py, move || {
            let place = SoapPlace::new(&path);
            catalogue::check_soap(&place)?;
            let input = particles.as_ref().map(|particles| particles.reader());
            Ok(catalogue::stage_soap(&place, &stored, input)?.commit()?)
        })
    }

    fn recut(&self, py: Python<'_>, options: GivenTexts) -> PyResult<Self> {
        let (stored, thresholds) = (Arc::clone(&self.0), errors::raised(py, Some(params(&options)))?);
        if stored.table("tree").is_none() {
            return Err(errors::invalid_argument("a catalogue without a tree; expected one of PHEW"));
        }
        let cut = Self::run(py, move || inselberg::recut(&stored, &thresholds))?;
        Ok(Self::new(cut))
    }

    fn recut_voids(&self, py: Python<'_>, options: GivenTexts) -> PyResult<Self> {
        let (stored, thresholds) = (Arc::clone(&self.0), errors::raised(py, Some(params(&options)))?);
        if !inselberg::is_void_catalogue(&stored) {
            return Err(errors::invalid_argument("a catalogue without voids; expected one of voids"));
        }
        let cut = Self::run(py, move || inselberg::recut_voids(&stored, &thresholds))?;
        Ok(Self::new(cut))
    }
}

/// Reads a catalogue that the command or this package wrote.
#[pyfunction]
pub fn read_catalogue(py: Python<'_>, path: PathBuf) -> PyResult<NativeStored> {
    let read = NativeStored::run(py, move || inselberg::read_catalogue(&path))?;
    Ok(NativeStored::new(read))
}
