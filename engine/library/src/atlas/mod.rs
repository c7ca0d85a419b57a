//! What does each threshold do? A stored tree is cut at many values of each, and of pairs.
//!
//! | step | file |
//! |---|---|
//! | the thresholds, and the values that are tried | `families` |
//! | the numbers of one cut | `numbers` |
//! | where numbers change little | `plateaus` |
//! | the tree for a page that cuts it again | `compact` |
//! | all numbers as tables | `tables` |
//! | parameters | `params` |
//!
//! ```text
//!   every rank:  catalogue ──► tree ──► its share of the thresholds ──► one cut each, as `recut` makes it
//!   rank 0:      numbers of all cuts ──► plateaus, tables
//! ```
//!
//! The threads of a rank divide its cuts. Every cut is made by one rank alone, so the numbers are the same on
//! any number of ranks and threads. Nothing here knows formats of files or draws.

mod compact;
mod families;
mod numbers;
mod params;
mod plateaus;
mod tables;

pub use compact::CompactTree;
pub use families::{GridUnits, VariedThreshold};
pub use numbers::{CutNumbers, MassBins};
pub use params::AtlasParams;
pub use plateaus::{CountedObjects, Plateau, TOLERANCE, slopes};

use crate::error::{Error, ErrorKind};
use crate::phew::params::Thresholds;
use crate::phew::recut::StoredTree;
use crate::phew::tables::RecutError;
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::agree::{AgreeError, agree};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_io::catalogue::{Attribute, Catalogue};
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::sums::MASS;
use rayon::prelude::*;

/// What each threshold of a catalogue does.
#[derive(Debug)]
#[non_exhaustive]
pub struct ThresholdAtlas {
    /// The attributes of the catalogue.
    pub attributes: Vec<(String, Attribute)>,
    /// How persistence is measured, with the threshold of the catalogue in the unit of `recut`.
    pub persistence: Persistence,
    /// The numbers of the catalogue's own thresholds.
    pub own: CutNumbers,
    /// One threshold varies, the others are those of the catalogue.
    pub lines: Vec<AtlasLine>,
    /// Two thresholds vary.
    pub planes: Vec<AtlasPlane>,
    /// The bins of mass functions.
    pub bins: MassBins,
    /// The mass of all patches: everything above the density threshold (code units).
    pub mass_above: f64,
    /// Birth and death of each peak, the most persistent first; a peak that never dies has a death at the
    /// density threshold. As searched: lifted where the density threshold is below 0.
    pub bars: Vec<PeakBar>,
    /// The tree in a compact form; `None` under RAMSES's rules.
    pub tree: Option<CompactTree>,
    /// The units of thresholds.
    pub units: GridUnits,
}

/// Numbers along one threshold.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AtlasLine {
    /// The threshold.
    pub varied: VariedThreshold,
    /// Its values, ascending, in the unit in which `recut` takes it.
    pub values: Vec<f64>,
    /// The value of the catalogue; `None` without such a threshold.
    pub own: Option<f64>,
    /// The numbers at each value.
    pub cuts: Vec<CutNumbers>,
    /// Where the numbers of clumps and of haloes change little.
    pub plateaus: Vec<Plateau>,
}

/// Numbers over two thresholds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AtlasPlane {
    /// The two thresholds.
    pub varied: [VariedThreshold; 2],
    /// Their values, ascending.
    pub values: [Vec<f64>; 2],
    /// The numbers: for each value of the first threshold, all values of the second one.
    pub cuts: Vec<CutNumbers>,
}

/// Birth and death of a peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakBar {
    /// Its density.
    pub birth: f64,
    /// The saddle at which its component meets a greater peak, or the density threshold.
    pub death: f64,
    /// Whether it meets one.
    pub dies: bool,
}

impl AtlasLine {
    fn add_plateaus(&mut self) {
        for counted in counted_along(self.varied) {
            let found = plateaus::plateaus(*counted, &self.values, &self.counts(*counted), self.own);
            self.plateaus.extend(found);
        }
    }

    /// The numbers of clumps or of haloes.
    pub fn counts(&self, of: CountedObjects) -> Vec<u64> {
        let count = |cut: &CutNumbers| match of {
            CountedObjects::Clumps => cut.n_clumps,
            CountedObjects::Haloes => cut.n_haloes,
        };
        self.cuts.iter().map(count).collect()
    }
}

/// The thresholds that an atlas tries.
struct AtlasGrid {
    /// A threshold, its values, and that of the catalogue.
    lines: Vec<(VariedThreshold, Vec<f64>, Option<f64>)>,
    /// Two thresholds and their values.
    planes: Vec<([VariedThreshold; 2], [Vec<f64>; 2])>,
}

impl AtlasGrid {
    fn new(tree: &StoredTree, params: &AtlasParams) -> Self {
        let units = GridUnits::new(&tree.header);
        let own = tree.structures(&tree.thresholds);
        let masses: Vec<f64> = own.haloes.iter().map(|halo| halo.mass).collect();
        let ends = |of: VariedThreshold| families::ends(of, tree, &masses).map(|ends| (of, ends));
        let varied: Vec<_> = VariedThreshold::ALL.into_iter().filter_map(ends).collect();
        let line = |(of, ends): &(VariedThreshold, [f64; 2])| {
            let own = of.value(&tree.thresholds, units);
            (*of, families::values(*ends, params.values_per_decade, own), own)
        };
        let mut planes = Vec::new();
        for (i, (first, ends)) in varied.iter().enumerate() {
            for (second, others) in varied[i + 1..].iter().filter(|(second, _)| first.goes_with(*second)) {
                let values = [ends, others].map(|ends| families::few_values(*ends, params.pair_values));
                if values.iter().all(|list| list.len() > 1) {
                    planes.push(([*first, *second], values));
                }
            }
        }
        Self { lines: varied.iter().map(line).collect(), planes }
    }

    /// The thresholds of all cuts: those of the catalogue, then those of the lines, then those of the planes.
    fn jobs(&self, tree: &StoredTree) -> Vec<Thresholds> {
        let (own, units) = (&tree.thresholds, GridUnits::new(&tree.header));
        let of_lines = self
            .lines
            .iter()
            .flat_map(|(varied, values, _)| values.iter().map(|value| varied.with(*value, own, units)));
        let of_planes = self.planes.iter().flat_map(|([first, second], [across, up])| {
            let with = move |a: &f64, b: &f64| second.with(*b, &first.with(*a, own, units), units);
            across.iter().flat_map(move |a| up.iter().map(move |b| with(a, b)))
        });
        std::iter::once(*own).chain(of_lines).chain(of_planes).collect()
    }

    /// The lines and planes with their numbers, in the order of [`Self::jobs`] after the first.
    fn filled(self, mut cuts: impl Iterator<Item = CutNumbers>) -> (Vec<AtlasLine>, Vec<AtlasPlane>) {
        let mut lines = Vec::new();
        for (varied, values, own) in self.lines {
            let cuts = cuts.by_ref().take(values.len()).collect();
            let mut line = AtlasLine { varied, values, own, cuts, plateaus: Vec::new() };
            line.add_plateaus();
            lines.push(line);
        }
        let plane = |(varied, values): ([VariedThreshold; 2], [Vec<f64>; 2])| {
            let cuts = cuts.by_ref().take(values[0].len() * values[1].len()).collect();
            AtlasPlane { varied, values, cuts }
        };
        (lines, self.planes.into_iter().map(plane).collect())
    }
}

/// The counts that can have plateaus. Thresholds of haloes leave clumps as they are. Along the mass
/// threshold the counts are cumulative mass functions, which have no plateau that means anything.
fn counted_along(varied: VariedThreshold) -> &'static [CountedObjects] {
    match varied {
        VariedThreshold::Relevance | VariedThreshold::Significance | VariedThreshold::Density => {
            &[CountedObjects::Clumps, CountedObjects::Haloes]
        }
        VariedThreshold::Saddle | VariedThreshold::HaloRelevance => &[CountedObjects::Haloes],
        VariedThreshold::Mass => &[],
    }
}

/// Collective: the atlas of a catalogue of clumps, which every rank has. Rank 0 gets it. Each value costs a
/// sort of the peaks; ranks and threads divide the values.
///
/// # Errors
/// When the catalogue has no sound tree, or a rank fails.
pub fn atlas(
    stored: &Catalogue,
    params: &AtlasParams,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<Option<ThresholdAtlas>, RecutError> {
    let tree = StoredTree::read(stored)?;
    let grid = AtlasGrid::new(&tree, params);
    let (jobs, bins) = (grid.jobs(&tree), MassBins::new(&tree.peaks));
    let cuts = Stage::begin("hierarchy", jobs.len() as u64, comm, observer);
    cuts.count(jobs.len() as u64);
    let numbers = all_numbers(&tree, &jobs, &bins, comm)?;
    drop(cuts);
    let mut numbers = numbers.into_iter();
    let Some(own) = numbers.next() else { return Ok(None) };
    let (lines, planes) = grid.filled(numbers);
    let units = GridUnits::new(&tree.header);
    let persistence = tree.thresholds.persistence.times(1.0 / units.density);
    Ok(Some(ThresholdAtlas {
        attributes: stored.attributes.clone(),
        persistence,
        own,
        lines,
        planes,
        mass_above: tree.peaks.patches.iter().map(|patch| patch.sums[MASS]).sum(),
        bins,
        bars: bars(&tree),
        tree: CompactTree::new(&tree),
        units,
    }))
}

/// Collective: numbers along the density threshold, of which `cut` makes a catalogue each. Rank 0 gets them.
/// Ranks divide the values.
///
/// # Errors
/// When the catalogue has no sound tree, `cut` fails, or a rank fails.
pub fn along_density(
    stored: &Catalogue,
    n_values: u64,
    cut: impl Fn(f64) -> Result<Catalogue, Error>,
    comm: &Comm,
) -> Result<Option<AtlasLine>, Error> {
    let (tree, varied) = (StoredTree::read(stored)?, VariedThreshold::Density);
    let Some(ends) = families::ends(varied, &tree, &[]) else { return Ok(None) };
    let (bins, own) =
        (MassBins::new(&tree.peaks), varied.value(&tree.thresholds, GridUnits::new(&tree.header)));
    let values = families::few_with(ends, n_values, own);
    let words = || -> Result<Vec<u64>, Error> {
        let share = values.iter().skip(comm.rank().at()).step_by(comm.n_ranks());
        let numbers = share.map(|value| Ok(CutNumbers::of_catalogue(&cut(*value)?, &bins).to_words()));
        Ok(numbers.collect::<Result<Vec<_>, Error>>()?.concat())
    };
    let words = agree(comm, words()).map_err(|error| match error {
        AgreeError::Here(error) => error,
        AgreeError::Elsewhere { message, .. } => Error::new(ErrorKind::InvalidArgument, message),
        AgreeError::Comm(error) => error.into(),
    })?;
    let received = comm.exchange(vec![(Rank(0), words)])?;
    if comm.rank() != Rank(0) {
        return Ok(None);
    }
    let mut cuts = vec![None; values.len()];
    for (from, words) in received {
        let places = (from.at()..values.len()).step_by(comm.n_ranks());
        for (i, words) in places.zip(words.chunks_exact(CutNumbers::n_words(&bins))) {
            cuts[i] = Some(CutNumbers::from_words(words, &bins));
        }
    }
    let cuts = cuts.into_iter().map(|of| of.expect("each value has a rank")).collect();
    let mut line = AtlasLine { varied, values, own, cuts, plateaus: Vec::new() };
    line.add_plateaus();
    Ok(Some(line))
}

/// Collective: the numbers of these cuts, in their order, on rank 0; nothing on others.
fn all_numbers(
    tree: &StoredTree,
    jobs: &[Thresholds],
    bins: &MassBins,
    comm: &Comm,
) -> Result<Vec<CutNumbers>, CommError> {
    let n_ranks = comm.n_ranks();
    // Thresholds that differ only in mass need one cut.
    let is_one_cut = |a: &Thresholds, b: &Thresholds| without_mass(a) == without_mass(b);
    let cuts: Vec<&[Thresholds]> = jobs.chunk_by(is_one_cut).collect();
    let own: Vec<usize> = (comm.rank().at()..cuts.len()).step_by(n_ranks).collect();
    let words = |i: &usize| -> Vec<u64> {
        let found = tree.structures(&without_mass(&cuts[*i][0]));
        cuts[*i].iter().flat_map(|job| CutNumbers::new(&found, job.mass, bins).to_words()).collect()
    };
    let words: Vec<Vec<u64>> = own.par_iter().map(words).collect();
    let received = comm.exchange(vec![(Rank(0), words.concat())])?;
    if comm.rank() != Rank(0) {
        return Ok(Vec::new());
    }
    let mut by_cut = vec![Vec::new(); cuts.len()];
    for (from, words) in received {
        let mut numbers = words.chunks_exact(CutNumbers::n_words(bins));
        for i in (from.at()..cuts.len()).step_by(n_ranks) {
            let of_cut = numbers.by_ref().take(cuts[i].len());
            by_cut[i] = of_cut.map(|words| CutNumbers::from_words(words, bins)).collect();
        }
    }
    Ok(by_cut.concat())
}

/// The same thresholds, with all clumps listed whatever the mass of their halo.
fn without_mass(of: &Thresholds) -> Thresholds {
    Thresholds { mass: 0.0, ..*of }
}

/// Births and deaths, the most persistent first.
fn bars(tree: &StoredTree) -> Vec<PeakBar> {
    let (peaks, persistence) = (&tree.peaks, tree.thresholds.persistence);
    let bar = |(rho, death): (&f64, &inselberg_kernels::phew::tree::Death)| match death.is_never() {
        true => PeakBar { birth: *rho, death: peaks.density_threshold, dies: false },
        false => PeakBar { birth: *rho, death: death.saddle, dies: true },
    };
    let mut bars: Vec<PeakBar> = peaks.tree.rho.iter().zip(&peaks.tree.death).map(bar).collect();
    let value = |bar: &PeakBar| persistence.value(bar.birth, bar.death);
    bars.sort_by(|a, b| value(b).total_cmp(&value(a)).then(b.birth.total_cmp(&a.birth)));
    bars
}
