//! The functions that C and Fortran programs call: handles, what they are given, and searches.
//!
//! Each catches panics, checks what it can check, and returns a code. Their comments go into the header.
#![allow(unsafe_code)]

use crate::box_of::BoxOf;
use crate::given::{GivenColumn, GivenColumns, text};
use crate::handle::{HandleState, LEAVES, OCTS, ProgressFn, WarningFn};
use crate::message::{code, from_panic, refused, with_last};
use crate::turns::{OneAtATime, Whose, locked, together};
use inselberg::{Engine, EngineBuilder, Error, Geometry};
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Version of this header. It changes when a program must be compiled again.
pub const INSELBERG_ABI_VERSION: i32 = 2;

/// The call did what it should.
pub const INSELBERG_DONE: i32 = 0;
/// An argument or option is out of range, is missing, or differs among ranks.
pub const INSELBERG_INVALID_ARGUMENT: i32 = 1;
/// Cells overlap, lie outside the box, or are no octree.
pub const INSELBERG_INVALID_CELLS: i32 = 2;
/// A value is not finite, or negative where that is not allowed.
pub const INSELBERG_INVALID_VALUE: i32 = 3;
/// A file cannot be read.
pub const INSELBERG_READ: i32 = 4;
/// A file cannot be written.
pub const INSELBERG_WRITE: i32 = 5;
/// Memory or indices do not suffice.
pub const INSELBERG_OUT_OF_MEMORY: i32 = 6;
/// The progress function ended the call.
pub const INSELBERG_CANCELLED: i32 = 7;
/// Ranks waited too long for another one. The handle can only be freed.
pub const INSELBERG_TIMED_OUT: i32 = 8;
/// Ranks could not exchange messages, or made different calls.
pub const INSELBERG_COMMUNICATION: i32 = 9;
/// A fault of the library: please report it.
pub const INSELBERG_INTERNAL: i32 = 10;

/// A handle: threads, ranks, options, the mesh of the last cells and the last result. One per rank.
#[derive(Debug)]
pub struct EngineHandle(OneAtATime<HandleState>);

impl std::fmt::Debug for HandleState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandleState").finish_non_exhaustive()
    }
}

impl EngineHandle {
    /// What it keeps, for one call at a time.
    pub(crate) fn state(&self) -> &OneAtATime<HandleState> {
        &self.0
    }
}

/// Runs an entry: its code, also after a panic.
pub(crate) fn run(work: impl FnOnce() -> Result<(), Error>) -> i32 {
    code(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(from_panic(&*panic))))
}

/// Runs a local entry on a handle. It is refused while another call of the handle runs.
///
/// # Safety
/// The handle is NULL or valid.
pub(crate) unsafe fn enter(
    handle: *const EngineHandle,
    work: impl FnOnce(&mut HandleState) -> Result<(), Error>,
) -> i32 {
    // SAFETY: as the caller says.
    run(|| locked(unsafe { handle.as_ref() }.map(|handle| &handle.0), work))
}

/// Runs a collective entry on a handle, as [`enter`]. If it is refused, the other ranks hear of it at the
/// next one.
///
/// # Safety
/// The handle is NULL or valid.
pub(crate) unsafe fn enter_together(
    handle: *const EngineHandle,
    work: impl FnOnce(&mut HandleState) -> Result<(), Error>,
) -> i32 {
    // SAFETY: as the caller says.
    run(|| together(unsafe { handle.as_ref() }.map(|handle| &handle.0), work))
}

/// Takes a handle from its owner and sets the owner's pointer to NULL. Returns what the handle keeps, or
/// `None` without a handle and after a fault.
///
/// # Errors
/// While another call of the handle runs.
///
/// # Safety
/// `handle` is NULL or the address of a pointer, to nothing or to a handle that no other call uses.
pub(crate) unsafe fn taken<H, S>(
    handle: *mut *mut H,
    kept: impl Fn(&H) -> &OneAtATime<S>,
    own: impl FnOnce(H) -> OneAtATime<S>,
    whose: Whose,
) -> Result<Option<S>, Error> {
    // SAFETY: as the caller says.
    let Some(place) = (unsafe { handle.as_mut() }) else { return Ok(None) };
    // SAFETY: NULL or a handle, as the caller says.
    let Some(used) = (unsafe { place.as_ref() }) else { return Ok(None) };
    kept(used).check_idle(whose)?;
    // SAFETY: this library made it, no call uses it, and its only pointer is gone.
    let handle = unsafe { Box::from_raw(std::mem::replace(place, std::ptr::null_mut())) };
    Ok(own(*handle).into_state())
}

/// Reads a box.
///
/// # Errors
/// Its size is not that of this version, or the box is not valid.
///
/// # Safety
/// `of` is NULL or the address of a box.
pub(crate) unsafe fn geometry(of: *const BoxOf) -> Result<Geometry, Error> {
    // SAFETY: as the caller says. The size is read first: a shorter struct is not read beyond its end.
    unsafe {
        if of.is_null() || of.cast::<usize>().read_unaligned() != size_of::<BoxOf>() {
            return Err(refused("the size of the box is not sizeof(inselberg_box); expected that"));
        }
        of.read_unaligned().geometry()
    }
}

/// Builds a handle and stores its address. A rank that cannot take part says so to the others, which wait for
/// it.
///
/// # Safety
/// `handle` is NULL or the address of a pointer.
unsafe fn open(
    abi: i32,
    threads: i32,
    handle: *mut *mut EngineHandle,
    builder: impl FnOnce() -> Result<EngineBuilder, Error>,
) -> i32 {
    run(|| {
        // SAFETY: as the caller says.
        let is_welcome = check_version(abi).and_then(|()| unsafe { check_empty(handle, "handle") });
        let state = HandleState::new(builder()?, threads, is_welcome)?;
        let missed = state.missed_calls();
        // SAFETY: not null, so the caller's pointer is there.
        unsafe { handle.write(Box::into_raw(Box::new(EngineHandle(OneAtATime::new(state, missed))))) };
        Ok(())
    })
}

fn check_version(abi: i32) -> Result<(), Error> {
    match abi {
        INSELBERG_ABI_VERSION => Ok(()),
        _ => {
            let message =
                format!("the program has version {abi} of the header; expected {INSELBERG_ABI_VERSION}");
            Err(refused(message))
        }
    }
}

/// Checks that there is a pointer that a new handle goes to, and that it is NULL: what it holds would be
/// lost.
///
/// # Safety
/// `place` is NULL or the address of a pointer.
pub(crate) unsafe fn check_empty<H>(place: *const *mut H, what: &str) -> Result<(), Error> {
    // SAFETY: as the caller says.
    match unsafe { place.as_ref() } {
        None => Err(refused(format!("the address of the {what} is NULL; expected an address"))),
        Some(held) if !held.is_null() => {
            Err(refused(format!("the {what} is open already, or was never set to NULL; expected NULL")))
        }
        Some(_) => Ok(()),
    }
}

/// The version of the library, such as "0.2.0". Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn inselberg_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Copies the message of the last call of this thread that failed, and a zero byte, into a buffer of `size`
/// bytes; a message that is too long is cut. Returns the length of the whole message.
///
/// # Safety
/// `buffer` has `size` bytes, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_message(buffer: *mut c_char, size: usize) -> usize {
    with_last(|message| {
        if !buffer.is_null() && size > 0 {
            let n = message.len().min(size - 1);
            // SAFETY: the caller says that the buffer has `size` bytes; `n` and the zero byte fit.
            unsafe {
                buffer.cast::<u8>().copy_from_nonoverlapping(message.as_ptr(), n);
                buffer.add(n).write(0);
            }
        }
        message.len()
    })
}

/// Collective over the communicator: a new handle in the MPI of the program. Called by inselberg_open. The
/// communicator is duplicated. `threads` is 1 or more, or 0 for as many as there are processors that the
/// process may use, divided by the ranks on its host that may use them too. The pointer at `handle` is NULL
/// before; an open handle is refused, because it would be lost.
///
/// # Safety
/// `comm` is a communicator of Fortran, `handle` the address of a pointer. MPI runs until the handle is
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_open_abi(
    abi: i32,
    comm: i32,
    threads: i32,
    handle: *mut *mut EngineHandle,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { open(abi, threads, handle, || guest(comm)) }
}

#[cfg(feature = "mpi")]
fn guest(comm: i32) -> Result<EngineBuilder, Error> {
    // SAFETY: the caller of `inselberg_open_abi` says that this is a communicator, and that MPI runs.
    Ok(Engine::builder().guest_of(unsafe { inselberg::HostComm::from_fortran(comm) }))
}

#[cfg(not(feature = "mpi"))]
fn guest(_: i32) -> Result<EngineBuilder, Error> {
    Err(refused(
        "the library is built without MPI; expected a build with the feature mpi, or inselberg_open_serial",
    ))
}

/// A new handle for this process alone, as inselberg_open_abi. Called by inselberg_open_serial.
///
/// # Safety
/// `handle` is the address of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_open_serial_abi(
    abi: i32,
    threads: i32,
    handle: *mut *mut EngineHandle,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { open(abi, threads, handle, || Ok(Engine::builder())) }
}

/// Collective: frees a handle with all that it found, and sets the pointer to NULL. Does nothing with NULL.
/// After MPI_Finalize the communicator is not freed, and the code is INSELBERG_COMMUNICATION.
///
/// # Safety
/// `handle` is the address of a pointer to a handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_free(handle: *mut *mut EngineHandle) -> i32 {
    run(|| {
        // SAFETY: as the caller says.
        let state = unsafe { taken(handle, |handle| &handle.0, |handle| handle.0, Whose::AllRanks) }?;
        // After a fault the other ranks do not wait.
        state.map_or(Ok(()), HandleState::close)
    })
}

/// Sets a function that is called with `user` when a stage begins and now and then within it. It is called
/// from any thread, but by one at a time; the work done never decreases within a stage. Functions of two
/// handles may run at once. If it returns a number other than 0, the call ends on all ranks with
/// INSELBERG_CANCELLED. It must not use the handle. NULL: none.
///
/// # Safety
/// `handle` is a handle. The function can be called until another one is set or the handle is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_on_progress(
    handle: *const EngineHandle,
    function: ProgressFn,
    user: *mut c_void,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        enter(handle, |state| {
            state.set_progress(function, user);
            Ok(())
        })
    }
}

/// Sets a function that is called with each warning, one line of text, and `user`. An example of a warning:
/// leaves do not fill the box. Warnings come from the calling thread before a call returns, and are the same
/// on all ranks. The function must not use the handle. NULL: none.
///
/// # Safety
/// `handle` is a handle. The function can be called until another one is set or the handle is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_on_warning(
    handle: *const EngineHandle,
    function: WarningFn,
    user: *mut c_void,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        enter(handle, |state| {
            state.set_warning(function, user);
            Ok(())
        })
    }
}

/// Sets an option of the next calls, the same on all ranks. Keys and values are texts. The keys are those of
/// docs/parameters.md for phew, fof, mesh, graph, voids, tree and engine, such as density_threshold,
/// min_size, tracers or stall_timeout. Particle types are seven digits, as in "0,1,0,0,0,0,0"; "none" is no
/// value. A key that phew and fof share is set for both; "fof.softening" is set for one. A key that voids
/// share with others is set for them by "voids." only. PHEW needs a density_threshold. On an error nothing is
/// set.
///
/// # Safety
/// `handle` is a handle, `key` and `value` end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_set(
    handle: *const EngineHandle,
    key: *const c_char,
    value: *const c_char,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter(handle, |state| state.set_option(text(key)?, text(value)?)) }
}

/// Sets the box of the next calls, the same on all ranks: catalogues state its side, time, units and
/// cosmology. Cells that were set before stay, if level-0 cells and periodic axes are the same.
///
/// # Safety
/// `handle` is a handle, `of` the address of a box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_set_box(handle: *const EngineHandle, of: *const BoxOf) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        enter(handle, |state| {
            state.geometry = Some(geometry(of)?);
            Ok(())
        })
    }
}

/// Collective: the cells of this rank as octs, blocks of 2x2x2 cells. Columns, all needed:
///
///   level      level of the eight cells, 1 or more
///   position   three parts: position on the grid of the level above, from 0
///   split      mask: bit c is set where cell c is split into an oct of the next level
///
/// Cell c of an oct is at 2 * position + (c & 1, c >> 1 & 1, c >> 2 & 1). Values and labels of octs have
/// eight parts in the order of c. The octs of all ranks make up a whole octree, and none is given twice. The
/// cells are used until others are set.
///
/// # Safety
/// `handle` is a handle; there are `n` columns at `columns`, whose numbers are in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_set_octs(
    handle: *const EngineHandle,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.set_cells(GivenColumns::new(columns, n), OCTS, 8)) }
}

/// Collective: the cells of this rank as leaves, in any order. Columns, all needed:
///
///   level      level of the leaf
///   position   three parts: position on the grid of this level, from 0
///
/// Leaves that are not denser than the density threshold may be left out. Values and labels have one part.
///
/// # Safety
/// `handle` is a handle; there are `n` columns at `columns`, whose numbers are in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_set_leaves(
    handle: *const EngineHandle,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.set_cells(GivenColumns::new(columns, n), LEAVES, 1)) }
}

/// Collective: PHEW on the cells that were set. The mesh of these cells is kept for the next calls. Columns,
/// each one value per cell:
///
///   density        needed
///   mass_density   the mass density, if `density` is something else; masses come from it
///   velocity_x, velocity_y, velocity_z   all or none; clumps then have mean velocities
///
/// # Safety
/// `handle` is a handle; there are `n` columns at `columns`, whose numbers are in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_phew(
    handle: *const EngineHandle,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.phew(GivenColumns::new(columns, n))) }
}

/// Collective: friends-of-friends groups of particles. Columns:
///
///   position   three parts; needed. The box starts at 0; in a periodic box positions may be up to one side outside
///   id         integers from 0, none twice; else particles are numbered through all ranks
///   mass       else all are 1
///   velocity   three parts; groups then have mean velocities
///   attached   not 0: the particle does not link, but joins the group of the nearest particle that does
///
/// # Safety
/// `handle` is a handle; there are `n` columns at `columns`, whose numbers are in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_fof(
    handle: *const EngineHandle,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.fof(GivenColumns::new(columns, n))) }
}

/// Collective: copies the particles of this rank, for inselberg_find and as members of clumps of cells:
/// inselberg_phew then takes the options unbind, properties, with_members, with_particles and min_particles.
/// They are kept until others are set; no columns (n = 0) free them. Velocities and densities are kept in
/// single precision. Columns:
///
///   position   three parts; needed. The box of inselberg_set_box starts at 0 and is a cube
///   mass       needed by all searches but that for groups without properties
///   velocity   three parts, in units of length over time; needed for bound members
///   id         integers, none twice; else particles are numbered through all ranks
///   type       0 gas, 1 dark matter, 4 stars, 5 black holes; else all are dark matter
///   density    of gas, for the option given_density
///
/// # Safety
/// `handle` is a handle; there are `n` columns at `columns`, whose numbers are in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_set_particles(
    handle: *const EngineHandle,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.set_particles(GivenColumns::new(columns, n))) }
}

/// Collective: a search among the particles that were set. `what` is one of
///
///   "groups"   friends-of-friends groups, with the properties that the option properties names, and labels
///   "mesh"     clumps and haloes on the mesh that particles refine; options as m_refine and level_max
///   "graph"    clumps and haloes on the graph of nearest neighbours; the option neighbours
///   "voids"    voids, zones and their tree; thresholds by "voids.wall_threshold" and the like
///
/// # Safety
/// `handle` is a handle, `what` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_find(handle: *const EngineHandle, what: *const c_char) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.find(text(what))) }
}

/// Collective: the clumps of the last PHEW under the options that are set now, without its cells. The density
/// threshold, the rules and the kind of persistence must be the same.
///
/// # Safety
/// `handle` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_recut(handle: *const EngineHandle) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, HandleState::recut) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg::ErrorKind;

    #[test]
    fn codes_are_those_of_the_library() {
        for (code, kind) in [
            (INSELBERG_INVALID_ARGUMENT, ErrorKind::InvalidArgument),
            (INSELBERG_INVALID_CELLS, ErrorKind::InvalidCells),
            (INSELBERG_INVALID_VALUE, ErrorKind::InvalidValue),
            (INSELBERG_READ, ErrorKind::Read),
            (INSELBERG_WRITE, ErrorKind::Write),
            (INSELBERG_OUT_OF_MEMORY, ErrorKind::OutOfMemory),
            (INSELBERG_CANCELLED, ErrorKind::Cancelled),
            (INSELBERG_TIMED_OUT, ErrorKind::TimedOut),
            (INSELBERG_COMMUNICATION, ErrorKind::Communication),
            (INSELBERG_INTERNAL, ErrorKind::Internal),
        ] {
            assert_eq!(code, kind as i32);
        }
    }
}
