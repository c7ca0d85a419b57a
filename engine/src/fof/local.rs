//! The search among the particles that a rank owns, and with its neighbours.

use super::attach::{Attached, attach};
use super::borders::Border;
use super::components::{Components, NONE, count};
use super::domain::Domain;
use super::merge::merge;
use super::migrate::ghosts;
use super::rows::{Known, Rows, place};
use super::search::{Frame, Sorted, scatter};
use super::sums::{Lowest, Members, Quanta, Sums, way};
use super::{FofError, GroupIds, Groups, Particles, Positions, Role, Rules};
use crate::crew::Crew;
use crate::phew::timed;
use crate::ranks::pointers::Target;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::fof::record::{Real, Record};
use inselberg_kernels::sync::{AtomicU32, Ordering::Relaxed};
use rayon::prelude::*;

/// One rank's place in the search.
pub struct Here<'a> {
    /// The cells.
    pub frame: &'a Frame,
    /// Whose they are.
    pub domain: &'a Domain,
    /// What makes a group.
    pub rules: &'a Rules,
    /// No two particles are farther apart along any axis.
    pub reach: f64,
    /// The ranks.
    pub comm: &'a Comm,
    /// Who does it.
    pub crew: &'a Crew<'a>,
}

/// Components that may be groups, and which ones they belong to.
struct Found {
    components: Components,
    rows: Rows,
    known: Vec<Known>,
    attached: Vec<Attached>,
}

impl Here<'_> {
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
        comm.at("ghosts");
        let ghost_ids = ghosts(&mut position, &mut particles.role, &particles.id, frame, self.domain, comm)?;
        if position.len() >= u32::MAX as usize {
            return Err(FofError::TooMany(position.len()));
        }
        comm.at("sorting");
        let (mut sorted, attachable) = timed(self.crew.observer(), "sorting", n, || {
            let roles = particles.role.take();
            let linkable = scatter(frame, &position, roles.as_deref(), Role::Linkable);
            let others = roles.map(|roles| scatter(frame, &position, Some(&roles), Role::Attachable));
            drop(position);
            (linkable.sort(frame, self.crew), others.map(|others| others.sort(frame, self.crew)))
        });
        comm.at("linking");
        timed(self.crew.observer(), "linking", n, || sorted.link(frame, self.crew));
        let roots = sorted.roots();
        if comm.n_ranks() == 1 && attachable.is_none() {
            sorted.forget_places();
        }
        let has_ghosts = !ghost_ids.is_empty();
        let border = Border { frame, domain: self.domain, sorted: &sorted, n_own, has_ghosts };
        let id_of = |index: u32| match (index as usize).checked_sub(n_own) {
            None => particles.id.of(index as usize),
            Some(ghost) => ghost_ids[ghost],
        };
        comm.at("groups");
        let found = timed(self.crew.observer(), "groups", n, || {
            let (components, joined) = self.components(&border, roots)?;
            let lowest = lowest(&border, &components, &particles);
            let (rows, mut known) = place(comm, self.rules, lowest, &components.roots, &joined)?;
            let attached = match &attachable {
                Some(others) => attach(comm, &border, others, id_of, &components, &mut known)?,
                None => Vec::new(),
            };
            Ok::<_, CommError>(Found { components, rows, known, attached })
        })?;
        drop(attachable);
        comm.at("properties");
        let group_of = timed(self.crew.observer(), "labels", n, || labels(&sorted, &found, n_own));
        let groups =
            timed(self.crew.observer(), "properties", n, || self.properties(&border, found, &particles))?;
        Ok((groups, group_of))
    }

    /// Collective: components that may be groups, and, by number ascending, which ones belong to components of
    /// other ranks.
    fn components<R: Record>(
        &self,
        border: &Border<R>,
        roots: Vec<u32>,
    ) -> Result<(Components, Vec<(usize, Target)>), CommError> {
        let counts = count(border, &roots);
        let edges = border.edges(self.comm, &roots, &counts)?;
        let merged = if self.comm.n_ranks() == 1 { Vec::new() } else { merge(self.comm, edges)? };
        let is_merged = |root: u32| merged.binary_search_by_key(&root, |m| m.0).is_ok();
        let is_kept = |root: &u32| {
            let n = u64::from(counts[*root as usize]);
            n > 0 && (n >= self.rules.min_size || is_merged(*root))
        };
        let kept: Vec<u32> = (0..roots.len() as u32).filter(is_kept).collect();
        let here = self.comm.rank().0;
        let number = |root: &u32| kept.binary_search(root).ok();
        let joined = merged
            .iter()
            .filter(|(root, end)| *end != Target { rank: here, index: *root })
            .filter_map(|(root, end)| Some((number(root)?, *end)))
            .collect();
        Ok((Components::new(roots, counts, kept), joined))
    }

    /// Collective: rows of the groups.
    fn properties<R: Record>(
        &self,
        border: &Border<R>,
        found: Found,
        particles: &Particles,
    ) -> Result<Groups, CommError> {
        let quanta = Quanta::new(particles, border.n_own, self.reach, self.comm)?;
        let members = Members { particles, quanta: &quanta, sides: self.frame.metric.sides };
        let Found { components, rows, known, attached } = found;
        let of_cells = |component: usize, cells: &[u32]| {
            let mut sums = Sums::NONE;
            if known[component].id != 0 {
                let lowest = &known[component].lowest;
                each_own(border, cells, |i, x| sums.add(&members, lowest, i, x));
            }
            sums
        };
        let mut sums = components.gather(of_cells, Sums::join);
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
            let of_cells = |component: usize, cells: &[u32]| {
                let mut most = 0.0f64;
                if known[component].id != 0 {
                    let centre = centre[component];
                    each_own(border, cells, |_, x| most = most.max(far(centre, x)));
                }
                most
            };
            let mut most = components.gather(of_cells, |a, b| *a = a.max(b));
            most.resize(known.len(), 0.0);
            for it in &attached {
                let place = it.known as usize;
                most[place] = most[place].max(far(centre[place], it.position));
            }
            kept.iter().map(|i| most[*i]).collect()
        };
        let of_kept = |i: &usize| (known[*i], sums[*i]);
        let (kept_known, kept_sums): (Vec<Known>, Vec<Sums>) = kept.iter().map(of_kept).unzip();
        rows.fill(self.comm, self.rules, &members, (&kept_known, &kept_sums), radius2)
    }
}

/// Calls `each` with number and position of the own particles in some cells.
#[inline(always)]
fn each_own<R: Record>(border: &Border<R>, cells: &[u32], mut each: impl FnMut(usize, [f64; 3])) {
    for cell in cells {
        for record in border.own(*cell) {
            each(record.index() as usize, record.position());
        }
    }
}

/// The lowest own member of each component, and the number of own members.
fn lowest<R: Record>(border: &Border<R>, components: &Components, particles: &Particles) -> Vec<Lowest> {
    let of_cells = |_, cells: &[u32]| {
        let mut lowest = Lowest::NONE;
        each_own(border, cells, |i, position| {
            let id = particles.id.of(i);
            if lowest.n == 0 || id < lowest.id {
                lowest = Lowest { id, position, velocity: particles.velocity_of(i), ..lowest };
            }
            lowest.n += 1;
        });
        lowest
    };
    components.gather(of_cells, Lowest::join)
}

/// The group of each own particle.
fn labels<R: Record>(sorted: &Sorted<R>, found: &Found, n_own: usize) -> GroupIds {
    let places: Vec<AtomicU32> = bytemuck::zeroed_vec::<u32>(n_own).into_iter().map(AtomicU32::new).collect();
    let of_cell = &found.components.of_cell;
    of_cell.par_iter().enumerate().with_min_len(1 << 12).for_each(|(cell, component)| {
        if *component != NONE {
            for record in sorted.in_cell(cell as u32) {
                if let Some(place) = places.get(record.index() as usize) {
                    place.store(component + 1, Relaxed);
                }
            }
        }
    });
    found.attached.iter().for_each(|it| places[it.index as usize].store(it.known + 1, Relaxed));
    let ids: Vec<u64> = std::iter::once(0).chain(found.known.iter().map(|k| k.id)).collect();
    if found.rows.n_total() < u64::from(u32::MAX) {
        let ids: Vec<u32> = ids.into_iter().map(|id| id as u32).collect();
        return GroupIds::Narrow(places.into_iter().map(|p| ids[p.into_inner() as usize]).collect());
    }
    GroupIds::Wide(places.into_iter().map(|p| ids[p.into_inner() as usize]).collect())
}
