//! Which host this is.

use serde::{Deserialize, Serialize};

/// What is equal for the processes of one host only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct HostId {
    /// The name of the host; empty where the system does not tell it, and then all hosts pass for one.
    pub name: String,
    /// Since when it runs: tells hosts of one name apart.
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

/// How many processors this process may run on, as the system says; 1 where it does not.
pub fn n_allowed() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
