//! Passes: from a first frame of rest to a set of bound members.
//!
//! ```text
//!     pass 1    first frame        highest with e >= 0 leave
//!     pass 2    mean of e < 0      ...
//!       .
//!     pass n    mean of all        nobody leaves                  potential of the others rises, so go on
//!       .
//!     last      mean of all        nobody leaves, by a full computation of the potential
//! ```
//!
//! The potential only rises as members leave. So a member that leaves would also leave with the new
//! potential, and it is enough to renew the potential once no member leaves. In a clump within another one,
//! it is renewed in each pass, because the frame of a core depends on it. The potential of the members that
//! left is subtracted from that of the others. Once a fifth of the members, or of the mass, has left since
//! the last full computation, the potential is recomputed. The subtracted part has the error of the tree,
//! too, but up to a fifth it adds little. The last full computation leaves out members whose energy differs
//! from 0 by more than a hundredth of their potential. Errors are smaller than that, so it could not unbind
//! them.

use super::super::potential::FEWEST_OF_TREE;
use super::super::potential::listed::{ListedPoints, PotentialScratch};
use super::super::potential::sliced_tree::sliced_potential_of;
use super::super::potential::spherical::SlicedShells;
use super::super::potential::tree::{Rooted, subtract};
use super::super::slices::{Slices, ordered_bits, smallest_key, total};
use super::first_frames::{FirstFrame, core_of};
use super::rest_frame::{ListedMembers, RestFrame};
use super::{BoundMembers, ClumpTask, PotentialMethod, UnbindCall, UnbindReport, UnbindScratch, Unbinding};
use crate::loops::{chosen, values};

/// The potential is recomputed once one in this number of the members, or of the mass, has left.
const ANEW: u64 = 5;

/// No potential has a relative error this large. It is twice the largest error that tests allow the tree, and
/// four times the largest that they find.
pub(super) const DOUBT: f64 = 0.01;

/// If the halo as a whole binds this part of a clump's candidates, the clump begins with them.
const NEARLY_ALL: f64 = 0.9;

/// At most one in this number of the members leaves per pass.
const AT_ONCE: u64 = 4;

/// The passes over one clump.
pub(super) struct Passes<'a, S> {
    pub task: &'a ClumpTask<'a, S>,
    /// Remaining members of this slice.
    pub bound: BoundMembers,
    /// Members of this slice that have left.
    pub unbound: Vec<u32>,
    pub report: UnbindReport,
    /// Number of remaining members in all slices.
    pub number: u64,
    /// Number of these with an energy below 0.
    n_bound: u64,
    /// Number of members in all slices that have left since the last full computation.
    left: u64,
    /// The mass of these, as far as it makes the potential.
    mass_left: f64,
    /// Whether a full computation of the potential would let the same members leave.
    exact: bool,
}

impl<'a, S: Slices> Passes<'a, S> {
    /// The state with all candidates, without potentials.
    pub fn new(task: &'a ClumpTask<'a, S>) -> Self {
        let list = task.candidates.list;
        let bound =
            BoundMembers { member: list.to_vec(), energy: vec![0.0; list.len()], potential: Vec::new() };
        Self {
            task,
            bound,
            unbound: Vec::new(),
            report: UnbindReport::default(),
            number: task.number,
            n_bound: task.number,
            left: 0,
            mass_left: 0.0,
            exact: false,
        }
    }

    /// The state with all candidates and their potential, which some passes of the report have computed.
    pub fn with_potential(task: &'a ClumpTask<'a, S>, potential: &[f64], report: UnbindReport) -> Self {
        let mut passes = Self { report, exact: true, ..Self::new(task) };
        passes.bound.potential = potential.to_vec();
        passes
    }

    /// The state with the candidates that the halo as a whole binds, if these are nearly all.
    pub fn of_halo(
        task: &'a ClumpTask<'a, S>,
        halo: &BoundMembers,
        scratch: &mut UnbindScratch,
    ) -> Result<Option<Self>, S::Error> {
        let (list, slices) = (task.candidates.list, task.call.slices);
        let mut bound = halo.clone();
        let elsewhere = bound.retain(slices, |place| list.binary_search(&halo.member[place]).is_ok());
        let numbers = slices.add(&[bound.len() as u64, elsewhere.len() as u64])?;
        if (numbers[0] as f64) < NEARLY_ALL * task.number as f64 {
            return Ok(None);
        }
        let outside = chosen(slices, list.len(), |at| bound.member.binary_search(&list[at]).is_err());
        let unbound = outside.into_iter().map(|at| list[at as usize]).collect();
        let (number, n_bound) = (numbers[0], numbers[0]);
        let mut passes = Self { bound, unbound, number, n_bound, ..Self::new(task) };
        if numbers[1] > 0 || !passes.has_tree() {
            passes.renew(&elsewhere, numbers[1], scratch)?;
        }
        let first = FirstFrame { frame: passes.frame()?, is_core: false, most: 0.0 };
        passes.run(&first, scratch)?;
        Ok((passes.number > 0).then_some(passes))
    }

    /// Passes until no member leaves, from a first frame. If too few remain, `number` is 0 and no member is
    /// bound.
    pub fn run(&mut self, first: &FirstFrame, scratch: &mut UnbindScratch) -> Result<(), S::Error> {
        let most_passes = self.task.call.rules.max_passes;
        let (mut frame, mut is_settled, mut is_core) = (first.frame, !first.is_core, first.is_core);
        // The members that the potential still includes.
        let (mut counted, mut n_counted) = (Vec::new(), 0);
        while self.report.passes < most_passes {
            self.report.passes += 1;
            self.set_energies(&frame);
            let (leaving, n_removed) = self.leaving(is_core)?;
            is_core = false;
            let slices = self.task.call.slices;
            let mut removed = self.bound.retain(slices, |place| !leaving[place]);
            self.unbound.extend_from_slice(&removed);
            counted.append(&mut removed);
            (n_counted, self.number) = (n_counted + n_removed, self.number - n_removed);
            if self.number < self.task.call.rules.fewest.max(1) as u64 {
                self.dissolve();
                return Ok(());
            }
            let nobody_leaves = n_removed == 0 && is_settled;
            if n_counted > 0 && (nobody_leaves || self.task.candidates.is_within) {
                counted.sort_unstable();
                self.renew(&counted, n_counted, scratch)?;
                (counted, n_counted) = (Vec::new(), 0);
            } else if nobody_leaves && self.exact {
                self.report.converged = true;
                return Ok(());
            } else if nobody_leaves {
                self.confirm(scratch)?;
            }
            is_settled = self.n_bound == self.number || self.n_bound == 0;
            frame = self.frame()?;
        }
        match n_counted {
            0 => Ok(()),
            _ => self.compute(scratch),
        }
    }

    /// The result, after members that subclumps have lost have joined, and members that left too early have
    /// come back. `of_all` is the potential of all candidates at each of them, if it was computed.
    pub fn finish(
        mut self,
        of_all: Option<&[f64]>,
        scratch: &mut UnbindScratch,
    ) -> Result<Unbinding, S::Error> {
        let handed = self.task.candidates.handed;
        self.unbound.extend_from_slice(handed);
        let n_handed = total(self.task.call.slices, handed.len())?;
        if n_handed > 0 {
            self.admit_handed(scratch)?;
        }
        // Members that were passed on bind others more than the candidates alone could.
        self.readmit(of_all.filter(|_| n_handed == 0), scratch)?;
        self.unbound.sort_unstable();
        let Self { bound, unbound, report, .. } = self;
        Ok(Unbinding { bound, unbound, report })
    }

    /// The places of the remaining members in the list of candidates, ascending.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        let mut place = 0;
        self.bound.member.iter().map(move |member| {
            let candidates = self.task.candidates.list;
            while candidates[place] != *member {
                place += 1;
            }
            place
        })
    }

    /// The position of the centre of the remaining members.
    pub fn deepest(&self) -> Result<Option<[f64; 3]>, S::Error> {
        let deepest = self.bound.deepest_of_slices(self.task.members, self.task.call.slices)?;
        Ok(deepest.map(|deepest| deepest.position))
    }

    /// The frame of the members with energies below 0, of all if there are none. For a clump within another
    /// one, it is the frame of its core, the tenth with the least energy, so that members of the host do not
    /// pull the frame away.
    pub fn frame(&self) -> Result<RestFrame, S::Error> {
        let energy = &self.bound.energy;
        if self.task.candidates.is_within {
            let n_core = core_of(self.n_bound).min(self.number);
            return RestFrame::of_deepest(&self.listed(), energy, n_core);
        }
        let most = if self.n_bound == 0 { f64::INFINITY } else { 0.0 };
        RestFrame::mean(&self.listed(), |place| energy[place] < most)
    }

    /// Adds members from outside, by rising number, and continues the passes in this frame.
    pub fn take_in(
        &mut self,
        back: &[u32],
        n_back: u64,
        frame: RestFrame,
        scratch: &mut UnbindScratch,
    ) -> Result<(), S::Error> {
        self.unbound.retain(|member| back.binary_search(member).is_err());
        self.bound.member.extend_from_slice(back);
        self.bound.member.sort_unstable();
        self.bound.energy = vec![0.0; self.bound.len()];
        self.number += n_back;
        self.report.converged = false;
        self.compute(scratch)?;
        self.run(&FirstFrame { frame, is_core: true, most: 0.0 }, scratch)
    }

    fn dissolve(&mut self) {
        self.unbound.append(&mut self.bound.member);
        (self.bound, self.number) = (BoundMembers::default(), 0);
    }

    fn listed(&self) -> ListedMembers<'_, S> {
        ListedMembers { members: self.task.members, list: &self.bound.member, slices: self.task.call.slices }
    }

    fn points(&self) -> ListedPoints<'_, S> {
        let UnbindCall { gravity, rules, slices } = *self.task.call;
        ListedPoints {
            members: self.task.members,
            list: &self.bound.member,
            sources: rules.sources,
            gravity,
            slices,
        }
    }

    /// Whether potentials are those of a tree. Others are computed from scratch each time.
    fn has_tree(&self) -> bool {
        self.task.call.rules.method == PotentialMethod::Tree && self.number >= FEWEST_OF_TREE as u64
    }

    /// The potential of all remaining members, from scratch.
    pub fn compute(&mut self, scratch: &mut UnbindScratch) -> Result<(), S::Error> {
        let UnbindCall { gravity, rules, slices } = *self.task.call;
        let mut potential = std::mem::take(&mut self.bound.potential);
        match rules.method {
            PotentialMethod::Spherical => {
                let (members, list, sources) = (self.task.members, &self.bound.member, rules.sources);
                let centre = self.task.candidates.peak;
                SlicedShells { members, list, centre, sources, gravity, slices }.potential(&mut potential)?;
            }
            PotentialMethod::Tree | PotentialMethod::Direct => {
                self.points().potential(self.has_tree(), &mut scratch.listed, &mut potential)?;
            }
        }
        self.bound.potential = potential;
        self.report.full += 1;
        (self.left, self.mass_left, self.exact) = (0, 0.0, true);
        Ok(())
    }

    /// The potential of all remaining members, from scratch, at the members that may turn out to be unbound.
    fn confirm(&mut self, scratch: &mut UnbindScratch) -> Result<(), S::Error> {
        let BoundMembers { energy, potential, .. } = &self.bound;
        let slices = self.task.call.slices;
        let is_near_0 = values(slices, energy.len(), |at| energy[at].abs() <= DOUBT * potential[at].abs());
        let mut potential = std::mem::take(&mut self.bound.potential);
        self.points().potential_at(|place| is_near_0[place], &mut scratch.listed, &mut potential)?;
        self.bound.potential = potential;
        self.report.full += 1;
        self.exact = true;
        Ok(())
    }

    /// The potential after members have left, `n_removed` in all slices.
    fn renew(
        &mut self,
        removed: &[u32],
        n_removed: u64,
        scratch: &mut UnbindScratch,
    ) -> Result<(), S::Error> {
        let UnbindCall { gravity, rules, slices } = *self.task.call;
        self.left += n_removed;
        if !self.has_tree() || self.left * ANEW >= self.number {
            return self.compute(scratch);
        }
        let members = self.task.members;
        let UnbindScratch { listed, other_points, other_tree } = &mut *scratch;
        let PotentialScratch { points, octree, walk } = listed;
        points.gather_slice(members, &self.bound.member, rules.sources, slices)?;
        other_points.gather_slice(members, removed, rules.sources, slices)?;
        self.mass_left += other_points.mass();
        if self.mass_left * ANEW as f64 >= points.mass() {
            return self.compute(scratch);
        }
        let potential = &mut self.bound.potential;
        if slices.number() == 1 {
            octree.build(points, slices);
            other_tree.build(other_points, slices);
            let sources = Rooted { points: other_points, tree: other_tree };
            subtract(sources, Rooted { points, tree: octree }, gravity, slices, walk, potential);
        } else {
            let (sources, targets) = (std::mem::take(other_points), std::mem::take(points));
            let lost = sliced_potential_of(sources, targets, gravity, slices)?;
            potential.iter_mut().zip(lost).for_each(|(potential, lost)| *potential -= lost);
        }
        self.exact = false;
        Ok(())
    }

    fn set_energies(&mut self, frame: &RestFrame) {
        let BoundMembers { member, energy, potential } = &mut self.bound;
        let (task, n) = (self.task, member.len());
        task.call.slices.fill(energy, n, |at| task.heat(frame, member[at]) + potential[at]);
    }

    /// The members that leave, and their number in all slices: those with energy 0 or more, at most a quarter
    /// of all, but at least one. If the frame is that of a core, all members leave whose kinetic energy is
    /// more than twice the energy that binds them.
    fn leaving(&mut self, is_core: bool) -> Result<(Vec<bool>, u64), S::Error> {
        let slices = self.task.call.slices;
        let BoundMembers { energy, potential, .. } = &self.bound;
        let mut leaving = values(slices, energy.len(), |at| energy[at] >= 0.0);
        let mut places = chosen(slices, energy.len(), |at| leaving[at]);
        let is_stranger = |place: &&u32| energy[**place as usize] >= -potential[**place as usize];
        let n_strangers = if is_core { places.iter().filter(is_stranger).count() } else { 0 };
        let numbers = match slices.number() {
            1 => vec![places.len() as u64, n_strangers as u64],
            _ => slices.add(&[places.len() as u64, n_strangers as u64])?,
        };
        let (n_leaving, most) = (numbers[0], (self.number / AT_ONCE).max(numbers[1]).max(1));
        self.n_bound = self.number - n_leaving;
        if n_leaving <= most {
            return Ok((leaving, n_leaving));
        }
        let bound = &self.bound;
        let n_staying = n_leaving - most;
        if slices.number() == 1 {
            let members = self.task.members;
            places.select_nth_unstable_by(n_staying as usize, |a, b| bound.compare(members, *a, *b));
            places[..n_staying as usize].iter().for_each(|place| leaving[*place as usize] = false);
            return Ok((leaving, most));
        }
        // The first member that leaves, by energy and then by identifier.
        let key = |place: &u32| ordered_bits(bound.energy[*place as usize]);
        let id = |place: &u32| self.task.members.columns().id[bound.member[*place as usize] as usize];
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
