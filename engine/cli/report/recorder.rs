//! Times the stages of a run and shows a progress bar for each.

use super::memory::StageMemory;
use super::progress::{ProgressBars, StageBar};
use inselberg::progress::Observer;
use inselberg_comm::Pulse;
use inselberg_tasks::{Tally, TaskGraph};
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The row of the time that is in no stage.
pub const BETWEEN_STAGES: &str = "between stages";

/// One stage of a run, as measured.
#[derive(Debug, Clone, PartialEq)]
pub struct StageTime {
    /// Its name; a repeated stage is one entry.
    pub name: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Processed cells.
    pub cells: u64,
    /// The peak memory of the process in this stage, in bytes; `None` if not measured.
    pub peak_memory: Option<u64>,
}

impl StageTime {
    /// Cells per second; `None` for a stage without cells or without a measurable time.
    pub fn cells_per_second(&self) -> Option<f64> {
        (self.cells > 0 && self.seconds > 0.0).then(|| self.cells as f64 / self.seconds)
    }
}

/// A graph of tasks that was run.
#[derive(Debug, Clone)]
pub struct RecordedGraph {
    /// Its name.
    pub name: &'static str,
    /// The measured run.
    pub tally: Tally,
    /// The graph in the dot language, if kept.
    pub dot: Option<String>,
}

/// An event of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StageEvent {
    /// It begins.
    Begun {
        /// Its name.
        name: &'static str,
    },
    /// It ended.
    Ended {
        /// Its name.
        name: &'static str,
        /// Wall-clock seconds.
        seconds: f64,
        /// Processed items.
        cells: u64,
    },
}

/// An [`Observer`] that measures, and with progress draws bars on standard error if that is a terminal.
#[derive(Debug)]
pub struct Recorder {
    bars: Option<ProgressBars>,
    keeps_dot: bool,
    measures_memory: bool,
    listener: Option<fn(&StageEvent)>,
    pulse: Pulse,
    began: (Instant, SystemTime),
    state: Mutex<RecorderState>,
}

#[derive(Debug, Default)]
struct RecorderState {
    stages: Vec<StageTime>,
    open: Vec<OpenStage>,
    spans: Vec<(&'static str, Instant, Duration)>,
    graphs: Vec<RecordedGraph>,
}

#[derive(Debug)]
struct OpenStage {
    name: &'static str,
    since: Instant,
    bar: Option<StageBar>,
    memory: Option<StageMemory>,
}

impl Recorder {
    /// A recorder; `progress` requests bars.
    pub fn new(progress: Option<ProgressBars>) -> Self {
        let bars = progress.filter(|_| std::io::stderr().is_terminal());
        let began = (Instant::now(), SystemTime::now());
        let (keeps_dot, measures_memory, listener, pulse) = (false, false, None, Pulse::default());
        Self { bars, keeps_dot, measures_memory, listener, pulse, began, state: Mutex::default() }
    }

    /// The same; `listener` is called at once for every stage.
    pub fn with_listener(self, listener: Option<fn(&StageEvent)>) -> Self {
        Self { listener, ..self }
    }

    /// The same; keeps executed graphs in the dot language if `keep`.
    pub fn keep_dot(self, keeps_dot: bool) -> Self {
        Self { keeps_dot, ..self }
    }

    /// The same; measures the peak memory of each stage if `measure`.
    pub fn measure_memory(self, measures_memory: bool) -> Self {
        Self { measures_memory, ..self }
    }

    /// The same; every event beats `pulse`, so that a working rank does not count as stalled.
    pub fn with_pulse(self, pulse: Pulse) -> Self {
        Self { pulse, ..self }
    }

    /// The completed stages, in the order of their first end.
    pub fn stages(&self) -> Vec<StageTime> {
        self.lock().stages.clone()
    }

    /// The completed stages, and last the time from the start until now that lies in none of them.
    pub fn times(&self) -> Vec<StageTime> {
        let seconds = outside(self.began.0, Instant::now(), &self.spans()).as_secs_f64();
        let between = StageTime { name: BETWEEN_STAGES, seconds, cells: 0, peak_memory: None };
        self.stages().into_iter().chain([between]).collect()
    }

    /// Its start, by two clocks.
    pub fn began(&self) -> (Instant, SystemTime) {
        self.began
    }

    /// Every completed stage, with repeats: its name, start and duration.
    pub fn spans(&self) -> Vec<(&'static str, Instant, Duration)> {
        self.lock().spans.clone()
    }

    /// Every executed graph.
    pub fn graphs(&self) -> Vec<RecordedGraph> {
        self.lock().graphs.clone()
    }

    /// Measurements stay valid after a panic of a worker.
    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Recorder {
    fn begin(&self, stage: &'static str, work: u64) {
        self.pulse.beat();
        if let Some(listener) = self.listener {
            listener(&StageEvent::Begun { name: stage });
        }
        let bar = self.bars.map(|bars| bars.begin(stage, work));
        let memory = self.measures_memory.then(StageMemory::begin);
        self.lock().open.push(OpenStage { name: stage, since: Instant::now(), bar, memory });
    }

    fn advance(&self, done: u64) {
        self.pulse.beat();
        if let Some(bar) = self.lock().open.last_mut().and_then(|open| open.bar.as_mut()) {
            bar.advance(done);
        }
    }

    fn begin_tasks(&self, name: &'static str, cost: u64) -> bool {
        let bars = self.bars.is_some();
        let mut state = self.lock();
        let bar = state.open.last_mut().and_then(|open| open.bar.as_mut()).filter(|_| bars);
        bar.is_some_and(|bar| bar.begin_tasks(name, cost))
    }

    fn advance_tasks(&self, cost: u64) {
        if let Some(bar) = self.lock().open.last_mut().and_then(|open| open.bar.as_mut()) {
            bar.advance_tasks(cost);
        }
    }

    fn end(&self, stage: &'static str, cells: u64) {
        self.pulse.beat();
        let mut state = self.lock();
        let Some(place) = state.open.iter().rposition(|open| open.name == stage) else { return };
        let open = state.open.remove(place);
        if let Some(bar) = open.bar {
            bar.finish();
        }
        let took = open.since.elapsed();
        state.spans.push((stage, open.since, took));
        let seconds = took.as_secs_f64();
        let peak_memory = open.memory.and_then(StageMemory::end);
        state.add(StageTime { name: stage, seconds, cells, peak_memory });
        drop(state);
        if let Some(listener) = self.listener {
            listener(&StageEvent::Ended { name: stage, seconds, cells });
        }
    }

    fn ran(&self, name: &'static str, plan: &TaskGraph, tally: &Tally) {
        self.pulse.beat();
        let dot = self.keeps_dot.then(|| plan.to_dot(name));
        self.lock().graphs.push(RecordedGraph { name, tally: tally.clone(), dot });
    }
}

impl RecorderState {
    fn add(&mut self, stage: StageTime) {
        match self.stages.iter_mut().find(|s| s.name == stage.name) {
            Some(known) => {
                known.seconds += stage.seconds;
                known.cells += stage.cells;
                known.peak_memory = known.peak_memory.max(stage.peak_memory);
            }
            None => self.stages.push(stage),
        }
    }
}

/// The time from `begin` to `end` that no span has. Spans may lie in each other.
fn outside(begin: Instant, end: Instant, spans: &[(&'static str, Instant, Duration)]) -> Duration {
    let mut spans: Vec<(Instant, Instant)> =
        spans.iter().map(|(_, since, took)| (*since, *since + *took)).collect();
    spans.sort_unstable();
    let (mut seen, mut free) = (begin, Duration::ZERO);
    for (since, until) in spans {
        free += since.saturating_duration_since(seen);
        seen = seen.max(until);
    }
    free + end.saturating_duration_since(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_timed_and_repeated_ones_added_up() {
        let recorder = Recorder::new(None).measure_memory(true);
        for cells in [3, 4] {
            recorder.begin("read", 10);
            recorder.begin("inner", 0);
            recorder.advance(10);
            recorder.end("inner", 1);
            recorder.end("read", cells);
        }
        recorder.end("never begun", 1);
        let stages = recorder.stages();
        assert_eq!(stages.iter().map(|s| (s.name, s.cells)).collect::<Vec<_>>(), [("inner", 2), ("read", 7)]);
        assert!(stages[1].seconds >= stages[0].seconds);
        assert!(stages[1].peak_memory >= stages[0].peak_memory);
    }

    #[test]
    fn what_is_in_no_stage_is_counted_once() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let span = |from: u64, to: u64| ("s", at(from), Duration::from_millis(to - from));
        // A stage in a stage, and one that overlaps it.
        let spans = [span(10, 20), span(40, 90), span(50, 60), span(80, 95)];
        assert_eq!(outside(begin, at(100), &spans), Duration::from_millis(10 + 20 + 5));
        assert_eq!(outside(begin, at(7), &[]), Duration::from_millis(7));
    }

    /// Ranks whose pulse beats are not stalled: `watchdog.rs` of the ranks has tests of that.
    #[test]
    fn every_event_beats_the_pulse() {
        let pulse = Pulse::default();
        let recorder = Recorder::new(None).with_pulse(pulse.clone());
        recorder.begin("read", 2);
        recorder.advance(1);
        recorder.advance(1);
        recorder.end("read", 2);
        assert_eq!(pulse.count(), 4);
    }
}
