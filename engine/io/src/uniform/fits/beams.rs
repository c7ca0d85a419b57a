//! A beam for each channel of a cube, as CASA writes them: a table BEAMS beside the image.

use super::cards::{BLOCK, CardValue, HeaderCards};
use super::kept::card;
use super::parts::FoundPart;
use super::table_columns::{number_form, table_columns};
use crate::ReadResult;
use crate::attribute::Attribute;
use crate::source_file::SourceFile;

/// The most rows of a table.
const MOST: u64 = 1 << 20;

/// The beams of the channels of a cube, in degrees.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChannelBeams {
    /// Least, median and greatest full widths along the major and minor axes.
    major: [f64; 3],
    minor: [f64; 3],
    /// The median of position angles.
    angle: f64,
}

/// The beams of an image that says it has some (`CASAMBM`); `None` of others, or without the table.
///
/// # Errors
/// A header or the table is broken.
pub(super) fn of_channels(file: &SourceFile, image: &FoundPart) -> ReadResult<Option<ChannelBeams>> {
    if image.cards.value(file, "CASAMBM")? != Some(CardValue::Logical(true)) {
        return Ok(None);
    }
    let Some((cards, at)) = table(file)? else { return Ok(None) };
    let columns = table_columns(file, &cards)?;
    let count = |keyword: &str| Ok(cards.whole(file, keyword)?.unwrap_or(0).max(0).cast_unsigned());
    let (row, n) = (count("NAXIS1")?, count("NAXIS2")?.min(MOST));
    let numbers = |name: &str| -> ReadResult<Vec<f64>> {
        let known = columns.get(name).and_then(|(before, form)| Some((*before, number_form(form)?)));
        let Some((before, form)) = known else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for i in 0..n {
            let mut bytes = vec![0; form.kind.bytes() as usize];
            file.read_at(
                &mut bytes,
                at.saturating_add(i.saturating_mul(row)).saturating_add(before) as usize,
            )?;
            form.decode(&bytes, &mut all);
        }
        all.retain(|x| x.is_finite() && *x >= 0.0 || name == "BPA" && x.is_finite());
        all.sort_by(f64::total_cmp);
        Ok(all)
    };
    // CASA has arcseconds, AIPS degrees; the table says which.
    let degrees = |name: &str| -> ReadResult<Option<[f64; 3]>> {
        let all = numbers(name)?;
        let unit = unit_of(file, &cards, name)?;
        let spread = |all: &[f64]| Some([*all.first()?, *all.get(all.len() / 2)?, *all.last()?]);
        Ok(spread(&all).map(|three| three.map(|x| x * unit)))
    };
    let (Some(major), Some(minor)) = (degrees("BMAJ")?, degrees("BMIN")?) else { return Ok(None) };
    let angle = degrees("BPA")?.map_or(0.0, |three| three[1]);
    Ok(Some(ChannelBeams { major, minor, angle }))
}

/// The header of the table, and where its rows begin.
fn table(file: &SourceFile) -> ReadResult<Option<(HeaderCards, u64)>> {
    let (mut at, mut number) = (0_u64, 0);
    while at.saturating_add(BLOCK as u64) <= file.len() as u64 {
        let cards = HeaderCards::read(file, at, format!("header {number}"))?;
        let (part, data) = super::parts::part_of(file, cards, at, number)?;
        if part.cards.text(file, "EXTNAME")?.as_deref() == Some("BEAMS") {
            return Ok(Some((part.cards, part.at)));
        }
        at = part.at.saturating_add(data).saturating_add(BLOCK as u64 - 1) / BLOCK as u64 * BLOCK as u64;
        number += 1;
    }
    Ok(None)
}

/// Degrees per unit of a column; arcseconds for widths that have no unit.
fn unit_of(file: &SourceFile, cards: &HeaderCards, name: &str) -> ReadResult<f64> {
    for i in 1..=cards.whole(file, "TFIELDS")?.unwrap_or(0).clamp(0, 999) {
        if cards.text(file, &format!("TTYPE{i}"))?.as_deref() != Some(name) {
            continue;
        }
        let unit = cards.text(file, &format!("TUNIT{i}"))?.unwrap_or_default().to_lowercase();
        return Ok(match unit.as_str() {
            "deg" | "degree" | "degrees" => 1.0,
            "" if name == "BPA" => 1.0,
            _ => 1.0 / 3600.0,
        });
    }
    Ok(1.0)
}

impl ChannelBeams {
    /// The median beam as the cards of one beam.
    pub fn cards(&self) -> Vec<(String, Attribute)> {
        let all = [("BMAJ", self.major[1]), ("BMIN", self.minor[1]), ("BPA", self.angle)];
        all.into_iter().map(|(name, value)| card(name, Attribute::Real(value))).collect()
    }

    /// The spread in words.
    pub fn sentence(&self) -> String {
        let shown = |degrees: f64| (degrees * 3600.0 * 1e6).round() / 1e6;
        let spread = |[least, _, most]: [f64; 3]| format!("{} to {}", shown(least), shown(most));
        format!(
            "each channel has a beam of its own, of {} by {} arcseconds; the median one is named",
            spread(self.major),
            spread(self.minor)
        )
    }
}
