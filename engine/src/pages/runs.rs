//! Which pages are free, and which make up the arrays: book-keeping alone.

use std::collections::BTreeMap;

/// Whole pages one after another, in one mapping of the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Address of the first byte.
    pub start: usize,
    /// Bytes, whole pages.
    pub len: usize,
}

impl Run {
    /// Its first `len` bytes, and the rest if there is any.
    pub fn split(self, len: usize) -> (Run, Option<Run>) {
        let rest = Run { start: self.start + len, len: self.len.saturating_sub(len) };
        (Run { len: self.len.min(len), ..self }, (rest.len > 0).then_some(rest))
    }
}

/// The runs that the process has.
#[derive(Debug, Default)]
pub struct Runs {
    /// Length by start of those that arrays are made of.
    used: BTreeMap<usize, usize>,
    free: Vec<Run>,
}

impl Runs {
    /// None.
    pub const fn new() -> Self {
        Self { used: BTreeMap::new(), free: Vec::new() }
    }

    /// Notes that an array has this run.
    pub fn hand_out(&mut self, run: Run) {
        self.used.insert(run.start, run.len);
    }

    /// Takes a free run, of at most so many bytes.
    pub fn take(&mut self, most: usize) -> Option<Run> {
        let (run, rest) = self.free.pop()?.split(most);
        self.free.extend(rest);
        Some(run)
    }

    /// Frees a run that no array has any more.
    pub fn give_back(&mut self, run: Run) {
        self.free.push(run);
    }

    /// The runs of the array in these bytes, in their order; it has them no longer.
    pub fn of_array(&mut self, array: Run) -> Vec<Run> {
        let found: Vec<_> =
            self.used.range(array.start..array.start + array.len).map(|(s, l)| (*s, *l)).collect();
        found
            .into_iter()
            .map(|(start, len)| {
                self.used.remove(&start);
                Run { start, len }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, Runs};

    #[test]
    fn runs_come_back_in_parts_and_in_order() {
        let run = |start, len| Run { start, len };
        let mut runs = Runs::new();
        [run(10, 5), run(15, 1), run(20, 4)].into_iter().for_each(|r| runs.hand_out(r));
        assert_eq!(runs.of_array(run(10, 6)), [run(10, 5), run(15, 1)]);
        assert_eq!(runs.of_array(run(10, 6)), []);
        runs.give_back(run(10, 5));
        assert_eq!(runs.take(2), Some(run(10, 2)));
        assert_eq!(runs.take(9), Some(run(12, 3)));
        assert_eq!(runs.take(1), None);
        assert_eq!(runs.of_array(run(20, 4)), [run(20, 4)]);
    }
}
