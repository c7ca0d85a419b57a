//! Group cuts: a few points move between slices, so that no group of a walk is in two slices.
//!
//! ```text
//!     points in the order of keys    a b c d | e f g h i        | a cut between slices
//!     the group around the cut           c d   e f              the largest node of at most 128 points with both sides
//!     for one potential              a b c d e f | g h i        the slice with its first point gets it
//! ```
//!
//! Nodes follow from keys alone, so 128 keys on both sides of a cut are enough to find the group. A leaf is
//! never larger than a group, unless all its keys are the same, and such points are in one slice anyway.

use super::super::slices::{SlicePart, Slices};
use super::points::{PointRecord, Points};
use super::tree::GROUP;

/// The points of a slice that have moved for one potential, and the way back.
pub(super) struct MovedPoints {
    /// Own points that stayed; those that came are after them.
    kept: usize,
    /// The slices from which points came, and their numbers, in their order.
    came: Vec<(usize, usize)>,
}

/// The keys of a slice: all of them, or those at both ends.
struct EndKeys {
    n: u64,
    head: Vec<u64>,
    tail: Vec<u64>,
}

impl EndKeys {
    /// From the number of keys and the keys at both ends.
    fn unpack(packed: &[u64]) -> Self {
        let (n, keys) = (packed[0], &packed[1..]);
        match n as usize == keys.len() {
            true => Self { n, head: keys.to_vec(), tail: Vec::new() },
            false => Self { n, head: keys[..GROUP].to_vec(), tail: keys[GROUP..].to_vec() },
        }
    }

    fn pack(keys: &[u64]) -> Vec<u64> {
        let mut packed = vec![keys.len() as u64];
        match keys.len() <= 2 * GROUP {
            true => packed.extend_from_slice(keys),
            false => {
                packed.extend_from_slice(&keys[..GROUP]);
                packed.extend_from_slice(&keys[keys.len() - GROUP..]);
            }
        }
        packed
    }
}

/// Moves points to the slices of their groups. One gathering and one exchange.
pub(super) fn to_groups<S: Slices>(points: &mut Points, slices: &S) -> Result<MovedPoints, S::Error> {
    let packed = slices.gather(&EndKeys::pack(&points.key))?;
    let ends: Vec<EndKeys> = packed.iter().map(|packed| EndKeys::unpack(packed)).collect();
    let first: u64 = ends[..slices.here()].iter().map(|ends| ends.n).sum();
    let cuts = group_cuts(&ends);
    let owner = |at: u64| cuts.partition_point(|cut| *cut <= at) - 1;
    let mut parts: Vec<SlicePart<PointRecord>> = Vec::new();
    let mut leaving = 0;
    while leaving < points.len() {
        let to = owner(first + leaving as u64);
        if to == slices.here() {
            break;
        }
        let record = points.record(leaving);
        match parts.last_mut() {
            Some((last, part)) if *last == to => part.push(record),
            _ => parts.push((to, vec![record])),
        }
        leaving += 1;
    }
    points.drop_first(leaving);
    let kept = points.len();
    let received = slices.exchange(parts)?;
    let came = received.iter().map(|(from, part)| (*from, part.len())).collect();
    received.iter().flat_map(|(_, part)| part).for_each(|record| points.push(record));
    Ok(MovedPoints { kept, came })
}

impl MovedPoints {
    /// Brings the values of points back to where the points were. One exchange.
    pub fn back<S: Slices>(&self, mut values: Vec<f64>, slices: &S) -> Result<Vec<f64>, S::Error> {
        let mut of_others = values.split_off(self.kept).into_iter();
        let part = |(to, n): &(usize, usize)| (*to, of_others.by_ref().take(*n).collect());
        let received = slices.exchange(self.came.iter().map(part).collect())?;
        // The points that left were the first ones.
        let mut all: Vec<f64> = received.into_iter().flat_map(|(_, part)| part).collect();
        all.append(&mut values);
        Ok(all)
    }
}

/// The first place of each slice.
fn group_cuts(ends: &[EndKeys]) -> Vec<u64> {
    let (mut cuts, mut first) = (vec![0], 0);
    for slice in 1..ends.len() {
        first += ends[slice - 1].n;
        let (left, right) = (keys_before(&ends[..slice]), keys_after(&ends[slice..]));
        cuts.push(first + group_after(&left, &right) as u64);
    }
    cuts
}

/// Up to 128 keys before a cut, the nearest first.
fn keys_before(ends: &[EndKeys]) -> Vec<u64> {
    let mut keys = Vec::new();
    for ends in ends.iter().rev() {
        keys.extend(ends.tail.iter().rev());
        if ends.tail.is_empty() {
            keys.extend(ends.head.iter().rev());
        }
        if keys.len() >= GROUP {
            break;
        }
    }
    keys.truncate(GROUP);
    keys
}

/// Up to 128 keys after a cut, the nearest first.
fn keys_after(ends: &[EndKeys]) -> Vec<u64> {
    let mut keys = Vec::new();
    for ends in ends {
        keys.extend(&ends.head);
        if keys.len() >= GROUP {
            break;
        }
    }
    keys.truncate(GROUP);
    keys
}

/// The number of points after a cut that belong to the group of the points before it.
fn group_after(left: &[u64], right: &[u64]) -> usize {
    let (Some(last), Some(next)) = (left.first(), right.first()) else { return 0 };
    // The least cube with both sides, and then larger ones.
    let mut shift = (63 - (last ^ next).leading_zeros()) / 3 * 3 + 3;
    let mut after = 0;
    while shift <= 63 {
        let cube = next >> shift;
        let within = |keys: &[u64]| keys.iter().take_while(|key| *key >> shift == cube).count();
        let (n_left, n_right) = (within(left), within(right));
        if n_left + n_right > GROUP {
            break;
        }
        after = n_right;
        shift += 3;
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_across_a_cut_is_the_largest_node() {
        // Octants of 8 keys each: 60 points in the first four, 100 in the next ones.
        let left: Vec<u64> = (0..60)
            .rev()
            .map(|i| i % 4 * 8)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .rev()
            .collect();
        assert_eq!(group_after(&left, &[32, 33, 40, 64 + 1]), 4);
        let crowd: Vec<u64> = (0..GROUP as u64).map(|i| 32 + i / 16).collect();
        assert_eq!(group_after(&[31], &crowd), 0);
        // The smallest cube has 64 keys here; the next one has too many.
        let far: Vec<u64> = [32, 40].into_iter().chain((0..200).map(|i| 64 + i)).collect();
        assert_eq!(group_after(&[31, 24], &far[..GROUP]), 2);
        assert_eq!(group_after(&[], &[1]), 0);
    }

    #[test]
    fn keys_on_both_sides_come_from_as_many_slices_as_needed() {
        let slice = |keys: &[u64]| EndKeys::unpack(&EndKeys::pack(keys));
        let long: Vec<u64> = (0..1000).collect();
        let ends = [slice(&long), slice(&[1000, 1001]), slice(&[]), slice(&[1002])];
        let before = keys_before(&ends[..3]);
        assert_eq!((before[0], before[2], before.len()), (1001, 999, GROUP));
        assert_eq!(keys_after(&ends[1..]), [1000, 1001, 1002]);
    }
}
