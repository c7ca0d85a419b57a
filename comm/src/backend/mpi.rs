//! Ranks as processes of an MPI job: the only file with `unsafe`.
//!
//! The library is called directly where an answer matters, because only so its error codes come back.
//! All calls are made by the thread that started MPI (funneled), but for `MPI_Abort` after a panic.
#![allow(unsafe_code)]

use super::rank_states::RankStates;
use super::stall_probe::{Answer, Ask, NO_ANSWER, StallProbe, to_ask};
use super::{Finding, RankState, Tag, Transport};
use crate::error::panic_message;
use crate::settings::Report;
use crate::{CommError, Pulse, Rank, Result};
use mpi::ffi;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::AsRaw;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest piece in which a message crosses: counts of the library are 32-bit.
pub(crate) const PIECE_BYTES: usize = 1 << 30;

/// Tags beside those of [`Tag`]: where are you, the answer, and that a rank ends.
const ASK: c_int = Tag::N as c_int;
const ANSWER: c_int = ASK + 1;
const EXIT: c_int = ASK + 2;

/// Rests that only give the core away, before those that sleep.
const SPINS: u32 = 500;
/// How long to wait for the answer of another rank.
const GRACE: Duration = Duration::from_secs(1);
/// How long a rank waits, for each of its children, for the answers of all below them.
const GRACE_BELOW: Duration = Duration::from_millis(500);
/// How much later than the rank before it a rank says that it aborts, up to some rank: what all see
/// alike is said once.
const DEFERENCE: Duration = Duration::from_millis(150);

/// Where this process stands, for the panic hook, and whether MPI can be called.
static PLACE: Mutex<Option<RankState>> = Mutex::new(None);
static RUNNING: AtomicBool = AtomicBool::new(false);
/// What to do before this process ends.
static CLEAN: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// One rank's end.
pub(crate) struct Mpi {
    world: SimpleCommunicator,
    rank: Rank,
    n_ranks: usize,
    piece_bytes: usize,
    report: Report,
    sending: Vec<Sending>,
    place: RankState,
    /// Ranks that ended: who, after how many calls, in which stage.
    exits: Vec<(Rank, u64, String)>,
    signs: u64,
    pulse: Pulse,
    moved: Instant,
    parks: u32,
    watch: Box<StallWatch>,
    /// Dropped after the communicator: it ends MPI.
    _universe: mpi::environment::Universe,
}

/// What this rank knows while it looks around.
#[derive(Default)]
struct StallWatch {
    /// The probe that is under way here, and who asked for it; nobody on rank 0.
    probe: Option<(Option<Rank>, StallProbe)>,
    /// The answer of a rank that was asked for itself alone.
    answered: Option<(Rank, Answer)>,
    n_probes: u32,
    /// Questions and answers that were sent.
    messages: u64,
}

/// A message on its way. The bytes stay where they are until every request is complete.
struct Sending {
    requests: Vec<ffi::MPI_Request>,
    bytes: Vec<u8>,
}

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

impl Mpi {
    /// Starts MPI, and ends the whole job from now on when this process panics.
    pub fn start(piece_bytes: usize, report: Report) -> Result<Self> {
        let not_started = |why: &str| CommError::NotStarted { why: why.into() };
        let funneled = mpi::Threading::Funneled;
        let (universe, level) = mpi::initialize_with_threading(funneled)
            .ok_or_else(|| not_started("MPI was started before in this process"))?;
        if level < funneled {
            return Err(not_started("this MPI library allows no threads"));
        }
        let world = universe.world().duplicate();
        // SAFETY: the communicator is valid, and the handler is a constant of the library.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(world.as_raw(), ffi::RSMPI_ERRORS_RETURN) };
        check(code, "MPI_Comm_set_errhandler")?;
        let (rank, n_ranks) = (Rank(world.rank() as u32), world.size() as usize);
        end_job_on_panic(rank, report);
        Ok(Self {
            world,
            rank,
            n_ranks,
            piece_bytes,
            report,
            sending: Vec::new(),
            place: RankState::default(),
            exits: Vec::new(),
            signs: 0,
            pulse: Pulse::default(),
            moved: Instant::now(),
            parks: 0,
            watch: Box::default(),
            _universe: universe,
        })
    }

    fn sign(&mut self) {
        self.signs += 1;
        self.moved = Instant::now();
        self.parks = 0;
    }

    /// Starts the pieces of a message: full ones, and a last one that is shorter, if empty.
    fn start_send(&mut self, to: Rank, tag: c_int, bytes: Vec<u8>, synchronous: bool) -> Result<()> {
        if to.at() >= self.n_ranks {
            return Err(CommError::NoSuchRank { rank: to, n_ranks: self.n_ranks });
        }
        let mut message = Sending { requests: Vec::new(), bytes };
        for n in 0..=message.bytes.len() / self.piece_bytes {
            let start = n * self.piece_bytes;
            let piece = &message.bytes[start..message.bytes.len().min(start + self.piece_bytes)];
            let request = self.start_piece(to, tag, piece, synchronous)?;
            message.requests.push(request);
        }
        self.sending.push(message);
        Ok(())
    }

    fn start_piece(&self, to: Rank, tag: c_int, piece: &[u8], synchronous: bool) -> Result<ffi::MPI_Request> {
        let (start, name): (StartCall, _) = match synchronous {
            true => (ffi::MPI_Issend, "MPI_Issend"),
            false => (ffi::MPI_Isend, "MPI_Isend"),
        };
        // SAFETY: a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: `Sending` keeps the bytes, unmoved and unchanged, until `finished` says that the
        // request is complete, and a process that fails before that exits without freeing them.
        let code = unsafe {
            let kind = ffi::RSMPI_UINT8_T;
            let (count, to) = (piece.len() as c_int, to.0 as c_int);
            start(piece.as_ptr().cast(), count, kind, to, tag, self.world.as_raw(), &mut request)
        };
        check(code, name).map(|()| request)
    }

    /// The next message with `tag`, all pieces of it.
    fn take(&mut self, tag: c_int) -> Result<Option<(Rank, Vec<u8>)>> {
        // SAFETY: a constant of the library.
        let anyone = unsafe { ffi::RSMPI_ANY_SOURCE };
        let Some((mut message, from, mut n_bytes)) = self.probe_message(anyone, tag)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        loop {
            receive_piece(&mut message, &mut bytes, n_bytes)?;
            if n_bytes < self.piece_bytes {
                return Ok(Some((Rank(from as u32), bytes)));
            }
            // The sender has started all pieces, and they keep their order.
            (message, n_bytes) = loop {
                match self.probe_message(from, tag)? {
                    Some((message, _, n_bytes)) => break (message, n_bytes),
                    None => std::thread::yield_now(),
                }
            };
        }
    }

    /// A message that has come: its handle, its sender, its length.
    fn probe_message(&self, from: c_int, tag: c_int) -> Result<Option<(ffi::MPI_Message, c_int, usize)>> {
        let (mut flag, mut count) = (0, 0);
        // SAFETY: all pointers are to locals of the right types, which outlive the calls; a status is
        // plain numbers, for which zero is a value, and it is read only after the library filled it.
        unsafe {
            let mut message = ffi::RSMPI_MESSAGE_NULL;
            let mut status: ffi::MPI_Status = std::mem::zeroed();
            let world = self.world.as_raw();
            check(ffi::MPI_Improbe(from, tag, world, &mut flag, &mut message, &mut status), "MPI_Improbe")?;
            if flag == 0 {
                return Ok(None);
            }
            check(ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count), "MPI_Get_count")?;
            Ok(Some((message, status.MPI_SOURCE, count.max(0) as usize)))
        }
    }

    /// The error for a message of the watchdog that cannot be decoded.
    fn broken(message: &str, from: Rank) -> CommError {
        CommError::Mismatch { what: format!("{message} of {from} cannot be read") }
    }

    /// Answers questions about the state of this rank, and receives the exits of others.
    fn serve(&mut self) -> Result<()> {
        while let Some((from, bytes)) = self.take(ASK)? {
            match Ask::from_bytes(&bytes).ok_or_else(|| Self::broken("a question", from))? {
                Ask::You => self.answer(from, self.own_answer())?,
                Ask::AllBelow(number) => self.begin_probe(Some(from), number)?,
            }
        }
        while let Some((from, bytes)) = self.take(ANSWER)? {
            let answer = Answer::from_bytes(&bytes).ok_or_else(|| Self::broken("an answer", from))?;
            match &mut self.watch.probe {
                _ if answer.probe == 0 => self.watch.answered = Some((from, answer)),
                Some((_, probe)) => probe.receive(from, answer),
                None => {}
            }
        }
        if let Some((Some(asker), probe)) =
            self.watch.probe.take_if(|(asker, s)| asker.is_some() && s.is_done())
        {
            self.answer(asker, probe.answer())?;
        }
        while let Some((from, bytes)) = self.take(EXIT)? {
            let (finished, stage) = number_and_text(&bytes).ok_or_else(|| Self::broken("the exit", from))?;
            self.exits.push((from, finished, stage));
        }
        let late = self.exits.iter().find(|g| g.1 < self.called());
        match late {
            Some((rank, _, stage)) => Err(CommError::Left { rank: *rank, stage: stage.clone() }),
            None => Ok(()),
        }
    }

    /// Collective calls that this rank has begun.
    fn called(&self) -> u64 {
        self.place.finished + u64::from(!self.place.call.is_empty())
    }

    fn idle_and_place(&self) -> (u64, String) {
        (self.moved.elapsed().as_millis() as u64, self.place.to_string())
    }

    fn own_answer(&self) -> Answer {
        let (idle, place) = self.idle_and_place();
        let mut places = RankStates::default();
        places.add([self.rank, self.rank], place);
        Answer { probe: 0, idle, silent: false, places }
    }

    fn answer(&mut self, to: Rank, answer: Answer) -> Result<()> {
        self.watch.messages += 1;
        self.start_send(to, ANSWER, answer.to_bytes(), false)
    }

    fn ask(&mut self, whom: Rank, ask: Ask) -> Result<()> {
        self.watch.messages += 1;
        self.start_send(whom, ASK, ask.to_bytes(), false)
    }

    /// Asks all below; the answer goes to who asked.
    fn begin_probe(&mut self, asker: Option<Rank>, number: u32) -> Result<()> {
        let here = (self.rank, self.n_ranks);
        let probe = StallProbe::new(here, number, self.idle_and_place(), GRACE_BELOW);
        let children: Vec<Rank> = probe.children().collect();
        self.watch.probe = Some((asker, probe));
        children.into_iter().try_for_each(|child| self.ask(child, Ask::AllBelow(number)))
    }

    /// On rank 0: where all ranks stand.
    fn probe_all(&mut self) -> Result<Answer> {
        self.watch.n_probes = self.watch.n_probes.wrapping_add(1).max(1);
        self.begin_probe(None, self.watch.n_probes)?;
        loop {
            self.serve()?;
            if let Some((_, probe)) = self.watch.probe.take_if(|(_, probe)| probe.is_done()) {
                return Ok(probe.answer());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// What a rank answers within the grace.
    fn ask_one(&mut self, whom: Rank) -> Result<Option<Answer>> {
        self.watch.answered = None;
        self.ask(whom, Ask::You)?;
        let start = Instant::now();
        while start.elapsed() < GRACE {
            self.serve()?;
            if let Some((_, answer)) = self.watch.answered.take_if(|(from, _)| *from == whom) {
                return Ok(Some(answer));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }

    /// On any rank but rank 0: what a rank above says. Where none does for too long, the job is stalled.
    fn look_up(&mut self, patience: Duration, idle: Duration) -> Result<Finding> {
        let mut places = self.own_answer().places;
        for above in to_ask(self.rank) {
            match self.ask_one(above)? {
                Some(answer) if answer.idle < moving(patience) => return Ok(Finding::Moves),
                // Rank 0 finds out, or who is between.
                Some(_) => return Ok(Finding::Computes),
                None => places.add([above, above], NO_ANSWER),
            }
            if let Finding::Computes = Finding::new(patience, idle, true, &places) {
                return Ok(Finding::Computes);
            }
        }
        // Other ranks find the same; one message is enough.
        std::thread::sleep(2 * GRACE * self.rank.0.trailing_zeros());
        Ok(Finding::new(patience, idle, true, places))
    }

    /// Tells rank 0 that this rank ends (rank 0 tells all), and waits until it knows the same of them.
    fn exchange_exits(&mut self) -> Result<()> {
        let mut word = self.place.finished.to_ne_bytes().to_vec();
        word.extend(self.place.stage.bytes());
        let whom = if self.rank == Rank(0) { 1..self.n_ranks as u32 } else { 0..1 };
        let n_wanted = whom.len();
        for to in whom {
            self.start_send(Rank(to), EXIT, word.clone(), false)?;
        }
        while self.exits.len() < n_wanted || self.pending()? > 0 {
            self.serve()?;
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }
}

impl std::fmt::Debug for Mpi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mpi({} of {})", self.rank, self.n_ranks)
    }
}

impl Transport for Mpi {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn n_ranks(&self) -> usize {
        self.n_ranks
    }

    fn send(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.sign();
        self.start_send(to, tag.at() as c_int, bytes, false)
    }

    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.sign();
        self.start_send(to, tag.at() as c_int, bytes, true)
    }

    fn pending(&mut self) -> Result<usize> {
        let before = self.sending.len();
        let mut unfinished = Vec::with_capacity(before);
        for mut message in std::mem::take(&mut self.sending) {
            if !finished(&mut message)? {
                unfinished.push(message);
            }
        }
        self.sending = unfinished;
        if self.sending.len() < before {
            self.sign();
        }
        Ok(self.sending.len())
    }

    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>> {
        let message = self.take(tag.at() as c_int)?;
        if message.is_some() {
            self.sign();
        }
        Ok(message)
    }

    /// The library cannot wake a sleeper, so this one looks again soon.
    fn park(&mut self, at_most: Duration) -> Result<()> {
        self.parks += 1;
        if self.parks < SPINS {
            std::thread::yield_now();
            return Ok(());
        }
        std::thread::sleep(at_most.min(Duration::from_micros(100)));
        if self.parks.is_multiple_of(16) { self.serve() } else { Ok(()) }
    }

    fn progress_signs(&mut self) -> u64 {
        self.signs.wrapping_add(self.pulse.count())
    }

    fn set_location(&mut self, place: RankState) {
        self.place = place;
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
        self.sign();
    }

    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding {
        let found = match self.rank {
            Rank(0) => self.probe_all().map(|all| match all.idle < moving(patience) {
                true => Finding::Moves,
                false => Finding::new(patience, idle, all.silent, all.places),
            }),
            _ => self.look_up(patience, idle),
        };
        found.unwrap_or_else(Finding::Stalled)
    }

    fn watch_messages(&self) -> u64 {
        self.watch.messages
    }

    fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        *CLEAN.lock().unwrap_or_else(PoisonError::into_inner) = Some(clean);
    }

    fn abort(&mut self, error: CommError) -> CommError {
        std::thread::sleep(DEFERENCE * self.rank.0.min(8));
        let place = match error {
            // Has rank and stage in it.
            CommError::Aborted { .. } | CommError::Panicked { .. } => String::new(),
            _ => format!(" [{} of {}: {}]", self.rank, self.n_ranks, self.place),
        };
        end_job(|| (self.report)(&error, &place))
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if let Err(error) = self.exchange_exits() {
            self.abort(error);
        }
        RUNNING.store(false, Ordering::Release);
    }
}

/// A rank that has been idle for fewer milliseconds moves.
fn moving(patience: Duration) -> u64 {
    (patience / 2).as_millis() as u64
}

/// Whether a message is out of our hands.
fn finished(message: &mut Sending) -> Result<bool> {
    debug_assert!(message.bytes.capacity() > 0 || message.bytes.is_empty());
    let mut flag = 0;
    // SAFETY: the requests are as many as said, active or null, and of this communicator.
    let code = unsafe {
        let (n, requests) = (message.requests.len() as c_int, message.requests.as_mut_ptr());
        ffi::MPI_Testall(n, requests, &mut flag, ffi::RSMPI_STATUSES_IGNORE)
    };
    check(code, "MPI_Testall").map(|()| flag != 0)
}

/// Receives a probed piece of `n_bytes` behind what is there.
fn receive_piece(message: &mut ffi::MPI_Message, bytes: &mut Vec<u8>, n_bytes: usize) -> Result<()> {
    let start = bytes.len();
    bytes.resize(start + n_bytes, 0);
    let room = &mut bytes[start..];
    // SAFETY: there is room for as many bytes as the probe counted, and the call returns only when
    // they are there.
    let code = unsafe {
        let (at, count) = (room.as_mut_ptr().cast(), n_bytes as c_int);
        ffi::MPI_Mrecv(at, count, ffi::RSMPI_UINT8_T, message, ffi::RSMPI_STATUS_IGNORE)
    };
    check(code, "MPI_Mrecv")
}

fn number_and_text(bytes: &[u8]) -> Option<(u64, String)> {
    let (number, text) = bytes.split_first_chunk()?;
    Some((u64::from_ne_bytes(*number), String::from_utf8_lossy(text).into_owned()))
}

fn check(code: c_int, call: &'static str) -> Result<()> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = vec![0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: there is room for the longest message the library may write.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) };
    text.truncate(length.max(0) as usize);
    Err(CommError::Mpi { call, message: String::from_utf8_lossy(&text).into_owned() })
}

/// After the usual message of a panic, says which rank it was, and ends the job.
fn end_job_on_panic(rank: Rank, report: Report) {
    RUNNING.store(true, Ordering::Release);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        if RUNNING.load(Ordering::Acquire) {
            let place = PLACE.try_lock().map_or(None, |place| *place).unwrap_or_default();
            let (stage, message) = (place.stage.to_string(), panic_message(panic.payload()));
            end_job(|| report(&CommError::Panicked { rank, stage, message }, ""));
        }
    }));
}

/// Writes why a job ends to standard error, in one piece.
pub(crate) fn write_line(error: &CommError, place: &str) {
    let _ = std::io::stderr().write_all(format!("{error}{place}\n").as_bytes());
}

/// Says why, leaves the launcher a moment to pass it on, and ends every process.
#[allow(clippy::exit)]
fn end_job(say_why: impl FnOnce()) -> ! {
    let clean = CLEAN.try_lock().map_or(None, |mut clean| clean.take());
    if let Some(clean) = clean {
        clean();
    }
    say_why();
    std::thread::sleep(Duration::from_millis(100));
    // SAFETY: MPI runs; the library allows no way back from this call, and where it comes back all the
    // same the process ends here.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    std::process::exit(1)
}
