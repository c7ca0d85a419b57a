//! The program's memory: large arrays on huge pages that stay with the process.
//!
//! Each page that is new to a process is a visit to the kernel, and on a virtual machine often one to its host, which
//! can cost twenty times what the page costs otherwise. Pages of 2 MiB make the visits few, and
//! pages of arrays that were given back serve the next ones, of whatever sizes: they are moved together to where
//! those are, without being copied. So a process asks for as many pages as it ever holds at a time, once.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod runs;

/// The system's allocator but for arrays of [`LARGE`] bytes or more, whose pages are kept. On systems other than Linux
/// these are served as all others.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Bytes from which an array is large.
pub const LARGE: usize = 8 << 20;

#[cfg(not(target_os = "linux"))]
#[allow(unsafe_code)]
// SAFETY: every call is the system allocator's own, with what the caller promised for it.
unsafe impl std::alloc::GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        unsafe { std::alloc::System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: as the caller promised.
        unsafe { std::alloc::System.dealloc(start, layout) }
    }
}
