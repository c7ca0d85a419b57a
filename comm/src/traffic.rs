//! What was sent, by stage.

/// What one rank sent to others in one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTraffic {
    /// The stage, as [`crate::Comm::at`] named it.
    pub stage: &'static str,
    /// Sparse exchanges.
    pub rounds: u64,
    /// Messages of those exchanges, without those to itself.
    pub messages: u64,
    /// Bytes in those messages.
    pub bytes: u64,
    /// Other collective calls.
    pub collectives: u64,
}

/// The counters of a rank.
#[derive(Debug)]
pub(crate) struct Traffic {
    stages: Vec<StageTraffic>,
    now: usize,
}

impl Default for Traffic {
    fn default() -> Self {
        Self { stages: vec![StageTraffic::new("")], now: 0 }
    }
}

impl StageTraffic {
    fn new(stage: &'static str) -> Self {
        Self { stage, rounds: 0, messages: 0, bytes: 0, collectives: 0 }
    }

    fn is_empty(&self) -> bool {
        *self == Self::new(self.stage)
    }
}

impl Traffic {
    /// Counts for `stage` from now on.
    pub fn enter(&mut self, stage: &'static str) {
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
