//! Boxes and spheres, in code units.

use std::fmt;
use std::str::FromStr;

/// A part of the box of an output, in code units. It may extend beyond walls, and continues on the other side
/// of periodic ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Region {
    /// Points from `lower` up to, but not including, `upper` along each axis.
    Box {
        /// The lower corner.
        lower: [f64; 3],
        /// The upper corner.
        upper: [f64; 3],
    },
    /// Points at most `radius` from `centre`.
    Sphere {
        /// The centre.
        centre: [f64; 3],
        /// The radius.
        radius: f64,
    },
}

impl Region {
    /// The lower and the upper corner of the smallest box around it.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        match self {
            Self::Box { lower, upper } => [*lower, *upper],
            Self::Sphere { centre, radius } => [centre.map(|x| x - radius), centre.map(|x| x + radius)],
        }
    }

    /// With `origin` as the origin of its coordinates.
    pub(super) fn seen_from(&self, origin: [f64; 3]) -> Self {
        let moved = |x: &[f64; 3]| std::array::from_fn(|a| x[a] - origin[a]);
        match self {
            Self::Box { lower, upper } => Self::Box { lower: moved(lower), upper: moved(upper) },
            Self::Sphere { centre, radius } => Self::Sphere { centre: moved(centre), radius: *radius },
        }
    }

    /// Whether its centre is in a box with these sides.
    pub(super) fn is_around(&self, sides: [f64; 3]) -> bool {
        let middle: [f64; 3] = match self {
            Self::Box { lower, upper } => std::array::from_fn(|a| (lower[a] + upper[a]) / 2.0),
            Self::Sphere { centre, .. } => *centre,
        };
        (0..3).all(|a| (0.0..=sides[a]).contains(&middle[a]))
    }

    /// Whether a point is in it. The point is in a box with these sides, periodic along these axes.
    pub(super) fn has_point(&self, x: [f64; 3], sides: [f64; 3], periodic: [bool; 3]) -> bool {
        match self {
            Self::Box { lower, upper } => (0..3).all(|a| {
                // Sides to add to the coordinate, so that it is not below the lower corner.
                let shift = if periodic[a] { ((lower[a] - x[a]) / sides[a]).ceil() } else { 0.0 };
                (lower[a]..upper[a]).contains(&(x[a] + shift * sides[a]))
            }),
            Self::Sphere { centre, radius } => {
                let offset = |a: usize| {
                    let d = x[a] - centre[a];
                    if periodic[a] { d - (d / sides[a]).round() * sides[a] } else { d }
                };
                let [dx, dy, dz] = [offset(0), offset(1), offset(2)];
                dx * dx + dy * dy + dz * dz <= radius * radius
            }
        }
    }
}

/// `box:0,0,0,1,1,1` by two corners, `sphere:0.5,0.5,0.5,0.1` by centre and radius.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Box { lower: [a, b, c], upper: [x, y, z] } => write!(f, "box:{a},{b},{c},{x},{y},{z}"),
            Self::Sphere { centre: [x, y, z], radius } => write!(f, "sphere:{x},{y},{z},{radius}"),
        }
    }
}

/// A text that is not a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected box:X0,Y0,Z0,X1,Y1,Z1 with X0 < X1 and so on, or sphere:X,Y,Z,R with R > 0")]
pub struct NoRegion;

impl FromStr for Region {
    type Err = NoRegion;

    fn from_str(text: &str) -> Result<Self, NoRegion> {
        let (shape, numbers) = text.trim().split_once(':').ok_or(NoRegion)?;
        let numbers =
            numbers.split(',').map(|word| word.trim().parse::<f64>().ok().filter(|x| x.is_finite()));
        let numbers: Vec<f64> = numbers.collect::<Option<_>>().ok_or(NoRegion)?;
        match (shape.trim(), &numbers[..]) {
            ("box", &[a, b, c, x, y, z]) if a < x && b < y && c < z => {
                Ok(Self::Box { lower: [a, b, c], upper: [x, y, z] })
            }
            ("sphere", &[x, y, z, radius]) if radius > 0.0 => Ok(Self::Sphere { centre: [x, y, z], radius }),
            _ => Err(NoRegion),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_region_and_back() {
        for text in ["box:0,0,0,1,2,3", "box:-0.5,0.25,1e-3,0.5,0.75,2", "sphere:0.5,0,1,0.125"] {
            let region: Region = text.parse().expect("a region");
            assert_eq!(region.to_string().parse(), Ok(region));
        }
        for text in [
            "",
            "box",
            "box:0,0,0,1,1",
            "box:0,0,0,0,1,1",
            "sphere:0,0,0,0",
            "sphere:0,0,0,inf",
            "cube:0,0,0,1",
            "box:a,0,0,1,1,1",
        ] {
            assert_eq!(text.parse::<Region>(), Err(NoRegion), "{text}");
        }
    }

    #[test]
    fn regions_continue_behind_periodic_walls_only() {
        let sides = [1.0, 2.0, 1.0];
        let over_walls: [Region; 2] =
            ["box:-0.2,1.8,0,0.2,2.2,1", "sphere:0,2,0.5,0.3"].map(|t| t.parse().expect("sound"));
        for region in over_walls {
            for (x, y) in [(0.1, 1.9), (0.9, 1.9), (0.1, 0.1), (0.9, 0.1)] {
                assert!(region.has_point([x, y, 0.5], sides, [true; 3]), "{region}: {x} {y}");
                let is_inside = region.has_point([x, y, 0.5], sides, [false; 3]);
                assert_eq!(is_inside, (x, y) == (0.1, 1.9), "{region}: {x} {y}");
            }
            assert!(!region.has_point([0.5, 1.0, 0.5], sides, [true; 3]));
        }
        let halves: [Region; 2] =
            ["box:0,0,0,0.5,2,1", "box:0.5,0,0,1,2,1"].map(|t| t.parse().expect("sound"));
        let in_first = |x: f64| halves.map(|half| half.has_point([x, 0.0, 0.5], sides, [true; 3]));
        assert_eq!(
            [0.0, 0.499, 0.5, 0.999].map(in_first),
            [[true, false], [true, false], [false, true], [false, true]]
        );
    }
}
