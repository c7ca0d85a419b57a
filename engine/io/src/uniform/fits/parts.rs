//! The parts of a FITS file: which of them is the image?

use super::cards::{BLOCK, CardValue, HeaderCards};
use crate::source_file::SourceFile;
use crate::{ReadError, ReadResult};

/// A part is asked for as in `cube.fits[1]`, `cube.fits[SCI]`, `cube.fits[SCI,2]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WantedPart<'a> {
    /// The first that is an image.
    First,
    /// By number; the first part is 0.
    Number(u32),
    /// By name (`EXTNAME`) and version (`EXTVER`).
    Named(&'a str, Option<i64>),
}

/// A part of a file.
#[derive(Debug)]
pub(super) struct FoundPart {
    /// Its number, from 0.
    pub number: u32,
    /// Its header.
    pub cards: HeaderCards,
    /// Bytes before its values.
    pub at: u64,
    /// Sizes of its axes; those of the image if it is compressed in tiles.
    pub axes: Vec<u64>,
    /// Whether its values are tiles in a table.
    pub is_packed: bool,
}

impl<'a> WantedPart<'a> {
    /// From the text between the brackets.
    pub fn new(text: &'a str) -> Self {
        let text = text.trim();
        if let Ok(number) = text.parse() {
            return Self::Number(number);
        }
        match text.rsplit_once(',').map(|(name, version)| (name, version.trim().parse())) {
            Some((name, Ok(version))) => Self::Named(name.trim(), Some(version)),
            _ => Self::Named(text, None),
        }
    }

    fn is(&self, file: &SourceFile, part: &FoundPart) -> ReadResult<bool> {
        Ok(match self {
            Self::First => part.is_packed || !part.axes.is_empty() && is_image(file, part)?,
            Self::Number(number) => *number == part.number,
            Self::Named(name, version) => {
                let own = part.cards.text(file, "EXTNAME")?;
                let is_named = own.is_some_and(|own| own.eq_ignore_ascii_case(name));
                is_named
                    && version
                        .is_none_or(|v| part.cards.whole(file, "EXTVER").is_ok_and(|own| own == Some(v)))
            }
        })
    }
}

/// Finds the image. Reads the headers up to its own.
///
/// # Errors
/// A header is broken, there is no such part, or it is not an image.
pub(super) fn find(file: &SourceFile, wanted: &WantedPart) -> ReadResult<FoundPart> {
    let (mut at, mut number, mut seen) = (0_u64, 0, Vec::new());
    while at + (BLOCK as u64) <= file.len() as u64 {
        let place = format!("header {number}");
        let cards = HeaderCards::read(file, at, place)?;
        let (part, data) = part_of(file, cards, at, number)?;
        if wanted.is(file, &part)? {
            return checked(file, part);
        }
        if seen.len() < 9 {
            seen.push(described(file, &part)?);
        }
        let next = data.checked_next_multiple_of(BLOCK as u64).and_then(|data| part.at.checked_add(data));
        at = next.ok_or_else(|| part.cards.bad(file, "NAXIS", "more values than any file holds", "fewer"))?;
        number += 1;
    }
    let what = match wanted {
        WantedPart::First => "no image".to_string(),
        WantedPart::Number(n) => format!("no part [{n}]"),
        WantedPart::Named(name, None) => format!("no part [{name}]"),
        WantedPart::Named(name, Some(version)) => format!("no part [{name},{version}]"),
    };
    Err(ReadError::absent(file.path(), format!("{what} in the file; expected one of {}", seen.join(", "))))
}

/// A part and the bytes of its data without padding.
pub(super) fn part_of(
    file: &SourceFile,
    cards: HeaderCards,
    at: u64,
    number: u32,
) -> ReadResult<(FoundPart, u64)> {
    let begin = if number == 0 { "SIMPLE" } else { "XTENSION" };
    if cards.keywords().next() != Some(begin) {
        return Err(cards.bad(file, begin, "not the first card", "it at the beginning of the header"));
    }
    let needed = |keyword: &str, value: Option<i64>| {
        value.ok_or_else(|| cards.bad(file, keyword, "no such card", "a whole number"))
    };
    let bits = needed("BITPIX", cards.whole(file, "BITPIX")?)?;
    if ![8, 16, 32, 64, -32, -64].contains(&bits) {
        return Err(cards.bad(file, "BITPIX", format!("{bits}"), "8, 16, 32, 64, -32 or -64"));
    }
    let axes = sizes(file, &cards, "NAXIS")?;
    let bytes = n_bytes(file, &cards, bits.unsigned_abs() / 8, &axes)?;
    let bytes = bytes.ok_or_else(|| cards.bad(file, "NAXIS", format!("{axes:?} values"), "fewer values"))?;
    let at = at + cards.bytes;
    let is_packed = cards.value(file, "ZIMAGE")? == Some(CardValue::Logical(true));
    let axes = if is_packed { sizes(file, &cards, "ZNAXIS")? } else { axes };
    Ok((FoundPart { number, cards, at, axes, is_packed }, bytes))
}

/// The sizes of axes by the card with their number, `NAXIS` or `ZNAXIS`, and those after it.
fn sizes(file: &SourceFile, cards: &HeaderCards, number: &str) -> ReadResult<Vec<u64>> {
    let needed = |keyword: &str| {
        let value = cards.whole(file, keyword)?;
        value.ok_or_else(|| cards.bad(file, keyword, "no such card", "a whole number"))
    };
    let n = needed(number)?;
    if !(0..=999).contains(&n) {
        return Err(cards.bad(file, number, format!("{n}"), "0 to 999"));
    }
    let size = |axis: i64| {
        let keyword = format!("{number}{axis}");
        let n = needed(&keyword)?;
        u64::try_from(n).map_err(|_| cards.bad(file, &keyword, format!("{n}"), "0 or more"))
    };
    (1..=n).map(size).collect()
}

/// Bytes of the data of a part; `None` for more than any file holds.
fn n_bytes(file: &SourceFile, cards: &HeaderCards, each: u64, axes: &[u64]) -> ReadResult<Option<u64>> {
    let count = |keyword: &str, otherwise: i64| match cards.whole(file, keyword)?.unwrap_or(otherwise) {
        n if n >= 0 => Ok(n.cast_unsigned()),
        n => Err(cards.bad(file, keyword, format!("{n}"), "0 or more")),
    };
    let (parameters, groups) = (count("PCOUNT", 0)?, count("GCOUNT", 1)?);
    // Random groups have a first axis of no length.
    let is_groups =
        cards.value(file, "GROUPS")? == Some(CardValue::Logical(true)) && axes.first() == Some(&0);
    let axes = if is_groups { &axes[1..] } else { axes };
    if axes.is_empty() {
        return Ok(Some(0));
    }
    let n = axes.iter().try_fold(1_u64, |n, size| n.checked_mul(*size));
    let n = n.and_then(|n| n.checked_add(parameters)).and_then(|n| n.checked_mul(groups));
    Ok(n.and_then(|n| n.checked_mul(each)))
}

/// Whether a part is a plain image.
fn is_image(file: &SourceFile, part: &FoundPart) -> ReadResult<bool> {
    Ok(match part.number {
        0 => part.axes.first() != Some(&0),
        _ => part.cards.text(file, "XTENSION")?.as_deref() == Some("IMAGE"),
    })
}

/// The part, if it is an image whose values this program reads.
fn checked(file: &SourceFile, part: FoundPart) -> ReadResult<FoundPart> {
    let cards = &part.cards;
    let kind = cards.text(file, "XTENSION")?.unwrap_or_default();
    let bad =
        |problem: &str, expected: &str| ReadError::content(file.path(), cards.place(), problem, expected);
    if part.is_packed {
        return Ok(part);
    }
    if cards.value(file, "GROUPS")? == Some(CardValue::Logical(true)) {
        return Err(bad("random groups", "an image"));
    }
    if !is_image(file, &part)? {
        return Err(bad(&format!("not an image but {kind}"), "an image"));
    }
    if cards.whole(file, "PCOUNT")?.unwrap_or(0) != 0 || cards.whole(file, "GCOUNT")?.unwrap_or(1) != 1 {
        return Err(bad("PCOUNT or GCOUNT of several groups", "PCOUNT 0 and GCOUNT 1"));
    }
    Ok(part)
}

/// A part for a list of parts: `[1] SCI (image 10 x 20)`.
fn described(file: &SourceFile, part: &FoundPart) -> ReadResult<String> {
    let cards = &part.cards;
    let kind = match cards.text(file, "XTENSION")? {
        _ if part.is_packed => "compressed image".to_string(),
        Some(kind) => kind.to_lowercase(),
        None => "image".to_string(),
    };
    let axes: Vec<_> = part.axes.iter().map(u64::to_string).collect();
    let shape = if axes.is_empty() { "nothing".to_string() } else { format!("{kind} {}", axes.join(" x ")) };
    let name = cards.text(file, "EXTNAME")?.map_or(String::new(), |name| format!(" {name}"));
    Ok(format!("[{}]{name} ({shape})", part.number))
}
