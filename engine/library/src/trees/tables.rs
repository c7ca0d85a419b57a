//! The history as a catalogue: a table of snapshots and one of nodes.

use crate::tables::{AttributeList, column};
use crate::trees::facts::OutputFacts;
use crate::trees::input::ObjectProperties;
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, TableColumn, Values};
use inselberg_kernels::trees::history::{History, NodeFate};
use inselberg_kernels::trees::table::{TreeNode, nodes};
use inselberg_kernels::trees::tracer::UNIT;

/// Version of the layout of the tables.
const LAYOUT: i64 = 1;

/// An output that is part of the history.
#[derive(Debug, Clone)]
pub struct LinkedOutput {
    pub facts: OutputFacts,
    pub number: u64,
    pub properties: ObjectProperties,
}

/// The history of these outputs.
pub fn tree_catalogue(history: &History, outputs: &[LinkedOutput]) -> Catalogue {
    let nodes = nodes(history);
    let mut list = AttributeList::new();
    list.text("program", "inselberg");
    list.text("version", env!("CARGO_PKG_VERSION"));
    list.int("layout", LAYOUT);
    list.text("kind", "tree");
    let params = history.params();
    if let Some(first) = outputs.first() {
        list.text("objects", first.facts.kind.word());
    }
    list.int("gap", params.gap as i64);
    list.int("tracers", i64::from(params.n_tracers));
    list.int("orphans", i64::from(params.orphans));
    list.int("n_snapshots", outputs.len() as i64);
    for (name, n) in totals(&nodes) {
        list.int(name, n as i64);
    }
    let mut attributes = list.into_attributes();
    if let Some(last) = outputs.last() {
        attributes.extend(last.facts.unit_attributes.iter().cloned());
        let aexp = last.facts.aexp.map(|aexp| ("aexp".to_string(), Attribute::Real(aexp)));
        attributes.extend(aexp);
        attributes.extend(last.facts.cosmology.iter().cloned());
    }
    Catalogue { attributes, tables: vec![snapshots_table(&nodes, outputs), nodes_table(&nodes, outputs)] }
}

/// Counts of a tree, by name.
fn totals(nodes: &[TreeNode]) -> [(&'static str, u64); 6] {
    let count = |of: &dyn Fn(&TreeNode) -> bool| nodes.iter().filter(|node| of(node)).count() as u64;
    let fate = |fate: NodeFate| move |node: &TreeNode| node.fate == fate;
    let mut tracks: Vec<u64> = nodes.iter().map(|node| node.track).collect();
    tracks.sort_unstable();
    tracks.dedup();
    [
        ("n_nodes", nodes.len() as u64),
        ("n_orphan_nodes", count(&|node| node.place.is_none())),
        ("n_tracks", tracks.len() as u64),
        ("n_mergers", count(&fate(NodeFate::Merges))),
        ("n_disrupted", count(&fate(NodeFate::Disrupted))),
        ("n_lost", count(&fate(NodeFate::Lost))),
    ]
}

fn snapshots_table(nodes: &[TreeNode], outputs: &[LinkedOutput]) -> Table {
    let none = Dimension::NONE;
    let reals = |of: &dyn Fn(&OutputFacts) -> f64| {
        Values::F64(outputs.iter().map(|output| of(&output.facts)).collect())
    };
    let first_node = |output: usize| nodes.partition_point(|node| (node.output as usize) < output) as u64;
    let aexp = |facts: &OutputFacts| facts.aexp.unwrap_or(1.0);
    let unit = |i: usize| move |facts: &OutputFacts| facts.units.map_or(1.0, |units| units[i]);
    let numbers = outputs.iter().map(|output| output.number.cast_signed()).collect();
    let n_objects = outputs.iter().map(|output| output.properties.id.len() as u64).collect();
    let columns = vec![
        column(
            "number",
            none,
            "number of the output; where it is unknown, one more than that before",
            Values::I64(numbers),
        ),
        column(
            "time",
            Dimension::new(0, 0, 1),
            "time of the output, in its own code units; 0 where it is unknown",
            reals(&|facts| facts.time.unwrap_or(0.0)),
        ),
        column("aexp", none, "expansion factor; 1 without a cosmology", reals(&aexp)),
        column("redshift", none, "1 / aexp - 1", reals(&|facts| 1.0 / aexp(facts) - 1.0)),
        column("n_objects", none, "number of objects, without orphans", Values::U64(n_objects)),
        column(
            "first_node",
            none,
            "row of its first node",
            Values::U64((0..outputs.len()).map(first_node).collect()),
        ),
        column("unit_length", none, "its code unit of length in cm; 1 where it is unknown", reals(&unit(0))),
        column("unit_mass", none, "its code unit of mass in g; 1 where it is unknown", reals(&unit(1))),
        column("unit_time", none, "its code unit of time in s; 1 where it is unknown", reals(&unit(2))),
    ];
    Table { name: "snapshots".into(), columns }
}

fn nodes_table(nodes: &[TreeNode], outputs: &[LinkedOutput]) -> Table {
    let columns =
        [link_columns(nodes), life_columns(nodes), property_columns(nodes, outputs), tracer_columns(nodes)];
    Table { name: "nodes".into(), columns: columns.into_iter().flatten().collect() }
}

/// A column without a unit.
fn plain(name: &str, description: &str, values: Values) -> TableColumn {
    column(name, Dimension::NONE, description, values)
}

fn counts(nodes: &[TreeNode], of: impl Fn(&TreeNode) -> u64) -> Values {
    Values::U64(nodes.iter().map(of).collect())
}

fn bytes(nodes: &[TreeNode], of: impl Fn(&TreeNode) -> u8) -> Values {
    Values::U8(nodes.iter().map(of).collect())
}

/// Rows of nodes; -1 for none.
fn rows(nodes: &[TreeNode], of: impl Fn(&TreeNode) -> Option<u32>) -> Values {
    Values::I64(nodes.iter().map(|node| of(node).map_or(-1, i64::from)).collect())
}

/// Where a node is, and what it is linked with.
fn link_columns(nodes: &[TreeNode]) -> Vec<TableColumn> {
    vec![
        plain("node", "its row, from 0", Values::I64((0..nodes.len() as i64).collect())),
        plain("snapshot", "row of its snapshot", counts(nodes, |node| u64::from(node.output))),
        plain(
            "object",
            "identifier in the catalogue of its snapshot; 0 for an orphan",
            counts(nodes, |node| node.object),
        ),
        plain(
            "descendant",
            "node that it goes on as or goes into; -1 if there is none",
            rows(nodes, |node| node.descendant),
        ),
        plain(
            "main_progenitor",
            "first progenitor: of its own track if there is one; -1 if there is none",
            rows(nodes, |node| node.main_progenitor),
        ),
        plain(
            "next_progenitor",
            "next progenitor of its descendant, by falling score and mass; -1 for the last one",
            rows(nodes, |node| node.next_progenitor),
        ),
        plain(
            "last_descendant",
            "node at the end of the chain of descendants",
            rows(nodes, |node| Some(node.last_descendant)),
        ),
    ]
}

/// The track that a node belongs to, and its fate.
fn life_columns(nodes: &[TreeNode]) -> Vec<TableColumn> {
    vec![
        plain(
            "track",
            "track, the same for life: number of the snapshot of its birth times 2^40, plus its object there",
            counts(nodes, |node| node.track),
        ),
        plain(
            "kind",
            "0 object; 1 orphan, of which only the most bound tracer is followed",
            bytes(nodes, |node| u8::from(node.place.is_none())),
        ),
        plain(
            "fate",
            "0 goes on as its descendant, 1 merges into it, 2 is scattered, most of it into it, 3 end of the series, 4 no tracer is found",
            bytes(nodes, |node| node.fate as u8),
        ),
        plain(
            "host",
            "node of the object that it is in, or that holds the tracer of an orphan; -1 if there is none",
            rows(nodes, |node| node.host),
        ),
    ]
}

/// The most bound tracer, and the score of the link to the descendant.
fn tracer_columns(nodes: &[TreeNode]) -> Vec<TableColumn> {
    let tracers = nodes.iter().map(|node| node.tracer.map_or(0, |tracer| tracer.id)).collect();
    let scores = nodes.iter().map(|node| node.score as f64 / UNIT as f64).collect();
    vec![
        plain(
            "tracer",
            "identity of the most bound collisionless member; 0 without any",
            Values::U64(tracers),
        ),
        plain(
            "tracer_type",
            "its type: 1 dark matter, 4 stars; 0 without any",
            bytes(nodes, |node| node.tracer.map_or(0, |tracer| tracer.kind as u8)),
        ),
        plain(
            "score",
            "score of the link to the descendant; that of the most bound tracer is 1, of the next ones 1 / (1 + sqrt(rank))",
            Values::F64(scores),
        ),
    ]
}

/// Properties of objects from the catalogues, in code units of the snapshot. An orphan has no mass, and the
/// position of its host.
fn property_columns(nodes: &[TreeNode], outputs: &[LinkedOutput]) -> Vec<TableColumn> {
    let of_object = |node: &TreeNode| Some((&outputs[node.output as usize].properties, node.place? as usize));
    let of_host = |node: &TreeNode| node.host.and_then(|host| of_object(&nodes[host as usize]));
    let reals = |of: fn(&ObjectProperties) -> &[f64]| {
        let value = |node| of_object(node).map_or(0.0, |(properties, place)| of(properties)[place]);
        Values::F64(nodes.iter().map(value).collect())
    };
    let vectors = |of: fn(&ObjectProperties) -> &[[f64; 3]]| {
        let value = |node| {
            let found = of_object(node).or_else(|| of_host(node));
            found.map_or([0.0; 3], |(properties, place)| of(properties)[place])
        };
        Values::F64x3(nodes.iter().map(value).collect())
    };
    let members = |node| of_object(node).map_or(0, |(properties, place)| properties.n_members[place]);
    vec![
        column(
            "n_members",
            Dimension::NONE,
            "number of bound members of all types; 0 for an orphan",
            Values::U64(nodes.iter().map(members).collect()),
        ),
        column(
            "mass",
            Dimension::MASS,
            "bound mass, in code units of the snapshot; 0 for an orphan",
            reals(|p| &p.mass),
        ),
        column(
            "position",
            Dimension::LENGTH,
            "position of the most bound member; for an orphan that of its host",
            vectors(|p| &p.position),
        ),
        column(
            "velocity",
            Dimension::VELOCITY,
            "velocity of the bound members; for an orphan that of its host",
            vectors(|p| &p.velocity),
        ),
        column(
            "max_circular_velocity",
            Dimension::VELOCITY,
            "maximum circular velocity; 0 where it is unknown",
            reals(|p| &p.max_circular_velocity),
        ),
        column(
            "max_circular_radius",
            Dimension::LENGTH,
            "radius of the maximum circular velocity; 0 where it is unknown",
            reals(|p| &p.max_circular_radius),
        ),
        column(
            "radius",
            Dimension::LENGTH,
            "radius of half the bound mass; 0 where it is unknown",
            reals(|p| &p.radius),
        ),
    ]
}
