//! Of many contacts the greatest between each two patches.

use super::forest::{Edge, low_first};
use super::saddle::STRICTLY;
use crate::ids::PeakIdx;
use std::cmp::Ordering;

/// Edges, one a pair of patches, found by a hash of the pair.
#[derive(Debug)]
pub struct Pairs {
    /// Each pair at the next free slot; a power of two of them, at most half of them taken.
    slots: Vec<Slot>,
    edges: Vec<Edge>,
}

/// What tells most contacts that they are not the greatest.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The two peaks, the smaller index above.
    pair: u64,
    /// That of the edge.
    rough: f32,
    /// The edge.
    edge: u32,
}

const FREE: Slot = Slot { pair: u64::MAX, rough: 0.0, edge: u32::MAX };

impl Default for Pairs {
    fn default() -> Self {
        Self { slots: vec![FREE; 1 << 12], edges: Vec::new() }
    }
}

impl Pairs {
    /// Adds a contact between two patches, or lets it replace or give way to the one there is. `rough` is
    /// nearly its saddle times a constant: if it is lower than another by more than a factor of [`STRICTLY`], so is
    /// the saddle. Only if that does not decide, the `edge` is asked for.
    #[inline(always)]
    pub fn push(&mut self, peaks: [PeakIdx; 2], rough: f32, edge: impl FnOnce() -> Edge) {
        let [low, high] = low_first(peaks);
        let pair = u64::from(low.0) << 32 | u64::from(high.0);
        let last = self.slots.len() - 1;
        let mut place = self.place_of(pair);
        loop {
            let slot = &mut self.slots[place];
            if slot.pair == pair {
                if rough * STRICTLY >= slot.rough {
                    let (edge, found) = (edge(), &mut self.edges[slot.edge as usize]);
                    if edge.order(found) == Ordering::Less {
                        (*found, slot.rough) = (edge, rough);
                    }
                }
                return;
            }
            if slot.pair == FREE.pair {
                *slot = Slot { pair, rough, edge: self.edges.len() as u32 };
                self.edges.push(edge());
                return self.make_room();
            }
            place = (place + 1) & last;
        }
    }

    #[inline(always)]
    fn place_of(&self, pair: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    #[inline(always)]
    fn make_room(&mut self) {
        if 2 * self.edges.len() > self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let n = 2 * self.slots.len();
        let slots = std::mem::replace(&mut self.slots, vec![FREE; n]);
        for slot in slots.into_iter().filter(|slot| slot.pair != FREE.pair) {
            let mut place = self.place_of(slot.pair);
            while self.slots[place].pair != FREE.pair {
                place = (place + 1) & (n - 1);
            }
            self.slots[place] = slot;
        }
    }

    /// The greatest contact of every pair.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Forgets all of them, and keeps their room.
    pub fn clear(&mut self) {
        self.slots.fill(FREE);
        self.edges.clear();
    }
}
