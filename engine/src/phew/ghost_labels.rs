//! Labels over ranks: which peak, on whichever rank, does the ascent of a test cell end in?
//!
//! Within a rank an ascent ends at a peak or at a ghost. The ghosts are the exits of [`super::pointers`]:
//! their owners first say where each of their mirrors leads, then chains through several ranks are
//! followed by doubling. What comes back of a peak is all that anyone has to know of it.

use crate::exchange::chains::{ChainStep, Lead, RemoteIndex, lead_of, resolve};
use crate::phew::peak_comm::KnownPeak;
use crate::phew::test_links::TestLinks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::label::PeakSet;

/// What an end of ascents is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The own peak with that number.
    Own(u32),
    /// The ghost with that number, list by list.
    Ghost(u32),
}

/// What each of `ends`, in the order of their cells, is.
pub fn kinds(links: &TestLinks, ends: &PeakSet) -> Vec<End> {
    let mut of = vec![End::Own(0); ends.len()];
    for (i, ghost) in links.ghosts().enumerate() {
        of[ends.index(ghost.0).at()] = End::Ghost(i as u32);
    }
    let mut n_own = 0;
    for end in &mut of {
        if let End::Own(index) = end {
            *index = n_own;
            n_own += 1;
        }
    }
    of
}

/// Where the ascent of a ghost leads: to a peak, or to a test cell of another rank.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Ascent {
    /// The peak; its owner alone before the end.
    pub peak: KnownPeak,
    /// The number of the peak, or the test cell, on that rank.
    pub index: u32,
    is_end: u32,
}

impl Ascent {
    /// The end at own peak number `index`.
    fn end(peak: KnownPeak, index: u32) -> Self {
        Self { peak, index, is_end: 1 }
    }

    fn onward(cell: RemoteIndex) -> Self {
        let peak = KnownPeak { owner: cell.rank, ..KnownPeak::default() };
        Self { peak, index: cell.index, is_end: 0 }
    }
}

impl Lead for Ascent {
    fn target(&self) -> RemoteIndex {
        RemoteIndex { rank: self.peak.owner, index: self.index }
    }

    fn is_end(&self) -> bool {
        self.is_end == 1
    }
}

/// Collective: the peak of every ghost, list by list. `labels` say at which of the ends of these `kinds`
/// the ascent of each test cell ends, `own` are the own peaks,
/// `origins` where the ghosts are on their owners. One exchange, and two a doubling.
///
/// # Errors
/// When another rank fails.
pub fn follow(
    comm: &Comm,
    links: &TestLinks,
    origins: &[RemoteIndex],
    kinds: &[End],
    labels: &[PeakIdx],
    own: &[KnownPeak],
) -> Result<Vec<Ascent>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(Vec::new());
    }
    let step = |cell: u32| match kinds[labels[cell as usize].at()] {
        End::Own(index) => ChainStep::End(Ascent::end(own[index as usize], index)),
        End::Ghost(ghost) => ChainStep::Exit(ghost as usize),
    };
    let onward: Vec<Ascent> = origins.iter().copied().map(Ascent::onward).collect();
    let mut exits = links.shared.collect(comm, |cell| lead_of(step(cell), &onward))?;
    resolve(comm, &mut exits, step)?;
    Ok(exits)
}
