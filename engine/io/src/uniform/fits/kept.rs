//! The cards of an image that catalogues keep: coordinates, unit, beam and origin.

use super::cards::{CardValue, HeaderCards};
use crate::ReadResult;
use crate::attribute::Attribute;
use crate::source_file::SourceFile;

/// The beginning of the names of these attributes.
const BEGINNING: &str = "fits_";
/// The most coordinate axes.
const MOST_AXES: usize = 9;

const TEXTS: [&str; 9] =
    ["OBJECT", "TELESCOP", "INSTRUME", "EXTNAME", "BUNIT", "BTYPE", "RADESYS", "RADECSYS", "SPECSYS"];
const NUMBERS: [&str; 11] = [
    "BMAJ", "BMIN", "BPA", "EQUINOX", "EPOCH", "LONPOLE", "LATPOLE", "RESTFRQ", "RESTFREQ", "RESTWAV",
    "VELREF",
];

/// A card with this value as an attribute of catalogues.
pub(super) fn card(name: &str, value: Attribute) -> (String, Attribute) {
    (format!("{BEGINNING}{name}"), value)
}

/// The cards to keep of an image whose axes have these sizes. `axes`: the numbers of the axes that are x, y
/// and z.
///
/// # Errors
/// One of them has a value of another kind.
pub(super) fn kept_cards(
    file: &SourceFile,
    cards: &HeaderCards,
    sizes: &[u64],
    axes: &[usize],
) -> ReadResult<Vec<(String, Attribute)>> {
    let mut kept = vec![
        card("shape", Attribute::Reals(sizes.iter().map(|n| *n as f64).collect())),
        card("axes", Attribute::Reals(axes.iter().map(|n| *n as f64).collect())),
    ];
    let mut text = |keyword: &str| {
        let text = cards.text(file, keyword)?;
        kept.extend(text.map(|text| card(keyword, Attribute::Text(text))));
        Ok(())
    };
    TEXTS.iter().try_for_each(|keyword| text(keyword))?;
    for keyword in cards.keywords().filter(|keyword| is_of_axis(keyword, &["CTYPE", "CUNIT"])) {
        text(keyword)?;
    }
    let is_number = |keyword: &&str| {
        let of_axis = ["CRVAL", "CRPIX", "CDELT", "CROTA"];
        NUMBERS.contains(keyword)
            || *keyword == "WCSAXES"
            || is_of_axis(keyword, &of_axis)
            || is_of_two(keyword)
    };
    let mut seen: Vec<&str> = Vec::new();
    for keyword in cards.keywords().filter(is_number) {
        // Some programs write texts for numbers that they do not know.
        let number = match cards.value(file, keyword)? {
            Some(CardValue::Text(text)) if NUMBERS.contains(&keyword) && text.parse::<f64>().is_err() => None,
            _ => cards.real(file, keyword)?,
        };
        if let Some(number) = number.filter(|_| !seen.contains(&keyword)) {
            kept.push(card(keyword, Attribute::Real(number)));
            seen.push(keyword);
        }
    }
    Ok(kept)
}

/// Whether a keyword is one of these with the number of an axis.
fn is_of_axis(keyword: &str, beginnings: &[&str]) -> bool {
    let number = beginnings.iter().find_map(|beginning| keyword.strip_prefix(beginning));
    number.is_some_and(is_axis)
}

/// `PC1_2`, `CD1_2`, `PV2_1`.
fn is_of_two(keyword: &str) -> bool {
    let numbers = ["PC", "CD", "PV"].iter().find_map(|beginning| keyword.strip_prefix(beginning));
    let two = numbers.and_then(|numbers| numbers.split_once('_'));
    let is_second = |second: &str| second.len() <= 2 && second.parse::<u32>().is_ok();
    two.is_some_and(|(axis, second)| is_axis(axis) && is_second(second))
}

fn is_axis(number: &str) -> bool {
    number.len() == 1 && number.parse().is_ok_and(|axis: usize| (1..=MOST_AXES).contains(&axis))
}
