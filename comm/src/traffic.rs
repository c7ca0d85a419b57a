//! Messages and working time of a rank, by stage.

use std::time::Duration;

/// The traffic of one rank in one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTraffic {
    /// The stage, as [`crate::Comm::at`] named it.
    pub stage: &'static str,
    /// Sparse exchanges.
    pub rounds: u64,
    /// Number of these that are between neighbours, without a barrier.
    pub near_rounds: u64,
    /// Messages of those exchanges, without those to itself.
    pub messages: u64,
    /// Bytes in those messages.
    pub bytes: u64,
    /// Messages that were received from other ranks in those exchanges.
    pub received: u64,
    /// Bytes in these.
    pub received_bytes: u64,
    /// Other collective calls.
    pub collectives: u64,
    /// Bytes of these that passed through this rank, up and down the tree.
    pub tree_bytes: u64,
    /// Time outside of calls, by the clock of the rank ([`crate::CommBuilder::clock`]); zero without one.
    pub work: Duration,
    /// Time within calls, by the same clock.
    pub in_calls: Duration,
    /// Time from the begin to the end of calls, waiting included.
    pub call_time: Duration,
}

/// The clock that measures a rank's time: returns the time now.
pub type ThreadClock = fn() -> Duration;

/// The counters of a rank.
#[derive(Debug)]
pub(crate) struct TrafficLog {
    stages: Vec<StageTraffic>,
    now: usize,
    /// The clock, and its value when time was last counted.
    clock: Option<(ThreadClock, Duration)>,
}

impl StageTraffic {
    fn new(stage: &'static str) -> Self {
        Self {
            stage,
            rounds: 0,
            near_rounds: 0,
            messages: 0,
            bytes: 0,
            received: 0,
            received_bytes: 0,
            collectives: 0,
            tree_bytes: 0,
            work: Duration::ZERO,
            in_calls: Duration::ZERO,
            call_time: Duration::ZERO,
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::new(self.stage)
    }
}

impl TrafficLog {
    /// Nothing yet; time is counted from now on, if there is a clock.
    pub fn new(clock: Option<ThreadClock>) -> Self {
        let clock = clock.map(|clock| (clock, clock()));
        Self { stages: vec![StageTraffic::new("")], now: 0, clock }
    }

    /// The time since time was last counted.
    pub fn lap(&mut self) -> Duration {
        let Some((clock, before)) = &mut self.clock else { return Duration::ZERO };
        let now = clock();
        now.saturating_sub(std::mem::replace(before, now))
    }

    /// Counts for `stage` from now on.
    pub fn enter(&mut self, stage: &'static str) {
        let lap = self.lap();
        self.now().work += lap;
        let known = self.stages.iter().position(|s| s.stage == stage);
        self.now = known.unwrap_or_else(|| {
            self.stages.push(StageTraffic::new(stage));
            self.stages.len() - 1
        });
    }

    /// The counters of the present stage.
    pub fn now(&mut self) -> &mut StageTraffic {
        &mut self.stages[self.now]
    }

    /// All stages; the unnamed one only if something was sent in it.
    pub fn stages(&self) -> &[StageTraffic] {
        &self.stages[usize::from(self.stages[0].is_empty())..]
    }
}
