//! Trials: from which first frame do the passes keep most mass?
//!
//! | clump | tried in turn |
//! |---|---|
//! | lies in no other clump | all candidates; cores, if that keeps less than nine tenths |
//! | lies within another clump | all candidates and cores, beginning with the one that initially binds most |

use super::super::slices::Slices;
use super::first_frames::{Cores, FirstFrame};
use super::passes::Passes;
use super::{ClumpTask, PeakPlace, UnbindReport, UnbindScratch};

/// If the first frame of all candidates keeps this part of their mass, no other is tried.
const PLAINLY_BOUND: f64 = 0.9;

/// The common part of several first frames.
pub(super) struct Trials<'a, S> {
    task: &'a ClumpTask<'a, S>,
    /// The potential of all candidates at each.
    pub potential: Vec<f64>,
    /// The cost of it.
    report: UnbindReport,
    place: PeakPlace,
}

/// The rest of a clump after passes from one first frame.
pub(super) struct Kept<'a, S> {
    pub mass: f64,
    pub passes: Passes<'a, S>,
}

impl<'a, S: Slices> Trials<'a, S> {
    /// One full computation of the potential.
    pub fn new(task: &'a ClumpTask<'a, S>, scratch: &mut UnbindScratch) -> Result<Self, S::Error> {
        let mut passes = Passes::new(task);
        passes.compute(scratch)?;
        let (potential, report) = (passes.bound.potential, passes.report);
        Ok(Self { task, potential, report, place: task.place_of_peak()? })
    }

    /// The cost of the common part.
    pub fn report(&self) -> UnbindReport {
        self.report
    }

    /// The rest from the first frame that keeps the greatest mass; `None` if none keeps anything.
    pub fn best(&self, scratch: &mut UnbindScratch) -> Result<Option<Kept<'a, S>>, S::Error> {
        if self.task.candidates.is_within {
            return self.best_of_cores(None, scratch);
        }
        let of_all = FirstFrame::of_all(self.task)?;
        match self.run(&of_all, scratch)? {
            Some(kept) if kept.mass >= PLAINLY_BOUND * of_all.most => Ok(Some(kept)),
            kept => self.best_of_cores(kept, scratch),
        }
    }

    /// The best of an earlier rest and those from cores.
    fn best_of_cores(
        &self,
        before: Option<Kept<'a, S>>,
        scratch: &mut UnbindScratch,
    ) -> Result<Option<Kept<'a, S>>, S::Error> {
        let mut best = before;
        let mut cores = Cores::new(self.task, &self.potential)?;
        while let Some(core) = cores.next_above(best.as_ref().map_or(0.0, |best| best.mass)) {
            let found = self.run(&core, scratch)?;
            best = match (best, found) {
                (Some(best), Some(found)) if found.mass > best.mass => Some(found),
                (None, found) => found,
                (best, _) => best,
            };
            if let Some(best) = &best {
                cores.forget_held(best.passes.places(), self.task.call.slices)?;
            }
        }
        Ok(best)
    }

    /// The rest after passes from a first frame.
    fn run(&self, first: &FirstFrame, scratch: &mut UnbindScratch) -> Result<Option<Kept<'a, S>>, S::Error> {
        let mut passes = Passes::with_potential(self.task, &self.potential, self.report);
        passes.run(first, scratch)?;
        if passes.number == 0 || !self.place.holds(&passes)? {
            return Ok(None);
        }
        let mass = passes.bound.mass(self.task.members, self.task.call.slices)?;
        Ok(Some(Kept { mass, passes }))
    }
}
