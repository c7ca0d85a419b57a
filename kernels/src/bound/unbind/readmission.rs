//! Readmission: candidates that left in an early frame, but are clearly bound in the final one, come back.
//!
//! At the end of the passes, frame and potential are those of the bound members. A candidate outside left by
//! mistake if its kinetic energy is less than about half of the energy that binds it: in an early pass, the
//! frame was not yet that of the clump. It comes back, and the passes go on.
//!
//! Members that subclumps have lost join a clump in the same way. They are not among its candidates from the
//! start, because the patch of a small subclump contains much of the host, which would be bound to itself.

use super::super::potential::listed::PotentialScratch;
use super::super::potential::sliced_tree::sliced_potential_of;
use super::super::potential::tree::{Rooted, subtract};
use super::super::slices::{Slices, greatest, total};
use super::passes::{DOUBT, Passes};
use super::rest_frame::RestFrame;
use super::{PotentialMethod, UnbindCall, UnbindScratch};
use crate::loops::{chosen, most_of};

/// Clearly bound: the kinetic energy is below this part of the energy that binds a candidate. It is a little
/// more than a half, because potentials have errors.
const PLAINLY: f64 = 0.51;

/// How often candidates may come back.
const MOST_TIMES: usize = 8;

impl<S: Slices> Passes<'_, S> {
    /// Adds members that subclumps have lost, if they are bound to the clump's own members.
    pub(super) fn admit_handed(&mut self, scratch: &mut UnbindScratch) -> Result<(), S::Error> {
        let frame = self.frame()?;
        let joining = self.bound_outside(self.task.candidates.handed, &frame, 1.0, scratch)?;
        match total(self.task.call.slices, joining.len())? {
            0 => Ok(()),
            n_joining => self.take_in(&joining, n_joining, frame, scratch),
        }
    }

    /// Readmits candidates and continues the passes, until no candidate outside is clearly bound. If some
    /// still are at the end, the passes have not converged. `of_all` is the potential of all candidates at
    /// each of them, if it is known and no other members bind them.
    pub(super) fn readmit(
        &mut self,
        of_all: Option<&[f64]>,
        scratch: &mut UnbindScratch,
    ) -> Result<(), S::Error> {
        for time in 0..=MOST_TIMES {
            if self.number == 0 {
                return Ok(());
            }
            let frame = self.frame()?;
            let outside = self.perhaps_bound(of_all, &frame);
            let back = self.bound_outside(&outside, &frame, PLAINLY, scratch)?;
            let n_back = total(self.task.call.slices, back.len())?;
            if n_back == 0 {
                return Ok(());
            }
            if time == MOST_TIMES || self.report.passes >= self.task.call.rules.max_passes {
                self.report.converged = false;
                return Ok(());
            }
            self.take_in(&back, n_back, frame, scratch)?;
        }
        Ok(())
    }

    /// The candidates outside that may be clearly bound: no part of the candidates binds one of them more
    /// than all do.
    fn perhaps_bound(&self, of_all: Option<&[f64]>, frame: &RestFrame) -> Vec<u32> {
        // With shells, the potential of all is no bound of that of a part.
        let has_shells = self.task.call.rules.method == PotentialMethod::Spherical;
        let Some(of_all) = of_all.filter(|_| !has_shells) else { return self.unbound.clone() };
        let list = self.task.candidates.list;
        let depth = |member: u32| -of_all[list.binary_search(&member).expect("a candidate")];
        let most = PLAINLY * (1.0 + 2.0 * DOUBT);
        let unbound = &self.unbound;
        let may_be = |at: usize| self.task.heat(frame, unbound[at]) < most * depth(unbound[at]);
        let places = chosen(self.task.call.slices, unbound.len(), may_be);
        places.into_iter().map(|at| unbound[at as usize]).collect()
    }

    /// Selects from candidates outside those whose kinetic energy in this frame is below a part of the energy
    /// that binds them, by rising number.
    fn bound_outside(
        &self,
        outside: &[u32],
        frame: &RestFrame,
        part: f64,
        scratch: &mut UnbindScratch,
    ) -> Result<Vec<u32>, S::Error> {
        let UnbindCall { gravity, rules, slices } = *self.task.call;
        // No potential outside is much deeper than the deepest one inside, which excludes only the member
        // itself.
        let potential = &self.bound.potential;
        let deepest = most_of(slices, potential.len(), |at| -potential[at]);
        let [deepest] = greatest(slices, [deepest])?;
        let is_slow = |at: usize| self.task.heat(frame, outside[at]) < 2.0 * part * deepest;
        let slow = chosen(slices, outside.len(), is_slow);
        let mut slow: Vec<u32> = slow.into_iter().map(|at| outside[at as usize]).collect();
        if total(slices, slow.len())? == 0 {
            return Ok(Vec::new());
        }
        slow.sort_unstable();
        let UnbindScratch { listed, other_points, other_tree } = scratch;
        let PotentialScratch { points, octree, walk } = listed;
        let members = self.task.members;
        points.gather_slice(members, &self.bound.member, rules.sources, slices)?;
        other_points.gather_slice(members, &slow, rules.sources, slices)?;
        let depth: Vec<f64> = if slices.number() == 1 {
            octree.build(points, slices);
            other_tree.build(other_points, slices);
            let mut depth = vec![0.0; slow.len()];
            let targets = Rooted { points: other_points, tree: other_tree };
            subtract(Rooted { points, tree: octree }, targets, gravity, slices, walk, &mut depth);
            depth
        } else {
            let (sources, targets) = (std::mem::take(points), std::mem::take(other_points));
            let potential = sliced_potential_of(sources, targets, gravity, slices)?;
            potential.iter().map(|phi| -phi).collect()
        };
        let is_bound = |(member, depth): &(u32, f64)| self.task.heat(frame, *member) < part * depth;
        Ok(slow.into_iter().zip(depth).filter(is_bound).map(|(member, _)| member).collect())
    }
}
