//! How does the watchdog of a rank get the state of the others?

use super::stall_probe::{Answer, Ask, NO_ANSWER, StallProbe, to_ask};
use super::{ControlTag, Lifecycle, Mpi};
use crate::backend::Finding;
use crate::backend::rank_states::RankStates;
use crate::{Rank, Result};
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// How long to wait for the answer of another rank.
const GRACE: Duration = Duration::from_secs(1);
/// How long a rank waits, for each of its children, for the answers of all below them.
const GRACE_BELOW: Duration = Duration::from_millis(500);

/// The state of this rank's watchdog.
#[derive(Default)]
pub(super) struct StallWatch {
    /// The running probe, and the rank that asked for it; `None` on rank 0.
    probe: Option<(Option<Rank>, StallProbe)>,
    /// The answer of a rank that was asked only about itself.
    answered: Option<(Rank, Answer)>,
    n_probes: u32,
    /// Questions and answers that were sent.
    messages: u64,
}

impl StallWatch {
    /// Questions and answers that were sent.
    pub fn n_messages(&self) -> u64 {
        self.messages
    }

    /// Forgets the running probe.
    pub fn forget(&mut self) {
        (self.probe, self.answered) = (None, None);
    }
}

impl<L: Lifecycle> Mpi<L> {
    /// Answers questions about the state of this rank, and receives answers.
    pub(super) fn serve_watch(&mut self) -> Result<()> {
        while let Some((from, bytes)) = self.link.take(ControlTag::Ask as c_int)? {
            match Ask::from_bytes(&bytes).ok_or_else(|| Self::broken("a question", from))? {
                Ask::You => self.answer(from, self.own_answer())?,
                Ask::AllBelow(number) => self.begin_probe(Some(from), number)?,
            }
        }
        while let Some((from, bytes)) = self.link.take(ControlTag::Answer as c_int)? {
            let answer = Answer::from_bytes(&bytes).ok_or_else(|| Self::broken("an answer", from))?;
            match &mut self.watch.probe {
                _ if answer.probe == 0 => self.watch.answered = Some((from, answer)),
                Some((_, probe)) => probe.receive(from, answer),
                None => {}
            }
        }
        if let Some((Some(asker), probe)) =
            self.watch.probe.take_if(|(asker, s)| asker.is_some() && s.is_done())
        {
            self.answer(asker, probe.answer())?;
        }
        Ok(())
    }

    fn idle_and_place(&self) -> (u64, String) {
        (self.moved.elapsed().as_millis() as u64, self.place.to_string())
    }

    fn own_answer(&self) -> Answer {
        let (idle, place) = self.idle_and_place();
        let mut places = RankStates::default();
        let rank = self.link.rank();
        places.add([rank, rank], place);
        Answer { probe: 0, idle, silent: false, places }
    }

    fn answer(&mut self, to: Rank, answer: Answer) -> Result<()> {
        self.watch.messages += 1;
        self.link.start_send(to, ControlTag::Answer as c_int, answer.to_bytes(), false)
    }

    fn ask(&mut self, whom: Rank, ask: Ask) -> Result<()> {
        self.watch.messages += 1;
        self.link.start_send(whom, ControlTag::Ask as c_int, ask.to_bytes(), false)
    }

    /// Asks all ranks below; the answer goes to the rank that asked.
    fn begin_probe(&mut self, asker: Option<Rank>, number: u32) -> Result<()> {
        let here = (self.link.rank(), self.link.n_ranks());
        let probe = StallProbe::new(here, number, self.idle_and_place(), GRACE_BELOW);
        let children: Vec<Rank> = probe.children().collect();
        self.watch.probe = Some((asker, probe));
        children.into_iter().try_for_each(|child| self.ask(child, Ask::AllBelow(number)))
    }

    /// On rank 0: the state of all ranks.
    fn probe_all(&mut self) -> Result<Answer> {
        self.watch.n_probes = self.watch.n_probes.wrapping_add(1).max(1);
        self.begin_probe(None, self.watch.n_probes)?;
        loop {
            self.serve()?;
            if let Some((_, probe)) = self.watch.probe.take_if(|(_, probe)| probe.is_done()) {
                return Ok(probe.answer());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The answer of a rank within the grace time.
    fn ask_one(&mut self, whom: Rank) -> Result<Option<Answer>> {
        self.watch.answered = None;
        self.ask(whom, Ask::You)?;
        let start = Instant::now();
        while start.elapsed() < GRACE {
            self.serve()?;
            if let Some((_, answer)) = self.watch.answered.take_if(|(from, _)| *from == whom) {
                return Ok(Some(answer));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }

    /// On other ranks: the answer of a rank above. If none answers for too long, the job has stalled.
    fn look_up(&mut self, patience: Duration, idle: Duration) -> Result<Finding> {
        let mut places = self.own_answer().places;
        for above in to_ask(self.link.rank()) {
            match self.ask_one(above)? {
                Some(answer) if answer.idle < moving(patience) => return Ok(Finding::Moves),
                // Rank 0, or a rank in between, finds out.
                Some(_) => return Ok(Finding::Computes),
                None => places.add([above, above], NO_ANSWER),
            }
            if let Finding::Computes = Finding::new(patience, idle, true, &places) {
                return Ok(Finding::Computes);
            }
        }
        // Other ranks come to the same result; one message is enough.
        std::thread::sleep(2 * GRACE * self.link.rank().0.trailing_zeros());
        Ok(Finding::new(patience, idle, true, places))
    }

    /// Finds out why nothing has moved. Returns an error if this rank cannot go on.
    pub(super) fn look_around(&mut self, patience: Duration, idle: Duration) -> Result<Finding> {
        match self.link.rank() {
            Rank(0) => self.probe_all().map(|all| match all.idle < moving(patience) {
                true => Finding::Moves,
                false => Finding::new(patience, idle, all.silent, all.places),
            }),
            _ => self.look_up(patience, idle),
        }
    }
}

/// A rank that has been idle for fewer milliseconds moves.
fn moving(patience: Duration) -> u64 {
    (patience / 2).as_millis() as u64
}
