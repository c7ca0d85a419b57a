//! Headers of FITS files that are written: cards of 80 characters in blocks of 2880 bytes.

use std::io::{Result, Write};

/// Bytes of a block.
pub const BLOCK: usize = 2880;
/// Bytes of a card.
const CARD: usize = 80;

/// The cards of a header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cards(Vec<u8>);

impl Cards {
    /// Without cards.
    pub fn new() -> Self {
        Self::default()
    }

    /// A card of this text.
    pub fn card(&mut self, text: &str) {
        debug_assert!(text.len() <= CARD, "{text}");
        self.0.extend(format!("{text:CARD$}").bytes());
    }

    /// A whole number or a truth value.
    pub fn value(&mut self, keyword: &str, value: impl std::fmt::Display) {
        self.card(&format!("{keyword:8}= {value:>20}"));
    }

    /// A finite number, with all its digits.
    pub fn number(&mut self, keyword: &str, value: f64) {
        self.card(&format!("{keyword:8}= {:>20}", format!("{value:?}").to_uppercase()));
    }

    /// A text, over several cards if it is long. Other characters than those of ASCII become question marks.
    pub fn text(&mut self, keyword: &str, text: &str) {
        let plain = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
        let mut rest: Vec<char> = text.chars().map(plain).collect();
        let mut start = format!("{keyword:8}= ");
        loop {
            // A quote counts twice. The end of the card is for quotes and the sign that more follows.
            let room = CARD - start.len() - 3;
            let mut used = 0;
            let fits = |c: &&char| {
                used += if **c == '\'' { 2 } else { 1 };
                used <= room
            };
            let n = rest.iter().take_while(fits).count();
            let more = rest.split_off(n);
            let part: String = rest.iter().collect::<String>().replace('\'', "''");
            let sign = if more.is_empty() { "" } else { "&" };
            self.card(&format!("{start}'{:8}'", format!("{part}{sign}")));
            if more.is_empty() {
                return;
            }
            (rest, start) = (more, "CONTINUE  ".into());
        }
    }

    /// The cards one after another, without the last one of a header.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// Adds the cards of `other`.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Writes the header with its end.
    ///
    /// # Errors
    /// When the target cannot be written.
    pub fn write(mut self, out: &mut dyn Write) -> Result<()> {
        self.card("END");
        self.0.resize(self.0.len().next_multiple_of(BLOCK), b' ');
        out.write_all(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_go_over_several_cards() {
        let mut cards = Cards::new();
        let text = "it's ".repeat(40);
        cards.text("HIERARCH a_long_name ", &text);
        let lines: Vec<&[u8]> = cards.0.chunks(CARD).collect();
        assert!(lines.len() > 2 && lines.iter().all(|line| line.len() == CARD));
        let part = |line: &&[u8]| {
            let line = String::from_utf8_lossy(line).trim_end().to_string();
            let (_, quoted) = line.split_once('\'').expect("a quote");
            quoted.strip_suffix('\'').expect("a quote").replace("''", "'")
        };
        let parts: Vec<String> = lines.iter().map(part).collect();
        let (last, before) = parts.split_last().expect("parts");
        let whole: String = before.iter().map(|part| part.strip_suffix('&').expect("more follows")).collect();
        assert_eq!(format!("{whole}{last}").trim_end(), text.trim_end());
    }

    #[test]
    fn numbers_end_where_readers_expect_them() {
        let mut cards = Cards::new();
        cards.value("NAXIS1", 8);
        assert_eq!(String::from_utf8_lossy(&cards.0[..30]), "NAXIS1  =                    8");
    }
}
