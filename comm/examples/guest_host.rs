//! A host program with its own MPI, and ranks that are guests in it: `guest_host <thread level> <what>`, for
//! `tests/mpi.rs`.
#![allow(unsafe_code)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::failures::call_until_a_rank_fails;
use common::{collect_everything, exchange_everything, mixed};
use inselberg_comm::agree::agree;
use inselberg_comm::{Comm, CommError, HostComm, Rank, ThreadLevel};
use mpi::ffi;
use std::ffi::c_int;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::ptr::{from_mut, null_mut};
use std::time::{Duration, Instant};

const LEVELS: [(&str, ThreadLevel); 4] = [
    ("single", ThreadLevel::Single),
    ("funneled", ThreadLevel::Funneled),
    ("serialized", ThreadLevel::Serialized),
    ("multiple", ThreadLevel::Multiple),
];

fn main() -> ExitCode {
    let [level, what] = [1, 2].map(|i| std::env::args().nth(i).unwrap_or_default());
    let (number, level) = (0..).zip(LEVELS).find(|(_, (name, _))| *name == level).map_or_else(
        || panic!("{level}: expected single, funneled, serialized or multiple"),
        |(number, (_, level))| (number, level),
    );
    assert!(is_not_started(), "before MPI is initialised");
    let host = Host::start(number);
    // A host that panics ends its job, as hosts do.
    let played = catch_unwind(|| match what.as_str() {
        "absent" => absent(&host),
        "chaos" => host.play(level, |builder, seed| builder.chaos(seed).piece_bytes(1000), 10, 3_000),
        _ => host.play(level, |builder, _| builder, 10, 600_000),
    });
    let Ok(unclosed) = played else { host.abort() };
    host.finalize();
    drop(unclosed);
    assert!(is_not_started(), "after MPI was finalised");
    ExitCode::SUCCESS
}

/// Whether a guest gets an error when MPI does not run.
fn is_not_started() -> bool {
    // SAFETY: the handle is never used, since MPI does not run.
    let host = unsafe { HostComm::from_fortran(0) };
    matches!(Comm::guest(host).build(), Err(CommError::NotStarted { .. }))
}

type Builder = inselberg_comm::CommBuilder;

/// The state of a host's MPI.
struct Host {
    world: ffi::MPI_Comm,
    rank: c_int,
    n_ranks: c_int,
}

impl Host {
    fn start(level: c_int) -> Self {
        let (mut provided, mut rank, mut n_ranks) = (0, 0, 0);
        // SAFETY: MPI is initialised once, here; all pointers are to locals, or null where the library allows
        // it.
        unsafe {
            ffi::MPI_Init_thread(null_mut(), null_mut(), level, &mut provided);
            let world = ffi::RSMPI_COMM_WORLD;
            ffi::MPI_Comm_rank(world, &mut rank);
            ffi::MPI_Comm_size(world, &mut n_ranks);
            Self { world, rank, n_ranks }
        }
    }

    fn finalize(self) {
        // SAFETY: the last call.
        let code = unsafe { ffi::MPI_Finalize() };
        assert_eq!(code, ffi::MPI_SUCCESS as c_int);
    }

    fn abort(&self) -> ! {
        // SAFETY: MPI runs.
        unsafe { ffi::MPI_Abort(self.world, 3) };
        std::process::exit(3)
    }

    fn split(&self, color: c_int, key: c_int) -> ffi::MPI_Comm {
        // SAFETY: a constant of the library.
        let mut part = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: all ranks of the world call it, and the pointer is to a local.
        unsafe { ffi::MPI_Comm_split(self.world, color, key, &mut part) };
        part
    }

    /// Messages of the host itself: around a ring, and a sum.
    fn work(&self) {
        let (mut received, mut sum) = (0u64, 0u64);
        let own = self.rank as u64;
        let (next, previous) =
            ((self.rank + 1) % self.n_ranks, (self.rank + self.n_ranks - 1) % self.n_ranks);
        // SAFETY: all pointers are to locals that hold one number each, and all ranks make the same calls.
        unsafe {
            let (kind, world) = (ffi::RSMPI_UINT64_T, self.world);
            let (from, to) = ((&raw const own).cast(), (&raw mut received).cast());
            let ignore = ffi::RSMPI_STATUS_IGNORE;
            ffi::MPI_Sendrecv(from, 1, kind, next, 1, to, 1, kind, previous, 1, world, ignore);
            ffi::MPI_Allreduce(from, (&raw mut sum).cast(), 1, kind, ffi::RSMPI_SUM, world);
        }
        let n = self.n_ranks as u64;
        assert_eq!((received, sum), (previous as u64, n * (n - 1) / 2));
    }

    /// Two guests that fail and recover in turn, between calls of the host. Returns one that is never closed.
    fn play(
        &self,
        level: ThreadLevel,
        set: fn(Builder, u64) -> Builder,
        n_rounds: u64,
        longest: u64,
    ) -> Comm {
        let mut parts = [self.split(0, -self.rank), self.split(self.rank % 2, self.rank)];
        // SAFETY: the handles are valid until the host frees them below; MPI runs until the last call.
        let hosts = unsafe {
            let number = ffi::RSMPI_Comm_c2f(parts[1]);
            [HostComm::from_c(from_mut(&mut parts[0]).cast()), HostComm::from_fortran(number)]
        };
        let mut guests = hosts.map(|host| set(Comm::guest(host), 7).build().expect("a guest"));
        assert_eq!(guests[0].rank(), Rank((self.n_ranks - 1 - self.rank) as u32));
        for guest in &mut guests {
            collect_everything(guest);
            lend(guest, level);
        }
        for seed in 0..n_rounds {
            for guest in &guests {
                self.fail_and_recover(guest, seed, longest);
                self.work();
                one_rank_fails(guest, seed, longest as usize);
                self.work();
            }
        }
        for guest in guests {
            guest.close().expect("all ranks close");
        }
        // SAFETY: the host's own communicators; no guest uses them after it was built.
        parts.iter_mut().for_each(|part| unsafe {
            ffi::MPI_Comm_free(part);
        });
        // SAFETY: the world is valid until MPI ends.
        let host = unsafe { HostComm::from_c((&raw const self.world).cast()) };
        let unclosed = Comm::guest(host).build().expect("a guest");
        collect_everything(&unclosed);
        if self.rank == 0 {
            println!("{} ranks recovered {n_rounds} times", self.n_ranks);
        }
        unclosed
    }

    fn fail_and_recover(&self, guest: &Comm, seed: u64, longest: u64) {
        guest.at("labels");
        let error = call_until_a_rank_fails(guest, mixed(seed), longest);
        assert_eq!(guest.barrier(), Err(error.clone()));
        if seed % 4 == 3 && guest.rank() == Rank(0) {
            std::thread::sleep(Duration::from_millis(1500));
        }
        let start = Instant::now();
        guest.recover().expect("all ranks recover");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        collect_everything(guest);
        exchange_everything(guest, seed);
        assert!(agree(guest, Err::<(), _>(error)).is_err());
    }
}

/// One rank fails while the others send much data to all. All ranks soon get the same error.
fn one_rank_fails(guest: &Comm, seed: u64, n_records: usize) {
    let (n_ranks, stage) = (guest.n_ranks(), "saddles");
    guest.at(stage);
    let rank = Rank((seed % n_ranks as u64) as u32);
    let failed = if guest.rank() == rank {
        Err(guest.abort("the disk is full"))
    } else {
        let start = Instant::now();
        let parts = (0..n_ranks as u32).map(|to| (Rank(to), vec![seed; n_records])).collect();
        let failed = guest.exchange(parts).map(drop);
        // This takes milliseconds, unless the machine is very busy.
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        failed
    };
    let message = "the disk is full".to_string();
    assert_eq!(failed, Err(CommError::Aborted { rank, stage: stage.into(), message }));
    guest.recover().expect("all ranks recover");
    assert_eq!(guest.sum_before(1), Ok(u64::from(guest.rank().0)));
}

/// Another thread may call if the host's thread level allows it. Otherwise its call does nothing.
fn lend(guest: &mut Comm, level: ThreadLevel) {
    let found = guest.thread_level();
    assert!(found >= level, "{found:?}");
    let lent = &mut *guest;
    let called = std::thread::scope(|scope| scope.spawn(move || lent.barrier()).join().expect("no panic"));
    match found >= ThreadLevel::Serialized {
        true => assert_eq!(called, Ok(())),
        false => assert_eq!(called, Err(CommError::WrongThread { level: found })),
    }
    assert_eq!(guest.barrier(), Ok(()));
}

/// The last rank fails and does not come to `recover`. The others give up, and the host ends its job.
fn absent(host: &Host) -> Comm {
    let within = Duration::from_millis(1000);
    // SAFETY: the world is valid until MPI ends.
    let world = unsafe { HostComm::from_c((&raw const host.world).cast()) };
    let guest = Comm::guest(world).recover_timeout(within).build().expect("a guest");
    let timed_out = Err(CommError::TimedOut { call: "recover", after: within });
    if guest.rank().at() + 1 == guest.n_ranks() {
        guest.abort("on purpose");
        std::thread::sleep(Duration::from_secs(3));
    } else {
        let next = Rank(guest.n_ranks() as u32 - 1);
        guest.exchange(vec![(next, vec![1u64; 1 << 20])]).expect_err("the last rank fails");
        let start = Instant::now();
        assert_eq!(guest.recover(), timed_out);
        assert!(start.elapsed() < 2 * within, "{:?}", start.elapsed());
    }
    assert_eq!(guest.recover(), timed_out);
    assert!(guest.barrier().is_err());
    host.work();
    if host.rank == 0 {
        println!("{}", guest.recover().expect_err("it failed for good"));
    }
    host.work();
    host.abort()
}
