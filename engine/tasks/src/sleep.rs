//! Workers without work sleep until there may be some.
//!
//! `README.md` of this crate has the argument why no wake-up is lost.

use crate::sync::{AtomicU64, Condvar, Mutex, Ordering::SeqCst, fence, wait_until};
use std::time::Duration;

/// The sleeping threads, and a wake-up flag for each.
#[derive(Debug)]
pub struct Sleep {
    /// One bit per sleeper: the sleeper sets it, the waker clears it.
    asleep: Vec<AtomicU64>,
    wakeups: Vec<Wakeup>,
}

#[derive(Debug, Default)]
struct Wakeup {
    notified: Mutex<bool>,
    wakeup: Condvar,
}

impl Wakeup {
    fn notify(&self) {
        *self.notified.lock() = true;
        self.wakeup.notify_one();
    }
}

impl Sleep {
    /// The sleep state of `n` threads.
    pub fn new(n: usize) -> Self {
        Self {
            asleep: (0..n.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            wakeups: (0..n).map(|_| Wakeup::default()).collect(),
        }
    }

    /// Puts thread `who` to sleep until it is woken, or for `at_most`. It does not sleep if `has_work` holds
    /// after its bit is set.
    pub fn park(&self, who: usize, at_most: Option<Duration>, has_work: impl Fn() -> bool) {
        let (word, bit) = (&self.asleep[who / 64], 1 << (who % 64));
        word.fetch_or(bit, SeqCst);
        fence(SeqCst);
        if !has_work() {
            wait_until(&self.wakeups[who].wakeup, &self.wakeups[who].notified, at_most);
        }
        // A waker that has taken the bit may notify later. The next sleep then ends at once; the thread looks
        // for work and sleeps again.
        word.fetch_and(!bit, SeqCst);
    }

    /// Wakes one sleeping thread of those in `of`. Call it after the task is in its queue.
    pub fn wake_one(&self, of: std::ops::Range<usize>) {
        fence(SeqCst);
        for (w, word) in self.asleep.iter().enumerate() {
            let mut sleepers = word.load(SeqCst) & mask(&of, w);
            while sleepers != 0 {
                let bit = sleepers & sleepers.wrapping_neg();
                if word.fetch_and(!bit, SeqCst) & bit != 0 {
                    self.wakeups[w * 64 + bit.trailing_zeros() as usize].notify();
                    return;
                }
                sleepers &= !bit;
            }
        }
    }

    /// Wakes thread `who`, or ends its next sleep at once.
    pub fn wake(&self, who: usize) {
        self.wakeups[who].notify();
    }
}

/// The bits of the threads `of` in word `w`.
fn mask(of: &std::ops::Range<usize>, w: usize) -> u64 {
    let below = |end: usize| match end.saturating_sub(w * 64) {
        n if n >= 64 => u64::MAX,
        n => (1 << n) - 1,
    };
    below(of.end) & !below(of.start)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!((mask(&(0..3), 0), mask(&(0..3), 1)), (0b111, 0));
        assert_eq!((mask(&(1..64), 0), mask(&(1..65), 1)), (u64::MAX - 1, 1));
        assert_eq!((mask(&(64..66), 0), mask(&(64..66), 1)), (0, 0b11));
    }
}
