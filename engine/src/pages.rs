//! Large arrays on huge pages, where the system offers them.
//!
//! Each page that is new to a process is a visit to the kernel. On pages of 4 KiB that takes a fifth of a run on 10^8
//! cells, on pages of 2 MiB hardly anything.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which asks for huge pages where it hands out [`LARGE`] arrays. Systems that have none
/// to give, or have them switched off, serve the same arrays as ever.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Bytes from which an array is large.
pub const LARGE: usize = 8 << 20;

/// Bytes of a huge page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

// SAFETY: every call is the system allocator's own, with what the caller promised for it; advice on pages
// changes neither what they hold nor who owns them.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promised.
        advised(unsafe { System.realloc(start, layout, size) }, size)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(start, layout) }
    }
}

/// The same array; the whole huge pages in it, if it is a large one, have been asked for.
#[inline]
fn advised(start: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !start.is_null() {
        advise(start, size);
    }
    start
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize) {
    let before = start.addr().next_multiple_of(PAGE) - start.addr();
    let len = (size - before) / PAGE * PAGE;
    let first = start.wrapping_add(before);
    // SAFETY: the pages lie within the array that was just handed out. A refusal leaves everything as it is.
    let _ = unsafe { rustix::mm::madvise(first.cast(), len, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}
