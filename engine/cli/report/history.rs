//! The history of a track of a merger tree: its nodes, its mergers, and its heaviest branches.

use super::UnitChoice;
use inselberg_io::catalogue::merger_tree::MergerTreeTables;
use inselberg_io::catalogue::units::{KILOMETRE, SOLAR_MASS};
use std::collections::BinaryHeap;

/// A track and its mergers.
#[derive(Debug)]
pub struct TrackHistory<'a> {
    /// The tree.
    pub tree: &'a MergerTreeTables<'a>,
    /// The track.
    pub track: u64,
    /// Its nodes, by time; at least one.
    pub nodes: Vec<usize>,
    /// By time.
    pub mergers: Vec<TrackMerger>,
    /// Whether values are in Msun and km/s, else in code units.
    is_physical: bool,
}

/// A merger of another track with this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackMerger {
    /// The last node of the other track.
    pub last: usize,
    /// The node of this track after the merger.
    pub into: usize,
    /// The node of the other track with its largest mass.
    pub largest: usize,
    /// That mass over the mass of this track at that output, or else at the nearest one before; NaN without a
    /// known mass.
    pub ratio: f64,
}

/// A branch of the tree of a track.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Its nodes, by time.
    pub nodes: Vec<usize>,
    /// The branch and the node that it merges into; `None` for the track itself.
    pub into: Option<(usize, usize)>,
    /// Its largest mass.
    pub mass: f64,
}

impl<'a> TrackHistory<'a> {
    /// The history of a track; `None` if the tree has no such track.
    pub fn new(tree: &'a MergerTreeTables<'a>, track: u64, units: UnitChoice) -> Option<Self> {
        let nodes = tree.track(track);
        let has_units = tree.snapshots.iter().all(|snapshot| snapshot.units.is_some());
        let is_physical = units == UnitChoice::Physical && has_units;
        let mut history = Self { tree, track, nodes, mergers: Vec::new(), is_physical };
        history.mergers = tree.mergers(&history.nodes).into_iter().map(|last| history.merger(last)).collect();
        (!history.nodes.is_empty()).then_some(history)
    }

    fn merger(&self, last: usize) -> TrackMerger {
        let into = self.tree.descendant(last).expect("what merges has a descendant");
        let largest = self.largest(&self.line(last));
        let when = self.tree.nodes.snapshot[largest];
        let n_before = self.nodes.partition_point(|node| self.tree.nodes.snapshot[*node] <= when);
        let (before, after) = self.nodes.split_at(n_before);
        // Orphans have no mass.
        let own = before.iter().rev().chain(after).map(|node| self.mass(*node)).find(|mass| *mass > 0.0);
        TrackMerger { last, into, largest, ratio: own.map_or(f64::NAN, |own| self.mass(largest) / own) }
    }

    /// The nodes of the track of a node up to there, by time.
    fn line(&self, last: usize) -> Vec<usize> {
        let track = self.tree.nodes.track[last];
        let mut nodes: Vec<usize> =
            self.tree.main_branch(last).take_while(|node| self.tree.nodes.track[*node] == track).collect();
        nodes.reverse();
        nodes
    }

    /// The first node with the largest mass.
    pub fn largest(&self, nodes: &[usize]) -> usize {
        let heavier = |best: usize, node: usize| if self.mass(node) > self.mass(best) { node } else { best };
        nodes.iter().copied().reduce(heavier).expect("a track has nodes")
    }

    /// The mass of a node.
    pub fn mass(&self, node: usize) -> f64 {
        self.tree.nodes.mass[node] * self.factor(node, [0, 1, 0], SOLAR_MASS)
    }

    /// The maximum circular velocity of a node.
    pub fn max_circular_velocity(&self, node: usize) -> f64 {
        self.tree.nodes.max_circular_velocity[node] * self.factor(node, [1, 0, -1], KILOMETRE)
    }

    /// The names of the units of mass and velocity.
    pub fn unit_names(&self) -> [&'static str; 2] {
        if self.is_physical { ["Msun", "km/s"] } else { ["code_mass", "code_length / code_time"] }
    }

    fn factor(&self, node: usize, powers: [i32; 3], unit: f64) -> f64 {
        if !self.is_physical {
            return 1.0;
        }
        self.tree.in_cgs(node, powers).expect("physical values have units") / unit
    }

    /// Whether the outputs have redshifts.
    pub fn has_redshifts(&self) -> bool {
        self.tree.snapshots.iter().any(|snapshot| snapshot.aexp != 1.0)
    }

    /// The time of a node along an axis: the expansion factor; without a cosmology the time, or the place of
    /// the output if times do not rise.
    pub fn when(&self, node: usize) -> f64 {
        let snapshots = &self.tree.snapshots;
        let snapshot = self.tree.output(node);
        match (self.has_redshifts(), snapshots.is_sorted_by(|a, b| a.time < b.time)) {
            (true, _) => snapshot.aexp,
            (false, true) => snapshot.time,
            (false, false) => self.tree.nodes.snapshot[node] as f64,
        }
    }

    /// The name of that axis.
    pub fn when_name(&self) -> &'static str {
        match (self.has_redshifts(), self.tree.snapshots.is_sorted_by(|a, b| a.time < b.time)) {
            (true, _) => "redshift",
            (false, true) => "time [code_time]",
            (false, false) => "output",
        }
    }

    /// The track and its heaviest branches, at most `most` in all, the heaviest first among those whose stem
    /// is drawn.
    pub fn branches(&self, most: usize) -> Vec<Branch> {
        let own = self.largest(&self.nodes);
        let mut branches = vec![Branch { nodes: self.nodes.clone(), into: None, mass: self.mass(own) }];
        // Masses are not negative, so their bits have their order.
        let mut pending: BinaryHeap<(u64, std::cmp::Reverse<usize>, usize, usize)> = BinaryHeap::new();
        let mut stem = 0;
        loop {
            for last in self.tree.mergers(&branches[stem].nodes) {
                let mass = self.mass(self.largest(&self.line(last))).max(0.0);
                let into = self.tree.descendant(last).expect("what merges has a descendant");
                pending.push((mass.to_bits(), std::cmp::Reverse(last), stem, into));
            }
            if branches.len() >= most {
                break;
            }
            let Some((mass, std::cmp::Reverse(last), of, into)) = pending.pop() else { break };
            let mass = f64::from_bits(mass);
            branches.push(Branch { nodes: self.line(last), into: Some((of, into)), mass });
            stem = branches.len() - 1;
        }
        branches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{SeriesParams, SeriesRules, SynthSeries};

    #[test]
    fn branches_end_where_they_merge() {
        let mut series = SynthSeries::new(SeriesParams {
            outputs: 12,
            members: 20_000,
            seed: 5,
            rules: SeriesRules::Gentle,
        });
        while series.next_output().is_some() {}
        let truth = series.truth();
        let tree = MergerTreeTables::new(&truth).expect("a tree");
        let most_merged =
            (0..tree.n_nodes()).max_by_key(|node| tree.progenitors(*node).count()).expect("nodes");
        let track = tree.nodes.track[most_merged];
        let history = TrackHistory::new(&tree, track, UnitChoice::Physical).expect("a track");
        assert!(history.mergers.len() > 1 && history.mergers.iter().all(|m| m.ratio > 0.0));
        let branches = history.branches(6);
        assert!(branches.len() > 2);
        for branch in &branches[1..] {
            let (of, into) = branch.into.expect("a stem");
            let last = branch.nodes[branch.nodes.len() - 1];
            assert!(branches[of].nodes.contains(&into) && tree.descendant(last) == Some(into));
            assert!(branch.nodes.iter().all(|node| tree.nodes.track[*node] == tree.nodes.track[last]));
        }
        assert!(TrackHistory::new(&tree, u64::MAX, UnitChoice::Code).is_none());
    }
}
