//! PHEW: from densities to clumps and haloes (Bleuler et al. 2015), in the order of the files:
//! [`test_cells`] which cells take part, [`ascent`] their densest neighbours, [`label`] patches,
//! [`saddle`] contacts between patches, [`forest`] the few of them that can ever merge anything,
//! [`tree`] which peak dies where ([`remainder`]: by parts, of peaks that [`far`] ranks own),
//! [`hierarchy`] clumps and haloes under given thresholds ([`ties`]: where RAMSES decides between equal saddles).
//!
//! Architecture invariants: up to `tree` nothing knows a relevance or saddle threshold; from `tree`
//! on nothing knows a cell.

pub mod ascent;
pub mod block;
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
mod quantized;
pub mod raise;
mod rounds;
pub mod saddle;
pub mod test_cells;
pub mod ties;
pub mod tree;

/// Whose rules hold where the paper and RAMSES differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// The paper's: any denser neighbour counts, ties are broken by the order of the cells, and
    /// isolated irrelevant peaks are discarded.
    #[default]
    Paper,
    /// RAMSES's: a neighbour counts if it is denser by 1.0001, the first probed wins a tie, and
    /// isolated irrelevant peaks keep their label.
    Ramses,
}
