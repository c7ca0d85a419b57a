//! How well a found merger tree agrees with the true one: links by number of members, mergers, branch lengths
//! and mass jumps.

use inselberg_io::catalogue::Catalogue;
use inselberg_io::catalogue::merger_tree::{Fate, MergerTreeTables};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The least number of members of each bin.
pub const BINS: [u64; 6] = [20, 30, 50, 100, 300, 1000];

/// An object of a catalogue: output and identifier.
type Object = (u64, u64);

/// Links and mergers of objects within a range of members.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BinCounts {
    /// True links, those that were found, found links, and those that are true.
    pub links: [u64; 4],
    /// True ends of objects: found in the right object, carried as an orphan to the end of the series, and
    /// all others.
    pub ends: [u64; 3],
}

impl BinCounts {
    fn add(mut self, other: &Self) -> Self {
        (0..4).for_each(|i| self.links[i] += other.links[i]);
        (0..3).for_each(|i| self.ends[i] += other.ends[i]);
        self
    }

    /// The part of true links that was found.
    pub fn completeness(&self) -> f64 {
        self.links[1] as f64 / self.links[0].max(1) as f64
    }

    /// The part of found links that is true.
    pub fn purity(&self) -> f64 {
        self.links[3] as f64 / self.links[2].max(1) as f64
    }
}

/// Numbers of the main branches of the last output.
#[derive(Debug, Clone, Default)]
pub struct BranchNumbers {
    /// Objects on each main branch.
    pub lengths: Vec<f64>,
    /// (2/pi) atan(dlnM/dlnt) between neighbours, for t rising as a^1.5.
    pub slopes: Vec<f64>,
    /// Half of the jumps of that.
    pub jumps: Vec<f64>,
}

/// A found tree against the true one.
pub struct Comparison {
    pub bins: Vec<BinCounts>,
    /// Of the true tree and of the found one, for objects with 100 members or more at the end.
    pub branches: [BranchNumbers; 2],
    /// The part of these main branches that is the same.
    pub same_branches: f64,
    /// Some objects whose link is wrong: the descendant, and its true and found progenitor.
    pub wrong: Vec<(Object, Option<Object>, Option<Object>)>,
}

/// Compares trees of the same catalogues.
pub fn compare(truth: &Catalogue, found: &Catalogue) -> Comparison {
    let (truth, found) = (TreeOfObjects::new(truth), TreeOfObjects::new(found));
    assert_eq!(
        truth.nodes.keys().collect::<HashSet<_>>(),
        found.nodes.keys().collect::<HashSet<_>>(),
        "all objects"
    );
    let mut bins = vec![BinCounts::default(); BINS.len()];
    let bin = |n: u64| BINS.partition_point(|least| *least <= n) - 1;
    let size = |object: &Object| truth.tree.nodes.n_members[truth.nodes[object]];
    let mut wrong = Vec::new();
    for to in truth.nodes.keys() {
        let [is, ought] = [found.progenitor(*to), truth.progenitor(*to)];
        for (i, link) in [(0, ought), (2, is)] {
            let Some(from) = link else { continue };
            let counts = &mut bins[bin(size(&from).min(size(to)))];
            counts.links[i] += 1;
            counts.links[i + 1] += u64::from(is == ought);
        }
        if is != ought {
            wrong.push((*to, ought, is));
        }
    }
    for (object, node) in &truth.nodes {
        if matches!(truth.tree.fate(*node), Fate::Merges | Fate::Disrupted) {
            bins[bin(size(object))].ends[found.end_of(*object, &truth)] += 1;
        }
    }
    wrong.sort_unstable();
    let last = truth.tree.snapshots.len() as u64 - 1;
    let mut at_end: Vec<Object> =
        truth.nodes.keys().copied().filter(|object| object.0 == last && size(object) >= 100).collect();
    at_end.sort_unstable();
    let same = at_end.iter().filter(|object| truth.branch(**object) == found.branch(**object)).count();
    let branches = [&truth, &found].map(|tree| tree.numbers(&at_end));
    Comparison { bins, branches, same_branches: same as f64 / at_end.len().max(1) as f64, wrong }
}

struct TreeOfObjects<'a> {
    tree: MergerTreeTables<'a>,
    nodes: HashMap<Object, usize>,
}

impl<'a> TreeOfObjects<'a> {
    fn new(catalogue: &'a Catalogue) -> Self {
        let tree = MergerTreeTables::new(catalogue).expect("a tree");
        let objects = (0..tree.n_nodes()).filter(|node| !tree.is_orphan(*node));
        let nodes: HashMap<Object, usize> =
            objects.map(|node| ((tree.nodes.snapshot[node], tree.nodes.object[node]), node)).collect();
        Self { tree, nodes }
    }

    fn object(&self, node: usize) -> Object {
        (self.tree.nodes.snapshot[node], self.tree.nodes.object[node])
    }

    /// The object before on the same track.
    fn progenitor(&self, object: Object) -> Option<Object> {
        let node = self.nodes[&object];
        let track = self.tree.nodes.track[node];
        let mut line = self.tree.main_branch(node).skip(1).take_while(|n| self.tree.nodes.track[*n] == track);
        line.find(|node| !self.tree.is_orphan(*node)).map(|node| self.object(node))
    }

    /// An object and those before it on the same track.
    fn branch(&self, object: Object) -> Vec<Object> {
        std::iter::successors(Some(object), |object| self.progenitor(*object)).collect()
    }

    /// The end of an object: 0 into the object that has its particles in truth, 1 to the end as an orphan, 2
    /// elsewhere.
    fn end_of(&self, object: Object, truth: &TreeOfObjects) -> usize {
        let next = |tree: &MergerTreeTables, node: usize| tree.descendant(node);
        let mut node = next(&self.tree, self.nodes[&object]);
        while let Some(orphan) = node.filter(|node| self.tree.is_orphan(*node)) {
            node = next(&self.tree, orphan);
            if node.is_none() {
                return 1;
            }
        }
        let Some(found) = node.map(|node| self.object(node)) else { return 2 };
        // The true host has gone on since, or has merged itself.
        let mut host = next(&truth.tree, truth.nodes[&object]).expect("an end is in a host");
        while truth.tree.nodes.snapshot[host] < found.0 {
            let Some(later) = next(&truth.tree, host) else { return 2 };
            host = later;
        }
        let is_right = truth.tree.nodes.track[host] == truth.tree.nodes.track[truth.nodes[&found]];
        if is_right { 0 } else { 2 }
    }

    fn numbers(&self, objects: &[Object]) -> BranchNumbers {
        let mut numbers = BranchNumbers::default();
        for object in objects {
            let branch = self.branch(*object);
            numbers.lengths.push(branch.len() as f64);
            let point = |object: &Object| {
                let node = self.nodes[object];
                (self.tree.nodes.mass[node].ln(), 1.5 * self.tree.output(node).aexp.ln())
            };
            let points: Vec<(f64, f64)> = branch.iter().rev().map(point).collect();
            let slope = |pair: &[(f64, f64)]| {
                ((pair[1].0 - pair[0].0) / (pair[1].1 - pair[0].1)).atan() * 2.0 / std::f64::consts::PI
            };
            let slopes: Vec<f64> = points.windows(2).map(slope).collect();
            numbers.jumps.extend(slopes.windows(2).map(|pair| 0.5 * (pair[1] - pair[0])));
            numbers.slopes.extend(slopes);
        }
        numbers
    }
}

impl Comparison {
    /// All objects with at least this number of members.
    pub fn from(&self, least: u64) -> BinCounts {
        let bins = BINS.iter().zip(&self.bins).filter(|(bin, _)| **bin >= least);
        bins.fold(BinCounts::default(), |sum, (_, counts)| sum.add(counts))
    }

    /// The tables.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "| members | true links | completeness | purity | ends | right | orphan at the end | wrong |\n|---|---|---|---|---|---|---|---|\n",
        );
        let mut row = |name: String, counts: &BinCounts| {
            let [right, orphan, wrong] = counts.ends;
            let _ = writeln!(
                text,
                "| {name} | {} | {:.4} | {:.4} | {} | {right} | {orphan} | {wrong} |",
                counts.links[0],
                counts.completeness(),
                counts.purity(),
                right + orphan + wrong
            );
        };
        for (i, counts) in self.bins.iter().enumerate() {
            let name = BINS
                .get(i + 1)
                .map_or(format!("{} or more", BINS[i]), |next| format!("{} to {}", BINS[i], next - 1));
            row(name, counts);
        }
        row("100 or more in all".into(), &self.from(100));
        text += "\n| main branches | true | found |\n|---|---|---|\n";
        let [truth, found] = &self.branches;
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len().max(1) as f64;
        let _ = writeln!(
            text,
            "| mean length in objects | {:.3} | {:.3} |",
            mean(&truth.lengths),
            mean(&found.lengths)
        );
        for (name, of) in [("beta", (|n| &n.slopes) as fn(&BranchNumbers) -> &Vec<f64>), ("xi", |n| &n.jumps)]
        {
            for part in [0.01, 0.05, 0.5, 0.95, 0.99] {
                let at = |numbers: &BranchNumbers| quantile(of(numbers), part);
                let _ = writeln!(text, "| {name}, quantile {part} | {:.4} | {:.4} |", at(truth), at(found));
            }
        }
        let n = truth.lengths.len();
        let _ =
            writeln!(text, "\n{:.2} % of these {n} main branches are the same", 100.0 * self.same_branches);
        text
    }
}

fn quantile(list: &[f64], part: f64) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len().max(1) - 1) as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Each object of a tree has one descendant or a stated end, and a track has one node per output.
pub fn check_conservation(catalogue: &Catalogue) {
    let tree = MergerTreeTables::new(catalogue).expect("a tree");
    let mut seen = HashSet::new();
    for node in 0..tree.n_nodes() {
        let has_descendant = matches!(tree.fate(node), Fate::GoesOn | Fate::Merges | Fate::Disrupted);
        assert_eq!(tree.descendant(node).is_some(), has_descendant, "node {node}: {:?}", tree.fate(node));
        assert!(
            seen.insert((tree.nodes.track[node], tree.nodes.snapshot[node])),
            "node {node}: its track twice"
        );
        if let Some(to) = tree.descendant(node) {
            let goes_on = tree.nodes.track[node] == tree.nodes.track[to];
            assert_eq!(goes_on, tree.fate(node) == Fate::GoesOn, "node {node} goes to {to}");
        }
        if tree.fate(node) == Fate::Lasts {
            let is_last = tree.nodes.snapshot[node] + 1 == tree.snapshots.len() as u64;
            assert!(is_last, "node {node} ends before the series");
        }
    }
}
