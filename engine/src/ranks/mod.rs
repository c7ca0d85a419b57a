//! What crosses ranks between the ascent and the haloes: labels, peaks, the merge tree, clumps.
//!
//! Each rank owns the peaks whose cells it owns. The whole has one numbering of the peaks, by (level,
//! Morton key) of their cells, which on one level is the order of the ranks. `README.md` beside this file
//! says which exchanges are made and why the result is the same for any number of ranks.

pub mod forest;
pub mod labels;
pub mod links;
pub mod order;
pub mod peak_comm;
pub mod pointers;

use inselberg_comm::Rank;

/// Records by destination; `of` gives destination and record, destinations must come together.
pub(crate) fn grouped<A, T>(items: &[A], of: impl Fn(&A) -> (Rank, T)) -> Vec<(Rank, Vec<T>)> {
    let mut parts: Vec<(Rank, Vec<T>)> = Vec::new();
    for item in items {
        let (to, record) = of(item);
        match parts.last_mut() {
            Some(last) if last.0 == to => last.1.push(record),
            _ => parts.push((to, vec![record])),
        }
    }
    parts
}
