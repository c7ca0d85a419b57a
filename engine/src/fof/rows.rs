//! Which components make which groups, and the rows of these: every rank has as many, in the order of their
//! IDs.

use super::sums::{Lowest, Members, Sums, compare};
use super::{Groups, LinkingRules};
use crate::exchange::chains::RemoteIndex;
use crate::exchange::grouped;
use crate::partition::ranking::sort;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// The group of a component, as far as it concerns members anywhere.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct KnownGroup {
    /// Its ID; 0: the component is no group.
    pub id: u64,
    /// The rank that has its row.
    pub home: u64,
    /// Its lowest member.
    pub lowest: Lowest,
}

impl KnownGroup {
    /// No group.
    pub const NONE: Self = Self { id: 0, home: 0, lowest: Lowest::NONE };
}

/// The groups whose rows are on this rank.
#[derive(Debug)]
pub struct GroupRows {
    first_id: u64,
    n_total: u64,
    lowest: Vec<Lowest>,
}

/// The lowest member of a component of this or of the rank that is told.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct AboutLowest {
    component: u64,
    what: Lowest,
}

/// The group of a component of the rank that is told.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct AboutKnown {
    component: u64,
    what: KnownGroup,
}

/// Collective: which groups the components of this rank, with these lowest members, belong to. `joined` says
/// of component i, ascending, that it belongs to a component of another rank. Five exchanges.
///
/// # Errors
/// When another rank fails.
pub fn place(
    comm: &Comm,
    rules: &LinkingRules,
    mut lowest: Vec<Lowest>,
    roots: &[u32],
    joined: &[(usize, RemoteIndex)],
) -> Result<(GroupRows, Vec<KnownGroup>), CommError> {
    let mut to_roots: Vec<(Rank, AboutLowest)> = joined
        .iter()
        .map(|(i, root)| {
            (Rank(root.rank), AboutLowest { component: u64::from(root.index), what: lowest[*i] })
        })
        .collect();
    let mut order: Vec<usize> = (0..joined.len()).collect();
    order.sort_by_key(|i| to_roots[*i].0);
    to_roots.sort_by_key(|m| m.0);
    let received = comm.exchange(grouped(&to_roots, |m| *m))?;
    let at = |about: &AboutLowest| roots.binary_search(&(about.component as u32)).unwrap_or(usize::MAX);
    for about in received.iter().flat_map(|(_, list)| list) {
        if let Some(sum) = lowest.get_mut(at(about)) {
            sum.join(about.what);
        }
    }
    let mut is_root = vec![true; lowest.len()];
    joined.iter().for_each(|(i, _)| is_root[*i] = false);
    let (rows, mut known) = number(comm, rules, &lowest, &is_root)?;
    let answer = |about: &AboutLowest| known.get(at(about)).copied().unwrap_or(KnownGroup::NONE);
    let answers = received.iter().map(|(from, list)| (*from, list.iter().map(answer).collect())).collect();
    let answers = comm.exchange::<KnownGroup>(answers)?.into_iter().flat_map(|(_, list)| list);
    order.iter().zip(answers).for_each(|(i, answer)| known[joined[*i].0] = answer);
    Ok((rows, known))
}

/// Collective: gives roots of at least the least size their IDs.
fn number(
    comm: &Comm,
    rules: &LinkingRules,
    lowest: &[Lowest],
    is_root: &[bool],
) -> Result<(GroupRows, Vec<KnownGroup>), CommError> {
    let kept = |i: &usize| is_root[*i] && lowest[*i].n >= rules.min_size;
    let root = |i: usize| AboutLowest { component: i as u64, what: lowest[i] };
    let found: Vec<AboutLowest> = (0..lowest.len()).filter(kept).map(root).collect();
    let key = |root: &AboutLowest| u128::from(!root.what.n) << 64 | u128::from(root.what.id);
    let mut sorted = sort(comm, found, key)?;
    // Equal keys are on one rank; lowest members of two groups are never in one place.
    sorted.sort_by(|(_, a), (_, b)| {
        key(a).cmp(&key(b)).then_with(|| compare(&a.what.position, &b.what.position))
    });
    let first_id = comm.sum_before(sorted.len() as u64)? + 1;
    let n_total = comm.all_reduce_counts(&[sorted.len() as u64], Reduce::Sum)?[0];
    let home = u64::from(comm.rank().0);
    let mut told: Vec<(Rank, AboutKnown)> = (first_id..)
        .zip(&sorted)
        .map(|(id, (from, root))| {
            let what = KnownGroup { id, home, lowest: root.what };
            (*from, AboutKnown { component: root.component, what })
        })
        .collect();
    told.sort_by_key(|t| t.0);
    let mut known = vec![KnownGroup::NONE; lowest.len()];
    for about in comm.exchange(grouped(&told, |t| *t))?.into_iter().flat_map(|(_, list)| list) {
        known[about.component as usize] = about.what;
    }
    let lowest = sorted.into_iter().map(|(_, root)| root.what).collect();
    Ok((GroupRows { first_id, n_total, lowest }, known))
}

impl GroupRows {
    /// Number of groups on all ranks.
    pub fn n_total(&self) -> u64 {
        self.n_total
    }

    /// Collective: adds up what each rank has of each group, and measures radii: `sums` belong to `known`,
    /// groups all of them, and `radius2` is the square of the largest distance of their members to a centre.
    /// Three exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn fill(
        self,
        comm: &Comm,
        rules: &LinkingRules,
        members: &Members,
        (known, sums): (&[KnownGroup], &[Sums]),
        radius2: impl FnOnce(&[[f64; 3]]) -> Vec<f64>,
    ) -> Result<Groups, CommError> {
        let mut order: Vec<usize> = (0..known.len()).collect();
        order.sort_by_key(|i| known[*i].home);
        let home = |i: usize| Rank(known[i].home as u32);
        let sent = grouped(&order, |i| (home(*i), sums[*i].of_row(known[*i].id)));
        let received = comm.exchange(sent)?;
        let mut rows = vec![Sums::NONE; self.lowest.len()];
        let row = |sums: &Sums| (sums.row - self.first_id) as usize;
        received.iter().flat_map(|(_, list)| list).for_each(|sums| rows[row(sums)].join(*sums));
        let quanta = members.quanta;
        let centres: Vec<[f64; 3]> = rows
            .iter()
            .zip(&self.lowest)
            .map(|(sums, lowest)| sums.centre(quanta, lowest, members.sides))
            .collect();
        let of_row = |list: &Vec<Sums>| list.iter().map(|sums| centres[row(sums)]).collect();
        let told = comm.exchange(received.iter().map(|(from, list)| (*from, of_row(list))).collect())?;
        let mut own_centres = vec![[0.0; 3]; known.len()];
        let told = told.into_iter().flat_map(|(_, list): (_, Vec<[f64; 3]>)| list);
        order.iter().zip(told).for_each(|(i, centre)| own_centres[*i] = centre);
        let own = radius2(&own_centres);
        let far = comm.exchange(grouped(&order, |i| (home(*i), own[*i])))?;
        let mut most = vec![0.0f64; rows.len()];
        for (sums, far) in received.iter().flat_map(|c| &c.1).zip(far.iter().flat_map(|f| &f.1)) {
            most[row(sums)] = most[row(sums)].max(*far);
        }
        Ok(self.table(rules, members, &rows, centres, most))
    }

    fn table(
        self,
        rules: &LinkingRules,
        members: &Members,
        rows: &[Sums],
        centre: Vec<[f64; 3]>,
        radius2: Vec<f64>,
    ) -> Groups {
        let (particles, quanta) = (members.particles, members.quanta);
        let motion = |(sums, lowest): (&Sums, &Lowest)| sums.motion(quanta, lowest);
        let has = |is: bool| is.then_some(());
        let moves = has(particles.velocity.is_some());
        let motions: Vec<([f64; 3], f64)> =
            if moves.is_some() { rows.iter().zip(&self.lowest).map(motion).collect() } else { Vec::new() };
        let gas = has(particles.gas_density.is_some());
        let mass: Vec<f64> = rows.iter().map(|sums| sums.mass(quanta)).collect();
        let is_seeded = |rule: super::SeedRule| {
            let seeded = |(sums, mass): (&Sums, &f64)| {
                sums.n_black_holes == 0 && *mass > rule.least_mass && !sums.gas_density.is_nan()
            };
            rows.iter().zip(&mass).map(seeded).collect()
        };
        Groups {
            first_id: self.first_id,
            n_total: self.n_total,
            size: rows.iter().map(|sums| sums.size).collect(),
            n_linked: self.lowest.iter().map(|lowest| lowest.n).collect(),
            lowest_id: self.lowest.iter().map(|lowest| lowest.id).collect(),
            centre,
            radius: radius2.into_iter().map(f64::sqrt).collect(),
            extent: rows.iter().map(Sums::extent).collect(),
            velocity: moves.map(|()| motions.iter().map(|m| m.0).collect()),
            dispersion: moves.map(|()| motions.iter().map(|m| m.1).collect()),
            densest_gas_id: gas.map(|()| rows.iter().map(|sums| sums.gas_id).collect()),
            densest_gas_density: gas.map(|()| rows.iter().map(|sums| sums.gas_density as f32).collect()),
            densest_gas_position: gas.map(|()| rows.iter().map(|sums| sums.gas_position).collect()),
            has_black_hole: has(particles.is_black_hole.is_some())
                .map(|()| rows.iter().map(|sums| sums.n_black_holes > 0).collect()),
            is_seeded: rules.seeds.map(is_seeded),
            mass,
        }
    }
}
