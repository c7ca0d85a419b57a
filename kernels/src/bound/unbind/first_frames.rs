//! First frames: in which frames of rest may the passes begin?
//!
//! The mean of all candidates is right for a halo and for a group, also where two of them merge. The patch of a small clump in a
//! large host holds more of the host than of the clump. The mean of all then moves with the host, and in its frame nothing of the
//! clump is bound. So cores are tried as well: the tenth of the candidates with the least potential, half of that, and so on down
//! to 20 members. In a clump within another one the potential may be deepest towards the host, so these are the nearest to its peak.
//!
//! ```text
//!     candidates by depth        c c c c c h c h h c h h h h h h h h ...      c: of the clump, h: of the host
//!     a tenth                    [                       ]                   mean: about h; binds few
//!     half of it                 [         ]                                 mean: about c; binds most of c
//! ```
//!
//! A core is tried only if it binds more mass at first, in the potential of all candidates, than the best one kept at the end.
//! Potentials only rise, so another core hardly wins.

use super::super::slices::{BlockSums, Slices};
use super::ClumpTask;
use super::rest_frame::{ListedMembers, RestFrame};

/// Fewest members of a core.
const FEWEST: u64 = 20;

/// Part of the candidates in the largest core: one in so many.
const PART: u64 = 10;

/// Members of the largest core of so many.
pub(super) fn core_of(number: u64) -> u64 {
    (number / PART).max(FEWEST)
}

/// A frame in which passes begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FirstFrame {
    pub frame: RestFrame,
    /// Whether it is that of a core, so that all others may be strangers.
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

    /// The frames of cores, from the one on that binds most at first; equals from the largest core on. `potential` is that of all
    /// candidates.
    pub fn of_cores<S: Slices>(of: &ClumpTask<S>, potential: &[f64]) -> Result<Vec<Self>, S::Error> {
        let largest = core_of(of.number);
        if largest >= of.number {
            return Ok(Vec::new());
        }
        let halves = std::iter::successors(Some(largest), |n| (*n > FEWEST).then(|| (n / 2).max(FEWEST)));
        let sizes: Vec<u64> = halves.collect();
        let frames = match of.candidates.is_within {
            true => RestFrame::of_deepest(&of.listed(), &of.distances_from_peak(), &sizes)?,
            false => RestFrame::of_deepest(&of.listed(), potential, &sizes)?,
        };
        let is_bound = |frame: &RestFrame, place: usize| of.energy(frame, place, potential) < 0.0;
        let masses = masses_of(of, &frames, is_bound)?;
        let of_core = |(frame, most): (&RestFrame, &f64)| Self { frame: *frame, is_core: true, most: *most };
        let mut cores: Vec<Self> = frames.iter().zip(&masses).map(of_core).collect();
        cores.sort_by(|a, b| b.most.total_cmp(&a.most));
        Ok(cores)
    }
}

/// The mass of the candidates that a closure chooses by frame and place: one sum per frame.
fn masses_of<S: Slices>(
    of: &ClumpTask<S>,
    frames: &[RestFrame],
    is_chosen: impl Fn(&RestFrame, usize) -> bool,
) -> Result<Vec<f64>, S::Error> {
    let ListedMembers { members, list, slices } = of.listed();
    let mass = &members.columns().mass;
    let own = |frame: &RestFrame| {
        let mut sums = BlockSums::new(members.bounds(), [members.bounds().mass]);
        for run in members.runs(list) {
            let chosen = run.filter(|place| is_chosen(frame, *place));
            sums.add([chosen.map(|place| mass[list[place] as usize]).sum()]);
        }
        sums
    };
    let own: Vec<BlockSums<1>> = frames.iter().map(own).collect();
    Ok(BlockSums::over_all(&own, slices)?.into_iter().map(|[mass]| mass).collect())
}
