//! Merger trees: catalogues linked one after another.

use crate::api::cells::Geometry;
use crate::api::clumps::Clumps;
use crate::api::groups::FofGroups;
use crate::api::session::{Session, Shared};
use crate::error::{Error, ErrorKind};
use crate::tables::{AttributeList, column, in_order};
use crate::trees::linker::TreeLinker;
use crate::trees::series::SeriesOrder;
use crate::trees::{TreeError, memory_output};
use inselberg_comm::Comm;
use inselberg_comm::agree::agree;
use inselberg_io::catalogue::{Catalogue, CataloguePart, Dimension, Table, Values};
use inselberg_io::staging::Staged;
use inselberg_kernels::trees::history::HistoryParams;
use inselberg_kernels::trees::tracer::MOST_TRACERS;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What decides a merger tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeParams {
    /// Number of outputs in which an object may be missing. 4 by default.
    pub gap: u64,
    /// Number of most bound dark matter and star members that are compared, 1 to 2^20. 40 by default.
    pub tracers: u64,
    /// Whether the most bound member of an object that is gone is followed until it merges. So by default.
    pub orphans: bool,
}

impl Default for TreeParams {
    fn default() -> Self {
        let HistoryParams { gap, n_tracers, orphans } = HistoryParams::default();
        Self { gap: gap as u64, tracers: u64::from(n_tracers), orphans }
    }
}

impl TreeParams {
    /// Number of outputs in which an object may be missing.
    #[must_use]
    pub fn gap(self, gap: u64) -> Self {
        Self { gap, ..self }
    }

    /// Number of most bound members that are compared.
    #[must_use]
    pub fn tracers(self, tracers: u64) -> Self {
        Self { tracers, ..self }
    }

    /// Whether orphans are followed.
    #[must_use]
    pub fn orphans(self, orphans: bool) -> Self {
        Self { orphans, ..self }
    }

    fn checked(&self) -> Result<HistoryParams, Error> {
        let n_tracers = u32::try_from(self.tracers).unwrap_or(u32::MAX);
        if !(1..=MOST_TRACERS).contains(&n_tracers) {
            let message = format!("{} tracers; expected 1 to {MOST_TRACERS}", self.tracers);
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(HistoryParams {
            gap: usize::try_from(self.gap).unwrap_or(usize::MAX),
            n_tracers,
            orphans: self.orphans,
        })
    }
}

/// An object that a program has found itself, with its bound members.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TreeObject<'a> {
    /// Its identifier, below 2^40.
    pub id: u64,
    /// The object that it is in; its own identifier if it is in none.
    pub parent: u64,
    /// Its mass, in the caller's units.
    pub mass: f64,
    /// Its position.
    pub position: [f64; 3],
    /// Its velocity.
    pub velocity: [f64; 3],
    /// Identities of its members, the most bound first.
    pub members: &'a [i64],
    /// Their types: 0 gas, 1 dark matter, 4 stars, 5 other. `None`: all are dark matter.
    pub types: Option<&'a [u8]>,
}

impl<'a> TreeObject<'a> {
    /// With dark matter members, the most bound first. In no other object, with mass, position and velocity 0.
    pub fn new(id: u64, members: &'a [i64]) -> Self {
        Self { id, parent: id, mass: 0.0, position: [0.0; 3], velocity: [0.0; 3], members, types: None }
    }

    /// In the object with this identifier.
    #[must_use]
    pub fn parent(self, parent: u64) -> Self {
        Self { parent, ..self }
    }

    /// With this mass.
    #[must_use]
    pub fn mass(self, mass: f64) -> Self {
        Self { mass, ..self }
    }

    /// At this position, with this velocity.
    #[must_use]
    pub fn place(self, position: [f64; 3], velocity: [f64; 3]) -> Self {
        Self { position, velocity, ..self }
    }

    /// With members of these types.
    #[must_use]
    pub fn types(self, types: &'a [u8]) -> Self {
        Self { types: Some(types), ..self }
    }
}

/// Collective: objects as the catalogue of a search.
///
/// # Errors
/// An object has not as many types as members; when a rank fails.
fn part_of(
    number: u64,
    space: &Geometry,
    objects: &[TreeObject<'_>],
    comm: &Comm,
) -> Result<CataloguePart, TreeError> {
    let uneven =
        objects.iter().find(|object| object.types.is_some_and(|types| types.len() != object.members.len()));
    let checked = uneven.map_or(Ok(()), |object| {
        let problem = format!("object {} has {} members", object.id, object.members.len());
        Err(TreeError::of(&format!("output {number}"), problem, "as many types"))
    });
    agree(comm, checked)?;
    let mut list = AttributeList::new();
    list.text("input_format", "objects of a program");
    list.real("time", space.time);
    list.real("boxlen", space.side);
    list.reals("coarse_cells", &space.coarse.map(f64::from));
    if let Some(units) = &space.units {
        list.units(units);
    }
    if let Some(cosmology) = &space.cosmology {
        list.cosmology(cosmology);
    }
    let none = Dimension::NONE;
    let mut next = comm.sum_before(objects.iter().map(|object| object.members.len() as u64).sum())?;
    let offset = |object: &TreeObject| {
        let first = next;
        next += object.members.len() as u64;
        first
    };
    let offsets = objects.iter().map(offset).collect();
    let counts = |of: fn(&TreeObject) -> u64| Values::U64(objects.iter().map(of).collect());
    let vectors = |of: fn(&TreeObject) -> [f64; 3]| Values::F64x3(objects.iter().map(of).collect());
    let columns = vec![
        column("id", none, "", counts(|object| object.id)),
        column("parent", none, "", counts(|object| object.parent)),
        column("n_bound", none, "", counts(|object| object.members.len() as u64)),
        column("members_offset", none, "", Values::U64(offsets)),
        column(
            "bound_mass",
            Dimension::MASS,
            "",
            Values::F64(objects.iter().map(|object| object.mass).collect()),
        ),
        column("most_bound_position", Dimension::LENGTH, "", vectors(|object| object.position)),
        column("bound_velocity", Dimension::VELOCITY, "", vectors(|object| object.velocity)),
    ];
    let ids = objects.iter().flat_map(|object| object.members).copied().collect();
    let types = |object: &TreeObject| object.types.map_or(vec![1; object.members.len()], <[u8]>::to_vec);
    let members = vec![
        column("id", none, "", Values::I64(ids)),
        column("type", none, "", Values::U8(objects.iter().flat_map(types).collect())),
    ];
    let tables = vec![
        in_order(Table { name: "clumps".into(), columns }, comm)?,
        in_order(Table { name: "members".into(), columns: members }, comm)?,
    ];
    Ok(CataloguePart { attributes: list.into_attributes(), tables })
}

/// A merger tree that grows output by output. Over several ranks each keeps the members whose identities belong to it, 16 bytes
/// per dark matter or star member of the last output, and rank 0 keeps the history.
///
/// ```
/// use inselberg::{Engine, Geometry, TreeObject, TreeParams};
///
/// let mut engine = Engine::builder().threads(1).build()?;
/// let mut tree = engine.trees(&TreeParams::default())?;
/// let (host, satellite) = ([1, 2, 3, 4], [11, 12, 13]);
/// let space = Geometry::cube(1.0);
/// tree.add_objects(1, &space, &[TreeObject::new(1, &host), TreeObject::new(2, &satellite).parent(1)])?;
/// tree.add_objects(2, &space.clone().time(0.1), &[TreeObject::new(5, &satellite), TreeObject::new(6, &host)])?;
/// let catalogue = tree.catalogue().expect("one rank has everything");
/// let nodes = catalogue.table("nodes").expect("a table of nodes");
/// assert_eq!(nodes.integers("descendant"), Some(vec![3, 2, -1, -1]));
/// assert_eq!(nodes.counts("track").map(|track| track[2]), Some((1 << 40) + 2));
/// # Ok::<(), inselberg::Error>(())
/// ```
pub struct MergerTree {
    shared: Arc<Shared>,
    linker: TreeLinker,
}

impl std::fmt::Debug for MergerTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MergerTree").finish_non_exhaustive()
    }
}

/// Collective: an empty tree.
pub(crate) fn begin(shared: &Arc<Shared>, params: &TreeParams) -> Result<MergerTree, Error> {
    let linker = shared.call(|session: Session<'_>| {
        session.check_same("parameters", params)?;
        Ok(TreeLinker::new(params.checked()?, session.comm)?)
    })?;
    Ok(MergerTree { shared: Arc::clone(shared), linker })
}

impl MergerTree {
    /// Collective: adds the catalogues in files, which may be in any order: they are sorted by what they say of their time. They
    /// are of `phew --unbind --with-members` or of `fof --properties bound --with-members`. Each rank reads a share of the
    /// members.
    ///
    /// Returns the order of the files, on rank 0 with what they were sorted by.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if a file cannot be read. [`ErrorKind::InvalidArgument`] if one has no members, is of another run or
    /// kind, is not later than the outputs so far, or lists a particle twice. All ranks return the same error.
    pub fn add_files(&mut self, paths: &[impl AsRef<Path>]) -> Result<SeriesOrder, Error> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        let linker = &mut self.linker;
        self.shared.call(|session| Ok(linker.add_files(&paths, session.comm, session.executor.observer())?))
    }

    /// Collective: adds clumps that were found with bound members ([`crate::BoundRequest`]) in an output with this number.
    ///
    /// # Errors
    /// As [`Self::add_files`].
    pub fn add_clumps(&mut self, clumps: &Clumps, number: u64) -> Result<(), Error> {
        self.add_part(clumps.part(), number)
    }

    /// Collective: adds groups that were found with bound members in an output with this number.
    ///
    /// # Errors
    /// As [`Self::add_files`].
    pub fn add_groups(&mut self, groups: &FofGroups, number: u64) -> Result<(), Error> {
        self.add_part(groups.part(), number)
    }

    /// Collective: adds an output with this number, whose objects a program has found itself. Each object is on one rank, with
    /// all its members. `space` tells its time, units and cosmology.
    ///
    /// # Errors
    /// As [`Self::add_files`], and if an object has not as many types as members.
    pub fn add_objects(
        &mut self,
        number: u64,
        space: &Geometry,
        objects: &[TreeObject<'_>],
    ) -> Result<(), Error> {
        let linker = &mut self.linker;
        self.shared.call(|session| {
            session.check_same("number and geometry", &(number, space))?;
            let part = part_of(number, space, objects, session.comm)?;
            let output = memory_output(&part, number, session.comm)?;
            Ok(output.add_to(linker, session.comm, session.executor.observer())?)
        })
    }

    fn add_part(&mut self, part: &CataloguePart, number: u64) -> Result<(), Error> {
        let linker = &mut self.linker;
        self.shared.call(|session| {
            let output = memory_output(part, number, session.comm)?;
            output.add_to(linker, session.comm, session.executor.observer())?;
            Ok(())
        })
    }

    /// Number of outputs so far. Local.
    pub fn n_outputs(&self) -> usize {
        self.linker.n_outputs()
    }

    /// Local: the tree so far as a catalogue with the tables `snapshots` and `nodes`; `None` on all ranks but rank 0.
    pub fn catalogue(&self) -> Option<Catalogue> {
        self.linker.is_first().then(|| self.linker.catalogue())
    }

    /// Collective: writes the tree so far to a file. More outputs may follow.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.stage(path, &[])?.commit().map_err(Error::from)
    }

    /// Collective: as [`Self::write`], but rank 0 gets the staged file, with more attributes.
    ///
    /// # Errors
    /// As [`Self::write`].
    #[doc(hidden)]
    pub fn stage(
        &self,
        path: impl AsRef<Path>,
        attributes: &[(String, crate::Attribute)],
    ) -> Result<Staged, Error> {
        let path = path.as_ref();
        self.shared.call(|_| {
            let Some(mut catalogue) = self.catalogue() else { return Ok(Staged::default()) };
            catalogue.attributes.extend(attributes.iter().cloned());
            Ok(inselberg_io::catalogue::stage(path, &catalogue)?)
        })
    }
}
