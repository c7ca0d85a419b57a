//! The common parts of all pages: head, warnings, facts, counts and attributes.

use crate::report::html::{HtmlCell, escaped, table};
use crate::report::summary::grouped;
use inselberg_io::catalogue::Attribute;
use inselberg_io::catalogue::info::attribute_text;
use inselberg_io::staging::mark::MARK;
use std::fmt::Write;

/// A page with this title around the HTML of its body.
pub fn page(title: &str, body: &str) -> String {
    page_with(title, body, "")
}

/// The same with a script of its own, which knows nothing of the one of tables.
pub fn page_with(title: &str, body: &str, script: &str) -> String {
    let title = escaped(title);
    let head = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"{MARK}\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n",
        include_str!("style.css")
    );
    let own = match script {
        "" => String::new(),
        // In a block of its own, so that no two names meet.
        script => format!("<script>\n{{\n{script}}}\n</script>\n"),
    };
    let tables = include_str!("tables.js");
    format!("{head}{body}</main>\n<script>\n{tables}</script>\n{own}</body>\n</html>\n")
}

/// Notes for readers.
pub fn warnings(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
    format!(
        "<div class=\"warnings\" role=\"note\"><h2 id=\"warnings\">Warnings</h2>\n<ul>\n{items}</ul></div>\n"
    )
}

/// The command and its input.
pub fn facts(facts: &[(&'static str, String)]) -> String {
    let mut text = "<h2 id=\"run\">The run</h2>\n<dl>\n".to_string();
    for (name, value) in facts {
        let _ = writeln!(text, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    }
    text + "</dl>\n"
}

/// Counts by name; those that are unknown are left out.
pub fn counts(counts: &[(&'static str, Option<i64>)]) -> String {
    let row = |(name, count): &(&'static str, Option<i64>)| {
        count.map(|n| vec![HtmlCell::text(*name), HtmlCell::number(n as f64, grouped(n))])
    };
    let rows: Vec<_> = counts.iter().filter_map(row).collect();
    table("counts", "Counts", &["what".to_string(), "number".into()], &rows, false)
}

/// The attributes of a catalogue.
pub fn attributes(attributes: &[(String, Attribute)]) -> String {
    let row = |(name, value): &(String, Attribute)| {
        vec![HtmlCell::text(name.clone()), HtmlCell::text(attribute_text(value))]
    };
    let rows: Vec<_> = attributes.iter().map(row).collect();
    let header = ["attribute".to_string(), "value".into()];
    let table = table("attributes", "Attributes of the catalogue, in code units", &header, &rows, false);
    format!(
        "<details>\n<summary>Everything that the catalogue says of the run</summary>\n{table}</details>\n"
    )
}
