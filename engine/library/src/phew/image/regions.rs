//! Ellipses of clumps or haloes for DS9 and CARTA.

use super::cards::ImageSky;
use super::frame::SkyFrame;
use super::observer::Observation;
use inselberg_io::catalogue::{Attribute, Table};
use inselberg_io::staging::mark::MARK;
use std::fmt::Write;

/// Half the full width at half maximum per standard deviation.
const HALF_WIDTH: f64 = 1.177_410_022_515_474_7;

/// A format of regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionFormat {
    /// `.reg`.
    Ds9,
    /// `.crtf`, of CASA and CARTA.
    Casa,
}

impl RegionFormat {
    /// By the ending of a file's name.
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending.to_lowercase().as_str() {
            "reg" => Some(Self::Ds9),
            "crtf" => Some(Self::Casa),
            _ => None,
        }
    }
}

/// An ellipse of a structure.
struct Ellipse {
    id: u64,
    centre: [f64; 2],
    /// Half axes, in arcseconds or pixels.
    axes: [f64; 2],
    /// Degrees from north to east, or from +y to -x.
    angle: f64,
}

/// The ellipses at half maximum of the rows of `table`; `None` if the table has no sizes of an image.
pub fn regions(attributes: &[(String, Attribute)], table: &Table, format: RegionFormat) -> Option<String> {
    let sky = ImageSky::from_attributes(attributes).and_then(Result::ok);
    let frame =
        sky.as_ref().and_then(ImageSky::frame).filter(|_| table.column("position_angle_sky").is_some());
    let ellipses = match &frame {
        Some((_, names)) => on_sky(table, names, Observation::from_attributes(attributes)?.pixel?)?,
        None => in_pixels(attributes, table)?,
    };
    let frame = frame.map(|(frame, _)| frame);
    let mut text = String::new();
    match format {
        RegionFormat::Ds9 => {
            let name = frame.map_or("image", SkyFrame::ds9);
            let _ =
                writeln!(text, "# Region file format: DS9 version 4.1\n# {MARK}\nglobal color=green\n{name}");
        }
        RegionFormat::Casa => {
            let _ = writeln!(text, "#CRTFv0\n# {MARK}");
        }
    }
    for Ellipse { id, centre: [x, y], axes: [a, b], angle } in ellipses {
        let _ = match (format, frame) {
            // The angle of DS9 is from the first axis of the screen, which points west.
            (RegionFormat::Ds9, Some(_)) => {
                writeln!(text, "ellipse({x},{y},{a}\",{b}\",{}) # text={{{id}}}", (angle + 90.0) % 360.0)
            }
            (RegionFormat::Ds9, None) => {
                writeln!(text, "ellipse({x},{y},{a},{b},{}) # text={{{id}}}", (angle + 90.0) % 360.0)
            }
            (RegionFormat::Casa, Some(frame)) => writeln!(
                text,
                "ellipse [[{x}deg, {y}deg], [{a}arcsec, {b}arcsec], {angle}deg] coord={}, label=\"{id}\"",
                frame.casa()
            ),
            // Pixels of CASA count from 0.
            (RegionFormat::Casa, None) => writeln!(
                text,
                "ellipse [[{}pix, {}pix], [{a}pix, {b}pix], {angle}deg] label=\"{id}\"",
                x - 1.0,
                y - 1.0
            ),
        };
    }
    Some(text)
}

/// Ellipses on the sky. Centres are in the columns `centre_` with these names.
fn on_sky(table: &Table, names: &[String; 2], pixel: f64) -> Option<Vec<Ellipse>> {
    let [lon, lat] = names.each_ref().map(|name| table.reals(&format!("centre_{name}")));
    ellipses(table, [lon?, lat?].map(<[f64]>::to_vec), table.reals("position_angle_sky")?, pixel)
}

/// Ellipses in pixels, which count from 1.
fn in_pixels(attributes: &[(String, Attribute)], table: &Table) -> Option<Vec<Ellipse>> {
    let observed = Observation::from_attributes(attributes)?;
    let origin = super::cards::AttributeCards(attributes).reals("origin").unwrap_or(vec![0.0; 3]);
    let centres = table.vectors("centre_of_mass")?;
    let along = |axis: usize| {
        centres.iter().map(|centre| (centre[axis] - origin[axis]) / observed.side + 0.5).collect::<Vec<f64>>()
    };
    let angles: Vec<f64> = table.reals("position_angle")?.iter().map(|angle| angle - 90.0).collect();
    ellipses(table, observed.sky_axes.map(along), &angles, 1.0)
}

/// Ellipses at half maximum, at least as large as a pixel.
fn ellipses(table: &Table, [x, y]: [Vec<f64>; 2], angles: &[f64], pixel: f64) -> Option<Vec<Ellipse>> {
    let (ids, major, minor) = (table.counts("id")?, table.reals("major_sigma")?, table.reals("minor_sigma")?);
    let one = |i: usize| Ellipse {
        id: ids[i],
        centre: [x[i], y[i]],
        // A single pixel has no width, but should be seen.
        axes: [major[i], minor[i]].map(|sigma| (sigma * HALF_WIDTH).max(0.5 * pixel)),
        angle: angles[i],
    };
    // Without a centre there is no ellipse.
    Some((0..ids.len()).map(one).filter(|of| of.centre.iter().all(|x| x.is_finite())).collect())
}
