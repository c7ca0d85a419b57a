//! Thresholds far from all data: probably a slip of units or of a digit.

use crate::phew::below_zero::SearchThresholds;
use crate::phew::params::Persistence;
use crate::phew::peaks::Peaks;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Attribute, CataloguePart};

/// The ranges of the data of all ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DataSpan {
    /// The least and the greatest density, if every leaf is denser than the threshold.
    all_above: Option<[f64; 2]>,
    /// The least and the greatest ratio of a peak to its saddle, if the threshold is a ratio below 1 and
    /// there are saddles.
    ratios: Option<[f64; 2]>,
}

impl DataSpan {
    /// No threshold that may be a slip.
    pub const SOUND: Self = Self { all_above: None, ratios: None };

    /// Collective: what `peaks` and the tables of a catalogue show. `peaks` are those of the
    /// searched values.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        peaks: &Peaks,
        thresholds: &SearchThresholds,
        catalogue: &CataloguePart,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let count = |wanted: &str| {
            let found = catalogue.attributes.iter().find(|(name, _)| name == wanted);
            found.and_then(|(_, value)| if let Attribute::Int(n) = value { Some(*n) } else { None })
        };
        let n_tests = count("n_test_cells").filter(|n| *n > 0);
        let all_above = match n_tests.is_some() && n_tests == count("n_leaf_cells") {
            true => {
                let of_patches = peaks.patches.iter().map(|patch| patch.rho_min);
                let values = of_patches.chain(peaks.tree.rho.iter().copied());
                span(values.map(|value| thresholds.lowered(value)), comm)?
            }
            false => None,
        };
        let ratios = match thresholds.given().persistence {
            Persistence::Ratio(ratio) if ratio > 0.0 && ratio < 1.0 => {
                let clumps =
                    catalogue.tables.iter().map(|part| &part.table).find(|table| table.name == "clumps");
                let relevance = clumps.and_then(|clumps| clumps.reals("relevance")).unwrap_or_default();
                span(relevance.iter().copied().filter(|ratio| ratio.is_finite()), comm)?
            }
            _ => None,
        };
        Ok(Self { all_above, ratios })
    }

    /// A line for each threshold that may be a slip: the given density threshold, if no cells were left out,
    /// and the ratio.
    pub fn lines(self, threshold: Option<f64>, persistence: Persistence) -> Vec<String> {
        let of_density = threshold.zip(self.all_above).map(|(threshold, [least, most])| {
            format!("every cell is denser than the density threshold {threshold}: densities are from {least} to {most}")
        });
        let of_ratio = self.ratios.map(|[least, most]| {
            let ratio = persistence.threshold();
            format!("the relevance {ratio} is below 1, so every peak counts: ratios of peak and saddle are from {least} to {most}")
        });
        of_density.into_iter().chain(of_ratio).collect()
    }
}

/// Collective: the least and the greatest number of all ranks; `None` without one.
fn span(numbers: impl Iterator<Item = f64>, comm: &Comm) -> Result<Option<[f64; 2]>, CommError> {
    let none = [f64::NEG_INFINITY; 2];
    let [low, high] = numbers.fold(none, |[low, high], x| [low.max(-x), high.max(x)]);
    let all = comm.all_max(&[low, high])?;
    Ok((all[1] > f64::NEG_INFINITY).then(|| [-all[0], all[1]]))
}
