//! Book-keeping of free pages and of the pages of arrays.

use std::collections::BTreeMap;

/// Most runs of a process: an eighth of the mappings that Linux allows by default.
pub const MOST_RUNS: usize = 8192;

/// Whole pages one after another, in one mapping of the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRun {
    /// Address of the first byte.
    pub start: usize,
    /// Bytes, whole pages.
    pub len: usize,
    /// The address at which its first byte was mapped. Linux joins neighbours whose bytes were neighbours
    /// there.
    pub origin: usize,
}

impl PageRun {
    /// Pages that are new at these addresses.
    pub fn new(start: usize, len: usize) -> Self {
        Self { start, len, origin: start }
    }

    /// Splits it into its first `len` bytes and the rest, if there is any.
    pub fn split(self, len: usize) -> (PageRun, Option<PageRun>) {
        let rest = PageRun {
            start: self.start + len,
            len: self.len.saturating_sub(len),
            origin: self.origin.wrapping_add(len),
        };
        (PageRun { len: self.len.min(len), ..self }, (rest.len > 0).then_some(rest))
    }

    /// The same pages elsewhere.
    pub fn at(self, start: usize) -> Self {
        Self { start, ..self }
    }

    /// The address after its last byte.
    pub fn end(self) -> usize {
        self.start + self.len
    }

    /// Whether `next` follows it in the same mapping.
    fn is_joined_to(self, next: PageRun) -> bool {
        self.end() == next.start && self.origin.wrapping_add(self.len) == next.origin
    }
}

/// The runs that the process has.
#[derive(Debug)]
pub struct PageRuns {
    /// The runs of arrays, by start.
    used: BTreeMap<usize, PageRun>,
    /// The free runs by start, joined with their neighbours.
    free: BTreeMap<usize, PageRun>,
    most: usize,
}

impl PageRuns {
    /// No runs, and at most `most` of them.
    pub const fn new(most: usize) -> Self {
        Self { used: BTreeMap::new(), free: BTreeMap::new(), most }
    }

    fn is_full(&self) -> bool {
        self.used.len() + self.free.len() >= self.most
    }

    /// Records that an array has this run.
    pub fn hand_out(&mut self, run: PageRun) {
        self.used.insert(run.start, run);
    }

    /// Takes a free run of at most `most` bytes: the longest of these, else a part of the shortest, unless
    /// the number of runs is at its limit.
    pub fn take(&mut self, most: usize) -> Option<PageRun> {
        let fits = self.free.values().filter(|run| run.len <= most).max_by_key(|run| run.len);
        let chosen =
            fits.or_else(|| self.free.values().min_by_key(|run| run.len).filter(|_| !self.is_full()));
        let (run, rest) = self.free.remove(&chosen?.start.clone())?.split(most);
        self.free.extend(rest.map(|rest| (rest.start, rest)));
        Some(run)
    }

    /// Frees a run that no array has any more, and joins it with its neighbours. A returned run is one too
    /// many and must be unmapped.
    pub fn give_back(&mut self, mut run: PageRun) -> Option<PageRun> {
        if let Some((start, before)) = self.free.range(..run.start).next_back().map(|(s, r)| (*s, *r))
            && before.is_joined_to(run)
        {
            self.free.remove(&start);
            run = PageRun { len: before.len + run.len, ..before };
        }
        if let Some(after) = self.free.get(&run.end()).copied()
            && run.is_joined_to(after)
        {
            self.free.remove(&after.start);
            run.len += after.len;
        }
        if self.is_full() {
            return Some(run);
        }
        self.free.insert(run.start, run);
        None
    }

    /// Takes all free runs.
    pub fn take_all(&mut self) -> impl Iterator<Item = PageRun> + use<> {
        std::mem::take(&mut self.free).into_values()
    }

    /// Removes and returns the runs of the array in these bytes, in their order.
    pub fn of_array(&mut self, start: usize, len: usize) -> Vec<PageRun> {
        let found: Vec<_> = self.used.range(start..start + len).map(|(_, run)| *run).collect();
        for run in &found {
            self.used.remove(&run.start);
        }
        found
    }
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "benches include this file and have no test harness")]
mod tests {
    use super::{PageRun, PageRuns};

    fn run(start: usize, len: usize, origin: usize) -> PageRun {
        PageRun { start, len, origin }
    }

    #[test]
    fn runs_come_back_in_parts_and_in_order() {
        let mut runs = PageRuns::new(10);
        [run(10, 5, 10), run(15, 1, 70), run(20, 4, 20)].into_iter().for_each(|r| runs.hand_out(r));
        assert_eq!(runs.of_array(10, 6), [run(10, 5, 10), run(15, 1, 70)]);
        assert_eq!(runs.of_array(10, 6), []);
        assert_eq!(runs.give_back(run(10, 5, 10)), None);
        assert_eq!(runs.take(2), Some(run(10, 2, 10)));
        assert_eq!(runs.take(9), Some(run(12, 3, 12)));
        assert_eq!(runs.take(1), None);
        assert_eq!(runs.of_array(20, 4), [run(20, 4, 20)]);
    }

    #[test]
    fn the_longest_that_fits_is_taken_whole_before_any_is_split() {
        let mut runs = PageRuns::new(10);
        [run(10, 5, 10), run(20, 3, 20), run(30, 9, 30)]
            .into_iter()
            .for_each(|r| assert_eq!(runs.give_back(r), None));
        assert_eq!(runs.take(8), Some(run(10, 5, 10)));
        assert_eq!(runs.take(3), Some(run(20, 3, 20)));
        assert_eq!(runs.take(4), Some(run(30, 4, 30)));
        assert_eq!(runs.take(99), Some(run(34, 5, 34)));
    }

    #[test]
    fn neighbours_of_one_mapping_are_joined_and_others_are_not() {
        let mut runs = PageRuns::new(10);
        // The first two were neighbours where they were new; the third came from elsewhere.
        [run(15, 5, 95), run(10, 5, 90), run(20, 5, 50)]
            .into_iter()
            .for_each(|r| assert_eq!(runs.give_back(r), None));
        assert_eq!(runs.take_all().collect::<Vec<_>>(), [run(10, 10, 90), run(20, 5, 50)]);
        [run(10, 5, 90), run(20, 5, 100), run(15, 5, 95)]
            .into_iter()
            .for_each(|r| assert_eq!(runs.give_back(r), None));
        assert_eq!(runs.take_all().collect::<Vec<_>>(), [run(10, 15, 90)]);
    }

    #[test]
    fn there_are_never_more_than_allowed() {
        let mut runs = PageRuns::new(3);
        [run(10, 5, 10), run(20, 5, 20)].into_iter().for_each(|r| assert_eq!(runs.give_back(r), None));
        runs.hand_out(run(90, 1, 90));
        // None is split, and what comes back and joins no other is one too many.
        assert_eq!((runs.take(3), runs.give_back(run(30, 5, 30))), (None, Some(run(30, 5, 30))));
        assert_eq!(runs.give_back(run(25, 5, 25)), None);
        assert_eq!(runs.take(10), Some(run(20, 10, 20)));
    }
}
