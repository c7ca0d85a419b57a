//! Which members does a clump process, and which does it pass to the clump that it merges into?
//!
//! | rules | list of a clump | passed up |
//! |---|---|---|
//! | energies | candidates: its own members, and the losers of the clumps in it | its losers |
//! | RAMSES's | all members of it and of the clumps in it, as first assigned | all of them, with new roles |
//!
//! Lists are in the slices of a halo, and ascend. A member is in the list of one clump at a time.

use bytemuck::{Pod, Zeroable};

/// A member in the list of a clump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpMember {
    /// Its number.
    pub member: u32,
    roles: u32,
}

const CANDIDATE: u32 = 1;
const SILENT: u32 = 2;
const HANDED: u32 = 4;
const CLAIMED: u32 = 8;

impl ClumpMember {
    /// A candidate.
    pub fn candidate(member: u32) -> Self {
        Self { member, roles: CANDIDATE }
    }

    /// A candidate that the clump claims: it is a former member of its track.
    pub fn claimed(member: u32) -> Self {
        Self { member, roles: CANDIDATE | CLAIMED }
    }

    /// A candidate that a clump below has lost.
    pub(super) fn handed(member: u32) -> Self {
        Self { member, roles: CANDIDATE | HANDED }
    }

    /// With RAMSES's rules: a member that may be a candidate, and may be silent.
    pub(super) fn with_roles(member: u32, is_candidate: bool, is_silent: bool) -> Self {
        let role = |has_role: bool, role: u32| if has_role { role } else { 0 };
        Self { member, roles: role(is_candidate, CANDIDATE) | role(is_silent, SILENT) }
    }

    /// The same under another number.
    #[must_use]
    pub fn renumbered(self, member: u32) -> Self {
        Self { member, ..self }
    }

    /// Whether the clump may keep it.
    pub(super) fn is_candidate(self) -> bool {
        self.roles & CANDIDATE != 0
    }

    /// Whether a clump below has lost it.
    pub(super) fn is_handed(self) -> bool {
        self.roles & HANDED != 0
    }

    /// Whether the clump claims it.
    pub(super) fn is_claimed(self) -> bool {
        self.roles & CLAIMED != 0
    }

    /// Whether it is left out of the first mean of the clump.
    pub(super) fn is_silent(self) -> bool {
        self.roles & SILENT != 0
    }
}
