//! The default thresholds, and how catalogues mark them.
//!
//! A search of matter has default thresholds if the mean density of matter, or of the particles themselves,
//! is known: on particles, and on cosmological outputs whose unit of density is the mean matter density.
//! Images with noise around 0 have default thresholds in standard deviations of it. All values are only here.
//!
//! This file uses neither options nor summaries.

use crate::phew::params::DensityUnit;
use inselberg_io::catalogue::Attribute;
use inselberg_kernels::phew::persistence::Persistence;

/// A default threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DefaultThreshold {
    /// Its value.
    pub value: f64,
    /// The same as help and reference print it.
    pub text: &'static str,
}

macro_rules! default_threshold {
    ($value:literal) => {
        DefaultThreshold { value: $value as f64, text: stringify!($value) }
    };
}

/// Matter denser than this is segmented, in [`DensityUnit`]s.
pub const DENSITY: DefaultThreshold = default_threshold!(60);
/// Clumps that meet above this density are one halo, in [`DensityUnit`]s.
pub const SADDLE: DefaultThreshold = default_threshold!(200);
/// Peaks with a smaller ratio to their saddle are noise.
pub const RELEVANCE: DefaultThreshold = default_threshold!(3);
/// The same on a mesh from particles, where significance identifies noise as well. Subhaloes of 20 to 50
/// particles need this low value.
pub const RELEVANCE_ON_MESH: DefaultThreshold = default_threshold!(1.5);

/// The same of images with noise, in standard deviations: density threshold and difference to the saddle.
pub const OF_NOISE: [f64; 2] = [5.0, 2.0];

/// A threshold and its origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdInForce<T> {
    /// Its value, as it was given.
    pub value: T,
    /// Whether it is the default.
    pub is_default: bool,
}

impl<T> ThresholdInForce<T> {
    /// The given value, or else the default.
    pub(crate) fn new(given: Option<T>, default: T) -> Self {
        Self { is_default: given.is_none(), value: given.unwrap_or(default) }
    }

    /// The name of its origin in catalogues and summaries.
    pub fn origin(&self) -> &'static str {
        if self.is_default { "default" } else { "given" }
    }
}

/// The thresholds of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdsInForce {
    /// The unit of densities.
    pub unit: DensityUnit,
    /// Denser cells or particles take part.
    pub density: ThresholdInForce<f64>,
    /// Peaks of lower persistence are noise.
    pub persistence: ThresholdInForce<Persistence>,
    /// Clumps that meet above this density are one halo; `None`: every clump is a halo, but for
    /// `halo_relevance`.
    pub saddle: Option<ThresholdInForce<f64>>,
    /// Clumps of lower relevance merge into haloes, in place of a saddle threshold.
    pub halo_relevance: Option<f64>,
}

/// The attribute that names the unit of the thresholds as they were given.
pub(crate) const THRESHOLD_UNIT: &str = "threshold_unit";

/// Attributes that say where a threshold comes from: `default` or `given`.
const ORIGINS: [&str; 3] =
    ["density_threshold_origin", "relevance_threshold_origin", "saddle_threshold_origin"];

impl ThresholdsInForce {
    /// The attributes of catalogues with the unit and the origins of the thresholds.
    pub(crate) fn attributes(&self) -> Vec<(String, Attribute)> {
        let unit = (THRESHOLD_UNIT.to_string(), Attribute::Text(self.unit.to_string()));
        let text = |(name, origin): (&str, &str)| (name.to_string(), Attribute::Text(origin.into()));
        std::iter::once(unit).chain(self.origins().map(text)).collect()
    }

    fn origins(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let saddle = self.saddle.as_ref().map(ThresholdInForce::origin);
        let [density, relevance, of_saddle] = ORIGINS;
        let both = [(density, self.density.origin()), (relevance, self.persistence.origin())];
        both.into_iter().chain(saddle.map(|origin| (of_saddle, origin)))
    }

    /// Brings the attributes of a catalogue that states origins up to date after a new cut.
    pub(crate) fn update(&self, attributes: &mut Vec<(String, Attribute)>) {
        let is_origin = |name: &str| ORIGINS.contains(&name);
        if let Some(first) = attributes.iter().position(|(name, _)| is_origin(name)) {
            attributes.retain(|(name, _)| !is_origin(name));
            let origins = self.origins().map(|(name, origin)| (name.into(), Attribute::Text(origin.into())));
            attributes.splice(first..first, origins);
        }
    }
}

/// Which thresholds of a stored catalogue a new cut changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewOrigins {
    /// There is a new persistence.
    pub persistence: bool,
    /// There is a new saddle threshold.
    pub saddle: bool,
    /// There is no longer a saddle threshold.
    pub no_saddle: bool,
}

/// Marks persistence and saddle threshold of a stored catalogue as given, if it states origins. Without an
/// earlier saddle threshold, the origin is added after the others.
pub(crate) fn mark_given(attributes: &mut Vec<(String, Attribute)>, new: NewOrigins) {
    if new.no_saddle {
        attributes.retain(|(name, _)| name != ORIGINS[2]);
    }
    let Some(last) = attributes.iter().rposition(|(name, _)| ORIGINS.contains(&name.as_str())) else {
        return;
    };
    let [_, relevance, of_saddle] = ORIGINS;
    for (name, _) in
        [(relevance, new.persistence), (of_saddle, new.saddle)].iter().filter(|(_, is_new)| *is_new)
    {
        let given = Attribute::Text("given".into());
        match attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, origin)) => *origin = given,
            None => attributes.insert(last + 1, ((*name).into(), given)),
        }
    }
}
