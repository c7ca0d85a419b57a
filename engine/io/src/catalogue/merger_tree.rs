//! The merger tree in a catalogue of `inselberg tree`: checked columns, and walks along its links.
//!
//! A node is an object at one output. Links lead to a later output, so there are no circles. Programs that
//! draw or convert a tree read it through this module; it does not depend on how the links were made.

use super::{Catalogue, Table, Values};
use std::fmt;
use std::str::FromStr;

/// Bits of the object of birth in the number of a track; those above are the output of birth.
const OBJECT_BITS: u32 = 40;

/// The number of a track as people write it: `1:509` for what was born as object 509 of output 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackName(pub u64);

impl fmt::Display for TrackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 >> OBJECT_BITS, self.0 & ((1 << OBJECT_BITS) - 1)) {
            (0, object) => write!(f, "{object}"),
            (output, object) => write!(f, "{output}:{object}"),
        }
    }
}

/// A text that is not the name of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a track such as 1:509, or its whole number")]
pub struct NoTrack;

/// The name, or the whole number as in the column `track`.
impl FromStr for TrackName {
    type Err = NoTrack;

    fn from_str(text: &str) -> Result<Self, NoTrack> {
        let number = |text: &str| text.parse::<u64>().map_err(|_| NoTrack);
        let Some((output, object)) = text.split_once(':') else { return number(text).map(Self) };
        let (output, object) = (number(output)?, number(object)?);
        match output < 1 << (u64::BITS - OBJECT_BITS) && object < 1 << OBJECT_BITS {
            true => Ok(Self(output << OBJECT_BITS | object)),
            false => Err(NoTrack),
        }
    }
}

/// A track in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackOutline {
    /// Its number.
    pub track: TrackName,
    /// Its first node.
    pub first: usize,
    /// Its last node.
    pub last: usize,
    /// Its first node with the largest mass.
    pub largest: usize,
}

/// The fate of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes on as its descendant.
    GoesOn,
    /// It merges into its descendant.
    Merges,
    /// Its members were scattered; most went to its descendant.
    Disrupted,
    /// The series ends.
    Lasts,
    /// None of its tracers was found again.
    Lost,
}

impl Fate {
    /// The fate with a code of the column `fate`.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::GoesOn, Self::Merges, Self::Disrupted, Self::Lasts, Self::Lost].get(usize::from(code)).copied()
    }

    /// A word.
    pub fn name(self) -> &'static str {
        match self {
            Self::GoesOn => "goes on",
            Self::Merges => "merges",
            Self::Disrupted => "is disrupted",
            Self::Lasts => "lasts to the end of the series",
            Self::Lost => "is lost",
        }
    }
}

/// An output of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MergerSnapshot {
    /// Its number.
    pub number: i64,
    /// Time in code units.
    pub time: f64,
    /// Expansion factor; 1 without a cosmology.
    pub aexp: f64,
    /// Redshift; 0 without a cosmology.
    pub redshift: f64,
    /// Code units of length, mass and time in cgs; `None` where the output has no units.
    pub units: Option<[f64; 3]>,
}

/// Columns of the nodes, in code units of their output.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the table `nodes` describes its columns")]
pub struct MergerNodes<'a> {
    pub snapshot: &'a [u64],
    pub object: &'a [u64],
    pub descendant: &'a [i64],
    pub main_progenitor: &'a [i64],
    pub next_progenitor: &'a [i64],
    pub track: &'a [u64],
    pub kind: &'a [u8],
    pub fate: &'a [u8],
    pub host: &'a [i64],
    pub n_members: &'a [u64],
    pub mass: &'a [f64],
    pub position: &'a [[f64; 3]],
    pub velocity: &'a [[f64; 3]],
    pub max_circular_velocity: &'a [f64],
    pub max_circular_radius: &'a [f64],
    pub radius: &'a [f64],
    pub tracer: &'a [u64],
}

/// A merger tree.
#[derive(Debug)]
pub struct MergerTreeTables<'a> {
    /// The outputs, by time.
    pub snapshots: Vec<MergerSnapshot>,
    /// The nodes, by output.
    pub nodes: MergerNodes<'a>,
}

impl<'a> MergerTreeTables<'a> {
    /// The tree of a catalogue. Cost: one pass over the links.
    ///
    /// # Errors
    /// There is no tree, or a column is absent, or links do not lead to later outputs: the problem and what
    /// was expected.
    pub fn new(catalogue: &'a Catalogue) -> Result<Self, String> {
        let table = |name: &str| {
            catalogue
                .table(name)
                .ok_or_else(|| format!("no table {name}; expected a catalogue of `inselberg tree`"))
        };
        let (snapshots, nodes) = (snapshots(table("snapshots")?)?, nodes(table("nodes")?)?);
        let tree = Self { snapshots, nodes };
        tree.check()?;
        Ok(tree)
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.snapshot.len()
    }

    /// The output of a node.
    pub fn output(&self, node: usize) -> &MergerSnapshot {
        &self.snapshots[self.nodes.snapshot[node] as usize]
    }

    /// Whether a node is an orphan: only its most bound tracer is followed.
    pub fn is_orphan(&self, node: usize) -> bool {
        self.nodes.kind[node] == 1
    }

    /// The fate of a node.
    pub fn fate(&self, node: usize) -> Fate {
        Fate::from_code(self.nodes.fate[node]).expect("fates were checked")
    }

    /// The descendant of a node.
    pub fn descendant(&self, node: usize) -> Option<usize> {
        usize::try_from(self.nodes.descendant[node]).ok()
    }

    /// Progenitors, the main one first.
    pub fn progenitors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let first = usize::try_from(self.nodes.main_progenitor[node]).ok();
        std::iter::successors(first, |node| usize::try_from(self.nodes.next_progenitor[*node]).ok())
    }

    /// A node and its main progenitors, backwards in time.
    pub fn main_branch(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |node| usize::try_from(self.nodes.main_progenitor[*node]).ok())
    }

    /// Nodes without a descendant: those of the last output first, objects before orphans, by falling mass.
    pub fn roots(&self) -> Vec<usize> {
        let mut roots: Vec<usize> =
            (0..self.n_nodes()).filter(|node| self.nodes.descendant[*node] < 0).collect();
        let key = |node: &usize| (std::cmp::Reverse(self.nodes.snapshot[*node]), self.nodes.kind[*node]);
        roots.sort_by(|a, b| {
            let by_mass = self.nodes.mass[*b].total_cmp(&self.nodes.mass[*a]);
            key(a).cmp(&key(b)).then(by_mass).then(a.cmp(b))
        });
        roots
    }

    /// The nodes of the tree under a root, depth first along main progenitors: each after its descendant.
    pub fn depth_first(&self, root: usize) -> impl Iterator<Item = usize> + '_ {
        let mut pending = vec![root];
        std::iter::from_fn(move || {
            let node = pending.pop()?;
            let first = pending.len();
            pending.extend(self.progenitors(node));
            pending[first..].reverse();
            Some(node)
        })
    }

    /// The nodes of a track, by time.
    pub fn track(&self, track: u64) -> Vec<usize> {
        (0..self.n_nodes()).filter(|node| self.nodes.track[*node] == track).collect()
    }

    /// All tracks, by falling largest mass.
    pub fn tracks(&self) -> Vec<TrackOutline> {
        let mut nodes: Vec<usize> = (0..self.n_nodes()).collect();
        nodes.sort_by_key(|node| (self.nodes.track[*node], self.nodes.snapshot[*node]));
        let mass = |node: usize| self.nodes.mass[node] * self.in_cgs(node, [0, 1, 0]).unwrap_or(1.0);
        let heavier = |a: usize, b: usize| if mass(b) > mass(a) { b } else { a };
        let outline = |nodes: &[usize]| TrackOutline {
            track: TrackName(self.nodes.track[nodes[0]]),
            first: nodes[0],
            last: nodes[nodes.len() - 1],
            largest: nodes.iter().copied().reduce(heavier).expect("a track has nodes"),
        };
        let mut tracks: Vec<TrackOutline> =
            nodes.chunk_by(|a, b| self.nodes.track[*a] == self.nodes.track[*b]).map(outline).collect();
        tracks.sort_by(|a, b| mass(b.largest).total_cmp(&mass(a.largest)).then(a.track.cmp(&b.track)));
        tracks
    }

    /// The last nodes of other tracks that merge into this track, by time and then falling mass.
    pub fn mergers(&self, track: &[usize]) -> Vec<usize> {
        let others = |node: &usize| {
            let node = *node;
            self.progenitors(node).filter(move |other| self.nodes.track[*other] != self.nodes.track[node])
        };
        track.iter().flat_map(others).collect()
    }

    /// The factor from code units of the output of a node to cgs for powers of length, mass and time; `None`
    /// without units.
    pub fn in_cgs(&self, node: usize, powers: [i32; 3]) -> Option<f64> {
        let units = self.output(node).units?;
        Some(units.iter().zip(powers).map(|(unit, power)| unit.powi(power)).product())
    }

    fn check(&self) -> Result<(), String> {
        let n = self.n_nodes();
        let wrong = |node: usize, problem: &str, expected: &str| {
            Err(format!("nodes: node {node} has {problem}; expected {expected}"))
        };
        for node in 0..n {
            if self.nodes.snapshot[node] as usize >= self.snapshots.len() {
                return wrong(node, "no output", "a row of snapshots");
            }
            if Fate::from_code(self.nodes.fate[node]).is_none() {
                return wrong(node, "an unknown fate", "0 to 4");
            }
        }
        let mut n_linked = 0;
        for node in 0..n {
            let to = self.nodes.descendant[node];
            let is_later = |to: usize| to < n && self.nodes.snapshot[to] > self.nodes.snapshot[node];
            if to >= 0 && !is_later(to as usize) {
                return wrong(node, &format!("the descendant {to}"), "a node of a later output, or -1");
            }
            let (mut next, mut n_walked) = (self.nodes.main_progenitor[node], 0);
            while next >= 0 {
                let is_own = self.nodes.descendant.get(next as usize) == Some(&(node as i64));
                if !is_own || n_walked == n {
                    return wrong(
                        node,
                        &format!("the progenitor {next}"),
                        "a list of nodes whose descendant it is",
                    );
                }
                (next, n_walked) = (self.nodes.next_progenitor[next as usize], n_walked + 1);
            }
            n_linked += n_walked;
        }
        let n_with = self.nodes.descendant.iter().filter(|to| **to >= 0).count();
        match n_linked == n_with {
            true => Ok(()),
            false => Err(format!(
                "nodes: {n_linked} progenitors and {n_with} descendants; expected each link in both directions"
            )),
        }
    }
}

fn snapshots(table: &Table) -> Result<Vec<MergerSnapshot>, String> {
    let real = |name| table.reals(name).ok_or_else(|| absent(table, name));
    let numbers = table.integers("number").ok_or_else(|| absent(table, "number"))?;
    let [time, aexp, redshift] = [real("time")?, real("aexp")?, real("redshift")?];
    let units = [real("unit_length")?, real("unit_mass")?, real("unit_time")?];
    let row = |i: usize| {
        let units = units.map(|column| column[i]);
        let is_set = units.iter().all(|unit| unit.is_finite() && *unit > 0.0) && units != [1.0; 3];
        MergerSnapshot {
            number: numbers[i],
            time: time[i],
            aexp: aexp[i],
            redshift: redshift[i],
            units: is_set.then_some(units),
        }
    };
    Ok((0..numbers.len()).map(row).collect())
}

fn nodes(table: &Table) -> Result<MergerNodes<'_>, String> {
    let count = |name| table.counts(name).ok_or_else(|| absent(table, name));
    let real = |name| table.reals(name).ok_or_else(|| absent(table, name));
    let vector = |name| table.vectors(name).ok_or_else(|| absent(table, name));
    let link = |name| match table.column(name).map(|column| &column.values) {
        Some(Values::I64(list)) => Ok(list.as_slice()),
        _ => Err(absent(table, name)),
    };
    let byte = |name| match table.column(name).map(|column| &column.values) {
        Some(Values::U8(list)) => Ok(list.as_slice()),
        _ => Err(absent(table, name)),
    };
    Ok(MergerNodes {
        snapshot: count("snapshot")?,
        object: count("object")?,
        descendant: link("descendant")?,
        main_progenitor: link("main_progenitor")?,
        next_progenitor: link("next_progenitor")?,
        track: count("track")?,
        kind: byte("kind")?,
        fate: byte("fate")?,
        host: link("host")?,
        n_members: count("n_members")?,
        mass: real("mass")?,
        position: vector("position")?,
        velocity: vector("velocity")?,
        max_circular_velocity: real("max_circular_velocity")?,
        max_circular_radius: real("max_circular_radius")?,
        radius: real("radius")?,
        tracer: table.identities("tracer").ok_or_else(|| absent(table, "tracer"))?,
    })
}

fn absent(table: &Table, name: &str) -> String {
    format!("no column {}/{name} of this type; expected a catalogue of `inselberg tree`", table.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tracks_are_short_and_read_back() {
        for (track, name) in [(12, "12"), (1_099_511_628_285, "1:509"), (u64::MAX, "16777215:1099511627775")]
        {
            assert_eq!(TrackName(track).to_string(), name);
            assert_eq!(name.parse(), Ok(TrackName(track)));
            assert_eq!(track.to_string().parse(), Ok(TrackName(track)));
        }
        for text in ["", ":", "1:", "a:1", "1:1099511627776", "16777216:0", "-1", "1:2:3"] {
            assert_eq!(text.parse::<TrackName>(), Err(NoTrack), "{text}");
        }
    }
}
