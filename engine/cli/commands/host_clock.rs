//! The processor time of this host: that of finished children, and that of all programs.

use crate::scaling::HostUse;
use std::time::Instant;

/// Units per second in which Linux shows processor time, on every architecture.
const TICKS: f64 = 100.0;

/// The processor time up to now.
pub struct HostClock {
    at: Instant,
    /// Seconds of all programs.
    all: f64,
    /// Seconds of children that ended.
    children: f64,
}

impl HostClock {
    /// Up to now; `None` if the system does not report it.
    pub fn now() -> Option<Self> {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let all = all_ticks(&read("/proc/stat")?)?;
        let children = children_ticks(&read("/proc/self/stat")?)?;
        Some(Self { at: Instant::now(), all: all as f64 / TICKS, children: children as f64 / TICKS })
    }

    /// What happened since then, if the only work of this program was to wait for children.
    pub fn since(&self) -> Option<HostUse> {
        let now = Self::now()?;
        let processor_seconds = now.children - self.children;
        let others = (now.all - self.all - processor_seconds).max(0.0);
        let seconds = (now.at - self.at).as_secs_f64();
        Some(HostUse { processor_seconds, other_processors: others / seconds.max(1e-9) })
    }
}

/// Of all programs, from `/proc/stat`: user, nice, system, interrupts, and what a host of this machine took.
fn all_ticks(text: &str) -> Option<u64> {
    let words = text.lines().find_map(|line| line.strip_prefix("cpu "))?.split_whitespace();
    let ticks: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    Some([0, 1, 2, 5, 6, 7].into_iter().filter_map(|i| ticks.get(i)).sum())
}

/// User and system time of children, from `/proc/self/stat`. The name of the program may hold spaces.
fn children_ticks(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(words.get(13)?.parse::<u64>().ok()? + words.get(14)?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_linux_writes_them() {
        assert_eq!(all_ticks("cpu  10 2 3 1000 50 4 5 6 7 0\ncpu0 1 1 1 1\n"), Some(30));
        let text = "12 (a b) c) S 1 2 3 4 5 6 7 8 9 10 110 120 13 14 20 0 1 0 5\n";
        assert_eq!(children_ticks(text), Some(27));
        assert_eq!((all_ticks(""), children_ticks("12 (a) S 1")), (None, None));
    }
}
