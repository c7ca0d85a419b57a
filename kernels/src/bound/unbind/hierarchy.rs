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
//!
//! A clump within another one may claim former members, in whatever patch they lie: those with a
//! [former rank](super::super::members::MemberColumns::former_rank). It is unbound from these alone first, and
//! the members of its patch join if they are bound to what remains. Only if nothing remains, all are
//! candidates alike. A clump without a peak has former members only. It is unbound before all clumps with
//! peaks. A claimed member that is lost returns to the clump of its patch if that is unbound later. So a clump
//! without a peak that dissolves leaves the other clumps as they would be without it.
//!
//! ```text
//!     clump 0            own members of its patch, and the losers of 2 that lie there
//!       clump 1          own members of its patch, and the losers of 2 that lie there
//!       clump 2          no peak: former members, from the patches of 0 and 1 and from outside the halo
//! ```

use super::super::members::{HaloMembers, NO_RANK};
use super::super::slices::{Slices, total};
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
    /// The clumps without a peak.
    pub peakless: PeaklessClumps<'a>,
}

/// Which clumps of a halo have no peak.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PeaklessClumps<'a> {
    /// Whether each clump has no peak; empty if all have one.
    pub is_peakless: &'a [bool],
    /// The clump in whose patch each member lies, or [`NO_CLUMP`]; empty if no member is claimed.
    pub patch_of: &'a [u32],
}

impl PeaklessClumps<'_> {
    /// Whether a clump is one of them.
    pub fn holds(&self, clump: u32) -> bool {
        self.is_peakless.get(clump as usize).copied().unwrap_or(false)
    }

    fn patch_of(&self, member: u32) -> u32 {
        self.patch_of.get(member as usize).copied().unwrap_or(NO_CLUMP)
    }
}

/// In which order clumps are unbound, and where the members go that a clump passes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Waves<'a> {
    parent: &'a [Option<u32>],
    /// The wave of each clump: after all clumps in it, and for clumps with peaks after all others.
    wave: Vec<u32>,
}

impl<'a> Waves<'a> {
    /// Of clumps with these parents.
    ///
    /// # Errors
    /// When a clump is its own ancestor.
    pub fn new(parent: &'a [Option<u32>], is_peakless: &[bool]) -> Result<Self, ClumpTreeError> {
        let order = children_first(parent)?;
        let among = PeaklessClumps { is_peakless, ..PeaklessClumps::default() };
        let (peakless, peaked): (Vec<u32>, Vec<u32>) = order.iter().partition(|clump| among.holds(**clump));
        let mut wave = vec![0; parent.len()];
        raise_parents(&mut wave, parent, &peakless);
        let first = peakless.iter().map(|clump| wave[*clump as usize] + 1).max().unwrap_or(0);
        peaked.iter().for_each(|clump| wave[*clump as usize] = wave[*clump as usize].max(first));
        raise_parents(&mut wave, parent, &order);
        Ok(Self { parent, wave })
    }

    /// The clumps of each wave, by rising number.
    pub fn clumps(&self) -> Vec<Vec<u32>> {
        let mut waves = vec![Vec::new(); self.wave.iter().max().map_or(0, |last| *last as usize + 1)];
        (0..).zip(&self.wave).for_each(|(clump, wave)| waves[*wave as usize].push(clump));
        waves
    }

    /// The clump that gets a member that `clump` passes on, and the member's role there; `None` if it is
    /// unbound now. `patch` is the clump in whose patch it lies, or [`NO_CLUMP`].
    pub fn next(&self, clump: u32, listed: ClumpMember, patch: u32) -> Option<(u32, ClumpMember)> {
        let is_later = |other: u32| self.wave[other as usize] > self.wave[clump as usize];
        if listed.is_claimed() && patch != NO_CLUMP && is_later(patch) {
            return Some((patch, ClumpMember::candidate(listed.member)));
        }
        let listed = if listed.is_claimed() { ClumpMember::handed(listed.member) } else { listed };
        self.parent[clump as usize].map(|parent| (parent, listed))
    }
}

/// Puts the parents of clumps, which come before their parents, into later waves.
fn raise_parents(wave: &mut [u32], parent: &[Option<u32>], clumps: &[u32]) {
    for clump in clumps.iter().map(|clump| *clump as usize) {
        if let Some(parent) = parent[clump].map(|parent| parent as usize) {
            wave[parent] = wave[parent].max(wave[clump] + 1);
        }
    }
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
    fn own_members(&self, members: &HaloMembers) -> (Vec<Vec<ClumpMember>>, Vec<u32>) {
        let (mut own, mut none) = (vec![Vec::new(); self.parent.len()], Vec::new());
        for (member, clump) in (0..).zip(self.clump_of) {
            match *clump {
                NO_CLUMP => none.push(member),
                clump => own[clump as usize].push(members.listed(member)),
            }
        }
        (own, none)
    }

    fn check(&self, members: &HaloMembers) -> Result<(), ClumpTreeError> {
        let n = self.parent.len();
        let PeaklessClumps { is_peakless, patch_of } = self.peakless;
        let or_none = |found: usize, expected: usize| if found == 0 { expected } else { found };
        let lengths = [
            ("clump_of", self.clump_of.len(), members.len()),
            ("centre", self.centre.len(), n),
            ("is_peakless", or_none(is_peakless.len(), n), n),
            ("patch_of", or_none(patch_of.len(), members.len()), members.len()),
        ];
        if let Some(&(column, found, expected)) =
            lengths.iter().find(|(_, found, expected)| found != expected)
        {
            return Err(ClumpTreeError::Length { column, found, expected });
        }
        let is_wrong = |clump: &u32| *clump as usize >= n;
        for (column, clumps) in [("clump_of", self.clump_of), ("patch_of", patch_of)] {
            if let Some(entry) = clumps.iter().position(|clump| *clump != NO_CLUMP && is_wrong(clump)) {
                return Err(ClumpTreeError::NoSuchClump { column, entry });
            }
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
        let is_peakless = tree.peakless.holds(clump as u32);
        let clump = ListedClump { list, whole: tree.whole, peak, is_within, is_peakless };
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
    /// Whether it has no peak.
    pub is_peakless: bool,
}

/// [`unbind_slices`] of the listed members of a clump: first of those that it claims alone, if there are any.
/// It passes up those that it loses.
///
/// # Errors
/// Those of the slices.
pub fn unbind_candidates<S: Slices>(
    members: &HaloMembers,
    clump: &ListedClump,
    call: &UnbindCall<S>,
    scratch: &mut UnbindScratch,
) -> Result<UnboundClump, S::Error> {
    let ListedClump { list, whole, peak, is_within, is_peakless } = *clump;
    let of = |is_chosen: &dyn Fn(&ClumpMember) -> bool| -> Vec<u32> {
        list.iter().filter(|listed| is_chosen(listed)).map(|listed| listed.member).collect()
    };
    let unbind = |list: &[u32], handed: &[u32], is_claimed: bool, scratch: &mut UnbindScratch| {
        let candidates = Candidates { list, handed, whole, peak, is_within, is_claimed };
        unbind_slices(members, &candidates, call, scratch)
    };
    let claimed = of(&|listed| listed.is_claimed());
    let mut found = None;
    if total(call.slices, claimed.len())? > 0 {
        let of_track = unbind(&claimed, &of(&|listed| !listed.is_claimed()), true, scratch)?;
        found = (is_peakless || total(call.slices, of_track.bound.len())? > 0).then_some(of_track);
    }
    let mut found = match found {
        Some(found) => found,
        None => {
            let (own, handed) = (of(&|listed| !listed.is_handed()), of(&|listed| listed.is_handed()));
            unbind(&own, &handed, is_peakless, scratch)?
        }
    };
    let lost = std::mem::take(&mut found.unbound);
    let passed_on = |member: u32| match claimed.binary_search(&member) {
        Ok(_) => ClumpMember::claimed(member),
        Err(_) => ClumpMember::handed(member),
    };
    let handed = lost.into_iter().map(passed_on).collect();
    Ok(UnboundClump { found, handed })
}

impl HaloMembers {
    /// A member in the list of the clump of which it is a candidate.
    pub fn listed(&self, member: u32) -> ClumpMember {
        match self.former_rank(member) {
            NO_RANK => ClumpMember::candidate(member),
            _ => ClumpMember::claimed(member),
        }
    }
}

/// Unbinds all clumps of a halo, the deepest first, each by its number and the list of its members.
pub(super) fn unbind_clumps(
    members: &HaloMembers,
    tree: &ClumpTree,
    mut unbind_one: impl FnMut(usize, &[ClumpMember]) -> UnboundClump,
) -> Result<BoundHierarchy, ClumpTreeError> {
    tree.check(members)?;
    let waves = Waves::new(tree.parent, tree.peakless.is_peakless)?;
    let (mut lists, mut unbound) = tree.own_members(members);
    let mut clumps = vec![Unbinding::default(); tree.parent.len()];
    for clump in waves.clumps().into_iter().flatten().map(|clump| clump as usize) {
        let mut list = std::mem::take(&mut lists[clump]);
        list.sort_unstable_by_key(|listed| listed.member);
        let UnboundClump { found, handed } = unbind_one(clump, &list);
        for listed in handed {
            match waves.next(clump as u32, listed, tree.peakless.patch_of(listed.member)) {
                Some((next, listed)) => lists[next as usize].push(listed),
                None => unbound.push(listed.member),
            }
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
            &Candidates { list: &list, handed: &[], whole, peak, is_within: false, is_claimed: false },
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
