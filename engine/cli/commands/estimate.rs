//! The requirements of a search, from headers.

/// The known requirements of a search before it reads.
pub struct Estimate {
    /// The input in a few words.
    pub input: String,
    /// The least bytes over all ranks, in addition to the input.
    pub least: u64,
    /// The most bytes, if known.
    pub most: Option<u64>,
}
