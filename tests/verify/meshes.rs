//! Random octrees with densities: graded or with jumps of several levels, in boxes of one to three
//! coarse cells an axis that wrap or not, densities full of ties or all different.

use super::brute::{Leaf, touch};
use super::random::Random;
use inselberg::field::{AmrField, LevelOcts};
use inselberg_kernels::geom::Domain;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Leaves that fill a box.
#[derive(Debug, Clone)]
pub struct Field {
    pub domain: Domain,
    pub leaves: Vec<Leaf>,
}

/// Where a cell is.
type Place = (u8, [u32; 3]);

/// No mesh is split further than to about this many leaves.
const MANY: usize = 500;

/// Any mesh up to some 600 leaves, over one to four levels or, in zooms, seven.
pub fn any_field() -> impl Strategy<Value = Field> {
    let domain = (prop::array::uniform3(1..=3u32), prop::array::uniform3(any::<bool>()));
    let splits = prop::collection::vec((any::<u16>(), 1..=5u8), 0..14);
    (domain, 0..=2u8, splits, any::<bool>(), 0..=6usize, any::<u64>()).prop_map(
        |((coarse, periodic), base, splits, is_graded, n_values, seed)| {
            let mut random = Random(seed);
            let mut field = Field::uniform(Domain { coarse, periodic }, base);
            for (which, depth) in splits {
                let at = usize::from(which) % field.leaves.len();
                field.zoom(place(&field.leaves[at]), depth, is_graded, &mut random);
            }
            field.fill(n_values, &mut random);
            field
        },
    )
}

/// Thresholds that often hit a density, a mean of two, or a ratio of two exactly.
pub fn threshold_for(field: &Field, random: &mut Random) -> f64 {
    match random.below(4) {
        0 => 0.0,
        1 => field.leaves[random.below(field.leaves.len())].rho,
        _ => 0.5 * field.leaves[random.below(field.leaves.len())].rho,
    }
}

impl Field {
    /// Cells of one level; of a coarser one if they were too many.
    pub fn uniform(domain: Domain, level: u8) -> Self {
        let n: i64 = domain.extent(level).iter().product();
        if n as usize > MANY && level > 0 {
            return Self::uniform(domain, level - 1);
        }
        Self::uniform_at(domain, level)
    }

    /// Cells of one level, however many.
    pub fn uniform_at(domain: Domain, level: u8) -> Self {
        let [nx, ny, nz] = domain.extent(level).map(|n| n as u32);
        let mut leaves = Vec::new();
        for z in 0..nz {
            for y in 0..ny {
                leaves.extend((0..nx).map(|x| Leaf { level, ijk: [x, y, z], rho: 1.0 }));
            }
        }
        Self { domain, leaves }
    }

    /// The same cells with densities by place.
    pub fn with(mut self, rho: impl Fn(&Leaf) -> f64) -> Self {
        self.leaves.iter_mut().for_each(|leaf| leaf.rho = rho(leaf));
        self
    }

    /// Random densities of `n_values` values, or any for 0.
    pub fn fill(&mut self, n_values: usize, random: &mut Random) {
        for leaf in &mut self.leaves {
            leaf.rho = match n_values {
                0 => 0.1 + 10.0 * random.real(),
                n => 1.0 + random.below(n) as f64 * 0.75,
            };
        }
    }

    /// Random densities far apart: over 600 powers of ten, about where single precision ends below the
    /// densest, or with few digits because they are least of all.
    pub fn fill_far_apart(&mut self, random: &mut Random) {
        let (kind, top) = (random.below(3), random.below(230) as i32);
        for leaf in &mut self.leaves {
            let digits = 1.0 + random.below(9) as f64 * random.pick(&[1.0, 1e-3, 1e-7]);
            leaf.rho = match kind {
                0 => digits * 10.0_f64.powi(random.below(600) as i32 - 300),
                1 if random.chance(0.03) => digits * 10.0_f64.powi(top),
                1 => digits * 10.0_f64.powi(top - 65 - random.below(5) as i32),
                _ => f64::from_bits(1 + random.below(40) as u64),
            };
        }
    }

    /// Splits a leaf, one of its children, and so on.
    pub fn zoom(&mut self, mut at: Place, depth: u8, is_graded: bool, random: &mut Random) {
        for _ in 0..depth {
            if self.leaves.len() > MANY {
                return;
            }
            self.split(at, is_graded);
            at = child(at, random.below(8) as u32);
        }
    }

    /// Replaces a leaf by its eight children; in a graded mesh its coarser neighbours go first.
    pub fn split(&mut self, at: Place, is_graded: bool) {
        while let Some(coarser) = self.coarser_neighbour(at).filter(|_| is_graded) {
            self.split(coarser, true);
        }
        let leaf = self.leaves.swap_remove(self.find(at));
        self.leaves.extend((0..8).map(|i| {
            let (level, ijk) = child(at, i);
            Leaf { level, ijk, ..leaf }
        }));
    }

    fn coarser_neighbour(&self, at: Place) -> Option<Place> {
        let leaf = &self.leaves[self.find(at)];
        let is_coarser = |l: &&Leaf| l.level < leaf.level && touch(&self.domain, l, leaf);
        self.leaves.iter().find(is_coarser).map(place)
    }

    fn find(&self, at: Place) -> usize {
        self.leaves.iter().position(|l| place(l) == at).expect("a leaf is split")
    }

    /// Without the leaves that fail.
    pub fn only(&self, keep: impl Fn(&Leaf) -> bool) -> Self {
        Self { domain: self.domain, leaves: self.leaves.iter().copied().filter(keep).collect() }
    }

    /// As the library takes leaves.
    pub fn leaves_as_amr(&self) -> AmrField {
        let level: Vec<u8> = self.leaves.iter().map(|l| l.level).collect();
        let ijk: Vec<[u32; 3]> = self.leaves.iter().map(|l| l.ijk).collect();
        let rho: Vec<f64> = self.leaves.iter().map(|l| l.rho).collect();
        AmrField::from_leaves(self.domain, &level, &ijk, &rho).expect("the leaves are sound")
    }

    /// As the library takes octs, if every leaf is in one. Split cells hold huge values that must
    /// play no part.
    pub fn octs_as_amr(&self) -> Option<AmrField> {
        if self.leaves.iter().any(|l| l.level == 0) {
            return None;
        }
        let octs = AmrField::from_octs(self.domain, self.octs());
        Some(octs.expect("the octs are sound"))
    }

    /// The octs about all leaves, by level of their cells.
    pub fn octs(&self) -> Vec<LevelOcts> {
        let rho: BTreeMap<Place, f64> = self.leaves.iter().map(|l| (place(l), l.rho)).collect();
        let ancestors = self.leaves.iter().flat_map(|l| (1..=l.level).map(|up| parent(place(l), up)));
        let split: BTreeSet<Place> = ancestors.collect();
        let deepest = self.leaves.iter().map(|l| l.level).max().unwrap_or(0);
        let mut levels = vec![LevelOcts::default(); usize::from(deepest) + 1];
        for &cell in &split {
            let octs = &mut levels[usize::from(cell.0) + 1];
            let children: [Place; 8] = std::array::from_fn(|i| child(cell, i as u32));
            octs.position.push(cell.1);
            let is_split = |i: &usize| split.contains(&children[*i]);
            octs.split.push((0..8).filter(is_split).map(|i| 1u8 << i).sum());
            octs.values.push(children.map(|c| rho.get(&c).copied().unwrap_or(1e300)));
        }
        levels
    }
}

/// Where a leaf is.
pub fn place(leaf: &Leaf) -> Place {
    (leaf.level, leaf.ijk)
}

/// The i-th child of a cell.
pub fn child((level, ijk): Place, i: u32) -> Place {
    (level + 1, std::array::from_fn(|a| ijk[a] << 1 | i >> a & 1))
}

fn parent((level, ijk): Place, up: u8) -> Place {
    (level - up, ijk.map(|x| x >> up))
}
