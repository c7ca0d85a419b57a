//! One self-contained HTML page with the whole study.

use super::limits::limits;
use super::study::Study;
use super::tables::tables;
use super::{Plot, StudyTable};
use crate::report::html::escaped;
use inselberg_io::staging::mark::MARK;
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --text: #1b1f24; --back: #ffffff; --line: #c9ced6; --soft: #f2f4f7; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ee; --back: #14171c; --line: #3b424d; --soft: #1f242c; }
}
body { font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 100rem; margin: 0 auto; padding: 1rem; }
h1, h2 { line-height: 1.2; }
p, dl, pre { max-width: 60rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 1rem; }
figure { margin: 0; }
figure svg { width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line); border-radius: 4px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.875rem; }
caption { text-align: left; font-weight: bold; padding: 0.25rem 0; }
th, td { border: 1px solid var(--line); padding: 0.2rem 0.5rem; text-align: right; }
td { white-space: nowrap; }
thead th { background: var(--soft); vertical-align: bottom; }
.limits { border-left: 4px solid #0072b2; padding: 0.25rem 1rem; background: var(--soft); }
dt { font-weight: bold; }
pre { background: var(--soft); padding: 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
figcaption { font-size: 0.875rem; }
";

/// The page of a study with its plots.
pub fn page(study: &Study, plots: &[Plot]) -> String {
    let title = study.title();
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"{MARK}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n"
    );
    text += &limited(study);
    text += &provenance(study);
    for note in &study.notes {
        let _ = writeln!(text, "<p>{}</p>", escaped(note));
    }
    if !plots.is_empty() {
        text += "<h2 id=\"plots\">Plots</h2>\n<div class=\"plots\">\n";
        plots.iter().for_each(|plot| text += &figure(plot));
        text += "</div>\n";
    }
    tables(study).iter().for_each(|table| text += &section(table));
    if !study.provenance.runs.is_empty() {
        let runs = study.provenance.runs.iter().map(|run| escaped(run)).collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "<h2 id=\"runs\">Runs</h2>\n<pre>{runs}</pre>");
    }
    text + "</main>\n</body>\n</html>\n"
}

/// The limits of the scaling.
fn limited(study: &Study) -> String {
    let sentences: String = limits(study).iter().map(|text| format!("<p>{}</p>\n", escaped(text))).collect();
    match sentences.is_empty() {
        true => sentences,
        false => format!("<div class=\"limits\" id=\"limits\">\n{sentences}</div>\n"),
    }
}

fn provenance(study: &Study) -> String {
    let from = &study.provenance;
    let mut text = "<h2 id=\"provenance\">Where this comes from</h2>\n<dl>\n".to_string();
    for (name, value) in from.lines() {
        let _ = writeln!(text, "<dt>{name}</dt><dd>{}</dd>", escaped(value));
    }
    let _ = writeln!(text, "</dl>\n<pre>{}</pre>", escaped(&from.command));
    text
}

fn figure(plot: &Plot) -> String {
    let (name, title) = (plot.name, escaped(&plot.title));
    // A text alternative: the first child of the picture.
    let start = plot.svg.find("<svg").unwrap_or(0);
    let svg = plot.svg[start..].replacen(
        "<svg ",
        &format!("<svg id=\"plot-{name}\" role=\"img\" aria-labelledby=\"title-{name}\" "),
        1,
    );
    let svg = svg.replacen('>', &format!(">\n<title id=\"title-{name}\">{title}</title>"), 1);
    format!("<figure>\n{svg}\n<figcaption>{title}</figcaption>\n</figure>\n")
}

fn section(table: &StudyTable) -> String {
    let (name, title, about) = (table.name, escaped(&table.title), escaped(&table.about));
    let html = table.html();
    let region =
        format!("<div class=\"wide\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">\n{html}</div>\n");
    format!("<h2 id=\"{name}\">{title}</h2>\n<p>{about}</p>\n{region}")
}
