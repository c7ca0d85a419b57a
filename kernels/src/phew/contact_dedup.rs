//! Of many contacts between each two patches the greatest, and few others.

use super::forest::ContactEdge;
use super::saddle::STRICTLY;
use crate::ids::{CellIdx, PeakIdx};
use std::hint::select_unpredictable;

/// Contacts, from which those are sieved that another between the same patches exceeds.
///
/// Each pair of patches has one place, which it may have to share: who comes later drives out who was there, to
/// be kept aside. Neighbouring cells touch the same patches, so a pair is mostly driven out once it is complete. What to do
/// with a contact is not to be foreseen, hence nothing here branches on it: what is chosen between are whole numbers,
/// for which that takes one instruction.
#[derive(Debug)]
pub struct ContactDedup {
    places: Vec<PatchContact>,
    /// Contacts that were driven out, in the first `n_aside` places.
    aside: Vec<PatchContact>,
    n_aside: usize,
    edges: Vec<ContactEdge>,
}

/// A contact of two patches.
#[derive(Debug, Clone, Copy)]
struct PatchContact {
    /// The two peaks, the smaller index above; 0 where there is none.
    pair: u64,
    /// Nearly its saddle times a constant: the bits of a number in single precision.
    rough: u32,
    /// Its cells, that of the smaller index above.
    cells: u64,
}

const FREE: PatchContact = PatchContact { pair: 0, rough: 0, cells: 0 };

/// Number of places, a power of two: more than the pairs that are being completed at a time, and in a core's own cache.
const PLACES: usize = 1 << 12;

impl Default for ContactDedup {
    fn default() -> Self {
        Self { places: vec![FREE; PLACES], aside: Vec::new(), n_aside: 0, edges: Vec::new() }
    }
}

impl ContactDedup {
    /// Makes room for `n` more contacts.
    #[inline(always)]
    pub fn reserve(&mut self, n: usize) {
        if self.aside.len() < self.n_aside + n {
            self.aside.resize(2 * (self.n_aside + n), FREE);
        }
    }

    /// Adds a contact of the patches of two peaks through two cells, for which there must be [room](Self::reserve).
    /// `rough` is nearly its saddle times a constant: if it is lower than another by more than a factor of
    /// [`STRICTLY`], so is the saddle.
    #[inline(always)]
    pub fn push(&mut self, peaks: [PeakIdx; 2], rough: f32, cells: [CellIdx; 2]) {
        let ([a, b], [at_a, at_b]) = (peaks.map(|p| p.0), cells.map(|c| c.0));
        let pair = both(a.min(b), a.max(b));
        let cells = select_unpredictable(a < b, both(at_a, at_b), both(at_b, at_a));
        let place = (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.trailing_zeros())) as usize;
        let old = self.places[place];
        let is_same = old.pair == pair;
        let old_rough = f32::from_bits(old.rough);
        let (is_lower, is_higher) = (rough * STRICTLY < old_rough, old_rough * STRICTLY < rough);
        let stays = is_same & is_lower;
        self.places[place] = PatchContact {
            pair,
            rough: select_unpredictable(stays, old.rough, rough.to_bits()),
            cells: select_unpredictable(stays, old.cells, cells),
        };
        let is_needed = (old.pair != FREE.pair) & !(is_same & (is_lower | is_higher));
        self.aside[self.n_aside] = old;
        self.n_aside += usize::from(is_needed);
    }

    /// Ends the adding: [`edges`](Self::edges) are made with the saddles of pairs of cells.
    pub fn finish(&mut self, saddle: impl Fn([CellIdx; 2]) -> f64) {
        let left = self.places.iter().filter(|contact| contact.pair != FREE.pair);
        let all = self.aside[..self.n_aside].iter().chain(left);
        self.edges.extend(all.map(|contact| {
            let (peaks, cells) = (apart(contact.pair).map(PeakIdx), apart(contact.cells).map(CellIdx));
            ContactEdge { saddle: saddle(cells), peaks, cells }
        }));
        self.places.fill(FREE);
        self.n_aside = 0;
    }

    /// The greatest contact of every pair, and few others.
    pub fn edges(&self) -> &[ContactEdge] {
        &self.edges
    }

    /// Forgets all of them, and keeps their room.
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
