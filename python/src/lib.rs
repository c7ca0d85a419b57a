//! The native half of the Python package `inselberg`: NumPy arrays in, labels and tables out.
//!
//! The Python half, in `inselberg/`, has the functions and classes that a user sees. This half borrows arrays
//! ([`arrays`]), makes requests of them ([`requests`]) and calls that Ctrl-C ends ([`call`]), alone or over
//! the ranks of mpi4py ([`ranks`]), and turns results ([`results`], [`trees`]) and errors ([`errors`]) into
//! Python objects. It knows nothing of the algorithms.

use pyo3::prelude::*;

mod arrays;
mod call;
mod cells;
mod columns;
mod engine;
mod errors;
mod options;
mod ranks;
mod requests;
mod results;
mod snapshots;
mod trees;

#[pymodule]
mod _native {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    /// Whether this build has MPI.
    #[pymodule_export]
    const HAS_MPI: bool = cfg!(feature = "mpi");
    #[pymodule_export]
    use super::call::wait_for_ranks;
    #[pymodule_export]
    use super::cells::NativeCells;
    #[pymodule_export]
    use super::engine::NativeEngine;
    #[pymodule_export]
    use super::requests::NativeRequest;
    #[pymodule_export]
    use super::results::{
        NativeClumps, NativeFound, NativeGroups, NativeStored, NativeVoids, read_catalogue,
    };
    #[pymodule_export]
    use super::snapshots::{NativeParticles, NativeSnapshot};
    #[pymodule_export]
    use super::trees::NativeTree;
}
