//! Which group does a component belong to, and which rank keeps the row of the group? Rows are spread evenly
//! over ranks, in the order of the IDs.

use super::sums::{Lowest, Members, Sums, compare};
use super::{Groups, LinkingRules};
use crate::exchange::chains::RemoteIndex;
use crate::exchange::grouped;
use crate::partition::ranking::sort;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// The group of a component, as every rank with members of it knows it.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct KnownGroup {
    /// Its ID; 0: the component is no group.
    pub id: u64,
    /// The rank that keeps its row.
    pub row_rank: u64,
    /// Its lowest member.
    pub lowest: Lowest,
}

impl KnownGroup {
    /// No group.
    pub const NONE: Self = Self { id: 0, row_rank: 0, lowest: Lowest::NONE };
}

/// The groups whose rows this rank keeps.
#[derive(Debug)]
pub struct GroupRows {
    first_id: u64,
    n_total: u64,
    lowest: Vec<Lowest>,
}

/// The lowest member of a component. Sent to a root, `component` is the lowest cell of the root on the
/// receiver; sent to be sorted, it is the number of the component on the sender.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ComponentLowest {
    component: u64,
    what: Lowest,
}

/// The group of a component of the receiver, by its number there.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ComponentGroup {
    component: u64,
    what: KnownGroup,
}

/// Collective: the group of each component of this rank. `lowest` has their lowest members, and `roots` their
/// lowest cells, ascending. `joined` lists components, ascending, whose root is on another rank. Five
/// exchanges.
///
/// # Errors
/// When another rank fails.
pub fn assign_groups(
    comm: &Comm,
    rules: &LinkingRules,
    mut lowest: Vec<Lowest>,
    roots: &[u32],
    joined: &[(usize, RemoteIndex)],
) -> Result<(GroupRows, Vec<KnownGroup>), CommError> {
    let mut to_roots: Vec<(Rank, ComponentLowest)> = joined
        .iter()
        .map(|(i, root)| {
            (Rank(root.rank), ComponentLowest { component: u64::from(root.index), what: lowest[*i] })
        })
        .collect();
    let mut order: Vec<usize> = (0..joined.len()).collect();
    order.sort_by_key(|i| to_roots[*i].0);
    to_roots.sort_by_key(|m| m.0);
    let received = comm.exchange(grouped(&to_roots, |m| *m))?;
    let number_of = |sent: &ComponentLowest| {
        roots.binary_search(&(sent.component as u32)).expect("components with edges are kept on their ranks")
    };
    for sent in received.iter().flat_map(|(_, list)| list) {
        lowest[number_of(sent)].join(sent.what);
    }
    let mut is_root = vec![true; lowest.len()];
    joined.iter().for_each(|(i, _)| is_root[*i] = false);
    let (rows, mut known) = number(comm, rules, &lowest, &is_root)?;
    let answer = |sent: &ComponentLowest| known[number_of(sent)];
    let answers = received.iter().map(|(from, list)| (*from, list.iter().map(answer).collect())).collect();
    let answers = comm.exchange::<KnownGroup>(answers)?.into_iter().flat_map(|(_, list)| list);
    order.iter().zip(answers).for_each(|(i, answer)| known[joined[*i].0] = answer);
    Ok((rows, known))
}

/// Collective: gives IDs to the roots with enough members, sorted over all ranks. Returns the rows that this
/// rank keeps, and the groups of its own roots.
fn number(
    comm: &Comm,
    rules: &LinkingRules,
    lowest: &[Lowest],
    is_root: &[bool],
) -> Result<(GroupRows, Vec<KnownGroup>), CommError> {
    let kept = |i: &usize| is_root[*i] && lowest[*i].n >= rules.min_size;
    let root = |i: usize| ComponentLowest { component: i as u64, what: lowest[i] };
    let own: Vec<ComponentLowest> = (0..lowest.len()).filter(kept).map(root).collect();
    let key = |root: &ComponentLowest| u128::from(!root.what.n) << 64 | u128::from(root.what.id);
    let mut sorted = sort(comm, own, key)?;
    // Equal keys are on one rank. The lowest members of two groups never have the same position.
    sorted.sort_by(|(_, a), (_, b)| {
        key(a).cmp(&key(b)).then_with(|| compare(&a.what.position, &b.what.position))
    });
    let first_id = comm.sum_before(sorted.len() as u64)? + 1;
    let n_total = comm.all_reduce_counts(&[sorted.len() as u64], Reduce::Sum)?[0];
    let row_rank = u64::from(comm.rank().0);
    let mut sent: Vec<(Rank, ComponentGroup)> = (first_id..)
        .zip(&sorted)
        .map(|(id, (from, root))| {
            let what = KnownGroup { id, row_rank, lowest: root.what };
            (*from, ComponentGroup { component: root.component, what })
        })
        .collect();
    sent.sort_by_key(|t| t.0);
    let mut known = vec![KnownGroup::NONE; lowest.len()];
    for group in comm.exchange(grouped(&sent, |t| *t))?.into_iter().flat_map(|(_, list)| list) {
        known[group.component as usize] = group.what;
    }
    let lowest = sorted.into_iter().map(|(_, root)| root.what).collect();
    Ok((GroupRows { first_id, n_total, lowest }, known))
}

impl GroupRows {
    /// Number of groups on all ranks.
    pub fn n_total(&self) -> u64 {
        self.n_total
    }

    /// Collective: adds up the sums of all ranks and completes the rows. `sums` belong to the groups `known`.
    /// `radius2` returns, for centres of these groups, the squares of the greatest distances of own members.
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
        order.sort_by_key(|i| known[*i].row_rank);
        let row_rank = |i: usize| Rank(known[i].row_rank as u32);
        let sent = grouped(&order, |i| (row_rank(*i), sums[*i].of_row(known[*i].id)));
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
        let returned = comm.exchange(received.iter().map(|(from, list)| (*from, of_row(list))).collect())?;
        let mut own_centres = vec![[0.0; 3]; known.len()];
        let returned = returned.into_iter().flat_map(|(_, list): (_, Vec<[f64; 3]>)| list);
        order.iter().zip(returned).for_each(|(i, centre)| own_centres[*i] = centre);
        let own = radius2(&own_centres);
        let far = comm.exchange(grouped(&order, |i| (row_rank(*i), own[*i])))?;
        let mut most = vec![0.0f64; rows.len()];
        for (sums, far) in received.iter().flat_map(|c| &c.1).zip(far.iter().flat_map(|f| &f.1)) {
            most[row(sums)] = most[row(sums)].max(*far);
        }
        Ok(self.table(rules, members, &rows, centres, most))
    }

    /// All columns of the rows.
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
