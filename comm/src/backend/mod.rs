//! Ways to run ranks: a closed set, one file each.

pub(crate) mod solo;

/// What a backend can do.
pub(crate) trait Transport {
    /// Which rank this is.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn n_ranks(&self) -> usize;
    /// Collective: what every rank gave, by rank.
    fn all_gather(&self, words: &[u64]) -> Vec<Vec<u64>>;
}

/// The backend of a [`crate::Comm`].
#[derive(Debug)]
pub(crate) enum Backend {
    /// One rank.
    Solo(solo::Solo),
}

impl Backend {
    pub fn transport(&self) -> &dyn Transport {
        match self {
            Self::Solo(solo) => solo,
        }
    }
}
