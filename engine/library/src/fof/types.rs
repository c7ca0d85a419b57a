//! The input and the output of the search.

use crate::particles::{Ids, Masses, Positions};

/// The role of a particle in the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Role {
    /// Links to other linkable particles.
    #[default]
    Linkable,
    /// Joins the group of the nearest linkable particle within the linking length.
    Attachable,
    /// Takes no part.
    Ignored,
}

/// The particles that one rank read, in the order of the input, in any distribution over ranks. Columns have
/// one entry per particle; all ranks have the same columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Particles {
    /// Coordinates; with periodic sides from 0 to the side, both included.
    pub position: Positions,
    /// Masses.
    pub mass: Masses,
    /// IDs.
    pub id: Ids,
    /// Roles; `None`: all particles are linkable.
    pub role: Option<Vec<Role>>,
    /// Velocities.
    pub velocity: Option<Vec<[f32; 3]>>,
    /// Densities of gas particles; NaN for other particles.
    pub gas_density: Option<Vec<f32>>,
    /// Which particles are black holes.
    pub is_black_hole: Option<Vec<bool>>,
}

impl Particles {
    /// Linkable particles of mass 1 with IDs from 0: the simplest input, on one rank.
    pub fn plain(position: Positions) -> Self {
        Self {
            position,
            mass: Masses::Same(1.0),
            id: Ids::From(0),
            role: None,
            velocity: None,
            gas_density: None,
            is_black_hole: None,
        }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }
}

/// The rule for black-hole seeds: in groups without a black hole, at the densest gas particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeedRule {
    /// Groups must exceed this mass, in units of the input.
    pub least_mass: f64,
}

/// What makes a group. The same on all ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkingRules {
    /// Two linkable particles nearer than this are in one group; in units of the positions.
    pub linking_length: f64,
    /// Least number of linkable members.
    pub min_size: u64,
    /// Sides of the periodic box, which starts at 0; `None`: open boundaries.
    pub sides: Option<[f64; 3]>,
    /// The rule for black-hole seeds, if any.
    pub seeds: Option<SeedRule>,
    /// Whether particles that link or are attached may share an ID; positions then decide their order.
    pub allow_duplicate_ids: bool,
}

/// The groups whose rows one rank keeps, by falling number of linkable members, then by the lowest ID of
/// these. Rows continue from rank to rank. Units are those of the input. Members are linked and attached
/// particles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Groups {
    /// ID of row 0; the IDs of all ranks start at 1.
    pub first_id: u64,
    /// Number of groups on all ranks.
    pub n_total: u64,
    /// Number of members, linked and attached.
    pub size: Vec<u64>,
    /// Number of linkable members.
    pub n_linked: Vec<u64>,
    /// Lowest ID of a linkable member.
    pub lowest_id: Vec<u64>,
    /// Mass.
    pub mass: Vec<f64>,
    /// Centre of mass; with periodic sides in `[0, side)`.
    pub centre: Vec<[f64; 3]>,
    /// Largest distance of a member to the centre.
    pub radius: Vec<f64>,
    /// Sides of the smallest box around all members, along the axes.
    pub extent: Vec<[f64; 3]>,
    /// Velocity of the centre of mass; given if velocities are.
    pub velocity: Option<Vec<[f64; 3]>>,
    /// Mass-weighted, one-dimensional rms velocity relative to the centre of mass; given if velocities are.
    pub dispersion: Option<Vec<f64>>,
    /// ID of the densest gas particle, the lowest one among equals; 0 without gas. This and the next two
    /// columns are given if gas densities are.
    pub densest_gas_id: Option<Vec<u64>>,
    /// Its density; NaN where there is none.
    pub densest_gas_density: Option<Vec<f32>>,
    /// Its position as given; NaN where there is none.
    pub densest_gas_position: Option<Vec<[f64; 3]>>,
    /// Whether a member is a black hole; given if that is known of the particles.
    pub has_black_hole: Option<Vec<bool>>,
    /// Whether a black hole is seeded at the densest gas particle; given if there is a rule for it.
    pub is_seeded: Option<Vec<bool>>,
}

impl Groups {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.size.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.size.is_empty()
    }
}

/// The group of each particle, 0 for none, in four bytes each if the number of groups permits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupIds {
    /// Fewer than 2³² groups.
    Narrow(Vec<u32>),
    /// Any number of groups.
    Wide(Vec<u64>),
}

impl Default for GroupIds {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl GroupIds {
    /// Number of particles.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(list) => list.len(),
            Self::Wide(list) => list.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// ID of the group of particle `i`; 0 for none.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        match self {
            Self::Narrow(list) => u64::from(list[i]),
            Self::Wide(list) => list[i],
        }
    }

    /// The IDs in the order of the particles.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// The result of a search on one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundGroups {
    /// The groups whose rows this rank keeps.
    pub groups: Groups,
    /// The group of each particle that this rank read, in their order.
    pub group_of: GroupIds,
}
