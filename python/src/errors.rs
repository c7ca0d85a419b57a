//! Errors of the library as Python exceptions: a class per kind, with the same message.
//!
//! The classes are Python code, in `inselberg/_errors.py`.

use inselberg::{Error, ErrorKind};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// `inselberg._errors`.
static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The value of a call, or its exception.
pub fn raised<T>(py: Python<'_>, result: Option<Result<T, Error>>) -> PyResult<T> {
    match result {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(exception(py, class_of(error.kind()), &error.to_string())),
        None => Err(exception(py, "InternalError", "a fault of the library, please report it: no result")),
    }
}

/// For arguments that do not reach the library.
pub fn invalid_argument(message: &str) -> PyErr {
    Python::attach(|py| exception(py, "InvalidArgumentError", message))
}

/// For calls in a forked child.
pub fn forked() -> PyErr {
    let message = "a forked child cannot use the threads of its parent; expected calls in the parent, or a process of \
                   multiprocessing's start method \"spawn\" or \"forkserver\"";
    Python::attach(|py| exception(py, "ForkedError", message))
}

/// The classes of the kinds.
const CLASSES: [(ErrorKind, &str); 10] = [
    (ErrorKind::InvalidArgument, "InvalidArgumentError"),
    (ErrorKind::InvalidCells, "InvalidCellsError"),
    (ErrorKind::InvalidValue, "InvalidValueError"),
    (ErrorKind::Read, "ReadError"),
    (ErrorKind::Write, "WriteError"),
    (ErrorKind::OutOfMemory, "OutOfMemoryError"),
    (ErrorKind::Cancelled, "CancelledError"),
    (ErrorKind::TimedOut, "TimedOutError"),
    (ErrorKind::Communication, "CommunicationError"),
    (ErrorKind::Internal, "InternalError"),
];

/// An exception of this rank as a failure that is sent to the other ranks. An interrupt cancels their call.
pub fn failure(py: Python<'_>, error: &PyErr) -> Error {
    let class = error.get_type(py).name().map_or_else(|_| "an exception".into(), |name| name.to_string());
    let text = error.value(py).to_string();
    let line = text.lines().next().unwrap_or("without a message");
    match CLASSES.into_iter().find(|(_, known)| *known == class) {
        Some((kind, _)) => Error::new(kind, line),
        None if error.is_instance_of::<PyException>(py) => {
            Error::new(ErrorKind::InvalidArgument, format!("{class}: {line}"))
        }
        None => Error::new(ErrorKind::Cancelled, class),
    }
}

fn class_of(kind: ErrorKind) -> &'static str {
    let found = CLASSES.into_iter().find(|(known, _)| *known == kind);
    found.map_or("InselbergError", |(_, class)| class)
}

fn exception(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let module = MODULE.get_or_try_init(py, || py.import("inselberg._errors").map(Bound::unbind));
    let made = module.and_then(|module| module.bind(py).getattr(class)?.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}
