//! Maps of any region, along any axis, with any number of pixels.
//!
//! What has mass is a set of cuboids: leaves, or small cubes around particles. A cuboid adds to each pixel
//! its density, times the share of the pixel and of the line of sight that it fills.

use inselberg_kernels::sum::{FixedSum, Quantum};

/// A region and the pixels of its map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The lower corner of the region, in the units of the positions. Beyond the edge of a periodic box, the
    /// box repeats.
    pub low: [f64; 3],
    /// Its sides; positive.
    pub sides: [f64; 3],
    /// The axis of the line of sight, 0 to 2.
    pub along: usize,
    /// Pixels along the width and the height of the map.
    pub pixels: [usize; 2],
}

/// The mean density along the line of sight through each pixel of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct DensityMap {
    /// The region.
    pub view: View,
    /// Row by row, the lowest first.
    pub values: Vec<f32>,
}

/// The box in which maps are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapBox {
    /// Its lower corner.
    pub low: [f64; 3],
    /// Its sides.
    pub sides: [f64; 3],
    /// Which axes repeat.
    pub periodic: [bool; 3],
}

impl View {
    /// The axes of the width and of the height of the map.
    pub fn axes(&self) -> [usize; 2] {
        match self.along {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        }
    }

    fn n_pixels(&self) -> usize {
        self.pixels[0] * self.pixels[1]
    }
}

/// A view that is being filled.
pub(crate) struct Exposure<'a> {
    sight: Sight<'a>,
    quantum: Quantum,
    sums: Vec<FixedSum>,
}

/// The part of the box that a view shows.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    view: &'a View,
    space: &'a MapBox,
}

/// Part of an axis that a cuboid covers, from the lower edge of the view.
type Span = [f64; 2];

impl<'a> Exposure<'a> {
    /// An empty map.
    pub fn new(view: &'a View, space: &'a MapBox, quantum: Quantum) -> Self {
        Self { sight: Sight { view, space }, quantum, sums: vec![FixedSum::default(); view.n_pixels()] }
    }

    /// The part that it shows.
    pub fn sight(&self) -> Sight<'a> {
        self.sight
    }

    /// Adds a cuboid.
    pub fn add(&mut self, low: [f64; 3], sides: [f64; 3], density: f64) {
        let Sight { view, .. } = self.sight;
        let View { along, sides: whole, .. } = *view;
        let depth: f64 = self.sight.spans(along, low[along], sides[along]).map(|[from, to]| to - from).sum();
        if depth <= 0.0 {
            return;
        }
        let column = density * depth / whole[along];
        let [across, up] = view.axes();
        for rows in self.sight.spans(up, low[up], sides[up]) {
            for columns in self.sight.spans(across, low[across], sides[across]) {
                self.fill(columns, rows, column);
            }
        }
    }

    /// The sums of the pixels.
    pub fn into_sums(self) -> Vec<FixedSum> {
        self.sums
    }

    fn fill(&mut self, columns: Span, rows: Span, value: f64) {
        let Sight { view, .. } = self.sight;
        let [across, up] = view.axes();
        let [width, height] = view.pixels;
        let x = Pixels::new(columns, view.sides[across], width);
        let y = Pixels::new(rows, view.sides[up], height);
        for row in y.range() {
            let of_row = value * y.share(row);
            for column in x.range() {
                self.sums[row * width + column] += self.quantum.quantize(of_row * x.share(column));
            }
        }
    }
}

impl Sight<'_> {
    /// Whether a cuboid reaches into the view.
    pub fn reaches(&self, low: [f64; 3], sides: [f64; 3]) -> bool {
        (0..3).all(|axis| self.spans(axis, low[axis], sides[axis]).next().is_some())
    }

    /// The parts of the view along an axis that an interval and its periodic images cover.
    fn spans(&self, axis: usize, low: f64, side: f64) -> impl Iterator<Item = Span> + use<> {
        let (from, whole, period) = (self.view.low[axis], self.view.sides[axis], self.space.sides[axis]);
        let images = match self.space.periodic[axis] {
            true => {
                let first = ((from - low - side) / period).ceil() as i64;
                first..=((from + whole - low) / period).floor() as i64
            }
            false => 0..=0,
        };
        images.filter_map(move |image| {
            let start = low + image as f64 * period - from;
            let [start, end] = [start.max(0.0), (start + side).min(whole)];
            (end > start).then_some([start, end])
        })
    }
}

/// The pixels along an axis that an interval covers.
struct Pixels {
    from: f64,
    to: f64,
    n: usize,
}

impl Pixels {
    fn new([from, to]: Span, side: f64, n: usize) -> Self {
        let per_length = n as f64 / side;
        Self { from: from * per_length, to: (to * per_length).min(n as f64), n }
    }

    fn range(&self) -> std::ops::Range<usize> {
        (self.from as usize).min(self.n)..(self.to.ceil() as usize).min(self.n)
    }

    fn share(&self, pixel: usize) -> f64 {
        let low = pixel as f64;
        (self.to.min(low + 1.0) - self.from.max(low)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(view: &View, cuboids: &[([f64; 3], f64, f64)]) -> Vec<f64> {
        let space = MapBox { low: [0.0; 3], sides: [1.0; 3], periodic: [true, true, false] };
        let quantum = Quantum::for_terms(100.0, 1000);
        let mut exposure = Exposure::new(view, &space, quantum);
        for (low, side, density) in cuboids {
            exposure.add(*low, [*side; 3], *density);
        }
        exposure.into_sums().into_iter().map(|sum| quantum.value(sum)).collect()
    }

    #[test]
    fn pixels_get_the_share_that_a_cuboid_fills() {
        let view = View { low: [0.0; 3], sides: [1.0; 3], along: 2, pixels: [2, 2] };
        // It fills a quarter of the first pixel and half of the line of sight.
        assert_eq!(map(&view, &[([0.0, 0.0, 0.0], 0.5, 8.0)]), [4.0, 0.0, 0.0, 0.0]);
        assert_eq!(map(&view, &[([0.25, 0.0, 0.25], 0.5, 8.0)]), [2.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn a_view_over_the_edge_shows_the_other_side() {
        let view = View { low: [-0.5, 0.0, 0.0], sides: [1.0; 3], along: 2, pixels: [2, 1] };
        assert_eq!(map(&view, &[([0.5, 0.0, 0.0], 0.5, 8.0)]), [4.0 / 2.0, 0.0]);
        // The third axis does not repeat.
        let view = View { low: [0.0, 0.0, 0.5], sides: [1.0; 3], along: 0, pixels: [1, 2] };
        assert_eq!(map(&view, &[([0.0; 3], 0.5, 8.0), ([0.0, 0.0, 0.5], 0.5, 8.0)]), [2.0, 0.0]);
    }

    #[test]
    fn the_whole_mass_arrives_whatever_the_view_axis() {
        for along in 0..3 {
            let view = View { low: [0.0; 3], sides: [1.0; 3], along, pixels: [7, 5] };
            let values = map(&view, &[([0.1, 0.2, 0.3], 0.4, 10.0)]);
            let mean = values.iter().sum::<f64>() / 35.0;
            assert!((mean - 10.0 * 0.4f64.powi(3)).abs() < 1e-12, "{along}: {mean}");
        }
    }
}
