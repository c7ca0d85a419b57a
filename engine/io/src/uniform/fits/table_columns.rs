//! The columns of a binary table.

use super::cards::HeaderCards;
use crate::ReadResult;
use crate::source_file::SourceFile;
use crate::stored_array::{NumberKind, RealFormat};
use std::collections::BTreeMap;

/// The columns of a table by name: bytes before it in a row, and its form without the count.
pub(super) type TableColumns = BTreeMap<String, (u64, String)>;

/// The columns of a binary table.
pub(super) fn table_columns(file: &SourceFile, cards: &HeaderCards) -> ReadResult<TableColumns> {
    let n = cards.whole(file, "TFIELDS")?.unwrap_or(0);
    if !(0..=999).contains(&n) {
        return Err(cards.bad(file, "TFIELDS", format!("{n}"), "0 to 999"));
    }
    let (mut all, mut at) = (TableColumns::new(), 0_u64);
    for column in 1..=n {
        let keyword = format!("TFORM{column}");
        let form = cards.text(file, &keyword)?.unwrap_or_default();
        let digits = form.len() - form.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let count: u64 = if digits == 0 { 1 } else { form[..digits].parse().unwrap_or(u64::MAX) };
        let bytes = match form.as_bytes().get(digits) {
            Some(b'X') => count.div_ceil(8),
            Some(b'L' | b'B' | b'A') => count,
            Some(b'I') => count.saturating_mul(2),
            Some(b'J' | b'E') => count.saturating_mul(4),
            Some(b'K' | b'D' | b'C' | b'P') => count.saturating_mul(8),
            Some(b'M' | b'Q') => count.saturating_mul(16),
            _ => return Err(cards.bad(file, &keyword, format!("{form:?}"), "the form of a column")),
        };
        let name = cards.text(file, &format!("TTYPE{column}"))?.unwrap_or_default();
        all.insert(name.to_uppercase(), (at, form[digits..].to_string()));
        at = at.saturating_add(bytes);
    }
    Ok(all)
}

/// The form of a column of numbers.
pub(super) fn number_form(form: &str) -> Option<RealFormat> {
    let kind = match form.as_bytes().first()? {
        b'B' => NumberKind::Integer { bytes: 1, signed: false },
        b'I' => NumberKind::Integer { bytes: 2, signed: true },
        b'J' => NumberKind::Integer { bytes: 4, signed: true },
        b'K' => NumberKind::Integer { bytes: 8, signed: true },
        b'E' => NumberKind::F32,
        b'D' => NumberKind::F64,
        _ => return None,
    };
    Some(RealFormat { kind, big_endian: true })
}
