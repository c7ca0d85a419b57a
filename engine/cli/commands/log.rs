//! The log: lines of `--verbose` on standard error and in the file of `--log`.
//!
//! The first process keeps the log, so its stages are those of the first rank. The summary at the end has the
//! times of all ranks. A line is written at once, so that the log of a killed run shows its last stage.

use super::escape::escaped;
use super::grouped::grouped;
use super::version::features;
use crate::report::StageEvent;
use parking_lot::Mutex;
use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The beginning of the first line of a log, and of that of each further run in it.
pub const MARK: &str = "# inselberg ";

/// How long an error waits for the log.
const PATIENCE: Duration = Duration::from_secs(1);

static LOG: Mutex<Log> = Mutex::new(Log { begin: None, file: None, early: Vec::new(), is_verbose: false });

struct Log {
    begin: Option<Instant>,
    file: Option<File>,
    /// The lines before the log was opened.
    early: Vec<String>,
    is_verbose: bool,
}

/// Begins the log of this process with the earlier lines.
pub fn begin(file: Option<File>, is_verbose: bool) {
    let mut log = LOG.lock();
    (log.begin, log.file, log.is_verbose) = (Some(Instant::now()), file, is_verbose);
    let (version, features) = (env!("CARGO_PKG_VERSION"), features().join(", "));
    log.raw(&format!("{MARK}{version} with {features}; process {}", std::process::id()));
    let words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    log.write(&format!("command: {}", words.join(" ")));
    let early = std::mem::take(&mut log.early);
    early.iter().for_each(|line| log.write(line));
}

/// Whether anyone reads the log.
pub fn is_open() -> bool {
    let log = LOG.lock();
    log.file.is_some() || log.is_verbose
}

/// Adds a line that is already on standard error: a warning or an error. Leaves it out if the holder of the
/// log itself has failed.
pub fn keep(line: &str) {
    let Some(mut log) = LOG.try_lock_for(PATIENCE) else { return };
    match log.begin {
        Some(_) => log.write(line),
        None => log.early.push(line.into()),
    }
}

/// Adds a line, which `--verbose` shows as well.
pub fn note(line: &str) {
    let mut log = LOG.lock();
    if log.is_verbose
        && let Some(begin) = log.begin
    {
        let line = escaped(line);
        let shown = format!("inselberg: {:.1} s: {line}\n", begin.elapsed().as_secs_f64());
        // A closed pipe is not an error.
        let _ = std::io::stderr().write_all(shown.as_bytes());
    }
    log.write(line);
}

/// Adds a text of several lines to the file.
pub fn text(text: &str) {
    let mut log = LOG.lock();
    text.lines().for_each(|line| log.raw(&format!("    {line}")));
}

/// Adds a line about a stage.
pub fn stage(event: &StageEvent) {
    note(&match *event {
        StageEvent::Begun { name } => format!("{name}: begins"),
        StageEvent::Ended { name, seconds, cells: 0 } => format!("{name}: {seconds:.3} s"),
        StageEvent::Ended { name, seconds, cells } => {
            format!("{name}: {seconds:.3} s, {} items", grouped(cells))
        }
    });
}

impl Log {
    /// A line with the time of day and the time since the begin.
    fn write(&mut self, line: &str) {
        let since = self.begin.map_or(0.0, |begin| begin.elapsed().as_secs_f64());
        self.raw(&format!("{} {since:>10.3} s  {}", utc(SystemTime::now()), escaped(line)));
    }

    /// A line without changes. If the log cannot be written, it ends; the run continues.
    fn raw(&mut self, line: &str) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            self.file = None;
            // `fault::warn` would call this function again.
            let line = format!("inselberg: warning: the log ends here: {error}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
}

/// As in 2026-11-24T21:05:41Z. A clock before 1970 counts as 1970.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from 1 March of the year 0, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_795_554_341, "2026-11-24T21:05:41Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
