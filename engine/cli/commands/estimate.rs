//! What a search takes, as far as headers tell.

/// What is known of a search before it reads.
pub struct Estimate {
    /// The input in a few words.
    pub input: String,
    /// The least bytes over all ranks, beside the input.
    pub least: u64,
    /// The most, where that is known.
    pub most: Option<u64>,
}
