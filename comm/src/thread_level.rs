//! From which threads may a rank make its calls?

/// The threads that may make the calls of a [`crate::Comm`], from the strictest level on. The names are those
/// of MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// The process has one thread.
    Single,
    /// Only the main thread of MPI.
    Funneled,
    /// Any thread, one at a time.
    Serialized,
    /// Any thread, at any time. One `Comm` still serves one thread at a time.
    Multiple,
}
