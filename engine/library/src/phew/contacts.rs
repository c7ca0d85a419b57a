//! The contacts of a rank between the peaks that it knows.
//!
//! Saddles are found between roots ([`super::saddle`]). Meanwhile the rank numbers its own peaks and, over
//! several ranks, exchanges to which peaks its ghosts ascend.

use crate::executor::Executor;
use crate::phew::ghost_labels::{self, Root};
use crate::phew::known_peaks::{PeakColumns, at_roots, retain_places};
use crate::phew::pass::PassContext;
use crate::phew::peak_comm::{PeakComm, RootSlots};
use crate::phew::saddle::{self, ContactResults};
use crate::phew::test_links::TestLinks;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::RootIdx;
use inselberg_kernels::phew::forest::TiedForest;

/// The contacts of a rank and their peaks.
pub struct Contacts {
    /// Between slots, by tasks.
    pub forests: Vec<TiedForest>,
    /// Refined positions of own peaks, in units of the level-0 cell.
    pub refined: Vec<[f64; 3]>,
    /// The peaks known on this rank.
    pub known: PeakComm,
    /// Their densities, cells and names, by slot.
    pub peaks: PeakColumns,
    /// The slots of the roots.
    pub slots: RootSlots,
}

impl Contacts {
    /// Collective: the contacts between the patches of the test cells, which have the given `labels`.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn find(
        pass: PassContext,
        labels: &[RootIdx],
        links: &TestLinks,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, CommError> {
        match comm.n_ranks() {
            1 => Self::find_alone(pass, labels, comm, executor),
            _ => Self::find_shared(pass, labels, links, comm, executor),
        }
    }

    fn find_alone(
        pass: PassContext,
        labels: &[RootIdx],
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, CommError> {
        let mut own = at_roots(&pass);
        let n_global = own.give_names(comm)?;
        let (known, peaks) = PeakComm::new(comm.rank(), own, n_global, &[]);
        let ContactResults { forests, refined } = saddle::run(pass, labels, executor);
        Ok(Self { forests, refined, known, peaks, slots: RootSlots::SAME })
    }

    fn find_shared(
        pass: PassContext,
        labels: &[RootIdx],
        links: &TestLinks,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, CommError> {
        let classes = ghost_labels::classify(links, pass.roots);
        let is_own = |root: usize| matches!(classes[root], Root::Own(_));
        let (mut known, mut peaks) = (PeakComm::default(), PeakColumns::default());
        let find_slots = || {
            let _labels = Stage::within("labels", comm);
            let mut own = at_roots(&pass);
            own.retain(is_own);
            let n_global = own.give_names(comm)?;
            let ghosts = ghost_labels::follow(comm, links, &classes, labels, &own)?;
            (known, peaks) = PeakComm::new(comm.rank(), own, n_global, &ghosts);
            Ok(known.slots_of(&classes, &ghosts, &peaks.name))
        };
        let (ContactResults { forests, mut refined }, slots) =
            saddle::run_shared(pass, labels, |root| is_own(root.at()), Box::new(find_slots), executor)?;
        retain_places(&mut refined, is_own);
        let slots = RootSlots::new(slots, &classes, &known);
        Ok(Self { forests, refined, known, peaks, slots })
    }
}
