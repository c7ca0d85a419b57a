//! Atomics under one name: the machine's, or loom's, which tries every order in which threads may
//! meet (`--cfg loom`, see `test_cells/loom.rs` of this crate).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
