//! Which leaves are test cells?

use std::fmt;

/// Whether the leaf at a position on the grid of its level takes part.
pub type TakesPart<'a> = &'a (dyn Fn(u8, [u32; 3]) -> bool + Sync);

/// The leaves that are test cells: those that take part and are denser than a threshold.
#[derive(Clone, Copy)]
pub struct TestRule<'a> {
    /// They are denser than this.
    pub threshold: f64,
    /// They take part; `None`: all leaves do.
    pub takes_part: Option<TakesPart<'a>>,
}

impl TestRule<'_> {
    /// All leaves denser than a threshold.
    pub fn above(threshold: f64) -> Self {
        Self { threshold, takes_part: None }
    }
}

impl fmt::Debug for TestRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threshold, takes_part } = self;
        f.debug_struct("TestRule").field("threshold", threshold).field("all", &takes_part.is_none()).finish()
    }
}
