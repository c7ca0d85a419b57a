//! The thresholds of an atlas, and the values that it tries.

use crate::phew::Rules;
use crate::phew::params::Thresholds;
use crate::phew::recut::StoredTree;
use crate::phew::tables::RecutHeader;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::sums::MASS;

/// A threshold that an atlas varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VariedThreshold {
    /// The relevance threshold: a ratio, or a difference in the unit of densities.
    Relevance,
    /// The least significance, in densities made from particles.
    Significance,
    /// The saddle threshold.
    Saddle,
    /// The relevance below which clumps merge into haloes, in place of the saddle threshold.
    HaloRelevance,
    /// The mass threshold.
    Mass,
    /// The density threshold, in catalogues with cells.
    Density,
}

/// No grid of a density goes on for more factors of ten.
const MOST_DECADES: f64 = 3.0;
/// Least ratio that is tried: with a ratio of 1 or less, every peak is a clump.
const LEAST_RATIO: f64 = 1.05;
/// Greatest significance that is tried; the greatest of the many bumps in a flat core reaches 6.
const MOST_SIGNIFICANCE: f64 = 20.0;
/// Least significance above 0 that is tried: peaks below 1 are noise for all of them.
const LEAST_SIGNIFICANCE: f64 = 0.5;
/// The factors around the value of the run that are tried where nothing else limits them.
const AROUND: f64 = 10.0;

impl VariedThreshold {
    /// Those that a tree has, in the order of the tables.
    pub const ALL: [Self; 5] =
        [Self::Relevance, Self::Significance, Self::Saddle, Self::HaloRelevance, Self::Mass];

    /// Its name in tables and on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Significance => "significance",
            Self::Saddle => "saddle",
            Self::HaloRelevance => "halo_relevance",
            Self::Mass => "mass",
            Self::Density => "density",
        }
    }

    /// The key of the parameter of `recut` that sets it.
    pub fn key(self, persistence: Persistence) -> &'static str {
        match self {
            Self::Relevance if persistence.is_difference() => "relevance_difference",
            Self::Relevance => "relevance_threshold",
            Self::Significance => "significance_threshold",
            Self::Saddle => "saddle_threshold",
            Self::HaloRelevance => "halo_relevance",
            Self::Mass => "mass_threshold",
            Self::Density => "density_threshold",
        }
    }

    /// Whether both can vary at once: one of two ways to make haloes is left out, and clumps need no more
    /// relevance than haloes.
    pub(super) fn goes_with(self, other: Self) -> bool {
        let both = [self, other];
        !both.contains(&Self::HaloRelevance)
            || !both.iter().any(|of| matches!(of, Self::Saddle | Self::Relevance))
    }

    /// Its value among thresholds in code units, in the unit in which `recut` takes it; `None` without one.
    pub(crate) fn value(self, of: &Thresholds, units: GridUnits) -> Option<f64> {
        match self {
            Self::Relevance => Some(of.persistence.times(1.0 / units.density).threshold()),
            Self::Significance => of.significance,
            Self::Saddle => of.saddle.map(|saddle| saddle / units.density),
            Self::HaloRelevance => of
                .halo_relevance
                .map(|least| of.persistence.with(least).times(1.0 / units.density).threshold()),
            Self::Mass => Some(of.mass / units.mass),
            Self::Density => Some(of.density / units.density),
        }
    }

    /// The same thresholds with another value of this one, as `recut` sets it.
    pub(crate) fn with(self, value: f64, of: &Thresholds, units: GridUnits) -> Thresholds {
        match self {
            Self::Relevance => {
                Thresholds { persistence: of.persistence.with(value).times(units.density), ..*of }
            }
            Self::Significance => Thresholds { significance: Some(value), ..*of },
            Self::Saddle => Thresholds { saddle: Some(value * units.density), halo_relevance: None, ..*of },
            Self::HaloRelevance => {
                let least = of.persistence.with(value).times(units.density).threshold();
                Thresholds { saddle: None, halo_relevance: Some(least), ..*of }
            }
            Self::Mass => Thresholds { mass: value * units.mass, ..*of },
            Self::Density => Thresholds { density: value * units.density, ..*of },
        }
    }
}

/// The units in which `recut` takes thresholds, in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridUnits {
    /// Of densities: the mean density for a mesh from particles, else 1.
    pub density: f64,
    /// Of masses.
    pub mass: f64,
}

impl GridUnits {
    /// Those of a catalogue.
    pub(crate) fn new(header: &RecutHeader) -> Self {
        Self { density: header.unit, mass: header.mass_unit.unwrap_or(1.0) }
    }
}

/// The ends of the grid of a threshold, in the unit of `recut`; `None` where the tree has nothing to vary.
pub(super) fn ends(of: VariedThreshold, tree: &StoredTree, halo_masses: &[f64]) -> Option<[f64; 2]> {
    let (header, peaks) = (&tree.header, &tree.peaks);
    let units = GridUnits::new(header);
    let deaths = || peaks.tree.death.iter().zip(&peaks.tree.rho).filter(|(death, _)| !death.is_never());
    match of {
        VariedThreshold::Relevance => {
            let of_haloes = VariedThreshold::HaloRelevance.value(&tree.thresholds, units);
            let [low, high] = relevances(tree, units);
            limited([low, high.min(of_haloes.unwrap_or(f64::INFINITY))])
        }
        VariedThreshold::HaloRelevance if header.rules == Rules::Ramses => None,
        VariedThreshold::HaloRelevance => {
            let of_clumps = VariedThreshold::Relevance.value(&tree.thresholds, units).unwrap_or(0.0);
            let [low, high] = relevances(tree, units);
            limited([low.max(of_clumps), high])
        }
        VariedThreshold::Significance => {
            let is_known = peaks.prominence.is_some() && header.significance.is_some();
            is_known.then_some([LEAST_SIGNIFICANCE, MOST_SIGNIFICANCE])
        }
        VariedThreshold::Saddle => {
            let lowered = |saddle: f64| tree.search().lowered(saddle) / units.density;
            let saddles = || deaths().map(|(death, _)| lowered(death.saddle)).filter(|saddle| *saddle > 0.0);
            let least = saddles().fold(f64::INFINITY, f64::min);
            let low = (tree.thresholds.density / units.density).max(least);
            limited([low, saddles().fold(0.0, f64::max).min(low * 10f64.powf(MOST_DECADES))])
        }
        VariedThreshold::Density => {
            let low = tree.thresholds.density / units.density;
            let densest = peaks.tree.rho.iter().copied().fold(0.0, f64::max) / units.density;
            let most = tree.thresholds.saddle.map_or(f64::INFINITY, |saddle| saddle / units.density);
            limited([low, densest.min(most).min(low * 10f64.powf(MOST_DECADES))])
        }
        VariedThreshold::Mass => {
            let patches = peaks.patches.iter().map(|patch| patch.sums[MASS]).filter(|mass| *mass > 0.0);
            header.mass_unit?;
            let least = halo_masses.iter().copied().filter(|mass| *mass > 0.0).fold(f64::INFINITY, f64::min);
            let greatest = halo_masses.iter().copied().fold(0.0, f64::max);
            let least = if least.is_finite() { least } else { patches.fold(f64::INFINITY, f64::min) };
            limited([least / units.mass, greatest / units.mass])
        }
    }
}

/// The relevances that are tried, in the unit of `recut`.
fn relevances(tree: &StoredTree, units: GridUnits) -> [f64; 2] {
    let (peaks, persistence) = (&tree.peaks, tree.thresholds.persistence.times(1.0 / units.density));
    let alive = peaks.tree.rho.iter().map(|rho| persistence.value(*rho, peaks.density_threshold));
    let (own, greatest) = (persistence.threshold(), alive.fold(0.0, f64::max));
    match persistence {
        Persistence::Ratio(_) => [LEAST_RATIO, (own * AROUND).max(30.0).min(greatest)],
        Persistence::Difference(_) => {
            let greatest = greatest / units.density;
            let own = if own > 0.0 { own } else { greatest / AROUND };
            [own / AROUND, (own * AROUND).min(greatest)]
        }
    }
}

fn limited([low, high]: [f64; 2]) -> Option<[f64; 2]> {
    (low > 0.0 && low.is_finite() && high.is_finite() && high > low).then_some([low, high])
}

/// Values between these ends with steps of equal ratio, and `own`; ascending. Those of the grid are round to
/// four digits, so a user can type them.
pub(super) fn values([low, high]: [f64; 2], per_decade: u64, own: Option<f64>) -> Vec<f64> {
    let steps = per_decade as f64;
    let (first, last) = ((low.log10() * steps).ceil() as i64, (high.log10() * steps).floor() as i64);
    let on_grid = (first..=last).map(|i| rounded(10f64.powf(i as f64 / steps)));
    // Rounding may step over an end.
    let mut values: Vec<f64> =
        on_grid.filter(|value| (low..=high).contains(value)).chain(own.filter(|own| *own >= 0.0)).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}

/// At most `n` values of equal ratio between these ends; ascending.
pub(super) fn few_values([low, high]: [f64; 2], n: u64) -> Vec<f64> {
    let step = |i: u64| low * (high / low).powf((i as f64 + 0.5) / n as f64);
    let mut values: Vec<f64> = (0..n).map(|i| rounded(step(i))).collect();
    values.retain(|value| (low..=high).contains(value));
    values.dedup();
    values
}

/// The same with `own` among them.
pub(super) fn few_with(ends: [f64; 2], n: u64, own: Option<f64>) -> Vec<f64> {
    let mut values = few_values(ends, n);
    values.extend(own);
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}

/// A value with four digits.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("a number that was printed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_round_between_the_ends_and_have_that_of_the_run() {
        let values = values([1.05, 12.0], 4, Some(3.0));
        assert_eq!(values, [1.778, 3.0, 3.162, 5.623, 10.0]);
        assert_eq!(few_values([1.0, 100.0], 2), [3.162, 31.62]);
        assert_eq!(few_values([1.0, 100.0], 0), Vec::<f64>::new());
        assert_eq!(rounded(0.000_123_456), 0.000_123_5);
    }
}
