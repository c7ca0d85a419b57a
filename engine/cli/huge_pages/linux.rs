//! Pages that the kernel supplies and moves: through libc, because MPI libraries intercept its calls.
#![allow(unsafe_code)]

use super::runs::{MOST_RUNS, PageRun, PageRuns};
use super::{HugePages, LARGE};
use libc::{MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, MREMAP_FIXED, MREMAP_MAYMOVE};
use libc::{PROT_READ, PROT_WRITE, c_void, madvise, mmap, mremap, munmap};
use parking_lot::{Mutex, const_mutex};
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ptr::{copy_nonoverlapping, null_mut, with_exposed_provenance_mut};

/// Bytes of a huge page.
const PAGE: usize = 2 << 20;

/// All runs of the process. Its own lists are never large, so that the allocator is not called while it is
/// locked.
static RUNS: Mutex<PageRuns> = const_mutex(PageRuns::new(MOST_RUNS));

// SAFETY: the system allocator serves arrays that are not large, with the caller's guarantees. A large array
// consists of whole pages in a range of addresses that was reserved for it.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return array(layout.size()).map_or(null_mut(), |(start, _)| at(start));
        }
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            let Some((start, used)) = array(layout.size()) else { return null_mut() };
            // SAFETY: these bytes belong to the new array; those after them are new pages and therefore 0.
            unsafe { at::<u8>(start).write_bytes(0, used.min(layout.size())) };
            return at(start);
        }
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_large(layout) {
            let mut runs = RUNS.lock();
            let given = runs.of_array(start.expose_provenance(), whole_pages(layout.size()));
            return given.into_iter().for_each(|run| give_back(&mut runs, run));
        }
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(new) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        match (is_large(layout), is_large(new)) {
            // SAFETY: the caller guarantees it.
            (false, false) => unsafe { System.realloc(start, layout, size) },
            (true, true) => resized(start.expose_provenance(), layout, size).map_or(null_mut(), at),
            // SAFETY: the new array is another one, both have these bytes, and the caller owns the old one.
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

fn whole_pages(size: usize) -> usize {
    size.next_multiple_of(PAGE)
}

fn at<T>(start: usize) -> *mut T {
    with_exposed_provenance_mut(start)
}

/// A new array: its start, and how many of its bytes may have been used before.
fn array(size: usize) -> Option<(usize, usize)> {
    let room = reserve(whole_pages(size))?;
    let mut runs = RUNS.lock();
    let mut free = Vec::new();
    let mut missing = room.len;
    while let Some(run) = (missing > 0).then(|| runs.take(missing)).flatten() {
        missing -= run.len;
        free.push(run);
    }
    match place(&mut runs, &free, room) {
        Ok(()) => Some((room.start, room.len - missing)),
        Err(pieces) => {
            pieces.into_iter().for_each(|run| give_back(&mut runs, run));
            let room = map_or_free(room.len, &mut runs)?;
            runs.hand_out(room);
            Some((room.start, 0))
        }
    }
}

/// The array at `start` with another size: its start. Nothing is copied unless the system refuses to move
/// pages. `None` leaves it as it is.
fn resized(start: usize, layout: Layout, new: usize) -> Option<usize> {
    let (old, len) = (whole_pages(layout.size()), whole_pages(new));
    if len == old {
        return Some(start);
    }
    let room = reserve(len)?;
    let mut runs = RUNS.lock();
    let (mut kept, mut spare, mut left) = (Vec::new(), Vec::new(), len);
    for run in runs.of_array(start, old) {
        let (keep, rest) = run.split(left);
        left -= keep.len;
        kept.extend((keep.len > 0).then_some(keep));
        spare.extend(rest);
    }
    while let Some(run) = (left > 0).then(|| runs.take(left)).flatten() {
        left -= run.len;
        kept.push(run);
    }
    let placed = place(&mut runs, &kept, room);
    spare.into_iter().for_each(|run| give_back(&mut runs, run));
    match placed {
        Ok(()) => Some(room.start),
        Err(pieces) => {
            Some(copied(&mut runs, pieces, old.min(len), len).unwrap_or_else(|| handle_alloc_error(layout)))
        }
    }
}

/// Brings the pages of `pieces` to the start of `room`, one after the other, and hands out the array that
/// they make with what is left of the room. If the system refuses to move some, as it does with too many
/// mappings, no array is made; the error has the places of the pages then.
///
/// The state of the place of a refused move is unknown, because the system may have unmapped it for another
/// thread. So that place is not touched again.
fn place(runs: &mut PageRuns, pieces: &[PageRun], room: PageRun) -> Result<(), Vec<PageRun>> {
    let mut rest = Some(room);
    let mut placed = Vec::with_capacity(pieces.len());
    for (i, piece) in pieces.iter().enumerate() {
        let Some(here) = rest else { break };
        let (target, after) = here.split(piece.len);
        if !carry(*piece, target.start) {
            after.into_iter().for_each(unmap);
            placed.extend_from_slice(&pieces[i..]);
            return Err(placed);
        }
        placed.push(piece.at(target.start));
        rest = after;
    }
    placed.into_iter().chain(rest).for_each(|run| runs.hand_out(run));
    Ok(())
}

/// Pages that could not be moved as an array of `len` bytes in new pages, of which the first `used` are
/// copied. `None`: there are no new ones either, and the array is in pieces.
fn copied(runs: &mut PageRuns, pieces: Vec<PageRun>, used: usize, len: usize) -> Option<usize> {
    let room = map_or_free(len, runs)?;
    let mut done = 0;
    for piece in pieces {
        let n = piece.len.min(used - done);
        // SAFETY: no one else uses the pages of the piece or of the room, which has `len` bytes, at least
        // `used`.
        unsafe { copy_nonoverlapping(at::<u8>(piece.start), at::<u8>(room.start + done), n) };
        done += n;
        unmap(piece);
    }
    runs.hand_out(room);
    Some(room.start)
}

/// Frees pages, or returns them to the system if there are too many runs already.
fn give_back(runs: &mut PageRuns, run: PageRun) {
    runs.give_back(run).into_iter().for_each(unmap);
}

/// Moves a run within the table of pages, unless the system refuses. Its new place must not be in use.
fn carry(run: PageRun, to: usize) -> bool {
    let flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    // SAFETY: only the array that is being made has the pages of the run, and its room is reserved.
    unsafe { mremap(at::<c_void>(run.start), run.len, run.len, flags, at::<c_void>(to)) != MAP_FAILED }
}

/// Returns pages to the system; those that it does not take stay unused.
fn unmap(run: PageRun) {
    // SAFETY: no array has these pages.
    unsafe { munmap(at(run.start), run.len) };
}

/// New addresses for `len` bytes, whole pages, which the system supplies when they are first touched. If
/// there are no more, free pages are returned to the system.
fn reserve(len: usize) -> Option<PageRun> {
    map(len).or_else(|| map_or_free(len, &mut RUNS.lock()))
}

fn map_or_free(len: usize, runs: &mut PageRuns) -> Option<PageRun> {
    map(len).or_else(|| {
        runs.take_all().for_each(unmap);
        map(len)
    })
}

fn map(len: usize) -> Option<PageRun> {
    // SAFETY: the kernel picks unused addresses, and those that are unmapped again were never part of an
    // array.
    unsafe {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS;
        let first = mmap(null_mut(), len.checked_add(PAGE)?, PROT_READ | PROT_WRITE, flags, -1, 0);
        if first == MAP_FAILED {
            return None;
        }
        let first = first.expose_provenance();
        let start = first.next_multiple_of(PAGE);
        for (spare, n) in [(first, start - first), (start + len, first + PAGE - start)] {
            if n > 0 {
                munmap(at(spare), n);
            }
        }
        // A refusal leaves small pages.
        madvise(at(start), len, MADV_HUGEPAGE);
        Some(PageRun::new(start, len))
    }
}
