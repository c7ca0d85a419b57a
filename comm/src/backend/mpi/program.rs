//! A rank of a program that runs MPI itself: a failure of one rank ends all processes of the job within
//! seconds. Everything that only a program may have is here: static state, the panic hook, the exit and the
//! message.
#![allow(unsafe_code)]

use super::link::Link;
use super::{ControlTag, Lifecycle, Mpi};
use crate::backend::RankState;
use crate::error::panic_message;
use crate::settings::Report;
use crate::{CommError, Rank, Result, ThreadLevel};
use mpi::ffi;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::AsRaw;
use std::ffi::c_int;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long rank 0 waits for reports of other ranks before it prints its own error. So an error that all
/// ranks see is printed once.
const SHORTEST_DEFERENCE: Duration = Duration::from_millis(10);
/// How much longer each further rank waits, up to some rank.
const DEFERENCE: Duration = Duration::from_millis(150);
/// How long a rank that aborts waits for the others to receive its report, and then for the launcher to pass
/// on its message.
const MOMENT: Duration = Duration::from_millis(100);
/// How long a rank waits for the end of the job after another rank has announced it.
const ANNOUNCED_END: Duration = Duration::from_secs(10);

/// The time limit of the first exchange, once MPI has started on all ranks.
const FIRST_EXCHANGE: Duration = Duration::from_secs(120);

/// The location of this process, for the panic hook, and whether MPI can be called.
static PLACE: Mutex<Option<RankState>> = Mutex::new(None);
static RUNNING: AtomicBool = AtomicBool::new(false);
/// What to do before this process ends.
static CLEAN: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// The state of a rank that started MPI.
pub(crate) struct Program {
    report: Report,
    /// Ranks that ended, with their number of calls and their stage.
    exits: Vec<(Rank, u64, String)>,
    _world: SimpleCommunicator,
    /// Dropped after the communicator: it ends MPI.
    _universe: mpi::environment::Universe,
}

// SAFETY: handles of the library are names that all threads may use, and `Transport::check_thread` keeps the
// calls in the threads that the library allows.
unsafe impl Send for Program {}

/// Starts MPI, and ends the whole job from now on when this process panics.
pub(crate) fn start_program(piece_bytes: usize, report: Report) -> Result<Mpi<Program>> {
    let not_started = |why: &str| CommError::NotStarted { why: why.into() };
    let funneled = mpi::Threading::Funneled;
    let (universe, level) = mpi::initialize_with_threading(funneled)
        .ok_or_else(|| not_started("MPI was started before in this process"))?;
    if level < funneled {
        return Err(not_started("this MPI library allows no threads"));
    }
    let level = match level {
        mpi::Threading::Single | mpi::Threading::Funneled => ThreadLevel::Funneled,
        mpi::Threading::Serialized => ThreadLevel::Serialized,
        mpi::Threading::Multiple => ThreadLevel::Multiple,
    };
    let world = universe.world();
    let world = in_time(world.rank().unsigned_abs(), report, || world.duplicate());
    // SAFETY: nobody else uses the duplicate, and `Program` ends MPI after the last call.
    let link = unsafe { Link::new(world.as_raw(), piece_bytes)? };
    end_job_on_panic(link.rank(), report);
    let program = Program { report, exits: Vec::new(), _world: world, _universe: universe };
    Ok(Mpi::new(link, level, program))
}

/// Does the first exchange of the ranks. If it takes too long, prints a message and ends this process; the
/// launcher then ends the others. A library without memory for its messages waits forever.
#[allow(clippy::exit)]
fn in_time<T>(rank: u32, report: Report, exchange: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    let patience = FIRST_EXCHANGE + DEFERENCE * rank.min(8);
    let watch = move || {
        if is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            let seconds = FIRST_EXCHANGE.as_secs();
            let why = format!(
                "MPI started, and its first exchange takes more than {seconds} s; too little memory?"
            );
            report(&CommError::NotStarted { why }, "");
            std::process::exit(1);
        }
    };
    // If the system has no threads left, there is no time limit.
    let _ = std::thread::Builder::new().name("first exchange".into()).spawn(watch);
    let found = exchange();
    drop(done);
    found
}

impl Mpi<Program> {
    /// Collective calls that this rank has begun.
    fn called(&self) -> u64 {
        self.place.finished + u64::from(!self.place.call.is_empty())
    }

    /// Whether a rank reports, within this time, that it ends the job.
    fn hears_of_an_end(&mut self, within: Duration) -> bool {
        let start = Instant::now();
        loop {
            match self.link.take(ControlTag::Failed as c_int) {
                Ok(None) if start.elapsed() < within => std::thread::sleep(Duration::from_millis(1)),
                heard => return heard.is_ok_and(|message| message.is_some()),
            }
        }
    }

    /// Waits for a report that another rank ends the job, and then for that end. Without such a report,
    /// announces to all ranks that this one ends the job.
    fn settle_who_ends(&mut self, deference: Duration) {
        if self.hears_of_an_end(deference) {
            clean_up();
            // If the job has not ended by then, this rank ends it.
            std::thread::sleep(ANNOUNCED_END);
        }
        self.send_to_all_others(ControlTag::Failed, &[]);
        let start = Instant::now();
        while start.elapsed() < MOMENT && self.link.pending().is_ok_and(|n| n > 0) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Reports to rank 0 that this rank ends (rank 0 reports to all), and waits for the same reports from
    /// them.
    fn exchange_exits(&mut self) -> Result<()> {
        self.check_level()?;
        let mut word = self.place.finished.to_ne_bytes().to_vec();
        word.extend(self.place.stage.bytes());
        let whom = if self.link.rank() == Rank(0) { 1..self.link.n_ranks() as u32 } else { 0..1 };
        let n_wanted = whom.len();
        for to in whom {
            self.link.start_send(Rank(to), ControlTag::Exit as c_int, word.clone(), false)?;
        }
        while self.lifecycle.exits.len() < n_wanted || self.link.pending()? > 0 {
            self.serve()?;
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }
}

impl Lifecycle for Program {
    fn set_location(&mut self, place: RankState) {
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// A rank that ended will not come to later calls.
    fn serve(mpi: &mut Mpi<Self>) -> Result<()> {
        while let Some((from, bytes)) = mpi.link.take(ControlTag::Exit as c_int)? {
            let exit = number_and_text(&bytes).ok_or_else(|| Mpi::<Self>::broken("the exit", from))?;
            mpi.lifecycle.exits.push((from, exit.0, exit.1));
        }
        let late = mpi.lifecycle.exits.iter().find(|exit| exit.1 < mpi.called());
        match late {
            Some((rank, _, stage)) => Err(CommError::Left { rank: *rank, stage: stage.clone() }),
            None => Ok(()),
        }
    }

    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        *CLEAN.lock().unwrap_or_else(PoisonError::into_inner) = Some(clean);
    }

    fn abort(mpi: &mut Mpi<Self>, error: CommError) -> CommError {
        let (rank, n_ranks) = (mpi.link.rank(), mpi.link.n_ranks());
        let deference = SHORTEST_DEFERENCE + DEFERENCE * rank.0.min(8);
        match mpi.check_level() {
            Ok(()) => mpi.settle_who_ends(deference),
            // Another thread may not call MPI.
            Err(_) => std::thread::sleep(deference),
        }
        let place = match error {
            // Has rank and stage in it.
            CommError::Aborted { .. } | CommError::Panicked { .. } => String::new(),
            _ => format!(" [{rank} of {n_ranks}: {}]", mpi.place),
        };
        end_job(|| (mpi.lifecycle.report)(&error, &place))
    }

    fn end(mpi: &mut Mpi<Self>) {
        if let Err(error) = mpi.exchange_exits() {
            Self::abort(mpi, error);
        }
        RUNNING.store(false, Ordering::Release);
    }
}

fn number_and_text(bytes: &[u8]) -> Option<(u64, String)> {
    let (number, text) = bytes.split_first_chunk()?;
    Some((u64::from_ne_bytes(*number), String::from_utf8_lossy(text).into_owned()))
}

/// After the usual message of a panic, prints the number of the rank and ends the job.
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

/// Writes the reason for the end of a job to standard error, in one piece.
pub(crate) fn write_line(error: &CommError, place: &str) {
    let _ = std::io::stderr().write_all(format!("{error}{place}\n").as_bytes());
}

/// Runs the clean-up of this process, once.
fn clean_up() {
    let clean = CLEAN.try_lock().map_or(None, |mut clean| clean.take());
    if let Some(clean) = clean {
        clean();
    }
}

/// Prints the reason, gives the launcher time to pass it on, and ends every process.
#[allow(clippy::exit)]
fn end_job(say_why: impl FnOnce()) -> ! {
    clean_up();
    say_why();
    std::thread::sleep(MOMENT);
    // SAFETY: MPI runs. This call should not return; if it does, the process ends here.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    std::process::exit(1)
}
