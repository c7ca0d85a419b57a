//! The unit of density thresholds for particles.

use inselberg_io::particles::ParticleHeader;

/// The unit of density thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DensityUnit {
    /// The unit of the input.
    Code,
    /// The mean density of matter in the cosmology of the run.
    MeanMatter,
    /// The mean density of the particles that make the mesh or the graph.
    MeanOfParticles,
}

impl std::fmt::Display for DensityUnit {
    /// As catalogues and summaries name it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Code => "code unit",
            Self::MeanMatter => "mean matter density",
            Self::MeanOfParticles => "mean density of the particles",
        })
    }
}

/// The mean density that is the unit of thresholds for particles, in code units: that of all matter where the
/// input states a cosmology and its units, else `of_particles`. Particles of some types, or of a zoom, have
/// another mean than the matter.
pub fn threshold_unit(about: &ParticleHeader, of_particles: f64) -> (f64, DensityUnit) {
    match mean_matter(about) {
        Some(mean) => (mean, DensityUnit::MeanMatter),
        None => (of_particles, DensityUnit::MeanOfParticles),
    }
}

/// The mean density of all matter in code units, where the input states a cosmology and its units.
pub fn mean_matter(about: &ParticleHeader) -> Option<f64> {
    let is_guess = about.assumed_units.iter().any(|name| name != "velocity");
    about.matter.map(|matter| matter.all).filter(|mean| !is_guess && mean.is_finite() && *mean > 0.0)
}
