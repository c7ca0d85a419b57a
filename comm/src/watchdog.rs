//! The watchdog of a rank that waits: has anything moved?

use crate::Result;
use crate::backend::{Finding, Transport};
use std::time::{Duration, Instant};

/// Notices when nothing has moved for too long. The caller passes the time.
#[derive(Debug)]
pub(crate) struct Watchdog {
    patience: Option<Duration>,
    /// How long a rank sleeps between two looks.
    pub nap: Duration,
    /// The last look.
    looked: Instant,
    /// The last look at which signs of life had changed.
    moved: Instant,
    /// The last time that the backend was asked why nothing moves.
    asked: Instant,
    signs: Option<u64>,
}

impl Watchdog {
    /// A rank begins to wait `now`. Without patience it waits forever.
    pub fn new(patience: Option<Duration>, now: Instant) -> Self {
        let longest = Duration::from_millis(200);
        let nap = patience.map_or(longest, |p| (p / 4).clamp(Duration::from_millis(1), longest));
        Self { patience, nap, looked: now, moved: now, asked: now, signs: None }
    }

    /// Looks for signs of life, if the last look was long enough ago.
    ///
    /// # Errors
    /// When nothing has moved for too long.
    pub fn look(&mut self, transport: &mut dyn Transport, now: Instant) -> Result<()> {
        let Some(patience) = self.patience else { return Ok(()) };
        if now - self.looked < self.nap {
            return Ok(());
        }
        self.looked = now;
        let signs = Some(transport.progress_signs());
        if signs != self.signs {
            self.signs = signs;
            self.start_again();
        } else if now - self.asked >= patience {
            self.asked = now;
            match transport.probe_stall(patience, now - self.moved) {
                Finding::Moves => self.start_again(),
                Finding::Computes => {}
                Finding::Stalled(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn start_again(&mut self) {
        (self.moved, self.asked) = (self.looked, self.looked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CommError;
    use crate::Rank;
    use crate::backend::RankState;
    use crate::backend::threads::{Threads, World};

    const PATIENCE: Duration = Duration::from_millis(200);

    /// Three ranks, of which rank 0 waits, and a clock that only the test moves.
    struct WatchedRanks {
        ranks: [Threads; 3],
        watchdog: Watchdog,
        now: Instant,
    }

    impl WatchedRanks {
        /// All ranks are in a barrier, except rank 1 if it computes.
        fn new(is_computing: bool) -> Self {
            let world = World::new(3);
            let mut ranks = [0, 1, 2].map(|rank| Threads::new(world.clone(), Rank(rank)));
            for (number, rank) in ranks.iter_mut().enumerate() {
                let call = if number == 1 && is_computing { "" } else { "barrier" };
                rank.set_location(RankState { call, ..RankState::default() });
            }
            let now = Instant::now();
            Self { ranks, watchdog: Watchdog::new(Some(PATIENCE), now), now }
        }

        /// Looks every 50 ms of the clock for this time, which is a multiple of 50 ms.
        fn wait(&mut self, time: Duration) -> Result<()> {
            let end = self.now + time;
            while self.now < end {
                self.now += Duration::from_millis(50);
                self.watchdog.look(&mut self.ranks[0], self.now)?;
            }
            Ok(())
        }
    }

    #[test]
    fn ranks_that_all_wait_stall_after_the_patience() {
        let mut watched = WatchedRanks::new(false);
        assert_eq!(watched.wait(PATIENCE), Ok(()));
        let places = "ranks 0-2: no stage, in barrier (call 1)".to_string();
        let stalled = Err(CommError::Stalled { after: PATIENCE, places });
        assert_eq!(watched.wait(PATIENCE), stalled);
    }

    #[test]
    fn slow_but_moving_is_no_stall() {
        let mut watched = WatchedRanks::new(false);
        for _ in 0..20 {
            assert_eq!(watched.wait(PATIENCE - Duration::from_millis(50)), Ok(()));
            watched.ranks[2].set_location(RankState { call: "barrier", ..RankState::default() });
        }
    }

    #[test]
    fn a_rank_that_computes_has_ten_times_the_patience() {
        let mut watched = WatchedRanks::new(true);
        assert_eq!(watched.wait(10 * PATIENCE), Ok(()));
        let places = "ranks 0, 2: no stage, in barrier (call 1); rank 1: no stage, between calls".to_string();
        let stalled = Err(CommError::Stalled { after: 10 * PATIENCE, places });
        assert_eq!(watched.wait(PATIENCE), stalled);
    }

    #[test]
    fn a_rank_whose_pulse_beats_is_not_stalled() {
        let mut watched = WatchedRanks::new(true);
        let pulse = watched.ranks[1].pulse();
        for _ in 0..12 {
            assert_eq!(watched.wait(9 * PATIENCE), Ok(()));
            pulse.beat();
        }
    }
}
