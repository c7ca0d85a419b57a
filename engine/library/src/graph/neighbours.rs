//! Neighbours of the own particles, and their densities or specific volumes.

use super::ghosts::{GROUPS_AT_ONCE, NearParticles};
use super::particles::OwnParticles;
use super::{GraphDensity, GraphField};
use crate::chunks::{carve, chunks, zeros};
use crate::error::{ParticleGraphError, RunError};
use crate::executor::{Executor, ScratchPool};
use crate::thread_loops::ThreadLoops;
use inselberg_comm::{Comm, Rank};
use inselberg_kernels::graph::{GroupTree, NearestScratch, NearestSearch, Neighbour, SplineSum};
use rayon::prelude::*;
use std::ops::Range;

/// Values of the field, and the neighbours of the own particles above the threshold.
#[derive(Debug)]
pub struct DenseParticles {
    /// The value of each particle, own or ghost.
    pub rho: Vec<f64>,
    /// Lists of neighbours.
    pub runs: Vec<NeighbourRun>,
    /// The field.
    pub field: GraphField,
    /// The greatest value of an own particle.
    pub greatest: f64,
}

/// Test particles and their neighbours, `k` of each, one after the other.
#[derive(Debug, Default)]
pub struct NeighbourRun {
    /// The particles, ascending.
    pub of: Vec<u32>,
    /// The neighbours.
    pub list: Vec<u32>,
    /// The particles of the groups, own or ghosts.
    particles: Range<usize>,
    /// Value of each own particle of the groups.
    rho: Vec<(u32, f64)>,
    /// A particle whose neighbours are all at its place.
    crowded: Option<u32>,
    /// A particle without mass around it, whose specific volume would be infinite.
    without_mass: Option<u32>,
}

/// Collective: neighbours and values. One exchange; none on a single rank.
///
/// # Errors
/// When all neighbours of a particle are at its place, when a specific volume is infinite, or another rank
/// fails.
pub fn find(
    own: &OwnParticles,
    near: &NearParticles,
    k: usize,
    density: GraphDensity,
    field: GraphField,
    comm: &Comm,
    executor: &Executor,
) -> Result<DenseParticles, RunError> {
    let threshold = field.threshold(&own.units);
    let values = GraphValues {
        density,
        unit: own.units.density(),
        mean_density: own.units.mean_density,
        field,
        threshold,
    };
    let mut runs = Vec::new();
    if !own.particles.is_empty() {
        let tree = GroupTree::new(&near.points, &ThreadLoops);
        let search = NearestSearch { points: &near.points, tree: &tree, k };
        let scratches = ScratchPool::<NearestScratch>::default();
        let of_run =
            |run: Range<usize>| scratches.with(|scratch| of_groups(near, &search, run, &values, scratch));
        let size = |run: &Range<usize>| particles(&tree, run).len();
        runs = executor.map("neighbours", chunks(tree.n_groups(), GROUPS_AT_ONCE), size, of_run);
    }
    if let Some(crowded) = runs.iter().find_map(|run| run.crowded) {
        return Err(ParticleGraphError::Crowded { id: near.particles[crowded as usize].id, k }.into());
    }
    if let Some(empty) = runs.iter().find_map(|run| run.without_mass) {
        return Err(ParticleGraphError::WithoutMass { id: near.particles[empty as usize].id, k }.into());
    }
    let mut rho: Vec<f64> = zeros(near.particles.len());
    // The particles of a run are adjacent, and runs follow each other.
    let places = carve(&mut rho, runs.iter().map(|run| run.particles.len()));
    let put = |(run, places): (&mut NeighbourRun, &mut [f64])| {
        let values = std::mem::take(&mut run.rho);
        values.iter().fold(0.0f64, |most, (i, value)| {
            places[*i as usize - run.particles.start] = *value;
            most.max(*value)
        })
    };
    let greatest = runs.par_iter_mut().zip(places).map(put).reduce(|| 0.0, f64::max);
    push(near, &mut rho, comm)?;
    Ok(DenseParticles { rho, runs, field, greatest })
}

/// From particles and their neighbours to values of the field.
struct GraphValues {
    density: GraphDensity,
    /// Density in code units per unit of the graph.
    unit: f64,
    mean_density: f64,
    field: GraphField,
    threshold: f64,
}

impl GraphValues {
    /// The density of a particle in code units; `None` where all neighbours are at its place.
    fn density(&self, near: &NearParticles, particle: u32, neighbours: &[Neighbour]) -> Option<f64> {
        let mass = |i: u32| near.particles[i as usize].mass;
        match self.density {
            GraphDensity::Neighbours => {
                let sum = SplineSum::new(neighbours, mass(particle), mass);
                sum.density().map(|density| density * self.unit)
            }
            GraphDensity::Given => Some(near.particles[particle as usize].given_density),
        }
    }
}

/// Local: the particles of some groups.
fn of_groups(
    near: &NearParticles,
    search: &NearestSearch,
    groups: Range<usize>,
    values: &GraphValues,
    scratch: &mut NearestScratch,
) -> NeighbourRun {
    let mut found = NeighbourRun { particles: particles(search.tree, &groups), ..NeighbourRun::default() };
    for group in groups {
        if !search.tree.particles(group).any(|i| near.own(i).is_some()) {
            continue;
        }
        search.group(group, scratch, |i, neighbours| {
            if near.own(i).is_none() {
                return;
            }
            let particle = i as u32;
            let Some(density) = values.density(near, particle, neighbours) else {
                found.crowded.get_or_insert(particle);
                return;
            };
            let value = values.field.value(density, values.mean_density);
            if value.is_infinite() {
                found.without_mass.get_or_insert(particle);
            }
            found.rho.push((particle, value));
            if value > values.threshold {
                found.of.push(particle);
                found.list.extend(neighbours.iter().map(|n| n.index));
            }
        });
    }
    found
}

/// The particles of adjacent groups.
fn particles(tree: &GroupTree, groups: &Range<usize>) -> Range<usize> {
    tree.particles(groups.start).start..tree.particles(groups.end - 1).end
}

/// Collective: gives ghosts the values of their owners.
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
    let values = received.into_iter().flat_map(|(_, list)| list);
    for ((_, ghost), value) in ghosts.iter().zip(values) {
        rho[*ghost] = value;
    }
    Ok(())
}
