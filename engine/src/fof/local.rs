//! The search among the particles that a rank owns, and with its neighbours.

use super::attach::{Attached, attach};
use super::borders::SortedWithGhosts;
use super::components::{CellRanges, Components, count};
use super::domain::BlockOwners;
use super::labels::Labels;
use super::merge::merge;
use super::migrate::ghosts;
use super::rows::{GroupRows, KnownGroup, place};
use super::search::{SearchSpace, scatter};
use super::sums::{Lowest, Members, Quanta, Sums, way};
use super::{FofError, GroupIds, Groups, LinkingRules, Particles, Positions, Role};
use crate::exchange::chains::RemoteIndex;
use crate::executor::Executor;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::fof::record::{Real, Record};
use std::ops::Range;

/// One rank's place in the search.
pub struct RankContext<'a> {
    /// The cells.
    pub frame: &'a SearchSpace,
    /// Whose they are.
    pub domain: &'a BlockOwners,
    /// What makes a group.
    pub rules: &'a LinkingRules,
    /// No two particles are farther apart along any axis.
    pub reach: f64,
    /// The ranks.
    pub comm: &'a Comm,
    /// Who does it.
    pub executor: &'a Executor<'a>,
}

/// Components that may be groups, and which ones they belong to.
struct LocalGroups {
    components: Components,
    rows: GroupRows,
    known: Vec<KnownGroup>,
    attached: Vec<Attached>,
}

impl RankContext<'_> {
    /// Collective: rows of the groups, and the group of each own particle.
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

    /// Of `particles` without positions, which are given apart: they are used up.
    fn groups_at<T: Real>(
        &self,
        mut position: Vec<[T; 3]>,
        mut particles: Particles,
    ) -> Result<(Groups, GroupIds), FofError> {
        let (comm, frame, n_own) = (self.comm, self.frame, position.len());
        let n = n_own as u64;
        let observer = self.executor.observer();
        let ghost_ids = Stage::run("ghosts", n, comm, observer, || {
            ghosts(&mut position, &mut particles.role, &particles.id, frame, self.domain, comm)
        })?;
        if position.len() >= u32::MAX as usize {
            return Err(FofError::TooMany(position.len()));
        }
        let (mut sorted, attachable) = Stage::run("sorting", n, comm, observer, || {
            let roles = particles.role.take();
            let linkable = scatter(frame, &position, roles.as_deref(), Role::Linkable);
            let others = roles.map(|roles| scatter(frame, &position, Some(&roles), Role::Attachable));
            // To take back that much memory keeps the system busy for a while.
            rayon::spawn(|| drop(position));
            (linkable.sort(frame, self.executor), others.map(|others| others.sort(frame, self.executor)))
        });
        Stage::run("linking", n, comm, observer, || sorted.link(frame, self.executor));
        let roots = sorted.roots();
        if comm.n_ranks() == 1 && attachable.is_none() {
            sorted.forget_places();
        }
        let has_ghosts = !ghost_ids.is_empty();
        let border = SortedWithGhosts { frame, domain: self.domain, sorted: &sorted, n_own, has_ghosts };
        let id_of = |index: u32| match (index as usize).checked_sub(n_own) {
            None => particles.id.get(index as usize),
            Some(ghost) => ghost_ids[ghost],
        };
        let found = Stage::run("groups", n, comm, observer, || {
            let (components, joined) = self.components(&border, roots)?;
            let lowest = lowest(&border, &components, &particles);
            let (rows, mut known) = place(comm, self.rules, lowest, &components.roots, &joined)?;
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

    /// Collective: components that may be groups, and, by number ascending, which ones belong to components of
    /// other ranks.
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
        let here = self.comm.rank().0;
        let number = |root: &u32| components.roots.binary_search(root).ok();
        let joined = merged
            .iter()
            .filter(|(root, end)| *end != RemoteIndex { rank: here, index: *root })
            .filter_map(|(root, end)| Some((number(root)?, *end)))
            .collect();
        Ok((components, joined))
    }

    /// Collective: rows of the groups.
    fn properties<R: Record>(
        &self,
        border: &SortedWithGhosts<R>,
        found: LocalGroups,
        particles: &Particles,
    ) -> Result<Groups, CommError> {
        let quanta = Quanta::new(particles, border.n_own, self.reach, self.comm)?;
        let members = Members { particles, quanta: &quanta, sides: self.frame.metric.sides };
        let LocalGroups { components, rows, known, attached } = found;
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
            let far = |from: [f64; 3], to: [f64; 3]| {
                let d = |a: usize| way(from[a], to[a], members.sides[a]);
                let (x, y, z) = (d(0), d(1), d(2));
                x * x + y * y + z * z
            };
            let of_cells = |most: &mut f64, component: usize, cells: Range<u32>| {
                if known[component].id != 0 {
                    let centre = centre[component];
                    each_own(border, cells, |_, x| *most = most.max(far(centre, x)));
                }
            };
            let mut most = components.gather(0.0, of_cells, |a, b| *a = a.max(b));
            most.resize(known.len(), 0.0);
            for it in &attached {
                let place = it.known as usize;
                most[place] = most[place].max(far(centre[place], it.position));
            }
            kept.iter().map(|i| most[*i]).collect()
        };
        let of_kept = |i: &usize| (known[*i], sums[*i]);
        let (kept_known, kept_sums): (Vec<KnownGroup>, Vec<Sums>) = kept.iter().map(of_kept).unzip();
        rows.fill(self.comm, self.rules, &members, (&kept_known, &kept_sums), radius2)
    }
}

/// Calls `each` with number and position of the own particles in some cells in a row.
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

/// The lowest own member of each component, and the number of own members.
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

/// The group of each own particle. A pass of its own: stores that miss the caches can then wait for each other.
fn labels<R: Record>(border: &SortedWithGhosts<R>, found: &LocalGroups) -> GroupIds {
    let labels = Labels::none(border.n_own, found.rows.n_total());
    found.components.each(|component, cells| {
        let id = found.known[component].id;
        if id != 0 {
            each_own(border, cells, |i, _| labels.set(i, id));
        }
    });
    found.attached.iter().for_each(|it| labels.set(it.index as usize, found.known[it.known as usize].id));
    labels.into_ids()
}
