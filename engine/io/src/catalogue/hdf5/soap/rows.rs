//! The rows of clumps or groups in the file, and their top-level cells.

use super::columns::SoapColumn;
use super::datasets::SPHERES;
use crate::catalogue::hdf5::swift::SwiftAttributes;
use crate::catalogue::{Catalogue, Table};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Mean number of rows per top-level cell.
const PER_CELL: usize = 64;
/// Most top-level cells along an axis.
const MOST_CELLS: usize = 32;

/// The rows of the file.
pub struct Subhaloes<'a> {
    /// The table of clumps or groups.
    pub table: &'a Table,
    /// The row of each in that table.
    pub rows: Vec<Option<usize>>,
    /// The table with spheres, if there are any.
    pub spheres: Option<&'a Table>,
    /// The row of each in the table of spheres; `None` for satellites.
    pub sphere_rows: Vec<Option<usize>>,
    /// Identifiers.
    pub id: Vec<i64>,
    /// Comoving centres.
    pub centre: Vec<[f64; 3]>,
    /// Whether it is the central clump of its halo, or a group.
    pub is_central: Vec<bool>,
    /// Numbers of bound particles; without unbinding, those of the group.
    pub n_bound: Vec<i64>,
    /// The row in the file of the central of its halo; -1 if that is not listed.
    pub host: Vec<i64>,
    /// The place in its halo by falling bound mass, from 0.
    pub rank: Vec<i32>,
    /// The top-level cells.
    pub cells: TopCells,
}

/// Top-level cells. The last axis is the fastest.
pub struct TopCells {
    low: [f64; 3],
    /// Sides of a cell.
    pub size: [f64; 3],
    /// Cells along each axis.
    pub n: usize,
    /// Number of rows in each cell.
    pub counts: Vec<i64>,
}

/// A clump or group before it has a place in the file.
struct SoapRow {
    row: usize,
    sphere_row: Option<usize>,
    id: i64,
    halo: i64,
    is_central: bool,
    centre: [f64; 3],
    n_bound: i64,
    mass: f64,
    cell: usize,
}

impl<'a> Subhaloes<'a> {
    /// The rows of a catalogue; `None` if it has no properties of SOAP.
    pub fn new(catalogue: &'a Catalogue) -> Option<Self> {
        let (table, spheres) = match catalogue.table("clumps") {
            Some(clumps) => (clumps, catalogue.table("haloes").or_else(|| catalogue.table("Groups"))?),
            None => (catalogue.table("Groups")?, catalogue.table("Groups")?),
        };
        let spheres = Some(spheres).filter(|table| table.column(SPHERES[0].1[0].from[0]).is_some());
        let has_bound = table.column("bound_mass").is_some();
        if !has_bound && spheres.is_none() {
            return None;
        }
        let mut rows = listed(table, spheres)?;
        let cells = TopCells::new(&mut rows, &SwiftAttributes(&catalogue.attributes));
        let host = hosts(&rows);
        Some(Self {
            table,
            rows: rows.iter().map(|row| Some(row.row)).collect(),
            spheres,
            sphere_rows: rows.iter().map(|row| row.sphere_row).collect(),
            id: rows.iter().map(|row| row.id).collect(),
            centre: rows.iter().map(|row| row.centre).collect(),
            is_central: rows.iter().map(|row| row.is_central).collect(),
            n_bound: rows.iter().map(|row| row.n_bound).collect(),
            rank: ranks(&rows),
            host,
            cells,
        })
    }

    /// The datasets of a group that the table of clumps or groups has.
    pub fn of_table(&self, columns: &[SoapColumn], a: f64) -> Vec<super::columns::SoapDataset> {
        columns.iter().filter_map(|column| column.dataset(self.table, &self.rows, a)).collect()
    }

    /// The datasets of spheres.
    pub fn of_spheres(&self, columns: &[SoapColumn], a: f64) -> Vec<super::columns::SoapDataset> {
        let Some(table) = self.spheres else { return Vec::new() };
        columns.iter().filter_map(|column| column.dataset(table, &self.sphere_rows, a)).collect()
    }
}

/// The rows of the table that the file lists: those with bound particles, or all without unbinding.
fn listed(table: &Table, spheres: Option<&Table>) -> Option<Vec<SoapRow>> {
    let ids = table.integers("id").or_else(|| table.integers("GroupIDs"))?;
    let haloes = table.integers("halo").unwrap_or_else(|| ids.clone());
    let has_bound = table.column("n_bound").is_some();
    let n_bound = table.integers(if has_bound { "n_bound" } else { "Sizes" })?;
    let mass = table.reals(if has_bound { "bound_mass" } else { "Masses" })?;
    let centres = table.vectors(if has_bound { "most_bound_position" } else { "Centres" })?;
    let is_own = spheres.is_some_and(|spheres| std::ptr::eq(spheres, table));
    let rows_of_spheres: HashMap<i64, usize> = match spheres.filter(|_| !is_own) {
        Some(spheres) => {
            let ids = spheres.integers("id").or_else(|| spheres.integers("GroupIDs"))?;
            ids.into_iter().zip(0..).collect()
        }
        None => HashMap::new(),
    };
    let of_groups = spheres.filter(|spheres| spheres.name == "Groups").and_then(|_| table.integers("group"));
    let of_spheres = of_groups.unwrap_or_else(|| haloes.clone());
    let central = table.flags("is_central");
    let is_central = |row: usize| central.as_ref().map_or(ids[row] == haloes[row], |flags| flags[row]);
    // Spheres are those of haloes, at their centrals.
    let of_halo = |row: usize| rows_of_spheres.get(&of_spheres[row]).copied().filter(|_| is_central(row));
    let row = |row: usize| SoapRow {
        row,
        sphere_row: if is_own { Some(row) } else { of_halo(row) },
        is_central: is_central(row),
        id: ids[row],
        halo: haloes[row],
        centre: centres[row],
        n_bound: n_bound[row],
        mass: mass[row],
        cell: 0,
    };
    Some((0..ids.len()).filter(|i| n_bound[*i] > 0).map(row).collect())
}

/// The row of the central of the halo of each, from 0: a central has its own, as in SOAP since March 2025. -1
/// where it is not listed.
fn hosts(rows: &[SoapRow]) -> Vec<i64> {
    let centrals: HashMap<i64, i64> =
        rows.iter().zip(0..).filter(|(row, _)| row.is_central).map(|(row, i)| (row.halo, i)).collect();
    rows.iter().map(|row| centrals.get(&row.halo).copied().unwrap_or(-1)).collect()
}

/// The place of each by falling bound mass in its halo, then by identifier.
fn ranks(rows: &[SoapRow]) -> Vec<i32> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    // Masses are 0 or more, so their bits rise as they do.
    order.sort_by_key(|i| (rows[*i].halo, Reverse(rows[*i].mass.to_bits()), rows[*i].id));
    let mut ranks = vec![0; rows.len()];
    for halo in order.chunk_by(|i, j| rows[*i].halo == rows[*j].halo) {
        halo.iter().zip(0..).for_each(|(i, rank)| ranks[*i] = rank);
    }
    ranks
}

impl TopCells {
    /// Sorts the rows by cell.
    fn new(rows: &mut [SoapRow], values: &SwiftAttributes) -> Self {
        let sides = values.sides().filter(|sides| values.is_periodic() && sides.iter().all(|s| *s > 0.0));
        let n = match sides {
            Some(_) => ((rows.len() / PER_CELL) as f64).cbrt().ceil().clamp(1.0, MOST_CELLS as f64) as usize,
            None => 1,
        };
        let (low, sides) = sides.map_or_else(|| spread(rows), |sides| ([0.0; 3], sides));
        let size = sides.map(|side| side / n as f64);
        let along = |a: usize, x: f64| (((x - low[a]) / size[a]) as usize).min(n - 1);
        let mut counts = vec![0; n * n * n];
        for row in rows.iter_mut() {
            let [x, y, z]: [usize; 3] = std::array::from_fn(|a| along(a, row.centre[a]));
            row.cell = (x * n + y) * n + z;
            counts[row.cell] += 1;
        }
        rows.sort_by_key(|row| (row.cell, row.row));
        Self { low, size, n, counts }
    }

    /// The centre of each cell.
    pub fn centres(&self) -> Vec<[f64; 3]> {
        let n = self.n;
        let centre = |cell: usize| {
            let place = [cell / (n * n), cell / n % n, cell % n];
            std::array::from_fn(|a| self.low[a] + (place[a] as f64 + 0.5) * self.size[a])
        };
        (0..n * n * n).map(centre).collect()
    }

    /// The first row of each cell.
    pub fn offsets(&self) -> Vec<i64> {
        let mut next = 0;
        self.counts.iter().map(|n| (next, next += n).0).collect()
    }
}

/// Corner and sides of a box around the centres, 1 where it has no extent.
fn spread(rows: &[SoapRow]) -> ([f64; 3], [f64; 3]) {
    let of = |a: usize, each: fn(f64, f64) -> f64, none: f64| {
        rows.iter().map(|row| row.centre[a]).fold(none, each)
    };
    let low: [f64; 3] = std::array::from_fn(|a| of(a, f64::min, f64::INFINITY));
    let high: [f64; 3] = std::array::from_fn(|a| of(a, f64::max, f64::NEG_INFINITY));
    let low = low.map(|x| if x.is_finite() { x } else { 0.0 });
    let side = |a: usize| if high[a] > low[a] { high[a] - low[a] } else { 1.0 };
    (low, std::array::from_fn(side))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Dimension, TableColumn, Values};

    fn table(name: &str, columns: Vec<(&str, Values)>) -> Table {
        let column = |(name, values): (&str, Values)| TableColumn {
            name: name.into(),
            dimension: Dimension::NONE,
            description: String::new(),
            values,
        };
        Table { name: name.into(), columns: columns.into_iter().map(column).collect() }
    }

    /// A halo of three clumps, the second of which is its central if there are flags, and one whose main
    /// clump binds nothing.
    fn catalogue(flags: Option<Values>) -> Catalogue {
        let mut clumps = vec![
            ("id", Values::U64(vec![1, 2, 3, 4, 5])),
            ("halo", Values::U64(vec![1, 1, 1, 4, 4])),
            ("n_bound", Values::U64(vec![30, 90, 20, 0, 40])),
            ("bound_mass", Values::F64(vec![3.0, 9.0, 2.0, 0.0, 4.0])),
            ("most_bound_position", Values::F64x3(vec![[0.5; 3]; 5])),
        ];
        clumps.extend(flags.map(|flags| ("is_central", flags)));
        let haloes = vec![("id", Values::U64(vec![1, 4])), ("mass_200_crit", Values::F64(vec![20.0, 5.0]))];
        Catalogue { attributes: Vec::new(), tables: vec![table("clumps", clumps), table("haloes", haloes)] }
    }

    #[test]
    fn centrals_are_those_of_the_table_or_else_main_clumps() {
        let plain = catalogue(None);
        let rows = Subhaloes::new(&plain).expect("rows");
        assert_eq!(rows.id, [1, 2, 3, 5]);
        assert_eq!(rows.is_central, [true, false, false, false]);
        assert_eq!(rows.host, [0, 0, 0, -1], "the main clump of the second halo is not listed");
        assert_eq!(rows.sphere_rows, [Some(0), None, None, None]);
        for flags in [Values::U8(vec![0, 1, 0, 0, 1]), Values::U64(vec![0, 1, 0, 0, 1])] {
            let flagged = catalogue(Some(flags));
            let rows = Subhaloes::new(&flagged).expect("rows");
            assert_eq!(rows.is_central, [false, true, false, true]);
            assert_eq!(rows.host, [1, 1, 1, 3]);
            assert_eq!(rows.sphere_rows, [None, Some(0), None, Some(1)]);
            assert_eq!(rows.rank, [1, 0, 2, 0]);
        }
    }
}
