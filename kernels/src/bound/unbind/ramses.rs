//! RAMSES's unbinding, for comparison with its output (Ivkovic & Teyssier 2022; from its source of October 2024).
//!
//! The potential of a clump is that of all particles in it and in the clumps below it, as first assigned
//! ([`BinnedPotential`]). It does not change. A particle of a clump that is not a main clump is unbound if
//!
//! ```text
//!     ½ |v - v_clump|² + phi(r) - phi(r_border) >= 0
//! ```
//!
//! `v_clump` is first the mean over the same list, then over the bound particles among the clump's own, until the speed
//! changes by less than 1 %. That speed is in the frame of the box, so the result is not Galilean invariant: this is
//! RAMSES's rule. The last pass tests all own particles again, and those unbound go to the parent. Main clumps keep all.
//!
//! A clump of which no own particle contributes any more takes all its particles, and those of the clumps in it, out of the first
//! mean of its parent, unless the parent is a main clump. If nothing is left there, all of them count.
//!
//! RAMSES's two known defects are not here: the caller gives the distance of the nearest border, and no merger tree is needed.

use super::super::Gravity;
use super::super::members::HaloMembers;
use super::super::potential::ramses::BinnedPotential;
use super::super::radial::distance;
use super::super::slices::Whole;
use super::core_frame::{CoreFrame, ListedMembers};
use super::hierarchy::{BoundHierarchy, ClumpTree, ClumpTreeError};
use super::{BoundMembers, UnbindReport, Unbinding};

/// The parameters of RAMSES's unbinding.
#[derive(Debug, Clone, PartialEq)]
pub struct RamsesUnbindRules<'a> {
    /// Distance from each peak to the nearest border with another clump; `None` to leave the term out (`saddle_pot`).
    pub border: &'a [Option<f64>],
    /// Radius of the innermost bin: the side of a cell of the finest level.
    pub finest_cell: f64,
    /// Length of the box along each periodic axis, infinite along others.
    pub period: [f64; 3],
    /// Passes end when the speed changes by less than this part (`conv_limit`, 0.01).
    pub speed_change: f64,
    /// Most passes (`repeat_max`, 100).
    pub max_passes: u32,
}

/// One clump while it is unbound.
struct RamsesClump<'a> {
    members: &'a HaloMembers,
    centre: [f64; 3],
    period: [f64; 3],
    /// `None` if all its particles are at the peak, which then has no depth.
    potential: Option<BinnedPotential>,
    border: f64,
}

/// What a clump hands to its parent.
struct ClumpLosers {
    members: Vec<u32>,
    /// Whether the whole list of the clump is left out of the first mean of its parent.
    is_silent: bool,
}

/// Unbinds all clumps of a halo by RAMSES's rules.
pub fn unbind_ramses(
    members: &HaloMembers,
    tree: &ClumpTree,
    gravity: &Gravity,
    rules: &RamsesUnbindRules,
) -> Result<BoundHierarchy, ClumpTreeError> {
    let order = tree.children_first(members)?;
    if rules.border.len() != tree.parent.len() {
        let (found, expected) = (rules.border.len(), tree.parent.len());
        return Err(ClumpTreeError::Length { column: "border", found, expected });
    }
    let (mut own, unbound) = tree.own_members();
    let mut lists = own.clone();
    let mut silent: Vec<Vec<u32>> = vec![Vec::new(); tree.parent.len()];
    let mut clumps = vec![Unbinding::default(); tree.parent.len()];
    for at in order.into_iter().map(|clump| clump as usize) {
        let mut list = std::mem::take(&mut lists[at]);
        list.sort_unstable();
        let mut candidates = std::mem::take(&mut own[at]);
        candidates.sort_unstable();
        let clump = RamsesClump::new(members, &list, tree.centre[at], rules.border[at], gravity, rules);
        match tree.parent[at].map(|parent| parent as usize) {
            Some(parent) => {
                let heard = without(&list, std::mem::take(&mut silent[at]));
                let (result, mut losers) = clump.unbind(heard, &candidates, rules);
                clumps[at] = result;
                own[parent].append(&mut losers.members);
                if losers.is_silent {
                    silent[parent].extend_from_slice(&list);
                }
                lists[parent].append(&mut list);
            }
            None => clumps[at] = clump.keep(&list, candidates),
        }
    }
    Ok(BoundHierarchy { clumps, unbound })
}

/// The members of a list that are not silent; all of them if none is left. The list ascends.
fn without(list: &[u32], mut silent: Vec<u32>) -> Vec<u32> {
    silent.sort_unstable();
    let heard: Vec<u32> =
        list.iter().copied().filter(|member| silent.binary_search(member).is_err()).collect();
    if heard.is_empty() { list.to_vec() } else { heard }
}

impl<'a> RamsesClump<'a> {
    fn new(
        members: &'a HaloMembers,
        list: &[u32],
        centre: [f64; 3],
        border: Option<f64>,
        gravity: &Gravity,
        rules: &RamsesUnbindRules,
    ) -> Self {
        let mut clump = Self { members, centre, period: rules.period, potential: None, border: 0.0 };
        let mass = &members.columns().mass;
        let profile: Vec<(f64, f64)> =
            list.iter().map(|member| (clump.distance(*member), mass[*member as usize])).collect();
        clump.potential = BinnedPotential::new(&profile, rules.finest_cell, gravity);
        clump.border = clump.potential.as_ref().map_or(0.0, |potential| potential.at_border(border));
        clump
    }

    /// Passes over a clump below another: its bound members and its losers. `contributing` sets the first frame.
    fn unbind(
        &self,
        mut contributing: Vec<u32>,
        own: &[u32],
        rules: &RamsesUnbindRules,
    ) -> (Unbinding, ClumpLosers) {
        if own.is_empty() {
            return (Unbinding::default(), ClumpLosers { members: Vec::new(), is_silent: true });
        }
        let mut report = UnbindReport { full: 1, ..UnbindReport::default() };
        let mut frame = self.mean(&contributing);
        loop {
            report.passes += 1;
            if report.passes > 1 {
                let next = self.mean(&contributing);
                let change = (speed2(&frame) / speed2(&next)).sqrt() - 1.0;
                frame = next;
                if change.abs() < rules.speed_change {
                    report.converged = true;
                    break;
                }
            }
            if report.passes >= rules.max_passes {
                break;
            }
            contributing = own.iter().copied().filter(|member| self.energy(*member, &frame) < 0.0).collect();
            if contributing.is_empty() {
                break;
            }
        }
        let (bound, members) = own.iter().partition(|member| self.energy(**member, &frame) < 0.0);
        let losers = ClumpLosers { members, is_silent: contributing.is_empty() };
        (Unbinding { bound: self.bound(bound, &frame), unbound: Vec::new(), report }, losers)
    }

    /// A main clump keeps all its particles.
    fn keep(&self, list: &[u32], own: Vec<u32>) -> Unbinding {
        if own.is_empty() {
            return Unbinding::default();
        }
        let frame = self.mean(list);
        let report = UnbindReport { passes: 1, full: 1, converged: true };
        Unbinding { bound: self.bound(own, &frame), unbound: Vec::new(), report }
    }

    fn bound(&self, member: Vec<u32>, frame: &CoreFrame) -> BoundMembers {
        BoundMembers {
            energy: member.iter().map(|member| self.energy(*member, frame)).collect(),
            potential: member.iter().map(|member| self.depth(*member)).collect(),
            member,
        }
    }

    fn mean(&self, list: &[u32]) -> CoreFrame {
        let listed = ListedMembers { members: self.members, list, slices: &Whole };
        let Ok(mean) = CoreFrame::mean(&listed, |_| true);
        mean
    }

    /// The energy per mass beyond that of a member at rest at the border.
    fn energy(&self, member: u32, frame: &CoreFrame) -> f64 {
        frame.kinetic(self.members, member, 0.0) + self.depth(member) - self.border
    }

    fn depth(&self, member: u32) -> f64 {
        self.potential.as_ref().map_or(0.0, |potential| potential.at(self.distance(member)))
    }

    /// The distance of a member from the peak, over the periodic images.
    fn distance(&self, member: u32) -> f64 {
        let position = self.members.columns().position[member as usize];
        let step: [f64; 3] = std::array::from_fn(|a| {
            let (d, side) = ((position[a] - self.centre[a]).abs(), self.period[a]);
            if d > 0.5 * side { side - d } else { d }
        });
        distance(step, [0.0; 3])
    }
}

fn speed2(frame: &CoreFrame) -> f64 {
    frame.velocity().iter().map(|v| v * v).sum()
}
