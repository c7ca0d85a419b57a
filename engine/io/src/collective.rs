//! Inputs that one rank looks at and all open: the others read nothing before they read their shares.

use crate::particles::{ParticleInput, look_at_particles, open_particles_from};
use crate::{InputFacts, ReadError, Snapshot, look, open_from};
use inselberg_comm::agree::{AgreeError, agree};
use inselberg_comm::{Comm, Rank};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Collective: opens the snapshot at `path`; see [`crate::open`]. Rank 0 alone reads what that takes.
///
/// # Errors
/// As for [`crate::open`], on all ranks; and when a rank is lost.
pub fn open(path: &Path, comm: &Comm) -> Result<Box<dyn Snapshot>, AgreeError<ReadError>> {
    Ok(open_from(&shared(comm, || look(path))?))
}

/// Collective: opens the files of one input; see [`crate::particles::open_particles`]. Rank 0 alone reads what that
/// takes.
///
/// # Errors
/// As for [`crate::particles::open_particles`], on all ranks; and when a rank is lost.
pub fn open_particles(
    paths: &[PathBuf],
    comm: &Comm,
) -> Result<Box<dyn ParticleInput>, AgreeError<ReadError>> {
    Ok(open_particles_from(&shared(comm, || look_at_particles(paths))?))
}

/// Collective: what `look` finds on rank 0.
///
/// # Errors
/// It fails there, or a rank is lost.
pub fn shared<E: Display>(
    comm: &Comm,
    look: impl FnOnce() -> Result<InputFacts, E>,
) -> Result<InputFacts, AgreeError<E>> {
    let is_first = comm.rank() == Rank(0);
    let found = agree(comm, is_first.then(look).transpose())?;
    let bytes = found.as_ref().map(InputFacts::to_bytes).unwrap_or_default();
    let bytes = comm.broadcast(Rank(0), &bytes)?;
    Ok(found.unwrap_or_else(|| InputFacts::from_bytes(&bytes)))
}
