//! The potential of listed members: by the tree or by all pairs, whole or in slices.

use super::super::members::HaloMembers;
use super::super::slices::Slices;
use super::super::{Gravity, SourceTypes};
use super::direct::direct;
use super::octree::Octree;
use super::points::Points;
use super::sliced_tree::{sliced_direct, sliced_potential};
use super::tree::{Rooted, TreeScratch, tree, tree_at};

/// Working memory, in proportion to the list.
#[derive(Debug, Clone, Default)]
pub struct PotentialScratch {
    pub(in super::super) points: Points,
    pub(in super::super) octree: Octree,
    pub(in super::super) walk: TreeScratch,
}

/// Members of a slice, by rising number, and the input of their potential.
#[derive(Debug, Clone, Copy)]
pub struct ListedPoints<'a, S> {
    /// The members of the slice.
    pub members: &'a HaloMembers,
    /// Those of the list.
    pub list: &'a [u32],
    /// The types whose mass makes the potential.
    pub sources: SourceTypes,
    /// Gravity.
    pub gravity: &'a Gravity,
    /// The connection of the slices.
    pub slices: &'a S,
}

impl<S: Slices> ListedPoints<'_, S> {
    /// The potential of each member of the list from all others in all slices: by a tree, or else by all
    /// pairs.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn potential(
        &self,
        by_tree: bool,
        scratch: &mut PotentialScratch,
        potential: &mut Vec<f64>,
    ) -> Result<(), S::Error> {
        let Self { members, list, sources, gravity, slices } = *self;
        let PotentialScratch { points, octree, walk } = scratch;
        points.gather_slice(members, list, sources, slices)?;
        match (by_tree, slices.number()) {
            (true, 1) => {
                octree.build(points, slices);
                tree(Rooted { points, tree: octree }, gravity, slices, walk, potential);
            }
            (true, _) => *potential = sliced_potential(std::mem::take(points), gravity, slices)?,
            (false, 1) => direct(points, gravity, potential),
            (false, _) => *potential = sliced_direct(points, gravity, slices)?,
        }
        Ok(())
    }

    /// Computes the potential of some members of the list, by place, with a tree of all. Others keep theirs.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn potential_at(
        &self,
        is_wanted: impl Fn(usize) -> bool + Sync,
        scratch: &mut PotentialScratch,
        potential: &mut [f64],
    ) -> Result<(), S::Error> {
        let Self { members, list, sources, gravity, slices } = *self;
        let PotentialScratch { points, octree, walk } = scratch;
        points.gather_slice(members, list, sources, slices)?;
        if slices.number() == 1 {
            octree.build(points, slices);
            tree_at(Rooted { points, tree: octree }, is_wanted, gravity, slices, walk, potential);
            return Ok(());
        }
        let all = sliced_potential(std::mem::take(points), gravity, slices)?;
        let places = (0..potential.len()).filter(|place| is_wanted(*place));
        places.for_each(|place| potential[place] = all[place]);
        Ok(())
    }
}
