//! One object of a catalogue, with its parts.

use super::fault::CommandError;
use crate::config::{ViewJob, ViewedKind};
use crate::report::{DisplayUnits, UnitChoice};
use inselberg_io::catalogue::{Catalogue, Table};
use std::collections::HashMap;

/// An object and its parts.
pub struct Viewed<'a> {
    /// The catalogue.
    #[cfg_attr(not(feature = "plot"), allow(dead_code))]
    pub whole: &'a Catalogue,
    /// Its kind.
    pub kind: ViewedKind,
    /// Its identifier.
    pub id: u64,
    /// The table that lists it.
    pub table: &'a Table,
    /// Its row there.
    pub row: usize,
    /// The clumps or structures in it, or the zones of a void: their table and rows, the most massive or
    /// largest first.
    pub parts: Option<(&'a Table, Vec<usize>)>,
    /// The units.
    pub units: DisplayUnits,
}

impl<'a> Viewed<'a> {
    /// The object that is asked for.
    ///
    /// # Errors
    /// The catalogue has no such table, or no object with this identifier.
    pub fn find(job: &ViewJob, whole: &'a Catalogue) -> Result<Self, CommandError> {
        let [name, column] = match job.kind {
            ViewedKind::Clump => ["clumps", "id"],
            ViewedKind::Halo => ["haloes", "id"],
            ViewedKind::Group => ["Groups", "GroupIDs"],
            ViewedKind::Void => ["voids", "id"],
            ViewedKind::Structure => ["structures", "id"],
            ViewedKind::Track | ViewedKind::Tracks => ["nodes", "track"],
        };
        let wrong = |problem: String| CommandError::about(&job.input, problem);
        let table = whole.table(name).ok_or_else(|| {
            let one = one(job.kind);
            wrong(format!("no table {name}; expected a catalogue with a {one} that --{one} can show"))
        })?;
        let ids = table
            .integers(column)
            .ok_or_else(|| wrong(format!("no column {column} of {name}; expected identifiers")))?;
        let row = ids.iter().position(|id| id.cast_unsigned() == job.id).ok_or_else(|| {
            let n = table.n_rows();
            wrong(format!("no {} {}; expected one of the {n} identifiers of {name}", one(job.kind), job.id))
        })?;
        let units = DisplayUnits::new(job.maps.units.unwrap_or(UnitChoice::Physical), &whole.attributes);
        let parts = parts_of(whole, job.kind, job.id);
        Ok(Self { whole, kind: job.kind, id: job.id, table, row, parts, units })
    }

    /// Its kind and identifier, and its halo.
    pub fn title(&self) -> String {
        let halo = || self.table.counts("halo").map(|haloes| format!(" of halo {}", haloes[self.row]));
        let of_halo = if self.kind == ViewedKind::Clump { halo() } else { None };
        format!("{} {}{}", one(self.kind), self.id, of_halo.unwrap_or_default())
    }
}

/// The word for an object of a kind.
pub fn one(kind: ViewedKind) -> &'static str {
    match kind {
        ViewedKind::Clump => "clump",
        ViewedKind::Halo => "halo",
        ViewedKind::Group => "group",
        ViewedKind::Void => "void",
        ViewedKind::Structure => "structure",
        ViewedKind::Track | ViewedKind::Tracks => "track",
    }
}

/// The zones of a void, the structures in one of a dendrogram, or the clumps of another object.
fn parts_of(whole: &Catalogue, kind: ViewedKind, id: u64) -> Option<(&Table, Vec<usize>)> {
    if kind == ViewedKind::Structure {
        return structures_in(whole, id);
    }
    if kind != ViewedKind::Void {
        return clumps_in(whole, kind, id);
    }
    let zones = whole.table("zones")?;
    let (voids, radii) = (zones.counts("void")?, zones.reals("radius")?);
    let mut rows: Vec<usize> = (0..voids.len()).filter(|row| voids[*row] == id).collect();
    rows.sort_by(|a, b| radii[*b].total_cmp(&radii[*a]).then(a.cmp(b)));
    Some((zones, rows))
}

/// A structure of a dendrogram with those in it, the most massive first.
fn structures_in(whole: &Catalogue, id: u64) -> Option<(&Table, Vec<usize>)> {
    let table = whole.table("structures")?;
    let (parents, masses) = (table.integers("parent")?, table.reals("mass")?);
    // Identifiers are rows.
    let mut inner: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    for (row, parent) in parents.iter().enumerate() {
        let of_parent = usize::try_from(*parent).ok().and_then(|parent| inner.get_mut(parent));
        of_parent.into_iter().for_each(|rows| rows.push(row));
    }
    let mut rows: Vec<usize> = usize::try_from(id).into_iter().filter(|row| *row < parents.len()).collect();
    let mut next = 0;
    while let Some(row) = rows.get(next).copied() {
        // Each list is taken once, so a damaged tree ends, too.
        rows.append(&mut inner[row]);
        next += 1;
    }
    rows.sort_by(|a, b| masses[*b].total_cmp(&masses[*a]).then(a.cmp(b)));
    Some((table, rows))
}

/// The clumps in a halo, or a clump with those that merge into it; the most massive first. `None` without
/// such columns.
fn clumps_in(whole: &Catalogue, kind: ViewedKind, id: u64) -> Option<(&Table, Vec<usize>)> {
    let table = whole.table("clumps")?;
    let [ids, parents, haloes] = ["id", "parent", "halo"].map(|name| table.counts(name));
    let (ids, parents, haloes, masses) =
        (ids?, parents?, haloes?, table.reals("mass").or_else(|| table.reals("bound_mass"))?);
    let row_of: HashMap<u64, usize> = ids.iter().enumerate().map(|(row, id)| (*id, row)).collect();
    // A main clump is its own parent. No chain is longer than the table.
    let is_below = |mut row: usize| {
        for _ in 0..ids.len() {
            if ids[row] == id {
                return true;
            }
            match row_of.get(&parents[row]) {
                Some(parent) if *parent != row => row = *parent,
                _ => return false,
            }
        }
        false
    };
    let is_in = |row: &usize| match kind {
        ViewedKind::Clump => is_below(*row),
        ViewedKind::Halo => haloes[*row] == id,
        _ => false,
    };
    let mut rows: Vec<usize> = (0..ids.len()).filter(is_in).collect();
    rows.sort_by(|a, b| masses[*b].total_cmp(&masses[*a]).then(ids[*a].cmp(&ids[*b])));
    Some((table, rows))
}
