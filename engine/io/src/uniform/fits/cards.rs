//! The header of a part of a FITS file: cards of 80 characters in blocks of 2880 bytes.
//!
//! `fitsrs` 0.4 reads FITS as well. It panics at a card like `BUNIT = '`, its sizes overflow, and it brings
//! some thirty crates, so headers of unknown origin are read here.

use crate::source_file::SourceFile;
use crate::{ReadError, ReadResult};

/// Bytes of a block.
pub(super) const BLOCK: usize = 2880;
/// Bytes of a card.
const CARD: usize = 80;
/// The most blocks of a header: 144,000 cards.
const MOST_BLOCKS: usize = 4000;

/// The value of a card.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CardValue {
    /// A text, without spaces at its end.
    Text(String),
    /// `T` or `F`.
    Logical(bool),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Real(f64),
}

/// The cards of a header that have a value.
#[derive(Debug)]
pub(super) struct HeaderCards {
    /// The name of the part, for messages.
    place: String,
    /// Keywords with their values as written.
    cards: Vec<(String, String)>,
    /// Bytes of the header with its padding.
    pub bytes: u64,
}

impl HeaderCards {
    /// Reads the header that begins at byte `at`. `place` is for messages. At most 11 MB are read.
    ///
    /// # Errors
    /// The file cannot be read, or has no end of a header there.
    pub fn read(file: &SourceFile, at: u64, place: String) -> ReadResult<Self> {
        let mut cards = Vec::new();
        let mut block = vec![0; BLOCK];
        for n in 0..MOST_BLOCKS {
            let from = at + (n * BLOCK) as u64;
            if from + BLOCK as u64 > file.len() as u64 {
                return Err(ReadError::content(
                    file.path(),
                    place,
                    "the file ends in the header",
                    "a card END",
                ));
            }
            file.read_at(&mut block, from as usize)?;
            for card in block.chunks_exact(CARD) {
                if card.trim_ascii_end() == b"END" {
                    return Ok(Self { place, cards, bytes: ((n + 1) * BLOCK) as u64 });
                }
                cards.extend(split(card));
            }
        }
        let problem = format!("no card END in {MOST_BLOCKS} blocks");
        Err(ReadError::content(file.path(), place, problem, "a header of fewer cards"))
    }

    /// The part of the file, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// All keywords, in their order.
    pub fn keywords(&self) -> impl Iterator<Item = &str> {
        self.cards.iter().map(|(keyword, _)| keyword.as_str())
    }

    /// The value of a keyword; `None` without one.
    ///
    /// # Errors
    /// The value is none of FITS, or there are two of them.
    pub fn value(&self, file: &SourceFile, keyword: &str) -> ReadResult<Option<CardValue>> {
        let mut texts = self.cards.iter().filter(|(name, _)| name == keyword).map(|(_, text)| text);
        let Some(text) = texts.next() else { return Ok(None) };
        if texts.any(|other| value_text(other) != value_text(text)) {
            return Err(self.bad(file, keyword, "two values", "one"));
        }
        match parse(text) {
            Some(value) => Ok(value),
            None => Err(self.bad(
                file,
                keyword,
                format!("`{}`", text.trim().escape_debug()),
                "a text, T, F or a number",
            )),
        }
    }

    /// A whole number; `None` without the card.
    ///
    /// # Errors
    /// The value is something else.
    pub fn whole(&self, file: &SourceFile, keyword: &str) -> ReadResult<Option<i64>> {
        match self.value(file, keyword)? {
            None => Ok(None),
            Some(CardValue::Whole(n)) => Ok(Some(n)),
            Some(other) => Err(self.bad(file, keyword, format!("{other:?}"), "a whole number")),
        }
    }

    /// A finite number; `None` without the card.
    ///
    /// # Errors
    /// The value is something else.
    pub fn real(&self, file: &SourceFile, keyword: &str) -> ReadResult<Option<f64>> {
        match self.value(file, keyword)? {
            None => Ok(None),
            Some(CardValue::Whole(n)) => Ok(Some(n as f64)),
            Some(CardValue::Real(x)) if x.is_finite() => Ok(Some(x)),
            Some(other) => Err(self.bad(file, keyword, format!("{other:?}"), "a finite number")),
        }
    }

    /// A text without spaces around it; `None` without the card or where it is empty.
    ///
    /// # Errors
    /// The value is something else.
    pub fn text(&self, file: &SourceFile, keyword: &str) -> ReadResult<Option<String>> {
        match self.value(file, keyword)? {
            None => Ok(None),
            Some(CardValue::Text(text)) => Ok(Some(text.trim().to_string()).filter(|text| !text.is_empty())),
            Some(other) => Err(self.bad(file, keyword, format!("{other:?}"), "a text in quotes")),
        }
    }

    /// An error in a card.
    pub fn bad(
        &self,
        file: &SourceFile,
        keyword: &str,
        problem: impl Into<String>,
        expected: impl Into<String>,
    ) -> ReadError {
        ReadError::content(file.path(), format!("{}, {keyword}", self.place), problem, expected)
    }
}

/// Keyword and value of a card; `None` for comments and the like.
fn split(card: &[u8]) -> Option<(String, String)> {
    let (keyword, rest) = card.split_at(8);
    let value = rest.strip_prefix(b"= ")?;
    let keyword = std::str::from_utf8(keyword.trim_ascii_end()).ok()?;
    let is_plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let is_keyword = !keyword.is_empty() && keyword.chars().all(is_plain);
    is_keyword.then(|| (keyword.to_string(), String::from_utf8_lossy(value).into_owned()))
}

/// The text of a value without its comment.
fn value_text(text: &str) -> &str {
    let text = text.trim_start();
    if text.starts_with('\'') {
        return text;
    }
    text.split('/').next().unwrap_or("").trim()
}

/// A value as it is written in a card. `Some(None)`: none is written. `None`: not a value of FITS.
fn parse(text: &str) -> Option<Option<CardValue>> {
    if let Some(quoted) = text.trim_start().strip_prefix('\'') {
        return parse_text(quoted).map(|text| Some(CardValue::Text(text)));
    }
    let text = value_text(text);
    match text {
        "" => return Some(None),
        "T" => return Some(Some(CardValue::Logical(true))),
        "F" => return Some(Some(CardValue::Logical(false))),
        _ => {}
    }
    // Rust also reads `inf` and `nan`, which are no values of FITS.
    if !text.chars().all(|c| c.is_ascii_digit() || "+-.EeDd".contains(c)) {
        return None;
    }
    let number = match text.parse() {
        Ok(n) => CardValue::Whole(n),
        Err(_) => CardValue::Real(text.replace(['D', 'd'], "E").parse().ok()?),
    };
    Some(Some(number))
}

/// A text after its first quote. A quote in it is written twice.
fn parse_text(mut rest: &str) -> Option<String> {
    let mut text = String::new();
    loop {
        let (part, after) = rest.split_once('\'')?;
        text += part;
        match after.strip_prefix('\'') {
            Some(more) => {
                text.push('\'');
                rest = more;
            }
            None => return Some(text.trim_end().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_standard() {
        let text = |text: &str| Some(Some(CardValue::Text(text.into())));
        assert_eq!(parse("'RA---TAN'           / the axis"), text("RA---TAN"));
        assert_eq!(parse("'it''s / so  '  / comment"), text("it's / so"));
        assert_eq!(parse("''"), text(""));
        assert_eq!(parse("                   T / yes"), Some(Some(CardValue::Logical(true))));
        assert_eq!(parse("    -32"), Some(Some(CardValue::Whole(-32))));
        assert_eq!(parse("  1.5D+03 / old"), Some(Some(CardValue::Real(1500.0))));
        assert_eq!(parse("  1.5E3"), Some(Some(CardValue::Real(1500.0))));
        assert_eq!(parse("   / nothing"), Some(None));
        for bad in ["'no end", "'", "nan", "inf", "(1.0, 2.0)", "1 2", "TRUE", "--1"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn cards_without_a_value_are_left_out() {
        let card = |text: &str| split(format!("{text:80}").as_bytes());
        assert_eq!(card("NAXIS   =                    3").map(|(k, _)| k), Some("NAXIS".to_string()));
        for other in ["COMMENT = no value", "HISTORY of it", "", "naxis   = 3", "HIERARCH a b = 3", "= 3"] {
            let found = card(other);
            assert!(found.is_none() || found.as_ref().is_some_and(|(k, _)| k == "COMMENT"), "{found:?}");
        }
    }
}
