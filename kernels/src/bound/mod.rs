//! Bound haloes: which particles are bound to each clump of a halo, and what are the properties of the bound
//! ones?
//!
//! Place in the flow: after [`crate::phew`] and the gathering of members. [`members`] come in, one halo at a
//! time; the files in the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | members checked and in one order | [`members`] |
//! | a halo cut into runs of its members | [`slices`] |
//! | potential of each member | [`potential`] |
//! | a centre of shells, where no density peak is known | [`shrinking_sphere`] |
//! | members with too much energy removed, clump by clump up the hierarchy | [`unbind`] |
//! | the mass within each point around a centre | [`mass_profile`] |
//! | properties of what is bound, and of spheres around it | [`properties`] |
//!
//! It does not use ranks, files, periodic boxes, cosmologies, or particle data that no property needs. Units
//! are the caller's; [`Gravity`] has the constant of gravity in these units. No result depends on the order
//! in which members arrive, on threads, or on the processor: members are sorted by Morton key and identifier,
//! sums run in that order or in the order of radius or energy, with ties by identifier, and no function of
//! the system's mathematical library is used. A halo may be in [`slices`]. The caller joins them, and the
//! result has the bits of the whole halo.

pub(crate) mod elementary;
pub mod mass_profile;
pub mod members;
pub mod potential;
pub mod properties;
pub mod radial;
pub mod shrinking_sphere;
pub mod slices;
pub mod unbind;

pub use members::{HaloMembers, MemberColumns, MemberError};
pub use slices::HaloBounds;

/// Gravity and expansion in the caller's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gravity {
    /// The constant of gravity in units of length, velocity² and mass: the potential of a point is -g m / r.
    /// With comoving positions and peculiar velocities this is G / a.
    pub g: f64,
    /// Velocity of the Hubble flow per length: H for physical positions, H a for comoving ones, 0 without
    /// expansion.
    pub hubble_flow: f64,
}

/// The particle types whose mass makes the potential; by default every type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceTypes(u8);

impl Default for SourceTypes {
    fn default() -> Self {
        Self::ALL
    }
}

impl SourceTypes {
    /// Every type.
    pub const ALL: Self = Self(u8::MAX);

    /// These types; numbers beyond the last type are ignored.
    pub fn only(types: &[u8]) -> Self {
        Self(types.iter().filter(|t| usize::from(**t) < members::N_TYPES).fold(0, |all, t| all | 1 << t))
    }

    /// Whether a type is among them.
    #[inline]
    pub fn holds(self, particle_type: u8) -> bool {
        self.0 >> particle_type & 1 == 1
    }
}
