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
//! 1. The core: the tenth of the bound members with the least energy, but 20 at least. Its mean position and velocity define the
//!    frame. In the first pass the core is found by trial (`core_frame`). A member with more than half of all mass is the core
//!    alone.
//! 2. Energies of all members. Those with e >= 0 leave, but no more than half of the members at once, the least bound first.
//! 3. Their potential is taken off that of the others. Once a fifth of the members, or of the mass, has left since the last full
//!    computation, the potential is computed anew. What is taken off has the error of the tree as well; a fifth of it adds little.
//!
//! Done when energies from a full computation let nobody leave. The last one leaves out members whose energy is farther from 0 than a
//! hundredth of their potential: errors are smaller than that, so it could not unbind them. Losers of a clump are candidates of its parent ([`hierarchy`]).
//! [`ramses`] has RAMSES's own rules.
//!
//! Source: the energy and the core as in HBT-HERONS (Han et al. 2018) and SUBFIND (Springel et al. 2001).

pub mod clump_members;
mod core_frame;
pub mod hierarchy;
pub mod ramses;

use super::members::HaloMembers;
use super::potential::FEWEST_OF_TREE;
use super::potential::listed::{ListedPoints, PotentialScratch};
use super::potential::octree::Octree;
use super::potential::points::Points;
use super::potential::sliced_tree::sliced_potential_of;
use super::potential::spherical::SlicedShells;
use super::potential::tree::{Rooted, subtract};
use super::slices::{BlockSums, Slices, Whole, ordered_bits, smallest_key, total};
use super::{Gravity, SourceTypes};
use bytemuck::{Pod, Zeroable};
use core_frame::{CoreFrame, ListedMembers};
use std::cmp::Ordering;

/// The potential is computed anew once one member in so many, or that part of the mass, has left.
const ANEW: u64 = 5;

/// No potential is wrong by this part: it is twice the largest error that tests allow the tree, and four times what they find.
const DOUBT: f64 = 0.01;

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
    listed: PotentialScratch,
    removed_points: Points,
    removed_tree: Octree,
}

/// The most bound member of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct MemberMotion {
    energy: f64,
    id: u64,
    /// Its position.
    pub position: [f64; 3],
    /// Its velocity.
    pub velocity: [f64; 3],
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

    /// The mass of the bound members of all slices.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn mass<S: Slices>(&self, members: &HaloMembers, slices: &S) -> Result<f64, S::Error> {
        let mass = &members.columns().mass;
        let mut sums = BlockSums::new(members.bounds(), [members.bounds().mass]);
        for run in members.runs(&self.member) {
            sums.add([self.member[run].iter().map(|member| mass[*member as usize]).sum()]);
        }
        Ok(sums.over(slices)?[0])
    }

    /// The most bound member of all slices; equals by identifier.
    pub(super) fn most_bound_of_slices<S: Slices>(
        &self,
        members: &HaloMembers,
        slices: &S,
    ) -> Result<Option<MemberMotion>, S::Error> {
        let columns = members.columns();
        let own = self.most_bound(members).map(|place| {
            let member = self.member[place] as usize;
            let (position, velocity) = (columns.position[member], columns.velocity[member]);
            MemberMotion { energy: self.energy[place], id: columns.id[member], position, velocity }
        });
        let own: Vec<MemberMotion> = own.into_iter().collect();
        let all = slices.gather(&own)?;
        let order = |of: &MemberMotion| (ordered_bits(of.energy), of.id);
        Ok(all.into_iter().flatten().min_by_key(order))
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
    let Ok(found) =
        unbind_slices(members, candidates, centre, &UnbindCall { gravity, rules, slices: &Whole }, scratch);
    found
}

/// How the members of slices are unbound, by one kind of rules or the other.
#[derive(Debug, Clone, Copy)]
pub struct UnbindCall<'a, S, R = UnbindRules> {
    /// Gravity.
    pub gravity: &'a Gravity,
    /// The rules.
    pub rules: &'a R,
    /// What joins the slices.
    pub slices: &'a S,
}

/// [`unbind`] of candidates in slices. The result has those of this slice; its report is that of all.
///
/// # Errors
/// Those of the slices.
pub fn unbind_slices<S: Slices>(
    members: &HaloMembers,
    candidates: &[u32],
    centre: [f64; 3],
    call: &UnbindCall<S>,
    scratch: &mut UnbindScratch,
) -> Result<Unbinding, S::Error> {
    let number = total(call.slices, candidates.len())?;
    let fewest = call.rules.fewest as u64;
    if number < fewest.max(1) {
        return Ok(Unbinding { unbound: candidates.to_vec(), ..Unbinding::default() });
    }
    let mut passes = Passes {
        members,
        centre,
        call,
        scratch,
        number,
        n_bound: number,
        left: 0,
        mass_left: 0.0,
        exact: false,
    };
    let mut clump = Unbinding {
        bound: BoundMembers {
            member: candidates.to_vec(),
            energy: vec![0.0; candidates.len()],
            potential: vec![],
        },
        ..Unbinding::default()
    };
    passes.run(&mut clump)?;
    if passes.number < fewest {
        clump.unbound.append(&mut clump.bound.member);
        clump.bound = BoundMembers::default();
    }
    clump.unbound.sort_unstable();
    Ok(clump)
}

/// The passes over one clump.
struct Passes<'a, S> {
    members: &'a HaloMembers,
    centre: [f64; 3],
    call: &'a UnbindCall<'a, S>,
    scratch: &'a mut UnbindScratch,
    /// Members of all slices that are left.
    number: u64,
    /// How many of these have an energy below 0.
    n_bound: u64,
    /// Members of all slices that have left since the last full computation.
    left: u64,
    /// The mass that has left since then, of what makes the potential.
    mass_left: f64,
    /// Whether a full computation of the potential would let the same members leave.
    exact: bool,
}

impl<S: Slices> Passes<'_, S> {
    fn run(&mut self, clump: &mut Unbinding) -> Result<(), S::Error> {
        let rules = self.call.rules;
        self.compute(clump)?;
        while clump.report.passes < rules.max_passes {
            let is_first = clump.report.passes == 0;
            clump.report.passes += 1;
            self.set_energies(&mut clump.bound, is_first)?;
            let (leaving, n_removed) = self.leaving(&clump.bound)?;
            let removed = clump.bound.retain(|place| !leaving[place]);
            clump.unbound.extend_from_slice(&removed);
            self.number -= n_removed;
            if self.number < (rules.fewest as u64).max(1) {
                return Ok(());
            }
            match (n_removed == 0, self.exact) {
                // The core of the first pass is a guess.
                (true, true) if !is_first => {
                    clump.report.converged = true;
                    return Ok(());
                }
                (true, true) => {}
                (true, false) => self.confirm(&mut clump.bound, &mut clump.report)?,
                (false, _) => self.renew(clump, &removed, n_removed)?,
            }
        }
        Ok(())
    }

    /// The potential of all members that are left, from scratch.
    fn compute(&mut self, clump: &mut Unbinding) -> Result<(), S::Error> {
        let BoundMembers { member, potential, .. } = &mut clump.bound;
        let UnbindCall { gravity, rules, slices } = *self.call;
        let (members, sources, centre) = (self.members, rules.sources, self.centre);
        match rules.method {
            PotentialMethod::Spherical => {
                let shells = SlicedShells { members, list: member, centre, sources, gravity, slices };
                shells.potential(potential)?;
            }
            PotentialMethod::Tree | PotentialMethod::Direct => {
                let by_tree = rules.method == PotentialMethod::Tree && self.number >= FEWEST_OF_TREE as u64;
                let listed = ListedPoints { members, list: member, sources, gravity, slices };
                listed.potential(by_tree, &mut self.scratch.listed, potential)?;
            }
        }
        clump.report.full += 1;
        (self.left, self.mass_left, self.exact) = (0, 0.0, true);
        Ok(())
    }

    /// The potential of all members that are left, from scratch, at those that it may show to be unbound.
    fn confirm(&mut self, bound: &mut BoundMembers, report: &mut UnbindReport) -> Result<(), S::Error> {
        let UnbindCall { gravity, rules, slices } = *self.call;
        let BoundMembers { member, energy, potential } = bound;
        let is_near_0: Vec<bool> =
            energy.iter().zip(&*potential).map(|(energy, phi)| energy.abs() <= DOUBT * phi.abs()).collect();
        let listed =
            ListedPoints { members: self.members, list: member, sources: rules.sources, gravity, slices };
        listed.potential_at(|place| is_near_0[place], &mut self.scratch.listed, potential)?;
        report.full += 1;
        self.exact = true;
        Ok(())
    }

    /// The potential after members have left, `n_removed` in all slices.
    fn renew(&mut self, clump: &mut Unbinding, removed: &[u32], n_removed: u64) -> Result<(), S::Error> {
        let UnbindCall { gravity, rules, slices } = *self.call;
        self.left += n_removed;
        let has_tree = rules.method == PotentialMethod::Tree && self.number >= FEWEST_OF_TREE as u64;
        if !has_tree || self.left * ANEW >= self.number {
            return self.compute(clump);
        }
        let UnbindScratch { listed, removed_points, removed_tree } = &mut *self.scratch;
        let PotentialScratch { points, octree, walk } = listed;
        points.gather_slice(self.members, &clump.bound.member, rules.sources, slices)?;
        removed_points.gather_slice(self.members, removed, rules.sources, slices)?;
        self.mass_left += removed_points.mass();
        if self.mass_left * ANEW as f64 >= points.mass() {
            return self.compute(clump);
        }
        let potential = &mut clump.bound.potential;
        if slices.number() == 1 {
            octree.build(points);
            removed_tree.build(removed_points);
            let sources = Rooted { points: removed_points, tree: removed_tree };
            subtract(sources, Rooted { points, tree: octree }, gravity, walk, potential);
        } else {
            let (sources, targets) = (std::mem::take(removed_points), std::mem::take(points));
            let lost = sliced_potential_of(sources, targets, gravity, slices)?;
            potential.iter_mut().zip(lost).for_each(|(potential, lost)| *potential -= lost);
        }
        self.exact = false;
        Ok(())
    }

    fn set_energies(&mut self, bound: &mut BoundMembers, is_first: bool) -> Result<(), S::Error> {
        let (members, call) = (self.members, self.call);
        let flow = call.gravity.hubble_flow;
        let listed = ListedMembers { members, list: &bound.member, slices: call.slices };
        let energy_of = |frame: &CoreFrame, place: usize| {
            let member = bound.member[place];
            let thermal = if call.rules.thermal { members.internal_energy(member) } else { 0.0 };
            frame.kinetic(members, member, flow) + bound.potential[place] + thermal
        };
        let frame = match is_first {
            true => {
                let is_bound = |frame: &CoreFrame, place: usize| energy_of(frame, place) < 0.0;
                CoreFrame::by_trial(&listed, &bound.potential, self.number, is_bound)?
            }
            false => CoreFrame::of_most_bound(&listed, &bound.energy, self.n_bound, self.number)?,
        };
        bound.energy = (0..bound.len()).map(|place| energy_of(&frame, place)).collect();
        Ok(())
    }

    /// Which members leave, and how many in all slices: those with energy 0 or more, but no more than half of all, and one at
    /// least.
    fn leaving(&mut self, bound: &BoundMembers) -> Result<(Vec<bool>, u64), S::Error> {
        let slices = self.call.slices;
        let mut leaving: Vec<bool> = bound.energy.iter().map(|energy| *energy >= 0.0).collect();
        let most = (self.number / 2).max(1);
        let mut places: Vec<u32> = (0..bound.len() as u32).filter(|place| leaving[*place as usize]).collect();
        let n_leaving = total(slices, places.len())?;
        self.n_bound = self.number - n_leaving;
        if n_leaving <= most {
            return Ok((leaving, n_leaving));
        }
        let n_staying = n_leaving - most;
        if slices.number() == 1 {
            places.select_nth_unstable_by(n_staying as usize, |a, b| bound.compare(self.members, *a, *b));
            places[..n_staying as usize].iter().for_each(|place| leaving[*place as usize] = false);
            return Ok((leaving, most));
        }
        // The first member that leaves, by energy and then by identifier.
        let key = |place: &u32| ordered_bits(bound.energy[*place as usize]);
        let id = |place: &u32| self.members.columns().id[bound.member[*place as usize] as usize];
        let energy = smallest_key(slices, || places.iter().map(key), n_staying)?;
        let n_below = total(slices, places.iter().filter(|place| key(place) < energy).count())?;
        let equals = || places.iter().filter(|place| key(place) == energy).map(id);
        let first_id = smallest_key(slices, equals, n_staying - n_below)?;
        places
            .iter()
            .filter(|place| (key(place), id(place)) < (energy, first_id))
            .for_each(|place| leaving[*place as usize] = false);
        Ok((leaving, most))
    }
}
