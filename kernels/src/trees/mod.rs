//! Merger trees: which object of one output is which object of the next one?
//!
//! Place in the flow: objects with their bound members, the most bound first, come from catalogues; a history
//! of nodes with descendants goes into a table. The files in the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | the weight of a tracer, and tracers found among members | [`tracer`], [`join`] |
//! | the scores of pairs of objects | [`score`] |
//! | pairs that match each other best | [`matching`] |
//! | objects that are missing, orphans, tracks, fates | [`history`] |
//! | nodes in the order of the table, with their progenitors | [`table`] |
//!
//! It does not use files, ranks, positions or velocities. All scores are integers, so no result depends on
//! the order of the terms. `docs/trees.md` has the definitions.

pub mod history;
pub mod join;
pub mod matching;
pub mod score;
pub mod table;
pub mod tracer;

#[cfg(test)]
mod brute;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod test_outputs;
