//! A bar for each stage of a run: how much is done, since when, and how long it will take.
//!
//! A rank knows its own share alone. Ranks get equal work, so the bar of the first one stands for all; with several ranks it
//! says so. Most stages tell only their begin and end: these have no bar, and their time goes on.

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
    pub fn begin(self, stage: &'static str, work: u64) -> ProgressBar {
        let bar = if work > 0 { ProgressBar::new(work) } else { ProgressBar::new_spinner() };
        set_style(&bar, "{msg:18} {spinner} {elapsed}");
        bar.set_message(match self.n_ranks {
            0 | 1 => stage.to_string(),
            n => format!("{stage} (rank 0 of {n})"),
        });
        bar.enable_steady_tick(TICK);
        bar
    }
}

/// `done` more items are finished.
pub fn advance(bar: &ProgressBar, done: u64) {
    // Only now is it known that this stage tells how far it is.
    if bar.position() == 0 && bar.length().is_some() {
        set_style(bar, "{msg:18} [{bar:36}] {percent:>3} % {elapsed}{left}");
    }
    bar.inc(done);
}

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
        let terminal = LastLine::default();
        let bar = ProgressBars { n_ranks }.begin("reading", 100);
        bar.disable_steady_tick();
        bar.set_draw_target(ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 250));
        for _ in 0..done {
            std::thread::sleep(Duration::from_millis(3));
            advance(&bar, 1);
        }
        terminal.set(String::clear).expect("kept");
        bar.force_draw();
        terminal.text()
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
