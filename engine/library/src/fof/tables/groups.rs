//! The table of groups, with the columns of SWIFT first, and the tables of the group of each particle.

use crate::fof::params::FofParams;
use crate::fof::run_error::FofRunError;
use crate::fof::types::{GroupIds, Groups};
use crate::particles::RowRange;
use crate::tables::{column, in_order};
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Dimension, PartTable, RowRun, Table, TableColumn, Values};
use inselberg_io::particles::ParticleHeader;
use rayon::prelude::*;

/// The numbers of groups in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbering {
    /// The number for particles without a group.
    pub default: u64,
    /// The ID of the first group.
    pub offset: u64,
}

impl Numbering {
    /// Checks that the number for no group is not that of one of `n` groups.
    ///
    /// # Errors
    /// When it is.
    pub fn check(self, n: u64) -> Result<(), FofRunError> {
        let last = self.offset.saturating_add(n).saturating_sub(1);
        if n > 0 && (self.offset..=last).contains(&self.default) {
            return Err(FofRunError::IdsClash { default: self.default, first: self.offset, last });
        }
        Ok(())
    }

    /// As the parameters say.
    pub fn of_params(params: &FofParams) -> Self {
        Self { default: params.id_of_none, offset: params.first_id }
    }

    /// The number in files of group `number`, which counts from 1; 0 is no group.
    pub fn id(self, number: u64) -> i64 {
        if number == 0 { self.default as i64 } else { self.offset.wrapping_add(number - 1) as i64 }
    }
}

/// Collective: the table of the groups of all ranks. Unknown columns are omitted.
///
/// # Errors
/// When another rank fails.
pub fn groups_table(groups: &Groups, ids: Numbering, comm: &Comm) -> Result<PartTable, CommError> {
    let numbers = groups.first_id..groups.first_id + groups.size.len() as u64;
    let none = Dimension::NONE;
    let mut columns = vec![
        column("Centres", Dimension::LENGTH, "centre of mass", Values::F64x3(groups.centre.clone())),
        column("GroupIDs", none, "ID of the group", Values::I64(numbers.map(|n| ids.id(n)).collect())),
        column("Masses", Dimension::MASS, "mass of all members", Values::F64(groups.mass.clone())),
        column(
            "Radii",
            Dimension::LENGTH,
            "distance of the farthest member to the centre of mass",
            Values::F32(groups.radius.iter().map(|r| *r as f32).collect()),
        ),
        column(
            "Sizes",
            none,
            "number of members",
            Values::I64(groups.size.iter().map(|n| *n as i64).collect()),
        ),
    ];
    columns.extend(further(groups));
    in_order(Table { name: "Groups".into(), columns }, comm)
}

/// The columns that catalogues of SWIFT do not have; unknown ones are omitted.
fn further(groups: &Groups) -> Vec<TableColumn> {
    let (none, length) = (Dimension::NONE, Dimension::LENGTH);
    let flags = |values: &Vec<bool>| Values::U8(values.iter().map(|v| u8::from(*v)).collect());
    let mut columns = vec![
        column(
            "LinkedSizes",
            none,
            "number of linkable members",
            Values::I64(groups.n_linked.iter().map(|n| n.cast_signed()).collect()),
        ),
        column(
            "LowestIDs",
            none,
            "lowest particle ID of a linkable member",
            Values::U64(groups.lowest_id.clone()),
        ),
        column(
            "Extents",
            length,
            "sides of the smallest box around all members, along the axes",
            Values::F64x3(groups.extent.clone()),
        ),
    ];
    let mut add = |name, dimension, description, values: Option<Values>| {
        columns.extend(values.map(|values| column(name, dimension, description, values)));
    };
    let velocity = Dimension::VELOCITY;
    add("Velocities", velocity, "velocity of the centre of mass", groups.velocity.clone().map(Values::F64x3));
    add(
        "VelocityDispersions",
        velocity,
        "mass-weighted velocity dispersion of one dimension about that",
        groups.dispersion.clone().map(Values::F64),
    );
    add(
        "DensestGasIDs",
        none,
        "ID of the densest gas particle; 0 where there is no gas",
        groups.densest_gas_id.clone().map(Values::U64),
    );
    add(
        "DensestGasDensities",
        Dimension::DENSITY,
        "density of the densest gas particle; NaN where there is no gas",
        groups.densest_gas_density.clone().map(Values::F32),
    );
    add(
        "DensestGasPositions",
        length,
        "position of the densest gas particle; NaN where there is no gas",
        groups.densest_gas_position.clone().map(Values::F64x3),
    );
    add("HasBlackHole", none, "whether a member is a black hole", groups.has_black_hole.as_ref().map(flags));
    add(
        "IsSeeded",
        none,
        "whether a black hole is to be seeded at the densest gas particle",
        groups.is_seeded.as_ref().map(flags),
    );
    columns
}

/// The group of each particle of this rank: one table per species, in the order of the input.
pub fn group_ids_tables(
    about: &ParticleHeader,
    ranges: &[RowRange],
    group_of: &GroupIds,
    ids: Numbering,
) -> Vec<PartTable> {
    let mut first = 0;
    let mut tables = Vec::new();
    for range in ranges {
        let n = range.n() as usize;
        let values = (first..first + n).into_par_iter().map(|i| ids.id(group_of.get(i))).collect();
        let species = &about.species[range.species];
        let columns =
            vec![column("GroupIDs", Dimension::NONE, "ID of the group of the particle", Values::I64(values))];
        let runs = vec![RowRun { first: range.rows.start, n }];
        tables.push(PartTable {
            table: Table { name: species.name.clone(), columns },
            runs,
            n_rows: species.n,
        });
        first += n;
    }
    tables
}
