//! Settings of a rank that do not depend on its backend.

use crate::{CommError, ThreadClock};
use std::time::Duration;

/// How long a rank waits in [`crate::Comm::recover`] and [`crate::Comm::close`] for the others, unless its
/// settings say otherwise: longer than any stage that another rank may compute meanwhile.
pub const RECOVER_TIMEOUT: Duration = Duration::from_secs(6000);

/// How the calls of a rank are watched, counted and traced.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// See [`crate::CommBuilder::traced`].
    pub traced: bool,
    /// See [`crate::CommBuilder::clock`].
    pub clock: Option<ThreadClock>,
    /// See [`crate::CommBuilder::stall_timeout`].
    pub stall_timeout: Option<Duration>,
    /// See [`crate::CommBuilder::recover_timeout`].
    pub recover_timeout: Option<Duration>,
}

/// How the process of a rank reports why it ends the job: the error, and the state of the rank unless the
/// error names it.
pub type Report = fn(&CommError, &str);
