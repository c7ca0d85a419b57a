//! What PHEW takes.

use crate::bound::{BoundRequest, PropertyChoice};
use crate::density::LeafValues;
use crate::error::RunError;
use crate::partition::Weights;
use crate::phew::Rules;
use crate::phew::defaults::{self, ThresholdInForce, ThresholdsInForce};
use crate::phew::image::{ImageNoise, ImageParams};
use crate::phew::params::{
    DensityUnit, FieldChoice, LEAST_THRESHOLD, Thresholds, check_rules, set_persistence,
};
use crate::phew::selection::Selection;
use crate::tracks::TrackParams;
use inselberg_io::params;
use inselberg_io::params::{ParamError, Params, check_ranges};
use inselberg_kernels::phew::persistence::Persistence;

const DENSITY: &str =
    "a finite number, 0 or more (any number with `relevance_difference` in a field of cells)";
// These hold for a new cut as well.
pub(super) const RATIO: &str = "a finite ratio, 0 or more";
pub(super) const DIFFERENCE: &str = "a finite difference, 0 or more";
pub(super) const SIGNIFICANCE: &str = "a finite number of standard deviations, 0 or more";
pub(super) const HALO: &str = "a finite relevance, 0 or more, or to leave it out for no such pass";
pub(super) const MASS: &str = "a finite mass, 0 or more";
pub(super) const CELLS: &str = "a number of cells up to 1e18";
/// The greatest number of [`CELLS`].
pub(super) const MOST_CELLS: u64 = 1_000_000_000_000_000_000;

/// The greatest number of halves.
const MOST_SUBSAMPLES: u64 = 1000;

params! {
    /// The parameters of PHEW. Densities and masses are in the caller's units.
    ///
    /// For particles, densities are in units of the mean matter density if the output states its cosmology
    /// and units, else of the mean density of the particles. Under RAMSES's rules the mass of an output with
    /// particles is in masses of the lightest one.
    ///
    /// Particles, cosmological outputs of RAMSES, and images with noise around 0 need no thresholds:
    /// [`Self::default`].
    ///
    /// ```
    /// use inselberg::{Persistence, PhewParams};
    ///
    /// let params = PhewParams::new(80.0).persistence(Persistence::Ratio(3.0)).saddle(200.0);
    /// assert_eq!((params.density, params.saddle), (Some(80.0), Some(200.0)));
    /// assert_eq!(PhewParams::default().density, None);
    /// ```
    #[non_exhaustive]
    pub struct PhewParams of "phew" measured in quantities {
        /// Density above which cells or particles are segmented.
        ///
        /// For particles the unit is the mean density of matter, Omega_m rho_crit, if the input states its
        /// cosmology and units, else the mean density of the particles. Fields of cells are in code units; in
        /// a cosmological RAMSES run that is the mean density of matter too. The default holds for particles,
        /// and for the matter of such runs without RAMSES's rules. For FITS images with values below 0 it is
        /// 5 standard deviations of their noise, with a `relevance_difference` of 2. Otherwise a value is
        /// required, and `inselberg info --thresholds` suggests values. 0 or more, or any number with
        /// `relevance_difference` in a field of cells; RAMSES's density_threshold.
        pub density: Option<f64> = None, "density_threshold" = real(
            defaults::DENSITY.text,
            |_| true,
            DENSITY,
        ).measured(Measure::DENSITY);
        /// Peaks that stand out less are noise. `None`: a ratio of 3; on a mesh that particles make, of 1.5;
        /// in images with noise, a difference of 2 standard deviations.
        pub persistence: Option<Persistence> = None;
        /// Least significance of a peak in a density of particles; 3 by default.
        ///
        /// The significance is the excess of mass above the saddle of a peak, in standard deviations of the shot noise of
        /// particles. A peak below the threshold is noise if less than 0.03 of the mass of its clump is above its saddle, below twice the
        /// threshold if less than 0.02 is, and in any case below 1. The component into which it dies is
        /// tested in the same way, with its part above that saddle. 0: no such test. Only for densities made
        /// from particles, and not with RAMSES's rules.
        pub significance: Option<f64> = None, "significance_threshold" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x >= 0.0), SIGNIFICANCE).topic(Topic::Particles).example("0");
        /// Saddle density above which clumps merge into one halo.
        ///
        /// At least the density threshold, in the same units; RAMSES's saddle_threshold. The default holds if
        /// no density threshold is given. If only a density threshold is given, every clump is its own halo.
        pub saddle: Option<f64> = None, "saddle_threshold" = real(
            defaults::SADDLE.text,
            |x: &Option<f64>| x.is_none_or(|x| x > 0.0),
            "a finite number above 0, or to leave it out for no halo pass",
        ).measured(Measure::DENSITY);
        /// Merge clumps of lower relevance into haloes, in place of a saddle threshold.
        ///
        /// The second merging of the PHEW paper, by a higher relevance threshold: clumps that stand out less
        /// above their highest saddle merge through it, and no clump is discarded. At least the relevance
        /// threshold, and of its kind: a ratio, or a difference in the unit of the density threshold. Not
        /// with RAMSES's rules.
        pub halo_relevance: Option<f64> = None, "halo_relevance" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x >= 0.0),
            HALO,
        ).instead_of("saddle_threshold").example("5");
        /// Largest halo mass whose clumps are not listed (code units).
        ///
        /// By RAMSES's rules the unit is the mass of the lightest particle, as for RAMSES's mass_threshold.
        pub mass: f64 = 0.0, "mass_threshold" =
            real("0", |x| *x >= 0.0, MASS).measured(Measure::MASS);
        /// Least number of leaf cells of a halo whose clumps are listed.
        ///
        /// Every clump of such a halo is listed, however small, so that every parent is. Labels of cells and
        /// particles do not change. Pictures have separate limits.
        pub min_cells: u64 = 0, "min_cells" = count("0", |n| *n <= MOST_CELLS, CELLS);
        /// Least number of particles, of any type, of a halo whose clumps are listed.
        ///
        /// All particles in the patches of the halo count, bound or not. They are read once more. As for
        /// `min_cells`, every clump of such a halo is listed. A new cut cannot use it, because the tree has
        /// no numbers of particles.
        pub min_particles: u64 = 0, "min_particles" =
            count("0", |_| true, "a number of particles").topic(Topic::Particles);
        /// The rules to follow where the PHEW paper and RAMSES differ.
        ///
        /// ramses: the catalogues agree with RAMSES's own clump finder. docs/ramses.md lists the differences.
        pub rules: Rules = Rules::Paper, "compat" = of_whole(
            ParamKind::Choice(&["paper", "ramses"]),
            "paper",
            |rules, text, _| assign(rules, match text {
                "paper" => Some(Rules::Paper),
                "ramses" => Some(Rules::Ramses),
                _ => None,
            }),
            |rules| Some(if *rules == Rules::Ramses { "ramses" } else { "paper" }.into()),
            "paper or ramses",
        );
        /// What is divided evenly among ranks. It never changes a result.
        ///
        /// test-cells: cells above the density threshold. leaves: leaf cells, as simulations divide their
        /// mesh. work: leaves and, weighted more, test cells, with compact regions.
        pub weights: Weights = Weights::TestCells, "balance" =
            choice("test-cells", Weights::WORDS, "test-cells, leaves or work").topic(Topic::Launch);
        /// List for which other thresholds clumps and haloes are the same.
        ///
        /// Adds the saddle at which a peak dies, and the ranges of the relevance and the saddle threshold
        /// with the same cells. Adds the range of masses within a factor 1.5 of both, too: 48 bytes per
        /// clump, 64 per halo. Not with RAMSES's rules. The significance of particles has no ranges of the
        /// relevance threshold.
        pub stability: bool = true, "stability" = flag("true").topic(Topic::Properties);
        /// Search this many halves of the particles, and list how often each clump is found again.
        ///
        /// Adds the part of the halves in which a clump is found, and the spread of its mass: a frequency, not
        /// a probability of being real. Halves come in pairs that complement each other, drawn by a hash of
        /// identities. Each costs a search of half the particles. Only for particles on a mesh or as a graph.
        pub subsamples: u64 = 0, "subsamples" =
            count("0", |n| *n <= MOST_SUBSAMPLES, "0 to 1000 halves").topic(Topic::Properties);
        /// Also list every leaf cell with its clump and halo.
        pub with_cells: bool = false, "with_cells" = flag("false").topic(Topic::Results);
        /// Also list every particle with its clump and halo.
        pub with_particles: bool = false, "with_particles" = flag("false").topic(Topic::Results);
        /// Also projects the density along z, with pixels as large as cells of this level
        /// ([`crate::Clumps::projection`]). Costs 16 bytes per pixel.
        pub projection_level: Option<u8> = None;
        /// Which leaves of an output take part. The others count as not denser than the threshold. If the
        /// output has particles, those in the regions that are heavier than the lightest one are counted.
        pub selection: Selection = Selection::default();
        /// Also keeps the density of an output for [`crate::Clumps::maps`]. Costs about 8 bytes per leaf.
        pub keep_density: bool = false;
        /// Whether particles make the mesh, which has its own default.
        pub(crate) is_on_mesh: bool = false;
    }
    with {
        /// What a FITS image or cube leaves open.
        image: ImageParams,
        /// Properties of the particles of an output that gravity binds to each clump. Adds columns to its
        /// tables of clumps and haloes. The output needs velocities and units.
        bound: BoundRequest,
        /// Whether objects are remembered from output to output.
        tracks: TrackParams,
    }
    also {
        /// Smallest peak-to-saddle density ratio of a peak that is not noise.
        ///
        /// A peak with a smaller ratio to its highest saddle is merged through that saddle. On a mesh from
        /// particles the default is 1.5, because significance identifies noise there. RAMSES's
        /// relevance_threshold is 2 by default; the PHEW paper uses 1.5 for gas. 1 or less keeps every peak.
        "relevance_threshold" = of_whole(
            ParamKind::Real,
            defaults::RELEVANCE.text,
            |of: &mut PhewParams, text, _| set_persistence(&mut of.persistence, text, Persistence::Ratio),
            |of| of.persistence.filter(|of| !of.is_difference()).map(|of| of.threshold().to_string()),
            RATIO,
        ).instead_of("relevance_difference");
        /// Instead of a ratio: smallest peak-to-saddle density difference (code units).
        ///
        /// A peak is noise if its density minus its highest saddle is smaller. For fields such as
        /// overdensities: leaf cells may then be negative, and so may the density threshold. Not with
        /// RAMSES's rules. The unit is that of the density threshold. The default for FITS images with noise
        /// is 2 standard deviations.
        "relevance_difference" = of_whole(
            ParamKind::Real,
            "",
            |of: &mut PhewParams, text, _| set_persistence(&mut of.persistence, text, Persistence::Difference),
            |of| of.persistence.filter(|of| of.is_difference()).map(|of| of.threshold().to_string()),
            DIFFERENCE,
        ).instead_of("relevance_threshold").measured(Measure::DENSITY).example("1.5");
        /// Segment only the leaves whose centre is in this box or sphere (code units).
        ///
        /// Other leaves count as not above the density threshold. Regions continue behind periodic walls:
        /// box:-0.1,0,0,0.1,1,1 lies on both sides of x = 0. The lower faces of a box belong to it, the upper
        /// ones do not. Several regions are separated by `;`. The summary counts the dark-matter particles of
        /// the region that are heavier than the lightest one.
        "region" = of_whole(
            ParamKind::Text("box:X0,Y0,Z0,X1,Y1,Z1|sphere:X,Y,Z,R"),
            "",
            |of: &mut PhewParams, text, _| of.selection.set_regions(text),
            |of| Some(of.selection.regions_text()).filter(|text| !text.is_empty()),
            "box:X0,Y0,Z0,X1,Y1,Z1 with X0 < X1 and so on, or sphere:X,Y,Z,R with R > 0; several are separated by `;`",
        ).topic(Topic::Input).measured(Measure::LENGTH).example("sphere:0.5,0.5,0.5,0.1");
        /// Segment only the leaves of these levels, both included.
        ///
        /// Other leaves count as not above the density threshold. With `region`, both conditions must hold.
        "levels" = of_whole(
            ParamKind::Text("MIN:MAX"),
            "",
            |of: &mut PhewParams, text, _| of.selection.set_levels(text),
            |of| of.selection.levels.map(|[least, most]| format!("{least}:{most}")),
            "two levels, the first at most the second, as in 10:14",
        ).topic(Topic::Input).example("10:14");
    }
}

impl PhewParams {
    /// With this density threshold, a peak-to-saddle ratio of at least 3, no saddle threshold and no mass
    /// threshold, by the paper's rules.
    pub fn new(density: f64) -> Self {
        Self { density: Some(density), ..Self::default() }
    }

    /// The thresholds with their defaults; densities are in `unit`.
    pub(crate) fn in_force(&self, unit: DensityUnit) -> ThresholdsInForce {
        let of_noise = self.noise_of_defaults().map(|noise| defaults::OF_NOISE.map(|n| n * noise));
        let saddle = match (self.density, of_noise, self.saddle) {
            _ if self.halo_relevance.is_some() => {
                self.saddle.map(|given| ThresholdInForce::new(Some(given), given))
            }
            (Some(_), _, None) | (_, Some(_), None) => None,
            (_, _, given) => Some(ThresholdInForce::new(given, defaults::SADDLE.value)),
        };
        let ratio = if self.is_on_mesh { defaults::RELEVANCE_ON_MESH } else { defaults::RELEVANCE };
        let persistence = match of_noise {
            Some([_, difference]) => Persistence::Difference(difference),
            None => Persistence::Ratio(ratio.value),
        };
        let density = of_noise.map_or(defaults::DENSITY.value, |[density, _]| density);
        ThresholdsInForce {
            unit,
            density: ThresholdInForce::new(self.density, density),
            persistence: ThresholdInForce::new(self.persistence, persistence),
            saddle,
            halo_relevance: self.halo_relevance,
        }
    }

    /// The noise of an image, which decides about its defaults.
    pub(crate) fn noise_of_defaults(&self) -> Option<f64> {
        let known = self.image.known.as_ref().filter(|_| self.rules == Rules::Paper);
        known.map(ImageNoise::in_densities)
    }

    /// The least value that a leaf may have.
    pub(crate) fn least_value(&self) -> f64 {
        match self.thresholds().persistence {
            Persistence::Ratio(_) => 0.0,
            Persistence::Difference(_) => f64::NEG_INFINITY,
        }
    }

    /// For a field of cells: as [`Self::check`], but the density threshold may be below 0 where persistence
    /// is a difference.
    ///
    /// # Errors
    /// The first parameter that is out of range or does not go with another one.
    pub fn check_on_cells(&self) -> Result<(), ParamError> {
        let Thresholds { density, persistence, .. } = self.thresholds();
        if !(persistence.is_difference() && density < 0.0 && density.is_finite()) {
            return self.check();
        }
        // 0 in a catalogue says that there is no saddle threshold.
        if let Some(saddle) = self.saddle.filter(|saddle| *saddle <= 0.0) {
            return Err(ParamError::value("saddle_threshold", saddle, "a number above 0"));
        }
        Self { density: Some(0.0), ..self.clone() }.check()
    }

    /// Checks each parameter, and those that depend on each other.
    ///
    /// # Errors
    /// The first parameter that is out of range or does not go with another one.
    pub fn check(&self) -> Result<(), ParamError> {
        check_ranges(self)?;
        if self.quantities.is_empty() {
            self.check_densities()?;
        }
        if self.bound.with_members && !self.bound.unbind {
            return Err(ParamError::value("with_members", true, "`unbind` beside it"));
        }
        self.tracks.check(&self.bound, self.bound.allow_duplicate_ids, "`unbind`")?;
        if self.bound.properties != PropertyChoice::Basic && !self.bound.unbind {
            let expected = "`unbind` beside it, or gas alone";
            return Err(ParamError::value("properties", self.bound.properties.name(), expected));
        }
        check_rules(self.rules, &self.thresholds(), &self.bound)?;
        Ok(())
    }

    /// Checks the density threshold and the saddle threshold against each other.
    fn check_densities(&self) -> Result<(), ParamError> {
        let Thresholds { density, saddle, .. } = self.thresholds();
        if density < 0.0 {
            return Err(ParamError::value("density_threshold", density, DENSITY));
        }
        match saddle.filter(|saddle| *saddle < density) {
            None => Ok(()),
            Some(saddle) => {
                let expected = format!("at least the density threshold {density}");
                Err(ParamError::value("saddle_threshold", saddle, expected))
            }
        }
    }

    /// Whether a density threshold is given.
    pub fn has_density(&self) -> bool {
        self.get("density_threshold").is_some()
    }

    /// The thresholds in force, in the units in which they were given.
    #[doc(hidden)]
    pub fn thresholds(&self) -> Thresholds {
        let ThresholdsInForce { density, persistence, saddle, .. } = self.in_force(DensityUnit::Code);
        Thresholds {
            density: density.value,
            persistence: persistence.value,
            saddle: saddle.map(|saddle| saddle.value),
            halo_relevance: self.halo_relevance,
            significance: self.significance,
            mass: self.mass,
            min_cells: self.min_cells,
        }
    }
}

/// With these thresholds and no defaults.
impl From<Thresholds> for PhewParams {
    fn from(of: Thresholds) -> Self {
        let Thresholds { density, persistence, significance, saddle, halo_relevance, mass, min_cells } = of;
        let (density, persistence) = (Some(density), Some(persistence));
        Self {
            density,
            persistence,
            significance,
            saddle,
            halo_relevance,
            mass,
            min_cells,
            ..Self::default()
        }
    }
}

impl PhewParams {
    /// Checks what a search refuses: thresholds against each other and against the rules.
    ///
    /// # Errors
    /// When the density threshold is negative without a difference or beside what needs masses, RAMSES's
    /// rules meet a persistence that is no ratio or a significance, or its unbinding meets the rules of the
    /// paper.
    pub(crate) fn check_search(&self) -> Result<(), RunError> {
        let thresholds = self.thresholds();
        check_rules(self.rules, &thresholds, &self.bound)?;
        let Thresholds { density, persistence, .. } = thresholds;
        match persistence {
            _ if density.is_nan() || density < LEAST_THRESHOLD => Err(RunError::NegativeThreshold(density)),
            Persistence::Ratio(_) if density < 0.0 => Err(RunError::NegativeThreshold(density)),
            _ if density < 0.0 && self.bound.needs_members() => Err(RunError::MassesBelowZero(density)),
            _ => Ok(()),
        }
    }

    /// Whether all particles of the input are placed in patches, be it to list or to count them. Those that
    /// gravity may bind are read apart ([`BoundRequest`]).
    pub(crate) fn places_particles(&self) -> bool {
        self.with_particles || self.min_particles > 0
    }

    /// Whether tables need the clump of each patch.
    pub(crate) fn needs_patch_ids(&self) -> bool {
        self.with_cells || self.places_particles() || self.bound.needs_members() || self.subsamples > 0
    }

    /// The same search for half of the particles. Only its clumps and their members are wanted, whatever
    /// their size.
    pub(crate) fn of_half(self) -> Self {
        Self {
            mass: 0.0,
            min_cells: 0,
            min_particles: 0,
            stability: false,
            with_cells: false,
            with_particles: false,
            projection_level: None,
            keep_density: false,
            bound: BoundRequest { unbind: false, with_members: false, gas: false, ..self.bound },
            tracks: TrackParams::default(),
            ..self
        }
    }

    /// The values that leaves of a snapshot may have.
    pub(crate) fn leaf_values(&self) -> LeafValues {
        match self.thresholds().persistence {
            Persistence::Ratio(_) => LeafValues::NotNegative,
            Persistence::Difference(_) => LeafValues::Any,
        }
    }
}

/// A field and the parameters of its search.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewRequest {
    /// The density.
    pub field: FieldChoice,
    /// The parameters.
    pub params: PhewParams,
}

impl PhewRequest {
    /// The same field with changed parameters.
    #[must_use]
    pub fn with(self, change: impl FnOnce(PhewParams) -> PhewParams) -> Self {
        Self { params: change(self.params), ..self }
    }
}
