//! Over which wall does each zone overflow, and how many zones has each void?
//!
//! A zone overflows where its emptiest particle dies in the merge tree. That is the lowest point of the walls
//! around everything that is reached before a deeper place. The owner of that particle sends it to the rank
//! that holds the row.

use crate::bound::CentralChoice;
use crate::exchange::bundle::SendBuffers;
use crate::phew::Rules;
use crate::phew::hierarchy::{Noise, Structures, structures};
use crate::phew::params::Thresholds;
use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::Structure;
use rustc_hash::FxHashMap;

/// The wall over which a zone overflows.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Overflow {
    /// The zone.
    pub zone: u64,
    /// Specific volume at the lowest point of the wall; 0 for the emptiest zone of all, which never
    /// overflows.
    pub value: f64,
    /// That point, in code units; NaN without one.
    pub position: [f64; 3],
}

/// A row of the table of zones or voids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoidRow {
    /// The sums. Volume and mass are exchanged, and densities are specific volumes.
    pub of: Structure,
    /// The wall of its emptiest zone.
    pub overflow: Overflow,
    /// Zones of the void; 1 for a zone.
    pub n_zones: u64,
}

/// The zones and voids that peaks make at some thresholds.
pub struct VoidCut<'a> {
    /// The zones before noise is removed.
    pub peaks: &'a Peaks,
    /// Which of them are zones and voids.
    pub found: Structures,
    /// The rows of this rank.
    pub rows: VoidRows,
}

impl<'a> VoidCut<'a> {
    /// Collective: at these thresholds, which are specific volumes.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(peaks: &'a Peaks, thresholds: &Thresholds, comm: &Comm) -> Result<Self, CommError> {
        let found = structures(peaks, thresholds, Rules::Paper, CentralChoice::Densest, comm)?;
        let rows = rows(peaks, &found, thresholds.persistence, comm)?;
        Ok(Self { peaks, found, rows })
    }
}

/// Zones and voids of this rank.
pub struct VoidRows {
    /// Every listed zone by identifier.
    pub zones: Vec<VoidRow>,
    /// Every listed void by identifier.
    pub voids: Vec<VoidRow>,
}

const OVERFLOWS: usize = 0;
const ZONES: usize = 1;

/// Collective: the rows of this rank. One exchange.
///
/// # Errors
/// When another rank fails.
fn rows(
    peaks: &Peaks,
    structures: &Structures,
    persistence: Persistence,
    comm: &Comm,
) -> Result<VoidRows, CommError> {
    let mut buffers = SendBuffers::<2>::default();
    for overflow in own_overflows(peaks, structures, persistence) {
        buffers.put(structures.holder(overflow.zone, comm), OVERFLOWS, &[overflow]);
    }
    for zone in &structures.clumps {
        buffers.put(structures.holder(zone.halo, comm), ZONES, &[zone.halo]);
    }
    let mut overflow: FxHashMap<u64, Overflow> = FxHashMap::default();
    let mut n_zones: FxHashMap<u64, u64> = FxHashMap::default();
    for bundle in buffers.exchange(comm)? {
        overflow.extend(bundle.records::<Overflow>(OVERFLOWS).into_iter().map(|of| (of.zone, of)));
        bundle.records::<u64>(ZONES).into_iter().for_each(|of| *n_zones.entry(of).or_default() += 1);
    }
    let row = |of: &Structure, n_zones: u64| VoidRow { of: *of, overflow: overflow[&of.id], n_zones };
    Ok(VoidRows {
        zones: structures.clumps.iter().map(|zone| row(zone, 1)).collect(),
        voids: structures.haloes.iter().map(|void| row(void, n_zones[&void.id])).collect(),
    })
}

/// The walls of the zones whose emptiest particle this rank owns. The other peaks of a zone are noise and die
/// in it.
fn own_overflows(
    peaks: &Peaks,
    structures: &Structures,
    persistence: Persistence,
) -> impl Iterator<Item = Overflow> {
    let noise = Noise::by_persistence(peaks, persistence);
    let is_head = move |i: &usize| noise.is_clump_peak(PeakIdx::new(*i)) && structures.clump_of_patch[*i] > 0;
    (0..peaks.len()).filter(is_head).map(move |i| Overflow {
        zone: structures.clump_of_patch[i],
        value: peaks.tree.death[i].saddle,
        position: peaks.saddle_position[i],
    })
}
