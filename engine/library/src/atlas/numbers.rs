//! The numbers of one cut: counts, masses, and the mass function.

use crate::phew::hierarchy::Structures;
use crate::phew::peaks::Peaks;
use inselberg_io::catalogue::{Attribute, Catalogue};
use inselberg_kernels::props::Structure;
use inselberg_kernels::props::sums::MASS;

/// What a cut of the tree gives.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CutNumbers {
    /// Listed clumps.
    pub n_clumps: u64,
    /// Listed haloes.
    pub n_haloes: u64,
    /// The highest level at which a clump merges.
    pub n_levels: u64,
    /// Mass in listed haloes (code units).
    pub mass: f64,
    /// Clumps by mass, in the bins of the atlas.
    pub clumps_by_mass: Vec<u64>,
    /// Haloes by mass, in the same bins.
    pub haloes_by_mass: Vec<u64>,
}

/// Bins of masses, of equal ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct MassBins {
    /// The lower edges and the last upper one, ascending (code units). Masses of 0 or less are in no bin.
    pub edges: Vec<f64>,
}

/// Bins per factor of ten.
const BINS_PER_DECADE: f64 = 4.0;
/// Numbers before the mass functions in a message.
const N_FIRST: usize = 4;

impl MassBins {
    /// From the lightest patch to all patches together.
    pub(super) fn new(peaks: &Peaks) -> Self {
        let masses = || peaks.patches.iter().map(|patch| patch.sums[MASS]).filter(|mass| *mass > 0.0);
        let (least, all) = (masses().fold(f64::INFINITY, f64::min), masses().sum::<f64>());
        if !least.is_finite() {
            return Self { edges: Vec::new() };
        }
        let first = (least.log10() * BINS_PER_DECADE).floor() as i64;
        let last = (all.log10() * BINS_PER_DECADE).floor() as i64 + 1;
        Self { edges: (first..=last).map(|i| 10f64.powf(i as f64 / BINS_PER_DECADE)).collect() }
    }

    /// The number of bins.
    pub fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// Whether there is no bin, as no patch has mass.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn counts(&self, masses: impl Iterator<Item = f64>) -> Vec<u64> {
        let mut counts = vec![0; self.len()];
        for mass in masses.filter(|mass| *mass > 0.0) {
            let above = self.edges.partition_point(|edge| *edge <= mass);
            counts[above.clamp(1, self.len()) - 1] += 1;
        }
        counts
    }
}

impl CutNumbers {
    /// Those of the clumps and haloes of a cut without a mass threshold, all on this rank, with this one. It
    /// only says which haloes are too light for their clumps to be listed.
    pub(super) fn new(found: &Structures, mass_threshold: f64, bins: &MassBins) -> Self {
        let is_listed = |of: &&Structure| mass_threshold == 0.0 || of.halo_mass > mass_threshold;
        let [clumps, haloes] = [&found.clumps, &found.haloes].map(|list| list.iter().filter(is_listed));
        Self {
            n_clumps: clumps.clone().count() as u64,
            n_haloes: haloes.clone().count() as u64,
            n_levels: found.max_level,
            mass: haloes.clone().map(|halo| halo.mass).sum(),
            clumps_by_mass: bins.counts(clumps.map(|clump| clump.mass)),
            haloes_by_mass: bins.counts(haloes.map(|halo| halo.mass)),
        }
    }

    /// Those of a catalogue of clumps.
    pub(super) fn of_catalogue(of: &Catalogue, bins: &MassBins) -> Self {
        let masses = |table: &str| of.table(table).and_then(|table| table.reals("mass")).unwrap_or_default();
        let n_levels = match of.attribute("n_levels") {
            Some(Attribute::Int(n)) => n.cast_unsigned(),
            _ => unreachable!("every catalogue of clumps has its totals"),
        };
        let (clumps, haloes) = (masses("clumps"), masses("haloes"));
        Self {
            n_clumps: clumps.len() as u64,
            n_haloes: haloes.len() as u64,
            n_levels,
            mass: haloes.iter().sum(),
            clumps_by_mass: bins.counts(clumps.iter().copied()),
            haloes_by_mass: bins.counts(haloes.iter().copied()),
        }
    }

    /// As words of a message.
    pub(super) fn to_words(&self) -> Vec<u64> {
        let first = [self.n_clumps, self.n_haloes, self.n_levels, self.mass.to_bits()];
        [&first[..], &self.clumps_by_mass, &self.haloes_by_mass].concat()
    }

    /// From such words, of as many bins.
    pub(super) fn from_words(words: &[u64], bins: &MassBins) -> Self {
        let (clumps, haloes) = words[N_FIRST..].split_at(bins.len());
        Self {
            n_clumps: words[0],
            n_haloes: words[1],
            n_levels: words[2],
            mass: f64::from_bits(words[3]),
            clumps_by_mass: clumps.to_vec(),
            haloes_by_mass: haloes.to_vec(),
        }
    }

    /// The number of words.
    pub(super) fn n_words(bins: &MassBins) -> usize {
        N_FIRST + 2 * bins.len()
    }
}
