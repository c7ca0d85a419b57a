//! A bar for each stage of a run: the finished part, the time so far, and the remaining time.
//!
//! A rank sees only its own share. Ranks get equal work, so the bar of rank 0 stands for all; with several
//! ranks it says so. A stage that counts its items shows them. Else the bar shows the graph of tasks that
//! runs, by the costs of its tasks. A stage without either shows only its time.

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::Duration;

/// How often the time of a stage is drawn again.
const TICK: Duration = Duration::from_millis(250);

/// Makes the bars of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressBars {
    /// The number of ranks of the run.
    pub n_ranks: usize,
}

impl ProgressBars {
    /// The bar of a stage over `work` items; 0 if their number is not known.
    pub fn begin(self, stage: &'static str, work: u64) -> StageBar {
        let bar = if work > 0 { ProgressBar::new(work) } else { ProgressBar::new_spinner() };
        set_style(&bar, TIME);
        bar.enable_steady_tick(TICK);
        let bar = StageBar { bar, stage, n_ranks: self.n_ranks, work, done: 0, counted: BarUnit::Nothing };
        bar.name("");
        bar
    }
}

/// The quantity that a bar counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BarUnit {
    /// Nothing so far.
    Nothing,
    /// The items of the stage.
    Items,
    /// The costs of the tasks of one graph after the other.
    Tasks,
}

/// The bar of a stage.
#[derive(Debug)]
pub struct StageBar {
    bar: ProgressBar,
    stage: &'static str,
    n_ranks: usize,
    /// The number of items of the stage, and of finished ones.
    work: u64,
    done: u64,
    counted: BarUnit,
}

impl StageBar {
    /// `done` more items are finished. A stage that counts its items shows them rather than tasks.
    pub fn advance(&mut self, done: u64) {
        self.done += done;
        if self.work == 0 {
            return;
        }
        if self.counted != BarUnit::Items {
            self.counted = BarUnit::Items;
            self.name("");
            self.restart(self.work);
        }
        self.bar.set_position(self.done);
    }

    /// A graph of tasks begins, whose costs add up to `cost`. Returns whether the bar shows its tasks.
    pub fn begin_tasks(&mut self, graph: &'static str, cost: u64) -> bool {
        if self.counted == BarUnit::Items || cost == 0 {
            return false;
        }
        self.counted = BarUnit::Tasks;
        self.name(if graph == self.stage { "" } else { graph });
        self.restart(cost);
        true
    }

    /// Tasks of this cost are finished.
    pub fn advance_tasks(&self, cost: u64) {
        if self.counted == BarUnit::Tasks {
            self.bar.inc(cost);
        }
    }

    /// The stage ended.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }

    /// From 0 to `all`.
    fn restart(&self, all: u64) {
        set_style(&self.bar, SHARE);
        self.bar.set_length(all);
        self.bar.set_position(0);
        self.bar.reset_eta();
    }

    /// Shows the name of the stage and a step of it.
    fn name(&self, step: &str) {
        let step = if step.is_empty() { String::new() } else { format!(": {step}") };
        self.bar.set_message(match self.n_ranks {
            0 | 1 => format!("{}{step}", self.stage),
            n => format!("{}{step} (rank 0 of {n})", self.stage),
        });
    }
}

/// A stage that reports only its begin and end, and one that reports its progress.
const TIME: &str = "{msg:18} {spinner} {elapsed}";
const SHARE: &str = "{msg:18} [{bar:36}] {percent:>3} % {elapsed}{left}";

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> ").with_key("left", left));
    }
}

/// The time that the rest takes at the rate so far.
fn left(state: &ProgressState, text: &mut dyn Write) {
    let is_whole = state.len().is_none_or(|all| state.pos() >= all);
    if state.pos() > 0 && !is_whole {
        let _ = write!(text, ", {:#} left", HumanDuration(state.eta()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::{ProgressDrawTarget, TermLike};
    use std::io::Result;
    use std::sync::{Arc, Mutex};

    /// A terminal that keeps the last line.
    #[derive(Debug, Clone, Default)]
    struct LastLine(Arc<Mutex<String>>);

    impl LastLine {
        fn text(&self) -> String {
            self.0.lock().expect("no test panics in it").clone()
        }

        fn set(&self, change: impl FnOnce(&mut String)) -> Result<()> {
            change(&mut self.0.lock().expect("no test panics in it"));
            Ok(())
        }
    }

    impl TermLike for LastLine {
        fn width(&self) -> u16 {
            120
        }
        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> Result<()> {
            self.set(|line| line.push_str(text))
        }
        fn clear_line(&self) -> Result<()> {
            self.set(String::clear)
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    /// What a bar of `n` ranks shows after `done` of 100 items.
    fn shown(n_ranks: usize, done: u64) -> String {
        let (mut bar, terminal) = bar(n_ranks);
        for _ in 0..done {
            std::thread::sleep(Duration::from_millis(3));
            bar.advance(1);
        }
        last_line(&bar, &terminal)
    }

    fn bar(n_ranks: usize) -> (StageBar, LastLine) {
        let terminal = LastLine::default();
        let bar = ProgressBars { n_ranks }.begin("reading", 100);
        bar.bar.disable_steady_tick();
        bar.bar.set_draw_target(ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 250));
        (bar, terminal)
    }

    fn last_line(bar: &StageBar, terminal: &LastLine) -> String {
        terminal.set(String::clear).expect("kept");
        bar.bar.force_draw();
        terminal.text()
    }

    #[test]
    fn a_stage_without_items_shows_the_tasks_of_each_graph() {
        let (mut bar, terminal) = bar(1);
        assert!(bar.begin_tasks("contacts", 1000));
        bar.advance_tasks(250);
        let first = last_line(&bar, &terminal);
        assert!(first.contains("reading: contacts") && first.contains("25 %"), "{first}");
        assert!(bar.begin_tasks("reading", 10));
        bar.advance_tasks(5);
        let second = last_line(&bar, &terminal);
        assert!(second.contains("50 %") && !second.contains("contacts"), "{second}");
        // Items of the stage say more.
        bar.advance(20);
        bar.advance_tasks(5);
        let items = last_line(&bar, &terminal);
        assert!(items.contains("20 %"), "{items}");
        assert!(!bar.begin_tasks("contacts", 1000));
    }

    #[test]
    fn a_stage_that_tells_how_far_it_is_has_a_bar_and_the_time_that_is_left() {
        let begun = shown(1, 0);
        assert!(begun.contains("reading") && !begun.contains('%') && !begun.contains("left"), "{begun}");
        let half = shown(1, 50);
        assert!(half.contains("50 %") && half.contains(" left"), "{half}");
        let whole = shown(1, 100);
        assert!(whole.contains("100 %") && !whole.contains("left"), "{whole}");
        assert!(shown(8, 50).contains("reading (rank 0 of 8)"), "{}", shown(8, 50));
    }
}
