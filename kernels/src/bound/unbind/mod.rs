//! Unbinding: which candidates does gravity bind?
//!
//! The bound set B of the candidates C is found in passes. Begin with B = C and a first frame of rest, then
//! repeat
//!
//! ```text
//!     phi   the potential of B
//!     e     = ½ |v - v_B + H (x - x_B)|² + phi + u      u only if requested
//!           of the members with e >= 0 the highest leave, at most a quarter of B
//!     x_B, v_B   mean position and velocity of the members with e < 0, weighted by mass
//! ```
//!
//! until no member leaves. At the end, every member has e < 0 in the mean frame of all, so the result does
//! not depend on the path. There may be several such sets, and the first frame decides which one is found. So
//! several first frames are tried, each to its end, and the one that keeps the greatest mass counts
//! ([`first_frames`]). Members that left too early come back ([`readmission`]).
//!
//! | step | file |
//! |---|---|
//! | a frame of rest, and the first frames of the passes | [`rest_frame`], [`first_frames`] |
//! | the first frame that keeps most mass | [`trials`] |
//! | the passes from one first frame to the end | [`passes`] |
//! | candidates that left too early come back | [`readmission`] |
//! | members that a clump loses are candidates of its parent | [`hierarchy`], [`clump_members`] |
//! | the bound members and their centre | [`bound_members`] |
//! | RAMSES's own rules | [`ramses`] |
//!
//! Sources: the energy is that of HBT-HERONS (Han et al. 2018) and SUBFIND (Springel et al. 2001). As in
//! SUBFIND, at most a quarter leaves at once.

mod bound_members;
pub mod clump_members;
mod first_frames;
pub mod hierarchy;
mod passes;
pub mod ramses;
mod readmission;
mod rest_frame;
mod trials;

pub use bound_members::BoundMembers;

use super::members::HaloMembers;
#[cfg(doc)]
use super::members::MemberColumns;
use super::potential::listed::PotentialScratch;
use super::potential::octree::Octree;
use super::potential::points::Points;
use super::radial::distance;
use super::slices::{Slices, Whole, smallest_of, total};
use super::{Gravity, SourceTypes};
use crate::loops::values;
use passes::Passes;
use rest_frame::{ListedMembers, RestFrame};
use trials::Trials;

/// A clump within another one must have its centre within this part of the radius that holds half of its
/// candidates.
const NEAR_PEAK: f64 = 0.5;

/// How potentials are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PotentialMethod {
    /// By a tree, or by all pairs for fewer than 64 members.
    #[default]
    Tree,
    /// By all pairs.
    Direct,
    /// As if members were shells about the centre of their clump.
    Spherical,
}

/// The rules of unbinding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnbindRules {
    /// How potentials are computed.
    pub method: PotentialMethod,
    /// The types whose mass makes the potential.
    pub sources: SourceTypes,
    /// Whether the specific internal energy is added.
    pub thermal: bool,
    /// Greatest number of passes.
    pub max_passes: u32,
    /// A clump with fewer bound members dissolves.
    pub fewest: usize,
}

impl Default for UnbindRules {
    fn default() -> Self {
        Self {
            method: PotentialMethod::Tree,
            sources: SourceTypes::ALL,
            thermal: false,
            max_passes: 100,
            fewest: 20,
        }
    }
}

/// A report on an unbinding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnbindReport {
    /// Number of passes.
    pub passes: u32,
    /// Number of full computations of the potential.
    pub full: u32,
    /// Whether no member left after a full computation. If not, the passes were used up.
    pub converged: bool,
}

/// The result for one clump.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unbinding {
    /// Its bound members; none if it dissolved.
    pub bound: BoundMembers,
    /// All other candidates, by rising number.
    pub unbound: Vec<u32>,
    /// The report.
    pub report: UnbindReport,
}

/// Working memory, proportional to the candidates. One value serves any number of clumps in turn.
#[derive(Debug, Clone, Default)]
pub struct UnbindScratch {
    listed: PotentialScratch,
    other_points: Points,
    other_tree: Octree,
}

/// The candidates of a clump.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidates<'a> {
    /// The numbers of its own members, ascending.
    pub list: &'a [u32],
    /// The numbers of members that the clumps in it have lost, ascending. They join a clump within another
    /// one only if they are bound to the members that it keeps of its own. For other clumps they are
    /// candidates like its own members.
    pub handed: &'a [u32],
    /// What is bound to the halo as a whole, if that is known. A clump that lies in no other one begins with
    /// them.
    pub whole: Option<&'a BoundMembers>,
    /// The density peak of the clump, relative to the same point as the members.
    pub peak: [f64; 3],
    /// Whether the clump lies within another one. Its candidates may then contain a part of the host that is
    /// bound to itself.
    pub is_within: bool,
    /// Whether its own members are former members of a track. Cores are then those with the lowest
    /// [former ranks](MemberColumns::former_rank). There need not be a peak, so its centre may be anywhere.
    pub is_claimed: bool,
}

impl Candidates<'_> {
    /// All of them, ascending.
    fn all(&self) -> Vec<u32> {
        let mut all = [self.list, self.handed].concat();
        all.sort_unstable();
        all
    }
}

/// Unbinds the candidates of one clump. Time n log n per pass, except by all pairs.
pub fn unbind(
    members: &HaloMembers,
    candidates: &Candidates,
    gravity: &Gravity,
    rules: &UnbindRules,
    scratch: &mut UnbindScratch,
) -> Unbinding {
    let Ok(found) =
        unbind_slices(members, candidates, &UnbindCall { gravity, rules, slices: &Whole }, scratch);
    found
}

/// The unbinding of members in slices, with either kind of rules.
#[derive(Debug, Clone, Copy)]
pub struct UnbindCall<'a, S, R = UnbindRules> {
    /// Gravity.
    pub gravity: &'a Gravity,
    /// The rules.
    pub rules: &'a R,
    /// What joins the slices.
    pub slices: &'a S,
}

/// [`unbind`] of candidates in slices. The result has the members of this slice; the report covers all
/// slices.
///
/// # Errors
/// Those of the slices.
pub fn unbind_slices<S: Slices>(
    members: &HaloMembers,
    candidates: &Candidates,
    call: &UnbindCall<S>,
    scratch: &mut UnbindScratch,
) -> Result<Unbinding, S::Error> {
    if !candidates.is_within && !candidates.handed.is_empty() {
        let list = candidates.all();
        return unbind_slices(
            members,
            &Candidates { list: &list, handed: &[], ..*candidates },
            call,
            scratch,
        );
    }
    let number = total(call.slices, candidates.list.len())?;
    if number < call.rules.fewest.max(1) as u64 {
        return Ok(Unbinding { unbound: candidates.all(), ..Unbinding::default() });
    }
    let clump = ClumpTask { members, candidates, call, number };
    clump.unbind(scratch)
}

/// A clump that is unbound.
#[derive(Debug)]
struct ClumpTask<'a, S> {
    members: &'a HaloMembers,
    candidates: &'a Candidates<'a>,
    call: &'a UnbindCall<'a, S>,
    /// Number of candidates in all slices.
    number: u64,
}

impl<S: Slices> ClumpTask<'_, S> {
    fn listed(&self) -> ListedMembers<'_, S> {
        ListedMembers { members: self.members, list: self.candidates.list, slices: self.call.slices }
    }

    /// The energy per mass of a member without its potential: of its motion in a frame, plus its internal
    /// energy if that counts.
    #[inline]
    fn heat(&self, frame: &RestFrame, member: u32) -> f64 {
        let thermal = if self.call.rules.thermal { self.members.internal_energy(member) } else { 0.0 };
        frame.kinetic(self.members, member, self.call.gravity.hubble_flow) + thermal
    }

    /// The energy per mass of the candidate at a place.
    #[inline]
    fn energy(&self, frame: &RestFrame, place: usize, potential: &[f64]) -> f64 {
        self.heat(frame, self.candidates.list[place]) + potential[place]
    }

    fn unbind(&self, scratch: &mut UnbindScratch) -> Result<Unbinding, S::Error> {
        let Candidates { whole, is_within, .. } = *self.candidates;
        if let Some(halo) = whole.filter(|_| !is_within)
            && let Some(passes) = Passes::of_halo(self, halo, scratch)?
        {
            return passes.finish(None, scratch);
        }
        let trials = Trials::new(self, scratch)?;
        match trials.best(scratch)? {
            Some(kept) => kept.passes.finish(Some(&trials.potential), scratch),
            None => {
                let (unbound, report) = (self.candidates.all(), trials.report());
                Ok(Unbinding { unbound, report, ..Unbinding::default() })
            }
        }
    }

    /// The distance of each candidate from the peak.
    fn distances_from_peak(&self) -> Vec<f64> {
        let (position, peak) = (&self.members.columns().position, self.candidates.peak);
        let list = self.candidates.list;
        values(self.call.slices, list.len(), |at| distance(position[list[at] as usize], peak))
    }

    /// The former rank of each candidate.
    fn former_ranks(&self) -> Vec<f64> {
        let list = self.candidates.list;
        values(self.call.slices, list.len(), |at| f64::from(self.members.former_rank(list[at])))
    }

    /// The sphere in which the centre of the bound members must lie.
    fn place_of_peak(&self) -> Result<PeakPlace, S::Error> {
        let Candidates { peak, is_within, is_claimed, .. } = *self.candidates;
        if !is_within || is_claimed {
            return Ok(PeakPlace { peak, within: f64::INFINITY });
        }
        let mut distances = self.distances_from_peak();
        let half = smallest_of(self.call.slices, &mut distances, &[self.number / 2])?[0];
        Ok(PeakPlace { peak, within: NEAR_PEAK * half })
    }
}

/// The sphere in which the centre of the bound members of a clump must lie.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PeakPlace {
    peak: [f64; 3],
    within: f64,
}

impl PeakPlace {
    fn holds<S: Slices>(&self, passes: &Passes<S>) -> Result<bool, S::Error> {
        if self.within == f64::INFINITY {
            return Ok(true);
        }
        let deepest = passes.deepest()?;
        Ok(deepest.is_some_and(|position| distance(position, self.peak) <= self.within))
    }
}
