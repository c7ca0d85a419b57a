//! A function on many ranks.

use crate::error::panic_message;
use crate::{Comm, CommBuilder, CommError, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread::Builder;

/// With at most this number of ranks, all stacks have the usual size.
const FEW: usize = 256;
/// The stack of a rank if there are more: all of them together must fit into the limits of a process.
const SMALL_STACK: usize = 1 << 19;

/// Runs `work` on `n_ranks` ranks, each a thread of this process. Returns the results by rank.
///
/// # Errors
/// When a rank panics or cannot be started; the error names it. Errors of `work` are part of the results.
pub fn run_threads<T: Send>(n_ranks: usize, work: impl Fn(&Comm) -> T + Sync) -> Result<Vec<T>> {
    run_ranks(Comm::threads(n_ranks), work)
}

/// Runs `work` on the ranks of `builders`, each in its own thread. Returns the results in their order.
///
/// # Errors
/// When a rank panics or cannot be started; the error names it.
pub fn run_ranks<T: Send>(builders: Vec<CommBuilder>, work: impl Fn(&Comm) -> T + Sync) -> Result<Vec<T>> {
    let (not_started, n_ranks) = (Mutex::new(None), builders.len());
    let ran: Vec<Result<T>> = std::thread::scope(|scope| {
        let mut ranks = Vec::with_capacity(builders.len());
        for (rank, builder) in builders.into_iter().enumerate() {
            let named = Builder::new().name(format!("rank {rank}"));
            let named = if rank > 0 && n_ranks > FEW { named.stack_size(SMALL_STACK) } else { named };
            match named.spawn_scoped(scope, || run_one(builder, &work)) {
                Ok(thread) => ranks.push(thread),
                Err(error) => {
                    *not_started.lock().unwrap_or_else(|e| e.into_inner()) = Some(error.to_string());
                }
            }
        }
        ranks.into_iter().map(|thread| thread.join().unwrap_or_else(|p| Err(lost(&*p)))).collect()
    });
    match not_started.into_inner() {
        Ok(Some(why)) => Err(CommError::NotStarted { why }),
        _ => ran.into_iter().collect(),
    }
}

fn run_one<T>(builder: CommBuilder, work: impl Fn(&Comm) -> T) -> Result<T> {
    let comm = builder.build()?;
    let ran = catch_unwind(AssertUnwindSafe(|| work(&comm)));
    ran.map_err(|panic| comm.endpoint().panicked(panic_message(&*panic)))
}

/// A panic outside of `work`.
fn lost(panic: &(dyn Any + Send)) -> CommError {
    CommError::NotStarted { why: panic_message(panic) }
}
