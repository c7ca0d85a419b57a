//! The program's memory: large arrays on huge pages that stay with the process.
//!
//! Each page that is new to a process is a call of the kernel, and on a virtual machine often one of its
//! host, which can cost twenty times more. Pages of 2 MiB make these calls rare. Pages of freed arrays serve
//! the next arrays of any size: they are remapped to their addresses, without a copy. So a process requests
//! only the pages that it holds at its peak, once.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod runs;

/// The system's allocator, except for arrays of [`LARGE`] bytes or more, whose pages are kept. On systems
/// other than Linux, it serves all arrays.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Bytes from which an array is large.
pub const LARGE: usize = 8 << 20;

#[cfg(not(target_os = "linux"))]
#[allow(unsafe_code)]
// SAFETY: every call goes to the system allocator, with the caller's guarantees.
unsafe impl std::alloc::GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        unsafe { std::alloc::System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller guarantees it.
        unsafe { std::alloc::System.dealloc(start, layout) }
    }
}
