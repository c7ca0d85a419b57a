//! Numbers of the cells of a program, and particles beside them.

use crate::api::opened::OpenParticles;
use crate::column::{Column, VectorColumn};

/// The values of cells, one per cell in the order of [`Cells`](crate::Cells). From a density alone, or with
/// more.
///
/// ```
/// use inselberg::{CellFields, VectorColumn};
///
/// let (rho, velocity) = (vec![1.0, 2.0], vec![[0.0_f32; 3]; 2]);
/// let fields = CellFields::density(&rho).velocity(VectorColumn::from(&velocity));
/// # let _ = fields;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CellFields<'a> {
    pub(crate) density: Column<'a>,
    pub(crate) velocity: Option<VectorColumn<'a>>,
    pub(crate) mass_density: Option<Column<'a>>,
    pub(crate) particles: Option<&'a OpenParticles>,
    pub(crate) name: &'a str,
}

impl<'a> CellFields<'a> {
    /// The density that is segmented.
    pub fn density(density: impl Into<Column<'a>>) -> Self {
        Self { density: density.into(), velocity: None, mass_density: None, particles: None, name: "density" }
    }

    /// Adds velocities: clumps then have mean velocities.
    #[must_use]
    pub fn velocity(self, velocity: impl Into<VectorColumn<'a>>) -> Self {
        Self { velocity: Some(velocity.into()), ..self }
    }

    /// Adds a mass density, if the segmented field is something else. Masses and centres then come from it.
    #[must_use]
    pub fn mass_density(self, density: impl Into<Column<'a>>) -> Self {
        Self { mass_density: Some(density.into()), ..self }
    }

    /// Adds particles in the same cubic box, held ones or those of an input: members of clumps, for
    /// unbinding, for the table of particles, and for haloes of few particles. They do not change the clumps.
    #[must_use]
    pub fn particles(self, particles: &'a OpenParticles) -> Self {
        Self { particles: Some(particles), ..self }
    }

    /// Sets the name of the segmented field for catalogues; `density` by default.
    #[must_use]
    pub fn name(self, name: &'a str) -> Self {
        Self { name, ..self }
    }

    /// Lifts the densities ([`crate::phew::below_zero`]). Masses stay those of the given densities.
    pub(crate) fn with_lifted(self, lifted: &'a Vec<f64>) -> Self {
        Self { mass_density: self.mass_density.or(Some(self.density)), density: lifted.into(), ..self }
    }

    /// Which fields are given, the same on all ranks.
    pub(crate) fn kinds(&self) -> (&str, bool, bool, bool) {
        (self.name, self.velocity.is_some(), self.mass_density.is_some(), self.particles.is_some())
    }
}

impl<'a, T> From<T> for CellFields<'a>
where
    Column<'a>: From<T>,
{
    fn from(density: T) -> Self {
        Self::density(density)
    }
}
