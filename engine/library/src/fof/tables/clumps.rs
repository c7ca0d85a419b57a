//! The table of the clumps of groups, where tracks find subhaloes: the clump of each group, and those without
//! a group of their own.

use crate::bound::{HaloClump, IS_CENTRAL};
use crate::fof::tables::Numbering;
use crate::tables::column;
use inselberg_io::catalogue::{Dimension, Table, Values};

/// Local: the table of these clumps, without properties. `n_groups` is the number of groups on all ranks.
pub fn clumps_of_groups(rows: &[HaloClump], n_groups: u64, ids: Numbering) -> Table {
    let none = Dimension::NONE;
    let counts = |of: fn(&HaloClump) -> u64| Values::U64(rows.iter().map(of).collect());
    let group = |row: &HaloClump| ids.id(if row.halo <= n_groups { row.halo } else { 0 });
    let parent = "clump that gets what it loses; itself for the clump of a group, and outside groups";
    let columns = vec![
        column(
            "id",
            none,
            "identifier: groups in their order, from 1, then clumps without one",
            counts(|c| c.id),
        ),
        column("halo", none, "clump of its group; itself outside groups", counts(|c| c.halo)),
        column(
            "group",
            none,
            "ID of the group in which it lies, or that of no group",
            Values::I64(rows.iter().map(group).collect()),
        ),
        column("parent", none, parent, counts(|c| c.parent)),
        column(
            IS_CENTRAL,
            none,
            "1 for the clump of its group with the greatest bound mass",
            Values::U8(vec![0; rows.len()]),
        ),
    ];
    Table { name: "clumps".into(), columns }
}
