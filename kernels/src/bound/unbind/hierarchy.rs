//! The hierarchy: where do the members go that a clump loses?
//!
//! Clumps are unbound from the deepest upwards. The members that a clump loses, or all members if it
//! dissolves, become candidates of its parent, in addition to the parent's own members. The members that a
//! clump without a parent loses are unbound.
//!
//! ```text
//!     clump 0                 candidates: own members + losers of 1 and 3
//!       clump 1               candidates: own members + losers of 2
//!         clump 2             candidates: own members
//!       clump 3
//! ```
//!
//! The clump with the densest peak need not be the heaviest one. A compact subhalo must not collect the
//! losers of its host, so the tree is turned first until its root is the clump with the heaviest patch
//! ([`turned`]). If another clump has the greatest bound mass in the end, it gets all unbound members as
//! further candidates.
//!
//! ```text
//!     by density    0 - 1 - 2        turned to 2    2 - 1 - 0        each clump keeps its neighbours
//!                    \ 3                                  \ 3
//! ```

use super::super::members::HaloMembers;
use super::super::slices::Slices;
use super::clump_members::ClumpMember;
use super::{BoundMembers, Candidates, UnbindCall, UnbindScratch, Unbinding, unbind_slices};
use std::convert::Infallible;
use std::fmt;

/// In [`ClumpTree::clump_of`]: a member of no clump.
pub const NO_CLUMP: u32 = u32::MAX;

/// The clumps of a halo and their members before unbinding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClumpTree<'a> {
    /// The clump of each member, in the order of members, or [`NO_CLUMP`].
    pub clump_of: &'a [u32],
    /// The clump that each clump merges into; `None` for a main clump.
    pub parent: &'a [Option<u32>],
    /// The density peak of each clump, relative to the same point as the members.
    pub centre: &'a [[f64; 3]],
    /// The members that are bound to the halo as a whole, if they are known.
    pub whole: Option<&'a BoundMembers>,
}

/// Why a tree of clumps is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClumpTreeError {
    /// A column has a wrong length: `clump_of` needs one entry per member, the others one per clump.
    Length {
        /// The column.
        column: &'static str,
        /// Its length.
        found: usize,
        /// The length it needs.
        expected: usize,
    },
    /// A member or clump names a clump that does not exist.
    NoSuchClump {
        /// The column.
        column: &'static str,
        /// The entry.
        entry: usize,
    },
    /// A clump is its own ancestor.
    Cycle {
        /// The clump.
        clump: u32,
    },
}

impl fmt::Display for ClumpTreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { column, found, expected } => {
                write!(f, "clump tree: column {column} has {found} entries; expected {expected}")
            }
            Self::NoSuchClump { column, entry } => {
                write!(f, "clump tree: entry {entry} of column {column} names a clump that does not exist")
            }
            Self::Cycle { clump } => {
                write!(f, "clump tree: clump {clump} is its own ancestor; expected a tree of parents")
            }
        }
    }
}

impl std::error::Error for ClumpTreeError {}

/// The bound members of every clump.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundHierarchy {
    /// One result per clump. Its losers have moved on, so `unbound` is empty.
    pub clumps: Vec<Unbinding>,
    /// Members that no clump holds, by rising number.
    pub unbound: Vec<u32>,
}

/// The result for a clump.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnboundClump {
    /// Its bound members. The others are among those that it passes up.
    pub found: Unbinding,
    /// The members that it passes to the clump into which it merges, by rising number.
    pub handed: Vec<ClumpMember>,
}

/// Mass and number of the bound members of a clump and of all clumps below it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InclusiveMass {
    /// Mass.
    pub mass: f64,
    /// Number of members.
    pub number: u64,
}

impl ClumpTree<'_> {
    /// The clumps, children before parents. Checks the tree.
    pub fn children_first(&self, members: &HaloMembers) -> Result<Vec<u32>, ClumpTreeError> {
        self.check(members)?;
        children_first(self.parent)
    }

    /// The members of each clump as its candidates, by rising number, and the members of no clump.
    fn own_members(&self) -> (Vec<Vec<ClumpMember>>, Vec<u32>) {
        let (mut own, mut none) = (vec![Vec::new(); self.parent.len()], Vec::new());
        for (member, clump) in (0..).zip(self.clump_of) {
            match *clump {
                NO_CLUMP => none.push(member),
                clump => own[clump as usize].push(ClumpMember::candidate(member)),
            }
        }
        (own, none)
    }

    fn check(&self, members: &HaloMembers) -> Result<(), ClumpTreeError> {
        let n = self.parent.len();
        let lengths = [("clump_of", self.clump_of.len(), members.len()), ("centre", self.centre.len(), n)];
        if let Some(&(column, found, expected)) =
            lengths.iter().find(|(_, found, expected)| found != expected)
        {
            return Err(ClumpTreeError::Length { column, found, expected });
        }
        let is_wrong = |clump: &u32| *clump as usize >= n;
        if let Some(entry) = self.clump_of.iter().position(|clump| *clump != NO_CLUMP && is_wrong(clump)) {
            return Err(ClumpTreeError::NoSuchClump { column: "clump_of", entry });
        }
        match self.parent.iter().position(|parent| parent.as_ref().is_some_and(is_wrong)) {
            Some(entry) => Err(ClumpTreeError::NoSuchClump { column: "parent", entry }),
            None => Ok(()),
        }
    }
}

/// Clumps with these parents, children before parents. Numbers of parents are below that of clumps.
///
/// # Errors
/// When a clump is its own ancestor.
pub fn children_first(parent: &[Option<u32>]) -> Result<Vec<u32>, ClumpTreeError> {
    let n = parent.len();
    let mut waiting = vec![0u32; n];
    parent.iter().flatten().for_each(|parent| waiting[*parent as usize] += 1);
    let mut order: Vec<u32> = (0..n as u32).filter(|clump| waiting[*clump as usize] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        if let Some(parent) = parent[order[at] as usize] {
            waiting[parent as usize] -= 1;
            if waiting[parent as usize] == 0 {
                order.push(parent);
            }
        }
        at += 1;
    }
    match waiting.iter().position(|waiting| *waiting > 0) {
        Some(clump) => Err(ClumpTreeError::Cycle { clump: clump as u32 }),
        None => Ok(order),
    }
}

/// The parents of a tree of clumps whose root is turned to be `root`: links between its ancestors point the
/// other way.
pub fn turned(parent: &[Option<u32>], root: u32) -> Vec<Option<u32>> {
    let mut turned = parent.to_vec();
    let (mut below, mut at) = (None, Some(root));
    while let Some(clump) = at {
        at = parent[clump as usize];
        turned[clump as usize] = below;
        below = Some(clump);
    }
    turned
}

/// The place of the greatest mass; between equals, the first. `None` if there is no mass.
pub fn heaviest(mass: &[f64]) -> Option<u32> {
    let heavier = |best: Option<u32>, clump: u32| match best {
        Some(best) if mass[best as usize] >= mass[clump as usize] => Some(best),
        _ => (mass[clump as usize] > 0.0).then_some(clump),
    };
    (0..mass.len() as u32).fold(None, heavier)
}

/// Unbinds all clumps of a halo, the deepest first. Every member ends in one clump or among the unbound.
pub fn unbind_hierarchy<S: Slices<Error = Infallible>>(
    members: &HaloMembers,
    tree: &ClumpTree,
    call: &UnbindCall<S>,
    scratch: &mut UnbindScratch,
) -> Result<BoundHierarchy, ClumpTreeError> {
    unbind_clumps(members, tree, |clump, list| {
        let (peak, is_within) = (tree.centre[clump], tree.parent[clump].is_some());
        let clump = ListedClump { list, whole: tree.whole, peak, is_within };
        let Ok(found) = unbind_candidates(members, &clump, call, scratch);
        found
    })
}

/// The members of a clump that may be bound to it.
#[derive(Debug, Clone, Copy)]
pub struct ListedClump<'a> {
    /// By rising number.
    pub list: &'a [ClumpMember],
    /// The members that are bound to the halo as a whole, if they are known.
    pub whole: Option<&'a BoundMembers>,
    /// The density peak, relative to the same point as the members.
    pub peak: [f64; 3],
    /// Whether it lies within another clump.
    pub is_within: bool,
}

/// [`unbind_slices`] of the listed members of a clump. It passes up those that it loses, as candidates.
///
/// # Errors
/// Those of the slices.
pub fn unbind_candidates<S: Slices>(
    members: &HaloMembers,
    clump: &ListedClump,
    call: &UnbindCall<S>,
    scratch: &mut UnbindScratch,
) -> Result<UnboundClump, S::Error> {
    let ListedClump { list, whole, peak, is_within } = *clump;
    let of = |is_handed: bool| -> Vec<u32> {
        let listed = list.iter().filter(|listed| listed.is_handed() == is_handed);
        listed.map(|listed| listed.member).collect()
    };
    let candidates = Candidates { list: &of(false), handed: &of(true), whole, peak, is_within };
    let mut found = unbind_slices(members, &candidates, call, scratch)?;
    let handed = std::mem::take(&mut found.unbound).into_iter().map(ClumpMember::handed).collect();
    Ok(UnboundClump { found, handed })
}

/// Unbinds all clumps of a halo, the deepest first, each by its number and the list of its members.
pub(super) fn unbind_clumps(
    members: &HaloMembers,
    tree: &ClumpTree,
    mut unbind_one: impl FnMut(usize, &[ClumpMember]) -> UnboundClump,
) -> Result<BoundHierarchy, ClumpTreeError> {
    let order = tree.children_first(members)?;
    let (mut lists, mut unbound) = tree.own_members();
    let mut clumps = vec![Unbinding::default(); tree.parent.len()];
    for clump in order.into_iter().map(|clump| clump as usize) {
        let mut list = std::mem::take(&mut lists[clump]);
        list.sort_unstable_by_key(|listed| listed.member);
        let UnboundClump { found, mut handed } = unbind_one(clump, &list);
        match tree.parent[clump] {
            Some(parent) => lists[parent as usize].append(&mut handed),
            None => unbound.extend(handed.iter().map(|listed| listed.member)),
        }
        clumps[clump] = found;
    }
    unbound.sort_unstable();
    Ok(BoundHierarchy { clumps, unbound })
}

impl BoundHierarchy {
    /// The bound mass of each clump alone.
    pub fn masses<S: Slices<Error = Infallible>>(&self, members: &HaloMembers, slices: &S) -> Vec<f64> {
        let mass = |clump: &Unbinding| {
            let Ok(mass) = clump.bound.mass(members, slices);
            mass
        };
        self.clumps.iter().map(mass).collect()
    }

    /// The heaviest clump, if it lies within another one and there are unbound members, which then become its
    /// candidates.
    pub fn heir<S: Slices<Error = Infallible>>(
        &self,
        members: &HaloMembers,
        tree: &ClumpTree,
        slices: &S,
    ) -> Option<u32> {
        let is_heir = |heavy: &u32| tree.parent[*heavy as usize].is_some() && !self.unbound.is_empty();
        heaviest(&self.masses(members, slices)).filter(is_heir)
    }

    /// Unbinds a clump again, now as the main clump, with the unbound members as further candidates.
    pub fn unbind_heir<S: Slices>(
        &mut self,
        members: &HaloMembers,
        heir: u32,
        tree: &ClumpTree,
        call: &UnbindCall<S>,
        scratch: &mut UnbindScratch,
    ) -> Result<(), S::Error> {
        let bound = &mut self.clumps[heir as usize];
        let mut list = std::mem::take(&mut bound.bound.member);
        list.append(&mut self.unbound);
        list.sort_unstable();
        let (whole, peak) = (tree.whole, tree.centre[heir as usize]);
        *bound = unbind_slices(
            members,
            &Candidates { list: &list, handed: &[], whole, peak, is_within: false },
            call,
            scratch,
        )?;
        self.unbound = std::mem::take(&mut bound.unbound);
        Ok(())
    }

    /// The inclusive masses of all clumps in a tree with these parents, from sums over the bound members of
    /// each clump.
    pub fn inclusive<S: Slices<Error = Infallible>>(
        &self,
        members: &HaloMembers,
        parent: &[Option<u32>],
        slices: &S,
    ) -> Result<Vec<InclusiveMass>, ClumpTreeError> {
        let own = |(clump, mass): (&Unbinding, f64)| InclusiveMass { mass, number: clump.bound.len() as u64 };
        InclusiveMass::over(self.clumps.iter().zip(self.masses(members, slices)).map(own).collect(), parent)
    }
}

impl InclusiveMass {
    /// Mass and number of each clump with all clumps below it, from its exclusive mass and number.
    ///
    /// # Errors
    /// When a clump is its own ancestor.
    pub fn over(own: Vec<Self>, parent: &[Option<u32>]) -> Result<Vec<Self>, ClumpTreeError> {
        let mut inclusive = own;
        for clump in children_first(parent)? {
            if let Some(parent) = parent[clump as usize] {
                let Self { mass, number } = inclusive[clump as usize];
                inclusive[parent as usize].mass += mass;
                inclusive[parent as usize].number += number;
            }
        }
        Ok(inclusive)
    }
}
