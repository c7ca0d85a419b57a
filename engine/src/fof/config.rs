//! The parameters of a search.

use crate::bound::BoundRequest;
use inselberg_io::particles::{DARK_MATTER, N_KINDS, ParticleHeader};

/// How the linking length is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkingLength {
    /// A length in the units of the positions.
    Absolute(f64),
    /// A multiple of the mean separation of dark-matter particles.
    Ratio(f64),
}

/// The parameters of a search. The names in brackets are those of SWIFT.
#[derive(Debug, Clone, PartialEq)]
pub struct FofConfig {
    /// The linking length (`absolute_linking_length`, `linking_length_ratio`).
    pub length: LinkingLength,
    /// The least number of linkable particles in a group (`min_group_size`).
    pub min_size: u64,
    /// Kinds of particles that link (`linking_types`).
    pub linking: [bool; N_KINDS],
    /// Kinds that are attached (`attaching_types`).
    pub attaching: [bool; N_KINDS],
    /// The mass in solar masses above which groups are seeded with a black hole
    /// (`black_hole_seed_halo_mass_Msun`); `None`: no seeds (`seed_black_holes_enabled`).
    pub seed_mass: Option<f64>,
    /// The group ID of particles without a group (`group_id_default`).
    pub id_default: u64,
    /// The ID of the largest group (`group_id_offset`).
    pub id_offset: u64,
    /// The side of the box, for inputs that do not give it.
    pub side: Option<f64>,
    /// Whether boundaries are open, even if the input is periodic.
    pub open: bool,
    /// Whether particles that link or are attached may share an ID.
    pub allow_duplicate_ids: bool,
    /// Whether to project the mass for a picture.
    pub with_picture: bool,
    /// Whether to keep positions and masses for maps.
    pub keep_particles: bool,
    /// Whether to return the group of every particle.
    pub with_ids: bool,
    /// The properties of groups.
    pub bound: BoundRequest,
    /// The softening length of all particles for these, in the units of the positions; `None`: a part of the
    /// linking length, see [`Self::softening`].
    pub softening: Option<f64>,
}

impl FofConfig {
    /// Dark matter alone links, in groups of at least `min_size`; everything else as in a plain search.
    /// Groups count from 1.
    pub fn of_dark_matter(length: LinkingLength, min_size: u64) -> Self {
        let mut linking = [false; N_KINDS];
        linking[usize::from(DARK_MATTER)] = true;
        Self {
            length,
            min_size,
            linking,
            attaching: [false; N_KINDS],
            seed_mass: None,
            id_default: 0,
            id_offset: 1,
            side: None,
            open: false,
            allow_duplicate_ids: false,
            with_picture: false,
            keep_particles: false,
            with_ids: false,
            bound: BoundRequest::default(),
            softening: None,
        }
    }

    /// Whether anything is found out about groups that the search does not find.
    pub fn has_properties(&self) -> bool {
        self.bound.unbind || self.bound.properties.has_spheres()
    }

    /// The softening length of each kind, and where it comes from: the given one, that of the input, or a
    /// fifth of the linking length. For the usual ratio of 0.2 the last is a 25th of the mean separation.
    pub fn softening(&self, about: &ParticleHeader, linking_length: f64) -> [(f64, &'static str); N_KINDS] {
        about.softening.map(|of_input| match (self.softening, of_input) {
            (Some(length), _) => (length, "given"),
            (None, Some(length)) => (length, "input"),
            (None, None) => (linking_length / 5.0, "linking length / 5"),
        })
    }
}
