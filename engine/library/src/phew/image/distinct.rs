//! How many places on the sky does each clump of a cube cover?
//!
//! Several channels of a clump share a place, so this number is no sum over pixels. Ranks send the places of
//! a clump to the rank that holds its row, which counts each of them once.

use crate::exchange::grouped;
use crate::phew::hierarchy::Structures;
use crate::phew::member_places::LeafPlaces;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::mesh::local;
use inselberg_kernels::props::Structure;
use rayon::prelude::*;

/// A place on the sky of a clump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct PlaceOfClump {
    clump: u64,
    place: u64,
}

/// Collective: the number of distinct places on the sky of each clump and each halo of this rank. `pixels`
/// are pairs of a patch and a place, in any order and number. `labels` are the clump and the halo of each
/// patch.
///
/// # Errors
/// When another rank fails.
pub fn sky_pixels(
    pixels: &[(usize, u64)],
    labels: [&[u64]; 2],
    found: &Structures,
    comm: &Comm,
) -> Result<[Vec<u64>; 2], CommError> {
    let of = |labels: &[u64], rows: &[Structure]| {
        let label = |patch: usize| labels.get(patch).copied().unwrap_or(0);
        let places = pixels.iter().map(|(patch, place)| (label(*patch), *place)).collect();
        distinct_places(places, rows, comm)
    };
    Ok([of(labels[0], &found.clumps)?, of(labels[1], &found.haloes)?])
}

/// Collective: the number of distinct places of each of `rows`, which are the rows of this rank by
/// identifier. `places` are pairs of an identifier, 0 for none, and a place, in any order and number.
fn distinct_places(places: Vec<(u64, u64)>, rows: &[Structure], comm: &Comm) -> Result<Vec<u64>, CommError> {
    let kept = places.into_par_iter().filter(|(clump, _)| *clump > 0);
    let mut all: Vec<_> = kept.map(|(clump, place)| PlaceOfClump { clump, place }).collect();
    all.par_sort_unstable();
    all.dedup();
    if comm.n_ranks() > 1 {
        // The first identifier of each rank that has rows; rows continue from rank to rank.
        let last = rows.last().map_or(0, |row| row.id);
        let lasts: Vec<u64> = comm.all_gather(&[last])?;
        let holder = |clump: u64| lasts.iter().position(|last| *last >= clump);
        let to_holders = all.iter().filter_map(|of| Some((Rank(holder(of.clump)? as u32), *of)));
        let to_holders: Vec<(Rank, PlaceOfClump)> = to_holders.collect();
        let received = comm.exchange(grouped(&to_holders, |of| *of))?;
        all = received.into_iter().flat_map(|(_, list)| list).collect();
        all.par_sort_unstable();
        all.dedup();
    }
    let mut counts = vec![0; rows.len()];
    for same in all.chunk_by(|a, b| a.clump == b.clump) {
        // Clumps of small haloes have no row.
        if let Ok(row) = rows.binary_search_by_key(&same[0].clump, |row| row.id) {
            counts[row] = same.len() as u64;
        }
    }
    Ok(counts)
}

/// The place on the sky of a position, `axes` being the sky.
pub fn sky_place(position: [u32; 3], [x, y]: [usize; 2]) -> u64 {
    u64::from(position[x]) << 32 | u64::from(position[y])
}

/// The patch and the place on the sky of the own test cells of a rank, `axes` being the sky. Neighbours along
/// the line of sight may be left out. `own` has the mask of own cells per brick, or is empty where all are.
pub fn places_of_patches(places: &LeafPlaces<'_>, own: &[u64], axes: [usize; 2]) -> Vec<(usize, u64)> {
    let LeafPlaces { part, segmentation } = places;
    let mesh = &part.field.mesh;
    let of_brick = |b: usize| {
        let mask = segmentation.test_cells.mask[b] & own.get(b).copied().unwrap_or(u64::MAX);
        let of_cell = |bit: u32| {
            let patch = segmentation.test_cells.at(b, bit).map(|t| segmentation.labels[t.at()].at());
            let position = local::position_of(mesh.bricks()[b].position, bit);
            (patch.expect("it is a test cell"), sky_place(position, axes))
        };
        let mut cells: Vec<(usize, u64)> = local::bits(mask).map(of_cell).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    };
    (0..mesh.bricks().len()).into_par_iter().flat_map_iter(of_brick).collect()
}
