//! The functions for merger trees that C and Fortran programs call, as those of [`abi`](crate::abi).
#![allow(unsafe_code)]

use crate::abi::{EngineHandle, check_empty, enter_together, geometry, run, taken};
use crate::box_of::BoxOf;
use crate::given::{GivenColumn, GivenColumns, text};
use crate::handle::HandleState;
use crate::message::refused;
use crate::tree::TreeState;
use crate::turns::{OneAtATime, Whose, locked, together};
use inselberg::Error;
use std::ffi::c_char;

/// A merger tree that grows output by output, and keeps tracers from call to call. One per rank. Rank 0 keeps
/// the history, all ranks 16 bytes per dark matter or star member of the last output.
#[derive(Debug)]
pub struct TreeHandle(OneAtATime<TreeState>);

impl std::fmt::Debug for TreeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeState").finish_non_exhaustive()
    }
}

/// Runs a collective entry on a tree.
///
/// # Safety
/// The tree is NULL or valid.
unsafe fn enter_tree(tree: *const TreeHandle, work: impl FnOnce(&mut TreeState) -> Result<(), Error>) -> i32 {
    // SAFETY: as the caller says.
    run(|| together(unsafe { tree.as_ref() }.map(|tree| &tree.0), work))
}

/// Collective: an empty merger tree, with the options tree_gap, tree_tracers and tree_orphans as they are set
/// now. The pointer at `tree` is NULL before. Several trees of a handle may grow side by side.
///
/// # Safety
/// `handle` is a handle, `tree` the address of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_tree_begin(
    handle: *const EngineHandle,
    tree: *mut *mut TreeHandle,
) -> i32 {
    let begin = |state: &mut HandleState| {
        // SAFETY: as the caller says.
        let begun = TreeState(state.begin_tree(unsafe { check_empty(tree, "tree") })?);
        let kept = OneAtATime::new(begun, state.missed_calls());
        // SAFETY: not null, so the caller's pointer is there.
        unsafe { tree.write(Box::into_raw(Box::new(TreeHandle(kept)))) };
        Ok(())
    };
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, begin) }
}

/// Collective: adds an output to a tree, whose objects the program has found itself. It is later than the
/// outputs so far, by its `number` (0 or more) and by time and scale factor of the box. All ranks give the
/// same number and box. Each object is on one rank, with all its members. Columns per object:
///
///   id             identifier, below 2^40; needed. Catalogues of clumps and groups have such
///   n_members      number of members; needed
///   first_member   place of the first member among the members of this rank, from 0; else members are in the
///   order of the objects
///   parent         the object that it is in, or its own identifier; else no object is in another
///   mass           else all are 0
///   position       three parts; else all are 0
///   velocity       three parts; else all are 0
///
/// and per member, those of an object with the most bound first:
///
///   member         identity of a particle; needed
///   member_type    0 gas, 1 dark matter, 4 stars, 5 other; else all are dark matter
///
/// After an error the tree is as before.
///
/// # Safety
/// `tree` is a tree, `of` the address of a box; there are `n` columns at `columns`, whose numbers are in
/// memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_tree_add(
    tree: *const TreeHandle,
    number: i64,
    of: *const BoxOf,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        enter_tree(tree, |state| {
            let counted = u64::try_from(number);
            let counted = counted.map_err(|_| refused(format!("output {number}; expected 0 or more")));
            state.add(counted, geometry(of), GivenColumns::new(columns, n))
        })
    }
}

/// Collective: adds the last result of a handle to a tree: clumps that were unbound, or groups with the
/// property bound, both with the option with_members. The output is later than those so far, by its `number`
/// (0 or more) and by time and scale factor of the box. After an error the tree is as before.
///
/// # Safety
/// `tree` is a tree, `handle` a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_tree_add_found(
    tree: *const TreeHandle,
    handle: *const EngineHandle,
    number: i64,
) -> i32 {
    let counted =
        || u64::try_from(number).map_err(|_| refused(format!("output {number}; expected 0 or more")));
    // SAFETY: as the caller says.
    unsafe {
        enter_tree(tree, |state| {
            let mut added = None;
            let of_result = |engine: &mut HandleState| {
                added = Some(state.add_found(counted(), engine.views().map(|views| &views.found)));
                Ok(())
            };
            // The other ranks wait, also where this one has no handle or a busy one.
            match locked(handle.as_ref().map(|handle| handle.state()), of_result) {
                Err(refused) if added.is_none() => state.add_found(counted(), Err(refused)),
                _ => added.unwrap_or(Ok(())),
            }
        })
    }
}

/// Collective: adds an output from a file that inselberg_write or a command of Inselberg wrote, as after a
/// restart: clumps that were unbound, or groups with the property bound, both with the option with_members. It
/// is later than the outputs so far. All ranks name the same file. After an error the tree is as before.
///
/// # Safety
/// `tree` is a tree, `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_tree_add_file(tree: *const TreeHandle, path: *const c_char) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_tree(tree, |state| state.add_file(text(path))) }
}

/// The number of outputs of a tree so far.
///
/// # Safety
/// `tree` is a tree, `n` the address of a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_tree_outputs(tree: *const TreeHandle, n: *mut i64) -> i32 {
    // SAFETY: as the caller says.
    run(|| unsafe {
        locked(tree.as_ref().map(|tree| &tree.0), |state| {
            if n.is_null() {
                return Err(refused("the address of the number is NULL; expected an address"));
            }
            n.write_unaligned(state.0.n_outputs() as i64);
            Ok(())
        })
    })
}

/// Collective: writes the tree so far to a file, whole or not at all, in the tables of inselberg tree. Its
/// ending chooses the format, as in inselberg_write. More outputs may follow.
///
/// # Safety
/// `tree` is a tree, `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_tree_write(tree: *const TreeHandle, path: *const c_char) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_tree(tree, |state| state.write(text(path))) }
}

/// Frees a tree, and sets the pointer to NULL. Does nothing with NULL. Before or after inselberg_free.
///
/// # Safety
/// `tree` is the address of a pointer to a tree that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_tree_free(tree: *mut *mut TreeHandle) -> i32 {
    run(|| {
        // SAFETY: as the caller says.
        unsafe { taken(tree, |tree| &tree.0, |tree| tree.0, Whose::ThisRank) }.map(|_| ())
    })
}
