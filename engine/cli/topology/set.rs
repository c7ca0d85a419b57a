//! Sets of processors.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Processors by the operating system's numbers; shown as Linux and launchers write them, 0-3,8.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PuSet(BTreeSet<u32>);

impl PuSet {
    /// From a list as it is shown; `None` if it is none.
    pub fn from_list(list: &str) -> Option<Self> {
        let run = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse::<u32>().ok()?..=last.trim().parse::<u32>().ok()?)
        };
        let runs: Vec<_> = list.split(',').map(run).collect::<Option<_>>()?;
        Some(runs.into_iter().flatten().collect())
    }

    /// Whether processor `index` is in it.
    pub fn contains(&self, index: u32) -> bool {
        self.0.contains(&index)
    }

    /// Number of processors.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The processors, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// The union.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.0.union(&other.0).copied().collect()
    }

    /// The intersection.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.0.intersection(&other.0).copied().collect()
    }
}

impl FromIterator<u32> for PuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(indices: I) -> Self {
        Self(indices.into_iter().collect())
    }
}

impl fmt::Display for PuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<[u32; 2]> = Vec::new();
        for index in self.iter() {
            match runs.last_mut() {
                Some([_, last]) if *last + 1 == index => *last = index,
                _ => runs.push([index; 2]),
            }
        }
        let text = |[a, b]: [u32; 2]| if a == b { a.to_string() } else { format!("{a}-{b}") };
        f.write_str(&runs.into_iter().map(text).collect::<Vec<_>>().join(","))
    }
}
