//! The merge tree of a rank, on all threads: tasks decide the deaths within regions of peaks, and one thread
//! decides the rest.
//!
//! A single rank decides everything. Each of several ranks decides the deaths that follow from its own edges.
//! These are the deaths in components of peaks that no other rank knows: only the rank itself can have edges
//! of such peaks.
//!
//! ```text
//!     peak          0 1 2 3 4 5 6 7        regions of space: {0, 1, 4, 5} and {2, 3, 6, 7}, two levels each
//!     place         0 1 4 5 2 3 6 7        places 0 to 3 are the first region, 4 to 7 the second
//! ```

use crate::chunks::{carve, chunks};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::forest::ContactEdge;
use inselberg_kernels::phew::region_tree::{DeathEdge, PeakRegion, RegionEdge};
use rayon::prelude::*;
use std::ops::Range;

/// The peaks of a rank in regions of space: ascending ranges of peaks for each region. Each peak is in one
/// region.
#[derive(Debug)]
pub struct PeakRegions(Vec<Vec<Range<PeakIdx>>>);

/// About the least number of peaks of a region: small enough for a core's cache, and large enough that most
/// edges are within a region.
const REGION_PEAKS: usize = 1 << 16;

impl PeakRegions {
    /// Unites consecutive parts of space, given by their ranges of peaks, into regions of at least `least`
    /// peaks.
    pub(super) fn of_at_least(least: usize, parts: impl Iterator<Item = Vec<Range<PeakIdx>>>) -> Self {
        let (mut regions, mut region, mut n) = (Vec::new(), Vec::new(), 0);
        for part in parts {
            n += n_peaks(&part);
            region.extend(part);
            if n >= least {
                regions.push(std::mem::take(&mut region));
                n = 0;
            }
        }
        regions.push(region);
        regions.iter_mut().for_each(|region| region.sort_unstable_by_key(|range| range.start));
        Self(regions)
    }

    /// Unites consecutive parts of space, given by their ranges of peaks, into regions.
    pub fn of_parts(parts: impl Iterator<Item = Vec<Range<PeakIdx>>>) -> Self {
        Self::of_at_least(REGION_PEAKS, parts)
    }

    /// Regions of peaks that are in one order along a list and in space.
    pub fn of_list(n_peaks: usize) -> Self {
        let range = |run: Range<usize>| vec![PeakIdx::new(run.start)..PeakIdx::new(run.end)];
        Self::of_parts(chunks(n_peaks, REGION_PEAKS).into_iter().map(range))
    }

    fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|region| n_peaks(region))
    }
}

fn n_peaks(region: &[Range<PeakIdx>]) -> usize {
    region.iter().map(|range| range.end.at() - range.start.at()).sum()
}

/// Peaks in the order of their regions.
struct PeakPlaces {
    /// The peak at each place.
    peaks: Vec<PeakIdx>,
    /// The place of each peak.
    places: Vec<u32>,
    /// Where each region ends.
    ends: Vec<u32>,
}

impl PeakPlaces {
    fn new(regions: &PeakRegions) -> Self {
        let ranges = || regions.0.iter().flatten();
        let peaks: Vec<PeakIdx> =
            ranges().flat_map(|range| range.start.0..range.end.0).map(PeakIdx).collect();
        let mut places = vec![0; peaks.len()];
        let mut first = 0;
        for range in ranges() {
            let of_range = &mut places[range.start.at()..range.end.at()];
            of_range.iter_mut().zip(first..).for_each(|(place, at)| *place = at);
            first += of_range.len() as u32;
        }
        let mut end = 0;
        let ends = regions.sizes().map(|n| (end += n as u32, end).1).collect();
        Self { peaks, places, ends }
    }

    /// The region of a place.
    fn region(&self, place: u32) -> usize {
        self.ends.partition_point(|end| *end <= place)
    }
}

/// The peaks of a rank, which decides the deaths that follow from its edges.
#[derive(Debug, Clone, Copy)]
pub struct RegionPeaks<'a> {
    /// Densities.
    pub rho: &'a [f64],
    /// The peaks in regions of space.
    pub regions: &'a PeakRegions,
    /// Which peaks other ranks may know; empty if none.
    pub shared: &'a [bool],
}

/// The decisions of a rank.
#[derive(Debug)]
pub struct RegionDeaths {
    /// The edge at which each peak dies; [`DeathEdge::NEVER`] if the rank has not found one.
    pub deaths: Vec<DeathEdge>,
    /// The edges that other ranks must know, in falling order. None is the lowest on a cycle.
    pub undecided: Vec<UndecidedEdge>,
}

/// An edge that a rank cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndecidedEdge {
    /// Its number.
    pub edge: u32,
    /// The peaks that represent its two peaks: these themselves, or ones that absorbed them.
    pub nodes: [PeakIdx; 2],
}

impl RegionPeaks<'_> {
    /// Decides the deaths that follow from `edges`. These are all edges that this rank has, between its
    /// peaks, in falling order.
    ///
    /// Each region processes the edges of its own peaks. The edges that it leaves concern several regions,
    /// and one thread decides them.
    /// Takes 33 bytes per peak and 12 per edge.
    ///
    /// # Panics
    /// When a peak is in no region.
    pub fn decide(&self, edges: &[ContactEdge]) -> RegionDeaths {
        self.decide_by_runs(RUN, edges)
    }

    /// [`Self::decide`], with this number of edges per task.
    fn decide_by_runs(&self, run: usize, edges: &[ContactEdge]) -> RegionDeaths {
        let at = PeakPlaces::new(self.regions);
        assert_eq!(at.peaks.len(), self.rho.len(), "each peak is in one region");
        let rho: Vec<f64> = at.peaks.par_iter().map(|peak| self.rho[peak.at()]).collect();
        let open: Vec<bool> = match self.shared {
            [] => Vec::new(),
            shared => at.peaks.par_iter().map(|peak| shared[peak.at()]).collect(),
        };
        let mut parents: Vec<u32> = (0..rho.len() as u32).into_par_iter().collect();
        let mut deaths: Vec<DeathEdge> = rayon::iter::repeat_n(DeathEdge::NEVER, rho.len()).collect();

        let runs = edges_by_region(edges, &at, run);
        let sizes = || self.regions.sizes();
        let parts = carve(&mut parents, sizes()).into_iter().zip(carve(&mut deaths, sizes()));
        let of_regions: Vec<PeakRegion> = parts
            .zip(&at.ends)
            .map(|((parents, deaths), &end)| {
                let all = end as usize - deaths.len()..end as usize;
                PeakRegion {
                    first: all.start as u32,
                    peaks: &at.peaks[all.clone()],
                    open: open.get(all.clone()).unwrap_or_default(),
                    rho: &rho[all],
                    parents,
                    deaths,
                }
            })
            .collect();
        let decide =
            |(i, region): (usize, PeakRegion)| region.decide(runs.iter().map(|run| run[i].as_slice()));
        let left: Vec<Vec<RegionEdge>> = of_regions.into_par_iter().enumerate().map(decide).collect();
        drop(runs);

        let mut left = left.concat();
        if at.ends.len() > 1 {
            left.par_sort_unstable_by_key(|edge| edge.edge);
            let all = PeakRegion {
                first: 0,
                peaks: &at.peaks,
                rho: &rho,
                open: &open,
                parents: &mut parents,
                deaths: &mut deaths,
            };
            left = all.decide([left.as_slice()].into_iter());
        }
        let nodes = |places: [u32; 2]| places.map(|place| at.peaks[place as usize]);
        RegionDeaths {
            deaths: at.places.par_iter().map(|place| deaths[*place as usize]).collect(),
            undecided: left.iter().map(|e| UndecidedEdge { edge: e.edge, nodes: nodes(e.places) }).collect(),
        }
    }
}

/// Edges of one task.
const RUN: usize = 1 << 16;
/// Edges whose places are looked up together, so that the look-ups do not wait for each other.
const TOGETHER: usize = 64;

/// For each run of edges of this length, and for each region, the edges of the run that have a peak in the
/// region.
fn edges_by_region(edges: &[ContactEdge], at: &PeakPlaces, length: usize) -> Vec<Vec<Vec<RegionEdge>>> {
    let of_run = |(run, edges): (usize, &[ContactEdge])| {
        let mut by_region = vec![Vec::new(); at.ends.len()];
        let (mut numbers, mut places) = (run * length.., Vec::with_capacity(TOGETHER));
        for some in edges.chunks(TOGETHER) {
            places.clear();
            places.extend(some.iter().map(|edge| edge.peaks.map(|peak| at.places[peak.at()])));
            for (&places, edge) in places.iter().zip(&mut numbers) {
                let edge = RegionEdge { edge: edge as u32, places };
                let [a, b] = places.map(|place| at.region(place));
                by_region[a].push(edge);
                if a != b {
                    by_region[b].push(edge);
                }
            }
        }
        by_region
    };
    edges.par_chunks(length).enumerate().map(of_run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_kernels::ids::CellIdx;
    use inselberg_kernels::phew::forest::{ForestScratch, reduce};
    use inselberg_kernels::phew::tree::{Death, MergeTree};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        /// Reference: the tree that one region grows. Densities and saddles have few values, so that many are
        /// equal.
        #[test]
        fn regions_decide_as_one(
            rho in prop::collection::vec(10..16u8, 1..60),
            contacts in prop::collection::vec((0..10u8, any::<u32>(), any::<u32>()), 0..200),
            lengths in prop::collection::vec(0..8usize, 1..40),
            least in 1..30usize,
            run in 1..150usize,
            order in any::<u64>(),
            shared in any::<u64>(),
        ) {
            let n = rho.len();
            let rho: Vec<f64> = rho.into_iter().map(f64::from).collect();
            let edge = |(i, (saddle, a, b)): (usize, (u8, u32, u32))| {
                let peaks = [a, b].map(|peak| PeakIdx::new(peak as usize % n));
                ContactEdge::new(f64::from(saddle), peaks, [2 * i, 2 * i + 1].map(CellIdx::new))
            };
            let mut edges: Vec<ContactEdge> = contacts.into_iter().enumerate().map(edge).collect();
            edges.retain(|edge| edge.peaks[0] != edge.peaks[1]);
            edges.sort_by(ContactEdge::order);
            // Ranges of these lengths, which parts of space take in some order.
            let mut ends: Vec<usize> = lengths.iter().scan(0, |end, n| { *end += n; Some(*end) }).collect();
            ends.iter_mut().for_each(|end| *end = (*end).min(n));
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let mut ranges: Vec<_> = starts.zip(ends.iter().copied().chain([n])).collect();
            let key = |start: usize| (start as u64).wrapping_mul(order | 1);
            ranges.sort_by_key(|(start, _)| key(*start));
            let parts = ranges.into_iter().map(|(start, end)| vec![PeakIdx::new(start)..PeakIdx::new(end)]);
            let regions = PeakRegions::of_at_least(least, parts);
            let alone = RegionPeaks { rho: &rho, regions: &regions, shared: &[] }.decide_by_runs(run, &edges);
            prop_assert_eq!(alone.undecided, []);
            let found: Vec<_> = alone.deaths.into_iter().map(|found| Death::at(found, &edges)).collect();
            let (tree, cells) = MergeTree::grow(rho.clone(), &edges);
            let all: Vec<(Death, [CellIdx; 2])> = tree.death.into_iter().zip(cells).collect();
            prop_assert_eq!(&found, &all);

            let shared: Vec<bool> = (0..n).map(|peak| shared >> (peak % 64) & 1 == 1).collect();
            let of_shared = |regions| RegionPeaks { rho: &rho, regions, shared: &shared }.decide_by_runs(run, &edges);
            let RegionDeaths { deaths, undecided } = of_shared(&regions);
            let by_one = of_shared(&PeakRegions::of_list(n));
            prop_assert_eq!(&deaths, &by_one.deaths);
            prop_assert_eq!(&undecided, &by_one.undecided);
            for (peak, found) in deaths.iter().enumerate().filter(|(_, found)| found.edge().is_some()) {
                prop_assert!(!shared[peak] && Death::at(*found, &edges) == all[peak], "a death of the whole tree");
            }
            let dead = deaths.iter().flat_map(|found| found.edge()).map(|(edge, _)| edges[edge]);
            let mut forest: Vec<ContactEdge> = undecided.iter().map(|e| edges[e.edge as usize]).chain(dead).collect();
            forest.sort_by(ContactEdge::order);
            prop_assert_eq!(forest, reduce(&edges, &mut ForestScratch::default()));
            for UndecidedEdge { edge, nodes } in undecided {
                let peaks = edges[edge as usize].peaks;
                let absorbed = |peak: PeakIdx| deaths[peak.at()].edge().is_some();
                prop_assert!((0..2).all(|end| !absorbed(nodes[end])), "nodes live on");
                prop_assert!((0..2).all(|end| nodes[end] == peaks[end] || absorbed(peaks[end])));
            }
        }
    }
}
