//! The functions of results: labels, tables, sums and files.
//!
//! As those of [`abi`](crate::abi).
#![allow(unsafe_code)]

use crate::abi::{EngineHandle, enter, enter_together};
use crate::given::{GivenColumn, GivenColumns, OutputColumn, text};
use crate::handle::{HandleState, INSELBERG_PEAK_LABELS};
use crate::message::refused;
use crate::views::{ColumnView, TableView};
use inselberg::Error;
use std::ffi::c_char;

/// The labels of the last result, in the order of the cells or particles of this rank. 0: in no clump, halo
/// or group. `which` is INSELBERG_CLUMP_LABELS, ... Several outputs are filled one after the other. Collective
/// for INSELBERG_PEAK_LABELS.
///
/// # Safety
/// `handle` is a handle; there are `n` outputs at `outputs`, whose items are in memory that nobody else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_labels(
    handle: *const EngineHandle,
    which: i32,
    outputs: *const OutputColumn,
    n: i64,
) -> i32 {
    if which == INSELBERG_PEAK_LABELS {
        // SAFETY: as the caller says.
        return unsafe { enter_together(handle, |state| write_peak_labels(state, outputs, n)) };
    }
    // SAFETY: as the caller says.
    unsafe { enter(handle, |state| write_labels(state, which, outputs, n)) }
}

/// # Safety
/// As [`inselberg_labels`].
unsafe fn write_peak_labels(
    state: &mut HandleState,
    outputs: *const OutputColumn,
    n: i64,
) -> Result<(), Error> {
    let (labels, n_parts) = state.peak_labels()?;
    // SAFETY: as the caller says.
    unsafe { put_labels(labels.into_iter(), n_parts, outputs, n) }
}

/// # Safety
/// As [`inselberg_labels`].
unsafe fn write_labels(
    state: &HandleState,
    which: i32,
    outputs: *const OutputColumn,
    n: i64,
) -> Result<(), Error> {
    let (labels, n_parts) = state.labels(which)?;
    // SAFETY: as the caller says.
    unsafe { put_labels(labels, n_parts, outputs, n) }
}

/// # Safety
/// As [`inselberg_labels`].
unsafe fn put_labels(
    mut labels: impl ExactSizeIterator<Item = u64>,
    n_parts: usize,
    outputs: *const OutputColumn,
    n: i64,
) -> Result<(), Error> {
    if outputs.is_null() || n < 1 {
        return Err(refused(format!("{n} outputs at {outputs:?}; expected 1 or more")));
    }
    // SAFETY: the caller says that there are `n` columns.
    let outputs: Vec<OutputColumn> =
        (0..n as usize).map(|i| unsafe { outputs.add(i).read_unaligned() }).collect();
    let items = outputs.iter().map(OutputColumn::n_items).collect::<Result<Vec<_>, _>>()?;
    let wanted = items.iter().try_fold(0_usize, |sum, items| sum.checked_add(*items));
    if wanted.and_then(|items| items.checked_mul(n_parts)) != Some(labels.len()) {
        let message = format!("outputs of {items:?} items; expected {} in all", labels.len() / n_parts);
        return Err(refused(message));
    }
    for (output, items) in outputs.iter().zip(items) {
        // SAFETY: as the caller says.
        unsafe { output.write(n_parts, labels.by_ref().take(items * n_parts)) }?;
    }
    Ok(())
}

/// Table `i` of the last result, from 0; its name is NULL where there is none. Rows continue from rank to
/// rank.
///
/// # Safety
/// `handle` is a handle, `view` the address of a view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_table(handle: *const EngineHandle, i: i64, view: *mut TableView) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        enter(handle, |state| {
            let found = state.views()?.table(index(i)?);
            put(view, found)
        })
    }
}

/// Column `i` of the table of this name, from 0; its name is NULL where there is none. The view holds until
/// the next call that finds something, and until the handle is freed.
///
/// # Safety
/// `handle` is a handle, `table` ends with a zero byte, `view` is the address of a view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_table_column(
    handle: *const EngineHandle,
    table: *const c_char,
    i: i64,
    view: *mut ColumnView,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe {
        enter(handle, |state| {
            let found = state.views()?.column(text(table)?, index(i)?);
            put(view, found)
        })
    }
}

/// Collective: from now until something else is found, the table shows other rows on this rank: those with
/// the identifiers in the column `id`, in this order. Each rank picks what it needs, or nothing; several may
/// pick the same rows. An identifier that the table does not list is left out. inselberg_write is not
/// concerned. Columns:
///
///   id   integers; needed
///
/// # Safety
/// `handle` is a handle, `table` ends with a zero byte; there are `n` columns at `columns`, as [`inselberg_fof`](crate::abi::inselberg_fof).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_pick_rows(
    handle: *const EngineHandle,
    table: *const c_char,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.pick_rows(text(table), GivenColumns::new(columns, n))) }
}

/// Collective: sums values of the program over the cells or particles of each label. The sums are further
/// columns of the table of these labels, which inselberg_table_column shows and inselberg_write writes.
/// `which` is INSELBERG_CLUMP_LABELS, INSELBERG_HALO_LABELS or INSELBERG_GROUP_LABELS. Sums have the same bits
/// on any number of ranks. Rows that were picked are shown no more. Columns have one value per cell or
/// particle, octs have eight, and any name that is new to the table.
///
/// # Safety
/// `handle` is a handle; there are `n` columns at `columns`, as [`inselberg_fof`](crate::abi::inselberg_fof).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_add_sums(
    handle: *const EngineHandle,
    which: i32,
    columns: *const GivenColumn,
    n: i64,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.add_sums(which, GivenColumns::new(columns, n))) }
}

fn index(i: i64) -> Result<usize, Error> {
    usize::try_from(i).map_err(|_| refused(format!("index {i}; expected 0 or more")))
}

/// # Safety
/// `place` is NULL or the address of such a value.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Error> {
    if place.is_null() {
        return Err(refused("the address of the view is NULL; expected an address"));
    }
    // SAFETY: as the caller says.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Collective: writes the catalogue of the last result to a file, whole or not at all. Its ending chooses the
/// format: .csv, or .hdf5 where the library is built with HDF5. All ranks name the same file.
///
/// # Safety
/// `handle` is a handle, `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_write(handle: *const EngineHandle, path: *const c_char) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.write(text(path))) }
}

/// Collective: writes the labels of the last clumps, whole or not at all. `which` is INSELBERG_CLUMP_LABELS or
/// INSELBERG_HALO_LABELS. The ending chooses the format: .fits is an image of the label of each cell, 0 for
/// none, which needs the option with_cells and cells of one size; .reg and .crtf are ellipses for DS9 and
/// CARTA, which need a FITS image. All ranks name the same file.
///
/// # Safety
/// `handle` is a handle, `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inselberg_write_labels(
    handle: *const EngineHandle,
    which: i32,
    path: *const c_char,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { enter_together(handle, |state| state.write_labels(which, text(path))) }
}
