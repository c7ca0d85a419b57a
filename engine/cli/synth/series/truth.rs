//! The true links of the listed haloes, as a catalogue of a merger tree.

use super::SeriesParams;
use super::catalogue::{ListedHalo, SeriesOutput, column};
use super::rules::{End, Haloes};
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, Values};

/// Fates of a node, as in any merger tree.
const GOES_ON: u8 = 0;
const MERGES: u8 = 1;
const DISRUPTED: u8 = 2;
const LASTS: u8 = 3;
const LOST: u8 = 4;

/// The haloes listed so far.
#[derive(Default)]
pub(super) struct Truth {
    snapshots: Vec<TrueSnapshot>,
    nodes: Vec<TrueNode>,
}

struct TrueSnapshot {
    number: i64,
    /// Time, expansion factor, and units of length, mass and time in cgs.
    values: [f64; 5],
    first_node: usize,
}

struct TrueNode {
    snapshot: usize,
    halo: usize,
    object: u64,
    host: i64,
    n_members: u64,
    mass: f64,
    position: [f64; 3],
    velocity: [f64; 3],
    /// Maximum circular velocity, its radius, and the half-mass radius.
    size: [f64; 3],
    tracer: u64,
}

/// Links between nodes; -1 for none.
struct Links {
    descendant: Vec<i64>,
    main: Vec<i64>,
    next: Vec<i64>,
    last: Vec<i64>,
    fate: Vec<u8>,
}

impl Truth {
    /// Adds an output.
    pub fn add(&mut self, output: &SeriesOutput, rows: &[ListedHalo], identity: impl Fn(u64) -> u64) {
        let scales = output.scales();
        let (snapshot, first) = (self.snapshots.len(), self.nodes.len());
        let mass = scales.density * scales.length.powi(3);
        let values = [-1.0 / scales.a, scales.a, scales.length, mass, scales.time];
        self.snapshots.push(TrueSnapshot { number: output.number(), values, first_node: first });
        // Identifiers are 1, 2, ... in the order of the rows.
        let node_of = |id: u64| first as i64 + id as i64 - 1;
        self.nodes.extend(rows.iter().map(|row| {
            let [velocity, radius] = output.size(row.members.len());
            TrueNode {
                snapshot,
                halo: row.halo,
                object: row.id,
                host: if row.parent == row.id { -1 } else { node_of(row.parent) },
                n_members: row.members.len() as u64,
                mass: row.members.len() as f64 * output.particle_mass(),
                position: row.position,
                velocity: row.velocity,
                size: [1.2 * velocity, 0.2 * radius, 0.4 * radius],
                tracer: identity(row.members[0]),
            }
        }));
    }

    /// The tree of all outputs that were added.
    pub fn catalogue(&self, haloes: &Haloes, params: SeriesParams) -> Catalogue {
        let last = SeriesOutput { params, index: (self.snapshots.len() as u32).saturating_sub(1) };
        let mut attributes = last.attributes();
        attributes.push(("kind".into(), Attribute::Text("tree".into())));
        let links = self.links(haloes);
        Catalogue { attributes, tables: vec![self.snapshot_table(), self.node_table(&links)] }
    }

    fn links(&self, haloes: &Haloes) -> Links {
        let n = self.nodes.len();
        // The appearances of each halo, by time.
        let mut seen: Vec<Vec<usize>> = vec![Vec::new(); haloes.all.len()];
        self.nodes.iter().enumerate().for_each(|(node, at)| seen[at.halo].push(node));
        let mut links = Links {
            descendant: vec![-1; n],
            main: vec![-1; n],
            next: vec![-1; n],
            last: vec![-1; n],
            fate: vec![LASTS; n],
        };
        for list in &seen {
            for pair in list.windows(2) {
                links.descendant[pair[0]] = pair[1] as i64;
                links.main[pair[1]] = pair[0] as i64;
                links.fate[pair[0]] = GOES_ON;
            }
            let Some(last) = list.last() else { continue };
            if self.nodes[*last].snapshot + 1 < self.snapshots.len() {
                links.fate[*last] = LOST;
            }
            if let Some((to, end)) = self.after_end(self.nodes[*last].halo, haloes, &seen) {
                links.descendant[*last] = to as i64;
                links.fate[*last] = if end.is_disrupted { DISRUPTED } else { MERGES };
            }
        }
        self.list_progenitors(&mut links);
        for node in (0..n).rev() {
            links.last[node] = match usize::try_from(links.descendant[node]) {
                Ok(to) => links.last[to],
                Err(_) => node as i64,
            };
        }
        links
    }

    /// The first listed node of the halo that has the particles of this one, and the kind of its end.
    fn after_end(&self, halo: usize, haloes: &Haloes, seen: &[Vec<usize>]) -> Option<(usize, End)> {
        let first = haloes.all[halo].end?;
        let mut end = first;
        loop {
            let later =
                |node: &&usize| self.snapshots[self.nodes[**node].snapshot].number > i64::from(end.output);
            match seen[end.into].iter().find(later) {
                Some(node) => return Some((*node, first)),
                None => {
                    end = End {
                        output: end.output.max(haloes.all[end.into].end?.output),
                        ..haloes.all[end.into].end?
                    }
                }
            }
        }
    }

    /// Progenitors of a node: the halo itself, then others by falling mass.
    fn list_progenitors(&self, links: &mut Links) {
        let mut others: Vec<usize> = (0..self.nodes.len())
            .filter(|node| links.descendant[*node] >= 0 && links.fate[*node] != GOES_ON)
            .collect();
        others.sort_by(|a, b| {
            let by_mass = self.nodes[*b].mass.total_cmp(&self.nodes[*a].mass);
            links.descendant[*a].cmp(&links.descendant[*b]).then(by_mass).then(a.cmp(b))
        });
        for list in others.chunk_by(|a, b| links.descendant[*a] == links.descendant[*b]) {
            let to = links.descendant[list[0]] as usize;
            let mut chain: Vec<usize> = usize::try_from(links.main[to]).ok().into_iter().collect();
            chain.extend(list);
            links.main[to] = chain[0] as i64;
            chain.windows(2).for_each(|pair| links.next[pair[0]] = pair[1] as i64);
        }
    }

    fn snapshot_table(&self) -> Table {
        let ends = self.snapshots.iter().skip(1).map(|s| s.first_node).chain([self.nodes.len()]);
        let n_objects = self.snapshots.iter().zip(ends).map(|(s, end)| (end - s.first_node) as u64).collect();
        let reals = |of: fn(&TrueSnapshot) -> f64| Values::F64(self.snapshots.iter().map(of).collect());
        let (none, time) = (Dimension::NONE, Dimension::new(0, 0, 1));
        let columns = vec![
            column(
                "number",
                none,
                "number of the output",
                Values::I64(self.snapshots.iter().map(|s| s.number).collect()),
            ),
            column("time", time, "time in the code units of the output", reals(|s| s.values[0])),
            column("aexp", none, "expansion factor", reals(|s| s.values[1])),
            column("redshift", none, "redshift", reals(|s| 1.0 / s.values[1] - 1.0)),
            column("n_objects", none, "number of objects", Values::U64(n_objects)),
            column(
                "first_node",
                none,
                "row of its first node",
                Values::U64(self.snapshots.iter().map(|s| s.first_node as u64).collect()),
            ),
            column("unit_length", none, "code unit of length in cm", reals(|s| s.values[2])),
            column("unit_mass", none, "code unit of mass in g", reals(|s| s.values[3])),
            column("unit_time", none, "code unit of time in s", reals(|s| s.values[4])),
        ];
        Table { name: "snapshots".into(), columns }
    }

    fn node_table(&self, links: &Links) -> Table {
        let none = Dimension::NONE;
        let counts = |of: fn(&TrueNode) -> u64| Values::U64(self.nodes.iter().map(of).collect());
        let signed = |of: fn(&TrueNode) -> i64| Values::I64(self.nodes.iter().map(of).collect());
        let reals = |of: fn(&TrueNode) -> f64| Values::F64(self.nodes.iter().map(of).collect());
        let vectors = |of: fn(&TrueNode) -> [f64; 3]| Values::F64x3(self.nodes.iter().map(of).collect());
        let links_of = |list: &[i64]| Values::I64(list.to_vec());
        let columns = vec![
            column("node", none, "this node", Values::I64((0..self.nodes.len() as i64).collect())),
            column("snapshot", none, "row in snapshots", counts(|n| n.snapshot as u64)),
            column("object", none, "identifier in the catalogue", counts(|n| n.object)),
            column("descendant", none, "node of the descendant; -1 for none", links_of(&links.descendant)),
            column("main_progenitor", none, "first progenitor; -1 for none", links_of(&links.main)),
            column(
                "next_progenitor",
                none,
                "next progenitor of the same descendant; -1 for none",
                links_of(&links.next),
            ),
            column("last_descendant", none, "node at the end of the descendants", links_of(&links.last)),
            column("track", none, "halo for life", counts(|n| n.halo as u64 + 1)),
            column("kind", none, "0 object, 1 orphan", Values::U8(vec![0; self.nodes.len()])),
            column(
                "fate",
                none,
                "0 goes on, 1 merges, 2 disrupted, 3 end of the series, 4 not seen again",
                Values::U8(links.fate.clone()),
            ),
            column("host", none, "node of the clump it is in; -1 for none", signed(|n| n.host)),
            column("n_members", none, "number of members", counts(|n| n.n_members)),
            column("mass", Dimension::MASS, "mass of its members", reals(|n| n.mass)),
            column("position", Dimension::LENGTH, "centre", vectors(|n| n.position)),
            column("velocity", Dimension::VELOCITY, "velocity", vectors(|n| n.velocity)),
            column(
                "max_circular_velocity",
                Dimension::VELOCITY,
                "maximum circular velocity",
                reals(|n| n.size[0]),
            ),
            column("max_circular_radius", Dimension::LENGTH, "its radius", reals(|n| n.size[1])),
            column("radius", Dimension::LENGTH, "half-mass radius", reals(|n| n.size[2])),
            column("tracer", none, "identity of the most bound particle", counts(|n| n.tracer)),
        ];
        Table { name: "nodes".into(), columns }
    }
}
