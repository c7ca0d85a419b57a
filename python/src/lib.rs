//! The native half of the Python package `inselberg`: NumPy arrays in, labels and tables out.
//!
//! The Python half, in `inselberg/`, has the functions and classes that a user sees. This half borrows arrays
//! ([`arrays`]), makes calls that Ctrl-C ends ([`call`]), and turns results ([`results`]) and errors ([`errors`]) into Python
//! objects. It knows nothing of the algorithms.

use pyo3::prelude::*;

mod arrays;
mod call;
mod columns;
mod engine;
mod errors;
mod options;
mod results;
mod snapshots;

#[pymodule]
mod _native {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::engine::{NativeCells, NativeEngine};
    #[pymodule_export]
    use super::results::{NativeClumps, NativeGroups, NativeStored, read_catalogue};
    #[pymodule_export]
    use super::snapshots::{NativeParticles, NativeSnapshot, open_particles, open_snapshot};
}
