//! The distance from the peak of each listed clump to its nearest border with another clump, for RAMSES's
//! unbinding.
//!
//! ```text
//!   rank with cells of clump 7        rank with the row of clump 7
//!        |  7?                    --->      |
//!        |  <---  its peak                  |      no answer: not listed
//!        |  nearest border here: 0.02 --->  |      the least over all ranks
//! ```

use crate::bound::{HaloClump, RowDirectory};
use crate::chunks::chunks;
use crate::exchange::bundle::{SendBuffers, all_records};
use crate::phew::bound::input::BoundInput;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::border::BorderSearch;
use rayon::prelude::*;

/// Super-bricks that one task searches.
const SUPERS_AT_ONCE: usize = 1 << 6;

/// The nearest borders of clumps below others.
#[derive(Debug)]
pub struct ClumpBorders {
    /// Identifiers of the listed clumps with cells on this rank, ascending.
    listed: Vec<u64>,
    /// For each row of a clump on this rank, the distance in code units; infinite without a border.
    pub of_row: Vec<f64>,
}

/// The refined peak of a clump in code units; NaN for a main clump, whose border is not needed.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct RefinedPeak {
    clump: u64,
    peak: [f64; 3],
}

impl RefinedPeak {
    fn new(row: &HaloClump) -> Self {
        let peak = if row.id == row.halo { [f64::NAN; 3] } else { row.peak_refined };
        Self { clump: row.id, peak }
    }
}

/// A distance from the peak of a clump, in code units.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct BorderDistance {
    clump: u64,
    distance: f64,
}

impl ClumpBorders {
    /// Collective: searches the borders of all clumps. Three exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn find(input: &BoundInput, clumps: &[HaloClump], comm: &Comm) -> Result<Self, CommError> {
        let rows = RowDirectory::new(clumps, comm)?;
        let mut here = input.ids.clump.clone();
        here.sort_unstable();
        here.dedup();
        let peaks = refined_peaks(&here, &rows, clumps, comm)?;
        let nearest = nearest_here(input, &here, &peaks);
        let mut buffers = SendBuffers::<1>::default();
        for (clump, distance) in here.iter().zip(nearest).filter(|(_, distance)| distance.is_finite()) {
            let holder = rows.holder(*clump).expect("only a listed clump has a peak");
            buffers.put(holder, 0, &[BorderDistance { clump: *clump, distance }]);
        }
        let mut of_row = vec![f64::INFINITY; clumps.len()];
        for found in buffers.exchange(comm)?.iter().flat_map(|bundle| bundle.each::<BorderDistance>(0)) {
            let row = row_of(clumps, found.clump).expect("only a listed clump has a peak");
            of_row[row] = of_row[row].min(found.distance);
        }
        Ok(Self { listed: peaks.iter().map(|peak| peak.clump).collect(), of_row })
    }

    /// Whether a clump with cells on this rank is listed.
    pub fn is_listed(&self, clump: u64) -> bool {
        self.listed.binary_search(&clump).is_ok()
    }
}

fn row_of(clumps: &[HaloClump], id: u64) -> Option<usize> {
    clumps.binary_search_by_key(&id, |row| row.id).ok()
}

/// Collective: the refined peaks of those of the clumps that are listed, by identifier. Two exchanges.
fn refined_peaks(
    here: &[u64],
    rows: &RowDirectory,
    clumps: &[HaloClump],
    comm: &Comm,
) -> Result<Vec<RefinedPeak>, CommError> {
    let (mut asked, mut answers) = (SendBuffers::<1>::default(), SendBuffers::<1>::default());
    for id in here {
        if let Some(holder) = rows.holder(*id) {
            asked.put(holder, 0, &[*id]);
        }
    }
    for bundle in asked.exchange(comm)? {
        let known = bundle.records::<u64>(0).into_iter().filter_map(|id| row_of(clumps, id));
        let peaks: Vec<RefinedPeak> = known.map(|row| RefinedPeak::new(&clumps[row])).collect();
        answers.put(bundle.from, 0, &peaks);
    }
    // Identifiers ascend from rank to rank and in each answer.
    Ok(all_records(&answers.exchange(comm)?, 0))
}

/// Local: the distance of each of these clumps to its nearest border on this rank, in code units.
fn nearest_here(input: &BoundInput, here: &[u64], peaks: &[RefinedPeak]) -> Vec<f64> {
    let (mesh, side) = (&input.places.leaves().part.field.mesh, input.snapshot.header().boxlen);
    let place = |clump: u64| here.binary_search(&clump).expect("each clump of a patch is among them");
    let mut peak_of = vec![[f64::NAN; 3]; here.len()];
    peaks.iter().for_each(|peak| peak_of[place(peak.clump)] = peak.peak.map(|x| x / side));
    let of_slot: Vec<PeakIdx> = input.ids.clump.iter().map(|clump| PeakIdx::new(place(*clump))).collect();
    let clump_of: Vec<PeakIdx> =
        input.places.leaves().segmentation.labels.par_iter().map(|slot| of_slot[slot.at()]).collect();
    let test_cells = &input.places.leaves().segmentation.test_cells;
    let search = BorderSearch { mesh, test_cells, clump_of: &clump_of, peaks: &peak_of };
    let none = || vec![f64::INFINITY; here.len()];
    let lowered = |mut nearest: Vec<f64>, supers| {
        search.lower(supers, &mut nearest);
        nearest
    };
    let lesser = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect();
    let nearest = chunks(mesh.supers().len(), SUPERS_AT_ONCE).into_par_iter();
    let nearest: Vec<f64> = nearest.fold(none, lowered).reduce(none, lesser);
    nearest.into_iter().map(|square| square.sqrt() * side).collect()
}
