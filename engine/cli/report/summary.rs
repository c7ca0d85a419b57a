//! The summary of a run, as text and JSON.

use super::StageTime;
use inselberg_io::catalogue::Attribute;
use serde_json::{Value, json};
use std::fmt::Write;

/// The counts of a run; `None` if the catalogue has no such attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CatalogueTotals {
    /// Leaf cells of the mesh.
    pub leaf_cells: Option<i64>,
    /// Cells above the density threshold.
    pub test_cells: Option<i64>,
    /// Local maxima among them.
    pub peaks: Option<i64>,
    /// Clumps listed.
    pub clumps: Option<i64>,
    /// Haloes listed.
    pub haloes: Option<i64>,
    /// Levels of the hierarchy of substructure.
    pub levels: Option<i64>,
}

impl CatalogueTotals {
    /// From the attributes `n_leaf_cells`, `n_test_cells`, `n_peaks`, `n_clumps`, `n_haloes` and
    /// `n_levels`.
    pub fn from_attributes(attributes: &[(String, Attribute)]) -> Self {
        let int = |name| match attributes.iter().find(|(n, _)| n == name) {
            Some((_, Attribute::Int(value))) => Some(*value),
            _ => None,
        };
        Self {
            leaf_cells: int("n_leaf_cells"),
            test_cells: int("n_test_cells"),
            peaks: int("n_peaks"),
            clumps: int("n_clumps"),
            haloes: int("n_haloes"),
            levels: int("n_levels"),
        }
    }

    /// Names and counts in the order of the summary.
    pub fn rows(&self) -> [Count; 6] {
        [
            ("leaf cells", self.leaf_cells),
            ("test cells", self.test_cells),
            ("peaks", self.peaks),
            ("clumps", self.clumps),
            ("haloes", self.haloes),
            ("levels", self.levels),
        ]
    }
}

/// A count by name; `None` if it is unknown.
pub type Count = (&'static str, Option<i64>);

/// The counts of a search for groups, from the attributes of its catalogue; with tracks also that of objects
/// that history alone knows.
pub fn group_counts(attributes: &[(String, Attribute)]) -> Vec<Count> {
    let rows = [
        ("particles", "n_particles"),
        ("linkable", "n_linkable"),
        ("attachable", "n_attachable"),
        ("groups", "n_groups"),
        ("in groups", "n_in_groups"),
        ("largest group", "largest_group"),
    ];
    let of_tracks = counts_of(attributes, &[("without a group", "unbind_clumps_without_peak")]);
    counts_of(attributes, &rows)
        .into_iter()
        .chain(of_tracks.into_iter().filter(|of| of.1.is_some()))
        .collect()
}

/// Counts by their names in summaries and as attributes.
pub fn counts_of(attributes: &[(String, Attribute)], rows: &[(&'static str, &str)]) -> Vec<Count> {
    let count = |(name, attribute): &(&'static str, &str)| {
        let value = attributes.iter().find(|(known, _)| known == attribute).map(|(_, value)| value);
        (*name, if let Some(Attribute::Int(n)) = value { Some(*n) } else { None })
    };
    rows.iter().map(count).collect()
}

/// The summary as text: counts, stages with seconds and cells per second, peak memory in bytes.
pub fn summary_text(totals: &CatalogueTotals, stages: &[StageTime], peak_memory: Option<u64>) -> String {
    table_text(&totals.rows(), "cells", stages, peak_memory)
}

/// The summary as JSON: `totals`, `stages` (`name`, `seconds`, `cells`, `cells_per_second`),
/// `seconds` and `peak_memory_bytes`; unknown values are null.
pub fn summary_json(totals: &CatalogueTotals, stages: &[StageTime], peak_memory: Option<u64>) -> Value {
    table_json(&totals.rows(), "cells", stages, peak_memory)
}

/// As [`summary_text`], for other counts and for stages that process other `things` than cells.
pub fn table_text(counts: &[Count], things: &str, stages: &[StageTime], peak_memory: Option<u64>) -> String {
    let mut text = String::new();
    for (name, count) in counts {
        if let Some(count) = count {
            let _ = writeln!(text, "{name:<18}{:>15}", grouped(*count));
        }
    }
    if !stages.is_empty() {
        let rate = format!("{things}/s");
        let has_memory = stages.iter().any(|stage| stage.peak_memory.is_some());
        let memory = if has_memory { format!("{:>12}", "peak MiB") } else { String::new() };
        let _ = writeln!(text, "\n{:<18}{:>10}{things:>15}{rate:>12}{memory}", "stage", "seconds");
        stages.iter().for_each(|stage| stage_line(&mut text, stage));
        let _ = writeln!(text, "{:<18}{:>10.4}", "all stages", total_seconds(stages));
    }
    if let Some(bytes) = peak_memory {
        let _ = writeln!(text, "\n{:<18}{:>15}", "peak memory", format!("{:.1} MiB", mebibytes(bytes)));
    }
    if !stages.is_empty() {
        let _ = writeln!(text, "{:<18}docs/glossary.md; stages: docs/scaling.md", "terms");
    }
    text
}

/// As [`summary_json`], for other counts and things.
pub fn table_json(counts: &[Count], things: &str, stages: &[StageTime], peak_memory: Option<u64>) -> Value {
    let counts = counts.iter().map(|(name, count)| (name.replace(' ', "_"), json!(count)));
    json!({
        "totals": counts.collect::<serde_json::Map<_, _>>(),
        "stages": stages.iter().map(|stage| stage_json(stage, things)).collect::<Vec<_>>(),
        "seconds": total_seconds(stages),
        "peak_memory_bytes": peak_memory,
    })
}

fn stage_line(text: &mut String, stage: &StageTime) {
    let cells = if stage.cells > 0 { grouped(stage.cells.cast_signed()) } else { String::new() };
    let rate = stage.cells_per_second().map_or(String::new(), rate_text);
    let memory = stage.peak_memory.map_or(String::new(), |bytes| format!("{:.1}", mebibytes(bytes)));
    let line = format!("{:<18}{:>10.4}{cells:>15}{rate:>12}{memory:>12}", stage.name, stage.seconds);
    let _ = writeln!(text, "{}", line.trim_end());
}

fn stage_json(stage: &StageTime, things: &str) -> Value {
    let mut json = json!({ "name": stage.name, "seconds": stage.seconds });
    json[things] = json!(stage.cells);
    json[format!("{things}_per_second")] = json!(stage.cells_per_second());
    json["peak_memory_bytes"] = json!(stage.peak_memory);
    json
}

/// Bytes in MiB.
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn total_seconds(stages: &[StageTime]) -> f64 {
    // An empty sum is -0.
    stages.iter().map(|s| s.seconds).sum::<f64>() + 0.0
}

/// `12.3 M`, `4.56 k`, ...
fn rate_text(rate: f64) -> String {
    let (scaled, unit) = match rate {
        r if r >= 1e9 => (r / 1e9, " G"),
        r if r >= 1e6 => (r / 1e6, " M"),
        r if r >= 1e3 => (r / 1e3, " k"),
        r => (r, "  "),
    };
    format!("{scaled:.2}{unit}")
}

/// `1 234 567`
pub(super) fn grouped(count: i64) -> String {
    let digits = count.unsigned_abs().to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    format!("{}{}", if count < 0 { "-" } else { "" }, groups.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (CatalogueTotals, Vec<StageTime>) {
        let attributes = [("n_leaf_cells", 1_234_567), ("n_peaks", 1004)];
        let attributes = attributes.map(|(n, v)| (n.to_string(), Attribute::Int(v)));
        let stages = vec![
            StageTime { name: "read", seconds: 0.5, cells: 1_000_000, peak_memory: None },
            StageTime { name: "forest", seconds: 0.25, cells: 0, peak_memory: None },
        ];
        (CatalogueTotals::from_attributes(&attributes), stages)
    }

    #[test]
    fn people_get_a_table() {
        let (totals, stages) = sample();
        let expected = "\
leaf cells              1 234 567
peaks                       1 004

stage                seconds          cells     cells/s
read                  0.5000      1 000 000      2.00 M
forest                0.2500
all stages            0.7500

peak memory               2.0 MiB
terms             docs/glossary.md; stages: docs/scaling.md
";
        assert_eq!(summary_text(&totals, &stages, Some(2 << 20)), expected);
        assert_eq!(summary_text(&CatalogueTotals::default(), &[], None), "");
    }

    #[test]
    fn machines_get_every_key() {
        let (totals, stages) = sample();
        let value = summary_json(&totals, &stages, None);
        assert_eq!(value["totals"]["leaf_cells"], 1_234_567);
        assert!(value["totals"]["haloes"].is_null());
        assert_eq!(value["stages"][0]["cells_per_second"], 2e6);
        assert!(value["peak_memory_bytes"].is_null());
    }
}
