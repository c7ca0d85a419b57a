//! New thresholds for a stored catalogue of voids, from its tree alone.

use super::config::{VoidParams, volume_of};
use super::rows::VoidCut;
use super::tables::{
    DENSITY, FIELD, MIN_PARTICLES, RADIUS, RELEVANCE, VoidTables, WALL, as_tree_of_peaks, integers,
};
use crate::bound::CentralChoice;
use crate::phew::Rules;
use crate::phew::tables::{RecutError, RecutHeader, read_tree};
use inselberg_comm::Comm;
use inselberg_io::catalogue::units;
use inselberg_io::catalogue::{Attribute, Catalogue, RUN_ATTRIBUTES};
use inselberg_io::params;
use inselberg_io::params::{DensityScale, InputScale, Params};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::combine::SizedBox;

params! {
    /// The new thresholds of a catalogue of voids. `None` keeps a threshold.
    pub struct NewVoidThresholds of "recut" measured in quantities {
        /// New relevance threshold; default: that of the catalogue.
        pub relevance: Option<f64> = None, "relevance_threshold" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x >= 0.0), "a finite ratio, 0 or more").example("5");
        /// New wall threshold of voids (mean densities); default: that of the catalogue.
        pub wall: Option<f64> = None, "wall_threshold" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x > 0.0),
            "a finite number above 0, or to leave it out for the catalogue's own",
        ).measured(Measure::DENSITY).example("0.3");
        /// New least radius of voids (code units); default: that of the catalogue.
        pub radius: Option<f64> = None, "min_radius" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x >= 0.0), "a finite radius, 0 or more").measured(Measure::LENGTH).example("5");
        /// New least number of particles of a listed void; default: that of the catalogue.
        pub min_particles: Option<u64> = None, "min_particles" =
            count("", |_| true, "a number of particles").example("50");
    }
}

/// Whether a catalogue has voids.
pub fn is_void_catalogue(catalogue: &Catalogue) -> bool {
    matches!(catalogue.attribute(FIELD.0), Some(Attribute::Text(field)) if field == FIELD.1)
}

/// The catalogue that a run with these thresholds writes, bit for bit, without the table of particles and
/// without densities of cores and walls. Costs a sort of the zones.
///
/// # Errors
/// When the catalogue's tree is missing or broken, or a threshold does not fit it.
pub fn recut_voids(stored: &Catalogue, new: &NewVoidThresholds) -> Result<Catalogue, RecutError> {
    let old = stored_config(stored)?;
    let mean_density = positive(stored, "mean_density")?;
    let mut new = new.clone();
    let density = DensityScale::Mean(mean_density);
    new.convert(&InputScale { density, ..units::scale_of(&stored.attributes) })?;
    let config = VoidParams {
        relevance: new.relevance.unwrap_or(old.relevance),
        wall: new.wall.or(old.wall),
        radius: new.radius.unwrap_or(old.radius),
        min_particles: new.min_particles.unwrap_or(old.min_particles),
        ..old
    };
    if let (Some(wall), Some(density)) = (config.wall, config.density)
        && wall > density
    {
        return Err(RecutError::WallAboveDensity { wall, density });
    }
    let thresholds = config.thresholds();
    let header = RecutHeader {
        space: space(stored)?,
        density_threshold: thresholds.density,
        unit: 1.0,
        persistence: Persistence::Ratio(config.relevance),
        significance: None,
        saddle_threshold: thresholds.saddle,
        halo_relevance: None,
        mass_threshold: volume_of(config.radius),
        min_cells: config.min_particles,
        mass_unit: None,
        rules: Rules::Paper,
        central: CentralChoice::Densest,
    };
    let tree = stored.table("tree").ok_or(RecutError::NoTable("tree"))?;
    let peaks_alone = Catalogue { attributes: Vec::new(), tables: vec![as_tree_of_peaks(tree)] };
    let peaks = read_tree(&peaks_alone, &header)?;
    let cut = VoidCut::new(&peaks, &thresholds, &Comm::solo())?;
    let tables = VoidTables { cut: &cut, walls: None, mean_density };
    let mut attributes = stored.attributes.clone();
    attributes.retain(|(name, _)| !RUN_ATTRIBUTES.contains(&name.as_str()));
    let counts = [
        ("n_zones", cut.rows.zones.len() as u64),
        ("n_voids", cut.rows.voids.len() as u64),
        ("n_levels", cut.found.max_level),
        (MIN_PARTICLES, config.min_particles),
    ];
    let reals = [(RELEVANCE, config.relevance), (WALL, config.wall.unwrap_or(0.0)), (RADIUS, config.radius)];
    let reals = reals.into_iter().map(|(name, value)| (name.to_string(), Attribute::Real(value)));
    for (name, value) in integers(counts).chain(reals) {
        if let Some(attribute) = attributes.iter_mut().find(|(old, _)| *old == name) {
            attribute.1 = value;
        }
    }
    Ok(Catalogue { attributes, tables: vec![tables.voids(), tables.zones(), tables.tree()] })
}

/// The parameters of the run that wrote a catalogue.
fn stored_config(stored: &Catalogue) -> Result<VoidParams, RecutError> {
    let min_particles = match stored.attribute(MIN_PARTICLES) {
        Some(Attribute::Int(n)) => u64::try_from(*n).map_err(|_| RecutError::NoAttribute(MIN_PARTICLES))?,
        _ => return Err(RecutError::NoAttribute(MIN_PARTICLES)),
    };
    let density = stored.attribute(DENSITY).map(|_| positive(stored, DENSITY)).transpose()?;
    Ok(VoidParams {
        density,
        relevance: not_negative(stored, RELEVANCE)?,
        wall: Some(not_negative(stored, WALL)?).filter(|wall| *wall > 0.0),
        radius: not_negative(stored, RADIUS)?,
        min_particles,
        ..VoidParams::default()
    })
}

fn not_negative(stored: &Catalogue, name: &'static str) -> Result<f64, RecutError> {
    match stored.attribute(name) {
        Some(Attribute::Real(value)) if value.is_finite() && *value >= 0.0 => Ok(*value),
        _ => Err(RecutError::NoAttribute(name)),
    }
}

fn positive(stored: &Catalogue, name: &'static str) -> Result<f64, RecutError> {
    not_negative(stored, name).and_then(|value| match value > 0.0 {
        true => Ok(value),
        false => Err(RecutError::NoAttribute(name)),
    })
}

/// The box of the graph, as one cell.
fn space(stored: &Catalogue) -> Result<SizedBox, RecutError> {
    let periodic = match stored.attribute("periodic") {
        Some(Attribute::Reals(v)) => {
            <[f64; 3]>::try_from(v.as_slice()).map_err(|_| RecutError::NoAttribute("periodic"))?
        }
        _ => return Err(RecutError::NoAttribute("periodic")),
    };
    let domain = Domain { coarse: [1; 3], periodic: periodic.map(|p| p != 0.0) };
    Ok(SizedBox { domain, side: positive(stored, "boxlen")?, origin: [0.0; 3] })
}
