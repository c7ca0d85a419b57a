//! The linking length.

use crate::exchange::total;
use crate::fof::load::LoadedParticles;
use crate::fof::params::Linking;
use crate::fof::plan::{ParticleCounts, ReadPlan};
use crate::fof::request::FofRequest;
use crate::fof::run_error::FofRunError;
use crate::particles::Bounds;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::particles::{DARK_MATTER, MassOf, ParticleHeader, Positions};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// Particles heavier than the least mass times this belong to a coarser level of a zoom: masses of levels
/// differ by 8.
const CLASS: f64 = 2.0;

/// The masses of dark-matter particles on all ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DarkMasses {
    /// The mean mass of the lightest class: of all particles of at most twice the least mass. 0 without any.
    pub mean: f64,
    /// The number of heavier ones.
    pub n_heavy: u64,
    /// The mass of all.
    pub total: f64,
}

impl DarkMasses {
    /// Collective: of the particles that all ranks read. They do not depend on how particles are distributed
    /// over ranks.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn of_particles(loaded: &LoadedParticles, plan: &ReadPlan, comm: &Comm) -> Result<Self, CommError> {
        let masses = || loaded.dark(plan).map(|i| loaded.particles.mass.get(i));
        let largest = masses().reduce(|| 0.0, f64::max);
        let least = masses().filter(|mass| *mass > 0.0).reduce(|| f64::INFINITY, f64::min);
        let bounds = comm.all_max(&[largest, -least])?;
        let (largest, least) = (bounds[0], -bounds[1]);
        let is_fine = |mass: &f64| *mass <= CLASS * least;
        let counts = [masses().count() as u64, masses().filter(is_fine).count() as u64];
        let counts = comm.all_reduce_counts(&counts, Reduce::Sum)?;
        let (n, n_fine) = (counts[0], counts[1]);
        if largest <= least {
            // Equal masses: the mean is exact.
            let mean = if largest == least { largest } else { 0.0 };
            return Ok(Self { mean, n_heavy: 0, total: mean * n as f64 });
        }
        let fine = total(masses().filter(is_fine), largest, comm)?;
        let all = if n_fine < n { total(masses(), largest, comm)? } else { fine };
        Ok(Self { mean: fine / n_fine as f64, n_heavy: n - n_fine, total: all })
    }

    /// Where a linking length is that of the lightest class alone, in one line.
    pub fn warning(&self, n_dark: u64, request: &FofRequest) -> Option<String> {
        let is_ratio = matches!(request.params.linking, Linking::Ratio(_));
        (is_ratio && self.n_heavy > 0).then(|| {
            let (heavy, fine) = (self.n_heavy, n_dark - self.n_heavy);
            format!(
                "{heavy} dark-matter particles have more than {CLASS} times the least mass; the linking length is that of the \
                 {fine} others, of mean mass {:.6e}",
                self.mean
            )
        })
    }
}

/// Linking lengths of more mean separations join nearly all particles, and of fewer hardly any two. Lengths
/// may be meant for a dense part of the box, ratios are not.
const SENSIBLE_LENGTHS: RangeInclusive<f64> = 1e-3..=1.0;
const SENSIBLE_RATIOS: RangeInclusive<f64> = 0.02..=1.0;
/// The usual ones.
const USUAL: [f64; 2] = [0.1, 0.3];

/// Where a linking length is far from the separations of the particles, in one line with those.
///
/// `volume` is that of the box, or of the least box around the particles, with `n` of them.
pub fn far_from_separation(request: &FofRequest, length: f64, volume: f64, n: u64) -> Option<String> {
    let by_volume = (volume / n as f64).cbrt();
    let (separation, is_far) = match request.params.linking {
        Linking::Ratio(ratio) if !SENSIBLE_RATIOS.contains(&ratio) => (length / ratio, true),
        _ => (by_volume, !SENSIBLE_LENGTHS.contains(&(length / by_volume))),
    };
    // Without a volume there is no separation.
    let ratio = Some(length / separation).filter(|ratio| is_far && ratio.is_finite())?;
    let [least, most] = USUAL.map(|usual| usual * separation);
    Some(format!(
        "the linking length {length:.4e} is {ratio:.3e} mean separations of the linking particles, {separation:.4e}; usual are \
         {} to {} of them: {least:.4e} to {most:.4e}",
        USUAL[0], USUAL[1]
    ))
}

/// Collective: the volume of the box, or of the least box around the particles of all ranks.
///
/// # Errors
/// When another rank fails.
pub fn volume_of(sides: Option<[f64; 3]>, positions: &Positions, comm: &Comm) -> Result<f64, CommError> {
    if let Some(sides) = sides {
        return Ok(sides.iter().product());
    }
    let bounds = Bounds::from_positions(positions).over_ranks(comm)?;
    Ok((0..3).map(|axis| bounds.extent(axis)).product())
}

/// By how much the density of dark matter may differ from that of the cosmology.
const MASS_MARGIN: f64 = 0.1;

/// Where the dark matter that takes part is not that of the cosmology in the box, in one line: a ratio then
/// refers to a separation that its particles may not have.
pub fn other_density(about: &ParticleHeader, request: &FofRequest, masses: &DarkMasses) -> Option<String> {
    let (matter, sides) = (about.matter?, about.sides?);
    let mean = if matter.has_gas { matter.dark? } else { matter.all };
    let expected = mean * about.sampled[usize::from(DARK_MATTER)] * sides.iter().product::<f64>();
    let part = masses.total / expected;
    let is_ratio = matches!(request.params.linking, Linking::Ratio(_));
    (is_ratio && part.is_finite() && (part - 1.0).abs() > MASS_MARGIN).then(|| {
        format!(
            "the dark matter that takes part has {part:.3e} times the mean density of the cosmology in the box, as in a part of a \
             run, in a zoom or with other units; the linking length is that of the full density"
        )
    })
}

/// The linking length in the units of the positions.
///
/// A ratio refers to the mean separation of dark-matter particles: the cube root of their mean mass over the
/// mean density. That is the density of dark matter where there is gas, and of all matter otherwise. Without
/// cosmology or masses, the mean separation is the cube root of the volume of the box over the number of
/// dark-matter particles. Of several classes of mass the lightest counts. Of a subsample it is that of the
/// particles in the input.
///
/// # Errors
/// When the input does not have what a ratio needs.
pub fn linking_length(
    about: &ParticleHeader,
    request: &FofRequest,
    plan: &ReadPlan,
    census: &ParticleCounts,
    masses: &DarkMasses,
) -> Result<f64, FofRunError> {
    let ratio = match request.params.linking {
        Linking::Length(length) => return Ok(length),
        Linking::Ratio(ratio) => ratio,
    };
    let missing = |what| Err(FofRunError::NoSeparation { what });
    if census.dark == 0 {
        return missing("the mean separation refers to dark matter, and no dark matter takes part");
    }
    let has_masses = plan.taken.list.iter().any(|s| about.species[*s].mass != MassOf::Unknown);
    if let Some(matter) = about.matter.filter(|_| has_masses) {
        let density = if matter.has_gas { matter.dark } else { Some(matter.all) };
        let Some(density) = density.filter(|d| *d > 0.0) else {
            return missing("there is gas, and the input does not give the density of dark matter");
        };
        // A subsample has fewer particles of the same mass.
        let sampled = about.sampled[usize::from(DARK_MATTER)];
        return Ok(ratio * (masses.mean / (density * sampled)).cbrt());
    }
    // Of the lightest class as if it filled the box.
    let number = if masses.n_heavy > 0 { masses.total / masses.mean } else { census.dark as f64 };
    match plan.sides {
        Some(sides) => Ok(ratio * (sides.iter().product::<f64>() / number).cbrt()),
        None if about.boundary_is_assumed => missing(
            "the input does not say that its box is periodic, and a given side, which makes it so, is missing",
        ),
        None => missing("the mean separation is not known without a periodic box"),
    }
}
