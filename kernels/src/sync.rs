//! Atomics under one name: the machine's, or loom's, which tries every interleaving of threads (`--cfg loom`, see
//! `tests/loom.rs` of this crate).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
