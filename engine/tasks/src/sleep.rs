//! Workers without work: asleep until there may be some.
//!
//! `README.md` of this crate has the argument why no wake-up is lost.

use crate::sync::{AtomicU64, Condvar, Mutex, Ordering::SeqCst, fence, wait_until};
use std::time::Duration;

/// Who sleeps, and a bell for each.
#[derive(Debug)]
pub struct Sleep {
    /// One bit a sleeper: set by itself, cleared by whoever wakes it.
    asleep: Vec<AtomicU64>,
    bells: Vec<Wakeup>,
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
    /// For so many threads.
    pub fn new(n: usize) -> Self {
        Self {
            asleep: (0..n.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            bells: (0..n).map(|_| Wakeup::default()).collect(),
        }
    }

    /// Puts thread `who` to sleep until it is woken, or for `at_most`, unless `has_work` says that there is
    /// something to do once it has been announced as a sleeper.
    pub fn park(&self, who: usize, at_most: Option<Duration>, has_work: impl Fn() -> bool) {
        let (word, bit) = (&self.asleep[who / 64], 1 << (who % 64));
        word.fetch_or(bit, SeqCst);
        fence(SeqCst);
        if !has_work() {
            wait_until(&self.bells[who].wakeup, &self.bells[who].notified, at_most);
        }
        // Where somebody has taken the bit, its ring may still come: the next rest then ends at once,
        // looks, and sleeps again.
        word.fetch_and(!bit, SeqCst);
    }

    /// Wakes one thread of those in `of` that sleeps; to be called after what it is to find is there.
    pub fn wake_one(&self, of: std::ops::Range<usize>) {
        fence(SeqCst);
        for (w, word) in self.asleep.iter().enumerate() {
            let mut sleepers = word.load(SeqCst) & mask(&of, w);
            while sleepers != 0 {
                let bit = sleepers & sleepers.wrapping_neg();
                if word.fetch_and(!bit, SeqCst) & bit != 0 {
                    self.bells[w * 64 + bit.trailing_zeros() as usize].notify();
                    return;
                }
                sleepers &= !bit;
            }
        }
    }

    /// Wakes thread `who`, or lets its next rest end at once.
    pub fn wake(&self, who: usize) {
        self.bells[who].notify();
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
