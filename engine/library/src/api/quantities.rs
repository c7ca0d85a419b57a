//! Values of parameters that were given with units, in the units of the parameters of an input.

use crate::api::opened::OpenParticles;
use crate::api::session::Session;
use crate::error::Error;
use crate::particle_mesh::{ParticleMeshConfig, mean_density};
use crate::particles::{DensityUnit, mean_matter};
use crate::phew::params::ThresholdUnits;
use inselberg_io::Header;
use inselberg_io::catalogue::Dimension;
use inselberg_io::params::{DensityScale, InputScale, ParamError, Params};
use inselberg_io::particles::ParticleHeader;
use inselberg_kernels::phew::Rules;

/// The parameters with all values in their own units.
///
/// # Errors
/// A value that the input cannot convert, or that is out of range.
pub(crate) fn converted<P: Params + Clone>(params: &P, scale: &InputScale) -> Result<P, ParamError> {
    let mut converted = params.clone();
    converted.convert(scale)?;
    Ok(converted)
}

/// The units of an output with cells. By RAMSES's rules the unit of masses is that of its lightest particle.
pub(crate) fn scale_of_cells(header: &Header, has_units: bool, rules: Rules) -> InputScale {
    let scale = InputScale::of_cells(header, has_units);
    InputScale { mass: scale.mass.filter(|_| rules == Rules::Paper), ..scale }
}

/// Collective: the units of particles, whose densities are in mean densities. The particles are read only if
/// a value with a unit needs their own mean density, in code units.
///
/// # Errors
/// When the particles do not suit `mesh` or cannot be read, and when another rank fails.
pub(crate) fn scale_of_particles<P: Params>(
    session: &Session,
    particles: &OpenParticles,
    mesh: &ParticleMeshConfig,
    unit: MeanOf,
    params: &P,
) -> Result<InputScale, Error> {
    let input = of_header(particles.reader().about());
    if !params.waits_for(Dimension::DENSITY) {
        return Ok(input);
    }
    let (density, of) = match (unit, input.mean) {
        (MeanOf::Matter, Some(mean)) => (mean, DensityUnit::MeanMatter),
        _ => {
            let mean = mean_density(particles.reader(), mesh, session.comm, session.executor)?;
            (mean, DensityUnit::MeanOfParticles)
        }
    };
    Ok(ThresholdUnits { density, of, mass: 1.0 }.scale(input))
}

/// Which mean density is the unit of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeanOf {
    /// That of matter where the input states it, else that of the particles.
    Matter,
    /// That of the particles.
    Particles,
}

/// The units of particles whose parameters are in code units.
pub(crate) fn of_header(about: &ParticleHeader) -> InputScale {
    InputScale {
        units: about.units,
        cosmology: about.cosmology.clone(),
        mean: mean_matter(about),
        density: DensityScale::Code,
        mass: Some(1.0),
        sigma: None,
    }
}
