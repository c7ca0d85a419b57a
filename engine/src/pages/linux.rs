//! Pages from the kernel, and moved by it: through libc, where MPI libraries watch which memory is moved.
#![allow(unsafe_code)]

use super::runs::{Run, Runs};
use super::{HugePages, LARGE};
use libc::{MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_FAILED, MAP_FIXED, MAP_PRIVATE, MREMAP_FIXED, MREMAP_MAYMOVE};
use libc::{PROT_READ, PROT_WRITE, c_void, madvise, mmap, mremap, munmap};
use parking_lot::{Mutex, const_mutex};
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ptr::{copy_nonoverlapping, null_mut, with_exposed_provenance_mut};

/// Bytes of a huge page.
const PAGE: usize = 2 << 20;

/// All runs of the process. Lists of its own are never large, so that it is not asked for memory while it is held.
static RUNS: Mutex<Runs> = const_mutex(Runs::new());

// SAFETY: an array that is not large is the system allocator's, with what the caller promised for it. A large one is
// made of whole pages in a range of addresses that was reserved for it alone.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return array(layout).map_or(null_mut(), |(start, _)| at(start));
        }
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            let Some((start, used)) = array(layout) else { return null_mut() };
            // SAFETY: these bytes are of the array that was just made; those after them are new and therefore 0.
            unsafe { at::<u8>(start).write_bytes(0, used.min(layout.size())) };
            return at(start);
        }
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_large(layout) {
            let mut runs = RUNS.lock();
            let given = runs.of_array(pages(start, layout.size()));
            return given.into_iter().for_each(|run| runs.give_back(run));
        }
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let new = Layout::from_size_align(size, layout.align()).unwrap_or(layout);
        match (is_large(layout), is_large(new)) {
            // SAFETY: as the caller promised.
            (false, false) => unsafe { System.realloc(start, layout, size) },
            (true, true) => resized(pages(start, layout.size()), new).map_or(null_mut(), at),
            // SAFETY: the new array is another one, both have these bytes, and the old one is the caller's to give back.
            _ => unsafe {
                let to = self.alloc(new);
                if !to.is_null() {
                    copy_nonoverlapping(start, to, size.min(layout.size()));
                    self.dealloc(start, layout);
                }
                to
            },
        }
    }
}

fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE
}

fn at<T>(start: usize) -> *mut T {
    with_exposed_provenance_mut(start)
}

/// The pages of an array of so many bytes.
fn pages(start: *mut u8, size: usize) -> Run {
    Run { start: start.expose_provenance(), len: size.next_multiple_of(PAGE) }
}

/// A new array: its start, and how many of its bytes may have been used before.
fn array(layout: Layout) -> Option<(usize, usize)> {
    let room = reserve(layout.size().next_multiple_of(PAGE))?;
    Some((room.start, fill(&mut RUNS.lock(), room, layout)))
}

/// The array that has these pages with another size: its start. Nothing is copied.
fn resized(array: Run, new: Layout) -> Option<usize> {
    let len = new.size().next_multiple_of(PAGE);
    if len == array.len {
        return Some(array.start);
    }
    let mut room = reserve(len)?;
    let start = room.start;
    let mut runs = RUNS.lock();
    for run in runs.of_array(array) {
        let (kept, spare) = run.split(room.len);
        spare.into_iter().for_each(|spare| runs.give_back(spare));
        if kept.len > 0 {
            room = place(&mut runs, kept, room, new);
        }
    }
    fill(&mut runs, room, new);
    Some(start)
}

/// Gives `room` the pages that are free, and where they do not suffice leaves it the new ones that it has.
/// How many bytes of it are not new.
fn fill(runs: &mut Runs, mut room: Run, layout: Layout) -> usize {
    let len = room.len;
    while let Some(run) = (room.len > 0).then(|| runs.take(room.len)).flatten() {
        room = place(runs, run, room, layout);
    }
    if room.len > 0 {
        runs.hand_out(room);
    }
    len - room.len
}

/// Brings the pages of `run` to the start of `room`: what is left of it.
fn place(runs: &mut Runs, run: Run, room: Run, layout: Layout) -> Run {
    carry(run, room.start, layout);
    runs.hand_out(Run { start: room.start, len: run.len });
    Run { start: room.start + run.len, len: room.len - run.len }
}

/// Moves a run within the table of pages. Where the kernel refuses, as it does beyond so many mappings, it is copied.
fn carry(run: Run, to: usize, layout: Layout) {
    let (from, to, len) = (at::<c_void>(run.start), at::<c_void>(to), run.len);
    // SAFETY: no array has the pages of the run but the one that is being made, whose range is reserved.
    if unsafe { mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) } != MAP_FAILED {
        return;
    }
    // SAFETY: as above; a refused move may have left the range empty, and a second mapping is as new as the first.
    unsafe {
        if map(to, len, MAP_FIXED).is_none() {
            handle_alloc_error(layout);
        }
        copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), len);
        // A run that cannot be given back stays unused.
        munmap(from, len);
    }
}

/// Maps new pages.
///
/// # Safety
/// With `MAP_FIXED` nothing may be in use at these addresses.
unsafe fn map(at: *mut c_void, len: usize, flags: i32) -> Option<*mut c_void> {
    // SAFETY: as the caller promises.
    let found = unsafe { mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0) };
    (found != MAP_FAILED).then_some(found)
}

/// New addresses for so many bytes, whole pages, with pages that come when they are first touched.
fn reserve(len: usize) -> Option<Run> {
    // SAFETY: the kernel picks addresses that nobody has, and what is unmapped of them was never handed out.
    unsafe {
        let first = map(null_mut(), len + PAGE, 0)?.expose_provenance();
        let start = first.next_multiple_of(PAGE);
        for spare in
            [Run { start: first, len: start - first }, Run { start: start + len, len: first + PAGE - start }]
        {
            if spare.len > 0 {
                munmap(at(spare.start), spare.len);
            }
        }
        // A refusal leaves small pages.
        madvise(at(start), len, MADV_HUGEPAGE);
        Some(Run { start, len })
    }
}
