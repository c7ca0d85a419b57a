//! What a merger tree takes.

use inselberg_io::params;
use inselberg_io::params::{ParamError, check_ranges};
use inselberg_kernels::trees::history::HistoryParams;

params! {
    /// How objects are linked over a series of outputs.
    ///
    /// ```
    /// use inselberg::TreeParams;
    ///
    /// let params = TreeParams::default().gap(2).orphans(false);
    /// assert_eq!((params.gap, params.tracers, params.orphans), (2, 40, false));
    /// ```
    #[non_exhaustive]
    pub struct TreeParams of "tree" {
        /// Number of snapshots in which an object may be missing.
        ///
        /// An object that comes back in time keeps its track. With 0, only consecutive snapshots are linked.
        pub gap: u64 = 4, "gap" = count("4", |n| *n <= 1000, "0 to 1000 snapshots");
        /// Number of most bound dark matter and star members of an object that are compared.
        ///
        /// A tracer counts 1 / (1 + sqrt(rank)), where the most bound one has rank 0.
        pub tracers: u64 = 40, "tracers" =
            count("40", |n| (1..=1 << 20).contains(n), "1 to 1048576 tracers");
        /// Follow an object that is gone by its most bound tracer.
        ///
        /// It is followed as an orphan, until the tracer is among the tracers of another object. Otherwise it
        /// merges at once.
        pub orphans: bool = true, "orphans" = flag("true");
    }
}

impl TreeParams {
    /// As the linker takes them.
    ///
    /// # Errors
    /// The first that is out of range.
    pub(crate) fn checked(&self) -> Result<HistoryParams, ParamError> {
        check_ranges(self)?;
        let n_tracers = u32::try_from(self.tracers).expect("in range");
        Ok(HistoryParams { gap: self.gap as usize, n_tracers, orphans: self.orphans })
    }
}
