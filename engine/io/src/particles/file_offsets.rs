//! The rows of an input in each of its files.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The range of rows of each file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOffsets {
    /// One past the last row of each file.
    ends: Vec<u64>,
}

impl FileOffsets {
    /// For files with these numbers of rows.
    pub fn from_counts(counts: impl IntoIterator<Item = u64>) -> Self {
        let mut end = 0;
        Self { ends: counts.into_iter().map(|n| (end += n, end).1).collect() }
    }

    /// All rows.
    pub fn total(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0) // no files, no rows
    }

    /// The files that hold `rows`, with the ranges of rows within each file.
    pub fn parts(&self, rows: Range<u64>) -> impl Iterator<Item = (usize, Range<u64>)> {
        let first = self.ends.partition_point(|end| *end <= rows.start);
        (first..self.ends.len()).map_while(move |file| {
            let begin = self.begin(file);
            let part = rows.start.max(begin)..rows.end.min(self.ends[file]);
            (begin < rows.end).then(|| (file, part.start - begin..part.end.max(part.start) - begin))
        })
    }

    /// The file of a row, and its row number there.
    pub fn find(&self, row: u64) -> (usize, u64) {
        let file = self.ends.partition_point(|end| *end <= row).min(self.ends.len().saturating_sub(1));
        (file, row - self.begin(file))
    }

    fn begin(&self, file: usize) -> u64 {
        if file == 0 { 0 } else { self.ends[file - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_covered_once() {
        let counts = [3, 0, 4, 1, 0];
        let offsets = FileOffsets::from_counts(counts);
        assert_eq!(offsets.total(), 8);
        for start in 0..=8 {
            for end in start..=8 {
                let mut rows = Vec::new();
                for (file, part) in offsets.parts(start..end) {
                    let before: u64 = counts[..file].iter().sum();
                    assert!(part.end <= counts[file]);
                    rows.extend(part.map(|row| before + row));
                }
                assert_eq!(rows, (start..end).collect::<Vec<_>>(), "{start}..{end}");
            }
        }
        assert_eq!((offsets.find(2), offsets.find(3), offsets.find(7)), ((0, 2), (2, 0), (3, 0)));
    }
}
