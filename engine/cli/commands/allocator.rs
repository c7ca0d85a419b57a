//! Ends the program when memory runs out: one line, exit code 2, and no partial results.
#![allow(unsafe_code)]

use super::{interrupt, memory};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::fmt::Write;
#[cfg(not(unix))]
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// An allocator that ends the program when memory runs out, unless the caller can handle it.
#[derive(Debug)]
pub struct OrEnd<A>(pub A);

// SAFETY: the inner allocator serves all memory, with the caller's guarantees.
unsafe impl<A: GlobalAlloc> GlobalAlloc for OrEnd<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        or_end(unsafe { self.0.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        or_end(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.dealloc(start, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        or_end(unsafe { self.0.realloc(start, layout, size) }, size)
    }
}

#[inline]
fn or_end(start: *mut u8, size: usize) -> *mut u8 {
    if start.is_null() && !inselberg_io::reserve::is_optional() {
        end(size);
    }
    start
}

thread_local! {
    /// Whether this thread ends the program.
    static ENDS: Cell<bool> = const { Cell::new(false) };
    /// The number of bytes that this thread is about to report.
    static MISSING: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Returns in one thread only, which reports the end of the program. Other threads wait here until the
/// program ends.
pub fn be_the_one_that_ends(code: i32) {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if ENDS.replace(true) {
        // Memory also ran out while hidden files were removed.
        exit(code);
    }
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

/// Reports that `size` more bytes are not available, and ends the program.
#[cold]
fn end(size: usize) -> ! {
    let limit = if MISSING.get().is_none() {
        be_the_one_that_ends(2);
        memory::give_up_reserve();
        MISSING.set(Some(size));
        memory::narrowest()
    } else {
        // Memory ran out again while the limits were read.
        None
    };
    let size = MISSING.take().unwrap_or(size);
    let mut line = FixedText { text: [0; 256], len: 0 };
    // Text beyond the buffer is left out.
    let _ = write!(
        line,
        "inselberg: error: out of memory: {} more are not available",
        memory::Bytes(size as u64)
    );
    if let Some(limit) = limit {
        let _ = write!(line, " ({limit})");
    }
    let _ = writeln!(line, "; expected more memory, ranks on more hosts or a smaller input");
    line.print();
    interrupt::wipe_soon();
    exit(2)
}

/// Text that needs no memory.
struct FixedText {
    text: [u8; 256],
    len: usize,
}

impl Write for FixedText {
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        let place = self.text.get_mut(self.len..self.len + more.len()).ok_or(std::fmt::Error)?;
        place.copy_from_slice(more.as_bytes());
        self.len += more.len();
        Ok(())
    }
}

impl FixedText {
    /// Prints the text without the lock of the standard library, whose holder may be waiting for memory.
    #[cfg(unix)]
    fn print(&self) {
        let _ = rustix::io::write(rustix::stdio::stderr(), &self.text[..self.len]);
    }

    #[cfg(not(unix))]
    fn print(&self) {
        let _ = std::io::stderr().write_all(&self.text[..self.len]);
    }
}

/// Ends the program without the clean-up of a regular end, which may need memory. A launcher ends the other
/// processes.
#[cfg(unix)]
pub fn exit(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

#[cfg(not(unix))]
pub fn exit(code: i32) -> ! {
    std::process::exit(code)
}
