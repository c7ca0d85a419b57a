//! The attributes of a catalogue: its origin, its thresholds and its units.

use crate::bound::CentralChoice;
use crate::phew::params::{LEAST_THRESHOLD, Thresholds};
use crate::phew::tables::error::RecutError;
use crate::tables::AttributeList;
use inselberg_io::Header;
use inselberg_io::catalogue::{Attribute, Catalogue};
use inselberg_io::params::ParamValue;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::combine::SizedBox;

/// Version of the layout of the tables.
const LAYOUT: i64 = 1;

/// The attributes with the thresholds. In catalogues of clumps, only this file writes them.
const DENSITY_THRESHOLD: &str = "density_threshold";
const RELEVANCE_THRESHOLD: &str = "relevance_threshold";
pub const SADDLE_THRESHOLD: &str = "saddle_threshold";
const MASS_THRESHOLD: &str = "mass_threshold";

/// The attribute with the relevance below which clumps merge into haloes. Only catalogues of such a search
/// have it.
pub const HALO_RELEVANCE: &str = "halo_relevance";

/// The attribute with the code mass per unit of the mass threshold. Where it is absent: 1 under the
/// paper's rules, unknown under RAMSES's.
const MASS_UNIT: &str = "mass_threshold_unit";

/// The attribute that says which clump of a halo is its central.
const CENTRAL: &str = "central";

/// The attribute with the least number of leaf cells of a listed halo. Where it is absent: 0.
pub const MIN_CELLS: &str = "min_cells";

/// The attribute with the threshold of the significance. Only catalogues of densities that are made of
/// particles have it.
const SIGNIFICANCE_THRESHOLD: &str = "significance_threshold";

/// The attribute that says how persistence is measured. Where it is absent, by ratio.
const PERSISTENCE: &str = "persistence";

/// The value of that attribute for a difference of densities.
const DIFFERENCE: &str = "difference";

/// The origin of a catalogue, for its attributes.
pub struct PhewProvenance<'a> {
    /// The input.
    pub header: &'a Header,
    /// Whether its units are known.
    pub has_units: bool,
    /// The field that was segmented.
    pub field: &'a str,
    /// The thresholds.
    pub thresholds: &'a Thresholds,
    /// Code mass per unit in which the mass threshold was given.
    pub mass_unit: f64,
    /// Paper or RAMSES.
    pub rules: Rules,
    /// Which clump of a halo is its central.
    pub central: CentralChoice,
    /// Whether the significance of peaks is known.
    pub has_prominence: bool,
    /// Totals by name: `n_test_cells`, ...
    pub totals: &'a [(&'static str, u64)],
    /// Threads and ranks of the run.
    pub run: [(&'static str, u64); 2],
}

/// All attributes, in the order to be written.
pub fn attributes(of: &PhewProvenance) -> Vec<(String, Attribute)> {
    let mut list = AttributeList::new();
    list.text("program", "inselberg");
    list.text("version", env!("CARGO_PKG_VERSION"));
    list.int("layout", LAYOUT);
    list.input(of.header, of.has_units);
    list.text("field", of.field);
    list.text("compat", if of.rules == Rules::Ramses { "ramses" } else { "paper" });
    list.text(CENTRAL, of.central.name());
    let is_known = |name: &str| of.has_prominence || name != SIGNIFICANCE_THRESHOLD;
    list.extend(threshold_attributes(of.thresholds).into_iter().filter(|(name, _)| is_known(name)));
    if of.rules == Rules::Ramses {
        list.real(MASS_UNIT, of.mass_unit);
    }
    for (name, total) in of.totals {
        list.int(name, *total as i64);
    }
    for (name, value) in of.run {
        list.int(name, value as i64);
    }
    list.into_attributes()
}

/// The thresholds as attributes, in the order to be written.
pub fn threshold_attributes(of: &Thresholds) -> Vec<(String, Attribute)> {
    let mut list = AttributeList::new();
    list.real(DENSITY_THRESHOLD, of.density);
    if of.persistence.is_difference() {
        list.text(PERSISTENCE, DIFFERENCE);
    }
    list.real(RELEVANCE_THRESHOLD, of.persistence.threshold());
    list.real(SIGNIFICANCE_THRESHOLD, of.least_significance());
    // 0 stands for a run without a saddle pass.
    list.real(SADDLE_THRESHOLD, of.saddle.unwrap_or(0.0));
    if let Some(least) = of.halo_relevance {
        list.real(HALO_RELEVANCE, least);
    }
    list.real(MASS_THRESHOLD, of.mass);
    list.int(MIN_CELLS, of.min_cells as i64);
    list.into_attributes()
}

/// The attributes that cutting a stored catalogue again needs.
#[derive(Debug, Clone, PartialEq)]
pub struct RecutHeader {
    /// The box.
    pub space: SizedBox,
    /// Threshold of its test cells.
    pub density_threshold: f64,
    /// The unit of density thresholds: the mean density for a mesh built from particles, 1 otherwise.
    pub unit: f64,
    /// The persistence that its peaks need.
    pub persistence: Persistence,
    /// Its threshold of the significance, if it has one.
    pub significance: Option<f64>,
    /// Its saddle threshold; `None` without a saddle pass.
    pub saddle_threshold: Option<f64>,
    /// The relevance below which its clumps merge into haloes, in place of a saddle threshold.
    pub halo_relevance: Option<f64>,
    /// Its mass threshold.
    pub mass_threshold: f64,
    /// Least number of leaf cells of its haloes.
    pub min_cells: u64,
    /// Code mass per unit of a new mass threshold; `None` where an old catalogue lacks it.
    pub mass_unit: Option<f64>,
    /// Paper or RAMSES.
    pub rules: Rules,
    /// Which clump of a halo is its central.
    pub central: CentralChoice,
}

impl RecutHeader {
    /// Reads them.
    ///
    /// # Errors
    /// When an attribute is missing or unsound.
    pub fn from_catalogue(catalogue: &Catalogue) -> Result<Self, RecutError> {
        let stored = StoredAttributes(catalogue);
        let rules = stored.rules()?;
        let persistence = stored.persistence(rules)?;
        Ok(Self {
            space: stored.space()?,
            density_threshold: stored.density_threshold(persistence)?,
            // Only meshes from particles have a mean density; all others use code units.
            unit: stored.positive("mean_density")?.unwrap_or(1.0),
            persistence,
            significance: stored.significance()?,
            saddle_threshold: Some(stored.real(SADDLE_THRESHOLD)?).filter(|s| *s > 0.0),
            halo_relevance: stored.optional(HALO_RELEVANCE, |least| least >= 0.0)?,
            mass_threshold: stored.real(MASS_THRESHOLD)?,
            min_cells: stored.min_cells()?,
            mass_unit: stored.positive(MASS_UNIT)?.or((rules == Rules::Paper).then_some(1.0)),
            rules,
            central: stored.central()?,
        })
    }
}

/// The attributes of a stored catalogue, checked one by one.
struct StoredAttributes<'a>(&'a Catalogue);

impl StoredAttributes<'_> {
    /// Whether the catalogue has it.
    fn has(&self, name: &str) -> bool {
        self.0.attribute(name).is_some()
    }

    fn real(&self, name: &'static str) -> Result<f64, RecutError> {
        match self.0.attribute(name) {
            Some(Attribute::Real(value)) if value.is_finite() => Ok(*value),
            _ => Err(RecutError::NoAttribute(name)),
        }
    }

    fn three(&self, name: &'static str) -> Result<[f64; 3], RecutError> {
        match self.0.attribute(name) {
            Some(Attribute::Reals(list)) => {
                <[f64; 3]>::try_from(list.as_slice()).map_err(|_| RecutError::NoAttribute(name))
            }
            _ => Err(RecutError::NoAttribute(name)),
        }
    }

    /// One that only some catalogues have.
    fn optional(&self, name: &'static str, fits: impl Fn(f64) -> bool) -> Result<Option<f64>, RecutError> {
        match self.has(name).then(|| self.real(name)).transpose()? {
            Some(value) if !fits(value) => Err(RecutError::NoAttribute(name)),
            value => Ok(value),
        }
    }

    fn positive(&self, name: &'static str) -> Result<Option<f64>, RecutError> {
        self.optional(name, |value| value > 0.0)
    }

    fn rules(&self) -> Result<Rules, RecutError> {
        match self.0.attribute("compat") {
            Some(Attribute::Text(t)) if t == "paper" => Ok(Rules::Paper),
            Some(Attribute::Text(t)) if t == "ramses" => Ok(Rules::Ramses),
            _ => Err(RecutError::NoAttribute("compat")),
        }
    }

    fn persistence(&self, rules: Rules) -> Result<Persistence, RecutError> {
        let threshold = self.real(RELEVANCE_THRESHOLD)?;
        match self.0.attribute(PERSISTENCE) {
            None => Ok(Persistence::Ratio(threshold)),
            Some(Attribute::Text(kind)) if kind == DIFFERENCE && rules == Rules::Paper => {
                Ok(Persistence::Difference(threshold))
            }
            Some(_) => Err(RecutError::NoAttribute(PERSISTENCE)),
        }
    }

    /// Only differences allow densities below 0.
    fn density_threshold(&self, persistence: Persistence) -> Result<f64, RecutError> {
        let least = if persistence.is_difference() { LEAST_THRESHOLD } else { 0.0 };
        let density = self.real(DENSITY_THRESHOLD)?;
        if density < least { Err(RecutError::NoAttribute(DENSITY_THRESHOLD)) } else { Ok(density) }
    }

    fn significance(&self) -> Result<Option<f64>, RecutError> {
        self.optional(SIGNIFICANCE_THRESHOLD, |least| least >= 0.0)
    }

    fn space(&self) -> Result<SizedBox, RecutError> {
        let domain = Domain {
            coarse: self.three("coarse_cells")?.map(|n| n as u32),
            periodic: self.three("periodic")?.map(|p| p != 0.0),
        };
        if !domain.holds_level(0) {
            return Err(RecutError::NoAttribute("coarse_cells"));
        }
        let side = self.real("boxlen")?;
        if side <= 0.0 {
            return Err(RecutError::NoAttribute("boxlen"));
        }
        let origin = if self.has("origin") { self.three("origin")? } else { [0.0; 3] };
        if origin.iter().any(|x| !x.is_finite()) {
            return Err(RecutError::NoAttribute("origin"));
        }
        Ok(SizedBox { domain, side, origin })
    }

    fn min_cells(&self) -> Result<u64, RecutError> {
        match self.0.attribute(MIN_CELLS) {
            None => Ok(0),
            Some(Attribute::Int(n)) => u64::try_from(*n).map_err(|_| RecutError::NoAttribute(MIN_CELLS)),
            Some(_) => Err(RecutError::NoAttribute(MIN_CELLS)),
        }
    }

    /// Which clump of a halo is its central. Older catalogues do not say: it was the densest.
    fn central(&self) -> Result<CentralChoice, RecutError> {
        match self.0.attribute(CENTRAL) {
            None => Ok(CentralChoice::Densest),
            Some(Attribute::Text(name)) => {
                CentralChoice::from_text(name).ok_or(RecutError::NoAttribute(CENTRAL))
            }
            Some(_) => Err(RecutError::NoAttribute(CENTRAL)),
        }
    }
}
