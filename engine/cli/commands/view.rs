//! `inselberg view`: one object of a catalogue, as text, as JSON and as a picture.

use super::aligned::aligned;
use super::fault::CommandError;
use super::grouped::grouped;
use super::viewed::{Viewed, one};
use super::{interrupt, out, preflight, view_track};
use crate::config::{Common, ViewJob, ViewedKind};
use crate::report::{NONE, four_digits};
use inselberg_io::catalogue::{self, Table, Values};
use inselberg_io::staging::Staged;
use serde_json::{Map, Value, json};
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
        _ => {}
    }
    let object = Viewed::find(job, &whole)?;
    let staged = match &job.plot {
        #[cfg(feature = "plot")]
        Some(path) => super::view_picture::stage(path, job, &object)?,
        _ => Staged::default(),
    };
    out::finish(common, staged, || object.text(), || object.json())
}

impl Viewed<'_> {
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
        let parts = match self.kind {
            ViewedKind::Void => "zones",
            ViewedKind::Structure => "structures",
            _ => "clumps",
        };
        json!({ "kind": one(self.kind), "id": self.id, "columns": columns, parts: ids })
    }
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
