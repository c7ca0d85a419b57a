//! The place on a map of a position in the box.

use inselberg::{MapBox, View};
use inselberg_kernels::geom::fold;

/// A view of a box.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// The view.
    pub view: &'a View,
    /// The box.
    pub space: &'a MapBox,
}

impl Sight<'_> {
    /// The place of a position, as parts of the width and the height of the map, which may be beyond its
    /// edges; `None` in front of the region or behind it.
    pub fn place(&self, position: &[f64; 3]) -> Option<[f64; 2]> {
        let part = |axis: usize| {
            let beyond = position[axis] - self.view.low[axis];
            let beyond =
                if self.space.periodic[axis] { fold(beyond, self.space.sides[axis]) } else { beyond };
            beyond / self.view.sides[axis]
        };
        (0.0..=1.0).contains(&part(self.view.along)).then(|| self.view.axes().map(part))
    }

    /// After which parts of its width and its height the box repeats.
    pub fn periods(&self) -> [Option<f64>; 2] {
        let Self { view, space } = self;
        view.axes().map(|axis| space.periodic[axis].then(|| space.sides[axis] / view.sides[axis]))
    }
}

/// The longest round length up to three tenths of a width.
pub fn scale_bar(width: f64) -> f64 {
    let most = 0.3 * width;
    let power = 10f64.powf(most.log10().floor());
    let round = [5.0, 2.0, 1.0].map(|digit| digit * power).into_iter().find(|length| *length <= most);
    round.unwrap_or(power)
}

/// A round length as people write it.
pub fn round_length(length: f64) -> String {
    // Without the last digits of rounding.
    let round = format!("{length:.0e}").parse().unwrap_or(length);
    if (1e-4..1e6).contains(&round) { format!("{round}") } else { format!("{round:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_folded_into_the_region() {
        let space = MapBox { low: [0.0; 3], sides: [10.0; 3], periodic: [true; 3] };
        let view = View { low: [9.0, 0.0, 0.0], sides: [2.0, 10.0, 4.0], along: 2, pixels: [4, 4] };
        let sight = Sight { view: &view, space: &space };
        assert_eq!(sight.place(&[0.5, 5.0, 1.0]), Some([0.75, 0.5]));
        assert_eq!(sight.place(&[4.0, 5.0, 1.0]), Some([2.5, 0.5]), "beyond the edge");
        assert_eq!(sight.place(&[0.5, 5.0, 5.0]), None, "in front of the region");
        assert_eq!(sight.periods(), [Some(5.0), Some(1.0)]);
    }

    #[test]
    fn scale_bars_are_round() {
        for (width, length) in [(1.0, 0.2), (100.0, 20.0), (0.07, 0.02), (17.0, 5.0), (34.0, 10.0)] {
            assert!((scale_bar(width) / length - 1.0).abs() < 1e-12, "{width}");
        }
        assert_eq!((round_length(0.1 + 0.2), round_length(2e7)), ("0.3".into(), "2e7".into()));
    }
}
