//! What an engine has to do: arguments that were checked, on this rank alone. Making a request is local;
//! running it is the call.

use crate::arrays::{NumPyArray, Scalars, Vectors};
use crate::cells::{CellValues, NativeCells};
use crate::engine::SharedEngine;
use crate::errors;
use crate::options::{BoxOptions, GivenTexts, filled, params};
use crate::results::{NativeClumps, NativeGroups, NativeStored, NativeVoids};
use crate::snapshots::{NativeParticles, NativeSnapshot};
use crate::trees::{FoundObjects, NativeTree, ObjectArrays};
use inselberg::{
    Catalogue, CatalogueComparison, CellFields, Clumps, Engine, Error, FieldChoice, FofGroups, FofParams,
    Geometry, LinkingTypes, MergerTree, OpenParticles, OpenSnapshot, ParticleColumns, ParticleGraphParams,
    ParticleMeshParams, PhewParams, ThresholdAtlas, Voids,
};
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// What a request leads to.
pub enum RequestAnswer {
    Clumps(Box<Clumps>),
    Groups(Box<FofGroups>),
    Voids(Voids),
    Snapshot(OpenSnapshot),
    Particles(OpenParticles),
    Tree(MergerTree),
    /// A whole catalogue, on one rank.
    Stored(Option<Catalogue>),
    Done,
}

impl RequestAnswer {
    fn clumps(found: Clumps) -> Self {
        Self::Clumps(Box::new(found))
    }

    fn groups(found: FofGroups) -> Self {
        Self::Groups(Box::new(found))
    }

    pub fn into_python<'py>(
        self,
        py: Python<'py>,
        engine: &Arc<SharedEngine>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = Arc::clone(engine);
        Ok(match self {
            Self::Clumps(clumps) => Bound::new(py, NativeClumps::new(*clumps, engine))?.into_any(),
            Self::Groups(groups) => Bound::new(py, NativeGroups::new(*groups, engine))?.into_any(),
            Self::Voids(voids) => Bound::new(py, NativeVoids::new(voids, engine))?.into_any(),
            Self::Snapshot(snapshot) => Bound::new(py, NativeSnapshot(Arc::new(snapshot)))?.into_any(),
            Self::Particles(particles) => Bound::new(py, NativeParticles(Arc::new(particles)))?.into_any(),
            Self::Tree(tree) => Bound::new(py, NativeTree::new(tree, engine))?.into_any(),
            Self::Stored(None) => py.None().into_bound(py),
            Self::Stored(Some(whole)) => Bound::new(py, NativeStored::new(whole))?.into_any(),
            Self::Done => py.None().into_bound(py),
        })
    }
}

/// Particles of a program: arrays by their names.
struct ParticleArrays {
    positions: Vectors,
    velocities: Option<Vectors>,
    /// Each with its name.
    scalars: Vec<(&'static str, Scalars)>,
}

impl ParticleArrays {
    /// `scalars` are arrays that may be left out.
    fn new(
        positions: &Bound<'_, PyAny>,
        velocities: Option<Bound<'_, PyAny>>,
        scalars: Vec<(&'static str, Option<NumPyArray<'_>>)>,
    ) -> PyResult<Self> {
        let given = |(name, array): (&'static str, Option<NumPyArray<'_>>)| {
            array.map(|array| Ok((name, Scalars::new(name, &array)?)))
        };
        Ok(Self {
            positions: Vectors::new("positions", positions)?,
            velocities: velocities.map(|arrays| Vectors::new("velocities", &arrays)).transpose()?,
            scalars: scalars.into_iter().filter_map(given).collect::<PyResult<_>>()?,
        })
    }

    fn columns(&self, geometry: Geometry) -> Result<ParticleColumns<'_>, Error> {
        let mut particles = ParticleColumns::new(geometry, self.positions.columns()?);
        if let Some(velocities) = &self.velocities {
            particles = particles.velocities(velocities.columns()?);
        }
        for (name, array) in &self.scalars {
            let column = array.column()?;
            particles = match *name {
                "ids" => particles.ids(column),
                "masses" => particles.masses(column),
                "attached" => particles.attached(column),
                "types" => particles.types(column),
                "densities" => particles.gas_densities(column),
                other => unreachable!("no column {other} of particles"),
            };
        }
        Ok(particles)
    }
}

/// A call of the engine.
type EngineCall = Box<dyn FnOnce(&mut Engine) -> Result<RequestAnswer, Error> + Send>;

/// A call with its arguments, to be made once.
#[pyclass(frozen, name = "Request", module = "inselberg._native")]
pub struct NativeRequest(Mutex<Option<EngineCall>>);

impl NativeRequest {
    fn new(call: impl FnOnce(&mut Engine) -> Result<RequestAnswer, Error> + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::new(call))))
    }

    pub fn take(&self) -> PyResult<EngineCall> {
        self.0
            .lock()
            .take()
            .ok_or_else(|| errors::invalid_argument("a request that was made; expected a new one"))
    }
}

#[pymethods]
impl NativeRequest {
    /// PHEW on cells. `field` has one number per cell, or is a three-dimensional array for a grid.
    #[staticmethod]
    #[pyo3(signature = (cells, field, options, *, velocity=None, mass_density=None, particles=None, name="density"))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn phew(
        py: Python<'_>,
        cells: &NativeCells,
        field: &NumPyArray<'_>,
        options: GivenTexts,
        velocity: Option<[NumPyArray<'_>; 3]>,
        mass_density: Option<NumPyArray<'_>>,
        particles: Option<&NativeParticles>,
        name: &str,
    ) -> PyResult<Self> {
        let params: PhewParams = errors::raised(py, Some(params(&options)))?;
        let values = |what: &str, array: &NumPyArray<'_>| CellValues::new(what, array, cells.grid);
        let field = values(name, field)?;
        let velocity = velocity.map(|axes| -> PyResult<[CellValues; 3]> {
            let [x, y, z] = axes;
            Ok([values("velocity", &x)?, values("velocity", &y)?, values("velocity", &z)?])
        });
        let velocity = velocity.transpose()?;
        let mass_density = mass_density.map(|density| values("mass density", &density)).transpose()?;
        let (cells, name) = (cells.cells.clone(), name.to_string());
        let particles = particles.map(|particles| Arc::clone(&particles.0));
        Ok(Self::new(move |engine| {
            let mut fields = CellFields::density(field.column()?).name(&name);
            if let Some([x, y, z]) = &velocity {
                fields = fields.velocity([x.column()?, y.column()?, z.column()?]);
            }
            if let Some(density) = &mass_density {
                fields = fields.mass_density(density.column()?);
            }
            if let Some(particles) = &particles {
                fields = fields.particles(particles);
            }
            engine.phew(&cells, fields, &params).map(RequestAnswer::clumps)
        }))
    }

    /// PHEW on a field of an output.
    #[staticmethod]
    fn phew_snapshot(
        py: Python<'_>,
        snapshot: &NativeSnapshot,
        field: &str,
        options: GivenTexts,
    ) -> PyResult<Self> {
        let (params, field): (PhewParams, _) =
            (errors::raised(py, Some(params(&options)))?, FieldChoice::from(field));
        let snapshot = Arc::clone(&snapshot.0);
        Ok(Self::new(move |engine| {
            engine.phew_snapshot(&snapshot, &field, &params).map(RequestAnswer::clumps)
        }))
    }

    /// PHEW on a mesh made from the particles of an output.
    #[staticmethod]
    fn phew_particles(
        py: Python<'_>,
        particles: &NativeParticles,
        mesh: GivenTexts,
        options: GivenTexts,
    ) -> PyResult<Self> {
        let (params, mesh): (PhewParams, ParticleMeshParams) =
            errors::raised(py, Some(params(&options).and_then(|of| Ok((of, params(&mesh)?)))))?;
        let particles = Arc::clone(&particles.0);
        Ok(Self::new(move |engine| {
            engine.phew_particles(&particles, &mesh, &params).map(RequestAnswer::clumps)
        }))
    }

    /// PHEW on the graph of the particles of an output.
    #[staticmethod]
    fn phew_graph(
        py: Python<'_>,
        particles: &NativeParticles,
        graph: GivenTexts,
        options: GivenTexts,
    ) -> PyResult<Self> {
        let (params, graph): (PhewParams, ParticleGraphParams) =
            errors::raised(py, Some(params(&options).and_then(|of| Ok((of, params(&graph)?)))))?;
        let particles = Arc::clone(&particles.0);
        Ok(Self::new(move |engine| engine.phew_graph(&particles, &graph, &params).map(RequestAnswer::clumps)))
    }

    /// Voids of the particles of an output.
    #[staticmethod]
    fn voids(
        py: Python<'_>,
        particles: &NativeParticles,
        graph: GivenTexts,
        options: GivenTexts,
    ) -> PyResult<Self> {
        let graph = errors::raised(py, Some(filled(ParticleGraphParams::for_voids(), &graph)))?;
        let params = errors::raised(py, Some(params(&options)))?;
        let particles = Arc::clone(&particles.0);
        Ok(Self::new(move |engine| engine.voids(&particles, &graph, &params).map(RequestAnswer::Voids)))
    }

    /// Friends-of-friends of the particles of an output.
    #[staticmethod]
    fn fof_particles(
        py: Python<'_>,
        particles: &NativeParticles,
        types: GivenTexts,
        options: GivenTexts,
    ) -> PyResult<Self> {
        let (params, types): (FofParams, LinkingTypes) =
            errors::raised(py, Some(params(&options).and_then(|of| Ok((of, params(&types)?)))))?;
        let particles = Arc::clone(&particles.0);
        Ok(Self::new(move |engine| {
            engine.fof_particles(&particles, &types, &params).map(RequestAnswer::groups)
        }))
    }

    /// Friends-of-friends.
    #[staticmethod]
    #[pyo3(signature = (positions, geometry, options, *, ids=None, masses=None, velocities=None, attached=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn fof(
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        geometry: BoxOptions,
        options: GivenTexts,
        ids: Option<NumPyArray<'_>>,
        masses: Option<NumPyArray<'_>>,
        velocities: Option<Bound<'_, PyAny>>,
        attached: Option<NumPyArray<'_>>,
    ) -> PyResult<Self> {
        let (params, geometry): (FofParams, _) =
            (errors::raised(py, Some(params(&options)))?, geometry.geometry());
        let scalars = vec![("ids", ids), ("masses", masses), ("attached", attached)];
        let arrays = ParticleArrays::new(positions, velocities, scalars)?;
        Ok(Self::new(move |engine| {
            engine.fof(&arrays.columns(geometry)?, &params).map(RequestAnswer::groups)
        }))
    }

    /// Copies the particles of a program.
    #[staticmethod]
    #[pyo3(signature = (positions, geometry, *, ids=None, masses=None, velocities=None, types=None, densities=None))]
    fn hold_particles(
        positions: &Bound<'_, PyAny>,
        geometry: BoxOptions,
        ids: Option<NumPyArray<'_>>,
        masses: Option<NumPyArray<'_>>,
        velocities: Option<Bound<'_, PyAny>>,
        types: Option<NumPyArray<'_>>,
        densities: Option<NumPyArray<'_>>,
    ) -> PyResult<Self> {
        let scalars = vec![("ids", ids), ("masses", masses), ("types", types), ("densities", densities)];
        let (arrays, geometry) = (ParticleArrays::new(positions, velocities, scalars)?, geometry.geometry());
        Ok(Self::new(move |engine| {
            engine.hold_particles(&arrays.columns(geometry)?).map(RequestAnswer::Particles)
        }))
    }

    /// Opens an output with cells.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, defaults: GivenTexts) -> PyResult<Self> {
        let defaults = errors::raised(py, Some(params(&defaults)))?;
        Ok(Self::new(move |engine| engine.open_with(path, &defaults).map(RequestAnswer::Snapshot)))
    }

    /// Opens the particles in the files of one input.
    #[staticmethod]
    fn open_particles(py: Python<'_>, paths: Vec<PathBuf>, defaults: GivenTexts) -> PyResult<Self> {
        let defaults = errors::raised(py, Some(params(&defaults)))?;
        Ok(Self::new(move |engine| {
            engine.open_particles_with(&paths, &defaults).map(RequestAnswer::Particles)
        }))
    }

    /// Compares two catalogues in files. Leads to the tables of pairs on the first rank.
    #[staticmethod]
    fn compare(py: Python<'_>, first: PathBuf, second: PathBuf, options: GivenTexts) -> PyResult<Self> {
        let params = errors::raised(py, Some(params(&options)))?;
        Ok(Self::new(move |engine| {
            let compared = engine.compare(&first, &second, &params)?;
            Ok(RequestAnswer::Stored(compared.as_ref().map(CatalogueComparison::matches)))
        }))
    }

    /// What each threshold of a catalogue in a file does. Leads to the tables on the first rank.
    #[staticmethod]
    fn atlas(py: Python<'_>, catalogue: PathBuf, options: GivenTexts) -> PyResult<Self> {
        let params = errors::raised(py, Some(params(&options)))?;
        Ok(Self::new(move |engine| {
            let atlas = engine.atlas(&catalogue, &params)?;
            Ok(RequestAnswer::Stored(atlas.as_ref().map(ThresholdAtlas::tables)))
        }))
    }

    /// Begins a merger tree.
    #[staticmethod]
    fn tree(py: Python<'_>, options: GivenTexts) -> PyResult<Self> {
        let params = errors::raised(py, Some(params(&options)))?;
        Ok(Self::new(move |engine| engine.trees(&params).map(RequestAnswer::Tree)))
    }

    /// Adds clumps or groups of a call to a tree.
    #[staticmethod]
    fn tree_add(tree: &NativeTree, number: u64, found: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (tree, found) = (Arc::clone(&tree.tree), FoundObjects::new(found)?);
        Ok(Self::new(move |_| found.add_to(&tree, number).map(|()| RequestAnswer::Done)))
    }

    /// Adds catalogues in files to a tree.
    #[staticmethod]
    fn tree_add_files(tree: &NativeTree, paths: Vec<PathBuf>) -> Self {
        let tree = Arc::clone(&tree.tree);
        Self::new(move |_| tree.lock().add_files(&paths).map(|_| RequestAnswer::Done))
    }

    /// Adds objects with their members to a tree.
    #[staticmethod]
    #[pyo3(signature = (tree, number, geometry, ids, n_members, members, *, offsets=None, types=None, parents=None, masses=None, positions=None, velocities=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn tree_add_objects(
        tree: &NativeTree,
        number: u64,
        geometry: BoxOptions,
        ids: NumPyArray<'_>,
        n_members: NumPyArray<'_>,
        members: NumPyArray<'_>,
        offsets: Option<NumPyArray<'_>>,
        types: Option<NumPyArray<'_>>,
        parents: Option<NumPyArray<'_>>,
        masses: Option<NumPyArray<'_>>,
        positions: Option<Bound<'_, PyAny>>,
        velocities: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let scalars = [offsets, types, parents, masses];
        let arrays = ObjectArrays::new([ids, n_members, members], scalars, [positions, velocities])?;
        let (tree, space) = (Arc::clone(&tree.tree), geometry.geometry());
        Ok(Self::new(move |_| {
            tree.lock().add_columns(number, &space, &arrays.columns()?).map(|()| RequestAnswer::Done)
        }))
    }
}
