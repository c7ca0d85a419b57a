//! Buffers that belong to the MPI library until it is done with them.
#![allow(unsafe_code)]

use super::check;
use crate::Result;
use mpi::ffi;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// A buffer that the library reads or writes until all requests are complete. If it is dropped before that,
/// it leaks.
///
/// The requests use memory on the heap that the buffer owns, which does not move with it.
pub(super) struct InFlight<B> {
    requests: Vec<ffi::MPI_Request>,
    /// Present until the requests are complete.
    buffer: Option<B>,
}

impl<B> InFlight<B> {
    /// A buffer that no request uses yet.
    pub fn new(buffer: B) -> Self {
        Self { requests: Vec::with_capacity(1), buffer: Some(buffer) }
    }

    /// The buffer, for a call that starts a request.
    pub fn buffer(&mut self) -> &mut B {
        self.buffer.as_mut().expect("the buffer is taken out only when the requests are complete")
    }

    /// A request that uses the buffer was started.
    pub fn add(&mut self, request: ffi::MPI_Request) {
        self.requests.push(request);
    }

    /// The buffer, once all requests are complete. Must not be polled again after that.
    pub fn poll(&mut self) -> Result<Option<B>> {
        let mut flag = 0;
        // SAFETY: the requests are as many as said, and active or null.
        let code = unsafe {
            let (n, requests) = (self.requests.len() as c_int, self.requests.as_mut_ptr());
            ffi::MPI_Testall(n, requests, &mut flag, ffi::RSMPI_STATUSES_IGNORE)
        };
        check(code, "MPI_Testall")?;
        Ok(if flag == 0 { None } else { self.buffer.take() })
    }

    /// [`Self::poll`] for a short time: the library moves long messages only during its calls, in many small
    /// steps.
    pub fn poll_for(&mut self, time: Duration) -> Result<Option<B>> {
        let mut done = self.poll()?;
        if done.is_none() {
            let start = Instant::now();
            while done.is_none() && start.elapsed() < time {
                done = self.poll()?;
            }
        }
        Ok(done)
    }
}

impl<B> Drop for InFlight<B> {
    fn drop(&mut self) {
        std::mem::forget(self.buffer.take());
    }
}
