//! Rows as bytes: runs of rows on all threads, written in their order.

use rayon::prelude::*;
use std::io::{Result, Write};
use std::ops::Range;

/// Rows that a thread turns into bytes at a time.
const RUN: usize = 1 << 10;

/// Writes the bytes that `bytes` makes from each run of `n_rows` rows, in the order of the rows.
pub fn write_runs(
    out: &mut dyn Write,
    n_rows: usize,
    bytes: impl Fn(Range<usize>) -> Result<Vec<u8>> + Sync,
) -> Result<()> {
    let starts: Vec<usize> = (0..n_rows).step_by(RUN).collect();
    starts.chunks(4 * rayon::current_num_threads()).try_for_each(|starts| {
        let run = |first: &usize| bytes(*first..n_rows.min(first + RUN));
        let runs: Vec<Vec<u8>> = starts.par_iter().map(run).collect::<Result<_>>()?;
        runs.iter().try_for_each(|run| out.write_all(run))
    })
}
