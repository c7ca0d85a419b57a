//! How long do the ranks of an engine wait for each other?

use inselberg_comm::{Comm, RECOVER_TIMEOUT};
use inselberg_io::params;
use inselberg_io::params::{ParamError, check_ranges};
use std::time::Duration;

params! {
    /// How long ranks wait for each other. It never changes a result.
    ///
    /// ```
    /// use inselberg::TimeLimits;
    ///
    /// let limits = TimeLimits::default().stall_timeout(60.0);
    /// assert_eq!((limits.stall_timeout, limits.recover_timeout), (60.0, 6000.0));
    /// ```
    #[non_exhaustive]
    pub struct TimeLimits of "engine" {
        /// Seconds without progress after which waiting ranks give up; 0: never.
        ///
        /// The error names the stage of each waiting rank. A rank that computes, or is elsewhere in its
        /// program, may take ten times as long.
        pub stall_timeout: f64 = 600.0, "stall_timeout" =
            real("600", |s| (0.0..=1e7).contains(s), "seconds up to 1e7, or 0 for never").topic(Topic::Launch);
        /// Seconds that a rank waits for the others after an error, and at the end.
        ///
        /// Another rank may still compute: it hears of the error at its next message. Ranks that come later are
        /// lost, and what they do together has to be begun anew.
        pub recover_timeout: f64 = RECOVER_TIMEOUT.as_secs_f64(), "recover_timeout" =
            real("6000", |s| *s > 0.0 && *s <= 1e7, "seconds above 0, up to 1e7").topic(Topic::Launch);
    }
}

impl TimeLimits {
    /// Local: the limits of later calls of this rank.
    ///
    /// # Errors
    /// The first that is out of range.
    pub(crate) fn set_on(&self, comm: &Comm) -> Result<(), ParamError> {
        check_ranges(self)?;
        comm.set_time_limits(self.stall(), self.recover());
        Ok(())
    }

    /// How long all ranks may wait for each other; `None`: forever.
    #[doc(hidden)]
    pub fn stall(&self) -> Option<Duration> {
        Some(self.stall_timeout).filter(|seconds| *seconds > 0.0).map(Duration::from_secs_f64)
    }

    /// How long a rank waits for the others after an error.
    #[doc(hidden)]
    pub fn recover(&self) -> Duration {
        Duration::from_secs_f64(self.recover_timeout)
    }
}
