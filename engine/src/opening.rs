//! Inputs that one rank looks at and all open: the others read nothing before they read their shares.

use crate::io::particles::{ParticleInput, look_at_particles, open_particles_from};
use crate::io::{Facts, ReadError, Snapshot, look, open_from};
use crate::ranks::joint::{JointError, agree};
use inselberg_comm::{Comm, Rank};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Collective: opens the snapshot at `path`; see [`crate::io::open`]. Rank 0 alone reads what that takes.
///
/// # Errors
/// As for [`crate::io::open`], on all ranks; and when a rank is lost.
pub fn open(path: &Path, comm: &Comm) -> Result<Box<dyn Snapshot>, JointError<ReadError>> {
    Ok(open_from(&shared(comm, || look(path))?))
}

/// Collective: opens the files of one input; see [`crate::io::particles::open_particles`]. Rank 0 alone reads what that
/// takes.
///
/// # Errors
/// As for [`crate::io::particles::open_particles`], on all ranks; and when a rank is lost.
pub fn open_particles(
    paths: &[PathBuf],
    comm: &Comm,
) -> Result<Box<dyn ParticleInput>, JointError<ReadError>> {
    Ok(open_particles_from(&shared(comm, || look_at_particles(paths))?))
}

/// Collective: what `look` finds on rank 0.
///
/// # Errors
/// It fails there, or a rank is lost.
pub fn shared<E: Display>(
    comm: &Comm,
    look: impl FnOnce() -> Result<Facts, E>,
) -> Result<Facts, JointError<E>> {
    let is_first = comm.rank() == Rank(0);
    let found = agree(comm, is_first.then(look).transpose())?;
    let bytes = found.as_ref().map(Facts::to_bytes).unwrap_or_default();
    let bytes = comm.broadcast(Rank(0), &bytes)?;
    Ok(found.unwrap_or_else(|| Facts::from_bytes(&bytes)))
}
