//! The identity of this host.

use serde::{Deserialize, Serialize};

/// A value that only processes of one host share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct HostId {
    /// The name of the host; empty if the system does not report it, so that all hosts count as one.
    pub name: String,
    /// Its boot time, which distinguishes hosts of one name.
    boot: String,
}

impl HostId {
    /// The host of this process.
    pub fn here() -> Self {
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_string();
        Self { name: text("/proc/sys/kernel/hostname"), boot: text("/proc/sys/kernel/random/boot_id") }
    }

    /// For tests: a host of that name.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), boot: String::new() }
    }
}

/// The number of processors that this process may use; 1 if the system does not report it.
pub fn n_allowed() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
