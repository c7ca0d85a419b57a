//! `inselberg view`: one object of a catalogue, as text, as JSON and as a picture.

use super::aligned::aligned;
use super::fault::CommandError;
use super::grouped::grouped;
use super::{interrupt, out, preflight, view_track};
use crate::config::{Common, ViewJob, ViewedKind};
use crate::report::{DisplayUnits, NONE, UnitChoice, four_digits};
use inselberg_io::catalogue::{self, Catalogue, Table, Values};
use inselberg_io::staging::Staged;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write;

/// Clumps that the text lists.
const N_LISTED: usize = 40;

/// Shows one object of a catalogue.
pub fn view(job: &ViewJob, common: Common) -> Result<(), CommandError> {
    let whole = catalogue::read(&job.input)?;
    if let Some(plot) = &job.plot {
        preflight::not_an_origin(&job.input, &whole, ("picture", plot))?;
        preflight::picture(plot, common.force)?;
    }
    interrupt::guard()?;
    match job.kind {
        ViewedKind::Track => return view_track::view(job, &whole, common),
        ViewedKind::Tracks => return view_track::list(job, &whole, common),
        ViewedKind::Clump | ViewedKind::Halo | ViewedKind::Group | ViewedKind::Void => {}
    }
    let object = Viewed::find(job, &whole)?;
    let staged = match &job.plot {
        #[cfg(feature = "plot")]
        Some(path) => super::view_picture::stage(path, job, &object)?,
        _ => Staged::default(),
    };
    out::finish(common, staged, || object.text(), || object.json())
}

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
    /// The clumps in it, or the zones of a void: their table and rows, the most massive or largest first.
    pub parts: Option<(&'a Table, Vec<usize>)>,
    /// The units.
    pub units: DisplayUnits,
}

impl<'a> Viewed<'a> {
    fn find(job: &ViewJob, whole: &'a Catalogue) -> Result<Self, CommandError> {
        let [name, column] = match job.kind {
            ViewedKind::Clump => ["clumps", "id"],
            ViewedKind::Halo => ["haloes", "id"],
            ViewedKind::Group => ["Groups", "GroupIDs"],
            ViewedKind::Void => ["voids", "id"],
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

    /// The columns of the object, then the clumps in it.
    fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.title());
        let width = self.table.columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
        for column in &self.table.columns {
            let unit = self.units.unit_of(column);
            let value = text_of(&column.values, self.row, unit.factor);
            // What there is not has no unit.
            let unit = if value == NONE { "" } else { &unit.name };
            let _ = writeln!(text, "{}", format!("{:width$}  {value} {unit}", column.name).trim_end());
        }
        if let Some((table, rows)) = self.parts.as_ref().filter(|(_, rows)| rows.len() > 1) {
            let n = grouped(rows.len() as u64);
            let most = if self.kind == ViewedKind::Void { "largest" } else { "most massive" };
            let shown =
                if rows.len() > N_LISTED { format!(", the {N_LISTED} {most}") } else { String::new() };
            let _ = writeln!(text, "\nits {} ({n}{shown})", table.name);
            text += &self.list(table, &rows[..rows.len().min(N_LISTED)]);
        }
        text
    }

    /// Some columns of its parts.
    fn list(&self, table: &Table, rows: &[usize]) -> String {
        const COLUMNS: [&str; 9] = [
            "id",
            "parent",
            "level",
            "n_cells",
            "n_particles",
            "radius",
            "mass",
            "relevance",
            "saddle_density",
        ];
        let columns: Vec<_> = COLUMNS.iter().filter_map(|name| table.column(name)).collect();
        let mut lines = vec![columns.iter().map(|c| self.heading(c)).collect::<Vec<_>>()];
        lines.extend(rows.iter().map(|row| {
            let cell = |column: &&catalogue::TableColumn| {
                text_of(&column.values, *row, self.units.unit_of(column).factor)
            };
            columns.iter().map(cell).collect()
        }));
        aligned(&lines)
    }

    fn heading(&self, column: &catalogue::TableColumn) -> String {
        match self.units.unit_of(column).name {
            unit if unit.is_empty() => column.name.clone(),
            unit => format!("{} [{unit}]", column.name),
        }
    }

    /// The same for machines: all columns, and the identifiers of the clumps in it.
    fn json(&self) -> Value {
        let mut columns = Map::new();
        for column in &self.table.columns {
            let unit = self.units.unit_of(column);
            let value = json_of(&column.values, self.row, unit.factor);
            columns.insert(column.name.clone(), json!({ "value": value, "unit": unit.plain_name() }));
        }
        let ids = self.parts.as_ref().and_then(|(table, rows)| {
            let ids = table.counts("id")?;
            Some(rows.iter().map(|row| ids[*row]).collect::<Vec<_>>())
        });
        let parts = if self.kind == ViewedKind::Void { "zones" } else { "clumps" };
        json!({ "kind": one(self.kind), "id": self.id, "columns": columns, parts: ids })
    }
}

/// The word for an object of a kind.
pub fn one(kind: ViewedKind) -> &'static str {
    match kind {
        ViewedKind::Clump => "clump",
        ViewedKind::Halo => "halo",
        ViewedKind::Group => "group",
        ViewedKind::Void => "void",
        ViewedKind::Track | ViewedKind::Tracks => "track",
    }
}

/// The zones of a void, or the clumps of another object.
fn parts_of(whole: &Catalogue, kind: ViewedKind, id: u64) -> Option<(&Table, Vec<usize>)> {
    if kind != ViewedKind::Void {
        return clumps_in(whole, kind, id);
    }
    let zones = whole.table("zones")?;
    let (voids, radii) = (zones.counts("void")?, zones.reals("radius")?);
    let mut rows: Vec<usize> = (0..voids.len()).filter(|row| voids[*row] == id).collect();
    rows.sort_by(|a, b| radii[*b].total_cmp(&radii[*a]).then(a.cmp(b)));
    Some((zones, rows))
}

/// The clumps in a halo, or a clump with those that merge into it; the most massive first. `None` without
/// such columns.
fn clumps_in(whole: &Catalogue, kind: ViewedKind, id: u64) -> Option<(&Table, Vec<usize>)> {
    let table = whole.table("clumps")?;
    let [ids, parents, haloes] = ["id", "parent", "halo"].map(|name| table.counts(name));
    let (ids, parents, haloes, masses) = (ids?, parents?, haloes?, table.reals("mass")?);
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
        ViewedKind::Group | ViewedKind::Void | ViewedKind::Track | ViewedKind::Tracks => false,
    };
    let mut rows: Vec<usize> = (0..ids.len()).filter(is_in).collect();
    rows.sort_by(|a, b| masses[*b].total_cmp(&masses[*a]).then(ids[*a].cmp(&ids[*b])));
    Some((table, rows))
}

fn text_of(values: &Values, row: usize, factor: f64) -> String {
    let triple = |values: [String; 3]| match values.iter().all(|value| value == NONE) {
        true => NONE.to_string(),
        false => values.join(" "),
    };
    match values {
        Values::U8(v) => v[row].to_string(),
        Values::U64(v) => v[row].to_string(),
        Values::I64(v) => v[row].to_string(),
        Values::F64(v) => four_digits(v[row] * factor),
        Values::F32(v) => four_digits(f64::from(v[row]) * factor),
        Values::F64x3(v) => triple(v[row].map(|x| four_digits(x * factor))),
        Values::U32x3(v) => triple(v[row].map(|x| x.to_string())),
    }
}

fn json_of(values: &Values, row: usize, factor: f64) -> Value {
    match values {
        Values::U8(v) => v[row].into(),
        Values::U64(v) => v[row].into(),
        Values::I64(v) => v[row].into(),
        Values::F64(v) => (v[row] * factor).into(),
        Values::F32(v) => (f64::from(v[row]) * factor).into(),
        Values::F64x3(v) => v[row].map(|x| x * factor).to_vec().into(),
        Values::U32x3(v) => v[row].to_vec().into(),
    }
}
