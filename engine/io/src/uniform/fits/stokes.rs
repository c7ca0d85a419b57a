//! Which plane of a Stokes axis is taken?

use super::parts::FoundPart;
use crate::ReadResult;
use crate::source_file::SourceFile;

/// The parameters by their number on a Stokes axis.
const NAMES: [(i64, &str); 12] = [
    (1, "I"),
    (2, "Q"),
    (3, "U"),
    (4, "V"),
    (-1, "RR"),
    (-2, "LL"),
    (-3, "RL"),
    (-4, "LR"),
    (-5, "XX"),
    (-6, "YY"),
    (-7, "XY"),
    (-8, "YX"),
];

/// A plane across a Stokes axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StokesPlane {
    /// The axis, from 1.
    pub axis: usize,
    /// The place along it, from 0.
    pub index: u64,
    /// The parameter, and those of all planes: `I out of I, Q`.
    pub name: String,
}

/// The plane `wanted`, or that of Stokes I, of an image with a Stokes axis longer than 1; `None` of another
/// image.
///
/// # Errors
/// There is no such plane, or one is wanted of an image without such an axis.
pub(super) fn plane(
    file: &SourceFile,
    part: &FoundPart,
    wanted: Option<&str>,
) -> ReadResult<Option<StokesPlane>> {
    let cards = &part.cards;
    let kind = |axis: usize| cards.text(file, &format!("CTYPE{axis}"));
    let mut axis = None;
    for i in 1..=part.axes.len().min(9) {
        if part.axes[i - 1] > 1 && kind(i)?.as_deref() == Some("STOKES") {
            axis = Some(i);
        }
    }
    let Some(axis) = axis else {
        return match wanted {
            None => Ok(None),
            Some(wanted) => {
                let problem = format!("no Stokes axis longer than 1, of which {wanted} is wanted");
                Err(cards.bad(file, "CTYPE", problem, "no choice of a plane"))
            }
        };
    };
    let real =
        |name: &str, otherwise: f64| Ok(cards.real(file, &format!("{name}{axis}"))?.unwrap_or(otherwise));
    let (value, pixel, step) = (real("CRVAL", 1.0)?, real("CRPIX", 1.0)?, real("CDELT", 1.0)?);
    let name = |index: u64| {
        let number = value + (index as f64 + 1.0 - pixel) * step;
        let known = NAMES.iter().find(|(code, _)| *code as f64 == number);
        known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_string())
    };
    // No file has more planes than parameters; a longer axis is something else.
    let names: Vec<String> = (0..part.axes[axis - 1].min(NAMES.len() as u64)).map(name).collect();
    let asked = wanted.unwrap_or("I");
    match names.iter().position(|name| name.eq_ignore_ascii_case(asked)) {
        Some(index) => {
            let name = format!("{} out of {}", names[index], names.join(", "));
            Ok(Some(StokesPlane { axis, index: index as u64, name }))
        }
        None => {
            let problem = format!("no plane {asked} on the Stokes axis");
            Err(cards.bad(
                file,
                &format!("CTYPE{axis}"),
                problem,
                format!("--stokes out of {}", names.join(", ")),
            ))
        }
    }
}
