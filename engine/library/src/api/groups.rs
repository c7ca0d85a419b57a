//! Friends-of-friends on the particles of a program.

use crate::api::found::FoundCatalogue;
use crate::api::params::{FofParams, Linking};
use crate::api::particles::ParticleColumns;
use crate::api::quantities::{converted, of_header};
use crate::api::session::{Session, Shared};
use crate::bound::BoundRequest;
use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::fof::run::{SearchFacts, catalogue};
use crate::fof::{FofOutcome, FofRequest, GroupIds, Groups, LinkingRules, ParticleCounts, Role, find_groups};
use crate::projection::KeptForMaps;
use crate::projection::project_particles;
use inselberg_comm::Reduce;
use inselberg_io::catalogue::CataloguePart;
use inselberg_io::staging::Staged;
use rayon::prelude::*;
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

/// The identifier of a group, the same on all ranks: from 1 by falling number of members, then by the lowest
/// ID of these.
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

/// Groups of particles: a [`FoundCatalogue`] with their labels.
///
/// Owns itself. Over several ranks each rank has the labels of its own particles and a range of the groups.
pub struct FofGroups {
    catalogue: FoundCatalogue,
    groups: Groups,
    labels: Vec<Option<GroupId>>,
    linking_length: f64,
    /// As [`Self::warnings`].
    warnings: Vec<String>,
    /// The group of every particle of an output, where it is wanted.
    group_ids: Option<CataloguePart>,
}

/// Why there are no maps.
const NO_MAPS: &str = "maps of particles that were not kept; expected an output on disk and `keep_particles`";

impl std::fmt::Debug for FofGroups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FofGroups").field("n_groups", &self.n_groups()).finish_non_exhaustive()
    }
}

impl Deref for FofGroups {
    type Target = FoundCatalogue;

    fn deref(&self) -> &FoundCatalogue {
        &self.catalogue
    }
}

impl DerefMut for FofGroups {
    fn deref_mut(&mut self) -> &mut FoundCatalogue {
        &mut self.catalogue
    }
}

/// Collective: the groups of the particles of a program.
pub(crate) fn search(
    session: &Session,
    particles: &ParticleColumns,
    params: &FofParams,
) -> Result<FofGroups, Error> {
    let sides = particles.sides()?;
    if params.seed_mass.is_some() || params.with_group_ids {
        let message = "black holes and group IDs in files are of particles on disk; expected neither for particles in memory";
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    if params.bound != BoundRequest::default() || params.tracks.on {
        let message = "properties and tracks of groups of particles in memory; expected held ones, or particles on disk";
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    let Session { shared, comm, executor, .. } = *session;
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
    let about = particles.header(sides, census.all);
    let params = &converted(params, &of_header(&about))?;
    let linking_length = linking_length(params.linking, sides, census.linkable)?;
    let (min_size, allow_duplicate_ids) = (params.min_size, params.allow_duplicate_ids);
    let rules = LinkingRules { linking_length, min_size, sides, seeds: None, allow_duplicate_ids };
    let projection = params
        .with_projection
        .then(|| project_particles(&of_search.position, &of_search.mass, census.all, sides, comm))
        .transpose()?;
    let found = find_groups(of_search, &rules, comm, executor)?;
    let request = &FofRequest::of_dark_matter(params.clone());
    let facts = SearchFacts { about: &about, notes: &[], request, rules: &rules, census: &census };
    let catalogue = catalogue(&facts, &found, comm, executor.observer())?;
    let labels = labels(&found.group_of);
    // Groups depend on the division of the particles among the ranks where distances tie.
    let is_numbered = !particles.has_ids() && comm.n_ranks() > 1;
    let line =
        "the particles have no IDs, so the order of groups of equal size depends on how the ranks share them";
    let catalogue = FoundCatalogue::new(shared, catalogue, Err(NO_MAPS));
    Ok(FofGroups {
        catalogue: catalogue.with_projection(projection.flatten()),
        groups: found.groups,
        labels,
        linking_length,
        warnings: is_numbered.then(|| line.to_string()).into_iter().collect(),
        group_ids: None,
    })
}

/// The group of each particle of this rank.
fn labels(group_of: &GroupIds) -> Vec<Option<GroupId>> {
    (0..group_of.len()).into_par_iter().map(|i| GroupId::new(group_of.get(i))).collect()
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

impl FofGroups {
    /// Of a search in an input. Particles in memory get labels.
    pub(crate) fn of_output(shared: &Arc<Shared>, found: FofOutcome) -> Self {
        let FofOutcome { groups, linking_length, catalogue, group_ids, projection, kept, warnings, .. } =
            found;
        let labels = found.group_of.map_or(Vec::new(), |of| labels(&of));
        let kept = kept.map(|kept| -> Arc<dyn KeptForMaps> { Arc::new(kept) });
        let catalogue = FoundCatalogue::new(shared, catalogue, kept.ok_or(NO_MAPS));
        let catalogue = catalogue.with_projection(projection);
        Self { catalogue, groups, labels, linking_length, warnings, group_ids }
    }

    /// The group of each particle of this rank, in the order of the particles; `None` for particles in no
    /// group. Empty for particles on disk.
    pub fn labels(&self) -> &[Option<GroupId>] {
        &self.labels
    }

    /// Collective: sums of a program's values over the particles of each group. As
    /// [`Clumps::sums`](crate::Clumps::sums), with one value per particle of this rank.
    ///
    /// # Errors
    /// As there.
    pub fn sums(&self, columns: &[(&str, Column)]) -> Result<Vec<Vec<f64>>, Error> {
        let label = |particle: usize| self.labels[particle].map_or(0, GroupId::get);
        self.catalogue.sums("Groups", (self.labels.len(), &label), columns)
    }

    /// What a user should know about a result that is right but may surprise: one line each, the same on all
    /// ranks.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Number of groups on all ranks.
    pub fn n_groups(&self) -> u64 {
        self.groups.n_total
    }

    /// The linking length, in the units of the positions.
    pub fn linking_length(&self) -> f64 {
        self.linking_length
    }

    /// The groups whose rows this rank has, column by column. Rows continue from rank to rank.
    pub fn local_groups(&self) -> &Groups {
        &self.groups
    }

    /// Collective: writes the group of every particle of an output to a file, as [`FoundCatalogue::write`]
    /// writes the catalogue.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`FofParams::with_group_ids`] asked for them. When the file
    /// cannot be written, or a rank fails.
    pub fn write_group_ids(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.shared().write(self.group_ids()?, path.as_ref())
    }

    /// Collective: stages the file of group IDs, as [`FoundCatalogue::stage`].
    #[doc(hidden)]
    pub fn stage_group_ids(&self, path: &Path) -> Result<Staged, Error> {
        self.shared().stage(self.group_ids()?, path)
    }

    fn group_ids(&self) -> Result<&CataloguePart, Error> {
        let missing = || {
            Error::new(ErrorKind::InvalidArgument, "a search without group IDs; expected one that keeps them")
        };
        self.group_ids.as_ref().ok_or_else(missing)
    }
}
