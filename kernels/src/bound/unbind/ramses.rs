//! RAMSES's unbinding, for comparison with its output (Ivkovic & Teyssier 2022; from its source of October
//! 2024).
//!
//! The potential of a clump is that of all particles in it and in the clumps below it, as first assigned
//! ([`BinnedPotential`]). It does not change. A particle of a clump that is not a main clump is unbound if
//!
//! ```text
//!     ½ |v - v_clump|² + phi(r) - phi(r_border) >= 0
//! ```
//!
//! `v_clump` is first the mean over the same list, then over the clump's own bound particles, until the speed
//! changes by less than 1 %. The speed is relative to the box, so the result is not Galilean invariant; this
//! is RAMSES's rule. The last pass tests all own particles again, and unbound ones go to the parent. Main
//! clumps keep all particles.
//!
//! If no own particle of a clump contributes any more, its particles and those of the clumps in it are left
//! out of the first mean of its parent, unless the parent is a main clump. If that mean would have no
//! particles, all of them count.
//!
//! RAMSES's two known defects are avoided: the caller passes the distance of the nearest border, and no
//! merger tree is needed.

use super::super::members::HaloMembers;
use super::super::potential::ramses::BinnedPotential;
use super::super::radial::distance;
use super::super::slices::{Slices, total};
use super::clump_members::ClumpMember;
use super::hierarchy::{BoundHierarchy, ClumpTree, ClumpTreeError, UnboundClump, unbind_clumps};
use super::rest_frame::{ListedMembers, RestFrame};
use super::{BoundMembers, UnbindCall, UnbindReport, Unbinding};
use std::convert::Infallible;

/// The parameters of RAMSES's unbinding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RamsesUnbindRules {
    /// Radius of the innermost bin: the side of a cell of the finest level.
    pub finest_cell: f64,
    /// Length of the box along each periodic axis, infinite along others.
    pub period: [f64; 3],
    /// Passes end when the speed changes by less than this part (`conv_limit`, 0.01).
    pub speed_change: f64,
    /// Greatest number of passes (`repeat_max`, 100).
    pub max_passes: u32,
}

/// The facts about a clump that the rules need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RamsesPeak {
    /// Its density peak, relative to the same point as the members.
    pub centre: [f64; 3],
    /// Distance from the peak to the nearest border with another clump; `None` to leave the term out
    /// (`saddle_pot`).
    pub border: Option<f64>,
    /// Whether it is a main clump.
    pub is_main: bool,
}

/// One clump while it is unbound, in a slice.
struct RamsesClump<'a, S> {
    members: &'a HaloMembers,
    call: &'a UnbindCall<'a, S, RamsesUnbindRules>,
    /// Its own candidates, by rising number.
    own: Vec<u32>,
    /// The potential of each.
    depth: Vec<f64>,
    /// The potential of the border.
    border: f64,
}

/// How the passes over a clump ended.
struct LastPass {
    frame: RestFrame,
    report: UnbindReport,
    /// Whether no candidate contributes to the frame any longer.
    is_silent: bool,
}

/// Unbinds all clumps of a halo by RAMSES's rules. `border` has one entry per clump.
pub fn unbind_ramses<S: Slices<Error = Infallible>>(
    members: &HaloMembers,
    tree: &ClumpTree,
    border: &[Option<f64>],
    call: &UnbindCall<S, RamsesUnbindRules>,
) -> Result<BoundHierarchy, ClumpTreeError> {
    if border.len() != tree.parent.len() {
        let (found, expected) = (border.len(), tree.parent.len());
        return Err(ClumpTreeError::Length { column: "border", found, expected });
    }
    unbind_clumps(members, tree, |clump, list| {
        let (centre, border) = (tree.centre[clump], border[clump]);
        let peak = RamsesPeak { centre, border, is_main: tree.parent[clump].is_none() };
        let Ok(found) = unbind_ramses_slices(members, list, &peak, call);
        found
    })
}

/// Unbinds one clump by RAMSES's rules. `list` has the members of this slice in the clump and in the clumps
/// below it, by rising number.
///
/// # Errors
/// Those of the slices.
pub fn unbind_ramses_slices<S: Slices>(
    members: &HaloMembers,
    list: &[ClumpMember],
    peak: &RamsesPeak,
    call: &UnbindCall<S, RamsesUnbindRules>,
) -> Result<UnboundClump, S::Error> {
    let own: Vec<u32> = chosen(list, ClumpMember::is_candidate);
    let mut heard = chosen(list, |listed| !listed.is_silent());
    let numbers = call.slices.add(&[own.len() as u64, heard.len() as u64])?;
    if numbers[0] == 0 {
        let handed = if peak.is_main { Vec::new() } else { handed_up(list, |_| false, true) };
        return Ok(UnboundClump { found: Unbinding::default(), handed });
    }
    if numbers[1] == 0 || peak.is_main {
        heard = chosen(list, |_| true);
    }
    let clump = RamsesClump::new(members, list, own, peak, call)?;
    if peak.is_main {
        let report = UnbindReport { passes: 1, full: 1, converged: true };
        let bound = clump.bound(&clump.mean(&heard)?, |_| true);
        let found = Unbinding { bound, unbound: Vec::new(), report };
        return Ok(UnboundClump { found, handed: Vec::new() });
    }
    let LastPass { frame, report, is_silent } = clump.passes(heard)?;
    let handed = handed_up(list, |place| !clump.is_bound(place, &frame), is_silent);
    let bound = clump.bound(&frame, |place| clump.is_bound(place, &frame));
    Ok(UnboundClump { found: Unbinding { bound, unbound: Vec::new(), report }, handed })
}

fn chosen(list: &[ClumpMember], is_chosen: impl Fn(ClumpMember) -> bool) -> Vec<u32> {
    list.iter().filter(|listed| is_chosen(**listed)).map(|listed| listed.member).collect()
}

/// The members that a clump passes up: its whole list. `is_lost` takes a place among the clump's own
/// candidates; lost members become candidates of the parent.
fn handed_up(list: &[ClumpMember], is_lost: impl Fn(usize) -> bool, is_silent: bool) -> Vec<ClumpMember> {
    let mut places = 0..;
    let mut hand = |listed: &ClumpMember| {
        let place = if listed.is_candidate() { places.next() } else { None };
        ClumpMember::with_roles(listed.member, place.is_some_and(&is_lost), is_silent)
    };
    list.iter().map(&mut hand).collect()
}

impl<'a, S: Slices> RamsesClump<'a, S> {
    fn new(
        members: &'a HaloMembers,
        list: &[ClumpMember],
        own: Vec<u32>,
        peak: &RamsesPeak,
        call: &'a UnbindCall<'a, S, RamsesUnbindRules>,
    ) -> Result<Self, S::Error> {
        let UnbindCall { gravity, rules, slices } = *call;
        let position = &members.columns().position;
        let distance_of = |member: &u32| distance_over(position[*member as usize], peak.centre, rules.period);
        let all = chosen(list, |_| true);
        let distances: Vec<f64> = all.iter().map(distance_of).collect();
        let potential = BinnedPotential::new(members, &all, &distances, rules.finest_cell, gravity, slices)?;
        // Where all particles are at the peak, it has no depth.
        let (depth, border) = match potential {
            Some(potential) => (
                own.iter().map(|member| potential.at(distance_of(member))).collect(),
                potential.at_border(peak.border),
            ),
            None => (vec![0.0; own.len()], 0.0),
        };
        Ok(Self { members, call, own, depth, border })
    }

    /// Collective: passes over a clump below another. `contributing` sets the first frame. A gathering and a
    /// reduction each.
    fn passes(&self, mut contributing: Vec<u32>) -> Result<LastPass, S::Error> {
        let UnbindCall { rules, slices, .. } = *self.call;
        let mut report = UnbindReport { full: 1, ..UnbindReport::default() };
        let mut frame = self.mean(&contributing)?;
        loop {
            report.passes += 1;
            if report.passes > 1 {
                let next = self.mean(&contributing)?;
                let change = (speed2(&frame) / speed2(&next)).sqrt() - 1.0;
                frame = next;
                report.converged = change.abs() < rules.speed_change;
            }
            if report.converged || report.passes >= rules.max_passes {
                return Ok(LastPass { frame, report, is_silent: false });
            }
            let bound = (0..self.own.len()).filter(|place| self.is_bound(*place, &frame));
            contributing = bound.map(|place| self.own[place]).collect();
            if total(slices, contributing.len())? == 0 {
                return Ok(LastPass { frame, report, is_silent: true });
            }
        }
    }

    /// The own candidates at some places.
    fn bound(&self, frame: &RestFrame, is_bound: impl Fn(usize) -> bool) -> BoundMembers {
        let places: Vec<usize> = (0..self.own.len()).filter(|place| is_bound(*place)).collect();
        BoundMembers {
            member: places.iter().map(|place| self.own[*place]).collect(),
            energy: places.iter().map(|place| self.energy(*place, frame)).collect(),
            potential: places.iter().map(|place| self.depth[*place]).collect(),
        }
    }

    /// Collective: the frame of these members.
    fn mean(&self, list: &[u32]) -> Result<RestFrame, S::Error> {
        RestFrame::mean(&ListedMembers { members: self.members, list, slices: self.call.slices }, |_| true)
    }

    fn is_bound(&self, place: usize, frame: &RestFrame) -> bool {
        self.energy(place, frame) < 0.0
    }

    /// The energy per mass relative to a member at rest at the border.
    fn energy(&self, place: usize, frame: &RestFrame) -> f64 {
        frame.kinetic(self.members, self.own[place], 0.0) + self.depth[place] - self.border
    }
}

/// The distance of two points, over the periodic images.
fn distance_over(a: [f64; 3], b: [f64; 3], period: [f64; 3]) -> f64 {
    let step: [f64; 3] = std::array::from_fn(|axis| {
        let (d, side) = ((a[axis] - b[axis]).abs(), period[axis]);
        if d > 0.5 * side { side - d } else { d }
    });
    distance(step, [0.0; 3])
}

fn speed2(frame: &RestFrame) -> f64 {
    frame.velocity().iter().map(|v| v * v).sum()
}
