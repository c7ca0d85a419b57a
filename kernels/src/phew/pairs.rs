//! Of many contacts the greatest between each two patches.

use super::forest::Edge;
use std::cmp::Ordering;

/// Edges, one a pair of patches, found by a hash of the pair.
#[derive(Debug)]
pub struct Pairs {
    /// Places in `edges` by hash, each at the next free slot; a power of two of them, at most half of them taken.
    slots: Vec<u32>,
    edges: Vec<Edge>,
}

const FREE: u32 = u32::MAX;

impl Default for Pairs {
    fn default() -> Self {
        Self { slots: vec![FREE; 1 << 12], edges: Vec::new() }
    }
}

impl Pairs {
    /// Adds an edge, or lets it replace or give way to the one between the same patches.
    #[inline(always)]
    pub fn push(&mut self, edge: Edge) {
        let last = self.slots.len() - 1;
        let mut slot = self.slot_of(&edge);
        loop {
            let Some(found) = self.edges.get_mut(self.slots[slot] as usize) else {
                return self.insert(slot, edge);
            };
            if found.peaks == edge.peaks {
                if edge.saddle >= found.saddle && edge.order(found) == Ordering::Less {
                    *found = edge;
                }
                return;
            }
            slot = (slot + 1) & last;
        }
    }

    #[inline(always)]
    fn slot_of(&self, edge: &Edge) -> usize {
        let pair = u64::from(edge.peaks[0].0) << 32 | u64::from(edge.peaks[1].0);
        let bits = self.slots.len().trailing_zeros();
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    fn insert(&mut self, slot: usize, edge: Edge) {
        self.slots[slot] = self.edges.len() as u32;
        self.edges.push(edge);
        if 2 * self.edges.len() > self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![FREE; 2 * self.slots.len()];
        let last = self.slots.len() - 1;
        for i in 0..self.edges.len() {
            let mut slot = self.slot_of(&self.edges[i]);
            while self.slots[slot] != FREE {
                slot = (slot + 1) & last;
            }
            self.slots[slot] = i as u32;
        }
    }

    /// Everything that was added, and nothing left.
    pub fn take(&mut self) -> Vec<Edge> {
        self.slots.fill(FREE);
        std::mem::take(&mut self.edges)
    }
}
