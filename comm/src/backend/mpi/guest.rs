//! A rank in the MPI of a host program: it uses a duplicate of the host's communicator, and leaves everything
//! else alone.
//!
//! It neither starts nor ends MPI or the process, prints nothing and has no static state. A failure is a
//! message to all other ranks.
#![allow(unsafe_code)]

use super::link::Link;
use super::recover::discard_all;
use super::{ControlTag, Lifecycle, Mpi, check};
use crate::{CommError, Result, ThreadLevel};
use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// The greatest number of characters of a failure's stage or message. MPI sends such short messages at once.
const MOST_TEXT: usize = 500;

/// The communicator of a host program under MPI, for [`crate::Comm::guest`].
#[derive(Debug, Clone, Copy)]
pub struct HostComm(HostHandle);

#[derive(Debug, Clone, Copy)]
enum HostHandle {
    C(ffi::MPI_Comm),
    Fortran(c_int),
}

// SAFETY: a handle is a name that all threads may use. The thread of a call is checked when a rank is built.
unsafe impl Send for HostComm {}

impl HostComm {
    /// The communicator in the host's variable of C type `MPI_Comm`, whatever its size, at `comm`. Local.
    ///
    /// # Safety
    /// - `comm` points to an `MPI_Comm` of the MPI library that this crate was built with, or is null.
    /// - The communicator is valid until [`crate::CommBuilder::build`] returns. MPI runs until the last call
    ///   of the [`crate::Comm`] returns; its drop may be later.
    /// - Calls of the `Comm` and the host's own calls of MPI respect the thread level that MPI was started
    ///   with.
    pub unsafe fn from_c(comm: *const c_void) -> Self {
        // SAFETY: the caller says that a handle is there; the other one is a constant of the library.
        Self(HostHandle::C(unsafe {
            if comm.is_null() { ffi::RSMPI_COMM_NULL } else { comm.cast::<ffi::MPI_Comm>().read() }
        }))
    }

    /// The communicator with this Fortran handle: an `integer`, or the `MPI_VAL` of a `type(MPI_Comm)`.
    /// Local.
    ///
    /// # Safety
    /// As [`HostComm::from_c`], for the communicator with this handle.
    pub unsafe fn from_fortran(handle: i32) -> Self {
        Self(HostHandle::Fortran(handle))
    }

    /// A communicator of this crate.
    pub(super) fn from_own(comm: ffi::MPI_Comm) -> Self {
        Self(HostHandle::C(comm))
    }

    /// A duplicate of the communicator.
    fn duplicate(self) -> Result<ffi::MPI_Comm> {
        // SAFETY: MPI runs, the handle is valid, as the host has said, and the pointers are to locals.
        unsafe {
            let host = match self.0 {
                HostHandle::C(comm) => comm,
                HostHandle::Fortran(handle) => ffi::RSMPI_Comm_f2c(handle),
            };
            if host == ffi::RSMPI_COMM_NULL {
                return Err(not_started("the communicator of the host is null"));
            }
            let mut is_inter = 0;
            check(ffi::MPI_Comm_test_inter(host, &mut is_inter), "MPI_Comm_test_inter")?;
            if is_inter != 0 {
                return Err(not_started("the communicator of the host is an intercommunicator"));
            }
            let mut own = ffi::RSMPI_COMM_NULL;
            check(ffi::MPI_Comm_dup(host, &mut own), "MPI_Comm_dup")?;
            Ok(own)
        }
    }
}

/// The failures that a guest has seen.
#[derive(Default)]
pub(crate) struct Guest {
    /// The failure of the rank that had finished the fewest calls: that number, and the error.
    failed: Option<(u64, CommError)>,
    /// Whether this rank must still report it to the others.
    must_tell: bool,
    /// Whether a rank has given up, so that no recovery can succeed.
    is_lost: bool,
}

/// Collective over the host's communicator: a rank that uses a duplicate of it.
pub(crate) fn start_guest(host: HostComm, piece_bytes: usize) -> Result<Mpi<Guest>> {
    let level = host_level()?;
    let comm = host.duplicate()?;
    // SAFETY: nobody else knows the duplicate, and the host has said that MPI runs until the last call.
    let link = unsafe { Link::new(comm, piece_bytes)? };
    Ok(Mpi::new(link, level, Guest::default()))
}

/// The thread level that the host chose; an error if this thread may not call MPI now.
fn host_level() -> Result<ThreadLevel> {
    let (mut initialised, mut level, mut is_main) = (0, 0, 0);
    // SAFETY: it may be called at any time, and the pointer is to a local.
    unsafe {
        check(ffi::MPI_Initialized(&mut initialised), "MPI_Initialized")?;
    }
    if initialised == 0 {
        return Err(not_started("the host has not initialised MPI"));
    }
    if is_finalised()? {
        return Err(not_started("the host has finalised MPI already"));
    }
    // SAFETY: MPI runs, any thread may ask this, and the pointers are to locals.
    unsafe {
        check(ffi::MPI_Query_thread(&mut level), "MPI_Query_thread")?;
        check(ffi::MPI_Is_thread_main(&mut is_main), "MPI_Is_thread_main")?;
    }
    // SAFETY: constants of the library.
    let level = unsafe {
        match level {
            _ if level >= ffi::RSMPI_THREAD_MULTIPLE => ThreadLevel::Multiple,
            _ if level >= ffi::RSMPI_THREAD_SERIALIZED => ThreadLevel::Serialized,
            _ if level >= ffi::RSMPI_THREAD_FUNNELED => ThreadLevel::Funneled,
            _ => ThreadLevel::Single,
        }
    };
    match level < ThreadLevel::Serialized && is_main == 0 {
        true => Err(CommError::WrongThread { level }),
        false => Ok(level),
    }
}

/// Whether the host has finalised MPI.
fn is_finalised() -> Result<bool> {
    let mut finalised = 0;
    // SAFETY: it may be called at any time, and the pointer is to a local.
    unsafe {
        check(ffi::MPI_Finalized(&mut finalised), "MPI_Finalized")?;
    }
    Ok(finalised != 0)
}

fn not_started(why: &str) -> CommError {
    CommError::NotStarted { why: why.into() }
}

impl Guest {
    /// Fails call number `finished` and all later ones, unless an earlier call has failed.
    fn fail(&mut self, finished: u64, error: CommError) {
        if self.failed.as_ref().is_none_or(|(at, _)| finished < *at) {
            self.failed = Some((finished, error));
        }
    }
}

impl Mpi<Guest> {
    /// Sends all other ranks the error of this one. A rank that cannot be reached waits until its own
    /// time-out.
    fn tell(&mut self) {
        let failed = self.lifecycle.failed.as_ref().filter(|_| self.lifecycle.must_tell);
        let Some((finished, error)) = failed else { return };
        let text = match error {
            CommError::Aborted { stage, message, .. } => failure_bytes(*finished, stage, message),
            error => failure_bytes(*finished, self.place.stage, &error.to_string()),
        };
        self.lifecycle.must_tell = false;
        self.send_to_all_others(ControlTag::Failed, &text);
    }

    /// Records the failures of other ranks.
    fn receive_failures(&mut self) -> Result<()> {
        while let Some((rank, bytes)) = self.link.take(ControlTag::Failed as c_int)? {
            let failure = failure(&bytes).ok_or_else(|| Self::broken("the failure", rank))?;
            let (finished, stage, message) = failure;
            self.lifecycle.fail(finished, CommError::Aborted { rank, stage, message });
        }
        if let Some((rank, _)) = self.link.take(ControlTag::GaveUp as c_int)? {
            let message = "gave up waiting for other ranks in recover or close".into();
            self.lifecycle.is_lost = true;
            self.lifecycle.fail(0, CommError::Aborted { rank, stage: String::new(), message });
        }
        self.failure().map_or(Ok(()), Err)
    }

    /// The error of this call. Calls that the failed rank has finished do not fail because of it.
    fn failure(&self) -> Option<CommError> {
        let failed = self.lifecycle.failed.as_ref().filter(|(at, _)| *at <= self.place.finished);
        failed.map(|(_, error)| error.clone())
    }

    /// Waits for all ranks, and discards messages in flight. If one of them is missing, this rank has failed
    /// for good.
    fn meet(&mut self, call: &'static str, within: Duration) -> Result<()> {
        let timed_out = CommError::TimedOut { call, after: within };
        if self.lifecycle.is_lost {
            return Err(timed_out);
        }
        let met =
            discard_all(&mut self.link, within).and_then(|all| if all { Ok(()) } else { Err(timed_out) });
        if met.is_err() {
            self.lifecycle.is_lost = true;
            self.send_to_all_others(ControlTag::GaveUp, &[]);
        }
        met
    }
}

impl Lifecycle for Guest {
    fn serve(mpi: &mut Mpi<Self>) -> Result<()> {
        mpi.receive_failures()
    }

    /// Another rank may have failed before.
    fn abort(mpi: &mut Mpi<Self>, error: CommError) -> CommError {
        let known = match mpi.check_level() {
            Ok(()) => mpi.receive_failures().err(),
            Err(_) => mpi.failure(),
        };
        if known.is_none() {
            mpi.lifecycle.fail(mpi.place.finished, error.clone());
            mpi.lifecycle.must_tell = true;
        }
        if mpi.check_level().is_ok() {
            mpi.tell();
        }
        known.unwrap_or(error)
    }

    fn recover(mpi: &mut Mpi<Self>, within: Duration) -> Result<()> {
        mpi.tell();
        mpi.meet("recover", within)?;
        mpi.lifecycle = Self::default();
        mpi.watch.forget();
        mpi.sign();
        Ok(())
    }

    fn check_running() -> Result<()> {
        if is_finalised()? {
            let message = "the host has finalised MPI already; what the ranks hold together is never freed";
            return Err(CommError::Mpi { call: "MPI_Finalized", message: message.into() });
        }
        Ok(())
    }

    fn close(mpi: &mut Mpi<Self>, within: Duration) -> Result<()> {
        Self::check_running()?;
        mpi.meet("close", within)?;
        mpi.link.free()
    }
}

/// A failure as bytes: the number of finished calls, the stage and the message. Long texts are cut.
fn failure_bytes(finished: u64, stage: &str, message: &str) -> Vec<u8> {
    let cut = |text: &str| text.chars().take(MOST_TEXT).collect::<String>();
    let (stage, message) = (cut(stage), cut(message));
    let length = (stage.len() as u32).to_ne_bytes();
    [finished.to_ne_bytes().as_slice(), &length, stage.as_bytes(), message.as_bytes()].concat()
}

fn failure(bytes: &[u8]) -> Option<(u64, String, String)> {
    let (finished, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (stage, message) = rest.split_at_checked(u32::from_ne_bytes(*length) as usize)?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Some((u64::from_ne_bytes(*finished), text(stage), text(message)))
}
