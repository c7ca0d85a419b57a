//! Engines as guests of a host program under MPI: right results, the same error on all ranks, and a host that
//! continues.
//!
//! The test starts itself under the launcher; those processes are the host.

use super::common::host_octs::HostOcts;
use super::common::{open, output};
use super::job::{Launcher, alone};
use inselberg::{
    Cells, ClumpId, Engine, Error, ErrorKind, Geometry, HostComm, Persistence, PhewParams, Progress,
    TimeLimits,
};
use mpi::collective::SystemOperation;
use mpi::topology::{Color, Communicator, SimpleCommunicator};
use mpi::traits::{AsRaw, CommunicatorCollectives};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Tells a process that it is the host, and its thread level.
const HOST: &str = "INSELBERG_TEST_HOST";
/// Names the folder in which processes signal each other.
const SIGNALS: &str = "INSELBERG_TEST_SIGNALS";
/// Failures that are injected into each of the two engines.
const FAILURES: usize = 50;

#[test]
fn a_host_lives_on_whatever_its_engines_meet() {
    if let Ok(level) = std::env::var(HOST) {
        return host(&level);
    }
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let own = std::env::current_exe().expect("this program");
    let own = own.to_str().expect("a plain path");
    let name = "guest::a_host_lives_on_whatever_its_engines_meet";
    for (n_ranks, level) in [(2, "multiple"), (4, "funneled"), (5, "single")] {
        let mut job = launcher.job(n_ranks, own, &["--exact", name, "--nocapture", "--test-threads", "1"]);
        let signals = tempfile::tempdir().expect("a folder");
        let out = job.env(HOST, level).env(SIGNALS, signals.path()).output().expect("it starts");
        let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(out.status.success(), "{n_ranks} ranks, {level}: {said:?}");
        let lived = said[0].matches("lived on").count();
        assert_eq!(lived, n_ranks, "{said:?}");
    }
}

/// One process of the host: two engines on two halves of its ranks.
fn host(level: &str) {
    let level = match level {
        "single" => mpi::Threading::Single,
        "funneled" => mpi::Threading::Funneled,
        _ => mpi::Threading::Multiple,
    };
    let (universe, _) = mpi::initialize_with_threading(level).expect("the host starts MPI");
    let world = universe.world();
    let half = world.rank() % 2;
    let own = world.split_by_color(Color::with_value(half)).expect("each rank is in one half");
    let (octs, _) = HostOcts::read(&*open(&output("dm_1rank")), "rho");
    let mut guest = Guest::new(&own, &octs);
    guest.check();
    for n in 0..FAILURES {
        match n % 16 {
            // A single rank does not wait.
            15 if own.size() > 1 => guest.time_out(n, &signal_of(half, n)),
            _ => guest.fail(n),
        }
        guest.check();
        // The host's own messages arrive.
        let mut sum = 0;
        world.all_reduce_into(&(n as u64), &mut sum, SystemOperation::sum());
        assert_eq!(sum, n as u64 * world.size() as u64);
    }
    guest.engine.close().expect("closed");
    println!("rank {} lived on", world.rank());
}

/// A file that says to the ranks of one half, outside MPI, that one of them gave up.
fn signal_of(half: i32, n: usize) -> PathBuf {
    let folder = std::env::var(SIGNALS).expect("the test names a folder");
    PathBuf::from(folder).join(format!("{half}.{n}"))
}

/// What the hook of an engine does.
const GO_ON: u8 = 0;
const CANCEL: u8 = 1;
const PANIC: u8 = 2;

/// The host's communicator, for an engine.
fn host_comm(host: &SimpleCommunicator) -> HostComm {
    let raw = host.as_raw();
    // SAFETY: the pointer is to a communicator that outlives the engine, and the call copies it.
    #[allow(unsafe_code)]
    unsafe {
        HostComm::from_c((&raw const raw).cast())
    }
}

/// An engine on a communicator of the host.
struct Guest<'a> {
    host: &'a SimpleCommunicator,
    engine: Engine,
    /// What the hook does in the stage `saddles`.
    action: Arc<AtomicU8>,
    cells: Cells,
    rho: Vec<f64>,
    params: PhewParams,
    expected: Vec<Option<ClumpId>>,
}

impl<'a> Guest<'a> {
    fn new(host: &'a SimpleCommunicator, octs: &HostOcts) -> Self {
        let (rank, n_ranks) = (host.rank() as usize, host.size() as usize);
        let params = PhewParams::new(40.0).persistence(Persistence::Ratio(3.0)).saddle(200.0);
        let (all, rho_of_all) = (octs.cells(Geometry::cube(1.0)), &octs.rho);
        let mut alone = Engine::builder().threads(1).build().expect("an engine");
        let found = alone.phew(&all, rho_of_all, &params).expect("clumps");
        assert!(found.n_clumps() > 3);
        let mine = |cell: &usize| cell / 8 % n_ranks == rank;
        let expected = (0..rho_of_all.len()).filter(mine).map(|cell| found.labels()[cell]).collect();
        let action = Arc::new(AtomicU8::new(GO_ON));
        let of_hook = Arc::clone(&action);
        let hook = move |progress: Progress| match of_hook.load(SeqCst) {
            CANCEL if progress.stage == "saddles" => ControlFlow::Break(()),
            PANIC if progress.stage == "saddles" => panic!("an injected fault"),
            _ => ControlFlow::Continue(()),
        };
        let engine =
            Engine::builder().threads(2).hook(hook).guest_of(host_comm(host)).build().expect("an engine");
        let own = octs.some(&(rank..octs.level.len()).step_by(n_ranks).collect::<Vec<_>>());
        let (cells, rho) = (own.cells(Geometry::cube(1.0)), own.rho);
        Self { host, engine, action, cells, rho, params, expected }
    }

    /// One rank does not return from its hook while another one cancels. All ranks time out, and a new engine
    /// gives right results. The old engine leaves messages in flight.
    fn time_out(&mut self, n: usize, gave_up: &Path) {
        let (rank, last) = (self.host.rank(), self.host.size() - 1);
        let path = gave_up.to_path_buf();
        let hook = move |_| {
            while rank == last && !path.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            if rank == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let limits = TimeLimits::default().recover_timeout(0.3);
        let builder = Engine::builder().threads(2).hook(hook).guest_of(host_comm(self.host));
        let mut engine = builder.time_limits(limits).build().expect("an engine");
        let start = Instant::now();
        let error = engine.phew(&self.cells, &self.rho, &self.params).expect_err("a rank that is away");
        if rank == 0 {
            std::fs::write(gave_up, "").expect("a file");
        }
        self.compare_errors(n, &error, ErrorKind::TimedOut, start);
        let error = engine.phew(&self.cells, &self.rho, &self.params).expect_err("for good");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        drop(engine);
        let mut next =
            Engine::builder().threads(2).guest_of(host_comm(self.host)).build().expect("an engine");
        let found = next.phew(&self.cells, &self.rho, &self.params).expect("clumps");
        assert_eq!(found.labels(), self.expected);
        next.close().expect("closed");
    }

    /// A call whose result must be right.
    fn check(&mut self) {
        let found = self.engine.phew(&self.cells, &self.rho, &self.params).expect("clumps");
        assert_eq!(found.labels(), self.expected);
    }

    /// Failure `n`, on one rank: the same error on all ranks, soon.
    fn fail(&mut self, n: usize) {
        let is_here = n / 5 % self.host.size() as usize == self.host.rank() as usize;
        let start = Instant::now();
        let (expected, error) = match n % 5 {
            0 => (ErrorKind::InvalidValue, self.with_bad_value(is_here)),
            1 => (ErrorKind::Internal, self.with_hook(PANIC, is_here)),
            2 => (ErrorKind::Cancelled, self.with_hook(CANCEL, is_here)),
            3 => (ErrorKind::InvalidArgument, self.with_bad_parameter(is_here)),
            _ => (ErrorKind::Write, self.on_a_full_disk()),
        };
        self.compare_errors(n, &error, expected, start);
    }

    /// All ranks have the same error, of this kind, soon after `start`.
    fn compare_errors(&self, n: usize, error: &Error, expected: ErrorKind, start: Instant) {
        assert_eq!(error.kind(), expected, "failure {n}: {error}");
        assert!(start.elapsed() < Duration::from_secs(10), "failure {n}: {:?}", start.elapsed());
        let mut hasher = DefaultHasher::new();
        error.to_string().hash(&mut hasher);
        let own = hasher.finish();
        let mut all = vec![0; self.host.size() as usize];
        self.host.all_gather_into(&own, &mut all);
        assert!(
            all.iter().all(|other| *other == own),
            "failure {n}: other ranks have another error than {error}"
        );
    }

    fn with_bad_value(&mut self, is_here: bool) -> Error {
        let mut rho = self.rho.clone();
        if is_here {
            rho[0] = f64::NAN;
        }
        self.engine.phew(&self.cells, &rho, &self.params).expect_err("a value that is not a number")
    }

    fn with_hook(&mut self, action: u8, is_here: bool) -> Error {
        self.action.store(if is_here { action } else { GO_ON }, SeqCst);
        let error = self.engine.phew(&self.cells, &self.rho, &self.params).expect_err("the hook");
        self.action.store(GO_ON, SeqCst);
        error
    }

    fn with_bad_parameter(&mut self, is_here: bool) -> Error {
        let params = self.params.clone().mass(if is_here { f64::NAN } else { 0.0 });
        self.engine.phew(&self.cells, &self.rho, &params).expect_err("a mass that is not a number")
    }

    fn on_a_full_disk(&mut self) -> Error {
        let found = self.engine.phew(&self.cells, &self.rho, &self.params).expect("clumps");
        found.write("/dev/full/clumps.csv").expect_err("no such folder")
    }
}
