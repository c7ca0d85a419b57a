//! The page of a merger tree: its outputs, and the histories of its heaviest tracks.

use super::costs::{ShownCosts, sections};
use super::frame;
use crate::report::history::TrackHistory;
use crate::report::html::{HtmlCell, figure, table};
use crate::report::plot::history_svg;
use crate::report::summary::grouped;
use crate::report::units::four_digits;
use crate::report::{DisplayUnit, RankReport, StageTime, UnitChoice};
use inselberg_io::catalogue::Attribute;
use inselberg_io::catalogue::merger_tree::{MergerTreeTables, TrackName};
use std::cmp::Ordering;
use std::fmt::Write;

/// Tracks in the table, and those with a picture.
const N_TRACKS: (usize, usize) = (100, 6);
/// The mass ratio from which a merger is called major.
const MAJOR: f64 = 1.0 / 3.0;

/// The content of the report of a tree.
#[derive(Debug)]
pub struct TreeReport<'a> {
    /// Its title.
    pub title: String,
    /// The command and its input: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// Notes for readers.
    pub warnings: Vec<String>,
    /// Counts by name.
    pub counts: Vec<(&'static str, Option<i64>)>,
    /// The tree.
    pub tree: &'a MergerTreeTables<'a>,
    /// Those of the tree.
    pub attributes: &'a [(String, Attribute)],
    /// The units.
    pub units: UnitChoice,
    /// The stages.
    pub stages: &'a [StageTime],
    /// Load and messages; `None` for one rank.
    pub ranks: Option<&'a RankReport>,
    /// Bytes; `None` if the system does not report it.
    pub peak_memory: Option<u64>,
}

/// The page.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn tree_page(data: &TreeReport<'_>) -> Result<String, String> {
    let mut text = frame::warnings(&data.warnings);
    text += &frame::facts(&data.facts);
    text += &frame::counts(&data.counts);
    text += &histories(data)?;
    text += &outputs(data.tree);
    let TreeReport { stages, ranks, peak_memory, .. } = *data;
    text += &sections(&ShownCosts { stages, things: "members", ranks, peak_memory });
    text += &frame::attributes(data.attributes);
    Ok(frame::page(&data.title, &text))
}

/// The tracks with objects in the last output, the heaviest first.
fn heaviest(data: &TreeReport<'_>) -> Vec<u64> {
    let nodes = &data.tree.nodes;
    let last = (data.tree.snapshots.len() as u64).saturating_sub(1);
    let is_there = |node: &usize| nodes.snapshot[*node] == last && !data.tree.is_orphan(*node);
    let mut at_end: Vec<usize> = (0..data.tree.n_nodes()).filter(is_there).collect();
    let order = |a: &usize, b: &usize| -> Ordering {
        nodes.mass[*b].total_cmp(&nodes.mass[*a]).then(nodes.track[*a].cmp(&nodes.track[*b]))
    };
    at_end.sort_by(order);
    at_end.into_iter().map(|node| nodes.track[node]).collect()
}

fn histories(data: &TreeReport<'_>) -> Result<String, String> {
    let mut text = "<h2 id=\"tracks\">The heaviest tracks</h2>\n".to_string();
    let tracks = heaviest(data);
    if tracks.is_empty() {
        return Ok(text + "<p>The last output has no objects.</p>\n");
    }
    let n = grouped(tracks.len() as i64);
    let _ = match tracks.len() > N_TRACKS.0 {
        true => writeln!(
            text,
            "<p>The {} heaviest of the {n} tracks in the last output. Click on a heading to sort.</p>",
            N_TRACKS.0
        ),
        false => writeln!(text, "<p>All {n} tracks in the last output. Click on a heading to sort.</p>"),
    };
    let history = |track: &u64| TrackHistory::new(data.tree, *track, data.units);
    let listed: Vec<TrackHistory<'_>> = tracks.iter().take(N_TRACKS.0).filter_map(history).collect();
    text += &listing(&listed);
    for history in listed.iter().take(N_TRACKS.1) {
        let track = history.track;
        let name = TrackName(track);
        let drawn = history_svg(&format!("Track {name}"), "", history)?;
        let caption = format!("Mass history and merger tree of track {name}");
        text += &figure(&format!("track-{track}"), "object", &drawn, &caption);
    }
    Ok(text)
}

/// The table of these tracks.
fn listing(tracks: &[TrackHistory<'_>]) -> String {
    let mass = DisplayUnit::named(tracks[0].unit_names()[0]).label("mass");
    let first = format!("first seen, {}", tracks[0].when_name());
    let names = ["track", &mass, "members", &first, "objects", "orphans", "mergers", "major mergers"];
    let count = |n: usize| HtmlCell::number(n as f64, grouped(n as i64));
    let row = |(i, history): (usize, &TrackHistory<'_>)| {
        let tree = history.tree;
        let (first, last) = (history.nodes[0], history.nodes[history.nodes.len() - 1]);
        let n_orphans = history.nodes.iter().filter(|node| tree.is_orphan(**node)).count();
        let shown = if history.has_redshifts() { tree.output(first).redshift } else { history.when(first) };
        let link = (i < N_TRACKS.1).then(|| format!("#track-{}", history.track));
        vec![
            HtmlCell { link, ..HtmlCell::number(history.track as f64, TrackName(history.track).to_string()) },
            HtmlCell::number(history.mass(last), four_digits(history.mass(last))),
            count(tree.nodes.n_members[last] as usize),
            HtmlCell::number(shown, four_digits(shown)),
            count(history.nodes.len() - n_orphans),
            count(n_orphans),
            count(history.mergers.len()),
            count(history.mergers.iter().filter(|merger| merger.ratio >= MAJOR).count()),
        ]
    };
    let rows: Vec<_> = tracks.iter().enumerate().map(row).collect();
    table("heaviest", "The heaviest tracks", &names.map(String::from), &rows, true)
}

fn outputs(tree: &MergerTreeTables<'_>) -> String {
    let mut numbers = vec![[0_usize; 2]; tree.snapshots.len()];
    for node in 0..tree.n_nodes() {
        numbers[tree.nodes.snapshot[node] as usize][usize::from(tree.is_orphan(node))] += 1;
    }
    let real = |x: f64| HtmlCell::number(x, four_digits(x));
    let count = |n: usize| HtmlCell::number(n as f64, grouped(n as i64));
    let row = |(snapshot, [objects, orphans]): (
        &inselberg_io::catalogue::merger_tree::MergerSnapshot,
        &[usize; 2],
    )| {
        let number = HtmlCell::number(snapshot.number as f64, snapshot.number.to_string());
        vec![number, real(snapshot.redshift), real(snapshot.time), count(*objects), count(*orphans)]
    };
    let rows: Vec<_> = tree.snapshots.iter().zip(&numbers).map(row).collect();
    let names = ["output", "redshift", "time [code_time]", "objects", "orphans"].map(String::from);
    "<h2 id=\"outputs\">Outputs</h2>\n".to_string() + &table("snapshots", "Outputs", &names, &rows, false)
}
