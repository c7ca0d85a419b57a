//! The messages of one rank over a communicator. They are sent in pieces, and no call waits.
//! The library is called directly, because only then are its error codes returned.
#![allow(unsafe_code)]

use super::in_flight::InFlight;
use super::{ControlTag, N_TAGS, check};
use crate::{CommError, Rank, Result};
use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// One rank's end of a communicator.
pub(super) struct Link {
    comm: ffi::MPI_Comm,
    rank: Rank,
    n_ranks: usize,
    piece_bytes: usize,
    sending: Vec<InFlight<Vec<u8>>>,
    /// The message that is being received, by tag.
    incoming: [Option<IncomingMessage>; N_TAGS],
    /// Pieces that were received after a failure, to be discarded.
    discarded: Vec<InFlight<Vec<u8>>>,
    /// Pieces sent so far, by destination, and received so far, without those of [`ControlTag::GaveUp`].
    sent: Vec<u64>,
    received: u64,
}

// SAFETY: handles of the library are names that all threads may use, the buffers belong to the link alone,
// and `Transport::check_thread` keeps the calls in the threads that the library allows.
unsafe impl Send for Link {}

/// A message that is partly received.
struct IncomingMessage {
    from: c_int,
    bytes: Vec<u8>,
    /// The piece that is being received; `None` between two pieces.
    piece: Option<InFlight<Vec<u8>>>,
}

/// A piece that the library has reserved for this rank.
struct Probed {
    message: ffi::MPI_Message,
    from: c_int,
    tag: c_int,
    n_bytes: usize,
}

/// How long a rank polls a piece that is being received before it does anything else.
const BURST: Duration = Duration::from_millis(1);
/// The greatest number of pieces that are discarded at the same time.
const MOST_DISCARDED: usize = 4;

/// A call of the library that starts a message.
type StartCall = unsafe extern "C" fn(
    *const c_void,
    c_int,
    ffi::MPI_Datatype,
    c_int,
    c_int,
    ffi::MPI_Comm,
    *mut ffi::MPI_Request,
) -> c_int;

impl Link {
    /// This rank's end of `comm`, which reports errors instead of ending the process. Messages are cut into
    /// pieces.
    ///
    /// # Safety
    /// `comm` is a valid communicator of processes (no intercommunicator), nobody else uses it, and MPI runs
    /// until the last call.
    pub unsafe fn new(comm: ffi::MPI_Comm, piece_bytes: usize) -> Result<Self> {
        let (mut rank, mut n_ranks) = (0, 0);
        // SAFETY: the communicator is valid, the handler is a constant of the library, and the pointers are
        // to locals.
        unsafe {
            let code = ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN);
            check(code, "MPI_Comm_set_errhandler")?;
            check(ffi::MPI_Comm_rank(comm, &mut rank), "MPI_Comm_rank")?;
            check(ffi::MPI_Comm_size(comm, &mut n_ranks), "MPI_Comm_size")?;
        }
        Ok(Self {
            comm,
            rank: Rank(rank as u32),
            n_ranks: n_ranks as usize,
            piece_bytes,
            sending: Vec::new(),
            incoming: [const { None }; N_TAGS],
            discarded: Vec::new(),
            sent: vec![0; n_ranks as usize],
            received: 0,
        })
    }

    /// The communicator.
    pub fn comm(&self) -> ffi::MPI_Comm {
        self.comm
    }

    pub fn rank(&self) -> Rank {
        self.rank
    }

    pub fn n_ranks(&self) -> usize {
        self.n_ranks
    }

    /// Messages that were started and not yet seen to be complete.
    pub fn n_sending(&self) -> usize {
        self.sending.len()
    }

    /// Whether a message with `tag` has partly arrived.
    pub fn is_receiving(&self, tag: c_int) -> bool {
        self.incoming[tag as usize].is_some()
    }

    /// Starts the pieces of a message: full ones, and a last one that is shorter, if empty.
    pub fn start_send(&mut self, to: Rank, tag: c_int, bytes: Vec<u8>, synchronous: bool) -> Result<()> {
        if to.at() >= self.n_ranks {
            return Err(CommError::NoSuchRank { rank: to, n_ranks: self.n_ranks });
        }
        let n_pieces = bytes.len() / self.piece_bytes + 1;
        let mut message = InFlight::new(bytes);
        for n in 0..n_pieces {
            let bytes = message.buffer();
            let start = n * self.piece_bytes;
            let piece = &bytes[start..bytes.len().min(start + self.piece_bytes)];
            let request = self.start_piece(to, tag, piece, synchronous)?;
            message.add(request);
            self.sent[to.at()] += u64::from(is_counted(tag));
        }
        self.sending.push(message);
        Ok(())
    }

    fn start_piece(&self, to: Rank, tag: c_int, piece: &[u8], synchronous: bool) -> Result<ffi::MPI_Request> {
        let (start, name): (StartCall, _) = match synchronous {
            true => (ffi::MPI_Issend, "MPI_Issend"),
            false => (ffi::MPI_Isend, "MPI_Isend"),
        };
        // SAFETY: `InFlight` keeps the bytes, unmoved and unchanged, until the request is complete.
        let (code, request) = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (kind, count, to) = (ffi::RSMPI_UINT8_T, piece.len() as c_int, to.0 as c_int);
            (start(piece.as_ptr().cast(), count, kind, to, tag, self.comm, &mut request), request)
        };
        check(code, name).map(|()| request)
    }

    /// Number of messages that still need this rank.
    pub fn pending(&mut self) -> Result<usize> {
        let mut i = 0;
        while i < self.sending.len() {
            match self.sending[i].poll()? {
                Some(_) => drop(self.sending.swap_remove(i)),
                None => i += 1,
            }
        }
        Ok(self.sending.len())
    }

    /// The next message with `tag`, all pieces of it. One message per tag is received at a time.
    pub fn take(&mut self, tag: c_int) -> Result<Option<(Rank, Vec<u8>)>> {
        let at = tag as usize;
        let mut message = match self.incoming[at].take() {
            Some(message) => message,
            None => {
                let Some(piece) = self.probe(anyone(), tag)? else { return Ok(None) };
                let from = piece.from;
                IncomingMessage { from, bytes: Vec::new(), piece: Some(self.start_receive(piece)?) }
            }
        };
        if self.advance(&mut message, tag)? {
            return Ok(Some((Rank(message.from as u32), message.bytes)));
        }
        self.incoming[at] = Some(message);
        Ok(None)
    }

    /// Receives the parts of a message that have arrived. Returns whether it is complete.
    fn advance(&mut self, message: &mut IncomingMessage, tag: c_int) -> Result<bool> {
        loop {
            let piece = match &mut message.piece {
                Some(piece) => piece,
                // The sender has started all pieces, and they keep their order.
                None => match self.probe(message.from, tag)? {
                    Some(piece) => message.piece.insert(self.start_receive(piece)?),
                    None => return Ok(false),
                },
            };
            let Some(bytes) = piece.poll_for(BURST)? else { return Ok(false) };
            message.piece = None;
            let is_last = bytes.len() < self.piece_bytes;
            match message.bytes.is_empty() {
                true => message.bytes = bytes,
                false => message.bytes.extend(bytes),
            }
            if is_last {
                return Ok(true);
            }
        }
    }

    /// A piece that has arrived.
    fn probe(&self, from: c_int, tag: c_int) -> Result<Option<Probed>> {
        let (mut flag, mut count) = (0, 0);
        // SAFETY: all pointers are to locals of the right types, which outlive the calls; a status is
        // plain numbers, for which zero is a value, and it is read only after the library filled it.
        unsafe {
            let mut message = ffi::RSMPI_MESSAGE_NULL;
            let mut status: ffi::MPI_Status = std::mem::zeroed();
            let code = ffi::MPI_Improbe(from, tag, self.comm, &mut flag, &mut message, &mut status);
            check(code, "MPI_Improbe")?;
            if flag == 0 {
                return Ok(None);
            }
            check(ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count), "MPI_Get_count")?;
            let (from, tag, n_bytes) = (status.MPI_SOURCE, status.MPI_TAG, count.max(0) as usize);
            Ok(Some(Probed { message, from, tag, n_bytes }))
        }
    }

    fn start_receive(&mut self, mut probed: Probed) -> Result<InFlight<Vec<u8>>> {
        let mut piece = InFlight::new(vec![0; probed.n_bytes]);
        let bytes = piece.buffer();
        // SAFETY: there is room for as many bytes as the probe counted, and `InFlight` keeps it until they
        // are there.
        let (code, request) = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (to, count) = (bytes.as_mut_ptr().cast(), bytes.len() as c_int);
            let code = ffi::MPI_Imrecv(to, count, ffi::RSMPI_UINT8_T, &mut probed.message, &mut request);
            (code, request)
        };
        check(code, "MPI_Imrecv")?;
        piece.add(request);
        self.received += u64::from(is_counted(probed.tag));
        Ok(piece)
    }

    /// Receives and discards counted pieces. Returns whether all requests of this rank are complete.
    pub fn discard(&mut self) -> Result<bool> {
        let begun = self.incoming.iter_mut().filter_map(Option::take);
        self.discarded.extend(begun.filter_map(|message| message.piece));
        if let Some(piece) = self.discarded.first_mut()
            && piece.poll_for(BURST)?.is_some()
        {
            self.discarded.swap_remove(0);
        }
        for tag in (0..N_TAGS as c_int).filter(|tag| is_counted(*tag)) {
            if self.discarded.len() < MOST_DISCARDED
                && let Some(piece) = self.probe(anyone(), tag)?
            {
                let piece = self.start_receive(piece)?;
                self.discarded.push(piece);
            }
        }
        Ok(self.discarded.is_empty() && self.pending()? == 0)
    }

    /// Pieces received so far.
    pub fn n_received(&self) -> u64 {
        self.received
    }

    /// Collective: starts a sum over all ranks, the number of pieces that were sent to this rank so far. It
    /// is the only value of the second list.
    pub fn start_count(&self) -> Result<InFlight<[Vec<u64>; 2]>> {
        let mut lists = InFlight::new([self.sent.clone(), vec![0]]);
        let [sent, sum] = lists.buffer();
        // SAFETY: one list has a number per rank, the other room for one, and `InFlight` keeps both until the
        // sum is there.
        let (code, request) = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (from, to) = (sent.as_ptr().cast(), sum.as_mut_ptr().cast());
            let (kind, op) = (ffi::RSMPI_UINT64_T, ffi::RSMPI_SUM);
            let code = ffi::MPI_Ireduce_scatter_block(from, to, 1, kind, op, self.comm, &mut request);
            (code, request)
        };
        check(code, "MPI_Ireduce_scatter_block")?;
        lists.add(request);
        Ok(lists)
    }

    /// Collective: starts a barrier.
    pub fn start_barrier(&self) -> Result<InFlight<()>> {
        let mut barrier = InFlight::new(());
        // SAFETY: the request is a local, and a barrier uses no other memory.
        let (code, request) = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            (ffi::MPI_Ibarrier(self.comm, &mut request), request)
        };
        check(code, "MPI_Ibarrier")?;
        barrier.add(request);
        Ok(barrier)
    }

    /// Collective: frees the communicator, after the last message.
    pub fn free(&mut self) -> Result<()> {
        // SAFETY: the communicator is valid, and no call follows.
        check(unsafe { ffi::MPI_Comm_free(&mut self.comm) }, "MPI_Comm_free")
    }
}

/// Whether pieces with `tag` are counted by senders and receivers. A rank that gives up has compared them
/// already.
fn is_counted(tag: c_int) -> bool {
    tag != ControlTag::GaveUp as c_int
}

/// The meaning of an error code of the library; `None` for success.
pub(super) fn message_of(code: c_int) -> Option<String> {
    if code == ffi::MPI_SUCCESS as c_int {
        return None;
    }
    let mut text = vec![0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: there is room for the longest message the library may write.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) };
    text.truncate(length.max(0) as usize);
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn anyone() -> c_int {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_ANY_SOURCE }
}
