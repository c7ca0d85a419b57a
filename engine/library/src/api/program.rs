//! The engine of the command line, which owns its process.
//!
//! | | a host program | the command line |
//! |---|---|---|
//! | threads | of the engine | given, perhaps tied to processors |
//! | communicator | built by the engine | lent, so that the command can end all ranks |
//! | failure of one rank | the same error on all ranks, which go on | the own error on that rank; the command ends the others |
//! | panic | an error | passes through |
//! | stages | a hook | an observer that measures them |

use crate::api::engine::Engine;
use crate::api::session::ProcessOwner;
use crate::progress::Observer;
use inselberg_comm::Comm;
use inselberg_tasks::ThreadPool;
use std::sync::Arc;

impl Engine {
    /// An engine of a program that owns its process: on the threads of `pool`, of which the calling thread is
    /// one.
    #[doc(hidden)]
    pub fn of_program(comm: Comm, pool: ThreadPool, observer: Arc<dyn Observer + Send + Sync>) -> Self {
        Self::of(ProcessOwner::Program { pool, observer }, comm)
    }
}
