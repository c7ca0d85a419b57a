//! Merger trees: catalogues linked one after another.

use crate::api::call::Call;
use crate::api::cells::Geometry;
use crate::api::clumps::Clumps;
use crate::api::groups::FofGroups;
use crate::api::params::TreeParams;
use crate::api::session::{Part, Session, Shared};
use crate::api::tree_objects::{FlatObjects, TreeColumns, TreeObject};
use crate::error::Error;
use crate::trees::linker::TreeLinker;
use crate::trees::memory_output;
use crate::trees::series::SeriesOrder;
use inselberg_io::catalogue::{Catalogue, CataloguePart};
use inselberg_io::staging::Staged;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A merger tree that grows output by output. Over several ranks each keeps the members whose identities
/// belong to it, 16 bytes per dark matter or star member of the last output, and rank 0 keeps the history.
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
    let linker = shared.call(&Call::new("tree_begin").params(params), |session: Session<'_>| {
        Ok(TreeLinker::new(params.checked()?, session.comm)?)
    })?;
    Ok(MergerTree { shared: Arc::clone(shared), linker })
}

impl MergerTree {
    /// Collective: adds the catalogues in files, which may be in any order: they are sorted by their time.
    /// They are of `phew --unbind --with-members` or of `fof --properties bound --with-members`. Each rank
    /// reads a share of the members.
    ///
    /// Returns the order of the files, and on rank 0 the quantity by which they were sorted.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Read`] if a file cannot be read. [`crate::ErrorKind::InvalidArgument`] if one has
    /// no members, is of another run or kind, is not later than the outputs so far, or lists a particle
    /// twice. All ranks return the same error.
    pub fn add_files(&mut self, paths: &[impl AsRef<Path>]) -> Result<SeriesOrder, Error> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        let linker = &mut self.linker;
        self.shared.call(&Call::new("add_files"), |session| {
            Ok(linker.add_files(&paths, session.comm, session.executor.observer())?)
        })
    }

    /// Collective: adds clumps that were found with bound members ([`crate::BoundRequest`]) in an output with
    /// this number.
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

    /// Collective: adds an output with this number, whose objects a program has found itself. Each object is
    /// on one rank, with all its members. `space` states its time, units and cosmology.
    ///
    /// # Errors
    /// As [`Self::add_files`], and if an object has not as many types as members.
    pub fn add_objects(
        &mut self,
        number: u64,
        space: &Geometry,
        objects: &[TreeObject<'_>],
    ) -> Result<(), Error> {
        self.add_flat(number, space, || FlatObjects::of_objects(objects))
    }

    /// Collective: as [`Self::add_objects`], with objects and members in columns. The members are copied
    /// once.
    ///
    /// # Errors
    /// As [`Self::add_files`], and if columns differ in length, or have invalid identifiers, numbers of
    /// members or types.
    pub fn add_columns(
        &mut self,
        number: u64,
        space: &Geometry,
        columns: &TreeColumns<'_>,
    ) -> Result<(), Error> {
        self.add_flat(number, space, || FlatObjects::of_columns(columns))
    }

    fn add_flat(
        &mut self,
        number: u64,
        space: &Geometry,
        objects: impl FnOnce() -> Result<FlatObjects, Error> + Send,
    ) -> Result<(), Error> {
        let linker = &mut self.linker;
        let call = Call::new("tree_add").same("number", &number).geometry(space);
        self.shared.call(&call, |session| {
            space.check()?;
            let part = objects()?.part(space, session.comm)?;
            let output = memory_output(&part, number, session.comm)?;
            Ok(output.add_to(linker, session.comm, session.executor.observer())?)
        })
    }

    fn add_part(&mut self, part: &CataloguePart, number: u64) -> Result<(), Error> {
        let linker = &mut self.linker;
        self.shared.call(&Call::new("tree_add").same("number", &number), |session| {
            let output = memory_output(part, number, session.comm)?;
            output.add_to(linker, session.comm, session.executor.observer())?;
            Ok(())
        })
    }

    /// Collective: work of the caller before a call, as [`crate::Engine::agree_beside`].
    ///
    /// # Errors
    /// When a rank has an error, makes another call, or fails.
    pub fn agree_beside<T: Send>(
        &mut self,
        call: &'static str,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        self.shared.make(&Call::new(call), Part::Beside, |_| work())
    }

    /// Local: as [`crate::Engine::missed`].
    pub fn missed(&mut self, n_calls: u64) {
        self.shared.missed(n_calls);
    }

    /// Number of outputs so far. Local.
    pub fn n_outputs(&self) -> usize {
        self.linker.n_outputs()
    }

    /// Local: the tree so far as a catalogue with the tables `snapshots` and `nodes`; `None` on all ranks but
    /// rank 0.
    pub fn catalogue(&self) -> Option<Catalogue> {
        self.linker.is_first().then(|| self.linker.catalogue())
    }

    /// Collective: writes the tree so far to a file. More outputs may follow.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Write`] if the file cannot be written.
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
        self.shared.call(&Call::new("tree_write").same("place", &path), |_| {
            let Some(mut catalogue) = self.catalogue() else { return Ok(Staged::default()) };
            catalogue.attributes.extend(attributes.iter().cloned());
            Ok(inselberg_io::catalogue::stage(path, &catalogue)?)
        })
    }
}
