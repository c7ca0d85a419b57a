//! Signs of life of a rank that computes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The limit of a rank between calls, which computes, in stall timeouts.
pub(crate) const BUSY_PATIENCE: u32 = 10;

/// Shows the watchdog of the other ranks that this one still works. Any thread may keep it.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// A sign of life. Costs an addition in memory that threads may share.
    pub fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of beats so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
