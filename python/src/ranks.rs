//! Engines as guests in the MPI of mpi4py.

use inselberg::{EngineBuilder, Error};

/// An engine to be on a duplicate of the communicator with this Fortran handle. MPI runs: the Python half has
/// asked mpi4py.
#[cfg(feature = "mpi")]
#[expect(clippy::unnecessary_wraps, reason = "the signature of builds without MPI")]
#[allow(unsafe_code, reason = "a communicator is named by a number")]
pub fn guest_of(handle: i32) -> Result<EngineBuilder, Error> {
    // SAFETY: mpi4py gave the handle of a communicator that Python holds during the call. The engine is a
    // guest only where its own MPI library runs. Calls come from one thread at a time; the Python half
    // refuses levels below SERIALIZED, and after `MPI_Finalize` it makes none.
    let host = unsafe { inselberg::HostComm::from_fortran(handle) };
    Ok(inselberg::Engine::builder().guest_of(host))
}

/// Without the feature `mpi` there is no such engine.
#[cfg(not(feature = "mpi"))]
pub fn guest_of(_: i32) -> Result<EngineBuilder, Error> {
    Err(Error::new(
        inselberg::ErrorKind::InvalidArgument,
        "a build without MPI; expected one with the feature mpi",
    ))
}
