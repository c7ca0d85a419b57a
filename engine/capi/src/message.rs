//! What does a call return, and where is its message?

use inselberg::{Error, ErrorKind};
use std::any::Any;
use std::cell::RefCell;

thread_local! {
    /// The message of the last call of this thread that failed.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The code of a call: 0, or the number of the kind of its error. The message is kept for the calling thread.
pub fn code(outcome: Result<(), Error>) -> i32 {
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            // A thread that ends has no messages any more.
            let _ = LAST.try_with(|last| *last.borrow_mut() = error.to_string());
            error.kind() as i32
        }
    }
}

/// Reads the message of the last call of this thread that failed.
pub fn with_last<T>(read: impl FnOnce(&str) -> T) -> T {
    LAST.with(|last| read(&last.borrow()))
}

/// An argument that is out of range.
pub fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

/// A panic in this crate. The engine reports its own.
pub fn from_panic(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("a panic without a message");
    Error::new(ErrorKind::Internal, format!("a fault of the library, please report it: {text}"))
}
