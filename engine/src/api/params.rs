//! What a call asks for.

use crate::error::{Error, ErrorKind, RunError};
use crate::fof::{FofConfig, LinkingLength};
use crate::partition::Weights;
use crate::phew::Rules;
use crate::phew::defaults::{self, ThresholdInForce, ThresholdsInForce};
use crate::phew::params::{BoundRequest, DensityUnit, FieldChoice, PhewConfig, PotentialChoice, Thresholds};
use crate::phew::selection::Selection;
use inselberg_kernels::phew::persistence::Persistence;

/// The parameters of PHEW. Densities and masses are in the caller's units.
///
/// For particles, densities are in mean densities of matter where the output states its cosmology and units, else in mean
/// densities of the particles. Under RAMSES's rules the mass of an output with particles is in masses of the lightest one.
///
/// Particles and cosmological outputs of RAMSES need no thresholds: [`Self::default`].
///
/// ```
/// use inselberg::{Persistence, PhewParams};
///
/// let params = PhewParams::new(80.0).persistence(Persistence::Ratio(3.0)).saddle(200.0);
/// assert_eq!((params.density, params.saddle), (Some(80.0), Some(200.0)));
/// assert_eq!(PhewParams::default().density, None);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PhewParams {
    /// Cells denser than this take part. Finite, 0 or more. `None`: 60 mean densities, for particles and cosmological outputs.
    pub density: Option<f64>,
    /// Peaks that stand out less are noise. `None`: a ratio of 3; on a mesh that particles make, of 1.5.
    pub persistence: Option<Persistence>,
    /// In densities that are made of particles, but not by RAMSES's rules: peaks of lower [significance](Self::significance) are
    /// noise. `None`: 3 there.
    pub significance: Option<f64>,
    /// Clumps that meet above this density are one halo. `None` with a density threshold: every clump is a halo. Without one: 200
    /// mean densities.
    pub saddle: Option<f64>,
    /// Clumps of haloes up to this mass are not listed.
    pub mass: f64,
    /// Clumps of haloes with fewer leaf cells are not listed.
    pub min_cells: u64,
    /// Clumps of haloes with fewer particles of an output are not listed.
    pub min_particles: u64,
    /// The paper's rules or those of RAMSES.
    pub rules: Rules,
    /// What is divided evenly among ranks. It never changes a result.
    pub weights: Weights,
    /// Whether catalogues list every leaf cell with its clump and halo.
    pub with_cells: bool,
    /// Whether catalogues list every particle of an output with its clump and halo.
    pub with_particles: bool,
    /// What is found out about the particles of an output that gravity holds in each clump.
    pub bound: BoundRequest,
    /// Also projects the density along z, with pixels as large as cells of this level.
    pub projection_level: Option<u8>,
    /// Which leaves of an output take part.
    pub selection: Selection,
    /// Also keeps the density of an output for [`crate::Clumps::maps`].
    pub keep_density: bool,
    /// Whether particles make the mesh, which has a default of its own.
    pub(crate) is_on_mesh: bool,
}

impl PhewParams {
    /// With this density threshold, a peak-to-saddle ratio of at least 3, no saddle threshold and no mass threshold, by the
    /// paper's rules.
    pub fn new(density: f64) -> Self {
        Self { density: Some(density), ..Self::default() }
    }

    /// The thresholds with their defaults; densities are in `unit`.
    pub(crate) fn in_force(&self, unit: DensityUnit) -> ThresholdsInForce {
        let saddle = match (self.density, self.saddle) {
            (Some(_), None) => None,
            (_, given) => Some(ThresholdInForce::new(given, defaults::SADDLE.value)),
        };
        let ratio = if self.is_on_mesh { defaults::RELEVANCE_ON_MESH } else { defaults::RELEVANCE };
        let ratio = Persistence::Ratio(ratio.value);
        ThresholdsInForce {
            unit,
            density: ThresholdInForce::new(self.density, defaults::DENSITY.value),
            persistence: ThresholdInForce::new(self.persistence, ratio),
            saddle,
        }
    }

    /// Peaks that stand out less are noise.
    #[must_use]
    pub fn persistence(self, persistence: Persistence) -> Self {
        Self { persistence: Some(persistence), ..self }
    }

    /// In densities that are made of particles: peaks whose part above their saddle exceeds shot noise by less, in standard deviations, are
    /// noise if that part has less than 0.02 of the mass of their clump. 0: no peak is noise for that reason.
    #[must_use]
    pub fn significance(self, significance: f64) -> Self {
        Self { significance: Some(significance), ..self }
    }

    /// Clumps that meet above this density are one halo.
    #[must_use]
    pub fn saddle(self, saddle: f64) -> Self {
        Self { saddle: Some(saddle), ..self }
    }

    /// Clumps of haloes up to this mass are not listed.
    #[must_use]
    pub fn mass(self, mass: f64) -> Self {
        Self { mass, ..self }
    }

    /// Clumps of haloes with fewer leaf cells are not listed. Labels of cells stay.
    #[must_use]
    pub fn min_cells(self, min_cells: u64) -> Self {
        Self { min_cells, ..self }
    }

    /// Clumps of haloes with fewer particles, of any type, are not listed. Labels of cells and particles stay.
    #[must_use]
    pub fn min_particles(self, min_particles: u64) -> Self {
        Self { min_particles, ..self }
    }

    /// The paper's rules or those of RAMSES.
    #[must_use]
    pub fn rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// What is divided evenly among ranks.
    #[must_use]
    pub fn weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// Catalogues list every leaf cell with its clump and halo.
    #[must_use]
    pub fn with_cells(self) -> Self {
        Self { with_cells: true, ..self }
    }

    /// Catalogues list every particle of an output with its clump and halo.
    #[must_use]
    pub fn with_particles(self) -> Self {
        Self { with_particles: true, ..self }
    }

    /// What is found out about the particles of an output that gravity holds in each clump. Adds columns to its tables of
    /// clumps and haloes. The output needs velocities and units.
    #[must_use]
    pub fn bound(self, bound: BoundRequest) -> Self {
        Self { bound, ..self }
    }

    /// Also projects the density along z, for a picture ([`crate::Clumps::projection`]). A pixel is as large as a cell of this
    /// level; costs 16 bytes per pixel.
    #[must_use]
    pub fn with_projection(self, level: u8) -> Self {
        Self { projection_level: Some(level), ..self }
    }

    /// Which leaves of an output take part. The others count as not denser than the threshold. An output with particles says how many of
    /// those in the regions are heavier than the lightest one.
    #[must_use]
    pub fn selection(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// Also keeps the density of an output for [`crate::Clumps::maps`]. Costs about 8 bytes per leaf.
    #[must_use]
    pub fn keep_density(self) -> Self {
        Self { keep_density: true, ..self }
    }

    /// The least value that a leaf may have.
    pub(crate) fn least_value(&self) -> f64 {
        match self.thresholds().persistence {
            Persistence::Ratio(_) => 0.0,
            Persistence::Difference(_) => f64::NEG_INFINITY,
        }
    }

    /// For a field of cells: as [`Self::check`], but the density threshold may be below 0 where persistence is a difference.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first parameter that is out of range.
    pub(crate) fn check_on_cells(&self) -> Result<(), Error> {
        let Thresholds { density, persistence, .. } = self.thresholds();
        if !(persistence.is_difference() && density < 0.0 && density.is_finite()) {
            return self.check();
        }
        // 0 in a catalogue says that there is no saddle threshold.
        if let Some(saddle) = self.saddle.filter(|saddle| *saddle <= 0.0) {
            let message = format!("the saddle threshold is {saddle}; expected a number above 0");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Self { density: Some(0.0), ..self.clone() }.check()
    }

    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first parameter that is out of range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refused = |message: String| Err(Error::new(ErrorKind::InvalidArgument, message));
        let is_valid = |x: f64| x.is_finite() && x >= 0.0;
        let Thresholds { density, persistence, saddle, .. } = self.thresholds();
        if !is_valid(density) {
            return refused(format!("the density threshold is {density}; expected 0 or more"));
        }
        let (Persistence::Ratio(least) | Persistence::Difference(least)) = persistence;
        if !is_valid(least) {
            return refused(format!("the persistence threshold is {least}; expected 0 or more"));
        }
        if let Some(least) = self.significance.filter(|least| !is_valid(*least)) {
            return refused(format!("the significance threshold is {least}; expected 0 or more"));
        }
        if self.rules == Rules::Ramses && self.significance.is_some() {
            return refused(RunError::SignificanceOfRamses.to_string());
        }
        if let Some(saddle) = saddle.filter(|saddle| !(is_valid(*saddle) && *saddle >= density)) {
            return refused(format!(
                "the saddle threshold is {saddle}; expected at least the density threshold, {density}"
            ));
        }
        if !is_valid(self.mass) {
            return refused(format!("the mass threshold is {}; expected 0 or more", self.mass));
        }
        if let Some(length) = self.bound.softening.invalid() {
            return refused(format!("a softening length is {length}; expected a finite number, 0 or more"));
        }
        if let Some(ratio) = self.bound.invalid_adiabatic_index() {
            return refused(format!(
                "the ratio of specific heats is {ratio}; expected a finite number above 1"
            ));
        }
        if self.rules == Rules::Ramses && persistence.is_difference() {
            return refused("RAMSES's rules know no difference; expected a persistence by ratio".into());
        }
        if self.rules != Rules::Ramses && self.bound.unbind == Some(PotentialChoice::Ramses) {
            return refused(RunError::PotentialOfRamses.to_string());
        }
        Ok(())
    }

    /// For an output on disk.
    pub(crate) fn config(&self, field: FieldChoice) -> PhewConfig {
        PhewConfig {
            field,
            thresholds: self.thresholds(),
            rules: self.rules,
            with_cells: self.with_cells,
            with_particles: self.with_particles,
            bound: self.bound,
            weights: self.weights,
            selection: self.selection.clone(),
            keep_leaves: self.keep_density,
            min_particles: self.min_particles,
        }
    }

    pub(crate) fn thresholds(&self) -> Thresholds {
        let ThresholdsInForce { density, persistence, saddle, .. } = self.in_force(DensityUnit::Code);
        Thresholds {
            density: density.value,
            persistence: persistence.value,
            saddle: saddle.map(|saddle| saddle.value),
            significance: self.significance,
            mass: self.mass,
            min_cells: self.min_cells,
        }
    }
}

/// The linking length of friends-of-friends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Linking {
    /// A length in the units of the positions.
    Length(f64),
    /// A part of the mean separation of the particles in the box.
    Ratio(f64),
}

/// The parameters of friends-of-friends.
///
/// ```
/// use inselberg::{FofParams, Linking};
///
/// let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(32);
/// assert_eq!(params.min_size, 32);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FofParams {
    /// Particles nearer than this are in one group.
    pub linking: Linking,
    /// Least number of members of a group.
    pub min_size: u64,
    /// Whether particles may share an ID. Ties between distances are then decided by positions.
    pub allow_duplicate_ids: bool,
    /// Groups of at least this mass, in solar masses, that have no black hole are marked for one.
    pub seed_mass: Option<f64>,
    /// The number of particles in no group, in catalogues.
    pub id_of_none: u64,
    /// The number of the largest group, in catalogues. The others follow.
    pub first_id: u64,
    /// Whether the group of every particle of an output is kept, in the order of its files.
    pub with_group_ids: bool,
    /// Whether the mass is projected along z.
    pub with_projection: bool,
    /// Whether the particles of an output are kept for [`crate::FofGroups::maps`].
    pub keep_particles: bool,
    /// What is found out about the groups of particles on disk.
    pub bound: BoundRequest,
    /// The softening length of all particles for that, in the units of the positions; `None`: that of the input, else
    /// a fifth of the linking length.
    pub softening: Option<f64>,
}

impl Default for FofParams {
    /// A linking length of 0.2 mean separations, and groups of 20 particles or more.
    fn default() -> Self {
        Self {
            linking: Linking::Ratio(0.2),
            min_size: 20,
            allow_duplicate_ids: false,
            seed_mass: None,
            id_of_none: 0,
            first_id: 1,
            with_group_ids: false,
            with_projection: false,
            keep_particles: false,
            bound: BoundRequest::default(),
            softening: None,
        }
    }
}

impl FofParams {
    /// Particles nearer than this are in one group.
    #[must_use]
    pub fn linking(self, linking: Linking) -> Self {
        Self { linking, ..self }
    }

    /// Least number of members of a group.
    #[must_use]
    pub fn min_size(self, min_size: u64) -> Self {
        Self { min_size, ..self }
    }

    /// Particles may share an ID.
    #[must_use]
    pub fn allow_duplicate_ids(self) -> Self {
        Self { allow_duplicate_ids: true, ..self }
    }

    /// Groups of at least this mass, in solar masses, that have no black hole are marked for one. Needs units.
    #[must_use]
    pub fn seed_mass(self, solar_masses: f64) -> Self {
        Self { seed_mass: Some(solar_masses), ..self }
    }

    /// The numbers in catalogues: of particles in no group, and of the largest group.
    #[must_use]
    pub fn numbering(self, id_of_none: u64, first_id: u64) -> Self {
        Self { id_of_none, first_id, ..self }
    }

    /// Keeps the group of every particle of an output ([`crate::FofGroups::write_group_ids`]).
    #[must_use]
    pub fn with_group_ids(self) -> Self {
        Self { with_group_ids: true, ..self }
    }

    /// Also projects the mass along z, for a picture ([`crate::FofGroups::projection`]).
    #[must_use]
    pub fn with_projection(self) -> Self {
        Self { with_projection: true, ..self }
    }

    /// Also keeps positions and masses of the particles of an output for [`crate::FofGroups::maps`]. Costs 12 to 32 bytes per
    /// particle.
    #[must_use]
    pub fn keep_particles(self) -> Self {
        Self { keep_particles: true, ..self }
    }

    /// What is found out about the groups of particles on disk. Adds columns to the table of groups. Unbinding needs velocities
    /// and units, spheres a cosmology. Spheres are about the most bound particle, or about the centre of mass without unbinding.
    #[must_use]
    pub fn bound(self, bound: BoundRequest) -> Self {
        Self { bound, ..self }
    }

    /// The softening length of all particles, in the units of the positions. Positive.
    #[must_use]
    pub fn softening(self, length: f64) -> Self {
        Self { softening: Some(length), ..self }
    }

    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the softening length is out of range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.softening.filter(|length| !(length.is_finite() && *length > 0.0)) {
            Some(length) => {
                let message = format!("the softening length is {length}; expected a positive number");
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
            None => Ok(()),
        }
    }

    /// As the configuration of a search of dark matter.
    pub(crate) fn config(&self) -> FofConfig {
        let length = match self.linking {
            Linking::Length(length) => LinkingLength::Absolute(length),
            Linking::Ratio(ratio) => LinkingLength::Ratio(ratio),
        };
        FofConfig {
            seed_mass: self.seed_mass,
            id_default: self.id_of_none,
            id_offset: self.first_id,
            allow_duplicate_ids: self.allow_duplicate_ids,
            with_picture: self.with_projection,
            keep_particles: self.keep_particles,
            with_ids: self.with_group_ids,
            bound: self.bound,
            softening: self.softening,
            ..FofConfig::of_dark_matter(length, self.min_size)
        }
    }
}
