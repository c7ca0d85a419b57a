//! Ranks and threads of a job: options that commands share.

use super::ConfigError;
use super::values::CheckedValues;
use crate::topology::Pin;
use inselberg::TimeLimits;
use std::num::NonZeroUsize;
use std::time::Duration;

/// More ranks than this in one process are a typing error.
const MAX_RANKS: u64 = 65_536;

/// Ranks and threads of a job, and their diagnostics. None of it changes a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Ranks as threads of this process.
    pub ranks: NonZeroUsize,
    /// How threads are pinned to processors.
    pub pin: Pin,
    /// How long all ranks may wait for each other; `None`: forever.
    pub stall_timeout: Option<Duration>,
    /// How long a rank that has failed waits for one that computes.
    pub recover_timeout: Duration,
    /// Whether load and traffic are also reported for a single rank, and its workers.
    pub diagnostics: bool,
    /// Whether each rank works only in its own thread, and its processor time is measured.
    pub count_work: bool,
}

pub(super) fn launch(raw: &CheckedValues<'_>) -> Result<Launch, ConfigError> {
    let limits: TimeLimits = raw.params()?;
    Ok(Launch {
        ranks: ranks(raw)?,
        pin: pin(raw),
        stall_timeout: limits.stall(),
        recover_timeout: limits.recover(),
        diagnostics: raw.switch("diagnostics"),
        count_work: count_work(raw)?,
    })
}

pub(super) fn ranks(raw: &CheckedValues<'_>) -> Result<NonZeroUsize, ConfigError> {
    let ranks =
        raw.count_or_default("ranks", |n| (1..=MAX_RANKS).contains(&n), &format!("1 to {MAX_RANKS}"))?;
    Ok(NonZeroUsize::new(ranks as usize).expect("the check refuses 0"))
}

pub(super) fn pin(raw: &CheckedValues<'_>) -> Pin {
    match raw.text("pin").as_deref() {
        Some("cores") => Pin::Cores,
        Some("numa") => Pin::Numa,
        Some("none") => Pin::None,
        _ => Pin::Auto,
    }
}

/// Only work in the rank's own thread is counted.
fn count_work(raw: &CheckedValues<'_>) -> Result<bool, ConfigError> {
    let counted = raw.switch("count-work");
    if counted && matches!(pin(raw), Pin::Cores | Pin::Numa) {
        return Err(raw.unfit("count-work", "true", "--pin none with it"));
    }
    Ok(counted)
}
