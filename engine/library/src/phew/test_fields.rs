//! Further values of the test cells.

/// Further values of the test cells, where a run has them.
#[derive(Debug, Default)]
pub struct TestFields {
    /// Mass density, where the segmented field is something else.
    pub mass_density: Option<Vec<f64>>,
    /// Velocities: one list per axis.
    pub velocity: Option<[Vec<f64>; 3]>,
    /// Whether they are pixels of an image, whose patches have shapes.
    pub are_pixels: bool,
}
