//! `inselberg view --track`: the history of one track of a merger tree, as text, as JSON and as a picture.

use super::aligned::aligned;
use super::fault::CommandError;
use super::grouped::grouped;
use super::out;
use crate::config::{Common, ViewJob, no_object};
use crate::report::history::TrackHistory;
use crate::report::{UnitChoice, four_digits};
use inselberg_io::catalogue::Catalogue;
use inselberg_io::catalogue::merger_tree::{MergerTreeTables, TrackName, TrackOutline};
use inselberg_io::staging::Staged;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write;

/// Mergers that the text lists.
const N_LISTED: usize = 40;

/// Shows a track of a catalogue with a merger tree.
pub fn view(job: &ViewJob, whole: &Catalogue, common: Common) -> Result<(), CommandError> {
    let wrong = |problem: String| CommandError::about(&job.input, problem);
    let tree = MergerTreeTables::new(whole).map_err(wrong)?;
    let history = TrackHistory::new(&tree, job.id, job.maps.units.unwrap_or(UnitChoice::Physical))
        .ok_or_else(|| {
            let n = tree.nodes.track.iter().collect::<HashSet<_>>().len();
            let expected = format!("one of the {n} tracks of nodes, which `view` without --track lists");
            wrong(format!("no track {}; expected {expected}", TrackName(job.id)))
        })?;
    let staged = match &job.plot {
        #[cfg(feature = "plot")]
        Some(path) => {
            let title = format!("Track {}: {}", TrackName(job.id), summary(&history));
            let input = job.input.display().to_string();
            crate::report::plot::stage_history(path, &title, &input, &history)?
        }
        _ => Staged::default(),
    };
    out::finish(common, staged, || text(&history), || json(&history))
}

/// Lists the heaviest tracks of a catalogue with a merger tree.
pub fn list(job: &ViewJob, whole: &Catalogue, common: Common) -> Result<(), CommandError> {
    if whole.table("nodes").is_none() {
        return Err(CommandError::user(no_object()));
    }
    let wrong = |problem: String| CommandError::about(&job.input, problem);
    let tree = MergerTreeTables::new(whole).map_err(wrong)?;
    let units = job.maps.units.unwrap_or(UnitChoice::Physical);
    let tracks = tree.tracks();
    let shown = tracks.len().min(N_LISTED);
    let history = |of: &TrackOutline| TrackHistory::new(&tree, of.track.0, units).expect("it is in the tree");
    let histories: Vec<_> = tracks[..shown].iter().map(history).collect();
    out::finish(common, Staged::default(), || list_text(&tracks, &histories), || list_json(&tree, &tracks))
}

fn list_text(tracks: &[TrackOutline], histories: &[TrackHistory<'_>]) -> String {
    let Some(first) = histories.first() else { return "no tracks".into() };
    let time_name = if first.has_redshifts() { "redshift" } else { "time" };
    let mass = format!("largest mass [{}]", first.unit_names()[0]);
    let heading = ["track", &mass, "members", "first output", time_name, "last output", "mergers", "it"];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.extend(histories.iter().zip(tracks).map(|(history, of)| {
        let tree = history.tree;
        vec![
            of.track.to_string(),
            four_digits(history.mass(of.largest)),
            tree.nodes.n_members[of.largest].to_string(),
            tree.output(of.first).number.to_string(),
            time(history, of.first),
            tree.output(of.last).number.to_string(),
            history.mergers.len().to_string(),
            tree.fate(of.last).name().to_string(),
        ]
    }));
    let n = grouped(tracks.len() as u64);
    let which = if tracks.len() > histories.len() { ", the heaviest" } else { "" };
    format!("tracks ({n}{which})\n\n{}", aligned(&lines))
}

/// All tracks, for machines.
fn list_json(tree: &MergerTreeTables, tracks: &[TrackOutline]) -> Value {
    let track = |of: &TrackOutline| {
        json!({
            "id": of.track.0, "name": of.track.to_string(), "first_node": of.first, "last_node": of.last,
            "largest_node": of.largest, "fate": tree.fate(of.last).name(),
        })
    };
    json!({ "kind": "tracks", "tracks": tracks.iter().map(track).collect::<Vec<_>>() })
}

/// The first and the last time.
#[cfg(feature = "plot")]
fn summary(history: &TrackHistory) -> String {
    let [first, last] = ends(history).map(|node| when(history, node));
    format!("{first} to {last}, {} mergers", history.mergers.len())
}

/// Its first and last node.
fn ends(history: &TrackHistory) -> [usize; 2] {
    [history.nodes[0], history.nodes[history.nodes.len() - 1]]
}

/// The output of a node, with its redshift.
fn when(history: &TrackHistory, node: usize) -> String {
    let snapshot = history.tree.output(node);
    match history.has_redshifts() {
        true => format!("output {} (redshift {})", snapshot.number, four_digits(snapshot.redshift)),
        false => format!("output {}", snapshot.number),
    }
}

/// The name of the track of a node.
fn name(history: &TrackHistory, node: usize) -> String {
    TrackName(history.tree.nodes.track[node]).to_string()
}

/// The redshift of a node, or its time.
fn time(history: &TrackHistory, node: usize) -> String {
    let snapshot = history.tree.output(node);
    four_digits(if history.has_redshifts() { snapshot.redshift } else { snapshot.time })
}

fn text(history: &TrackHistory) -> String {
    let tree = history.tree;
    let [first, last] = ends(history);
    let [mass_unit, velocity_unit] = history.unit_names();
    let largest = history.largest(&history.nodes);
    let n_orphans = history.nodes.iter().filter(|node| tree.is_orphan(**node)).count();
    let n_outputs = tree.nodes.snapshot[last] - tree.nodes.snapshot[first] + 1;
    let n_missed = n_outputs - history.nodes.len() as u64;
    let mut end = tree.fate(last).name().to_string();
    if let Some(to) = tree.descendant(last) {
        let _ = write!(end, " into track {} in {}", name(history, to), when(history, to));
    }
    let mut text = format!("track {}\n\n", TrackName(history.track));
    let _ = writeln!(text, "first seen    {}", when(history, first));
    let _ = writeln!(text, "last seen     {}; then it {end}", when(history, last));
    let largest_mass = four_digits(history.mass(largest));
    let _ = writeln!(text, "largest mass  {largest_mass} {mass_unit} in {}", when(history, largest));
    let _ = writeln!(text, "outputs       {n_outputs}: {n_missed} without it, {n_orphans} as an orphan");
    let time_name = if history.has_redshifts() { "redshift" } else { "time" };
    let mass = format!("mass [{mass_unit}]");
    let velocity = format!("v_max [{velocity_unit}]");
    let heading = ["output", time_name, "object", "members", &mass, &velocity, "in track", ""];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.extend(history.nodes.iter().map(|node| {
        let host = usize::try_from(tree.nodes.host[*node]);
        vec![
            tree.output(*node).number.to_string(),
            time(history, *node),
            tree.nodes.object[*node].to_string(),
            tree.nodes.n_members[*node].to_string(),
            four_digits(history.mass(*node)),
            four_digits(history.max_circular_velocity(*node)),
            host.map_or("-".into(), |host| name(history, host)),
            if tree.is_orphan(*node) { "orphan".into() } else { String::new() },
        ]
    }));
    let _ = write!(text, "\nits history\n{}", aligned(&lines));
    text + &mergers_text(history, time_name, &mass)
}

fn mergers_text(history: &TrackHistory, time_name: &str, mass: &str) -> String {
    if history.mergers.is_empty() {
        return String::new();
    }
    let tree = history.tree;
    let mut shown = history.mergers.clone();
    shown.sort_by(|a, b| b.ratio.total_cmp(&a.ratio).then(a.last.cmp(&b.last)));
    shown.truncate(N_LISTED);
    shown.sort_by_key(|merger| (tree.nodes.snapshot[merger.into], merger.last));
    let largest = format!("largest {mass}");
    let mut lines = vec![["output", time_name, "track", &largest, "ratio", "it"].map(String::from).to_vec()];
    lines.extend(shown.iter().map(|merger| {
        vec![
            tree.output(merger.into).number.to_string(),
            time(history, merger.into),
            name(history, merger.last),
            four_digits(history.mass(merger.largest)),
            four_digits(merger.ratio),
            tree.fate(merger.last).name().to_string(),
        ]
    }));
    let n = history.mergers.len();
    let which =
        if n > N_LISTED { format!(", the {N_LISTED} with the largest ratios") } else { String::new() };
    format!("\nits mergers ({n}{which})\n{}", aligned(&lines))
}

/// The same for machines, with all mergers.
fn json(history: &TrackHistory) -> Value {
    let tree = history.tree;
    let [mass_unit, velocity_unit] = history.unit_names();
    let track_of = |node: i64| usize::try_from(node).ok().map(|node| tree.nodes.track[node]);
    let nodes = history.nodes.iter().map(|node| {
        let snapshot = tree.output(*node);
        json!({
            "node": node, "output": snapshot.number, "redshift": snapshot.redshift, "time": snapshot.time,
            "object": tree.nodes.object[*node], "is_orphan": tree.is_orphan(*node),
            "members": tree.nodes.n_members[*node], "mass": history.mass(*node),
            "max_circular_velocity": history.max_circular_velocity(*node),
            "host_track": track_of(tree.nodes.host[*node]),
        })
    });
    let mergers = history.mergers.iter().map(|merger| {
        json!({
            "output": tree.output(merger.into).number, "redshift": tree.output(merger.into).redshift,
            "track": tree.nodes.track[merger.last], "largest_mass": history.mass(merger.largest),
            "ratio": merger.ratio, "fate": tree.fate(merger.last).name(),
        })
    });
    let [_, last] = ends(history);
    json!({
        "kind": "track", "id": history.track, "name": TrackName(history.track).to_string(), "units": { "mass": mass_unit, "max_circular_velocity": velocity_unit },
        "fate": tree.fate(last).name(), "into_track": track_of(tree.nodes.descendant[last]),
        "nodes": nodes.collect::<Vec<_>>(), "mergers": mergers.collect::<Vec<_>>(),
    })
}
