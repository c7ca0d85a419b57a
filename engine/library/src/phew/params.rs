//! The parameters of a run of PHEW.

pub use crate::bound::{BoundRequest, PotentialChoice, PropertyChoice, SofteningLengths, SourceTypes};
pub use crate::particles::DensityUnit;
use inselberg_io::params::{DensityScale, InputScale, ParamError, assign};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;
pub use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::phew::significance::LEAST_SIGNIFICANCE;

/// The cell quantity that is segmented.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldChoice {
    /// In a cosmological output with gas and particles, by the paper's rules: [`Self::Matter`]. Otherwise
    /// hydro `density` if the snapshot has it, else `rho`, else dark-matter particles, deposited by the
    /// [`Rules`].
    #[default]
    Auto,
    /// A field of the snapshot by name.
    Named(String),
    /// Dark-matter particles by cloud-in-cell, with their whole mass.
    Cic,
    /// Dark-matter particles by cloud-in-cell, level by level as RAMSES deposits them, and gas where there is
    /// any.
    CicRamses,
    /// All particles with mass and the gas, by cloud-in-cell, level by level.
    Matter,
}

/// From the words of the command line.
impl From<&str> for FieldChoice {
    fn from(text: &str) -> Self {
        match text {
            "auto" | "" => Self::Auto,
            "cic" => Self::Cic,
            "cic-ramses" => Self::CicRamses,
            "matter" => Self::Matter,
            name => Self::Named(name.into()),
        }
    }
}

/// No density threshold is lower.
pub(crate) const LEAST_THRESHOLD: f64 = -1e300;

/// The thresholds of PHEW: as they were given (`PhewParams::thresholds`), or in code units (`in_code_units`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Cells above it are test cells. It may be below 0 only for fields of cells, if persistence is a
    /// difference.
    pub density: f64,
    /// Peaks of lower persistence are noise. A difference lets cells of the snapshot be negative.
    pub persistence: Persistence,
    /// For densities made from particles: peaks of lower significance with little mass above their saddles
    /// are noise; 0: no such test. `None`: [`LEAST_SIGNIFICANCE`].
    pub significance: Option<f64>,
    /// Clumps that meet above it merge into one halo; `None`: no saddle pass.
    pub saddle: Option<f64>,
    /// In place of it: clumps of lower persistence merge into haloes. Of the kind of `persistence`.
    pub halo_relevance: Option<f64>,
    /// Clumps of haloes up to this mass are not listed.
    pub mass: f64,
    /// Clumps of haloes with fewer leaf cells are not listed.
    pub min_cells: u64,
}

/// The units in which thresholds are given, in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdUnits {
    /// Of densities: for particles a mean density, else 1.
    pub density: f64,
    /// Which density that is.
    pub of: DensityUnit,
    /// Of masses: the mass of the lightest particle under RAMSES's rules, else 1.
    pub mass: f64,
}

impl ThresholdUnits {
    /// Code units.
    pub const CODE: Self = Self { density: 1.0, of: DensityUnit::Code, mass: 1.0 };

    /// What values of such parameters are in the units of an input; `input` is that of parameters in code
    /// units.
    pub(crate) fn scale(self, input: InputScale) -> InputScale {
        let (density, mean) = match self.of {
            DensityUnit::Code => (DensityScale::Code, input.mean),
            DensityUnit::MeanMatter => (DensityScale::MeanMatter, Some(self.density)),
            DensityUnit::MeanOfParticles => (DensityScale::Mean(self.density), input.mean),
        };
        InputScale { density, mean, mass: Some(self.mass), ..input }
    }
}

impl From<Cut> for Thresholds {
    /// Lists every clump.
    fn from(cut: Cut) -> Self {
        let Cut { density, persistence, saddle, halo_relevance } = cut;
        Self { density, persistence, significance: None, saddle, halo_relevance, mass: 0.0, min_cells: 0 }
    }
}

impl Thresholds {
    /// In code units, from thresholds in these units.
    pub(crate) fn in_code_units(self, units: ThresholdUnits) -> Self {
        Self {
            density: self.density * units.density,
            persistence: self.persistence.times(units.density),
            significance: self.significance,
            saddle: self.saddle.map(|saddle| saddle * units.density),
            halo_relevance: self
                .halo_relevance
                .map(|least| self.persistence.with(least).times(units.density).threshold()),
            mass: self.mass * units.mass,
            min_cells: self.min_cells,
        }
    }

    /// The least significance in densities that are made of particles.
    pub(crate) fn least_significance(&self) -> f64 {
        self.significance.unwrap_or(LEAST_SIGNIFICANCE)
    }

    /// The thresholds at which the tree of the peaks is cut.
    pub(crate) fn cut(&self) -> Cut {
        let Self { density, persistence, saddle, halo_relevance, .. } = *self;
        Cut { density, persistence, saddle, halo_relevance }
    }
}

/// The beginnings of the names of attributes about members of clumps: of unbinding, and of gas.
pub(crate) const OF_MEMBERS: [&str; 2] = ["unbind_", "gas_"];

/// Checks that no parameter needs other rules.
///
/// # Errors
/// The first parameter that these rules do not take.
pub(crate) fn check_rules(
    rules: Rules,
    thresholds: &Thresholds,
    bound: &BoundRequest,
) -> Result<(), ParamError> {
    let is_ramses = rules == Rules::Ramses;
    if let Some(least) = thresholds.halo_relevance {
        let problem = match () {
            () if is_ramses => "`saddle_threshold` with `compat` ramses".into(),
            () if thresholds.saddle.is_some() => "it or `saddle_threshold`, not both".into(),
            () if least < thresholds.persistence.threshold() => {
                format!("at least {}, the relevance of clumps", thresholds.persistence.threshold())
            }
            () => String::new(),
        };
        if !problem.is_empty() {
            return Err(ParamError::value("halo_relevance", least, problem));
        }
    }
    if let (Some(least), true) = (thresholds.significance, is_ramses) {
        let expected = "no such threshold with `compat` ramses";
        return Err(ParamError::value("significance_threshold", least, expected));
    }
    if let (Persistence::Difference(difference), true) = (thresholds.persistence, is_ramses) {
        let expected = "`relevance_threshold` with `compat` ramses";
        return Err(ParamError::value("relevance_difference", difference, expected));
    }
    if !is_ramses && bound.unbinding() == Some(PotentialChoice::Ramses) {
        return Err(ParamError::value("potential", "ramses", "`compat` ramses as well"));
    }
    Ok(())
}

/// Sets a persistence of one kind from a text. `none` leaves the default. Whether the text suits.
pub(crate) fn set_persistence(
    slot: &mut Option<Persistence>,
    text: &str,
    kind: fn(f64) -> Persistence,
) -> bool {
    let threshold = || text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
    assign(slot, if text == "none" { Some(None) } else { threshold().map(|x| Some(kind(x))) })
}
