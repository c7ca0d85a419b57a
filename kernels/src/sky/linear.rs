//! From pixels to offsets from the reference point, in the units of the axes.

use super::SkyError;

/// A matrix with a step per row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PixelMatrix {
    /// The rows of `PCi_j` or `CDi_j`.
    pub rows: Vec<Vec<f64>>,
    /// `CDELTi`; 1 for `CDi_j`.
    pub steps: Vec<f64>,
}

impl PixelMatrix {
    /// A diagonal matrix with these steps.
    pub fn of_steps(steps: Vec<f64>) -> Self {
        let n = steps.len();
        let row = |i| (0..n).map(|j| f64::from(u8::from(i == j))).collect();
        Self { rows: (0..n).map(row).collect(), steps }
    }

    /// Turns the plane of two axes by an angle in degrees, as `CROTAi` of the latitude does.
    pub fn turn(&mut self, [lon, lat]: [usize; 2], degrees: f64) {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let ratio = self.steps[lat] / self.steps[lon];
        (self.rows[lon][lon], self.rows[lat][lat]) = (cos, cos);
        (self.rows[lon][lat], self.rows[lat][lon]) = (-sin * ratio, sin / ratio);
    }

    /// The offset along axis `i` of a pixel from the reference pixel.
    pub(super) fn offset(&self, i: usize, pixel: &[f64], reference: impl Fn(usize) -> f64) -> f64 {
        let terms = self.rows[i].iter().enumerate().filter(|(_, factor)| **factor != 0.0);
        self.steps[i] * terms.map(|(j, factor)| factor * (pixel[j] - reference(j))).sum::<f64>()
    }

    /// Checks that there are `n` rows, none of which is zero.
    pub(super) fn check(&self, n: usize) -> Result<(), SkyError> {
        debug_assert!(self.rows.len() == n && self.steps.len() == n);
        let is_sound = |i: usize| {
            let row = &self.rows[i];
            let (step, sum) = (self.steps[i], row.iter().map(|x| x.abs()).sum::<f64>());
            row.len() == n && step.is_finite() && step != 0.0 && sum.is_finite() && sum > 0.0
        };
        (0..n).find(|i| !is_sound(*i)).map_or(Ok(()), |i| Err(SkyError::Step(i + 1)))
    }
}
