//! From a snapshot to a mesh with a density, and to further fields of its test cells, on one rank.

use super::{DensitySource, LeafValues, domain};
use crate::chunks::append;
use crate::density::{deposit, deposit_with_gas, read_particles};
use crate::error::RunError;
use crate::executor::Executor;
use crate::field::{AmrField, LevelOcts};
use crate::pieces::{Part, begun, each_part};
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::{OctBlock, ReadError, ReadResult, Snapshot};
use inselberg_kernels::mesh::{Mesh, local};
use inselberg_kernels::phew::test_cells::TestCells;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Reads the whole field, or makes it from the particles. For one rank. `values` says what leaves of
/// [`DensitySource::Cells`] may have.
///
/// # Errors
/// When a piece cannot be read, holds values that are not densities, or the octs are not an octree.
pub fn read_field(
    snapshot: &dyn Snapshot,
    source: DensitySource,
    values: LeafValues,
    comm: &Comm,
    executor: &Executor,
) -> Result<AmrField, RunError> {
    let (header, observer) = (snapshot.header(), executor.observer());
    let pieces = header.n_pieces as u64;
    let stage = Stage::begin("reading", pieces, comm, observer);
    let field = read_mesh(snapshot, source.field(), source.leaf_values(values), observer)?;
    stage.count(field.mesh.n_leaves() as u64);
    drop(stage);
    if matches!(source, DensitySource::Cells(_)) {
        return Ok(field);
    }
    let stage = Stage::begin("reading", pieces, comm, observer);
    let particles = read_particles(snapshot, source.deposited(), observer)?;
    stage.count(particles.mass.len() as u64);
    drop(stage);
    let work = || match source {
        DensitySource::Particles(scheme) => deposit(field.mesh, &particles, scheme, header.boxlen, executor),
        _ => deposit_with_gas(field, &particles, header.boxlen, executor),
    };
    Ok(Stage::run("density", particles.mass.len() as u64, comm, observer, work))
}

/// Local: reads every oct of a snapshot with the values of `field` (`None`: zeros), by all threads.
///
/// # Errors
/// When a piece cannot be read, a leaf has a value that `values` does not allow, or the octs are not an
/// octree.
pub fn read_mesh(
    snapshot: &dyn Snapshot,
    field: Option<&str>,
    values: LeafValues,
    observer: &dyn Observer,
) -> Result<AmrField, RunError> {
    let read = |part: Part| {
        let levels = read_part(snapshot, part, field, values);
        observer.advance(begun(part));
        levels
    };
    let parts = each_part(snapshot, &Comm::solo(), read)?;
    Ok(AmrField::from_octs(domain(snapshot), merge(parts))?)
}

fn read_part(
    snapshot: &dyn Snapshot,
    (piece, blocks): Part,
    field: Option<&str>,
    allowed: LeafValues,
) -> ReadResult<Vec<LevelOcts>> {
    let mut levels: Vec<LevelOcts> = Vec::new();
    let fields: Vec<&str> = field.into_iter().collect();
    snapshot.octs_of(piece, blocks, &fields, &mut |block| {
        let level = usize::from(block.level);
        if levels.len() <= level {
            levels.resize_with(level + 1, LevelOcts::default);
        }
        let octs = &mut levels[level];
        octs.position.extend_from_slice(&block.position);
        octs.split.extend_from_slice(&block.split);
        match (block.values.first(), field) {
            (Some(values), Some(name)) => {
                if let Some((value, at)) = first_bad(block, values, allowed) {
                    let place = snapshot.place_of(piece, field);
                    return Err(ReadError::bad_value(place, name, value, block.level, at));
                }
                octs.values.extend_from_slice(values);
            }
            _ => octs.values.resize(octs.position.len(), [0.0; 8]),
        }
        Ok(())
    })?;
    Ok(levels)
}

/// The first value that is not allowed, and the position of its cell. `allowed` is for leaves; split cells
/// may have any finite value.
pub(crate) fn first_bad(
    block: &OctBlock,
    values: &[[f64; 8]],
    allowed: LeafValues,
) -> Option<(f64, [u32; 3])> {
    for (oct, cells) in values.iter().enumerate() {
        for (i, &value) in cells.iter().enumerate() {
            let is_leaf = block.split[oct] >> i & 1 == 0;
            let allowed = if is_leaf { allowed } else { LeafValues::Any };
            if allowed.allow(value) {
                continue;
            }
            let at: [u32; 3] = std::array::from_fn(|a| 2 * block.position[oct][a] + (i as u32 >> a & 1));
            return Some((value, at));
        }
    }
    None
}

fn merge(parts: Vec<Vec<LevelOcts>>) -> Vec<LevelOcts> {
    let mut parts = parts.into_iter();
    // A snapshot without pieces has no levels.
    let mut all = parts.next().unwrap_or_default();
    for part in parts {
        if all.len() < part.len() {
            all.resize_with(part.len(), LevelOcts::default);
        }
        for (into, octs) in all.iter_mut().zip(part) {
            append(&mut into.position, &octs.position);
            append(&mut into.split, &octs.split);
            append(&mut into.values, &octs.values);
        }
    }
    all
}

/// Local: reads `fields` for the test cells only: one vector per field.
///
/// # Errors
/// When a piece cannot be read, or the value of a test cell is not finite.
pub fn read_tests(
    snapshot: &dyn Snapshot,
    mesh: &Mesh,
    test_cells: &TestCells,
    fields: &[&str],
) -> ReadResult<Vec<Vec<f64>>> {
    let columns: Vec<Vec<AtomicU64>> = fields
        .iter()
        .map(|_| (0..test_cells.len()).into_par_iter().map(|_| AtomicU64::new(0)).collect())
        .collect();
    each_part(snapshot, &Comm::solo(), |(piece, blocks)| {
        snapshot.octs_of(piece, blocks, fields, &mut |block| {
            for (oct, position) in block.position.iter().enumerate() {
                let cell = position.map(|x| 2 * x);
                let Some((brick, first_bit)) = mesh.find_brick(block.level, cell) else { continue };
                let mask = test_cells.mask[brick.at()];
                for bit in local::bits(mask & 0xff << first_bit) {
                    let test = test_cells.first[brick.at()] + local::rank(mask, bit);
                    let i = (bit - first_bit) as usize;
                    for (f, column) in columns.iter().enumerate() {
                        let value = block.values[f][oct][i];
                        if !value.is_finite() {
                            let at = local::position_of(mesh.bricks()[brick.at()].position, bit);
                            let place = snapshot.place_of(piece, Some(fields[f]));
                            return Err(ReadError::bad_value(place, fields[f], value, block.level, at));
                        }
                        column[test as usize].store(value.to_bits(), Relaxed);
                    }
                }
            }
            Ok(())
        })
    })?;
    let real = |bits: AtomicU64| f64::from_bits(bits.into_inner());
    Ok(columns.into_iter().map(|column| column.into_par_iter().map(real).collect()).collect())
}
