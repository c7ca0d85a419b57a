//! What friends-of-friends takes.

use crate::bound::{BoundRequest, PotentialChoice, PropertyChoice, PropertyWords, allows_duplicates};
use crate::tracks::TrackParams;
use inselberg_io::catalogue::units::SOLAR_MASS;
use inselberg_io::params;
use inselberg_io::params::{ParamError, check_ranges};
use inselberg_io::particles::{N_KINDS, ParticleHeader};

/// The linking length of friends-of-friends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Linking {
    /// A length in the units of the positions.
    Length(f64),
    /// A part of the mean separation of the particles in the box.
    Ratio(f64),
}

/// Group IDs are written as signed integers of eight bytes.
const MOST: u64 = i64::MAX as u64;
const AT_MOST: &str = "at most 9223372036854775807";

params! {
    /// The parameters of friends-of-friends.
    ///
    /// ```
    /// use inselberg::{FofParams, Linking};
    ///
    /// let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(32);
    /// assert_eq!(params.min_size, 32);
    /// ```
    #[non_exhaustive]
    pub struct FofParams of "fof" measured in quantities {
        /// Particles nearer than this are in one group.
        pub linking: Linking = Linking::Ratio(0.2);
        /// Smallest number of linking particles in a listed group.
        pub min_size: u64 = 20, "min_size" = count("20", |n| *n > 0, "1 or more").alias("min_group_size");
        /// Whether particles may share an ID. Ties between distances are then decided by positions.
        pub allow_duplicate_ids: bool = false;
        /// Mass above which groups get a black hole (solar masses).
        ///
        /// Groups of at least this mass that have gas and no black hole are marked for one. Needs units.
        pub seed_mass: Option<f64> = None, "black_hole_seed_mass" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x >= 0.0),
            "a finite mass, 0 or more",
        )
        .alias("black_hole_seed_halo_mass_Msun")
        .measured(Measure::MASS.in_cgs(SOLAR_MASS))
        .example("1e10");
        /// Group ID of particles in no group.
        pub id_of_none: u64 = 2_147_483_647, "group_id_default" = count("2147483647", |n| *n <= MOST, AT_MOST);
        /// ID of the largest group; smaller groups have the next IDs.
        pub first_id: u64 = 1, "group_id_offset" = count("1", |n| *n <= MOST, AT_MOST);
        /// Keeps the group of every particle of an output, in the order of its files
        /// ([`crate::FofGroups::write_group_ids`]).
        pub with_group_ids: bool = false;
        /// Also projects the mass along z, for a picture ([`crate::FofGroups::projection`]).
        pub with_projection: bool = false;
        /// Also keeps positions and masses of the particles of an output for [`crate::FofGroups::maps`].
        /// Costs 12 to 32 bytes per particle.
        pub keep_particles: bool = false;
        /// Properties of groups of particles on disk. Adds columns to the table of groups. Unbinding needs
        /// velocities and units, spheres a cosmology. Spheres are about the most bound particle, or about the
        /// centre of mass without unbinding.
        pub bound: BoundRequest = BoundRequest::default();
        /// Softening length of potentials in the units of the positions.
        ///
        /// At distance 0 the potential of a particle is -G m / softening. Default: that of the snapshot, else
        /// a fifth of the linking length, which is a 25th of the mean separation for a linking ratio of 0.2.
        pub softening: Option<f64> = None, "softening" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x > 0.0),
            "a finite length above 0",
        ).topic(Topic::Properties).measured(Measure::LENGTH).example("0.005");
    }
    with {
        /// Whether objects are remembered from output to output. Groups of particles on disk, or held ones.
        tracks: TrackParams,
    }
    also {
        /// Linking length in units of the mean separation of dark-matter particles.
        ///
        /// The mean separation is the cube root of mean particle mass over mean matter density (dark-matter
        /// density if there is gas). Without a cosmology it is the cube root of box volume over particle
        /// number.
        "linking_ratio" = of_whole(
            ParamKind::Real,
            "0.2",
            |of: &mut FofParams, text, _| assign(&mut of.linking, positive(text).map(Linking::Ratio)),
            |of| match of.linking {
                Linking::Ratio(ratio) => Some(ratio.to_string()),
                Linking::Length(_) => None,
            },
            "a finite ratio above 0",
        ).instead_of("linking_length").alias("linking_length_ratio");
        /// Linking length in the units of the positions, instead of a ratio.
        ///
        /// Particles closer than this are in one group. At most half the side of a periodic box. -1: not set.
        "linking_length" = of_whole(
            ParamKind::Real,
            "",
            |of: &mut FofParams, text, _| assign(&mut of.linking, positive(text).map(Linking::Length)),
            |of| match of.linking {
                Linking::Length(length) => Some(length.to_string()),
                Linking::Ratio(_) => None,
            },
            "a finite length above 0, or -1 for none",
        ).instead_of("linking_ratio").alias("absolute_linking_length").measured(Measure::LENGTH).example("0.04");
        /// Whether particles of linking or attaching types may share an ID.
        ///
        /// allow: particles of one ID are ordered by position along x, then y, then z.
        "duplicate_ids" = of_whole(
            ParamKind::Choice(&["error", "allow"]),
            "error",
            |of: &mut FofParams, text, _| assign(&mut of.allow_duplicate_ids, allows_duplicates(text)),
            |of| Some(if of.allow_duplicate_ids { "allow" } else { "error" }.into()),
            "error or allow",
        ).topic(Topic::Particles);
        /// Properties of groups: words from basic, bound, so, all.
        ///
        /// basic, bound and all keep the particles that gravity binds to each group, without substructure.
        /// basic: their mass, centres, velocity, energies, maximum circular velocity, half-mass radius.
        /// bound: also masses and radii by type, dispersion, angular momenta, spins, inertia tensors. so:
        /// spheres of given mean density (spherical overdensities) about the most bound particle, or about
        /// the centre of mass with only so. all: bound and so. Reads the input a second time. Needs units;
        /// bound particles need velocities, and spheres a cosmology. docs/haloes.md has the definitions.
        "properties" = of_whole(
            ParamKind::Text("WORD,..."),
            "",
            |of: &mut FofParams, text, _| set_properties(of, text),
            |of| match (of.bound.unbind, of.bound.properties) {
                (false, PropertyChoice::Basic) => None,
                (false, _) => Some("so".into()),
                (true, choice) => Some(choice.name().into()),
            },
            PropertyWords::OF_GROUPS,
        ).topic(Topic::Properties).example("so,bound");
        /// How potentials of bound particles are computed.
        ///
        /// tree: from all particles of the group. spherical: as if these were shells about its densest part;
        /// faster, but wrong for groups that are not round.
        "potential" = of_whole(
            ParamKind::Choice(PotentialChoice::WORDS),
            "tree",
            |of: &mut FofParams, text, _| assign(&mut of.bound.potential, PotentialChoice::from_text(text)),
            |of| of.bound.potential.to_text(),
            "tree or spherical",
        ).topic(Topic::Properties);
        /// Also list the bound particles of each group, the most bound first.
        ///
        /// Needs bound particles: `properties` basic, bound or all.
        "with_members" = of_whole(
            ParamKind::Flag,
            "false",
            |of: &mut FofParams, text, _| assign(&mut of.bound.with_members, bool::from_text(text)),
            |of| of.bound.with_members.to_text(),
            "true or false",
        ).topic(Topic::Results);
    }
}

fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0)
}

fn set_properties(of: &mut FofParams, text: &str) -> bool {
    let words = text.parse().ok().filter(|words: &PropertyWords| !words.gas);
    let Some(PropertyWords { needs_bound, choice, .. }) = words else { return false };
    of.bound = BoundRequest { unbind: needs_bound, properties: choice, ..of.bound };
    true
}

impl FofParams {
    /// The numbers in catalogues: of particles in no group, and of the largest group.
    #[must_use]
    pub fn numbering(self, id_of_none: u64, first_id: u64) -> Self {
        Self { id_of_none, first_id, ..self }
    }

    /// Checks each parameter, and those that depend on each other.
    ///
    /// # Errors
    /// The first parameter that is out of range or does not go with another one.
    pub fn check(&self) -> Result<(), ParamError> {
        const UNBINDING: &str = "`properties` basic, bound or all";
        const BOUND: &str = "`properties` basic, bound or all beside it";
        check_ranges(self)?;
        self.tracks.check(&self.bound, self.allow_duplicate_ids, UNBINDING)?;
        match self.softening {
            Some(length) if !self.bound.unbind => Err(ParamError::value("softening", length, BOUND)),
            _ if self.bound.with_members && !self.bound.unbind => {
                Err(ParamError::value("with_members", true, BOUND))
            }
            _ => Ok(()),
        }
    }

    /// Whether anything is found out about groups that the search does not find.
    pub(crate) fn has_properties(&self) -> bool {
        self.bound.unbind || self.bound.properties.has_spheres()
    }

    /// The softening length of each kind, and where it comes from: the given one, that of the input, or a
    /// fifth of the linking length. For the usual ratio of 0.2 the last is a 25th of the mean separation.
    pub(crate) fn softening_of(
        &self,
        about: &ParticleHeader,
        linking_length: f64,
    ) -> [(f64, &'static str); N_KINDS] {
        about.softening.map(|of_input| match (self.softening, of_input) {
            (Some(length), _) => (length, "given"),
            (None, Some(length)) => (length, "input"),
            (None, None) => (linking_length / 5.0, "linking length / 5"),
        })
    }
}
