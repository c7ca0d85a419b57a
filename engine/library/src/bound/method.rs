//! The rules by which the clumps of a halo are unbound: energies in the potential of the bound members, or
//! RAMSES's rules.

use crate::bound::request::{BoundRequest, PotentialChoice};
use crate::bound::rows::HaloClump;
use crate::thread_loops::ThreadLoops;
use inselberg_kernels::bound::slices::Slices;
use inselberg_kernels::bound::unbind::clump_members::ClumpMember;
use inselberg_kernels::bound::unbind::hierarchy::{
    BoundHierarchy, ClumpTree, ClumpTreeError, ListedClump, UnboundClump, unbind_candidates, unbind_hierarchy,
};
use inselberg_kernels::bound::unbind::ramses::{
    RamsesPeak, RamsesUnbindRules, unbind_ramses, unbind_ramses_slices,
};
use inselberg_kernels::bound::unbind::{
    BoundMembers, PotentialMethod, UnbindCall, UnbindRules, UnbindScratch,
};
use inselberg_kernels::bound::{Gravity, HaloMembers};

/// Passes end when the speed of a clump changes by less than this part: RAMSES's default of `conv_limit`.
const SPEED_CHANGE: f64 = 0.01;

/// Greatest number of passes: RAMSES's default of `repeat_max`.
const MAX_PASSES: u32 = 100;

/// How the clumps of haloes are unbound.
#[derive(Debug, Clone, PartialEq)]
pub enum UnbindMethod {
    /// By the energies of members.
    Energies(UnbindRules),
    /// By RAMSES's rules.
    Ramses(RamsesUnits),
}

/// The facts about an output that RAMSES's rules need, in code units.
#[derive(Debug, Clone, PartialEq)]
pub struct RamsesUnits {
    /// RAMSES's own constant of gravity.
    pub gravity: Gravity,
    /// Side of a cell of the finest level.
    pub finest_cell: f64,
    /// Length of the box along each periodic axis, infinite along others.
    pub period: [f64; 3],
}

/// A clump in the slices of its halo.
pub struct SlicedClump<'a, S> {
    /// The clump.
    pub clump: &'a HaloClump,
    /// The members bound to the halo as a whole, if the clump begins with them.
    pub whole: Option<&'a BoundMembers>,
    /// Its centre, relative to the same point as the members.
    pub centre: [f64; 3],
    /// Whether it lies within another clump.
    pub is_within: bool,
    /// Whether it has no peak.
    pub is_peakless: bool,
    /// Gravity and expansion.
    pub gravity: &'a Gravity,
    /// The connection of the slices.
    pub slices: &'a S,
}

impl UnbindMethod {
    /// The rules of energies of a request; `None` without unbinding, and for RAMSES's rules.
    pub fn by_energies(request: &BoundRequest) -> Option<Self> {
        let method = match request.unbinding()? {
            PotentialChoice::Tree => PotentialMethod::Tree,
            PotentialChoice::Spherical => PotentialMethod::Spherical,
            PotentialChoice::Ramses => return None,
        };
        let (sources, thermal) = (request.potential_from, request.thermal_energy);
        Some(Self::Energies(UnbindRules { method, sources, thermal, ..UnbindRules::default() }))
    }

    /// Whether the thermal energy of gas counts.
    pub fn is_thermal(&self) -> bool {
        matches!(self, Self::Energies(rules) if rules.thermal)
    }

    /// The rules of energies, if these are used.
    pub fn energy_rules(&self) -> Option<&UnbindRules> {
        match self {
            Self::Energies(rules) => Some(rules),
            Self::Ramses(_) => None,
        }
    }

    /// Whether potentials are those of shells.
    pub fn has_shells(&self) -> bool {
        matches!(self, Self::Energies(rules) if rules.method == PotentialMethod::Spherical)
    }

    /// The centre of a clump in code units: its densest cell, in RAMSES the refined peak.
    pub fn centre(&self, clump: &HaloClump) -> [f64; 3] {
        match self {
            Self::Energies(_) => clump.peak,
            Self::Ramses(_) => clump.peak_refined,
        }
    }

    /// Unbinds the `clumps` of a halo, which are those of the tree.
    ///
    /// # Errors
    /// When the clumps are not a tree.
    pub fn unbind(
        &self,
        members: &HaloMembers,
        tree: &ClumpTree,
        clumps: &[HaloClump],
        gravity: &Gravity,
        scratch: &mut UnbindScratch,
    ) -> Result<BoundHierarchy, ClumpTreeError> {
        let slices = &ThreadLoops;
        match self {
            Self::Energies(rules) => {
                unbind_hierarchy(members, tree, &UnbindCall { gravity, rules, slices }, scratch)
            }
            Self::Ramses(units) => {
                let border: Vec<Option<f64>> = clumps.iter().map(border).collect();
                let call = UnbindCall { gravity: &units.gravity, rules: &units.rules(), slices };
                unbind_ramses(members, tree, &border, &call)
            }
        }
    }

    /// Unbinds one clump. `list` has its members in this slice, by rising number.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn unbind_clump<S: Slices>(
        &self,
        members: &HaloMembers,
        list: &[ClumpMember],
        of: &SlicedClump<S>,
        scratch: &mut UnbindScratch,
    ) -> Result<UnboundClump, S::Error> {
        let SlicedClump { clump, whole, centre, is_within, is_peakless, gravity, slices } = *of;
        match self {
            Self::Energies(rules) => {
                let call = UnbindCall { gravity, rules, slices };
                let clump = ListedClump { list, whole, peak: centre, is_within, is_peakless };
                unbind_candidates(members, &clump, &call, scratch)
            }
            Self::Ramses(units) => {
                let peak = RamsesPeak { centre, border: border(clump), is_main: clump.id == clump.halo };
                let call = UnbindCall { gravity: &units.gravity, rules: &units.rules(), slices };
                unbind_ramses_slices(members, list, &peak, &call)
            }
        }
    }
}

impl RamsesUnits {
    fn rules(&self) -> RamsesUnbindRules {
        RamsesUnbindRules {
            finest_cell: self.finest_cell,
            period: self.period,
            speed_change: SPEED_CHANGE,
            max_passes: MAX_PASSES,
        }
    }
}

/// The distance from the peak of a clump to its nearest border, if it has one.
fn border(clump: &HaloClump) -> Option<f64> {
    Some(clump.border).filter(|border| border.is_finite())
}
