//! Processors of the machine, their caches and nodes, and the processors of each worker.
//!
//! [`Hardware`] reads the machine and binds threads. Only `hwloc.rs` uses hwloc; a build without the feature
//! `numa` has `absent.rs` in its place. [`place`] assigns processors to every worker of a rank, and
//! [`complaints`] lists the problems of a launch. Both are pure functions, so tests cover machines of any
//! kind. [`place_all`] places all ranks of a host, also where nobody has chosen a pinning. Memory is not
//! bound: a page lies on the NUMA node of the thread that first writes it, so bound threads have their data
//! nearby.
//!
//! Nothing here uses cells, particles or messages.

mod automatic;
mod claims;
#[cfg(not(feature = "numa"))]
#[path = "absent.rs"]
mod hardware;
#[cfg(feature = "numa")]
#[path = "hwloc.rs"]
mod hardware;
mod host;
mod launch;
mod place;
mod set;
#[cfg(feature = "numa")]
mod speeds;

pub use automatic::{LaunchedRank, place_all, place_unpinned};
pub use claims::Claims;
pub use hardware::Hardware;
pub use host::{Allowed, HostId, n_allowed};
pub use launch::{Complaint, RankSite, complaints};
pub use place::{Asked, Pin, Placement, WorkerPlace, place};
pub use set::PuSet;

use serde::Serialize;
use std::collections::BTreeMap;

/// One processor, as the operating system counts them: a hardware thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pu {
    /// Its number in the operating system.
    pub index: u32,
    /// Its core; equal for the hardware threads of one.
    pub core: u32,
    /// The largest cache that it shares, a key of [`Machine::caches`]; `None` if that is not known.
    pub cache: Option<u32>,
    /// The number of its NUMA node in the operating system; 0 where unknown.
    pub node: u32,
    /// Its speed beside that of others, where the machine has several kinds of cores; else 0.
    pub speed: u32,
}

/// The largest cache of some cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// 3 for L3.
    pub level: u8,
    /// Its size in bytes; 0 if that is not known.
    pub bytes: u64,
}

/// The processors of a host, those that this process may not use included.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Machine {
    /// Processors, by what they share: those of a node side by side, in it those of a cache, of a core.
    pub pus: Vec<Pu>,
    /// Memory of the NUMA nodes in bytes; 0 if that is not known.
    pub nodes: BTreeMap<u32, u64>,
    /// The last-level caches.
    pub caches: BTreeMap<u32, Cache>,
}

impl Machine {
    /// All processors.
    pub fn all(&self) -> PuSet {
        self.pus.iter().map(|pu| pu.index).collect()
    }

    /// The processors of `set` that are there, by what they share.
    pub fn within<'a>(&'a self, set: &'a PuSet) -> impl Iterator<Item = &'a Pu> {
        self.pus.iter().filter(|pu| set.contains(pu.index))
    }

    /// The NUMA nodes that `set` is on, rising.
    pub fn nodes_of(&self, set: &PuSet) -> Vec<u32> {
        distinct(self.within(set).map(|pu| pu.node))
    }

    /// The cores that `set` is on, rising.
    pub fn cores_of(&self, set: &PuSet) -> Vec<u32> {
        distinct(self.within(set).map(|pu| pu.core))
    }
}

fn distinct(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The reason why the machine is unknown, or a thread is not bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// This build cannot read machines.
    #[error("this build cannot read the machine: it lacks the feature `numa`")]
    NotBuilt,
    /// hwloc fails.
    #[error("hwloc cannot read what this machine is made of")]
    Unreadable,
    /// The system does not bind.
    #[error("the system does not bind a thread to the processors {0}: {1}")]
    Refused(PuSet, String),
}

#[cfg(test)]
mod tests;
