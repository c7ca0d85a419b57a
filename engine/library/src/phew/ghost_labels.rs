//! Labels over ranks: at which peak, on whichever rank, does the ascent of a test cell end?
//!
//! Within a rank an ascent ends at a peak or at a ghost. The ghosts are the exits of
//! [`crate::exchange::chains`]: their owners first answer where each of their mirrors leads, then chains
//! through several ranks are followed by doubling. The answer for a ghost is its peak.

use crate::exchange::chains::{ChainStep, Lead, Target, lead_of, resolve};
use crate::partition::Ghosts;
use crate::phew::known_peaks::{KnownPeak, PeakColumns};
use crate::phew::test_links::TestLinks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::{PeakIdx, PeakName, RootIdx};
use inselberg_kernels::phew::label::RootSet;

/// A root of the ascents on a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The peak at that index of the own peaks.
    Own(PeakIdx),
    /// The ghost at that place of [`TestLinks::ghosts`].
    Ghost(u32),
}

/// Tells own peaks from ghosts among the roots, and numbers both: ghosts as [`TestLinks::ghosts`] does, own
/// peaks in the order of their cells.
///
/// ```text
/// roots by cell      peak    ghost     peak    peak    ghost
/// classified         Own(0)  Ghost(1)  Own(1)  Own(2)  Ghost(0)
/// ```
pub fn classify(links: &TestLinks, roots: &RootSet) -> Vec<Root> {
    let mut ghost_at: Vec<Option<u32>> = vec![None; roots.len()];
    for (ghost, cell) in (0..).zip(links.ghosts()) {
        ghost_at[roots.index(cell.0).at()] = Some(ghost);
    }
    let mut own_peaks = (0..).map(PeakIdx::new);
    let root = |ghost: Option<u32>| match ghost {
        Some(ghost) => Root::Ghost(ghost),
        None => Root::Own(own_peaks.next().expect("the range has no end")),
    };
    ghost_at.into_iter().map(root).collect()
}

/// The target of the ascent of a ghost: a peak, or a mirror on another rank.
///
/// Both ranks of a link list its cells in the same order. So a place in that list names a ghost on one rank
/// and its mirror on the other.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GhostAscent {
    /// The peak. Before the end of the chain, its name contains only the rank that has the mirror.
    pub peak: KnownPeak,
    /// On that rank: the index of the peak among its own peaks, or the place of the mirror in its link to
    /// `sharer`.
    pub index: u32,
    /// The rank that has a copy of the mirror; [`NO_RANK`] at the end.
    sharer: u32,
}

/// Stands for a rank at the end of an ascent.
const NO_RANK: u32 = u32::MAX;

impl GhostAscent {
    /// The ascent ends at a peak of the rank that answers.
    fn end(peak: KnownPeak, index: PeakIdx) -> Self {
        Self { peak, index: index.0, sharer: NO_RANK }
    }

    /// The ascents of the ghosts of a rank, link after link: they go on at the mirrors of which the ghosts
    /// are copies.
    fn onward(links: &Ghosts, rank: Rank) -> Vec<Self> {
        let of = |owner: Rank, place: usize| {
            let peak = KnownPeak { name: PeakName::new(0, owner.0), ..KnownPeak::default() };
            Self { peak, index: place as u32, sharer: rank.0 }
        };
        links.links().iter().flat_map(|link| (0..link.ghosts.len()).map(move |i| of(link.rank, i))).collect()
    }

    /// The test cell of a mirror from [`Lead::target`], on the rank that has it.
    fn mirror(links: &Ghosts, item: u64) -> u32 {
        let (sharer, place) = (Rank((item >> 32) as u32), item as u32);
        let link = links.links().binary_search_by_key(&sharer, |link| link.rank);
        links.links()[link.expect("both ranks have a link to each other")].mirrors[place as usize]
    }
}

impl Lead for GhostAscent {
    fn target(&self) -> Target {
        let item = u64::from(self.sharer) << 32 | u64::from(self.index);
        Target { rank: self.peak.name.owner(), item }
    }

    fn is_end(&self) -> bool {
        self.sharer == NO_RANK
    }
}

/// Collective: the peak of every ghost, in the order of [`TestLinks::ghosts`]. Two exchanges, and one per
/// doubling.
///
/// `classes` has an entry per root, `labels` the root of each test cell. `own` are the own peaks.
///
/// # Errors
/// When another rank fails.
pub fn follow(
    comm: &Comm,
    links: &TestLinks,
    classes: &[Root],
    labels: &[RootIdx],
    own: &PeakColumns,
) -> Result<Vec<GhostAscent>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(Vec::new());
    }
    let step = |cell: u32| match classes[labels[cell as usize].at()] {
        Root::Own(peak) => ChainStep::End(GhostAscent::end(own.get(peak.at()), peak)),
        Root::Ghost(ghost) => ChainStep::Exit(ghost as usize),
    };
    let onward = GhostAscent::onward(&links.shared, comm.rank());
    let mut ghosts = links.shared.collect(comm, |cell| lead_of(step(cell), &onward))?;
    resolve(comm, &mut ghosts, |item| step(GhostAscent::mirror(&links.shared, item)))?;
    Ok(ghosts)
}
