//! How large are pixels and channels?

use super::SkyGrid;
use super::spectral::LIGHT;

impl SkyGrid {
    /// The matrix from pixels to offsets on the sky in degrees, around the reference point: rows are towards
    /// east and north, columns along the pixels of longitude and latitude.
    pub fn sky_block(&self) -> Option<[[f64; 2]; 2]> {
        let celestial = self.celestial.as_ref()?;
        let matrix = &self.cards.matrix;
        let row = |i: usize| {
            let axis = celestial.axes[i];
            celestial.axes.map(|j| matrix.rows[axis][j] * matrix.steps[axis] * celestial.degrees[i])
        };
        Some([row(0), row(1)])
    }

    /// The width of a channel in km/s at the reference point; `None` if the spectral axis has no velocity.
    pub fn channel_width(&self) -> Option<f64> {
        let spectral = self.spectral.as_ref().filter(|spectral| spectral.named().name == "velocity")?;
        let (axis, matrix) = (spectral.axis, &self.cards.matrix);
        let at = self.cards.axes[axis].value;
        let step = matrix.rows[axis][axis] * matrix.steps[axis];
        Some((spectral.value(at + step) - spectral.value(at)).abs())
    }

    /// The frequency of the line in Hz, or that of the reference point; `None` if the header has neither.
    pub fn frequency(&self) -> Option<f64> {
        let positive = |x: &f64| x.is_finite() && *x > 0.0;
        let of_wavelength = |metres: f64| LIGHT / metres;
        let of_line = self.cards.rest_frequency.filter(positive);
        let of_line = of_line.or(self.cards.rest_wavelength.filter(positive).map(of_wavelength));
        of_line.or_else(|| {
            let spectral = self.spectral.as_ref()?;
            spectral.frequency(self.cards.axes[spectral.axis].value)
        })
    }
}
