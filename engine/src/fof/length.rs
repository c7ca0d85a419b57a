//! The linking length.

use crate::exchange::total;
use crate::fof::config::{FofConfig, LinkingLength};
use crate::fof::load::LoadedParticles;
use crate::fof::plan::{ParticleCounts, ReadPlan};
use crate::fof::run_error::FofRunError;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::particles::{MassOf, ParticleHeader};
use rayon::prelude::*;

/// Collective: the mean mass of dark-matter particles; 0 without any. It does not depend on how particles are distributed
/// over ranks.
pub fn mean_dark_mass(loaded: &LoadedParticles, plan: &ReadPlan, comm: &Comm) -> Result<f64, CommError> {
    let mass = |i: usize| loaded.particles.mass.get(i);
    let largest = loaded.dark(plan).map(mass).reduce(|| 0.0, f64::max);
    let least = loaded.dark(plan).map(mass).reduce(|| f64::INFINITY, f64::min);
    let bounds = comm.all_max(&[largest, -least])?;
    let (largest, least) = (bounds[0], -bounds[1]);
    // Equal masses: the mean is exact.
    if largest <= least {
        return Ok(if largest == least { largest } else { 0.0 });
    }
    let sum = total(loaded.dark(plan).map(mass), largest, comm)?;
    let n = loaded.dark(plan).count() as u64;
    let n = comm.all_reduce_counts(&[n], Reduce::Sum)?[0];
    Ok(sum / n as f64)
}

/// The linking length in the units of the positions.
///
/// A ratio refers to the mean separation of dark-matter particles: the cube root of their mean mass over the mean density.
/// That is the density of dark matter where there is gas, and of all matter otherwise. Without cosmology or masses, the
/// mean separation is the cube root of the volume of the box over the number of dark-matter particles.
///
/// # Errors
/// When the input does not have what a ratio needs.
pub fn linking_length(
    about: &ParticleHeader,
    config: &FofConfig,
    plan: &ReadPlan,
    census: &ParticleCounts,
    mean_mass: f64,
) -> Result<f64, FofRunError> {
    let ratio = match config.length {
        LinkingLength::Absolute(length) => return Ok(length),
        LinkingLength::Ratio(ratio) => ratio,
    };
    let missing = |what| Err(FofRunError::NoSeparation { what });
    if census.dark == 0 {
        return missing("the mean separation refers to dark matter, and no dark matter takes part");
    }
    let has_masses = plan.species.iter().any(|s| about.species[*s].mass != MassOf::Unknown);
    if let Some(matter) = about.matter.filter(|_| has_masses) {
        let density = if matter.has_gas { matter.dark } else { Some(matter.all) };
        let Some(density) = density.filter(|d| *d > 0.0) else {
            return missing("there is gas, and the input does not give the density of dark matter");
        };
        return Ok(ratio * (mean_mass / density).cbrt());
    }
    match plan.sides {
        Some(sides) => Ok(ratio * (sides.iter().product::<f64>() / census.dark as f64).cbrt()),
        None => missing("the mean separation is not known without a periodic box"),
    }
}
