//! From peaks to the catalogue: the way that follows every source.
//!
//! ```text
//!     cells of a program ───┐
//!     output on disk ───────┼─ leaves ─┐
//!     mesh of particles ────┘          ├─ peaks ─▶ hierarchy ─▶ listing ─▶ tables ─▶ labels ─▶ members
//!     particle graph ──────────────────┘
//! ```
//!
//! What differs is where members are ([`Segmented`]) and what a source says of itself ([`Source`]).

use crate::bound::CentralChoice;
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::below_zero::SearchThresholds;
use crate::phew::bound::{self, BoundInput, TestField};
use crate::phew::contamination;
use crate::phew::found_again::MembersByIdentity;
use crate::phew::hierarchy::{Structures, structures};
use crate::phew::image;
use crate::phew::member_places::MemberPlaces;
use crate::phew::min_particles::{MIN_PARTICLES, leave_out_small};
use crate::phew::params::Thresholds;
use crate::phew::peak_comm::PeakComm;
use crate::phew::peaks::Peaks;
use crate::phew::phew_params::PhewParams;
use crate::phew::selection::Selected;
use crate::phew::stability::{Stabilities, stabilities};
use crate::phew::tables::{
    PatchIds, PhewProvenance, attributes, clumps_table, haloes_table, known_properties, particles_table,
    ties_table, tree_part, tree_table,
};
use crate::stage::Stage;
use crate::tables::{in_order, input_attributes, run_attributes};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::{Attribute, CataloguePart, PartTable};
use inselberg_io::{Header, Snapshot};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::sums::MASS;

/// Cells or particles whose peaks are known.
pub trait Segmented {
    /// The peaks of this rank and their tree.
    fn peaks(&self) -> &Peaks;

    /// The peaks known on this rank.
    fn known(&self) -> &PeakComm;

    /// Number of own test cells or test particles.
    fn n_tests(&self) -> u64;

    /// Whether masses are sums of the densities that were segmented, so that none may vanish.
    fn sums_its_density(&self) -> bool;

    /// Where members are.
    fn places(&self) -> MemberPlaces<'_>;

    /// Collective: every leaf with its clump and halo; `None` without leaves.
    ///
    /// # Errors
    /// When another rank fails.
    fn cells(&self, ids: &PatchIds, comm: &Comm) -> Result<Option<PartTable>, CommError>;

    /// Collective: the number of places on the sky of each clump and halo of this rank, for cubes of
    /// observers; `None` for other inputs.
    ///
    /// # Errors
    /// When another rank fails.
    fn sky_pixels(
        &self,
        _attributes: &[(String, Attribute)],
        _ids: &PatchIds,
        _structures: &Structures,
        _comm: &Comm,
    ) -> Result<Option<[Vec<u64>; 2]>, CommError> {
        Ok(None)
    }

    /// Frees what tells where members are, if that takes much memory. Peaks and their tree stay.
    fn forget_places(&mut self) {}
}

/// What a source says of itself.
pub struct Source<'a> {
    /// Its header.
    pub header: &'a Header,
    /// Whether its units are known.
    pub has_units: bool,
    /// Name of the field.
    pub field: &'a str,
    /// Code mass per unit in which the mass threshold was given.
    pub mass_unit: f64,
    /// Number of leaves or particles on all ranks.
    pub n_leaves: u64,
    /// The greatest searched density of any of them.
    pub densest: f64,
    /// Further attributes: of a mesh or graph that was made, and of the input.
    pub attributes: Vec<(String, Attribute)>,
    /// Where particles and gas cells are read; `None` for the cells of a program.
    pub snapshot: Option<&'a dyn Snapshot>,
    /// By which field leaves are test cells; `None` if the density is made of particles.
    pub test_field: Option<TestField<'a>>,
    /// The leaves that take part, where particles in them are counted.
    pub counted: Option<&'a Selected>,
}

impl<'a> Source<'a> {
    /// A snapshot, of which `made` has been made. `field` and `mass_unit` as in [`Source`]; `of` are the
    /// number of leaves and their greatest density.
    pub fn of_snapshot(
        snapshot: &'a dyn Snapshot,
        made: impl IntoIterator<Item = (&'static str, Attribute)>,
        field: &'a str,
        mass_unit: f64,
        (n_leaves, densest): (u64, f64),
    ) -> Self {
        let made = made.into_iter().map(|(name, value)| (name.to_string(), value));
        Self {
            header: snapshot.header(),
            has_units: snapshot.has_units(),
            field,
            mass_unit,
            n_leaves,
            densest,
            attributes: made.chain(input_attributes(snapshot)).collect(),
            snapshot: Some(snapshot),
            test_field: None,
            counted: None,
        }
    }
}

/// What follows from peaks.
pub struct FoundClumps {
    /// The part of the catalogue on this rank.
    pub catalogue: CataloguePart,
    /// Clumps and haloes of this rank.
    pub structures: Structures,
    /// The clump and the halo of every patch, where something needed them.
    pub ids: PatchIds,
    /// The particles of clumps, where they are to be found again in halves of all particles.
    pub members: Option<MembersByIdentity>,
}

/// Collective: clumps and haloes of `of`, and their catalogue. Labels of patches are found where a table or
/// the caller needs them; otherwise the places of members are freed first.
///
/// # Errors
/// When masses of patches would vanish, particles cannot be read or lack what `params` asks for, and when
/// another rank fails.
pub fn from_peaks(
    of: &mut impl Segmented,
    source: &Source,
    thresholds: &SearchThresholds,
    (params, needs_labels): (&PhewParams, bool),
    comm: &Comm,
    executor: &Executor,
) -> Result<FoundClumps, RunError> {
    let (by, observer) = ((params.rules, params.bound.central), executor.observer());
    let mut structures = Stage::run("hierarchy", of.n_tests(), comm, observer, || {
        structures(of.peaks(), &thresholds.searched(), params.rules, params.bound.central, comm)
    })?;
    let stage = Stage::begin("tables", 0, comm, observer);
    let has_sky = image::has_axes(&source.attributes);
    let ids = match needs_labels || params.needs_patch_ids() || source.counted.is_some() || has_sky {
        true => PatchIds::new(of.known(), &structures, comm)?,
        false => {
            of.forget_places();
            PatchIds::default()
        }
    };
    if let (1.., Some(snapshot)) = (params.min_particles, source.snapshot) {
        leave_out_small(&mut structures, params.min_particles, snapshot, &of.places(), &ids, comm)?;
    }
    let stability = match params.stability {
        true => stabilities(of.peaks(), &structures, &thresholds.searched(), by, comm)?,
        false => None,
    };
    let cut = (&structures, stability.as_ref());
    let mut catalogue = structure_catalogue(of, cut, source, thresholds.given(), by, comm)?;
    catalogue.tables.extend(label_tables(of, source, &ids, params, comm)?);
    thresholds.lower(&mut catalogue, &mut structures);
    let CataloguePart { attributes, tables } = &mut catalogue;
    let sky_pixels = of.sky_pixels(attributes, &ids, &structures, comm)?;
    let tables = tables.iter_mut().map(|part| &mut part.table);
    image::complete(attributes, &structures, sky_pixels.as_ref(), tables);
    drop(stage);
    catalogue.attributes.extend(listing_attributes(params));
    let mut members = None;
    if let Some(snapshot) = source.snapshot {
        let (places, test_field) = (of.places(), source.test_field);
        if let Some(selected) = source.counted {
            let _particles = Stage::within("particles", comm);
            let counts = contamination::attributes(snapshot, selected, places.leaves(), &ids, comm)?;
            catalogue.attributes.extend(counts.into_iter().map(|(name, value)| (name.to_string(), value)));
        }
        if params.subsamples > 0 {
            let _members = Stage::begin("members", 0, comm, observer);
            members = Some(MembersByIdentity::new(snapshot, &places, &ids, comm)?);
        }
        let input = BoundInput {
            snapshot,
            test_field,
            places,
            ids: &ids,
            structures: &structures,
            density_threshold: of.peaks().density_threshold,
            tracks: &params.tracks,
        };
        bound::add_to(&mut catalogue, &input, &params.bound, comm, executor)?;
    }
    Ok(FoundClumps { catalogue, structures, ids, members })
}

/// Collective: attributes, clumps, haloes, tree and ties. The attributes state `thresholds`, which are the
/// given ones.
fn structure_catalogue(
    of: &impl Segmented,
    (structures, stability): (&Structures, Option<&Stabilities>),
    source: &Source,
    thresholds: &Thresholds,
    (rules, central): (Rules, CentralChoice),
    comm: &Comm,
) -> Result<CataloguePart, RunError> {
    let tables = structure_tables(of.peaks(), (structures, stability), rules, thresholds.persistence, comm)?;
    let totals = RunTotals::new(of, structures, source.n_leaves, comm)?;
    if totals.n_lost > 0 && of.sums_its_density() {
        let (threshold, densest) = (thresholds.density, source.densest);
        return Err(RunError::LostMass { threshold, densest, n: totals.n_lost });
    }
    let mut attributes = attributes(&PhewProvenance {
        header: source.header,
        has_units: source.has_units,
        field: source.field,
        thresholds,
        mass_unit: source.mass_unit,
        rules,
        central: central.by(rules),
        has_prominence: of.peaks().prominence.is_some(),
        totals: &totals.named,
        run: run_attributes(comm)?,
    });
    attributes.extend_from_slice(&source.attributes);
    image::add_attributes(&mut attributes);
    Ok(CataloguePart { attributes, tables })
}

/// Collective: clumps, haloes, the tree and its ties.
pub(super) fn structure_tables(
    peaks: &Peaks,
    (found, stability): (&Structures, Option<&Stabilities>),
    rules: Rules,
    persistence: Persistence,
    comm: &Comm,
) -> Result<Vec<PartTable>, CommError> {
    let known = known_properties(peaks, persistence);
    let mut lists = [clumps_table(&found.clumps, known), haloes_table(&found.haloes, known)];
    for (kind, list) in lists.iter_mut().enumerate() {
        list.columns.extend(stability.iter().flat_map(|of| of.columns(kind, persistence)));
    }
    let [clumps, haloes] = lists;
    let mut tables = vec![
        in_order(clumps, comm)?,
        in_order(haloes, comm)?,
        tree_part(tree_table(peaks, &found.peak_rank), &peaks.name, peaks.n_global),
    ];
    if rules == Rules::Ramses {
        let ties = in_order(ties_table(&peaks.ties), comm)?;
        tables.extend((ties.n_rows > 0).then_some(ties));
    }
    Ok(tables)
}

/// Collective: the clump and halo of every cell and every particle, where `params` asks for them.
fn label_tables(
    of: &impl Segmented,
    source: &Source,
    ids: &PatchIds,
    params: &PhewParams,
    comm: &Comm,
) -> Result<Vec<PartTable>, RunError> {
    let mut tables = Vec::new();
    if params.with_cells {
        let mut cells = of.cells(ids, comm)?;
        if let (Some(cells), Some(noise)) = (&mut cells, &params.image.known) {
            let of_cells = noise.of_cells(&cells.table);
            cells.table.columns.extend(of_cells);
        }
        tables.extend(cells);
    }
    if let (true, Some(snapshot)) = (params.with_particles, source.snapshot) {
        tables.push(particles_table(snapshot, &of.places(), ids, comm)?);
    }
    Ok(tables)
}

/// What a catalogue says of the leaves that took part and of the haloes that are listed; nothing if all are.
fn listing_attributes(params: &PhewParams) -> Vec<(String, Attribute)> {
    let selection = &params.selection;
    let mut list = Vec::new();
    if params.min_particles > 0 {
        list.push((MIN_PARTICLES.to_string(), Attribute::Int(params.min_particles.cast_signed())));
    }
    if !selection.regions.is_empty() {
        list.push(("region".to_string(), Attribute::Text(selection.regions_text())));
    }
    if let Some(levels) = selection.levels {
        list.push(("levels".to_string(), Attribute::Reals(levels.map(f64::from).to_vec())));
    }
    list
}

/// Totals over all ranks.
struct RunTotals {
    /// By the names of the attributes.
    named: [(&'static str, u64); 6],
    /// Patches whose mass rounds to zero though their densities do not.
    n_lost: u64,
}

impl RunTotals {
    /// Collective: from what this rank found. `n_leaves` is a total already.
    fn new(
        of: &impl Segmented,
        structures: &Structures,
        n_leaves: u64,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let peaks = of.peaks();
        let is_lost = |patch: &&PatchValues| patch.sums[MASS] == 0.0 && patch.rho_min > 0.0;
        let n_lost = peaks.patches.iter().filter(is_lost).count() as u64;
        let local = [of.n_tests(), structures.clumps.len() as u64, structures.haloes.len() as u64, n_lost];
        let sums = comm.all_reduce_counts(&local, Reduce::Sum)?;
        let named = [
            ("n_leaf_cells", n_leaves),
            ("n_test_cells", sums[0]),
            ("n_peaks", peaks.n_global),
            ("n_clumps", sums[1]),
            ("n_haloes", sums[2]),
            ("n_levels", structures.max_level),
        ];
        Ok(Self { named, n_lost: sums[3] })
    }
}
