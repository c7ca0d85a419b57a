//! The rows of clumps and haloes: which rank has a row?

use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};

/// A clump of a halo.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct HaloClump {
    /// Identifier of the halo, which is that of its main clump.
    pub halo: u64,
    /// Identifier of the clump.
    pub id: u64,
    /// Identifier of the clump that it merges into.
    pub parent: u64,
    /// Mass of its patch, or of a group; 0 for a clump without a peak.
    pub mass: f64,
    /// Its peak, or another reference point near its particles. In code units.
    pub peak: [f64; 3],
    /// The same, refined inside its cell.
    pub peak_refined: [f64; 3],
    /// Distance from the refined peak to the nearest border with another clump, in code units; infinite
    /// without one, or if it is not requested.
    pub border: f64,
    /// 1 for a clump without a peak.
    pub is_peakless: u64,
}

impl HaloClump {
    /// A group of this mass, which is its own clump.
    pub fn alone(halo: u64, centre: [f64; 3], mass: f64) -> Self {
        let (peak, peak_refined) = (centre, centre);
        Self { halo, id: halo, parent: halo, mass, peak, peak_refined, border: f64::INFINITY, is_peakless: 0 }
    }

    /// Which of these have no peak; empty if all have one.
    pub fn peakless(clumps: &[Self]) -> Vec<bool> {
        match clumps.iter().any(|clump| clump.is_peakless > 0) {
            true => clumps.iter().map(|clump| clump.is_peakless > 0).collect(),
            false => Vec::new(),
        }
    }
}

/// The rows of this rank, each by identifier. Rows ascend by identifier from rank to rank.
#[derive(Debug, Clone, Default)]
pub struct HaloRows {
    /// The listed clumps.
    pub clumps: Vec<HaloClump>,
    /// The main clump of each listed halo, whether it is listed or not.
    pub haloes: Vec<HaloClump>,
}

/// The first listed identifier of each rank that lists one. Rows ascend by identifier from rank to rank.
pub struct RowDirectory(Vec<(u64, Rank)>);

impl RowDirectory {
    /// Collective: of the rows that each rank lists.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(rows: &[HaloClump], comm: &Comm) -> Result<Self, CommError> {
        let firsts = comm.all_gather(&[rows.first().map_or(0, |row| row.id)])?;
        let ranks = firsts.into_iter().zip((0..).map(Rank));
        Ok(Self(ranks.filter(|(first, _)| *first > 0).collect()))
    }

    /// The rank that has the row, if the identifier is listed at all.
    pub fn holder(&self, id: u64) -> Option<Rank> {
        let after = self.0.partition_point(|(first, _)| *first <= id);
        after.checked_sub(1).map(|i| self.0[i].1)
    }
}
