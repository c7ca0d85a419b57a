//! Friends-of-friends on the particles of a program.

use crate::api::opened::OpenParticles;
use crate::api::params::{FofParams, Linking};
use crate::api::particles::ParticleColumns;
use crate::api::quantities::{converted, of_header};
use crate::api::session::{Session, Shared};
use crate::bound::BoundRequest;
use crate::error::{Error, ErrorKind};
use crate::fof::picture;
use crate::fof::run::{CatalogueRequest, catalogue};
use crate::fof::{FofOutcome, Groups, KeptParticles, LinkingRules, ParticleCounts, Role, find_groups};
use crate::projection::{DensityMap, MapBox, Projection, View};
use inselberg_comm::Reduce;
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, Table};
use inselberg_io::particles::{DARK_MATTER, MassOf, N_KINDS, ParticleHeader, Species};
use inselberg_io::staging::Staged;
use rayon::prelude::*;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

/// The identifier of a group, the same on all ranks: from 1 by falling number of members, then by the lowest ID of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct GroupId(NonZeroU64);

impl GroupId {
    /// From a number; `None` for 0.
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The number, from 1.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

/// Groups of particles. Owns itself. Over several ranks each rank has the labels of its own particles and a range of the
/// groups.
pub struct FofGroups {
    shared: Arc<Shared>,
    found: SearchResult,
}

/// What a call found.
pub(crate) struct SearchResult {
    groups: Groups,
    labels: Vec<Option<GroupId>>,
    linking_length: f64,
    catalogue: CataloguePart,
    /// As [`FofGroups::warnings`].
    warnings: Vec<String>,
    /// The group of every particle of an output, where it is wanted.
    group_ids: Option<CataloguePart>,
    /// On rank 0, where it is wanted.
    projection: Option<Projection>,
    /// The particles of an output, where they are kept for maps.
    kept: Option<KeptParticles>,
}

impl std::fmt::Debug for FofGroups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FofGroups").field("n_groups", &self.n_groups()).finish_non_exhaustive()
    }
}

/// Collective: everything that a call finds.
pub(crate) fn search(
    session: Session,
    particles: &ParticleColumns,
    params: &FofParams,
) -> Result<SearchResult, Error> {
    let sides = particles.sides()?;
    if params.seed_mass.is_some() || params.with_group_ids {
        let message = "black holes and group IDs in files are of particles on disk; expected neither for particles in memory";
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    session.check_same("geometry and parameters", &(&particles.geometry, params, particles.kinds()))?;
    if params.bound != BoundRequest::default() {
        let message = "properties of groups of particles in memory; expected particles on disk";
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    let Session { comm, executor, .. } = session;
    let of_search = particles.to_search(comm)?;
    let n_linkable = match &of_search.role {
        None => of_search.len(),
        Some(roles) => roles.iter().filter(|role| **role == Role::Linkable).count(),
    };
    let counts = [of_search.len() as u64, n_linkable as u64];
    let counts = comm.all_reduce_counts(&counts, Reduce::Sum)?;
    let census = ParticleCounts {
        all: counts[0],
        linkable: counts[1],
        attachable: counts[0] - counts[1],
        dark: counts[1],
    };
    let about = header(particles, sides, census.all);
    let params = &converted(params, &of_header(&about))?;
    let linking_length = linking_length(params.linking, sides, census.linkable)?;
    let config = params.config();
    let (min_size, allow_duplicate_ids) = (config.min_size, config.allow_duplicate_ids);
    let rules = LinkingRules { linking_length, min_size, sides, seeds: None, allow_duplicate_ids };
    let projection =
        config.with_picture.then(|| picture::project(&of_search, census.all, sides, comm)).transpose()?;
    let found = find_groups(of_search, &rules, comm, executor)?;
    let request =
        CatalogueRequest { about: &about, notes: &[], config: &config, rules: &rules, census: &census };
    let catalogue = catalogue(&request, &found, comm, executor.observer())?;
    let n = particles.len();
    let labels = (0..n).into_par_iter().map(|i| GroupId::new(found.group_of.get(i))).collect();
    // Groups depend on the division of the particles among the ranks where distances tie.
    let is_numbered = !particles.has_ids() && comm.n_ranks() > 1;
    let line =
        "the particles have no IDs, so the order of groups of equal size depends on how the ranks share them";
    Ok(SearchResult {
        groups: found.groups,
        labels,
        linking_length,
        catalogue,
        warnings: is_numbered.then(|| line.to_string()).into_iter().collect(),
        group_ids: None,
        projection: projection.flatten(),
        kept: None,
    })
}

/// The linking length in the units of the positions.
fn linking_length(linking: Linking, sides: Option<[f64; 3]>, n: u64) -> Result<f64, Error> {
    match (linking, sides) {
        (Linking::Length(length), _) => Ok(length),
        (Linking::Ratio(ratio), _) if !(ratio.is_finite() && ratio > 0.0) => {
            let message = format!("the ratio of the linking length is {ratio}; expected a positive number");
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
        (Linking::Ratio(_), None) => {
            let message = "the linking length is a ratio of the mean separation, which an open box does not have; \
                           expected a length";
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
        // Without particles any length will do.
        (Linking::Ratio(ratio), Some(sides)) => {
            Ok(ratio * (sides.iter().product::<f64>() / n.max(1) as f64).cbrt())
        }
    }
}

/// As the header of an input, for the attributes of a catalogue.
fn header(particles: &ParticleColumns, sides: Option<[f64; 3]>, n: u64) -> ParticleHeader {
    let species = Species {
        name: "particles".into(),
        kind: Some(DARK_MATTER),
        n,
        mass: MassOf::Each,
        is_double: true,
        has_ids: particles.has_ids(),
        has_velocities: particles.has_velocities(),
        has_densities: false,
        has_weights: false,
        has_wind: false,
        problem: None,
    };
    let geometry = &particles.geometry;
    ParticleHeader {
        format: "memory",
        sides,
        periodic: sides.is_some(),
        time: geometry.time,
        units: geometry.units,
        assumed_units: Vec::new(),
        boundary_is_assumed: false,
        notes: Vec::new(),
        sampled: [1.0; N_KINDS],
        cosmology: geometry.cosmology.clone(),
        matter: None,
        softening: [None; N_KINDS],
        species: vec![species],
    }
}

impl SearchResult {
    /// Of a search whose particles nobody gave, so that nobody gets labels.
    pub fn of_output(found: FofOutcome) -> Self {
        let FofOutcome { groups, linking_length, catalogue, group_ids, projection, kept, warnings, .. } =
            found;
        let labels = Vec::new();
        Self { groups, labels, linking_length, catalogue, warnings, group_ids, projection, kept }
    }
}

impl FofGroups {
    pub(crate) fn new(shared: Arc<Shared>, found: SearchResult) -> Self {
        Self { shared, found }
    }

    /// The group of each particle of this rank, in the order of the particles; `None` for particles in no group. Empty for
    /// particles on disk.
    pub fn labels(&self) -> &[Option<GroupId>] {
        &self.found.labels
    }

    /// What a user should know about a result that is right but may surprise: one line each, the same on all ranks.
    pub fn warnings(&self) -> Vec<String> {
        self.found.warnings.clone()
    }

    /// Number of groups on all ranks.
    pub fn n_groups(&self) -> u64 {
        self.found.groups.n_total
    }

    /// The linking length, in the units of the positions.
    pub fn linking_length(&self) -> f64 {
        self.found.linking_length
    }

    /// The groups whose rows this rank has, column by column. Rows continue from rank to rank.
    pub fn local_groups(&self) -> &Groups {
        &self.found.groups
    }

    /// The rows of the table `Groups` that this rank has, with types, dimensions and descriptions.
    pub fn table(&self) -> &Table {
        &self.found.catalogue.tables.first().expect("a catalogue of groups has a table").table
    }

    /// The tables of the catalogue, `Groups` first, each with the rows of this rank and the number of rows on all ranks.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = (&Table, u64)> {
        self.found.catalogue.tables.iter().map(|part| (&part.table, part.n_rows))
    }

    /// Adds texts to the attributes, as [`crate::Clumps::add_attributes`].
    #[doc(hidden)]
    pub fn add_attributes(&mut self, texts: impl IntoIterator<Item = (&'static str, String)>) {
        self.found.catalogue.add_texts(texts);
    }

    /// What the catalogue says of its input, its parameters and its totals.
    pub fn attributes(&self) -> &[(String, Attribute)] {
        &self.found.catalogue.attributes
    }

    /// Collective: the whole catalogue on `rank`, `None` on the others.
    ///
    /// # Errors
    /// When there is no such rank, or a rank fails.
    pub fn gather(&self, rank: u32) -> Result<Option<Catalogue>, Error> {
        self.shared.gather(&self.found.catalogue, rank)
    }

    /// Collective: writes the catalogue to a file, whole or not at all. As [`crate::Clumps::write`].
    ///
    /// # Errors
    /// When the file cannot be written, or a rank fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.shared.write(&self.found.catalogue, path.as_ref())
    }

    /// Collective: writes the properties in the layout of SOAP, as [`crate::Clumps::write_soap`].
    ///
    /// # Errors
    /// When the catalogue has no properties of bound particles and no spheres, and those of [`crate::Clumps::write_soap`].
    pub fn write_soap(
        &self,
        place: impl AsRef<Path>,
        particles: Option<&OpenParticles>,
    ) -> Result<(), Error> {
        let input = particles.map(OpenParticles::reader);
        self.shared.write_soap(&self.found.catalogue, place.as_ref(), input)
    }

    /// Collective: writes the group of every particle of an output to a file, as [`Self::write`] writes the catalogue.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`FofParams::with_group_ids`] asked for them. When the file cannot be written, or a
    /// rank fails.
    pub fn write_group_ids(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.shared.write(self.group_ids()?, path.as_ref())
    }

    /// The mass projected along z, on rank 0, where [`FofParams::with_projection`] asked for it.
    pub fn projection(&self) -> Option<&Projection> {
        self.found.projection.as_ref()
    }

    /// Collective: the mean density along the line of sight, of any region and along any axis, as [`crate::Clumps::maps`]. A
    /// particle is a cube with a side of half a linking length.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`FofParams::keep_particles`] kept the particles of an output, and for views that
    /// cannot be made. When a rank fails.
    pub fn maps(&self, views: &[View]) -> Result<Option<Vec<DensityMap>>, Error> {
        let kept = self.kept()?;
        self.shared.maps(kept, kept.space(), views)
    }

    /// The box of [`Self::maps`], and the side of the cube of a particle. An open box is the cube around all particles.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`FofParams::keep_particles`] kept the particles of an output.
    pub fn map_box(&self) -> Result<(MapBox, f64), Error> {
        self.kept().map(|kept| (*kept.space(), kept.finest()))
    }

    fn kept(&self) -> Result<&KeptParticles, Error> {
        let missing = || {
            let message =
                "maps of particles that were not kept; expected an output on disk and `keep_particles`";
            Error::new(ErrorKind::InvalidArgument, message)
        };
        self.found.kept.as_ref().ok_or_else(missing)
    }

    /// Frees what [`FofParams::keep_particles`] kept.
    #[doc(hidden)]
    pub fn forget_particles(&mut self) {
        self.found.kept = None;
    }

    /// Collective: stages the catalogue; rank 0 gets the file. For the command line, whose files get their names together.
    #[doc(hidden)]
    pub fn stage(&self, path: &Path) -> Result<Staged, Error> {
        self.shared.stage(&self.found.catalogue, path)
    }

    /// Collective: stages the file of group IDs, as [`Self::stage`].
    #[doc(hidden)]
    pub fn stage_group_ids(&self, path: &Path) -> Result<Staged, Error> {
        self.shared.stage(self.group_ids()?, path)
    }

    pub(crate) fn part(&self) -> &CataloguePart {
        &self.found.catalogue
    }

    fn group_ids(&self) -> Result<&CataloguePart, Error> {
        let missing = || {
            Error::new(ErrorKind::InvalidArgument, "a search without group IDs; expected one that keeps them")
        };
        self.found.group_ids.as_ref().ok_or_else(missing)
    }
}
