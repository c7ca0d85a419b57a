//! First frames: from which frames of rest may the passes start?
//!
//! The mean of all candidates is right for a halo or a group, even in a merger. But the patch of a small
//! clump in a large host contains more members of the host than of the clump. The mean of all then moves with
//! the host, and nothing of the clump is bound in its frame. So cores are tried as well: the tenth of the
//! candidates with the least potential, half of that, and so on down to 20 members. In a clump within another
//! one, the potential may be deepest towards the host, so its cores are the candidates nearest to its peak.
//!
//! ```text
//!     candidates by depth        c c c c c h c h h c h h h h h h h h ...      c: of the clump, h: of the host
//!     a tenth                    [                       ]                   mean: about h; binds few
//!     half of it                 [         ]                                 mean: about c; binds most of c
//! ```
//!
//! The core that initially binds most mass, in the potential of all candidates, is tried first. Potentials
//! only rise, so a core can hardly win if it initially binds less than the best one has kept at its end. A
//! core whose members the best one has kept would end in the same set. Neither is tried.
//!
//! In a clump within another one, the mean of all candidates is one of the cores.
//!
//! Where the candidates are former members of a track, the cores are those that were most bound: what survives
//! of a stripped clump is the former core, while the streams may outweigh it.

use super::super::slices::{BlockSums, Slices, smallest_of};
use super::ClumpTask;
use super::rest_frame::{ListedMembers, RestFrame};
use std::ops::Range;

/// Fewest members of a core.
const FEWEST: u64 = 20;

/// The largest core has one in this number of the candidates.
const PART: u64 = 10;

/// A core of which this part has been kept already would end in the same set.
const HELD: f64 = 0.9;

/// Number of members of the largest core of `number` candidates.
pub(super) fn core_of(number: u64) -> u64 {
    (number / PART).max(FEWEST)
}

/// The numbers of members of the cores of `number` candidates, the largest first. No core has all of them.
fn core_sizes(number: u64) -> Vec<u64> {
    let halves = std::iter::successors(Some(core_of(number)), |n| (*n > FEWEST).then(|| (n / 2).max(FEWEST)));
    halves.filter(|n| *n < number).collect()
}

/// A frame in which passes begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FirstFrame {
    pub frame: RestFrame,
    /// Whether it is that of a core, so that all others may be unrelated.
    pub is_core: bool,
    /// The mass that it may keep.
    pub most: f64,
}

impl FirstFrame {
    /// The frame of all candidates.
    pub fn of_all<S: Slices>(of: &ClumpTask<S>) -> Result<Self, S::Error> {
        let frame = RestFrame::mean(&of.listed(), |_| true)?;
        let most = masses_of(of, &[frame], |_, _| true)?[0];
        Ok(Self { frame, is_core: false, most })
    }
}

/// The cores of the candidates of a clump. For a clump within another one, all candidates are a core, too.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Cores {
    /// The depth of each candidate.
    depth: Vec<f64>,
    /// The cores that are still to be tried. The next one is the last: it initially binds most; between
    /// equals, the largest.
    waiting: Vec<Core>,
}

/// A core: the candidates with no more than this depth.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Core {
    first: FirstFrame,
    limit: f64,
}

impl Cores {
    /// The first frames of a clump, with the potential of all its candidates.
    pub fn new<S: Slices>(of: &ClumpTask<S>, potential: &[f64]) -> Result<Self, S::Error> {
        let is_within = of.candidates.is_within;
        let depth = match (of.candidates.is_claimed, is_within) {
            (true, _) => of.former_ranks(),
            (false, true) => of.distances_from_peak(),
            (false, false) => potential.to_vec(),
        };
        let sizes = core_sizes(of.number);
        let places: Vec<u64> = sizes.iter().map(|n| n - 1).collect();
        let mut limits = smallest_of(of.call.slices, &mut depth.clone(), &places)?;
        if is_within {
            limits.insert(0, f64::INFINITY);
        }
        let frames = RestFrame::of_cores(&of.listed(), &depth, &limits)?;
        let is_bound = |frame: &RestFrame, place: usize| of.energy(frame, place, potential) < 0.0;
        let masses = masses_of(of, &frames, is_bound)?;
        let core = |((frame, most), limit): ((&RestFrame, &f64), &f64)| Core {
            first: FirstFrame { frame: *frame, is_core: *limit < f64::INFINITY, most: *most },
            limit: *limit,
        };
        let mut waiting: Vec<Core> = frames.iter().zip(&masses).zip(&limits).map(core).rev().collect();
        waiting.sort_by(|a, b| a.first.most.total_cmp(&b.first.most));
        Ok(Self { depth, waiting })
    }

    /// The next core to try, if it may keep more than a mass.
    pub fn next_above(&mut self, mass: f64) -> Option<FirstFrame> {
        self.waiting.pop().map(|core| core.first).filter(|first| first.most > mass)
    }

    /// Drops the cores of which nearly all members have been kept; `held` has their places in this slice.
    pub fn forget_held<S: Slices>(
        &mut self,
        held: impl Iterator<Item = usize>,
        slices: &S,
    ) -> Result<(), S::Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let n_within = |depth: &mut dyn Iterator<Item = f64>| -> Vec<u64> {
            let mut numbers = vec![0; self.waiting.len()];
            for depth in depth {
                let within = self.waiting.iter().zip(&mut numbers).filter(|(core, _)| depth <= core.limit);
                within.for_each(|(_, number)| *number += 1);
            }
            numbers
        };
        let mut counts = n_within(&mut self.depth.iter().copied());
        counts.extend(n_within(&mut held.map(|place| self.depth[place])));
        let counts = slices.add(&counts)?;
        let (all, held) = counts.split_at(self.waiting.len());
        let mut is_new = all.iter().zip(held).map(|(all, held)| (*held as f64) < HELD * *all as f64);
        self.waiting.retain(|_| is_new.next().expect("one per core"));
        Ok(())
    }
}

/// The mass of the candidates that a closure chooses by frame and place: one sum per frame.
fn masses_of<S: Slices>(
    of: &ClumpTask<S>,
    frames: &[RestFrame],
    is_chosen: impl Fn(&RestFrame, usize) -> bool + Sync,
) -> Result<Vec<f64>, S::Error> {
    let ListedMembers { members, list, slices } = of.listed();
    let mass = &members.columns().mass;
    let own = |frame: &RestFrame| {
        let mut sums = BlockSums::new(members.bounds(), [members.bounds().mass]);
        let of_block = |run: Range<usize>| {
            let chosen = run.filter(|place| is_chosen(frame, *place));
            [chosen.map(|place| mass[list[place] as usize]).sum()]
        };
        sums.add_blocks(slices, members.runs(list), of_block);
        sums
    };
    let own: Vec<BlockSums<1>> = frames.iter().map(own).collect();
    Ok(BlockSums::over_all(&own, slices)?.into_iter().map(|[mass]| mass).collect())
}
