//! Contact dedup: keeps the greatest of the many contacts between two patches, and few others.
//!
//! Place in the flow: [`super::saddle`] pushes the contacts that its filter leaves; [`super::forest`] takes
//! the edges. It uses pairs of peaks and approximate saddles, and needs exact saddles only at the end.
//!
//! # Worked example
//!
//! A small hash table has one slot per hash value, not per pair. `1-2: 5` is a contact of patches 1 and 2
//! with saddle 5. Say that pairs 1-2 and 3-4 have the same slot:
//!
//! ```text
//!     push        slot before   slot after   kept aside
//!     1-2: 5      (free)        1-2: 5
//!     1-2: 3      1-2: 5        1-2: 5                     3 is strictly lower: dropped
//!     1-2: 7      1-2: 5        1-2: 7                     5 is strictly lower: dropped
//!     3-4: 2      1-2: 7        3-4: 2       1-2: 7        another pair: the old contact goes aside
//!     1-2: 6      3-4: 2        1-2: 6       3-4: 2
//!     1-2: 6.0*   1-2: 6        1-2: 6.0*    1-2: 6        equal in single precision: both are kept
//!     finish                                 1-2: 6.0*     slots are emptied into the list
//! ```
//!
//! The edges are 1-2: 7, 3-4: 2, 1-2: 6 and 1-2: 6.0*. Pair 1-2 occurs three times, including its greatest
//! contact; the forest drops the others. Contacts of neighbouring cells mostly come one after the other, so
//! few pairs occur more than once.

use super::forest::ContactEdge;
use super::test_cells::STRICTLY;
use crate::ids::{CellIdx, PeakIdx};
use std::hint::select_unpredictable;

/// Collects contacts and drops those that another contact of the same two patches strictly exceeds.
///
/// No branch depends on a contact, because none of them could be predicted. All choices are between whole
/// numbers, which compile to one conditional move each.
#[derive(Debug)]
pub struct ContactDedup {
    slots: Vec<PatchContact>,
    /// Contacts that another pair displaced: the first `n_aside` entries.
    aside: Vec<PatchContact>,
    n_aside: usize,
    edges: Vec<ContactEdge>,
}

/// A contact of two patches.
#[derive(Debug, Clone, Copy)]
struct PatchContact {
    /// The two peaks, the smaller index in the high half; 0 in a free slot, as no peak has a contact with
    /// itself.
    pair: u64,
    /// Its approximate saddle: the bits of a number in single precision.
    saddle: u32,
    /// Its cells, the one in the patch of the smaller index in the high half.
    cells: u64,
}

const FREE: PatchContact = PatchContact { pair: 0, saddle: 0, cells: 0 };

/// Number of slots, a power of two: more than the pairs that have contacts at one time, and few enough for a
/// core's cache.
const SLOTS: usize = 1 << 12;

impl Default for ContactDedup {
    fn default() -> Self {
        Self { slots: vec![FREE; SLOTS], aside: Vec::new(), n_aside: 0, edges: Vec::new() }
    }
}

impl ContactDedup {
    /// Reserves room for `n` more contacts.
    #[inline(always)]
    pub fn reserve(&mut self, n: usize) {
        if self.aside.len() < self.n_aside + n {
            self.aside.resize(2 * (self.n_aside + n), FREE);
        }
    }

    /// Adds a contact of the patches of two peaks through two cells. The caller must have
    /// [reserved](Self::reserve) room. `saddle` is approximate and in any unit: if it is less than another by
    /// more than a factor of [`STRICTLY`], the exact saddle must be less, too.
    #[inline(always)]
    pub fn push(&mut self, peaks: [PeakIdx; 2], saddle: f32, cells: [CellIdx; 2]) {
        let ([a, b], [at_a, at_b]) = (peaks.map(|p| p.0), cells.map(|c| c.0));
        let pair = both(a.min(b), a.max(b));
        let cells = select_unpredictable(a < b, both(at_a, at_b), both(at_b, at_a));
        let slot = (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.trailing_zeros())) as usize;
        let old = self.slots[slot];
        let is_same = old.pair == pair;
        let old_saddle = f32::from_bits(old.saddle);
        let (is_lower, is_higher) = (saddle * STRICTLY < old_saddle, old_saddle * STRICTLY < saddle);
        let stays = is_same & is_lower;
        self.slots[slot] = PatchContact {
            pair,
            saddle: select_unpredictable(stays, old.saddle, saddle.to_bits()),
            cells: select_unpredictable(stays, old.cells, cells),
        };
        let is_needed = (old.pair != FREE.pair) & !(is_same & (is_lower | is_higher));
        self.aside[self.n_aside] = old;
        self.n_aside += usize::from(is_needed);
    }

    /// Turns all contacts into [`edges`](Self::edges). `saddle` gives the exact saddle of two cells.
    pub fn finish(&mut self, saddle: impl Fn([CellIdx; 2]) -> f64) {
        let left = self.slots.iter().filter(|contact| contact.pair != FREE.pair);
        let all = self.aside[..self.n_aside].iter().chain(left);
        self.edges.extend(all.map(|contact| {
            let (peaks, cells) = (apart(contact.pair).map(PeakIdx), apart(contact.cells).map(CellIdx));
            ContactEdge { saddle: saddle(cells), peaks, cells }
        }));
        self.slots.fill(FREE);
        self.n_aside = 0;
    }

    /// The greatest contact of every pair of patches, and few others. Complete after
    /// [`finish`](Self::finish).
    pub fn edges(&self) -> &[ContactEdge] {
        &self.edges
    }

    /// Removes all edges and keeps the memory.
    pub fn clear(&mut self) {
        self.edges.clear();
    }
}

#[inline(always)]
fn both(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

#[inline(always)]
fn apart(both: u64) -> [u32; 2] {
    [(both >> 32) as u32, both as u32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn contact(saddle: f64, peaks: [u32; 2], cells: [u32; 2]) -> ContactEdge {
        ContactEdge::new(saddle, peaks.map(PeakIdx), cells.map(CellIdx))
    }

    /// Pushes contacts, contact `i` through cells `2 i` and `2 i + 1`, and returns the edges.
    fn edges_of(contacts: &[ContactEdge]) -> Vec<ContactEdge> {
        let mut dedup = ContactDedup::default();
        dedup.reserve(contacts.len());
        contacts.iter().for_each(|c| dedup.push(c.peaks, c.saddle as f32, c.cells));
        dedup.finish(|cells| contacts[cells[0].at() / 2].saddle);
        dedup.edges().to_vec()
    }

    /// Reference: the greatest contact of each pair of peaks, by sorting.
    fn greatest(contacts: &[ContactEdge]) -> Vec<ContactEdge> {
        let mut contacts = contacts.to_vec();
        contacts.sort_by(|a, b| a.peaks.cmp(&b.peaks).then(a.order(b)));
        contacts.dedup_by_key(|c| c.peaks);
        contacts
    }

    /// Contacts of few or many patches with saddles that are equal, nearly equal or far apart.
    fn contacts() -> impl Strategy<Value = Vec<ContactEdge>> {
        let saddle = prop_oneof![
            (1..5u32).prop_map(f64::from),
            (0..8u32).prop_map(|i| 3.7 * (1.0 + f64::from(i) * f64::EPSILON)),
            (0..8u32).prop_map(|i| 3.7 * (1.0 + f64::from(i) * 1e-7)),
            1e-30..1e30f64,
        ];
        let n_peaks = prop_oneof![Just(3u32), Just(20), Just(100_000)];
        (n_peaks, prop::collection::vec((saddle, any::<u32>(), any::<u32>(), any::<bool>()), 0..400))
            .prop_map(|(n, contacts)| {
                let contact = |(i, (saddle, a, step, swap)): (u32, (f64, u32, u32, bool))| {
                    let a = a % n;
                    let cells = if swap { [2 * i + 1, 2 * i] } else { [2 * i, 2 * i + 1] };
                    contact(saddle, [a, (a + 1 + step % (n - 1)) % n], cells)
                };
                (0..).zip(contacts).map(contact).collect()
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn the_greatest_contact_of_each_pair_is_kept(contacts in contacts()) {
            let edges = edges_of(&contacts);
            prop_assert!(edges.iter().all(|edge| contacts.contains(edge)));
            prop_assert_eq!(greatest(&edges), greatest(&contacts));
        }
    }

    /// The worked example of the module, with the pairs and saddles that share a slot found by trying.
    #[test]
    fn the_worked_example() {
        let slot = |peaks: [u32; 2]| {
            let mut dedup = ContactDedup::default();
            dedup.reserve(1);
            dedup.push(peaks.map(PeakIdx), 1.0, [CellIdx(0), CellIdx(1)]);
            dedup.slots.iter().position(|contact| contact.pair != FREE.pair)
        };
        let shared = (4..).find(|b| slot([3, *b]) == slot([1, 2])).expect("some pair shares the slot");
        let (first, second) = ([1, 2], [3, shared]);
        let pushed =
            [(5.0, first), (3.0, first), (7.0, first), (2.0, second), (6.0, first), (6.0 + 1e-12, first)];
        let contacts: Vec<_> =
            (0..).zip(pushed).map(|(i, (s, peaks))| contact(s, peaks, [2 * i, 2 * i + 1])).collect();
        let edges: Vec<_> = edges_of(&contacts).iter().map(|e| (e.saddle, e.peaks.map(|p| p.0))).collect();
        assert_eq!(edges, [(7.0, first), (2.0, second), (6.0, first), (6.0 + 1e-12, first)]);
    }

    /// More pairs than slots, each of which returns long after it was displaced.
    #[test]
    fn pairs_that_share_a_slot_keep_their_greatest() {
        let mut random = 5u64;
        let mut below = |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((random >> 33) % n) as u32
        };
        let contacts: Vec<_> = (0..400_000)
            .map(|i| {
                let a = below(60_000);
                contact(f64::from(1 + below(1000)), [a, a + 1 + below(3)], [2 * i, 2 * i + 1])
            })
            .collect();
        let edges = edges_of(&contacts);
        assert!(edges.len() < contacts.len(), "some are dropped");
        assert_eq!(greatest(&edges), greatest(&contacts));
    }

    /// Peaks have other numbers on other ranks, but the order of cells is the same on all.
    #[test]
    fn of_equal_contacts_the_same_one_is_kept_whatever_the_numbers_of_peaks() {
        let kept = |peaks: [u32; 2]| {
            let mut dedup = ContactDedup::default();
            let all = [[5, 100], [7, 50], [60, 7]].map(|cells| contact(1.5, peaks, cells));
            dedup.reserve(all.len());
            all.into_iter().for_each(|c| dedup.push(c.peaks, c.saddle as f32, c.cells));
            dedup.finish(|_| 1.5);
            let mut cells = greatest(dedup.edges())[0].cells;
            cells.sort();
            cells
        };
        assert_eq!(kept([1, 2]), [5, 100].map(CellIdx));
        assert_eq!(kept([2, 1]), kept([1, 2]));
    }
}
