//! Which cells are split, root by root, and which particles reach other roots.

use super::roots::{Roots, deliver, unit};
use crate::chunks::carve;
use crate::executor::{Executor, ScratchPool};
use crate::fof::Masses;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::fof::record::Real;
use inselberg_kernels::particle_mesh::{
    RootMasses, RootTree, Shape, SplitBrick, SplitLevels, crowded, for_each_border, grade, unite,
};
use rayon::prelude::*;
use std::ops::Range;

/// The mesh of a rank, and what reaches it.
#[derive(Debug)]
pub struct SplitMesh {
    /// The split cells of each root.
    pub roots: Vec<SplitLevels>,
    /// Own particles whose clouds reach roots here, by root.
    pub borders: Vec<BorderParticle>,
    /// Those of other ranks, by root.
    pub foreign: Vec<RemoteParticle>,
}

/// A particle whose cloud reaches a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BorderParticle {
    /// Which of the rank's roots.
    pub root: u32,
    /// The particle.
    pub particle: u32,
    /// The level of its leaf.
    pub level: u8,
}

/// The same from another rank.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct RemoteParticle {
    /// Key of the root.
    pub root: u64,
    /// The level of its leaf.
    pub level: u64,
    /// In units of the box.
    pub position: [f64; 3],
    /// Its mass.
    pub mass: f64,
}

/// What a root causes to be split in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Spill {
    root: u64,
    level: u64,
    brick: SplitBrick,
}

/// Keys and places of the particles of a root.
#[derive(Debug, Default)]
pub struct RootParticles {
    pub key: Vec<u64>,
    pub place: Vec<[f64; 3]>,
    pub tree: RootTree,
}

impl RootParticles {
    /// Lays out sorted particles.
    pub fn lay_out<T: Real>(&mut self, shape: &Shape, side: f64, position: &[[T; 3]]) {
        self.place.clear();
        self.place.extend(position.iter().map(|x| unit(side, *x)));
        self.key.clear();
        self.key.extend(self.place.iter().map(|x| shape.key(*x)));
    }
}

impl<T: Real> Roots<T> {
    /// The particles of root `i` of this rank.
    pub fn particles(&self, i: usize) -> Range<usize> {
        self.first[i]..self.first[i + 1]
    }

    /// Numbers of particles.
    pub fn sizes(&self) -> Vec<usize> {
        self.first.windows(2).map(|w| w[1] - w[0]).collect()
    }
}

/// Collective: sorts the particles of each root by key, and finds which cells are split. Two exchanges, in rounds.
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
    let mut spills = deliver(spills, |spill| roots.owners.owner(spill.root), comm)?;
    spills.par_sort_unstable();
    let (levels, borders, foreign) = finish(shape, roots, levels, &spills, executor);
    drop(spills);
    let mut foreign = deliver(foreign, |foreign| roots.owners.owner(foreign.root), comm)?;
    foreign.par_sort_unstable_by_key(|foreign| foreign.root);
    Ok(SplitMesh { roots: levels, borders, foreign })
}

/// Sorts the particles of each root; the cells that they cause to be split there, and elsewhere.
fn sort<T: Real>(shape: &Shape, roots: &mut Roots<T>, executor: &Executor) -> (Vec<SplitLevels>, Vec<Spill>) {
    let (sizes, side) = (roots.sizes(), roots.side);
    let positions = carve(&mut roots.position, sizes.iter().copied());
    let masses: Vec<&mut [f64]> = match &mut roots.mass {
        Masses::Same(_) => sizes.iter().map(|_| [].as_mut_slice()).collect(),
        Masses::Each(list) => carve(list, sizes.iter().copied()),
    };
    let items: Vec<_> = roots.keys.clone().zip(positions).zip(masses).collect();
    let rooms = ScratchPool::<Vec<(u64, u32)>>::default();
    let work = |((root, position), mass): ((u64, &mut [[T; 3]]), &mut [f64])| {
        let keys = rooms.with(|order| {
            order.clear();
            order.extend((0..).zip(position.iter()).map(|(i, x)| (shape.key(unit(side, *x)), i)));
            order.sort_unstable();
            arrange(position, order);
            arrange(mass, order);
            order.iter().map(|(key, _)| *key).collect::<Vec<u64>>()
        });
        let mut levels = crowded(shape, &keys);
        grade(shape, &mut levels);
        let spills = spilt(shape, root, &mut levels);
        (levels, spills)
    };
    let made = executor.map("mesh", items, |((_, position), _)| position.len(), work);
    let (levels, spills): (Vec<_>, Vec<_>) = made.into_iter().unzip();
    (levels, spills.concat())
}

/// Brings values into an order; none stay none.
fn arrange<V: Copy>(values: &mut [V], order: &[(u64, u32)]) {
    if !values.is_empty() {
        let sorted: Vec<V> = order.iter().map(|(_, i)| values[*i as usize]).collect();
        values.copy_from_slice(&sorted);
    }
}

/// Takes what is in other roots.
fn spilt(shape: &Shape, root: u64, levels: &mut SplitLevels) -> Vec<Spill> {
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

type Finished = (Vec<SplitLevels>, Vec<BorderParticle>, Vec<RemoteParticle>);

/// Unites what each root is told with what it has, and finds the particles that reach others.
fn finish<T: Real>(
    shape: &Shape,
    roots: &Roots<T>,
    levels: Vec<SplitLevels>,
    spills: &[Spill],
    executor: &Executor,
) -> Finished {
    let rooms = ScratchPool::<RootParticles>::default();
    let work = |(i, mut levels): (usize, SplitLevels)| {
        let root = roots.keys.start + i as u64;
        let told = &spills[spills.partition_point(|s| s.root < root)..];
        for spill in &told[..told.partition_point(|s| s.root == root)] {
            levels[usize::from(spill.level as u8 - shape.level_min)].push(spill.brick);
        }
        levels.iter_mut().for_each(unite);
        let (borders, foreign) = rooms.with(|desk| reaching(shape, roots, i, &levels, desk));
        (levels, borders, foreign)
    };
    let items = levels.into_iter().enumerate().collect();
    let made = executor.map("grading", items, |(i, _)| roots.particles(*i).len(), work);
    let mut all: Finished = Default::default();
    for (levels, borders, foreign) in made {
        all.0.push(levels);
        all.1.extend(borders);
        all.2.extend(foreign);
    }
    all.1.par_sort_unstable();
    all
}

fn reaching<T: Real>(
    shape: &Shape,
    roots: &Roots<T>,
    i: usize,
    levels: &SplitLevels,
    desk: &mut RootParticles,
) -> (Vec<BorderParticle>, Vec<RemoteParticle>) {
    let (root, rows) = (roots.keys.start + i as u64, roots.particles(i));
    let (mut borders, mut foreign) = (Vec::new(), Vec::new());
    if rows.is_empty() {
        return (borders, foreign);
    }
    desk.lay_out(shape, roots.side, &roots.position[rows.clone()]);
    desk.tree.grow(shape, root, |level| &levels[usize::from(level - shape.level_min)]);
    let particles = RootMasses { key: &desk.key, position: &desk.place, mass: &[], same: 0.0 };
    for_each_border(&desk.tree, shape, root, particles, &mut |particle, level, other| {
        let row = rows.start + particle;
        if roots.keys.contains(&other) {
            borders.push(BorderParticle {
                root: (other - roots.keys.start) as u32,
                particle: row as u32,
                level,
            });
        } else {
            let (position, mass) = (desk.place[particle], roots.mass.get(row));
            foreign.push(RemoteParticle { root: other, level: level.into(), position, mass });
        }
    });
    (borders, foreign)
}
