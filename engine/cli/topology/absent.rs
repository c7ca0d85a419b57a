//! Replaces hwloc in a build without it.

use super::{Machine, PuSet, TopologyError};
use std::convert::Infallible;

/// An unknown machine; no value of this type exists.
#[derive(Debug)]
pub struct Hardware(Infallible);

impl Hardware {
    /// Reads the machine.
    ///
    /// # Errors
    /// Always: this build has no hwloc.
    pub fn read() -> Result<Self, TopologyError> {
        Err(TopologyError::NotBuilt)
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        match self.0 {}
    }

    /// The processors that this process may run on.
    pub fn allowed(&self) -> &PuSet {
        match self.0 {}
    }

    /// Binds the current thread to these processors.
    ///
    /// # Errors
    /// Never: no value of this type exists.
    pub fn bind(&self, _: &PuSet) -> Result<(), TopologyError> {
        match self.0 {}
    }

    /// The processors that the current thread is bound to.
    pub fn bound(&self) -> Option<PuSet> {
        match self.0 {}
    }
}
