//! Catalogues as FITS: one binary table per table, for TOPCAT and astropy.
//!
//! Values are in cgs (`TUNITn`), or in code units without a unit if the catalogue has no units. `TCOMMn` has
//! the description of a column. Attributes are cards of the first header, under their own names after
//! `HIERARCH`.
//!
//! The crates that write binary tables are bindings of CFITSIO, or young libraries for all of FITS. A table
//! of columns of fixed width is blocks of 2880 bytes with cards of 80 characters and big-endian rows, which
//! this file has.

use super::cgs::CgsColumn;
use super::info::attribute_text;
use super::row_runs::write_runs;
use super::{Attribute, Catalogue, Table, Values, WriteResult, check_shape};
use crate::fits_cards::{BLOCK, Cards};
use crate::staging::mark::MARK;
use crate::staging::{Staged, stage_file};
use std::borrow::Cow;
use std::io::{Result, Write};
use std::path::Path;

/// Stages `catalogue` for `path`.
///
/// # Errors
/// The place cannot be written, or a name does not fit the format.
pub fn stage_fits(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(path, catalogue)?;
    stage_file(path, |out| {
        first_header(&catalogue.attributes).write(out)?;
        catalogue.tables.iter().try_for_each(|table| write_table(out, catalogue, table))
    })
}

fn first_header(attributes: &[(String, Attribute)]) -> Cards {
    let mut cards = Cards::new();
    cards.value("SIMPLE", "T");
    cards.value("BITPIX", 8);
    cards.value("NAXIS", 0);
    cards.value("EXTEND", "T");
    cards.text("CREATOR", MARK);
    for (name, value) in attributes {
        // Names of ours are shorter than that.
        let keyword = format!("HIERARCH {name:.40} ");
        match value {
            Attribute::Int(value) => cards.card(&format!("{keyword}= {value}")),
            Attribute::Real(value) if value.is_finite() => {
                cards.number(&keyword, *value);
            }
            other => cards.text(&keyword, &attribute_text(other)),
        }
    }
    cards
}

fn write_table(out: &mut dyn Write, catalogue: &Catalogue, table: &Table) -> Result<()> {
    let columns: Vec<_> = table.columns.iter().map(|c| CgsColumn::new(&catalogue.attributes, c)).collect();
    let values: Vec<Cow<Values>> = columns.iter().map(CgsColumn::values).collect();
    let forms: Vec<Form> = values.iter().map(|values| Form::new(values)).collect();
    let mut cards = Cards::new();
    cards.text("XTENSION", "BINTABLE");
    cards.value("BITPIX", 8);
    cards.value("NAXIS", 2);
    let width: usize = forms.iter().map(|form| form.width).sum();
    cards.value("NAXIS1", width);
    cards.value("NAXIS2", table.n_rows());
    cards.value("PCOUNT", 0);
    cards.value("GCOUNT", 1);
    cards.value("TFIELDS", columns.len());
    cards.text("EXTNAME", &table.name);
    for (n, (column, form)) in (1..).zip(columns.iter().zip(&forms)) {
        cards.text(&format!("TTYPE{n}"), &column.column.name);
        cards.text(&format!("TFORM{n}"), form.name);
        let unit = column.unit(" ", "");
        if !unit.is_empty() {
            cards.text(&format!("TUNIT{n}"), &unit);
        }
        if form.is_shifted {
            cards.value(&format!("TZERO{n}"), HALF);
        }
        cards.text(&format!("TCOMM{n}"), &column.column.description);
    }
    cards.write(out)?;
    write_runs(out, table.n_rows(), |rows| {
        let mut bytes = Vec::with_capacity(width * rows.len());
        for row in rows {
            values.iter().zip(&forms).for_each(|(values, form)| put(&mut bytes, values, row, form));
        }
        Ok(bytes)
    })?;
    let length = width * table.n_rows();
    out.write_all(&vec![0; length.next_multiple_of(BLOCK) - length])
}

/// What is taken off integers that need the highest bit: the format has signed ones only.
const HALF: u64 = 1 << 63;

/// The form of a column.
struct Form {
    name: &'static str,
    /// Bytes of a row.
    width: usize,
    is_shifted: bool,
}

impl Form {
    fn new(values: &Values) -> Self {
        let (name, width) = match values {
            Values::U8(_) => ("1B", 1),
            Values::U64(_) | Values::I64(_) => ("1K", 8),
            Values::F64(_) => ("1D", 8),
            Values::F32(_) => ("1E", 4),
            Values::F64x3(_) => ("3D", 24),
            Values::U32x3(_) => ("3K", 24),
        };
        // Only where it must be: TOPCAT reads shifted integers as texts.
        let is_shifted = matches!(values, Values::U64(list) if list.iter().any(|x| *x >= HALF));
        Self { name, width, is_shifted }
    }
}

fn put(bytes: &mut Vec<u8>, values: &Values, row: usize, form: &Form) {
    match values {
        Values::U8(list) => bytes.push(list[row]),
        Values::U64(list) if form.is_shifted => bytes.extend((list[row] ^ HALF).to_be_bytes()),
        Values::U64(list) => bytes.extend(list[row].to_be_bytes()),
        Values::I64(list) => bytes.extend(list[row].to_be_bytes()),
        Values::F64(list) => bytes.extend(list[row].to_be_bytes()),
        Values::F32(list) => bytes.extend(list[row].to_be_bytes()),
        Values::F64x3(list) => list[row].iter().for_each(|x| bytes.extend(x.to_be_bytes())),
        Values::U32x3(list) => list[row].iter().for_each(|x| bytes.extend(i64::from(*x).to_be_bytes())),
    }
}
