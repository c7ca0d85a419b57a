//! The one exchange that brings contacts and sums to the owners of the peaks.

use crate::exchange::bundle::SendBuffers;
use crate::phew::forest::{self, CellPlaces, PlacedContacts, RankForest};
use crate::phew::known_peaks::PeakColumns;
use crate::phew::peak_comm::PeakComm;
use crate::phew::sums::PatchTotals;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::phew::global::GlobalEdge;
use inselberg_kernels::props::{Gathered, Momentum, PatchSums, PixelSums};

const EDGES: usize = 0;
const PEAKS: usize = 1;
const SUMS: usize = 2;
const MOMENTA: usize = 3;
const PIXELS: usize = 4;

/// Collective: sends undecided contacts and sums to the owners of their peaks. Returns the contacts of the
/// own peaks. The sums of own peaks are complete afterwards, and `known` has the ranks on which own peaks are
/// ghost peaks. One exchange.
///
/// # Errors
/// When another rank fails.
pub fn send_to_owners(
    comm: &Comm,
    known: &mut PeakComm,
    peaks: &PeakColumns,
    contacts: &PlacedContacts<impl CellPlaces>,
    totals: &mut PatchTotals,
) -> Result<RankForest, CommError> {
    let PatchTotals { patches, momenta, pixels, .. } = totals;
    let mut buffers = SendBuffers::<5>::default();
    let mut forest = forest::send_to_owners(&mut buffers, EDGES, comm.rank(), peaks, contacts);
    known.announce(&mut buffers, PEAKS);
    known.send(&mut buffers, SUMS, patches);
    if let Some(momenta) = momenta {
        known.send(&mut buffers, MOMENTA, momenta);
    }
    if let Some(pixels) = pixels {
        known.send(&mut buffers, PIXELS, pixels);
    }
    let received = buffers.exchange(comm)?;
    known.receive(&received, PEAKS);
    known.merge_received(&received, SUMS, patches, PatchSums::merge);
    if let Some(momenta) = momenta {
        known.merge_received(&received, MOMENTA, momenta, Momentum::merge);
    }
    if let Some(pixels) = pixels {
        known.merge_received(&received, PIXELS, pixels, PixelSums::merge);
    }
    forest.edges.extend(received.iter().flat_map(|bundle| bundle.each::<GlobalEdge>(EDGES)));
    Ok(forest)
}
