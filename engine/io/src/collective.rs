//! Opening an input on all ranks: rank 0 reads its headers, and the others read only their shares.

use crate::particles::{ParticleInput, open_particles_from, read_particle_headers};
use crate::{InputFacts, ReadError, Snapshot, open_from, read_headers};
use inselberg_comm::agree::{AgreeError, agree};
use inselberg_comm::{Comm, Rank};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Collective: opens the snapshot at `path`; see [`crate::open`]. Only rank 0 reads headers.
///
/// # Errors
/// As for [`crate::open`], on all ranks; and when a rank is lost.
pub fn open(path: &Path, comm: &Comm) -> Result<Box<dyn Snapshot>, AgreeError<ReadError>> {
    Ok(open_from(&shared(comm, || read_headers(path))?))
}

/// Collective: opens the files of one input; see [`crate::particles::open_particles`]. Only rank 0 reads
/// headers.
///
/// # Errors
/// As for [`crate::particles::open_particles`], on all ranks; and when a rank is lost.
pub fn open_particles(
    paths: &[PathBuf],
    comm: &Comm,
) -> Result<Box<dyn ParticleInput>, AgreeError<ReadError>> {
    Ok(open_particles_from(&shared(comm, || read_particle_headers(paths))?))
}

/// Collective: the headers that `read_headers` returns on rank 0.
///
/// # Errors
/// It fails there, or a rank is lost.
pub fn shared<E: Display>(
    comm: &Comm,
    read_headers: impl FnOnce() -> Result<InputFacts, E>,
) -> Result<InputFacts, AgreeError<E>> {
    let is_first = comm.rank() == Rank(0);
    match agree(comm, is_first.then(read_headers).transpose())? {
        Some(facts) => {
            comm.broadcast(Rank(0), &facts.to_bytes())?;
            Ok(facts)
        }
        None => Ok(InputFacts::from_bytes(&comm.broadcast(Rank(0), &[])?)),
    }
}
