//! Atomics: those of the standard library, or those of loom, which tries every interleaving of threads
//! (`--cfg loom`, see `tests/loom.rs` of this crate).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
