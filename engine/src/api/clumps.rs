//! What PHEW found: labels of the cells, clumps and haloes, their tree, and new cuts of it.

use crate::api::meshes::CellPatches;
use crate::api::opened::OpenParticles;
use crate::api::params::PhewParams;
use crate::api::quantities::converted;
use crate::api::session::Shared;
use crate::api::slips::DataSpan;
use crate::error::{Error, ErrorKind};
use crate::phew::balance::Balance;
use crate::phew::below_zero::SearchThresholds;
use crate::phew::defaults::ThresholdsInForce;
use crate::phew::hierarchy::Structures;
use crate::phew::image;
use crate::phew::params::ThresholdUnits;
use crate::phew::peaks::Peaks;
use crate::phew::recut::cut_again;
use crate::phew::run::ChosenField;
use crate::phew::tables::PatchIds;
use crate::projection::{DensityMap, KeptLeaves, MapBox, Projection, View};
use crate::tables::input_notes_of;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, PartTable, Table};
use inselberg_io::params::InputScale;
use inselberg_io::staging::Staged;
use inselberg_kernels::props::Structure;
use rayon::prelude::*;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, OnceLock};

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

/// The clump and the halo of each given cell. Over several ranks they come with the call. A rank alone looks them up when they
/// are first asked for.
#[derive(Debug, Default)]
pub(crate) struct ClumpLabels {
    /// Of a rank alone.
    patches: Option<(Arc<CellPatches>, PatchIds)>,
    clump: OnceLock<Vec<Option<ClumpId>>>,
    halo: OnceLock<Vec<Option<ClumpId>>>,
}

impl ClumpLabels {
    /// Collective: of the patches with these identifiers.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(patches: &Arc<CellPatches>, ids: PatchIds, comm: &Comm) -> Result<Self, CommError> {
        if patches.are_here() {
            return Ok(Self { patches: Some((Arc::clone(patches), ids)), ..Self::default() });
        }
        let labels = patches.labels(&ids, comm)?;
        let of = |kind: usize| labels.par_iter().map(|ids| ClumpId::new(ids[kind])).collect::<Vec<_>>();
        Ok(Self { patches: None, clump: of(0).into(), halo: of(1).into() })
    }

    fn clump(&self) -> &[Option<ClumpId>] {
        self.clump.get_or_init(|| self.looked_up(|ids| &ids.clump))
    }

    fn halo(&self) -> &[Option<ClumpId>] {
        self.halo.get_or_init(|| self.looked_up(|ids| &ids.halo))
    }

    /// Nobody gave the cells of an output on disk: no labels.
    fn looked_up(&self, kind: impl Fn(&PatchIds) -> &Vec<u64>) -> Vec<Option<ClumpId>> {
        let Some((patches, ids)) = &self.patches else { return Vec::new() };
        patches.labels_here(kind(ids)).into_iter().map(ClumpId::new).collect()
    }
}

/// What a call found, or a new cut of it.
pub(crate) struct CutResult {
    pub catalogue: CataloguePart,
    pub structures: Structures,
    pub peaks: Arc<Peaks>,
    /// `None` for an output on disk, whose cells nobody gave.
    pub patches: Option<Arc<CellPatches>>,
    pub params: PhewParams,
    /// The units in which values of parameters may be given.
    pub scale: InputScale,
    /// The units of the thresholds in `params`.
    pub units: ThresholdUnits,
    pub labels: ClumpLabels,
    pub coverage: f64,
    /// The greatest density of any leaf on all ranks.
    pub densest: f64,
    /// What the data span, for thresholds that may be slips.
    pub span: DataSpan,
    /// On rank 0, where it is wanted.
    pub projection: Option<Projection>,
    /// The density of an output that was segmented.
    pub field: Option<ChosenField>,
    pub balance: Balance,
    /// The density of an output, where it is kept for maps.
    pub kept: Option<Arc<KeptLeaves>>,
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
    pub(crate) fn part(&self) -> &CataloguePart {
        &self.found.catalogue
    }

    pub(crate) fn new(shared: Arc<Shared>, found: CutResult) -> Self {
        Self { shared, found }
    }

    /// The clump of each cell of this rank, in the order of the cells. `None` for cells in no clump: split cells, cells not
    /// above the density threshold, and those of discarded patches.
    ///
    /// Empty for an output on disk. [`PhewParams::with_cells`] lists its cells in a table. On a rank alone the first call looks
    /// them up, for some nanoseconds and 8 bytes per cell.
    pub fn labels(&self) -> &[Option<ClumpId>] {
        let labels = &self.found.labels;
        labels.clump.get().map_or_else(|| self.shared.on_threads(|| labels.clump()), Vec::as_slice)
    }

    /// The halo of each cell of this rank, by the identifier of its main clump. As [`Self::labels`].
    pub fn halo_labels(&self) -> &[Option<ClumpId>] {
        let labels = &self.found.labels;
        labels.halo.get().map_or_else(|| self.shared.on_threads(|| labels.halo()), Vec::as_slice)
    }

    /// The part of the box that the leaves of all ranks cover: 1 where none was left out.
    ///
    /// Where it is less, there are gaps. They change nothing as long as all missing leaves are at or below the density
    /// threshold; clumps end at others.
    pub fn coverage(&self) -> f64 {
        self.found.coverage
    }

    /// What a user should know about a result that is right but may surprise: one line each, the same on all ranks.
    pub fn warnings(&self) -> Vec<String> {
        let CutResult { coverage, densest, peaks, params, .. } = &self.found;
        let mut lines = Vec::new();
        if *coverage < 1.0 {
            let percent = 100.0 * coverage;
            lines.push(format!(
                "the leaves fill {percent:.3} % of the box; places without a leaf count as not denser than the threshold"
            ));
        }
        if peaks.n_global == 0 {
            let threshold = params.thresholds().density * self.found.units.density;
            lines.push(format!(
                "no cell is denser than the density threshold {threshold}; the densest has {densest}"
            ));
        }
        lines.extend(self.slips());
        lines.extend(image::warning(self.attributes()));
        lines.extend(input_notes_of(self.attributes()).map(str::to_string));
        lines
    }

    /// Thresholds that no data are near, a line each with the range of the data: a density threshold below every cell, and a
    /// relevance ratio below 1. They are among [`Self::warnings`]. Callers who leave out cells that are not above the threshold
    /// hear nothing of the former.
    pub fn slips(&self) -> Vec<String> {
        let thresholds = self.found.params.thresholds();
        let density = thresholds.density * self.found.units.density;
        let is_whole = self.found.coverage == 1.0;
        self.found.span.lines(is_whole.then_some(density), thresholds.persistence)
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

    /// The rows of a table that this rank has: `clumps`, `haloes`, `tree` (one row per peak); `cells` and `particles` if asked
    /// for. Its columns have types, dimensions and descriptions. On a rank alone the whole table.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.found.catalogue.table(name).map(|part| &part.table)
    }

    /// The tables of the catalogue, each with the rows of this rank and the number of rows on all ranks.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = (&Table, u64)> {
        self.found.catalogue.tables.iter().map(|part| (&part.table, part.n_rows))
    }

    /// Adds texts to the attributes, the same on all ranks: which command made the catalogue. For the command line.
    #[doc(hidden)]
    pub fn add_attributes(&mut self, texts: impl IntoIterator<Item = (&'static str, String)>) {
        self.found.catalogue.add_texts(texts);
    }

    /// What the catalogue says of its input, its parameters and its totals.
    pub fn attributes(&self) -> &[(String, Attribute)] {
        &self.found.catalogue.attributes
    }

    /// The parameters of this cut.
    pub fn params(&self) -> &PhewParams {
        &self.found.params
    }

    /// The thresholds of this cut with their unit, and which of them are defaults.
    pub fn thresholds(&self) -> ThresholdsInForce {
        self.found.params.in_force(self.found.units.of)
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

    /// Collective: writes the properties in the layout of SOAP, which swiftsimio reads: to one file `.hdf5`, or to a folder if
    /// the name has no ending. `particles` are those that the call ran on. If the catalogue lists members, the folder also
    /// gets their memberships in the order of `particles`, where these are a snapshot by types and with identities. All ranks
    /// name the same place; rank 0 holds the tables and writes.
    ///
    /// # Errors
    /// When nothing was unbound, the library has no HDF5, a member is bound twice or not among the particles, the place cannot be written, or a
    /// rank fails.
    pub fn write_soap(
        &self,
        place: impl AsRef<Path>,
        particles: Option<&OpenParticles>,
    ) -> Result<(), Error> {
        let input = particles.map(OpenParticles::reader);
        self.shared.write_soap(&self.found.catalogue, place.as_ref(), input)
    }

    /// The density projected along z, on rank 0, where [`PhewParams::projection_level`] asked for it.
    pub fn projection(&self) -> Option<&Projection> {
        self.found.projection.as_ref()
    }

    /// Collective: the mean density along the line of sight, of any region and along any axis: one map for each view on rank 0,
    /// `None` on the others. The density of a mesh from particles is that of all its leaves.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`PhewParams::keep_density`] kept the density of an output, and for views that
    /// cannot be made. When a rank fails.
    pub fn maps(&self, views: &[View]) -> Result<Option<Vec<DensityMap>>, Error> {
        let kept = self.kept()?;
        self.shared.maps(&**kept, kept.space(), views)
    }

    /// The box of [`Self::maps`], and the side of the smallest leaf.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`PhewParams::keep_density`] kept the density of an output.
    pub fn map_box(&self) -> Result<(MapBox, f64), Error> {
        self.kept().map(|kept| (*kept.space(), kept.finest()))
    }

    fn kept(&self) -> Result<&Arc<KeptLeaves>, Error> {
        let missing = || {
            let message =
                "maps of a density that was not kept; expected an output on disk and `keep_density`";
            Error::new(ErrorKind::InvalidArgument, message)
        };
        self.found.kept.as_ref().ok_or_else(missing)
    }

    /// Frees what [`PhewParams::keep_density`] kept.
    #[doc(hidden)]
    pub fn forget_density(&mut self) {
        self.found.kept = None;
    }

    /// The density of an output that was segmented, and those that it was chosen from.
    #[doc(hidden)]
    pub fn field(&self) -> Option<&ChosenField> {
        self.found.field.as_ref()
    }

    /// The distribution of the work over the ranks.
    #[doc(hidden)]
    pub fn balance(&self) -> Balance {
        self.found.balance
    }

    /// The greatest density of any leaf on all ranks.
    #[doc(hidden)]
    pub fn densest(&self) -> f64 {
        self.found.densest
    }

    /// Collective: stages the catalogue; rank 0 gets the file. For the command line, whose files get their names together.
    #[doc(hidden)]
    pub fn stage(&self, path: &Path) -> Result<Staged, Error> {
        self.shared.stage(&self.found.catalogue, path)
    }

    /// Collective: attributes and those tables of these names that there are, on rank 0.
    #[doc(hidden)]
    pub fn gather_tables(&self, names: &[&str]) -> Result<Option<Catalogue>, Error> {
        let CataloguePart { attributes, tables } = &self.found.catalogue;
        let is_wanted = |part: &&PartTable| names.contains(&part.table.name.as_str());
        let tables = tables.iter().filter(is_wanted).cloned().collect();
        self.shared.gather(&CataloguePart { attributes: attributes.clone(), tables }, 0)
    }

    /// Collective: clumps and haloes under other thresholds, from the tree alone: as a call with these parameters finds them,
    /// bit for bit. Costs a sort of the peaks. The tables of cells and particles are left out, and what
    /// is bound.
    ///
    /// # Errors
    /// When a parameter is not valid, or differs in what cannot change: density threshold and rules.
    pub fn recut(&self, params: &PhewParams) -> Result<Self, Error> {
        let found = self.shared.call(|session| {
            session.check_same("parameters", params)?;
            self.found.recut(params, session.comm)
        })?;
        Ok(Self { shared: Arc::clone(&self.shared), found })
    }
}

impl CutResult {
    fn recut(&self, params: &PhewParams, comm: &Comm) -> Result<Self, Error> {
        let params = converted(params, &self.scale)?;
        let params = &PhewParams { is_on_mesh: self.params.is_on_mesh, ..params };
        params.check_on_cells()?;
        let fixed = |p: &PhewParams| {
            let thresholds = p.thresholds();
            (thresholds.density, p.rules, p.bound.central, thresholds.persistence.is_difference())
        };
        if fixed(params) != fixed(&self.params) {
            let message = "a new cut changes the density threshold, the rules, the choice of centrals or the kind of persistence; \
                           expected those by which the cells were segmented";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        if params.significance.is_some() && self.peaks.prominence.is_none() {
            let message = "a new cut has a significance; expected none where no particles make the density";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let search = SearchThresholds::new(params.thresholds().in_code_units(self.units));
        let by = (params.rules, params.bound.central);
        let (mut catalogue, found) = cut_again(&self.peaks, &search, by, &self.catalogue.attributes, comm)?;
        params.in_force(self.units.of).update(&mut catalogue.attributes);
        let labels = match &self.patches {
            Some(patches) => ClumpLabels::new(patches, PatchIds::new(&patches.known, &found, comm)?, comm)?,
            None => ClumpLabels::default(),
        };
        Ok(Self {
            catalogue,
            structures: found,
            peaks: Arc::clone(&self.peaks),
            patches: self.patches.clone(),
            params: params.clone(),
            scale: self.scale.clone(),
            units: self.units,
            labels,
            coverage: self.coverage,
            densest: self.densest,
            span: DataSpan::SOUND,
            projection: None,
            field: self.field.clone(),
            balance: self.balance,
            kept: self.kept.clone(),
        })
    }
}
