//! `inselberg compare`.

use super::aligned::aligned;
use super::catalogue_run::{CatalogueRun, ResultFolder};
use super::compare_json::add_comparison;
use super::driver::RunCosts;
use super::fault::CommandError;
use super::grouped::grouped;
use super::{log, out};
use crate::config::{Common, CompareJob};
use crate::report::{four_digits, table_json, table_text};
use inselberg::compare::{CatalogueComparison, Disagreement, LevelComparison, SizeCount};
use inselberg_comm::Comm;
use inselberg_io::catalogue::Staged;
use serde_json::Value;

/// Disagreements that the text lists.
const N_IN_TEXT: usize = 8;
/// Disagreements, splits and mergers that the JSON and the page list.
const N_ON_PAGE: usize = 40;

/// The file of pairs in the folder of results.
const MATCHES: &str = "matches.csv";

/// Compares two catalogues on all ranks, and writes the page.
pub fn compare(job: &CompareJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let folder = job.output.as_deref().map(|path| ResultFolder { path, tables: MATCHES });
    let run = CatalogueRun { launch: &job.launch, common, log: job.log.as_deref() };
    let [a, b] = &job.inputs;
    run.run(
        world,
        |is_first| match folder.as_ref().filter(|_| is_first) {
            Some(folder) => folder.check(&[a, b], job.log.as_deref(), common.force),
            None => Ok(()),
        },
        |(), rank| {
            let compared = rank.engine.compare(a, b, &job.params);
            compared.map_err(|error| CommandError::of_call(a, &error))
        },
        |(), compared, costs| {
            let summary = CompareSummary { compared: &compared, costs: &costs };
            let staged = folder.as_ref().map(|folder| summary.stage(folder)).transpose()?;
            log::text(&summary.text());
            out::finish(common, staged.unwrap_or_default(), || summary.text(), || summary.json())
        },
    )
}

/// The summary of a comparison.
struct CompareSummary<'a> {
    compared: &'a CatalogueComparison,
    costs: &'a RunCosts,
}

impl CompareSummary<'_> {
    /// The files in the folder of results.
    fn stage(&self, folder: &ResultFolder<'_>) -> Result<Staged, CommandError> {
        folder.stage(
            &self.compared.matches(),
            #[cfg(feature = "plot")]
            || self.page(),
        )
    }

    #[cfg(feature = "plot")]
    fn page(&self) -> Result<String, String> {
        let compared = self.compared;
        let name = |path: &str| {
            std::path::Path::new(path).file_name().map_or(path.into(), |n| n.to_string_lossy().into_owned())
        };
        let mut facts = Vec::new();
        for (label, side) in [("First", &compared.a), ("Second", &compared.b)] {
            facts.push((label, format!("{} ({}): {}", side.name, side.finder, counts_of(&side.counts))));
        }
        facts.extend(super::pictures::about_program());
        let data = crate::report::page::ComparisonReport {
            title: format!("{} beside {}", name(&compared.a.name), name(&compared.b.name)),
            facts,
            compared,
            difference: compared.difference.as_ref().map(ToString::to_string),
            n_listed: N_ON_PAGE,
        };
        crate::report::page::comparison_page(&data)
    }

    fn text(&self) -> String {
        let compared = self.compared;
        let mut text = String::new();
        for (label, side) in [("first", &compared.a), ("second", &compared.b)] {
            text += &format!("{label:<8} {} ({}): {}\n", side.name, side.finder, counts_of(&side.counts));
        }
        if let Some(difference) = &compared.difference {
            text += &format!("first difference: {difference}\n");
        }
        for note in &compared.notes {
            text += &format!("note: {note}\n");
        }
        for level in &compared.levels {
            text += &self.level_text(level);
        }
        if let Some((n, differ)) = compared.centrals() {
            text += &format!("\ncentral objects that are not partners: {} of {}\n", differ.len(), grouped(n));
        }
        text + "\n"
            + &table_text(&[], "members", &self.costs.stages, self.costs.peak_memory)
            + &self.costs.tables_text()
    }

    fn level_text(&self, level: &LevelComparison) -> String {
        let params = &self.compared.params;
        let how = if level.by_members { "by members in common" } else { "by place and mass" };
        let n_mutual = level.mutual(params).count();
        let mut text = format!("\n{}, matched {how}: {} pairs\n", level.title(), grouped(n_mutual as u64));
        text += &size_table(level.size_word(), &level.purity(params), &level.completeness(params));
        text += "\n";
        text += &ratio_table(level, self.compared);
        for (what, list, word) in [
            ("of the second in pieces", level.splits(params), level.b.word),
            ("of the first in pieces", level.mergers(params), level.a.word),
        ] {
            if level.by_members {
                text += &format!("{word} {what}: {}\n", grouped(list.len() as u64));
            }
        }
        let listed = level.disagreements(N_IN_TEXT, params);
        if !listed.is_empty() {
            text += "\nlargest disagreements\n";
            text += &disagreement_table(level, &listed);
        }
        text
    }

    fn json(&self) -> Value {
        let mut summary = table_json(&[], "members", &self.costs.stages, self.costs.peak_memory);
        add_comparison(&mut summary, self.compared, N_ON_PAGE);
        self.costs.add_tables(&mut summary);
        summary
    }
}

/// Numbers of objects in words.
fn counts_of(counts: &[(&'static str, u64)]) -> String {
    let words: Vec<String> = counts.iter().map(|(word, n)| format!("{} {word}", grouped(*n))).collect();
    if words.is_empty() { "no objects".into() } else { words.join(", ") }
}

/// `found / all`, with the part.
fn part_of(n_found: u64, n: u64) -> String {
    match n {
        0 => "-".into(),
        _ => format!("{n_found}/{n} {:.0}%", 100.0 * n_found as f64 / n as f64),
    }
}

/// Completeness and purity by size.
fn size_table(size_word: &str, of_a: &[SizeCount], of_b: &[SizeCount]) -> String {
    let has_satellites = |counts: &[SizeCount]| counts.iter().any(|count| count.n_satellites.is_some());
    let satellites = |count: &SizeCount| match (count.n_satellites_found, count.n_satellites) {
        (Some(found), Some(n)) => part_of(found, n),
        _ => "-".into(),
    };
    let (in_a, in_b) = (has_satellites(of_a), has_satellites(of_b));
    let mut head = vec![size_word.to_string(), "second found".into()];
    head.extend(in_b.then(|| "its satellites".to_string()));
    head.push("first found".into());
    head.extend(in_a.then(|| "its satellites".to_string()));
    let mut lines = vec![head];
    for (a, b) in of_a.iter().zip(of_b) {
        let mut line = vec![b.to_string(), part_of(b.n_found, b.n)];
        line.extend(in_b.then(|| satellites(b)));
        line.push(part_of(a.n_found, a.n));
        line.extend(in_a.then(|| satellites(a)));
        lines.push(line);
    }
    aligned(&lines)
}

/// Ratios and offsets of pairs.
fn ratio_table(level: &LevelComparison, compared: &CatalogueComparison) -> String {
    let head = ["first / second", level.size_word(), "pairs", "p5", "p50", "p95", "min", "max", "off by 10%"];
    let mut lines = vec![head.map(String::from).to_vec()];
    for of in level.ratios(&compared.params) {
        let mut line = vec![of.quantity.to_string(), format!("{}+", of.from), of.n.to_string()];
        line.extend(of.percentiles.iter().chain(&of.range).map(|x| format!("{x:.3}")));
        line.push(format!("{:.1}%", 100.0 * of.off));
        lines.push(line);
    }
    let mut text = aligned(&lines);
    let offsets = level.offsets(&compared.params);
    if let Some(first) = offsets.first() {
        let head =
            [&format!("offset / {}", first.radius), level.size_word(), "pairs", "p50", "p95", "beyond 0.05"];
        let mut lines = vec![head.map(String::from).to_vec()];
        for of in &offsets {
            let mut line = vec![String::new(), format!("{}+", of.from), of.n.to_string()];
            line.extend(of.percentiles.iter().map(|x| format!("{x:.4}")));
            line.push(format!("{:.1}%", 100.0 * of.far));
            lines.push(line);
        }
        text += "\n";
        text += &aligned(&lines);
    }
    text
}

/// Both sides of disagreements.
fn disagreement_table(level: &LevelComparison, listed: &[Disagreement]) -> String {
    let apart = if level.by_members { "not in common" } else { "mass apart" };
    let head = ["first", "members", "mass", "second", "members", "mass", apart];
    let mut lines = vec![head.map(String::from).to_vec()];
    for Disagreement { a, b, apart, .. } in listed {
        let mut line = Vec::new();
        for (of, row) in [(&level.a, a), (&level.b, b)] {
            line.extend(match row.map(|row| row as usize) {
                Some(row) => {
                    [of.id[row].to_string(), of.n_members[row].to_string(), four_digits(of.mass[row])]
                }
                None => ["-", "-", "-"].map(String::from),
            });
        }
        line.push(if level.by_members { format!("{apart:.0}") } else { four_digits(*apart) });
        lines.push(line);
    }
    aligned(&lines)
}
