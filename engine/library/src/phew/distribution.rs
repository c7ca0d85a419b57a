//! The distribution of volume and mass over density.
//!
//! Outside the flow of a run: it reads only the density that a run would segment. It helps to choose
//! thresholds, but has none itself.
//!
//! Invariant: leaves are counted by interval of density and level, so the order of threads changes nothing.

use super::Rules;
use super::input::{ChosenField, choose_source};
use super::params::FieldChoice;
use crate::density::read::{first_bad, read_field};
use crate::density::{DensitySource, LeafValues};
use crate::error::RunError;
use crate::executor::Executor;
use crate::field::AmrField;
use inselberg_comm::Comm;
use inselberg_io::{ReadError, ReadResult, Snapshot};
use inselberg_kernels::mesh::local;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Bits of a double below those that number its interval: 32 intervals per factor of 2.
const FINE_BITS: u32 = 47;

/// The leaves of a field by density.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DensityDistribution {
    /// The number of leaves by interval of density, falling, and level. Intervals hold positive densities.
    counts: BTreeMap<(Reverse<u32>, u8), u64>,
    /// Leaves that are not denser than 0, by level.
    not_positive: BTreeMap<u8, u64>,
}

/// The leaves above a density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AboveDensity {
    /// The density (code units), the lower end of an interval.
    pub density: f64,
    /// The part of the box, 0 to 1.
    pub volume: f64,
    /// The part of the mass, 0 to 1.
    pub mass: f64,
    /// The number of leaves.
    pub cells: u64,
}

/// Local: reads the density of `snapshot` that `field` names by these rules.
///
/// # Errors
/// There is no such field, or no particles to make it from. A piece cannot be read, or the octs are no
/// octree.
pub fn distribution(
    snapshot: &dyn Snapshot,
    (field, rules): (&FieldChoice, Rules),
    comm: &Comm,
    executor: &Executor,
) -> Result<(ChosenField, DensityDistribution), RunError> {
    let source = choose_source(snapshot, field, rules)?;
    let chosen = ChosenField::new(snapshot, source, field);
    if !snapshot.is_octree() {
        let DensitySource::Cells(name) = source else { return Err(RunError::NoOctree) };
        return Ok((chosen, DensityDistribution::of_leaves(snapshot, name)?));
    }
    let read = read_field(snapshot, source, LeafValues::Any, comm, executor)?;
    Ok((chosen, DensityDistribution::of_field(&read)))
}

impl DensityDistribution {
    /// The distribution of all leaves of a field.
    fn of_field(field: &AmrField) -> Self {
        let mesh = &field.mesh;
        let of_super = |mut all: Self, s: usize| {
            let level = mesh.level_of_super(s);
            for b in mesh.bricks_of(&mesh.supers()[s]) {
                let brick = &mesh.bricks()[b];
                for bit in local::bits(brick.leaf) {
                    let cell = brick.cell(bit).expect("a leaf is a cell");
                    all.add(level, field.rho[cell.at()]);
                }
            }
            all
        };
        (0..mesh.supers().len())
            .into_par_iter()
            .fold(Self::default, of_super)
            .reduce(Self::default, Self::joined)
    }

    /// The distribution of the leaves of a snapshot without split cells.
    fn of_leaves(snapshot: &dyn Snapshot, field: &str) -> ReadResult<Self> {
        let of_piece = |piece| {
            let mut all = Self::default();
            snapshot.octs(piece, &[field], &mut |block| {
                if let Some((value, at)) = first_bad(block, &block.values[0], LeafValues::Any) {
                    let place = snapshot.place_of(piece, Some(field));
                    return Err(ReadError::bad_value(place, field, value, block.level, at));
                }
                for (absent, values) in block.split.iter().zip(&block.values[0]) {
                    local::bits(u64::from(!absent)).for_each(|i| all.add(block.level, values[i as usize]));
                }
                Ok(())
            })?;
            Ok(all)
        };
        let pieces = (0..snapshot.header().n_pieces).into_par_iter().map(of_piece);
        pieces.try_reduce(Self::default, |a, b| Ok(a.joined(b)))
    }

    /// Adds a leaf.
    pub fn add(&mut self, level: u8, density: f64) {
        let count = match density > 0.0 {
            true => self.counts.entry((Reverse((density.to_bits() >> FINE_BITS) as u32), level)).or_default(),
            false => self.not_positive.entry(level).or_default(),
        };
        *count += 1;
    }

    fn joined(mut self, other: Self) -> Self {
        other.counts.into_iter().for_each(|(key, n)| *self.counts.entry(key).or_default() += n);
        other
            .not_positive
            .into_iter()
            .for_each(|(level, n)| *self.not_positive.entry(level).or_default() += n);
        self
    }

    /// The leaves above the lower end of each non-empty interval, by falling density. Intervals are about 3 %
    /// wide, and so is the error of the mass in one of them.
    pub fn above(&self) -> Vec<AboveDensity> {
        let mut rows: Vec<AboveDensity> = Vec::new();
        let mut sum = AboveDensity { density: f64::INFINITY, volume: 0.0, mass: 0.0, cells: 0 };
        for part in self.parts() {
            sum.volume += part.volume;
            sum.mass += part.volume * part.density;
            sum.cells += part.cells;
            let row =
                AboveDensity { density: part.low, volume: sum.volume, mass: sum.mass, cells: sum.cells };
            match rows.last_mut().filter(|last| last.density == part.low) {
                Some(last) => *last = row,
                None => rows.push(row),
            }
        }
        let volume = sum.volume + self.empty_volume();
        rows.iter_mut().for_each(|row| (row.volume, row.mass) = (row.volume / volume, row.mass / sum.mass));
        rows
    }

    /// The mean density of the box (code units); negative leaves count as 0. 0 without leaves.
    pub fn mean(&self) -> f64 {
        let (mut mass, mut volume) = (0.0, self.empty_volume());
        for part in self.parts() {
            mass += part.volume * part.density;
            volume += part.volume;
        }
        if volume > 0.0 { mass / volume } else { 0.0 }
    }

    /// The leaves of each interval and level, by falling density.
    fn parts(&self) -> impl Iterator<Item = DensityInterval> {
        self.counts.iter().map(|(&(Reverse(interval), level), &cells)| {
            let end = |interval: u64| f64::from_bits(interval << FINE_BITS).min(f64::MAX);
            let (low, high) = (end(interval.into()), end(u64::from(interval) + 1));
            DensityInterval {
                low,
                density: 0.5 * low + 0.5 * high,
                volume: cells as f64 * volume_of(level),
                cells,
            }
        })
    }

    /// The volume of leaves that are not denser than 0.
    fn empty_volume(&self) -> f64 {
        self.not_positive.iter().map(|(level, n)| *n as f64 * volume_of(*level)).sum()
    }
}

/// The leaves of one interval and level.
struct DensityInterval {
    /// The lower end of the interval.
    low: f64,
    /// Its middle.
    density: f64,
    /// In units of the level-0 cell.
    volume: f64,
    cells: u64,
}

/// The volume of a cell in units of the level-0 cell.
fn volume_of(level: u8) -> f64 {
    0.125f64.powi(level.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_leaves() {
        let mut all = DensityDistribution::default();
        // Half of the box at density 1, a quarter each at 64 and at nothing, in cells of two levels.
        (0..4).for_each(|_| all.add(1, 1.0));
        (0..16).for_each(|_| all.add(2, 64.0));
        (0..2).for_each(|_| all.add(1, 0.0));
        let rows = all.above();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].density, rows[0].volume, rows[0].cells), (64.0, 0.25, 16));
        assert_eq!((rows[1].density, rows[1].volume, rows[1].cells), (1.0, 0.75, 20));
        assert!((rows[0].mass - 16.0 / 16.5).abs() < 1e-3 && rows[1].mass == 1.0, "{rows:?}");
        assert!((all.mean() / 16.5 - 1.0).abs() < 0.02, "{}", all.mean());
        let mut halves = [DensityDistribution::default(), DensityDistribution::default()];
        halves[0].add(3, 5.0);
        halves[1].add(3, 5.01);
        halves[1].add(2, -1.0);
        let [a, b] = halves;
        assert_eq!(a.clone().joined(b.clone()), b.joined(a));
    }

    #[test]
    fn nothing_has_no_rows() {
        assert!(DensityDistribution::default().above().is_empty());
        assert_eq!(DensityDistribution::default().mean(), 0.0);
    }
}
