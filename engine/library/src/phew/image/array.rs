//! The array of an image or cube, as viewers expect it: velocity, latitude, longitude.

use super::cards::{AttributeCards, BEGINNING, ImageSky};
use super::flat::is_flat;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::Attribute;
use inselberg_io::fits_cards::Cards;

/// How the cells of an image lie in an array.
#[derive(Debug, Clone, PartialEq)]
pub struct SkyArray {
    /// The axes of the box, from 0, the slowest one first. Two for an image.
    pub axes: Vec<usize>,
    /// The coordinates of these axes, the fastest one first; `None` if the cells are not of a FITS file.
    pub header: Option<Cards>,
}

impl SkyArray {
    /// From the attributes of a catalogue. The axes of a FITS file come as velocity, latitude and longitude;
    /// in the order of the file, the first axis last, if these are not known. Other arrays keep x first.
    pub fn from_attributes(attributes: &[(String, Attribute)]) -> Self {
        let n = if is_flat(attributes) { 2 } else { 3 };
        let Some(of_file) = axes_of(attributes, "axes").filter(|axes| axes.len() == n) else {
            return Self { axes: (0..n).collect(), header: None };
        };
        let mut axes: Vec<usize> = (0..n).rev().collect();
        if let Some(Ok(sky)) = ImageSky::from_attributes(attributes)
            && let Some([lon, lat]) = sky.grid.celestial_axes()
        {
            let rank = |axis: &usize| [lat, lon].iter().position(|known| of_file[*axis] == known + 1);
            // The spectral axis has no rank, which is the first.
            axes.sort_by_key(rank);
        }
        let order: Vec<usize> = axes.iter().rev().map(|axis| of_file[*axis]).collect();
        Self { axes, header: Some(coordinates(attributes, &order)) }
    }
}

/// Why cells are no array: what they are instead, and what was expected.
pub type NoArray = (String, &'static str);

/// Collective: cells along each axis of the box, from the levels of the cells of this rank.
///
/// # Errors
/// When another rank fails.
pub fn sides_of_cells(
    attributes: &[(String, Attribute)],
    levels: &[u8],
    comm: &Comm,
) -> Result<Result<[usize; 3], NoArray>, CommError> {
    // A rank without cells has neither a greatest nor a least level.
    let most = levels.iter().max().map_or(f64::NEG_INFINITY, |level| f64::from(*level));
    let least = levels.iter().min().map_or(f64::NEG_INFINITY, |level| -f64::from(*level));
    let [most, least] = comm.all_max(&[most, least])?[..] else { unreachable!("two values") };
    let no_array = |problem: &str, expected| Ok(Err((problem.into(), expected)));
    let Some(coarse) = AttributeCards(attributes).reals("coarse_cells") else {
        return no_array("no attribute coarse_cells", "the shape of the box");
    };
    if most < 0.0 {
        return no_array("no cells", "1 or more");
    }
    if most != -least {
        return no_array(&format!("cells of levels {} to {most}", -least), "cells of one size, for an array");
    }
    let side = |axis: usize| (*coarse.get(axis)? as usize).checked_mul(1_usize.checked_shl(most as u32)?);
    match [0, 1, 2].map(side) {
        [Some(nx), Some(ny), Some(nz)] => Ok(Ok([nx, ny, nz])),
        _ => no_array("the shape of the box is too large", "cells that fill it"),
    }
}

/// Code length of a cell of a box with so many cells along its axes, and its lower corner; `None` without the
/// side of the box.
pub fn side_of_cells(attributes: &[(String, Attribute)], sides: [usize; 3]) -> Option<(f64, [f64; 3])> {
    let cards = AttributeCards(attributes);
    let side = cards.number("boxlen")? * cards.reals("coarse_cells")?.first()? / sides[0] as f64;
    let origin = cards.reals("origin").and_then(|origin| origin.try_into().ok()).unwrap_or([0.0; 3]);
    Some((side, origin))
}

/// The numbers of a list among the attributes of an image.
pub(super) fn axes_of(attributes: &[(String, Attribute)], name: &str) -> Option<Vec<usize>> {
    let (_, list) = attributes.iter().find(|(other, _)| other.strip_prefix(BEGINNING) == Some(name))?;
    match list {
        Attribute::Reals(list) => Some(list.iter().map(|n| *n as usize).collect()),
        _ => None,
    }
}

/// The cards of coordinates for an array with these axes of the file, from 1, the fastest one first. Cards of
/// other axes are left out.
pub(super) fn coordinates(attributes: &[(String, Attribute)], order: &[usize]) -> Cards {
    let mut cards = Cards::new();
    cards.value("WCSAXES", order.len());
    for (name, value) in attributes {
        let Some(keyword) = name.strip_prefix(BEGINNING).and_then(|keyword| renamed(keyword, order)) else {
            continue;
        };
        match value {
            Attribute::Real(value) => cards.number(&keyword, *value),
            Attribute::Text(text) => cards.text(&keyword, text),
            _ => {}
        }
    }
    cards
}

/// Cards of coordinates without the number of an axis.
const OF_ALL: [&str; 11] = [
    "RADESYS", "RADECSYS", "SPECSYS", "EQUINOX", "EPOCH", "LONPOLE", "LATPOLE", "RESTFRQ", "RESTFREQ",
    "RESTWAV", "VELREF",
];
/// Cards with the number of an axis.
const OF_AXIS: [&str; 6] = ["CTYPE", "CUNIT", "CRVAL", "CRPIX", "CDELT", "CROTA"];

/// The keyword for the new places of axes; `None` for cards of other axes, or of no coordinates.
fn renamed(keyword: &str, order: &[usize]) -> Option<String> {
    let place = |axis: &str| {
        let axis: usize = axis.parse().ok()?;
        order.iter().position(|of_file| *of_file == axis).map(|place| place + 1)
    };
    if OF_ALL.contains(&keyword) {
        return Some(keyword.into());
    }
    if let Some(beginning) = OF_AXIS.iter().find(|beginning| keyword.starts_with(**beginning)) {
        return Some(format!("{beginning}{}", place(&keyword[beginning.len()..])?));
    }
    let (beginning, numbers) = keyword.split_at_checked(2)?;
    let (axis, second) = numbers.split_once('_')?;
    match beginning {
        "PC" | "CD" => Some(format!("{beginning}{}_{}", place(axis)?, place(second)?)),
        "PV" => Some(format!("PV{}_{second}", place(axis)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(name: &str, value: f64) -> (String, Attribute) {
        (format!("fits_{name}"), Attribute::Real(value))
    }

    fn text(name: &str, value: &str) -> (String, Attribute) {
        (format!("fits_{name}"), Attribute::Text(value.into()))
    }

    /// A file with the velocity first, a plane of Stokes I, then declination and right ascension.
    #[test]
    fn axes_and_their_cards_take_the_order_of_viewers() {
        let list = |name: &str, list: &[f64]| (name.to_string(), Attribute::Reals(list.to_vec()));
        let attributes = vec![
            list("coarse_cells", &[4.0, 3.0, 2.0]),
            real("boxlen", 1.0),
            ("boxlen".into(), Attribute::Real(1.0)),
            list("fits_shape", &[4.0, 1.0, 3.0, 2.0]),
            list("fits_axes", &[1.0, 3.0, 4.0]),
            text("CTYPE1", "VRAD"),
            text("CTYPE2", "STOKES"),
            text("CTYPE3", "DEC--SIN"),
            text("CTYPE4", "RA---SIN"),
            real("CRVAL4", 83.5),
            real("CDELT1", 1e-7),
            real("PC4_3", 0.25),
            real("PC4_2", 0.5),
            real("PV3_1", 0.5),
            text("BUNIT", "K"),
        ];
        let found = SkyArray::from_attributes(&attributes);
        assert_eq!(found.axes, [0, 1, 2]);
        let header = found.header.expect("a FITS file").to_text();
        let cards: Vec<&str> = (0..header.len() / 80).map(|i| header[80 * i..80 * i + 80].trim()).collect();
        let expected = [
            "WCSAXES =                    3",
            "CTYPE3  = 'VRAD    '",
            "CTYPE2  = 'DEC--SIN'",
            "CTYPE1  = 'RA---SIN'",
            "CRVAL1  =                 83.5",
            "CDELT3  =                 1E-7",
            "PC1_2   =                 0.25",
            "PV2_1   =                  0.5",
        ];
        assert_eq!(cards, expected);
    }
}
