//! Labels over ranks: at which peak, on whichever rank, does the ascent of a test cell end?
//!
//! Within a rank an ascent ends at a peak or at a ghost. The ghosts are the exits of
//! [`crate::exchange::chains`]: their owners first answer where each of their mirrors leads, then chains
//! through several ranks are followed by doubling. The answer for a ghost is its peak.

use crate::exchange::chains::{ChainStep, Lead, RemoteIndex, Target, lead_of, resolve};
use crate::phew::known_peaks::{KnownPeak, PeakColumns};
use crate::phew::test_links::TestLinks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::{PeakIdx, PeakName, RootIdx};
use inselberg_kernels::phew::label::PeakSet;

/// What a root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The peak at that index of the own peaks.
    Own(PeakIdx),
    /// The ghost at that place of [`TestLinks::ghosts`].
    Ghost(u32),
}

/// What each of the roots is, in the order of their cells.
pub fn classify(links: &TestLinks, roots: &PeakSet) -> Vec<Root> {
    let mut classes = vec![Root::Own(PeakIdx(0)); roots.len()];
    for (ghost, cell) in (0..).zip(links.ghosts()) {
        classes[roots.index(cell.0).at()] = Root::Ghost(ghost);
    }
    let mut n_own = 0;
    for root in &mut classes {
        if let Root::Own(index) = root {
            *index = PeakIdx::new(n_own);
            n_own += 1;
        }
    }
    classes
}

/// Where the ascent of a ghost leads: to a peak, or to a test cell of another rank.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GhostAscent {
    /// The peak. Before the end its name tells only the rank of the test cell.
    pub peak: KnownPeak,
    /// On that rank: the index of the peak among its own peaks, or of the test cell.
    pub index: u32,
    is_end: u32,
}

impl GhostAscent {
    /// The ascent ends at a peak of the rank that answers.
    fn end(peak: KnownPeak, index: PeakIdx) -> Self {
        Self { peak, index: index.0, is_end: 1 }
    }

    /// The ascent goes on at a cell of another rank.
    fn onward(cell: RemoteIndex) -> Self {
        let peak = KnownPeak { name: PeakName::new(0, cell.rank), ..KnownPeak::default() };
        Self { peak, index: cell.index, is_end: 0 }
    }
}

impl Lead for GhostAscent {
    fn target(&self) -> Target {
        Target { rank: self.peak.name.owner(), item: self.index.into() }
    }

    fn is_end(&self) -> bool {
        self.is_end == 1
    }
}

/// Collective: the peak of every ghost, in the order of [`TestLinks::ghosts`]. Two exchanges, and one per doubling.
///
/// `classes` has an entry per root, `labels` the root of each test cell. `own` are the own peaks, `origins` the cells of
/// the ghosts on their owners.
///
/// # Errors
/// When another rank fails.
pub fn follow(
    comm: &Comm,
    links: &TestLinks,
    origins: &[RemoteIndex],
    classes: &[Root],
    labels: &[RootIdx],
    own: &PeakColumns,
) -> Result<Vec<GhostAscent>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(Vec::new());
    }
    let step = |cell: u64| match classes[labels[cell as usize].at()] {
        Root::Own(peak) => ChainStep::End(GhostAscent::end(own.get(peak.at()), peak)),
        Root::Ghost(ghost) => ChainStep::Exit(ghost as usize),
    };
    let onward: Vec<GhostAscent> = origins.iter().copied().map(GhostAscent::onward).collect();
    let mut ghosts = links.shared.collect(comm, |cell| lead_of(step(cell.into()), &onward))?;
    resolve(comm, &mut ghosts, step)?;
    Ok(ghosts)
}
