//! Neighbours and densities of the own particles.

use super::ghosts::{GROUPS_AT_ONCE, NearParticles};
use super::particles::OwnParticles;
use crate::chunks::chunks;
use crate::error::{ParticleGraphError, RunError};
use crate::executor::{Executor, ScratchPool};
use inselberg_comm::{Comm, Rank};
use inselberg_kernels::graph::{GroupTree, NearestScratch, NearestSearch, SplineSum};
use std::ops::Range;

/// Densities, and the neighbours of the own particles that are denser than the threshold.
#[derive(Debug)]
pub struct DenseParticles {
    /// The density of each particle, own or ghost, in code units.
    pub rho: Vec<f64>,
    /// Lists of neighbours.
    pub runs: Vec<NeighbourRun>,
    /// The threshold in code units.
    pub threshold: f64,
    /// The greatest density of an own particle.
    pub densest: f64,
}

/// Dense particles and their neighbours, `k` of each, one after the other.
#[derive(Debug, Default)]
pub struct NeighbourRun {
    /// The particles, ascending.
    pub of: Vec<u32>,
    /// The neighbours.
    pub list: Vec<u32>,
    /// Density of each own particle of the groups.
    rho: Vec<(u32, f64)>,
    /// A particle whose neighbours are all at its place.
    crowded: Option<u32>,
}

/// Collective: neighbours and densities. One exchange; none on a rank alone.
///
/// # Errors
/// When all neighbours of a particle are at its place, or another rank fails.
pub fn find(
    own: &OwnParticles,
    near: &NearParticles,
    k: usize,
    threshold: f64,
    comm: &Comm,
    executor: &Executor,
) -> Result<DenseParticles, RunError> {
    let unit = own.units.density();
    let mut runs = Vec::new();
    if !own.particles.is_empty() {
        let tree = GroupTree::new(&near.points);
        let search = NearestSearch { points: &near.points, tree: &tree, k };
        let scratches = ScratchPool::<NearestScratch>::default();
        let of_run = |run: Range<usize>| {
            scratches.with(|scratch| of_groups(near, &search, run, threshold, unit, scratch))
        };
        let size = |run: &Range<usize>| tree.particles(run.end - 1).end - tree.particles(run.start).start;
        runs = executor.map("neighbours", chunks(tree.n_groups(), GROUPS_AT_ONCE), size, of_run);
    }
    if let Some(crowded) = runs.iter().find_map(|run| run.crowded) {
        return Err(ParticleGraphError::Crowded { id: near.particles[crowded as usize].id, k }.into());
    }
    let mut rho = vec![0.0; near.particles.len()];
    let mut densest = 0.0f64;
    for run in &mut runs {
        for (i, density) in std::mem::take(&mut run.rho) {
            rho[i as usize] = density;
            densest = densest.max(density);
        }
    }
    push(near, &mut rho, comm)?;
    Ok(DenseParticles { rho, runs, threshold, densest })
}

/// Local: the particles of some groups.
fn of_groups(
    near: &NearParticles,
    search: &NearestSearch,
    groups: Range<usize>,
    threshold: f64,
    unit: f64,
    scratch: &mut NearestScratch,
) -> NeighbourRun {
    let mut found = NeighbourRun::default();
    let mass = |i: u32| near.particles[i as usize].mass;
    for group in groups {
        if !search.tree.particles(group).any(|i| near.own(i).is_some()) {
            continue;
        }
        search.group(group, scratch, |i, neighbours| {
            if near.own(i).is_none() {
                return;
            }
            let particle = i as u32;
            let Some(density) = SplineSum::new(neighbours, mass(particle), mass).density() else {
                found.crowded.get_or_insert(particle);
                return;
            };
            let density = density * unit;
            found.rho.push((particle, density));
            if density > threshold {
                found.of.push(particle);
                found.list.extend(neighbours.iter().map(|n| n.index));
            }
        });
    }
    found
}

/// Collective: gives ghosts the densities of their owners.
fn push(near: &NearParticles, rho: &mut [f64], comm: &Comm) -> Result<(), RunError> {
    if comm.n_ranks() == 1 {
        return Ok(());
    }
    let mut place_of_own = vec![0; near.particles.len()];
    let mut ghosts: Vec<(u32, usize)> = Vec::new();
    for i in 0..near.particles.len() {
        match near.own(i) {
            Some(own) => place_of_own[own] = i,
            None => ghosts.push((near.origin(i).rank, i)),
        }
    }
    // Stable: within a rank ghosts are in the order of their places there.
    ghosts.sort_by_key(|(rank, _)| *rank);
    let of_served = |list: &Vec<u32>| list.iter().map(|own| rho[place_of_own[*own as usize]]).collect();
    let parts: Vec<(Rank, Vec<f64>)> = near
        .served
        .iter()
        .map(|(to, list)| (*to, of_served(list)))
        .filter(|(_, list): &(_, Vec<f64>)| !list.is_empty())
        .collect();
    let received = comm.exchange(parts)?;
    let densities = received.into_iter().flat_map(|(_, list)| list);
    for ((_, ghost), density) in ghosts.iter().zip(densities) {
        rho[*ghost] = density;
    }
    Ok(())
}
