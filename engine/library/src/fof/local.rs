//! The search on the particles of one rank, and across the border to its neighbours.
//!
//! How a group on two ranks gets its root and its row. Each `o` is a cell with one particle; brackets mark
//! ghosts. All four steps between neighbouring cells are links:
//!
//! ```text
//!              rank 0               |               rank 1
//!  cell     3     5     7    [8]    |    cell   [0]    2     4
//!           o-----o-----o-----o     |            o-----o-----o
//!  ID      40    12    30    25     |           30    25    17
//!
//! 1 link        component of rank 0: cells 3 5 7 8, root 3       of rank 1: cells 0 2 4, root 0
//! 2 edges       rank 0 sends the owner of ghost cell 8 (rank 1): "in your cell, component 3 of mine"
//!               rank 1 finds its cell 2, of root 0, and answers: both know the edge (0, 3) - (1, 0)
//! 3 merge       (1, 0) hooks to its lower neighbour (0, 3), which is the root
//! 4 lowest      own members: n = 3, lowest ID 12 on rank 0; n = 2, lowest ID 17 on rank 1
//!               rank 1 sends its part to the root: n = 5, lowest ID 12
//! 5 rows        roots of all ranks are sorted by (n falling, lowest ID, position); place 7 of 12 is, say, on rank 1:
//!               that rank keeps the row, and the group has the ID 7
//!               the answer goes back: row rank -> root (0, 3) -> component (1, 0)
//! 6 labels      each rank sets 7 for its own particles of the component
//! 7 properties  both ranks send sums relative to the lowest member (ID 12) to rank 1, which adds them, returns the
//!               centre, and receives the greatest distances
//! ```
//!
//! Invariants: ghosts make links but never count as members, so each particle counts once. The root of a
//! component may be a ghost cell; it is only a name. A component with an edge has own particles, so it is
//! kept whatever its size.

use super::attach::{Attached, attach};
use super::block_owners::BlockOwners;
use super::borders::SortedWithGhosts;
use super::components::{CellRanges, Components, count};
use super::labels::Labels;
use super::merge::merge;
use super::migrate::ghosts;
use super::rows::{GroupRows, KnownGroup, assign_groups};
use super::search::{SearchSpace, scatter};
use super::sums::{Lowest, Members, Quanta, Sums};
use super::{FofError, GroupIds, Groups, LinkingRules, Particles, Role};
use crate::exchange::chains::RemoteIndex;
use crate::executor::Executor;
use crate::particles::Positions;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::fof::record::{Real, Record};
use std::ops::Range;

/// What the steps of the search on one rank share.
pub struct RankContext<'a> {
    /// The cells.
    pub frame: &'a SearchSpace,
    /// Their owners.
    pub owners: &'a BlockOwners,
    /// What makes a group.
    pub rules: &'a LinkingRules,
    /// The greatest distance of two particles along any axis.
    pub reach: f64,
    /// The ranks.
    pub comm: &'a Comm,
    /// The threads of this rank.
    pub executor: &'a Executor<'a>,
}

/// The components of a rank that may be groups, and their groups.
struct LocalGroups {
    components: Components,
    /// The groups whose rows this rank keeps.
    rows: GroupRows,
    /// The group of each component; then groups without own linkable members that attached particles join.
    known: Vec<KnownGroup>,
    attached: Vec<Attached>,
}

impl RankContext<'_> {
    /// Collective: the rows that this rank keeps, and the group of each own particle.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn groups(&self, mut particles: Particles) -> Result<(Groups, GroupIds), FofError> {
        let none = Positions::Single(Vec::new());
        match std::mem::replace(&mut particles.position, none) {
            Positions::Single(list) => self.groups_at(list, particles),
            Positions::Double(list) => self.groups_at(list, particles),
        }
    }

    /// [`Self::groups`] for one type of positions, which are given apart from the other columns and consumed.
    fn groups_at<T: Real>(
        &self,
        mut position: Vec<[T; 3]>,
        mut particles: Particles,
    ) -> Result<(Groups, GroupIds), FofError> {
        let (comm, frame, n_own) = (self.comm, self.frame, position.len());
        let n = n_own as u64;
        let observer = self.executor.observer();
        let ghost_ids = Stage::run("ghosts", n, comm, observer, || {
            ghosts(&mut position, &mut particles.role, &particles.id, frame, self.owners, comm)
        })?;
        if position.len() >= u32::MAX as usize {
            return Err(FofError::TooMany(position.len()));
        }
        let (mut sorted, attachable) = Stage::run("sorting", n, comm, observer, || {
            let roles = particles.role.take();
            let linkable = scatter(frame, &position, roles.as_deref(), Role::Linkable);
            let others = roles.map(|roles| scatter(frame, &position, Some(&roles), Role::Attachable));
            // To free that much memory takes the system a while.
            rayon::spawn(|| drop(position));
            (linkable.sort(frame, self.executor), others.map(|others| others.sort(frame, self.executor)))
        });
        Stage::run("linking", n, comm, observer, || sorted.link(frame, self.executor));
        let roots = sorted.roots();
        if comm.n_ranks() == 1 && attachable.is_none() {
            sorted.drop_positions();
        }
        let has_ghosts = !ghost_ids.is_empty();
        let border = SortedWithGhosts { frame, owners: self.owners, sorted: &sorted, n_own, has_ghosts };
        let id_of = |index: u32| match (index as usize).checked_sub(n_own) {
            None => particles.id.get(index as usize),
            Some(ghost) => ghost_ids[ghost],
        };
        let found = Stage::run("groups", n, comm, observer, || {
            let (components, joined) = self.components(&border, roots)?;
            let lowest = lowest(&border, &components, &particles);
            let (rows, mut known) = assign_groups(comm, self.rules, lowest, &components.roots, &joined)?;
            let attached = match &attachable {
                Some(others) => attach(comm, &border, others, id_of, &components, &mut known)?,
                None => Vec::new(),
            };
            Ok::<_, CommError>(LocalGroups { components, rows, known, attached })
        })?;
        drop(attachable);
        let group_of = Stage::run("labels", n, comm, observer, || labels(&border, &found));
        let groups =
            Stage::run("properties", n, comm, observer, || self.properties(&border, found, &particles))?;
        Ok((groups, group_of))
    }

    /// Collective: the components that may be groups. With it, ascending by number, those whose root is on
    /// another rank, and the root.
    fn components<R: Record>(
        &self,
        border: &SortedWithGhosts<R>,
        roots: Vec<u32>,
    ) -> Result<(Components, Vec<(usize, RemoteIndex)>), CommError> {
        let parts = CellRanges::new(&border.sorted.blocks);
        let counts = count(border, &parts, &roots);
        let edges = border.edges(self.comm, &roots, &counts)?;
        let merged = if self.comm.n_ranks() == 1 { Vec::new() } else { merge(self.comm, edges)? };
        let is_merged = |root: u32| merged.binary_search_by_key(&root, |m| m.0).is_ok();
        let is_kept = |root: u32, n: u32| u64::from(n) >= self.rules.min_size || is_merged(root);
        let components = Components::new(roots, counts, parts, is_kept);
        let rank = self.comm.rank().0;
        let number = |root: &u32| {
            components
                .roots
                .binary_search(root)
                .expect("a component with an edge has own particles: it is kept")
        };
        let joined = merged
            .iter()
            .filter(|(root, end)| *end != RemoteIndex { rank, index: *root })
            .map(|(root, end)| (number(root), *end))
            .collect();
        Ok((components, joined))
    }

    /// Collective: the rows that this rank keeps, with all properties.
    fn properties<R: Record>(
        &self,
        border: &SortedWithGhosts<R>,
        groups: LocalGroups,
        particles: &Particles,
    ) -> Result<Groups, CommError> {
        let (quanta, metric) =
            (Quanta::new(particles, border.n_own, self.reach, self.comm)?, &self.frame.metric);
        let members = Members { particles, quanta: &quanta, sides: metric.sides };
        let LocalGroups { components, rows, known, attached } = groups;
        let of_cells = |sums: &mut Sums, component: usize, cells: Range<u32>| {
            let KnownGroup { id, lowest, .. } = &known[component];
            if *id != 0 {
                let mut own = *sums;
                each_own(border, cells, |i, x| own.add(&members, lowest, i, x));
                *sums = own;
            }
        };
        let mut sums = components.gather(Sums::NONE, of_cells, Sums::join);
        sums.resize(known.len(), Sums::NONE);
        for it in &attached {
            let place = it.known as usize;
            sums[place].add(&members, &known[place].lowest, it.index as usize, it.position);
        }
        let kept: Vec<usize> = (0..known.len()).filter(|i| known[*i].id != 0).collect();
        let radius2 = |centres: &[[f64; 3]]| {
            let mut centre = vec![[0.0; 3]; known.len()];
            kept.iter().zip(centres).for_each(|(i, c)| centre[*i] = *c);
            let of_cells = |most: &mut f64, component: usize, cells: Range<u32>| {
                if known[component].id != 0 {
                    let centre = centre[component];
                    each_own(border, cells, |_, x| *most = most.max(metric.distance2(centre, x)));
                }
            };
            let mut most = components.gather(0.0, of_cells, |a, b| *a = a.max(b));
            most.resize(known.len(), 0.0);
            for it in &attached {
                let place = it.known as usize;
                most[place] = most[place].max(metric.distance2(centre[place], it.position));
            }
            kept.iter().map(|i| most[*i]).collect()
        };
        let of_kept = |i: &usize| (known[*i], sums[*i]);
        let (kept_known, kept_sums): (Vec<KnownGroup>, Vec<Sums>) = kept.iter().map(of_kept).unzip();
        rows.fill(self.comm, self.rules, &members, (&kept_known, &kept_sums), radius2)
    }
}

/// Calls `each` with index and position of the own particles in consecutive cells.
#[inline(always)]
fn each_own<R: Record>(
    border: &SortedWithGhosts<R>,
    cells: Range<u32>,
    mut each: impl FnMut(usize, [f64; 3]),
) {
    let mut each_of = |records: &[R]| records.iter().for_each(|r| each(r.index() as usize, r.position()));
    if border.has_ghosts {
        cells.for_each(|cell| each_of(border.own(cell)));
    } else {
        each_of(border.sorted.in_cells(cells));
    }
}

/// The lowest own member of each component, with the number of own members.
fn lowest<R: Record>(
    border: &SortedWithGhosts<R>,
    components: &Components,
    particles: &Particles,
) -> Vec<Lowest> {
    let of_cells = |lowest: &mut Lowest, _, cells: Range<u32>| {
        each_own(border, cells, |i, position| {
            let id = particles.id.get(i);
            if lowest.is_after(id, position, || particles.velocity_of(i)) {
                *lowest = Lowest { id, position, velocity: particles.velocity_of(i), ..*lowest };
            }
            lowest.n += 1;
        });
    };
    components.gather(Lowest::NONE, of_cells, Lowest::join)
}

/// The group of each own particle. A separate pass, in which many stores that miss the caches overlap.
fn labels<R: Record>(border: &SortedWithGhosts<R>, groups: &LocalGroups) -> GroupIds {
    let labels = Labels::none(border.n_own, groups.rows.n_total());
    groups.components.each(|component, cells| {
        let id = groups.known[component].id;
        if id != 0 {
            each_own(border, cells, |i, _| labels.set(i, id));
        }
    });
    groups.attached.iter().for_each(|it| labels.set(it.index as usize, groups.known[it.known as usize].id));
    labels.into_ids()
}
