//! Positions from the main peak of a halo on, over the images of a periodic box.

use inselberg_kernels::props::combine::SizedBox;

/// The frame of a halo: its main peak, in a box.
#[derive(Debug, Clone, Copy)]
pub struct HaloFrame {
    /// The box.
    pub space: SizedBox,
    /// The peak, in code units.
    pub peak: [f64; 3],
}

impl HaloFrame {
    /// The shortest vector from the peak, over the periodic images.
    pub fn relative(&self, position: [f64; 3]) -> [f64; 3] {
        let SizedBox { domain, side, .. } = self.space;
        let in_boxes = |x: [f64; 3]| x.map(|x| x / side);
        domain.displacement(in_boxes(self.peak), in_boxes(position)).map(|d| d * side)
    }

    /// A position relative to the peak as one in the box.
    pub fn in_box(&self, relative: [f64; 3]) -> [f64; 3] {
        let SizedBox { domain, side, .. } = self.space;
        let position = std::array::from_fn(|a| (self.peak[a] + relative[a]) / side);
        domain.fold(position).map(|x| x * side)
    }
}
