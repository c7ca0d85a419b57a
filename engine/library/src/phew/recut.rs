//! New thresholds for a stored catalogue, from its tree alone.

use crate::bound::BoundRequest;
use crate::bound::CentralChoice;
use crate::phew::Rules;
use crate::phew::below_zero::SearchThresholds;
use crate::phew::defaults::{NewOrigins, THRESHOLD_UNIT, mark_given};
use crate::phew::found_again::OF_SUBSAMPLES;
use crate::phew::from_peaks::structure_tables;
use crate::phew::hierarchy::{Structures, structures};
use crate::phew::image;
use crate::phew::min_particles::MIN_PARTICLES;
use crate::phew::params::{
    DensityUnit, OF_MEMBERS, ThresholdUnits, Thresholds, check_rules, set_persistence,
};
use crate::phew::peaks::Peaks;
use crate::phew::phew_params::{CELLS, DIFFERENCE, HALO, MASS, MOST_CELLS, RATIO, SIGNIFICANCE};
use crate::phew::stability::{is_stored, stabilities};
use crate::phew::tables::{
    HALO_RELEVANCE, MIN_CELLS, PEAK, RecutError, RecutHeader, SADDLE_THRESHOLD, read_tree,
    threshold_attributes,
};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::units;
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, RUN_ATTRIBUTES, Table, Values};
use inselberg_io::params;
use inselberg_io::params::{InputScale, Params};
use inselberg_kernels::phew::persistence::Persistence;

params! {
    /// The new thresholds of a catalogue of clumps. `None` keeps a threshold.
    pub struct NewThresholds of "recut" measured in quantities {
        /// Higher density threshold, for a catalogue with cells (code units).
        ///
        /// By default it is that of the catalogue. The cells of `with_cells` are segmented again, so this
        /// takes as long as a search. The catalogue has all tables of a new run but bulk velocities, bound
        /// particles and particles. Not for images, regions and densities made of particles.
        pub density: Option<f64> = None, "density_threshold" = real(
            "",
            |_: &Option<f64>| true,
            "a finite density, or to leave it out for the catalogue's own",
        ).measured(Measure::DENSITY).example("120");
        /// Peaks of lower persistence are noise. Of the kind of the catalogue; a difference in mean densities
        /// for a mesh built from particles.
        pub persistence: Option<Persistence> = None;
        /// New least significance of peaks; default: that of the catalogue.
        pub significance: Option<f64> = None, "significance_threshold" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x >= 0.0),
            SIGNIFICANCE,
        ).example("0");
        /// New saddle threshold (code units); default: that of the catalogue.
        ///
        /// For a mesh from particles the unit is the mean density, as in the first run.
        pub saddle: Option<f64> = None, "saddle_threshold" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x > 0.0),
            "a finite number above 0, or to leave it out for the catalogue's own",
        ).measured(Measure::DENSITY).example("150");
        /// Merge clumps of lower relevance into haloes, in place of a saddle threshold.
        ///
        /// Of the kind of the catalogue: a ratio, or a difference in the unit of the saddle threshold.
        pub halo_relevance: Option<f64> = None, "halo_relevance" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x >= 0.0),
            HALO,
        ).instead_of("saddle_threshold").example("5");
        /// New mass threshold (code units); default: that of the catalogue.
        ///
        /// With RAMSES's rules, the unit is the mass of the lightest particle, as in the first run.
        pub mass: Option<f64> = None, "mass_threshold" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x >= 0.0), MASS).measured(Measure::MASS).example("0");
        /// New least number of leaf cells of a listed halo; default: that of the catalogue.
        pub min_cells: Option<u64> = None, "min_cells" = count(
            "",
            |n: &Option<u64>| n.is_none_or(|n| n <= MOST_CELLS),
            CELLS,
        ).example("20");
    }
    also {
        /// New relevance threshold; default: that of the catalogue.
        "relevance_threshold" = of_whole(
            ParamKind::Real,
            "",
            |of: &mut NewThresholds, text, _| set_persistence(&mut of.persistence, text, Persistence::Ratio),
            |of| of.persistence.filter(|of| !of.is_difference()).map(|of| of.threshold().to_string()),
            RATIO,
        ).instead_of("relevance_difference").example("5");
        /// The same for a catalogue that was cut by a difference (code units).
        ///
        /// For a mesh from particles the unit is the mean density, as in the first run.
        "relevance_difference" = of_whole(
            ParamKind::Real,
            "",
            |of: &mut NewThresholds, text, _| set_persistence(&mut of.persistence, text, Persistence::Difference),
            |of| of.persistence.filter(|of| of.is_difference()).map(|of| of.threshold().to_string()),
            DIFFERENCE,
        ).instead_of("relevance_threshold").measured(Measure::DENSITY).example("2");
    }
}

/// The beginning of the names of attributes about particles of haloes.
const OF_HALOES: &str = "n_halo_";

/// The catalogue that a run with these thresholds writes, bit for bit, without the tables of cells and
/// particles. Costs a sort of the peaks. The cells of images are kept; cubes without them have no areas on
/// the sky.
///
/// # Errors
/// When the catalogue's tree is missing or broken, or a threshold does not fit it.
pub fn recut(stored: &Catalogue, thresholds: &NewThresholds) -> Result<Catalogue, RecutError> {
    let NewCut { header, thresholds: given, is_new, has_stability } = NewCut::new(stored, thresholds)?;
    let tree = StoredTree::new(stored, header, given)?;
    if thresholds.significance.is_some() && tree.peaks.prominence.is_none() {
        return Err(RecutError::NoSignificance);
    }
    let by = (tree.header.rules, tree.header.central, has_stability);
    let pixels = stored.table("cells").filter(|cells| cells.column(PEAK).is_some());
    let (mut cut, found) =
        cut_again(&tree.peaks, &tree.search(), by, (&stored.attributes, pixels), &Comm::solo())?;
    mark_given(&mut cut.attributes, is_new);
    let mut tables: Vec<Table> = cut.tables.into_iter().map(|part| part.table).collect();
    tables.extend(pixels.map(|cells| labelled_again(cells, &found)));
    Ok(Catalogue { attributes: cut.attributes, tables })
}

/// The tree of a stored catalogue, which can be cut at any thresholds with its density threshold.
pub(crate) struct StoredTree {
    /// Of the stored catalogue, with the density threshold that is searched.
    pub header: RecutHeader,
    /// Its peaks.
    pub peaks: Peaks,
    /// The thresholds of the first cut, in code units.
    pub thresholds: Thresholds,
}

impl StoredTree {
    /// With these thresholds in code units.
    ///
    /// # Errors
    /// When the catalogue has no sound tree.
    pub fn new(stored: &Catalogue, header: RecutHeader, thresholds: Thresholds) -> Result<Self, RecutError> {
        let search = SearchThresholds::new(thresholds);
        let header = RecutHeader { density_threshold: search.searched().density, ..header };
        let peaks = read_tree(&search.lifted_tree(stored), &header)?;
        Ok(Self { header, peaks, thresholds })
    }

    /// With the thresholds of the catalogue.
    ///
    /// # Errors
    /// When the catalogue lacks attributes, or has no sound tree.
    pub fn read(stored: &Catalogue) -> Result<Self, RecutError> {
        let NewCut { header, thresholds, .. } = NewCut::new(stored, &NewThresholds::default())?;
        Self::new(stored, header, thresholds)
    }

    /// Its thresholds, as they are searched.
    pub fn search(&self) -> SearchThresholds {
        SearchThresholds::new(self.thresholds)
    }

    /// The clumps and haloes under other thresholds, in code units, with the same density threshold. Costs a
    /// sort of the peaks.
    pub fn structures(&self, thresholds: &Thresholds) -> Structures {
        let searched = SearchThresholds::new(*thresholds).searched();
        let (rules, central) = (self.header.rules, self.header.central);
        structures(&self.peaks, &searched, rules, central, &Comm::solo()).expect("there is no other rank")
    }
}

/// What a new cut of a stored catalogue asks for.
pub(crate) struct NewCut {
    /// Of the stored catalogue.
    pub header: RecutHeader,
    /// The thresholds in code units: the new ones, and the stored ones where there is none.
    pub thresholds: Thresholds,
    /// Which thresholds are new.
    is_new: NewOrigins,
    /// Whether the stored catalogue has stability.
    pub has_stability: bool,
}

impl NewCut {
    /// # Errors
    /// When the catalogue lacks attributes, or a threshold does not fit it.
    pub fn new(stored: &Catalogue, thresholds: &NewThresholds) -> Result<Self, RecutError> {
        let header = RecutHeader::from_catalogue(stored)?;
        let mut thresholds = thresholds.clone();
        thresholds.convert(&scale_of(stored, &header))?;
        let is_new = NewOrigins {
            persistence: thresholds.persistence.is_some(),
            saddle: thresholds.saddle.is_some(),
            no_saddle: thresholds.halo_relevance.is_some(),
        };
        let has_stability = stored.table("clumps").is_some_and(is_stored);
        let thresholds = in_code_units(&header, &thresholds)?;
        Ok(Self { header, thresholds, is_new, has_stability })
    }
}

/// The catalogue of a new run on the cells of a stored one, with the attributes of that one.
pub(crate) fn of_new_run(stored: &Catalogue, found: Catalogue, cut: &NewCut) -> Catalogue {
    let total = |name: &str| match found.attribute(name) {
        Some(Attribute::Int(n)) => (*n).cast_unsigned(),
        _ => unreachable!("every catalogue of clumps has its totals"),
    };
    let totals = ["n_clumps", "n_haloes", "n_levels"].map(total);
    let mut attributes = cut_attributes(&stored.attributes, &cut.thresholds, totals);
    for name in ["n_test_cells", "n_peaks"] {
        if let Some(attribute) = attributes.iter_mut().find(|(known, _)| known == name) {
            attribute.1 = Attribute::Int(total(name).cast_signed());
        }
    }
    mark_given(&mut attributes, cut.is_new);
    Catalogue { attributes, tables: found.tables }
}

/// New thresholds in code units; those of the catalogue where there is none.
fn in_code_units(header: &RecutHeader, thresholds: &NewThresholds) -> Result<Thresholds, RecutError> {
    let persistence = thresholds.persistence.map_or(header.persistence, |new| new.times(header.unit));
    if persistence.is_difference() != header.persistence.is_difference() {
        return Err(RecutError::OtherPersistence { is_difference: header.persistence.is_difference() });
    }
    let (saddle, halo_relevance) = match (thresholds.saddle, thresholds.halo_relevance) {
        (None, None) => (header.saddle_threshold, header.halo_relevance),
        (saddle, least) => (
            saddle.map(|saddle| saddle * header.unit),
            least.map(|least| persistence.with(least).times(header.unit).threshold()),
        ),
    };
    let mass = match thresholds.mass {
        None => header.mass_threshold,
        Some(0.0) => 0.0,
        Some(mass) => mass * header.mass_unit.ok_or(RecutError::NoMassUnit)?,
    };
    let density = thresholds.density.map_or(header.density_threshold, |density| density * header.unit);
    if let Some(saddle) = saddle.filter(|s| *s < density || *s <= 0.0) {
        let density = density / header.unit;
        return Err(RecutError::SaddleBelowDensity { saddle: saddle / header.unit, density });
    }
    let min_cells = thresholds.min_cells.unwrap_or(header.min_cells);
    let significance = thresholds.significance.or(header.significance);
    let cut = Thresholds { density, persistence, significance, saddle, halo_relevance, mass, min_cells };
    check_rules(header.rules, &Thresholds { significance: None, ..cut }, &BoundRequest::default())?;
    Ok(cut)
}

/// Collective: clumps and haloes of the peaks of an earlier run under other thresholds, and their catalogue.
/// Its attributes are `stored` with new thresholds and totals. Stability is found again if there was any.
/// `cells` are those of an image on a rank alone.
///
/// # Errors
/// When another rank fails.
pub(crate) fn cut_again(
    peaks: &Peaks,
    search: &SearchThresholds,
    (rules, central, has_stability): (Rules, CentralChoice, bool),
    (stored, cells): (&[(String, Attribute)], Option<&Table>),
    comm: &Comm,
) -> Result<(CataloguePart, Structures), CommError> {
    let thresholds = search.searched();
    let mut found = structures(peaks, &thresholds, rules, central, comm)?;
    let stability = match has_stability {
        true => stabilities(peaks, &found, &thresholds, (rules, central), comm)?,
        false => None,
    };
    let tables = structure_tables(peaks, (&found, stability.as_ref()), rules, thresholds.persistence, comm)?;
    let local = [found.clumps.len() as u64, found.haloes.len() as u64];
    let totals = comm.all_reduce_counts(&local, Reduce::Sum)?;
    let attributes = cut_attributes(stored, search.given(), [totals[0], totals[1], found.max_level]);
    let mut catalogue = CataloguePart { attributes, tables };
    search.lower(&mut catalogue, &mut found);
    let CataloguePart { attributes, tables } = &mut catalogue;
    let sky_pixels = match (cells, image::sky_axes(attributes)) {
        (Some(cells), Some(axes)) => Some(sky_pixels(cells, &found, axes, comm)?),
        _ => None,
    };
    let tables = tables.iter_mut().map(|part| &mut part.table);
    image::complete(attributes, &found, sky_pixels.as_ref(), tables);
    Ok((catalogue, found))
}

/// The patch in a row of the tree, from 1; `None` for 0.
fn patch_of_row(row: u64) -> Option<usize> {
    (row as usize).checked_sub(1)
}

/// Collective: the number of places on the sky of clumps and haloes.
fn sky_pixels(
    cells: &Table,
    found: &Structures,
    axes: [usize; 2],
    comm: &Comm,
) -> Result<[Vec<u64>; 2], CommError> {
    let (rows, places) = (cells.counts(PEAK), cells.positions("ijk"));
    let of_cells = rows.unwrap_or_default().iter().zip(places.unwrap_or_default());
    let pixel = |(row, at): (&u64, &[u32; 3])| Some((patch_of_row(*row)?, image::sky_place(*at, axes)));
    let pixels: Vec<(usize, u64)> = of_cells.filter_map(pixel).collect();
    image::sky_pixels(&pixels, [&found.clump_of_patch, &found.halo_of_patch], found, comm)
}

/// The cells of an image with their new clumps and haloes.
fn labelled_again(cells: &Table, found: &Structures) -> Table {
    let mut cells = cells.clone();
    let rows = cells.counts(PEAK).unwrap_or_default().to_vec();
    for (name, labels) in [("clump", &found.clump_of_patch), ("halo", &found.halo_of_patch)] {
        let label = |row: &u64| patch_of_row(*row).and_then(|patch| labels.get(patch)).copied().unwrap_or(0);
        if let Some(column) = cells.columns.iter_mut().find(|column| column.name == name) {
            column.values = Values::U64(rows.iter().map(label).collect());
        }
    }
    cells
}

/// What values of new thresholds are in the units of a catalogue.
fn scale_of(stored: &Catalogue, header: &RecutHeader) -> InputScale {
    let name = DensityUnit::MeanMatter.to_string();
    let of = match (stored.attribute(THRESHOLD_UNIT), header.unit) {
        (Some(Attribute::Text(unit)), _) if *unit == name => DensityUnit::MeanMatter,
        (_, 1.0) => DensityUnit::Code,
        _ => DensityUnit::MeanOfParticles,
    };
    let thresholds = ThresholdUnits { density: header.unit, of, mass: 1.0 };
    let scale = thresholds.scale(units::scale_of(&stored.attributes));
    InputScale { mass: header.mass_unit, ..scale }
}

/// Adds or removes the attribute with the relevance of haloes, which a run writes after its saddle threshold.
fn change_halo_relevance(attributes: &mut Vec<(String, Attribute)>, least: Option<f64>) {
    attributes.retain(|(name, _)| name != HALO_RELEVANCE);
    let before = attributes.iter().position(|(name, _)| name == SADDLE_THRESHOLD);
    if let (Some(before), Some(least)) = (before, least) {
        attributes.insert(before + 1, (HALO_RELEVANCE.into(), Attribute::Real(least)));
    }
}

/// The attributes of a catalogue after a cut at these thresholds that found `totals` clumps, haloes and
/// levels.
fn cut_attributes(
    stored: &[(String, Attribute)],
    thresholds: &Thresholds,
    [n_clumps, n_haloes, n_levels]: [u64; 3],
) -> Vec<(String, Attribute)> {
    // Other clumps have other members, so these attributes no longer hold. The tree has no numbers of
    // particles.
    let is_kept = |name: &str| {
        let is_of_members = OF_MEMBERS.iter().any(|beginning| name.starts_with(beginning));
        !is_of_members
            && name != MIN_PARTICLES
            && !name.starts_with(OF_SUBSAMPLES)
            && !name.starts_with(OF_HALOES)
            && !RUN_ATTRIBUTES.contains(&name)
    };
    let kept = stored.iter().filter(|(name, _)| is_kept(name));
    let mut attributes: Vec<_> = kept.cloned().collect();
    if thresholds.min_cells > 0 && !attributes.iter().any(|(name, _)| name == MIN_CELLS) {
        // Catalogues of older versions lack it.
        attributes.push((MIN_CELLS.into(), Attribute::Int(0)));
    }
    change_halo_relevance(&mut attributes, thresholds.halo_relevance);
    let totals = [("n_clumps", n_clumps), ("n_haloes", n_haloes), ("n_levels", n_levels)];
    let totals = totals.map(|(name, n)| (name.to_string(), Attribute::Int(n as i64)));
    for (name, value) in threshold_attributes(thresholds).into_iter().chain(totals) {
        // An attribute that the catalogue lacks stays absent.
        if let Some(attribute) = attributes.iter_mut().find(|(n, _)| *n == name) {
            attribute.1 = value;
        }
    }
    attributes
}
