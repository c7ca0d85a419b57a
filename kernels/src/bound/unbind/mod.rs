//! Unbinding: which candidates does gravity hold?
//!
//! The energy per mass of a member is
//!
//! ```text
//!     e = ½ |v - v_core + H (x - x_core)|² + phi + u     with u only on demand
//! ```
//!
//! A member with e >= 0 is unbound and leaves; the potential of the others then rises, so the test is repeated:
//!
//! 1. The core: the tenth of the members with the least energy, but 20 at least; in the first pass, with the least potential.
//!    Its mean position and velocity define the frame. A member with more than half of all mass is the core alone.
//! 2. Energies of all members. Those with e >= 0 leave, but no more than half of the members at once, the least bound first.
//! 3. Their potential is taken off that of the others. Once a fifth of the members have left since the last full computation,
//!    the potential is computed anew.
//!
//! Done when energies from a full computation let nobody leave. Losers of a clump are candidates of its parent ([`hierarchy`]).
//! [`ramses`] has RAMSES's own rules.
//!
//! Source: the energy and the core as in HBT-HERONS (Han et al. 2018) and SUBFIND (Springel et al. 2001).

mod core_frame;
pub mod hierarchy;
pub mod ramses;

use super::members::HaloMembers;
use super::potential::FEWEST_OF_TREE;
use super::potential::direct::direct;
use super::potential::octree::Octree;
use super::potential::points::Points;
use super::potential::spherical::spherical;
use super::potential::tree::{Rooted, TreeScratch, subtract, tree};
use super::{Gravity, SourceTypes};
use core_frame::CoreFrame;
use std::cmp::Ordering;

/// How potentials are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PotentialMethod {
    /// By a tree; by all pairs of fewer than 64 members.
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
    /// Whether the specific internal energy counts.
    pub thermal: bool,
    /// Most passes.
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

/// The bound members of a clump, by rising number. Columns have one entry each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundMembers {
    /// Their numbers.
    pub member: Vec<u32>,
    /// Energy per mass, below 0; by RAMSES's rules beyond that of a member at rest at the border, and of any value in a main clump.
    pub energy: Vec<f64>,
    /// Potential.
    pub potential: Vec<f64>,
}

/// How an unbinding went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnbindReport {
    /// Number of passes.
    pub passes: u32,
    /// Number of full computations of the potential.
    pub full: u32,
    /// Whether a full computation let nobody leave. If not, the passes were used up.
    pub converged: bool,
}

/// The result for one clump.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unbinding {
    /// Its bound members; none if it dissolved.
    pub bound: BoundMembers,
    /// All other candidates, by rising number.
    pub unbound: Vec<u32>,
    /// How it went.
    pub report: UnbindReport,
}

/// Working memory, in proportion to the candidates. One value serves any number of clumps in turn.
#[derive(Debug, Clone, Default)]
pub struct UnbindScratch {
    points: Points,
    octree: Octree,
    removed_points: Points,
    removed_tree: Octree,
    walk: TreeScratch,
    values: Vec<f64>,
}

impl BoundMembers {
    /// Number of bound members.
    pub fn len(&self) -> usize {
        self.member.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.member.is_empty()
    }

    /// The places of the bound members from the most bound one on; equals by identifier. Costs a sort.
    pub fn ranked(&self, members: &HaloMembers) -> Vec<u32> {
        let mut places: Vec<u32> = (0..self.len() as u32).collect();
        places.sort_unstable_by(|a, b| self.compare(members, *a, *b));
        places
    }

    /// The place of the most bound member; `None` if there are none.
    pub fn most_bound(&self, members: &HaloMembers) -> Option<usize> {
        let places = 0..self.len() as u32;
        places.min_by(|a, b| self.compare(members, *a, *b)).map(|place| place as usize)
    }

    fn compare(&self, members: &HaloMembers, a: u32, b: u32) -> Ordering {
        let id = |place: u32| members.columns().id[self.member[place as usize] as usize];
        self.energy[a as usize].total_cmp(&self.energy[b as usize]).then_with(|| (id(a), a).cmp(&(id(b), b)))
    }

    /// Keeps the members that a closure names by place; the others come back.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) -> Vec<u32> {
        let (mut kept, mut removed) = (0, Vec::new());
        for place in 0..self.len() {
            if keep(place) {
                self.member[kept] = self.member[place];
                self.energy[kept] = self.energy[place];
                self.potential[kept] = self.potential[place];
                kept += 1;
            } else {
                removed.push(self.member[place]);
            }
        }
        self.member.truncate(kept);
        self.energy.truncate(kept);
        self.potential.truncate(kept);
        removed
    }
}

/// Unbinds the candidates of one clump, listed by rising number. `centre` is its density peak, relative to the same point
/// as the members; only [`PotentialMethod::Spherical`] uses it. Time n log n per pass, except by all pairs.
pub fn unbind(
    members: &HaloMembers,
    candidates: &[u32],
    centre: [f64; 3],
    gravity: &Gravity,
    rules: &UnbindRules,
    scratch: &mut UnbindScratch,
) -> Unbinding {
    if candidates.len() < rules.fewest.max(1) {
        return Unbinding { unbound: candidates.to_vec(), ..Unbinding::default() };
    }
    let mut passes = Passes { members, centre, gravity, rules, scratch, left: 0, exact: false };
    let mut clump = Unbinding {
        bound: BoundMembers {
            member: candidates.to_vec(),
            energy: vec![0.0; candidates.len()],
            potential: vec![],
        },
        ..Unbinding::default()
    };
    passes.run(&mut clump);
    if clump.bound.len() < rules.fewest {
        clump.unbound.append(&mut clump.bound.member);
        clump.bound = BoundMembers::default();
    }
    clump.unbound.sort_unstable();
    clump
}

/// The passes over one clump.
struct Passes<'a> {
    members: &'a HaloMembers,
    centre: [f64; 3],
    gravity: &'a Gravity,
    rules: &'a UnbindRules,
    scratch: &'a mut UnbindScratch,
    /// Members that have left since the last full computation.
    left: usize,
    /// Whether the potential is that of a full computation for the members that are left.
    exact: bool,
}

impl Passes<'_> {
    fn run(&mut self, clump: &mut Unbinding) {
        self.compute(clump);
        while clump.report.passes < self.rules.max_passes {
            let is_first = clump.report.passes == 0;
            clump.report.passes += 1;
            self.set_energies(&mut clump.bound, is_first);
            let leaving = self.leaving(&clump.bound);
            let removed = clump.bound.retain(|place| !leaving[place]);
            clump.unbound.extend_from_slice(&removed);
            if clump.bound.len() < self.rules.fewest.max(1) {
                return;
            }
            match (removed.is_empty(), self.exact) {
                (true, true) if !is_first => {
                    clump.report.converged = true;
                    return;
                }
                (true, true) => {}
                (true, false) => self.compute(clump),
                (false, _) => self.renew(clump, &removed),
            }
        }
    }

    /// The potential of all members that are left, from scratch.
    fn compute(&mut self, clump: &mut Unbinding) {
        let BoundMembers { member, potential, .. } = &mut clump.bound;
        let sources = self.rules.sources;
        let UnbindScratch { points, octree, walk, .. } = self.scratch;
        match self.rules.method {
            PotentialMethod::Spherical => {
                spherical(self.members, member, self.centre, sources, self.gravity, potential);
            }
            PotentialMethod::Tree if member.len() >= FEWEST_OF_TREE => {
                points.gather(self.members, member, sources);
                octree.build(points);
                tree(Rooted { points, tree: octree }, self.gravity, walk, potential);
            }
            PotentialMethod::Tree | PotentialMethod::Direct => {
                points.gather(self.members, member, sources);
                direct(points, self.gravity, potential);
            }
        }
        clump.report.full += 1;
        (self.left, self.exact) = (0, true);
    }

    /// The potential after members have left.
    fn renew(&mut self, clump: &mut Unbinding, removed: &[u32]) {
        self.left += removed.len();
        let n = clump.bound.len();
        if self.rules.method != PotentialMethod::Tree || n < FEWEST_OF_TREE || self.left * 5 >= n {
            return self.compute(clump);
        }
        let UnbindScratch { points, octree, removed_points, removed_tree, walk, .. } = self.scratch;
        points.gather(self.members, &clump.bound.member, self.rules.sources);
        octree.build(points);
        removed_points.gather(self.members, removed, self.rules.sources);
        removed_tree.build(removed_points);
        let sources = Rooted { points: removed_points, tree: removed_tree };
        subtract(sources, Rooted { points, tree: octree }, self.gravity, walk, &mut clump.bound.potential);
        self.exact = false;
    }

    fn set_energies(&mut self, bound: &mut BoundMembers, is_first: bool) {
        let depth = if is_first { &bound.potential } else { &bound.energy };
        let frame = CoreFrame::new(self.members, &bound.member, depth, &mut self.scratch.values);
        let flow = self.gravity.hubble_flow;
        for (place, member) in bound.member.iter().enumerate() {
            let kinetic = frame.kinetic(self.members, *member, flow);
            let thermal = if self.rules.thermal { self.members.internal_energy(*member) } else { 0.0 };
            bound.energy[place] = kinetic + bound.potential[place] + thermal;
        }
    }

    /// Which members leave: those with energy 0 or more, but no more than half of all, and one at least.
    fn leaving(&self, bound: &BoundMembers) -> Vec<bool> {
        let mut leaving: Vec<bool> = bound.energy.iter().map(|energy| *energy >= 0.0).collect();
        let most = (bound.len() / 2).max(1);
        let mut places: Vec<u32> = (0..bound.len() as u32).filter(|place| leaving[*place as usize]).collect();
        if places.len() > most {
            let n_staying = places.len() - most;
            places.select_nth_unstable_by(n_staying, |a, b| bound.compare(self.members, *a, *b));
            places[..n_staying].iter().for_each(|place| leaving[*place as usize] = false);
        }
        leaving
    }
}
