//! What PHEW found: labels of the cells, clumps and haloes, their tree, and new cuts of it.

use crate::api::meshes::CellPatches;
use crate::api::params::PhewParams;
use crate::api::session::Shared;
use crate::error::{Error, ErrorKind};
use crate::phew::hierarchy::{Structures, structures};
use crate::phew::peaks::Peaks;
use crate::phew::recut::cut_attributes;
use crate::phew::run::structure_tables;
use crate::phew::tables::PatchIds;
use inselberg_comm::{Comm, Reduce};
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, Table};
use inselberg_kernels::props::Structure;
use rayon::prelude::*;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

/// The identifier of a clump, the same on all ranks: from 1 by falling density of the peaks. A halo has the identifier of its
/// main clump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ClumpId(NonZeroU64);

impl ClumpId {
    /// From a number; `None` for 0, which stands for no clump in catalogues.
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The number, from 1.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

/// The clump and the halo of each given cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClumpLabels {
    clump: Vec<Option<ClumpId>>,
    halo: Vec<Option<ClumpId>>,
}

impl ClumpLabels {
    /// From identifiers of clump and halo; 0 for none.
    pub fn new(ids: &[[u64; 2]]) -> Self {
        let of = |kind: usize| ids.par_iter().map(|ids| ClumpId::new(ids[kind])).collect();
        Self { clump: of(0), halo: of(1) }
    }
}

/// What a call found, or a new cut of it.
pub(crate) struct CutResult {
    pub catalogue: CataloguePart,
    pub structures: Structures,
    pub peaks: Arc<Peaks>,
    pub patches: Arc<CellPatches>,
    pub params: PhewParams,
    pub labels: ClumpLabels,
    pub coverage: f64,
}

/// Clumps and haloes of a field.
///
/// Owns itself: it stays when the engine goes on to other fields. Over several ranks each rank has the labels of its own
/// cells and a range of the rows of each table.
pub struct Clumps {
    shared: Arc<Shared>,
    found: CutResult,
}

impl std::fmt::Debug for Clumps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clumps").field("n_clumps", &self.n_clumps()).finish_non_exhaustive()
    }
}

impl Clumps {
    pub(crate) fn new(shared: Arc<Shared>, found: CutResult) -> Self {
        Self { shared, found }
    }

    /// The clump of each cell of this rank, in the order of the cells. `None` for cells in no clump: split cells, cells not
    /// above the density threshold, and those of discarded patches.
    pub fn labels(&self) -> &[Option<ClumpId>] {
        &self.found.labels.clump
    }

    /// The halo of each cell of this rank, by the identifier of its main clump. As [`Self::labels`].
    pub fn halo_labels(&self) -> &[Option<ClumpId>] {
        &self.found.labels.halo
    }

    /// The part of the box that the leaves of all ranks cover: 1 where none was left out.
    ///
    /// Where it is less, there are gaps. They change nothing as long as all missing leaves are at or below the density
    /// threshold; clumps end at others.
    pub fn coverage(&self) -> f64 {
        self.found.coverage
    }

    /// Number of clumps listed on all ranks.
    pub fn n_clumps(&self) -> u64 {
        self.n_rows("clumps")
    }

    /// Number of haloes listed on all ranks.
    pub fn n_haloes(&self) -> u64 {
        self.n_rows("haloes")
    }

    fn n_rows(&self, table: &str) -> u64 {
        self.found.catalogue.table(table).expect("every catalogue has clumps and haloes").n_rows
    }

    /// The clumps whose rows this rank has, by identifier. Rows continue from rank to rank.
    pub fn local_clumps(&self) -> &[Structure] {
        &self.found.structures.clumps
    }

    /// The haloes whose rows this rank has, by identifier.
    pub fn local_haloes(&self) -> &[Structure] {
        &self.found.structures.haloes
    }

    /// The rows of a table that this rank has: `clumps`, `haloes`, `tree` (one row per peak), `cells` if asked for. Its columns
    /// have types, dimensions and descriptions. On a rank alone the whole table.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.found.catalogue.table(name).map(|part| &part.table)
    }

    /// What the catalogue says of its input, its parameters and its totals.
    pub fn attributes(&self) -> &[(String, Attribute)] {
        &self.found.catalogue.attributes
    }

    /// The parameters of this cut.
    pub fn params(&self) -> &PhewParams {
        &self.found.params
    }

    /// Collective: the whole catalogue on `rank`, `None` on the others.
    ///
    /// # Errors
    /// When there is no such rank, or a rank fails.
    pub fn gather(&self, rank: u32) -> Result<Option<Catalogue>, Error> {
        self.shared.gather(&self.found.catalogue, rank)
    }

    /// Collective: writes the catalogue to a file, whole or not at all. Its ending chooses the format: `.csv`, or `.hdf5` where
    /// the library is built with HDF5. All ranks name the same file; rank 0 writes it.
    ///
    /// # Errors
    /// When the file cannot be written, or a rank fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.shared.write(&self.found.catalogue, path.as_ref())
    }

    /// Collective: clumps and haloes under other thresholds, from the tree alone: as a call with these parameters finds them,
    /// bit for bit. Costs a sort of the peaks. The table of cells is left out.
    ///
    /// # Errors
    /// When a parameter is not valid, or differs in what cannot change: density threshold and rules.
    pub fn recut(&self, params: &PhewParams) -> Result<Self, Error> {
        let found = self.shared.call(|session| self.found.recut(params, session.comm))?;
        Ok(Self { shared: Arc::clone(&self.shared), found })
    }
}

impl CutResult {
    fn recut(&self, params: &PhewParams, comm: &Comm) -> Result<Self, Error> {
        params.check()?;
        let fixed = |p: &PhewParams| (p.density, p.rules, p.persistence.is_difference());
        if fixed(params) != fixed(&self.params) {
            let message = "a new cut changes the density threshold, the rules or the kind of persistence; \
                           expected those by which the cells were segmented";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let (thresholds, rules) = (params.thresholds(), params.rules);
        let found = structures(&self.peaks, &thresholds.cut(), thresholds.mass, rules, comm)?;
        let tables = structure_tables(&self.peaks, &found, rules, params.persistence, comm)?;
        let local = [found.clumps.len() as u64, found.haloes.len() as u64];
        let totals = comm.all_reduce_counts(&local, Reduce::Sum)?;
        let totals = [totals[0], totals[1], found.max_level];
        let attributes = cut_attributes(&self.catalogue.attributes, &thresholds, totals);
        let ids = PatchIds::new(&self.patches.known, &found, comm)?;
        let labels = ClumpLabels::new(&self.patches.labels(&ids, comm)?);
        Ok(Self {
            catalogue: CataloguePart { attributes, tables },
            structures: found,
            peaks: Arc::clone(&self.peaks),
            patches: Arc::clone(&self.patches),
            params: params.clone(),
            labels,
            coverage: self.coverage,
        })
    }
}
