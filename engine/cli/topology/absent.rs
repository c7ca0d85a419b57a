//! In place of hwloc, where this was built without it.

use super::{Machine, PuSet, TopologyError};
use std::convert::Infallible;

/// A machine that is not known: there is none of these.
#[derive(Debug)]
pub struct NoHardware(Infallible);

impl NoHardware {
    /// Reads the machine.
    ///
    /// # Errors
    /// Always: this build cannot.
    pub fn read() -> Result<Self, TopologyError> {
        Err(TopologyError::NotBuilt)
    }

    /// What is there.
    pub fn machine(&self) -> &Machine {
        match self.0 {}
    }

    /// The processors that this process may run on.
    pub fn allowed(&self) -> &PuSet {
        match self.0 {}
    }

    /// Lets the current thread run on these processors only.
    ///
    /// # Errors
    /// Never: there is none of these.
    pub fn bind(&self, _: &PuSet) -> Result<(), TopologyError> {
        match self.0 {}
    }

    /// The processors that the current thread is bound to.
    pub fn bound(&self) -> Option<PuSet> {
        match self.0 {}
    }
}
