//! PHEW: which clumps and haloes does a density field contain? (Bleuler et al. 2015)
//!
//! Place in the flow: after the mesh and its densities, before [`crate::props`]. The files in the order of
//! the steps:
//!
//! | step | file | result |
//! |---|---|---|
//! | which cells take part | [`test_cells`] | test cells |
//! | densest neighbour of each | [`ascent`], [`raise`] | pointers |
//! | peak of each | [`label`] | patches |
//! | where patches touch | [`saddle`] | contacts |
//! | which contacts can merge anything | [`forest`] | edges |
//! | which peak dies where | [`region_tree`], [`tree`]; over ranks [`pending_merges`], [`global`] | merge tree |
//! | clumps and haloes under given thresholds | [`hierarchy`], [`persistence`], [`significance`]; with RAMSES's tie rule [`plateau`], [`ties`] | hierarchy |
//! | where clumps meet, for RAMSES's unbinding | [`border`] | distances |
//!
//! Helpers: [`block`] and its ghost block (cells around a brick as flat arrays), [`contact_dedup`] and the
//! contact filter (fewer contacts), [`local_ids`] (small numbers for peaks), `rounds` (levels of clumps).
//!
//! It does not use threads, tasks, ranks (except the number of a peak's owner), or properties of clumps. Up
//! to `tree`, no file uses a persistence or saddle threshold; from `tree` on, no file uses cells.

pub mod ascent;
pub mod block;
pub mod border;
pub mod contact_dedup;
mod contact_filter;
mod densest;
pub mod forest;
mod ghost_block;
pub mod global;
pub mod hierarchy;
pub mod label;
pub mod local_ids;
pub mod pending_merges;
pub mod persistence;
pub mod plateau;
mod quantized;
pub mod raise;
pub mod region_tree;
mod rounds;
pub mod saddle;
pub mod significance;
#[cfg(test)]
mod test_blocks;
pub mod test_cells;
pub mod ties;
pub mod tree;

/// The rules to follow if the paper and RAMSES differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// Those of the paper: any denser neighbour counts, ties go to the first cell in the order of cells, and
    /// isolated irrelevant peaks are discarded.
    #[default]
    Paper,
    /// Those of RAMSES: a neighbour counts if it is denser by a factor of 1.0001, ties go to the neighbour
    /// that is probed first, and isolated irrelevant peaks keep their label.
    Ramses,
}
