//! The group of each particle, set by any thread.

use super::GroupIds;
use inselberg_kernels::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The group of each own particle; 0 for none.
#[derive(Debug)]
pub enum Labels {
    /// Fewer than 2³² groups.
    Narrow(Vec<AtomicU32>),
    /// Any number of groups.
    Wide(Vec<AtomicU64>),
}

impl Labels {
    /// No group for `n` particles, for IDs up to `most`. The thread that sets a label touches its memory
    /// first.
    pub fn none(n: usize, most: u64) -> Self {
        if most <= u64::from(u32::MAX) {
            Self::Narrow(bytemuck::zeroed_vec(n))
        } else {
            Self::Wide(bytemuck::zeroed_vec(n))
        }
    }

    /// Sets the group of particle `i`.
    #[inline]
    pub fn set(&self, i: usize, id: u64) {
        match self {
            Self::Narrow(list) => list[i].store(id as u32, Relaxed),
            Self::Wide(list) => list[i].store(id, Relaxed),
        }
    }

    /// All labels.
    pub fn into_ids(self) -> GroupIds {
        match self {
            Self::Narrow(list) => GroupIds::Narrow(list.into_iter().map(AtomicU32::into_inner).collect()),
            Self::Wide(list) => GroupIds::Wide(list.into_iter().map(AtomicU64::into_inner).collect()),
        }
    }
}
