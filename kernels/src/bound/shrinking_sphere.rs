//! Shrinking sphere: where is a halo dense, if no density peak is known?
//!
//! The centre of mass of all members, then that of the members within a sphere about it, whose radius shrinks
//! by a tenth per step, down to a hundredth of the members (Power et al. 2003). If two concentrations are
//! joined by a bridge, the heavier one wins. The time is proportional to the members. The search ends if all
//! members of a sphere are at one place, as no radius separates them.

use super::members::HaloMembers;
use super::slices::{BlockSums, Slices, Whole, greatest, total};
use crate::loops::{chosen, most_of};
use std::ops::Range;

/// The radius of a sphere over that of the one before.
const SHRINK: f64 = 0.9;
/// The last sphere has at least this number of members.
const FEWEST: u64 = 20;
/// The last sphere has at least this part of all members.
const PART: u64 = 100;
/// The least radius over the reach of the members: below it, members differ by rounding alone.
const LEAST: f64 = f64::EPSILON;

/// The centre, relative to the same point as the members. The origin without mass.
pub fn shrinking_sphere(members: &HaloMembers) -> [f64; 3] {
    let Ok(centre) = shrinking_sphere_of_slices(members, &Whole);
    centre
}

/// The same of a halo in slices. Three reductions per step.
///
/// # Errors
/// Those of the slices.
pub fn shrinking_sphere_of_slices<S: Slices>(
    members: &HaloMembers,
    slices: &S,
) -> Result<[f64; 3], S::Error> {
    let mut inside = members.all();
    let Some(mut centre) = centre_of_mass(members, &inside, slices)? else { return Ok([0.0; 3]) };
    let mut number = total(slices, inside.len())?;
    let fewest = FEWEST.max(number / PART);
    let farthest = most_of(slices, inside.len(), |at| distance2(members, inside[at], centre));
    let [mut square] = greatest(slices, [farthest])?;
    let least = members.bounds().reach * LEAST;
    while number > fewest && square > least * least {
        square *= SHRINK * SHRINK;
        let within = chosen(slices, inside.len(), |at| distance2(members, inside[at], centre) <= square);
        let within: Vec<u32> = within.into_iter().map(|at| inside[at as usize]).collect();
        let n_within = total(slices, within.len())?;
        match centre_of_mass(members, &within, slices)? {
            Some(next) if n_within >= fewest => (centre, inside, number) = (next, within, n_within),
            _ => break,
        }
    }
    Ok(centre)
}

/// `None` without mass.
fn centre_of_mass<S: Slices>(
    members: &HaloMembers,
    list: &[u32],
    slices: &S,
) -> Result<Option<[f64; 3]>, S::Error> {
    let (columns, bounds) = (members.columns(), members.bounds());
    let moment = bounds.mass * bounds.reach;
    let mut sums = BlockSums::new(bounds, [bounds.mass, moment, moment, moment]);
    let of_block = |run: Range<usize>| {
        let mut block = [0.0; 4];
        for i in &list[run] {
            let (m, x) = (columns.mass[*i as usize], columns.position[*i as usize]);
            block[0] += m;
            (0..3).for_each(|a| block[1 + a] += m * x[a]);
        }
        block
    };
    sums.add_blocks(slices, members.runs(list), of_block);
    let [mass, moment @ ..] = sums.over(slices)?;
    Ok((mass > 0.0).then(|| moment.map(|moment| moment / mass)))
}

fn distance2(members: &HaloMembers, member: u32, centre: [f64; 3]) -> f64 {
    let x = members.columns().position[member as usize];
    (0..3).map(|a| (x[a] - centre[a]) * (x[a] - centre[a])).sum()
}

#[cfg(test)]
mod tests {
    use super::super::members::MemberColumns;
    use super::*;

    /// Two spherical concentrations on the x axis, of `n` members each in shells of radius up to 1, at 0 and
    /// 10, and a bridge.
    fn heaps(n: [usize; 2], mass: f64) -> HaloMembers {
        let mut columns = MemberColumns::default();
        let mut add = |x: [f64; 3]| {
            columns.position.push(x);
            columns.id.push(columns.id.len() as u64);
        };
        for (heap, n) in n.into_iter().enumerate() {
            for i in 0..n {
                // A spiral on spheres, with the radius as the index: dense in the middle.
                let (r, z) = ((i + 1) as f64 / n as f64, 2.0 * ((i as f64 * 0.618_034) % 1.0) - 1.0);
                let (turn, flat) = (2.4 * i as f64, (1.0 - z * z).sqrt());
                add([10.0 * heap as f64 + r * flat * turn.cos(), r * flat * turn.sin(), r * z]);
            }
        }
        (0..50).for_each(|i| add([0.2 * f64::from(i), 0.0, 0.0]));
        let n = columns.id.len();
        columns.velocity = vec![[0.0; 3]; n];
        columns.mass = vec![mass; n];
        columns.softening = vec![0.0; n];
        columns.particle_type = vec![1; n];
        HaloMembers::new(columns).expect("members")
    }

    #[test]
    fn the_heavier_heap_has_the_centre() {
        for (n, x) in [([600, 500], 0.0), ([500, 600], 10.0)] {
            let centre = shrinking_sphere(&heaps(n, 2.0));
            assert!(
                (centre[0] - x).abs() < 0.1 && centre[1].abs() < 0.1 && centre[2].abs() < 0.1,
                "{centre:?}"
            );
        }
    }

    /// More members at one place than a last sphere has: no radius separates them, and they are the centre.
    #[test]
    fn members_at_one_place_end_the_search() {
        for place in [[0.0; 3], [0.1, -0.7, 3.0]] {
            let mut columns = heaps([600, 500], 2.0).columns().clone();
            columns.position.sort_by(|x, y| distance_to_0(*x).total_cmp(&distance_to_0(*y)));
            columns.position[..40].fill([0.0; 3]);
            columns.position.iter_mut().for_each(|x| (0..3).for_each(|a| x[a] += place[a]));
            let centre = shrinking_sphere(&HaloMembers::new(columns).expect("members"));
            assert!((0..3).all(|a| (centre[a] - place[a]).abs() < 1e-14), "{centre:?} {place:?}");
        }
    }

    fn distance_to_0(x: [f64; 3]) -> f64 {
        x.map(|x| x * x).iter().sum()
    }

    #[test]
    fn without_mass_it_is_the_origin() {
        assert_eq!(shrinking_sphere(&heaps([30, 30], 0.0)), [0.0; 3]);
    }
}
