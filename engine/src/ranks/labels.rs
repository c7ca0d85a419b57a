//! Labels over ranks: which peak, on whichever rank, does the ascent of a test cell end in?
//!
//! Within a rank an ascent ends at a peak or at a ghost. The ghosts are the exits of [`super::pointers`]:
//! their owners first say where each of their mirrors leads, then chains through several ranks are
//! followed by doubling.

use super::links::TestLinks;
use super::pointers::{Lead, Step, Target, lead_of, resolve};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::{PeakIdx, TestIdx};
use inselberg_kernels::phew::label::PeakSet;

/// Where the ascents on this rank end: at own peaks, or at ghosts whose peaks are known by now.
#[derive(Debug)]
pub struct Ends {
    /// What each end is, by its place among all ends in the order of the cells.
    of: Vec<End>,
    /// The peak of every ghost, list by list.
    ghosts: Vec<Target>,
}

#[derive(Debug, Clone, Copy)]
enum End {
    /// The own peak with that number.
    Own(u32),
    /// The ghost with that number.
    Ghost(u32),
}

impl Ends {
    /// Number of ends.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The peak of each end.
    pub fn peaks(&self, rank: u32) -> impl ExactSizeIterator<Item = Target> + '_ {
        self.of.iter().map(move |end| match end {
            End::Own(index) => Target { rank, index: *index },
            End::Ghost(ghost) => self.ghosts[*ghost as usize],
        })
    }

    /// The ends that are own peaks, in order.
    pub fn own(&self) -> impl Iterator<Item = usize> + '_ {
        self.of.iter().enumerate().filter(|(_, end)| matches!(end, End::Own(_))).map(|(i, _)| i)
    }
}

/// Collective: finds the peak of every ghost. `ends` are own peaks and ghosts, `labels` say at which of
/// them the ascent of each test cell ends. One exchange, and two a doubling.
///
/// # Errors
/// When another rank fails.
pub fn follow(comm: &Comm, links: &TestLinks, ends: &PeakSet, labels: &[PeakIdx]) -> Result<Ends, CommError> {
    let rank = comm.rank().0;
    let of = kinds(links, ends);
    if comm.n_ranks() == 1 {
        return Ok(Ends { of, ghosts: Vec::new() });
    }
    let step = |cell: u32| match of[labels[cell as usize].at()] {
        End::Own(index) => Step::End(Target { rank, index }),
        End::Ghost(ghost) => Step::Exit(ghost as usize),
    };
    let origins: Vec<Lead> = links.origins(comm)?.into_iter().map(Lead::onward).collect();
    let mut exits = links.push(comm, |cell: TestIdx| lead_of(step(cell.0), &origins))?;
    resolve(comm, &mut exits, step)?;
    Ok(Ends { of, ghosts: exits.into_iter().map(|lead| lead.target).collect() })
}

/// What each end is.
fn kinds(links: &TestLinks, ends: &PeakSet) -> Vec<End> {
    let mut of = vec![End::Own(0); ends.len()];
    for (i, ghost) in links.all_ghosts().enumerate() {
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
