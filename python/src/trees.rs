//! Merger trees that keep tracers from call to call.

use crate::arrays::{NumPyArray, Scalars, Vectors};
use crate::engine::SharedEngine;
use crate::errors;
use crate::results::{NativeClumps, NativeGroups, NativeStored};
use inselberg::{Error, MergerTree, TreeColumns};
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A tree that calls share.
pub type SharedTree = Arc<Mutex<MergerTree>>;

/// A merger tree that grows output by output.
#[pyclass(frozen, name = "Tree", module = "inselberg._native")]
pub struct NativeTree {
    pub tree: SharedTree,
    engine: Arc<SharedEngine>,
}

impl NativeTree {
    pub fn new(tree: MergerTree, engine: Arc<SharedEngine>) -> Self {
        Self { tree: Arc::new(Mutex::new(tree)), engine }
    }
}

#[pymethods]
impl NativeTree {
    /// Number of outputs so far. Waits for a call that runs.
    fn n_outputs(&self, py: Python<'_>) -> usize {
        py.detach(|| self.tree.lock().n_outputs())
    }

    /// The tree so far; none on all ranks but the first.
    fn catalogue(&self, py: Python<'_>) -> Option<NativeStored> {
        py.detach(|| self.tree.lock().catalogue()).map(NativeStored::new)
    }

    /// Over ranks collective: writes the tree so far.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let tree = Arc::clone(&self.tree);
        self.engine.run(py, None, move |_| tree.lock().write(path))
    }
}

/// What a call found.
pub enum FoundObjects {
    Clumps(Arc<inselberg::Clumps>),
    Groups(Arc<inselberg::FofGroups>),
}

impl FoundObjects {
    /// Clumps or groups of a call, not of a file.
    pub fn new(found: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(clumps) = found.cast::<NativeClumps>() {
            return Ok(Self::Clumps(Arc::clone(&clumps.get().0)));
        }
        let groups = found.cast::<NativeGroups>().map_err(|_| {
            errors::invalid_argument("a catalogue from a file; expected what a call returned, or add_files")
        })?;
        Ok(Self::Groups(Arc::clone(&groups.get().0)))
    }

    pub fn add_to(&self, tree: &SharedTree, number: u64) -> Result<(), Error> {
        match self {
            Self::Clumps(clumps) => tree.lock().add_clumps(clumps, number),
            Self::Groups(groups) => tree.lock().add_groups(groups, number),
        }
    }
}

/// Objects with their members, in arrays.
pub struct ObjectArrays {
    ids: Scalars,
    n_members: Scalars,
    members: Scalars,
    /// Places of first members, types, parents, masses.
    scalars: [Option<Scalars>; 4],
    /// Positions, velocities.
    vectors: [Option<Vectors>; 2],
}

impl ObjectArrays {
    pub fn new(
        [ids, n_members, members]: [NumPyArray<'_>; 3],
        scalars: [Option<NumPyArray<'_>>; 4],
        vectors: [Option<Bound<'_, PyAny>>; 2],
    ) -> PyResult<Self> {
        let scalar = |what: &str, array: Option<NumPyArray<'_>>| {
            array.map(|array| Scalars::new(what, &array)).transpose()
        };
        let vector = |what: &str, arrays: Option<Bound<'_, PyAny>>| {
            arrays.map(|arrays| Vectors::new(what, &arrays)).transpose()
        };
        let [offsets, types, parents, masses] = scalars;
        let [positions, velocities] = vectors;
        Ok(Self {
            ids: Scalars::new("ids", &ids)?,
            n_members: Scalars::new("n_members", &n_members)?,
            members: Scalars::new("members", &members)?,
            scalars: [
                scalar("offsets", offsets)?,
                scalar("types", types)?,
                scalar("parents", parents)?,
                scalar("masses", masses)?,
            ],
            vectors: [vector("positions", positions)?, vector("velocities", velocities)?],
        })
    }

    pub fn columns(&self) -> Result<TreeColumns<'_>, Error> {
        let mut columns =
            TreeColumns::new(self.ids.column()?, self.n_members.column()?, self.members.column()?);
        let [offsets, types, parents, masses] = &self.scalars;
        if let Some(offsets) = offsets {
            columns = columns.offsets(offsets.column()?);
        }
        if let Some(types) = types {
            columns = columns.types(types.column()?);
        }
        if let Some(parents) = parents {
            columns = columns.parents(parents.column()?);
        }
        if let Some(masses) = masses {
            columns = columns.masses(masses.column()?);
        }
        let [positions, velocities] = &self.vectors;
        if let Some(positions) = positions {
            columns = columns.positions(positions.columns()?);
        }
        if let Some(velocities) = velocities {
            columns = columns.velocities(velocities.columns()?);
        }
        Ok(columns)
    }
}
