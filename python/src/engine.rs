//! The engine: what calls and results share.

use crate::call::{Calls, check_process};
use crate::errors;
use crate::options::{self, GivenTexts};
use crate::ranks;
use crate::requests::NativeRequest;
use inselberg::{Engine, Error, ErrorKind, TimeLimits};
use parking_lot::Mutex;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::sync::Arc;

/// An engine and its calls. Results keep it, so that they can be written, gathered and cut again.
pub struct SharedEngine {
    /// `None` once it is closed.
    engine: Mutex<Option<Engine>>,
    calls: Arc<Calls>,
}

impl SharedEngine {
    /// Makes a call. Over ranks collective: it ends with a value on all ranks, or with an exception on all.
    ///
    /// Raises what a signal handler raises, and the exception of an error.
    pub fn run<T: Send + 'static>(
        self: &Arc<Self>,
        py: Python<'_>,
        report: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&mut Engine) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let shared = Arc::clone(self);
        self.calls.run(py, report, move |call| {
            let mut engine = shared.engine.lock();
            let engine = engine.as_mut().ok_or_else(closed)?;
            let is_over_ranks = shared.calls.is_over_ranks();
            let made = work(engine).and_then(|value| {
                if is_over_ranks {
                    engine.agree_beside("end of a call", || call.decide())?;
                }
                Ok(value)
            });
            made.map_err(|error| match error.kind() {
                // The exception of the rank that was interrupted is another one.
                ErrorKind::Cancelled if is_over_ranks => Error::new(
                    ErrorKind::Cancelled,
                    "another rank ended the call: by an interrupt, or an error in its progress function",
                ),
                _ => error,
            })
        })
    }

    /// As [`Self::run`], with what this rank has prepared for it. If that raised an exception, all ranks
    /// raise one. An interrupt is raised by this rank alone.
    fn agreed<M: Send + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        py: Python<'_>,
        report: Option<&Bound<'_, PyAny>>,
        made: PyResult<M>,
        work: impl FnOnce(&mut Engine, M) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let (made, own) = match made {
            Err(error) if !self.calls.is_over_ranks() => return Err(error),
            Err(error) => (Err(errors::failure(py, &error)), Some(error)),
            Ok(made) => (Ok(made), None),
        };
        let result = self.run(py, report, move |engine| {
            let made = engine.agree_beside("begin of a call", || made)?;
            work(engine, made)
        });
        result.map_err(|error| match own {
            None => error,
            Some(own) if own.is_instance_of::<PyException>(py) => {
                error.set_cause(py, Some(own));
                error
            }
            Some(interrupt) => interrupt,
        })
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the engine is closed; expected an open one")
}

/// An engine: threads, ranks, and the mesh of the last cells.
#[pyclass(frozen, name = "Engine", module = "inselberg._native")]
pub struct NativeEngine(Arc<SharedEngine>);

#[pymethods]
impl NativeEngine {
    /// Over ranks collective: `comm` is the Fortran handle of a communicator. `is_multiple`: MPI takes calls
    /// from several threads at once. `limits`: how long ranks wait.
    #[new]
    #[pyo3(signature = (threads=None, comm=None, is_multiple=false, limits=GivenTexts::new()))]
    fn new(
        py: Python<'_>,
        threads: Option<usize>,
        comm: Option<i32>,
        is_multiple: bool,
        limits: GivenTexts,
    ) -> PyResult<Self> {
        check_process()?;
        let limits = options::params::<TimeLimits>(&limits);
        let calls = Arc::new(match comm {
            Some(_) => Calls::over_ranks(is_multiple),
            None => Calls::default(),
        });
        let heard = Arc::clone(&calls);
        let build = || {
            let builder = comm.map_or_else(|| Ok(Engine::builder()), ranks::guest_of)?;
            let builder = threads.into_iter().fold(builder, inselberg::EngineBuilder::threads);
            let (limits, is_ready) = limits.map_or_else(|e| (TimeLimits::default(), Err(e)), |l| (l, Ok(())));
            let builder = builder.time_limits(limits).only_if(is_ready);
            builder.hook(move |progress| heard.hear(progress)).build()
        };
        let engine = errors::raised(py, Some(py.detach(build)))?;
        Ok(Self(Arc::new(SharedEngine { engine: Mutex::new(Some(engine)), calls })))
    }

    /// Over ranks collective: runs the request that `make` returns. Signals during both interrupt the call.
    #[pyo3(signature = (make, report=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        make: &Bound<'py, PyAny>,
        report: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = make.call0().and_then(|request| request.cast::<NativeRequest>()?.get().take());
        let found = self.0.agreed(py, report, made, |engine, call| call(engine))?;
        found.into_python(py, &self.0)
    }

    /// Over ranks collective: what `make` returns. If it raises an exception on a rank, all ranks raise it.
    fn agree<'py>(&self, py: Python<'py>, make: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let made = make.call0();
        let result = made.as_ref().map(|_| ()).map_err(|error| error.clone_ref(py));
        self.0.agreed(py, None, result, |_, ()| Ok(()))?;
        made
    }

    /// Over ranks collective: gives the communicator back. Later calls are refused.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let shared = Arc::clone(&self.0);
        // Not cancelled half-way, so that all ranks close it.
        let closed = py.detach(move || shared.engine.lock().take().map(Engine::close));
        closed.map_or(Ok(()), |result| errors::raised(py, Some(result)))
    }
}
