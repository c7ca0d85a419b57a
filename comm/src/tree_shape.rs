//! The tree of ranks: parents and children.
//!
//! ```text
//! rank r's parent is r without its lowest set bit:
//!
//!        0 ----+--------+                 000
//!        |     |        |
//!        1     2 --+    4 --+-----+       001  010  100
//!                  |    |   |     |
//!                  3    5   6     ...          011  101  110
//!                           |
//!                           7                            111
//! ```
//!
//! The ranks below a child are consecutive, and children ascend: joining values in the order of the children
//! gives the order of the ranks.

use crate::Rank;

/// The parent of `rank`; none for rank 0.
pub(crate) fn parent(rank: Rank) -> Option<Rank> {
    (rank.0 > 0).then(|| Rank(rank.0 & (rank.0 - 1)))
}

/// The children of `rank`, ascending.
pub(crate) fn children(rank: Rank, n_ranks: usize) -> Vec<Rank> {
    let steps = (0..u32::BITS - 1).map(|k| 1u32 << k);
    let below = steps.take_while(|step| rank.0 == 0 || *step < rank.0 & rank.0.wrapping_neg());
    below.map(|step| Rank(rank.0 + step)).take_while(|child| child.at() < n_ranks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_first_is_the_child_of_one_lower_rank() {
        for n_ranks in [1, 2, 3, 8, 13, 64, 1000] {
            let mut seen = vec![0; n_ranks];
            for rank in 0..n_ranks as u32 {
                for child in children(Rank(rank), n_ranks) {
                    assert_eq!(child.0 & (child.0 - 1), rank);
                    seen[child.at()] += 1;
                }
            }
            assert_eq!(seen[0], 0);
            assert!(seen[1..].iter().all(|&n| n == 1), "{n_ranks} ranks");
        }
    }
}
