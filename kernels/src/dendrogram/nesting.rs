//! Which structure is in which: sums over a structure with all that is in it, and distinct places of it.
//!
//! Structures are numbered by a walk from the outermost ones inwards, so that those in a structure follow it:
//!
//! ```text
//!     0 (1 2 (3 4)) 5          what is in 2: from 2 up to, not with, 5
//! ```

/// The structures of a dendrogram as a tree.
#[derive(Debug, Clone, Default)]
pub struct Nesting {
    /// The structures in the order of the walk.
    walk: Vec<u32>,
    /// The place of each structure in the walk.
    entry: Vec<u32>,
    /// The end of what is in it, in the walk.
    exit: Vec<u32>,
    /// For each structure the one that contains it; itself, if none does. Then the same over 2, 4, 8, ...
    /// steps.
    above: Vec<Vec<u32>>,
    /// Number of structures that contain each.
    pub depth: Vec<u32>,
}

impl Nesting {
    /// Of structures, by the one that contains each.
    pub fn new(parents: &[Option<u32>]) -> Self {
        let n = parents.len();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut todo = Vec::new();
        for of in (0..n as u32).rev() {
            match parents[of as usize] {
                Some(parent) => children[parent as usize].push(of),
                None => todo.push(of),
            }
        }
        let (mut walk, mut entry) = (Vec::with_capacity(n), vec![0; n]);
        let mut depth = vec![0; n];
        while let Some(of) = todo.pop() {
            entry[of as usize] = walk.len() as u32;
            walk.push(of);
            let inner = &children[of as usize];
            inner.iter().for_each(|child| depth[*child as usize] = depth[of as usize] + 1);
            todo.extend(inner);
        }
        let mut exit: Vec<u32> = entry.iter().map(|at| at + 1).collect();
        for of in walk.iter().rev() {
            if let Some(parent) = parents[*of as usize] {
                exit[parent as usize] = exit[parent as usize].max(exit[*of as usize]);
            }
        }
        let mut above: Vec<Vec<u32>> = vec![(0..).zip(parents).map(|(of, up)| up.unwrap_or(of)).collect()];
        let deepest = depth.iter().copied().max().unwrap_or(0);
        while (1 << above.len()) <= deepest {
            let last = above.last().expect("one step is there");
            above.push(last.iter().map(|of| last[*of as usize]).collect());
        }
        Self { walk, entry, exit, above, depth }
    }

    /// Whether `inner` is `outer`, or in it.
    fn has(&self, outer: u32, inner: u32) -> bool {
        let at = self.entry[inner as usize];
        self.entry[outer as usize] <= at && at < self.exit[outer as usize]
    }

    /// The outermost structure around a structure.
    pub fn outermost(&self, of: u32) -> u32 {
        self.above.iter().rev().fold(of, |of, steps| steps[of as usize])
    }

    /// The innermost structure that has both; `None` if there is none.
    fn around(&self, a: u32, b: u32) -> Option<u32> {
        if self.has(a, b) {
            return Some(a);
        }
        // As far up as b is still outside.
        let below = self.above.iter().rev().fold(a, |of, steps| {
            let up = steps[of as usize];
            if self.has(up, b) { of } else { up }
        });
        let up = self.above[0][below as usize];
        self.has(up, b).then_some(up)
    }

    /// Makes the values of own cells those of structures with all that is in them.
    pub fn gather<T: Clone>(&self, values: &mut [T], mut merge: impl FnMut(&mut T, &T)) {
        for of in self.walk.iter().rev() {
            let outer = self.above[0][*of as usize];
            if outer != *of {
                let inner = values[*of as usize].clone();
                merge(&mut values[outer as usize], &inner);
            }
        }
    }

    /// Terms whose sum over a structure with all that is in it is the number of its distinct places.
    /// `places` are pairs of a place and a structure with a cell there, none twice, and all of a place are
    /// here. Each structure counts 1; what surrounds two neighbours of the walk would count their place
    /// twice.
    pub fn place_terms(&self, places: &mut [(u64, u32)]) -> Vec<i64> {
        places.sort_unstable_by_key(|(place, of)| (*place, self.entry[*of as usize]));
        let mut terms = vec![0; self.walk.len()];
        for same in places.chunk_by(|a, b| a.0 == b.0) {
            same.iter().for_each(|(_, of)| terms[*of as usize] += 1);
            for pair in same.windows(2) {
                if let Some(outer) = self.around(pair[0].1, pair[1].1) {
                    terms[outer as usize] -= 1;
                }
            }
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

        #[test]
        fn places_and_sums_are_those_of_all_that_is_inside(
            parents in prop::collection::vec(0..40usize, 1..40),
            cells in prop::collection::vec((0..6u64, 0..40u32), 0..80),
        ) {
            // Each structure is in one of those before it, or in none.
            let parents: Vec<Option<u32>> =
                parents.iter().enumerate().map(|(of, up)| (*up < of).then_some(*up as u32)).collect();
            let n = parents.len() as u32;
            let cells: BTreeSet<(u64, u32)> = cells.into_iter().map(|(at, of)| (at, of % n)).collect();
            let is_in = |mut of: u32, outer: u32| loop {
                if of == outer {
                    return true;
                }
                match parents[of as usize] {
                    Some(parent) => of = parent,
                    None => return false,
                }
            };
            let nesting = Nesting::new(&parents);
            let mut places = nesting.place_terms(&mut cells.iter().copied().collect::<Vec<_>>());
            nesting.gather(&mut places, |sum, term| *sum += *term);
            let mut counts: Vec<u64> = (0..n).map(|of| cells.iter().filter(|c| c.1 == of).count() as u64).collect();
            nesting.gather(&mut counts, |sum, term| *sum += *term);
            for of in 0..n {
                let inside: Vec<u64> = cells.iter().filter(|c| is_in(c.1, of)).map(|c| c.0).collect();
                prop_assert_eq!(counts[of as usize], inside.len() as u64);
                prop_assert_eq!(places[of as usize], inside.iter().collect::<BTreeSet<_>>().len() as i64);
                let around = (0..n).filter(|outer| *outer != of && is_in(of, *outer));
                prop_assert_eq!(nesting.depth[of as usize], around.count() as u32);
                let outer = nesting.outermost(of);
                prop_assert!(is_in(of, outer) && parents[outer as usize].is_none());
            }
        }
    }
}
