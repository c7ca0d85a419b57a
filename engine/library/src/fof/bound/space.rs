//! The box of a search as a whole number of cubes.

use crate::fof::run_error::FofRunError;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::props::combine::SizedBox;

/// Most cubes along an axis.
const MOST: f64 = 1e6;

/// Local: checks the sides of the box.
///
/// # Errors
/// When they are no multiples of the shortest one.
pub fn check(sides: Option<[f64; 3]>) -> Result<(), FofRunError> {
    match sides {
        Some(sides) => periodic(sides).map(drop).ok_or(FofRunError::BoxShape { sides }),
        None => Ok(()),
    }
}

/// A periodic box; `None` if its sides are no multiples of the shortest one.
pub fn periodic(sides: [f64; 3]) -> Option<SizedBox> {
    let side = sides.iter().copied().fold(f64::INFINITY, f64::min);
    let ratios = sides.map(|long| long / side);
    // A side may be rounded to single precision.
    let is_whole = |ratio: &f64| (ratio - ratio.round()).abs() < 1e-7 * ratio && *ratio < MOST;
    let coarse = ratios.map(|ratio| ratio.round() as u32);
    ratios.iter().all(is_whole).then_some(SizedBox {
        domain: Domain { coarse, periodic: [true; 3] },
        side,
        origin: [0.0; 3],
    })
}

/// An open box in which no two particles are farther apart than its side, from their greatest extent along an
/// axis.
pub fn open(extent: f64) -> SizedBox {
    let side = if extent > 0.0 { 2.0 * extent } else { 1.0 };
    SizedBox { domain: Domain { coarse: [1; 3], periodic: [false; 3] }, side, origin: [0.0; 3] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_made_of_cubes() {
        let of = |sides| periodic(sides).map(|space| (space.domain.coarse, space.side));
        assert_eq!(of([12.5; 3]), Some(([1; 3], 12.5)));
        assert_eq!(of([20.0, 10.0, 30.0]), Some(([2, 1, 3], 10.0)));
        assert_eq!(of([f64::from(0.3_f32), 0.1, 0.1]), Some(([3, 1, 1], 0.1)));
        assert_eq!(of([1.0, 1.5, 1.0]), None);
        assert_eq!(of([1.0, 1.0, 1e9]), None);
    }
}
