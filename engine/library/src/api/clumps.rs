//! What PHEW found: labels of the cells, clumps and haloes, their tree, and new cuts of it.

use crate::api::call::Call;
use crate::api::found::FoundCatalogue;
use crate::api::meshes::CellPatches;
use crate::api::params::PhewParams;
use crate::api::quantities::converted;
use crate::api::slips::DataSpan;
use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::phew::balance::Balance;
use crate::phew::below_zero::SearchThresholds;
use crate::phew::defaults::ThresholdsInForce;
use crate::phew::hierarchy::Structures;
use crate::phew::image::{self, LabelsOf};
use crate::phew::params::ThresholdUnits;
use crate::phew::peaks::Peaks;
use crate::phew::recut::cut_again;
use crate::phew::run::ChosenField;
use crate::phew::tables::PatchIds;
use crate::tables::input_notes_of;
use inselberg_comm::{Comm, CommError};
use inselberg_io::params::InputScale;
use inselberg_kernels::props::Structure;
use rayon::prelude::*;
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// The identifier of a clump, the same on all ranks: from 1 by falling density of the peaks. A halo has the
/// identifier of its main clump.
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

/// The clump and the halo of each given cell. Over several ranks they come with the call. A rank alone looks
/// them up when they are first asked for.
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

/// Clumps and haloes of a field: a [`FoundCatalogue`] with labels, and new cuts of it.
///
/// Owns itself: it stays when the engine goes on to other fields. Over several ranks each rank has the labels
/// of its own cells and a range of the rows of each table.
pub struct Clumps {
    pub(crate) catalogue: FoundCatalogue,
    pub(crate) structures: Structures,
    pub(crate) peaks: Arc<Peaks>,
    /// `None` for an output on disk, whose cells nobody gave.
    pub(crate) patches: Option<Arc<CellPatches>>,
    pub(crate) params: PhewParams,
    /// The units in which values of parameters may be given.
    pub(crate) scale: InputScale,
    /// The units of the thresholds in `params`.
    pub(crate) units: ThresholdUnits,
    pub(crate) labels: ClumpLabels,
    pub(crate) coverage: f64,
    /// The greatest density of any leaf on all ranks.
    pub(crate) densest: f64,
    /// What the data span, for thresholds that may be slips.
    pub(crate) span: DataSpan,
    /// The density of an output that was segmented.
    pub(crate) field: Option<ChosenField>,
    pub(crate) balance: Balance,
}

/// Why there are no maps.
pub(crate) const NO_MAPS: &str =
    "maps of a density that was not kept; expected an output on disk and `keep_density`";

impl std::fmt::Debug for Clumps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clumps").field("n_clumps", &self.n_clumps()).finish_non_exhaustive()
    }
}

impl Deref for Clumps {
    type Target = FoundCatalogue;

    fn deref(&self) -> &FoundCatalogue {
        &self.catalogue
    }
}

impl DerefMut for Clumps {
    fn deref_mut(&mut self) -> &mut FoundCatalogue {
        &mut self.catalogue
    }
}

impl Clumps {
    /// The clump of each cell of this rank, in the order of the cells. `None` for cells in no clump: split
    /// cells, cells not above the density threshold, and those of discarded patches.
    ///
    /// Empty for an output on disk. [`PhewParams::with_cells`] lists its cells in a table. On a rank alone
    /// the first call looks them up, for some nanoseconds and 8 bytes per cell.
    pub fn labels(&self) -> &[Option<ClumpId>] {
        let labels = &self.labels;
        labels.clump.get().map_or_else(|| self.shared().on_threads(|| labels.clump()), Vec::as_slice)
    }

    /// The halo of each cell of this rank, by the identifier of its main clump. As [`Self::labels`].
    pub fn halo_labels(&self) -> &[Option<ClumpId>] {
        let labels = &self.labels;
        labels.halo.get().map_or_else(|| self.shared().on_threads(|| labels.halo()), Vec::as_slice)
    }

    /// Collective: the clump whose peak each cell of this rank is, in the order of the cells; `None` for all
    /// other cells. Each clump that a cell of [`Self::labels`] names has one such cell, on one rank.
    ///
    /// # Errors
    /// When nobody gave the cells, as for an output on disk; when a rank fails.
    pub fn peak_labels(&self) -> Result<Vec<Option<ClumpId>>, Error> {
        let without = || {
            Error::new(
                ErrorKind::InvalidArgument,
                "peaks of cells that nobody gave; expected cells in memory",
            )
        };
        self.shared().call(&Call::new("peak_labels"), |session| {
            let patches = self.patches.as_ref().ok_or_else(without)?;
            let of_peaks = self.structures.clump_of_its_peak(session.comm)?;
            let labels = patches.at_peaks(&of_peaks, session.comm)?;
            Ok(labels.into_iter().map(ClumpId::new).collect())
        })
    }

    /// Collective: sums of a program's values over the cells of each clump or halo, by the labels that this
    /// result has. A column has a name and one value per cell of this rank; values of cells without a label
    /// do not count. Returns, for each column, one sum for each row of this rank of the table. The sums have
    /// the same bits on any number of ranks and threads.
    ///
    /// # Errors
    /// When a column has not one value per cell, a cell with a label has no finite one, or ranks name other
    /// columns; when a rank fails.
    pub fn sums(&self, of: LabelsOf, columns: &[(&str, Column)]) -> Result<Vec<Vec<f64>>, Error> {
        let labels = match of {
            LabelsOf::Clumps => self.labels(),
            LabelsOf::Haloes => self.halo_labels(),
        };
        let label = |cell: usize| labels[cell].map_or(0, ClumpId::get);
        self.catalogue.sums(of.table(), (labels.len(), &label), columns)
    }

    /// The part of the box that the leaves of all ranks cover: 1 where none was left out.
    ///
    /// Where it is less, there are gaps. They change nothing as long as all missing leaves are at or below
    /// the density threshold; clumps end at others.
    pub fn coverage(&self) -> f64 {
        self.coverage
    }

    /// What a user should know about a result that is right but may surprise: one line each, the same on all
    /// ranks.
    pub fn warnings(&self) -> Vec<String> {
        let Self { coverage, densest, peaks, params, .. } = self;
        let mut lines = Vec::new();
        if *coverage < 1.0 {
            let percent = 100.0 * coverage;
            lines.push(format!(
                "the leaves fill {percent:.3} % of the box; places without a leaf count as not denser than the threshold"
            ));
        }
        if peaks.n_global == 0 {
            let threshold = params.thresholds().density * self.units.density;
            lines.push(format!(
                "no cell is denser than the density threshold {threshold}; the densest has {densest}"
            ));
        }
        lines.extend(self.slips());
        lines.extend(image::warning(self.attributes()));
        lines.extend(input_notes_of(self.attributes()).map(str::to_string));
        lines
    }

    /// Thresholds that no data are near, a line each with the range of the data: a density threshold below
    /// every cell, and a relevance ratio below 1. They are among [`Self::warnings`]. Callers who leave out
    /// cells that are not above the threshold get no line about the former.
    pub fn slips(&self) -> Vec<String> {
        let thresholds = self.params.thresholds();
        let density = thresholds.density * self.units.density;
        let is_whole = self.coverage == 1.0;
        self.span.lines(is_whole.then_some(density), thresholds.persistence)
    }

    /// Number of clumps listed on all ranks.
    pub fn n_clumps(&self) -> u64 {
        self.n_rows("clumps")
    }

    /// Number of haloes listed on all ranks.
    pub fn n_haloes(&self) -> u64 {
        self.n_rows("haloes")
    }

    /// The clumps whose rows this rank has, by identifier. Rows continue from rank to rank.
    pub fn local_clumps(&self) -> &[Structure] {
        &self.structures.clumps
    }

    /// The haloes whose rows this rank has, by identifier.
    pub fn local_haloes(&self) -> &[Structure] {
        &self.structures.haloes
    }

    /// The parameters of this cut.
    pub fn params(&self) -> &PhewParams {
        &self.params
    }

    /// The thresholds of this cut with their unit, and which of them are defaults.
    pub fn thresholds(&self) -> ThresholdsInForce {
        self.params.in_force(self.units.of)
    }

    /// The density of an output that was segmented, and those that it was chosen from.
    #[doc(hidden)]
    pub fn field(&self) -> Option<&ChosenField> {
        self.field.as_ref()
    }

    /// The distribution of the work over the ranks.
    #[doc(hidden)]
    pub fn balance(&self) -> Balance {
        self.balance
    }

    /// The greatest density of any leaf on all ranks.
    #[doc(hidden)]
    pub fn densest(&self) -> f64 {
        self.densest
    }

    /// Collective: clumps and haloes under other thresholds, from the tree alone: as a call with these
    /// parameters finds them, bit for bit. Costs a sort of the peaks. The tables of cells and particles are
    /// left out, and what is bound.
    ///
    /// # Errors
    /// When a parameter is not valid, or differs in what cannot change: density threshold and rules.
    pub fn recut(&self, params: &PhewParams) -> Result<Self, Error> {
        self.shared().call(&Call::new("recut").params(params), |session| self.cut_again(params, session.comm))
    }

    fn cut_again(&self, params: &PhewParams, comm: &Comm) -> Result<Self, Error> {
        let params = converted(params, &self.scale)?;
        let mut params = PhewParams { is_on_mesh: self.params.is_on_mesh, ..params };
        params.image.known.clone_from(&self.params.image.known);
        let params = &params;
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
        let by = (params.rules, params.bound.central, params.stability);
        let (mut catalogue, found) = cut_again(&self.peaks, &search, by, (self.attributes(), None), comm)?;
        params.in_force(self.units.of).update(&mut catalogue.attributes);
        let labels = match &self.patches {
            Some(patches) => ClumpLabels::new(patches, PatchIds::new(&patches.known, &found, comm)?, comm)?,
            None => ClumpLabels::default(),
        };
        Ok(Self {
            catalogue: self.catalogue.cut(catalogue),
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
            field: self.field.clone(),
            balance: self.balance,
        })
    }
}
