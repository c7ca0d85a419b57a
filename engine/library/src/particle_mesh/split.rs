//! Which cells are split, root by root, and which particles reach other roots?

use super::roots::{Roots, unit};
use crate::chunks::carve;
use crate::executor::{Executor, ScratchPool};
use crate::particles::Masses;
use crate::partition::deliver;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::fof::record::Real;
use inselberg_kernels::packed_key::{place_of, settle, word};
use inselberg_kernels::particle_mesh::{
    RootMasses, RootTree, Shape, SplitBrick, SplitLevels, crowded, for_each_border, grade, unite,
};
use rayon::prelude::*;
use std::ops::Range;

/// The split cells of the roots of a rank, and particles of other roots that reach them.
#[derive(Debug)]
pub struct SplitMesh {
    /// The split cells of each root.
    pub roots: Vec<SplitLevels>,
    /// Own particles whose clouds reach another root of this rank, sorted by that root.
    pub borders: Vec<BorderParticle>,
    /// Particles of other ranks whose clouds reach a root of this rank, sorted by that root.
    pub foreign: Vec<RemoteParticle>,
}

/// An own particle whose cloud reaches another root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BorderParticle {
    /// The root that it reaches, counted from the first of the rank.
    pub root: u32,
    /// The index of the particle.
    pub particle: u32,
    /// The level of the leaf that holds the particle.
    pub level: u8,
}

/// A particle of another rank whose cloud reaches a root.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct RemoteParticle {
    /// Key of the root that it reaches.
    pub root: u64,
    /// The level of the leaf that holds the particle.
    pub level: u64,
    /// Position in units of the box.
    pub position: [f64; 3],
    /// Its mass.
    pub mass: f64,
}

/// Split cells in a root that another root causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Spill {
    root: u64,
    level: u64,
    brick: SplitBrick,
}

/// Keys and positions of the particles of a root, and its tree: scratch of a worker.
#[derive(Debug, Default)]
pub struct RootParticles {
    /// Keys.
    pub key: Vec<u64>,
    /// Positions in units of the box.
    pub position: Vec<[f64; 3]>,
    /// The cells of the root.
    pub tree: RootTree,
}

impl RootParticles {
    /// Fills in keys and positions of particles, in the order in which they are given.
    pub fn fill<T: Real>(&mut self, shape: &Shape, side: f64, position: &[[T; 3]]) {
        self.position.clear();
        self.position.extend(position.iter().map(|x| unit(side, *x)));
        shape.keys(&self.position, &mut self.key);
    }
}

impl<T: Real> Roots<T> {
    /// The particles of root `i` of this rank.
    pub fn particles(&self, i: usize) -> Range<usize> {
        self.first[i]..self.first[i + 1]
    }

    /// The number of particles of each root.
    pub fn sizes(&self) -> Vec<usize> {
        self.first.windows(2).map(|w| w[1] - w[0]).collect()
    }
}

/// Collective: sorts the particles of each root by key, and finds the split cells. Two exchanges, in rounds.
///
/// # Errors
/// When another rank fails.
pub fn split<T: Real>(
    shape: &Shape,
    roots: &mut Roots<T>,
    comm: &Comm,
    executor: &Executor,
) -> Result<SplitMesh, CommError> {
    let (levels, spills) = sort(shape, roots, executor);
    let mut spills = deliver(spills, |spill| (roots.owners.owner(spill.root), *spill), comm)?;
    spills.par_sort_unstable();
    let (levels, borders, foreign) = finish(shape, roots, levels, &spills, executor);
    drop(spills);
    let mut foreign = deliver(foreign, |particle| (roots.owners.owner(particle.root), *particle), comm)?;
    foreign.par_sort_unstable_by_key(|foreign| foreign.root);
    Ok(SplitMesh { roots: levels, borders, foreign })
}

/// Sorts the particles of each root. Returns the cells that they cause to be split in that root and in
/// others.
fn sort<T: Real>(shape: &Shape, roots: &mut Roots<T>, executor: &Executor) -> (Vec<SplitLevels>, Vec<Spill>) {
    let (sizes, side) = (roots.sizes(), roots.side);
    let positions = carve(&mut roots.position, sizes.iter().copied());
    let masses: Vec<&mut [f64]> = match &mut roots.mass {
        Masses::Same(_) => sizes.iter().map(|_| [].as_mut_slice()).collect(),
        Masses::Each(list) => carve(list, sizes.iter().copied()),
    };
    let items: Vec<_> = roots.keys.clone().zip(positions).zip(masses).collect();
    let scratch = ScratchPool::<(RootParticles, Vec<u64>)>::default();
    let work = |((root, position), mass): ((u64, &mut [[T; 3]]), &mut [f64])| {
        let keys = scratch.with(|(particles, order)| {
            particles.fill(shape, side, position);
            let key = &particles.key;
            find_order(shape, key, order);
            arrange(position, order);
            arrange(mass, order);
            order.iter().map(|word| key[place_of(*word)]).collect::<Vec<u64>>()
        });
        let mut levels = crowded(shape, &keys);
        grade(shape, &mut levels);
        let spills = take_spills(shape, root, &mut levels);
        (levels, spills)
    };
    let results = executor.map("mesh", items, |((_, position), _)| position.len(), work);
    let (levels, spills): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    (levels, spills.concat())
}

/// Puts one [`word`] per key of a root into `order`, in the order of the keys, then of their places.
fn find_order(shape: &Shape, keys: &[u64], order: &mut Vec<u64>) {
    // All keys begin with that of the root, so the 32 bits after it come first.
    let n_shared = u64::BITS - 3 * u32::from(shape.level_max - shape.root_level);
    order.clear();
    order.extend((0..).zip(keys).map(|(place, key)| word((key << n_shared >> 32) as u32, place)));
    order.sort_unstable();
    settle(order, |a, b| (keys[a], a).cmp(&(keys[b], b)));
}

/// Sorts values by an order. Masses that are all equal are not stored: nothing to sort.
fn arrange<V: Copy>(values: &mut [V], order: &[u64]) {
    if !values.is_empty() {
        let sorted: Vec<V> = order.iter().map(|word| values[place_of(*word)]).collect();
        values.copy_from_slice(&sorted);
    }
}

/// Takes out the bricks that lie in other roots.
fn take_spills(shape: &Shape, root: u64, levels: &mut SplitLevels) -> Vec<Spill> {
    let mut spills = Vec::new();
    for (level, bricks) in (shape.level_min..).zip(levels) {
        bricks.retain(|brick| {
            let other = shape.root_of(level - 2, brick.key);
            if other != root {
                spills.push(Spill { root: other, level: level.into(), brick: *brick });
            }
            other == root
        });
        bricks.shrink_to_fit();
    }
    spills
}

/// Split cells by root, own particles that reach own roots, and own particles that reach roots of other
/// ranks.
type Finished = (Vec<SplitLevels>, Vec<BorderParticle>, Vec<RemoteParticle>);

/// Unites the split cells of each root with those that other roots cause, and finds the particles that reach
/// other roots.
fn finish<T: Real>(
    shape: &Shape,
    roots: &Roots<T>,
    levels: Vec<SplitLevels>,
    spills: &[Spill],
    executor: &Executor,
) -> Finished {
    let scratch = ScratchPool::<RootParticles>::default();
    let work = |(i, mut levels): (usize, SplitLevels)| {
        let root = roots.keys.start + i as u64;
        let from_others = &spills[spills.partition_point(|s| s.root < root)..];
        for spill in &from_others[..from_others.partition_point(|s| s.root == root)] {
            levels[usize::from(spill.level as u8 - shape.level_min)].push(spill.brick);
        }
        levels.iter_mut().for_each(unite);
        let (borders, foreign) =
            scratch.with(|particles| border_particles(shape, roots, i, &levels, particles));
        (levels, borders, foreign)
    };
    let items = levels.into_iter().enumerate().collect();
    let results = executor.map("grading", items, |(i, _)| roots.particles(*i).len(), work);
    let mut all: Finished = Default::default();
    for (levels, borders, foreign) in results {
        all.0.push(levels);
        all.1.extend(borders);
        all.2.extend(foreign);
    }
    all.1.par_sort_unstable();
    all
}

/// The particles of root `i` whose clouds reach other roots, of this rank and of others.
fn border_particles<T: Real>(
    shape: &Shape,
    roots: &Roots<T>,
    i: usize,
    levels: &SplitLevels,
    sorted: &mut RootParticles,
) -> (Vec<BorderParticle>, Vec<RemoteParticle>) {
    let (root, rows) = (roots.keys.start + i as u64, roots.particles(i));
    let (mut borders, mut foreign) = (Vec::new(), Vec::new());
    if rows.is_empty() {
        return (borders, foreign);
    }
    sorted.fill(shape, roots.side, &roots.position[rows.clone()]);
    sorted.tree.grow(shape, root, |level| &levels[usize::from(level - shape.level_min)]);
    let particles = RootMasses { key: &sorted.key, position: &sorted.position, mass: &[], same: 0.0 };
    for_each_border(&sorted.tree, shape, root, particles, &mut |particle, level, other| {
        let row = rows.start + particle;
        if roots.keys.contains(&other) {
            borders.push(BorderParticle {
                root: (other - roots.keys.start) as u32,
                particle: row as u32,
                level,
            });
        } else {
            let (position, mass) = (sorted.position[particle], roots.mass.get(row));
            foreign.push(RemoteParticle { root: other, level: level.into(), position, mass });
        }
    });
    (borders, foreign)
}
