//! The identity of this host.

use super::PuSet;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

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

/// The processors of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Allowed {
    /// Their numbers; empty if the system does not report them.
    pub pus: PuSet,
    /// How many it may use at once. A control group may allow fewer than there are.
    pub n: usize,
}

impl Allowed {
    /// As they were when this was first called. So the first call must precede the binding of threads.
    pub fn at_start() -> &'static Self {
        static AT_START: LazyLock<Allowed> = LazyLock::new(|| {
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            Allowed { pus: list.and_then(PuSet::from_list).unwrap_or_default(), n: n_allowed() }
        });
        &AT_START
    }

    /// The number of processors of a host whose processes may use these.
    pub fn n_of_all<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> usize {
        let union = all.clone().fold(PuSet::default(), |union, of| union.union(&of.pus));
        let most = all.clone().map(|of| of.n).max().unwrap_or(0);
        let is_shared = all.into_iter().all(|of| of.pus == union);
        if is_shared { most } else { union.len() }
    }
}
