//! `ties`: edges that could replace an edge of the tree with the same saddle. RAMSES's rules need them.

use crate::phew::peaks::OwnTree;
use crate::phew::tables::error::RecutError;
use crate::phew::tables::stored::{StoredTable, peak_of_row};
use crate::tables::column;
use inselberg_io::catalogue::{Catalogue, Dimension, Table, Values};
use inselberg_kernels::phew::ties::{Tie, stand_beside};
use inselberg_kernels::phew::tree::MergeTree;

/// The table of the ties.
pub fn ties_table(ties: &[Tie]) -> Table {
    let saddles = Values::F64(ties.iter().map(|tie| tie.saddle).collect());
    let positions = Values::F64x3(ties.iter().map(|tie| tie.position).collect());
    let rows = |side: usize| Values::U64(ties.iter().map(|tie| u64::from(tie.patches[side].0) + 1).collect());
    let (none, row) =
        (Dimension::NONE, "row of `tree`, from 1, of a patch that meets the other at that saddle");
    let columns = vec![
        column("saddle", Dimension::DENSITY, "density of a saddle that another one equals", saddles),
        column("position", Dimension::LENGTH, "where that saddle is", positions),
        column("first", none, row, rows(0)),
        column("second", none, row, rows(1)),
    ];
    Table { name: "ties".into(), columns }
}

/// The ties of a stored catalogue beside its sound tree; none where it has no such table.
///
/// # Errors
/// When the table is broken.
pub(super) fn read_ties(catalogue: &Catalogue, tree: &OwnTree) -> Result<Vec<Tie>, RecutError> {
    let Some(table) = catalogue.table("ties") else { return Ok(Vec::new()) };
    let tree = tree.to_whole();
    let stored = StoredTable(table);
    let broken = |_| RecutError::BadTies;
    let saddle = stored.reals("saddle").map_err(broken)?;
    let position = stored.vectors("position").map_err(broken)?;
    let rows = ["first", "second"].map(|name| stored.counts(name));
    let [first, second] = rows.map(|rows| rows.map_err(broken));
    let (first, second) = (first?, second?);
    let patch = |row: u64| peak_of_row(row, tree.len(), "ties").ok().filter(|p| !p.is_none());
    let tie = |i: usize| {
        let patches = [patch(first[i])?, patch(second[i])?];
        Some(Tie { saddle: saddle[i], position: position[i], patches })
    };
    let ties: Option<Vec<Tie>> = (0..saddle.len()).map(tie).collect();
    ties.filter(|ties| are_sound(&tree, ties)).ok_or(RecutError::BadTies)
}

fn are_sound(tree: &MergeTree, ties: &[Tie]) -> bool {
    let is_finite = |tie: &Tie| tie.position.iter().all(|x| x.is_finite()) && tie.saddle > 0.0;
    let edges: Vec<_> = ties.iter().map(|tie| (tie.saddle, tie.patches)).collect();
    ties.iter().all(is_finite)
        && ties.is_sorted_by(|a, b| a.saddle >= b.saddle)
        && stand_beside(tree, &edges).into_iter().all(|is_tie| is_tie)
}
