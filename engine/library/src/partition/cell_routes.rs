//! The mesh of given cells, and how values get from the givers of cells to their owners and back.
//!
//! ```text
//!   given by rank 0      a  b  c        owners of the keys: rank 0 owns a and d, rank 1 owns b and c
//!   given by rank 1      d
//!                                       rank 0 sends: to 0 [a]     to 1 [b, c]     receives: from 0 [a]   from 1 [d]
//!                                       rank 1 sends: to 0 [d]                     receives: from 0 [b, c]
//! ```
//!
//! Sender and receiver keep these lists, in the same order, as long as the mesh. A step with new values is
//! then one message per pair of ranks, and labels go back the same way.

use super::assemble::CellSet;
use super::decompose;
use super::given_cells::{GivenCells, ItemLayout};
use super::held_cells::{HeldCells, Request};
use super::local_field::LocalField;
use super::migrate::OctMessages;
use super::test_rule::TestRule;
use super::weights::Weights;
use crate::chunks::zeros;
use crate::column::Column;
use crate::density::LeafValues;
use crate::error::RunError;
use crate::field::{AmrField, items_by_level, leaf_mesh, mesh_of_leaf_octs, octree};
use crate::progress::Observer;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::mesh::{Mesh, MeshError, local};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The mesh of given cells on this rank, and the routes of their values.
#[derive(Debug)]
pub(crate) struct PlacedCells {
    /// Own cells and ghosts, with the densities that they were placed by.
    pub part: LocalField,
    /// The routes.
    pub routes: CellRoutes,
}

/// How cells are divided among ranks.
pub(crate) struct Division<'a> {
    /// Densities of the given cells.
    pub rho: Column<'a>,
    /// Leaves denser than this are test cells.
    pub threshold: f64,
    /// What is divided evenly.
    pub weights: Weights,
}

/// Collective: brings the given cells of all ranks to their owners, with their densities.
///
/// # Errors
/// When cells repeat or overlap, octs are no octree, or counts do not fit; when another rank fails.
pub(crate) fn place(
    domain: Domain,
    given: &GivenCells,
    division: &Division,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<PlacedCells, RunError> {
    if given.n_cells() >= u32::MAX as usize {
        return Err(MeshError::TooManyCells(given.n_cells() as u64).into());
    }
    match comm.n_ranks() {
        1 => place_alone(domain, given, division, comm),
        _ => place_shared(domain, given, division, comm, observer),
    }
}

fn place_alone(
    domain: Domain,
    given: &GivenCells,
    division: &Division,
    comm: &Comm,
) -> Result<PlacedCells, RunError> {
    let (mut mesh, order) = match given {
        GivenCells::Leaves { level, position } => leaf_mesh(domain, level, position)?,
        GivenCells::Octs { level, position, split } => mesh_of_octs(domain, level, position, split)?,
        GivenCells::Blocks { .. } => mesh_of_blocks(domain, given)?,
    };
    if !matches!(given, GivenCells::Octs { .. }) {
        mesh.set_leaves_above(division.threshold);
    }
    let routes = CellRoutes::Alone { order, place: OnceLock::new(), layout: given.layout() };
    let mut part = LocalField::whole(AmrField { rho: zeros(mesh.n_cells()), mesh });
    routes.to_cells(&division.rho, &mut part.field.rho, comm)?;
    Ok(PlacedCells { part, routes })
}

/// The mesh of the octs of blocks that are not covered, and the index of each of them.
fn mesh_of_blocks(domain: Domain, given: &GivenCells) -> Result<(Mesh, Vec<u32>), MeshError> {
    let record = |item: u32| given.record(item as usize, |_| 0.0);
    let items: Vec<u32> =
        (0..given.n_items() as u32).into_par_iter().filter(|item| record(*item).exists != 0).collect();
    let level: Vec<u8> = items.par_iter().map(|item| record(*item).level).collect();
    let position: Vec<[u32; 3]> = items.par_iter().map(|item| record(*item).position).collect();
    let (mesh, order) = mesh_of_leaf_octs(domain, &level, &position)?;
    Ok((mesh, order.into_iter().map(|i| items[i as usize]).collect()))
}

/// The mesh of octs in any order, and the index of the oct of each eight of its cells.
fn mesh_of_octs(
    domain: Domain,
    level: &[u8],
    position: &[[u32; 3]],
    split: &[u8],
) -> Result<(Mesh, Vec<u32>), MeshError> {
    let of_level = items_by_level(level);
    let octs = |items: &Vec<u32>| {
        let positions = items.par_iter().map(|&i| position[i as usize]).collect();
        (positions, items.par_iter().map(|&i| split[i as usize]).collect())
    };
    let (mesh, orders) = octree(domain, of_level.iter().map(octs).collect())?;
    let items = orders.into_iter().zip(of_level);
    let order = items.flat_map(|(order, items)| order.into_iter().map(move |i| items[i as usize]));
    Ok((mesh, order.collect()))
}

fn place_shared(
    domain: Domain,
    given: &GivenCells,
    division: &Division,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<PlacedCells, RunError> {
    let mut held = HeldCells::default();
    for item in 0..given.n_items() {
        let record = given.record(item, |cell| division.rho.real(cell));
        if record.exists != 0 {
            held.add(record);
        }
    }
    let cells = match given {
        GivenCells::Leaves { .. } | GivenCells::Blocks { .. } => CellSet::Leaves(division.threshold),
        // Split cells are given as well, and have routes.
        GivenCells::Octs { .. } => CellSet::WholeOctree,
    };
    let request = Request {
        field: None,
        values: LeafValues::Any,
        tests: TestRule::above(division.threshold),
        extra: &[],
    };
    let part = decompose(domain, held, &request, (cells, division.weights), comm, observer)?;
    let routes = CellRoutes::shared(given, &part, comm)?;
    Ok(PlacedCells { part, routes })
}

/// Which given cells are which cells of the mesh.
#[derive(Debug)]
pub(crate) enum CellRoutes {
    /// On a rank alone: a permutation of leaves or octs, both ways.
    Alone {
        /// The given leaf or oct of each in the mesh.
        order: Vec<u32>,
        /// The place in the mesh of each given leaf or oct; `u32::MAX` for covered ones. Only labels need it.
        place: OnceLock<Vec<u32>>,
        /// How given values lie in memory.
        layout: ItemLayout,
    },
    /// Over several ranks. Both lists of a pair of ranks have the same cells in the same order.
    Shared {
        /// Given cells by owner.
        send: Vec<(Rank, Vec<u32>)>,
        /// Cells of the mesh by giver.
        receive: Vec<(Rank, Vec<u32>)>,
    },
}

/// Some cells of an oct, as they are announced to their owner.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Announced {
    position: [u32; 3],
    level: u8,
    cells: u8,
    unused: u16,
}

impl CellRoutes {
    /// Collective: announces each given cell to its owner. One exchange of up to 16 bytes per cell.
    fn shared(given: &GivenCells, part: &LocalField, comm: &Comm) -> Result<Self, CommError> {
        let mut announced = OctMessages::<Announced>::new();
        let mut send = BTreeMap::<Rank, Vec<u32>>::new();
        for item in 0..given.n_items() {
            let record = given.record(item, |_| 0.0);
            for (owner, cells) in part.splits.owners_of(&record) {
                let (position, level) = (record.position, record.level);
                announced.entry(owner).or_default().push(Announced { position, level, cells, unused: 0 });
                let list = send.entry(owner).or_default();
                match given.layout() {
                    ItemLayout::Leaves => list.push(item as u32),
                    layout => {
                        let index = |bit: u32| layout.index(item, bit as usize) as u32;
                        list.extend(local::bits(cells.into()).map(index));
                    }
                }
            }
        }
        let mesh = &part.field.mesh;
        let cells_of = |announced: &Announced| {
            let corner = announced.position.map(|x| 2 * x);
            let (brick, first) =
                mesh.find_brick(announced.level, corner).expect("an own cell is in the mesh");
            let brick = mesh.bricks()[brick.at()];
            let cell = move |bit| brick.cell(first + bit).expect("an own cell is in the mesh").0;
            local::bits(announced.cells.into()).map(cell).collect::<Vec<u32>>()
        };
        let received = comm.exchange(announced.into_iter().collect())?;
        let receive = received.into_iter().map(|(giver, announced)| {
            let cells: Vec<Vec<u32>> = announced.par_iter().map(cells_of).collect();
            (giver, cells.concat())
        });
        Ok(Self::Shared { send: send.into_iter().collect(), receive: receive.collect() })
    }

    /// Collective: brings values of given cells to the cells of the mesh. Ghosts keep theirs. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn to_cells(&self, given: &Column, cells: &mut [f64], comm: &Comm) -> Result<(), CommError> {
        match self {
            Self::Alone { order, layout: ItemLayout::Leaves, .. } => {
                given.copy(|cell| order[cell] as usize, cells);
            }
            Self::Alone { order, layout, .. } => {
                given.copy(|cell| layout.index(order[cell / 8] as usize, cell % 8), cells);
            }
            Self::Shared { send, receive } => {
                let received = exchange(send, receive, |i| given.real(i as usize), comm)?;
                for ((_, list), values) in receive.iter().zip(received) {
                    list.iter().zip(values).for_each(|(&cell, value)| cells[cell as usize] = value);
                }
            }
        }
        Ok(())
    }

    /// On a rank alone: values of cells of the mesh in the order in which they were given. Local. `None` if
    /// there are more ranks.
    pub fn to_giver_here<T: Pod + Send + Sync>(
        &self,
        n_given: usize,
        of_cell: impl Fn(usize) -> T + Sync,
    ) -> Option<Vec<T>> {
        let Self::Alone { order, place, layout } = self else { return None };
        let n_each = layout.cells_per_item();
        let place = place.get_or_init(|| {
            let mut place = vec![u32::MAX; n_given / n_each];
            (0..).zip(order).for_each(|(at, &item)| place[item as usize] = at);
            place
        });
        let value = |i: usize| {
            let (item, cell) = layout.item_of(i);
            match place[item] {
                u32::MAX => T::zeroed(),
                at => of_cell(n_each * at as usize + cell),
            }
        };
        Some((0..n_given).into_par_iter().map(value).collect())
    }

    /// Collective: brings values of own cells of the mesh back to the givers, in the order in which these
    /// gave them. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn to_givers<T: Pod + Send + Sync>(
        &self,
        n_given: usize,
        of_cell: impl Fn(usize) -> T + Sync,
        comm: &Comm,
    ) -> Result<Vec<T>, CommError> {
        let Self::Shared { send, receive } = self else {
            return Ok(self.to_giver_here(n_given, of_cell).expect("a rank alone"));
        };
        let mut given: Vec<T> = zeros(n_given);
        let received = exchange(receive, send, |cell| of_cell(cell as usize), comm)?;
        for ((_, list), values) in send.iter().zip(received) {
            list.iter().zip(values).for_each(|(&i, value)| given[i as usize] = value);
        }
        Ok(given)
    }
}

/// Collective: sends `value` of each index of the lists of one side, and returns the values for the lists of
/// the other.
fn exchange<T: Pod>(
    send: &[(Rank, Vec<u32>)],
    receive: &[(Rank, Vec<u32>)],
    value: impl Fn(u32) -> T,
    comm: &Comm,
) -> Result<Vec<Vec<T>>, CommError> {
    let messages =
        send.iter().map(|(rank, list)| (*rank, list.iter().map(|i| value(*i)).collect::<Vec<T>>()));
    let mut received: BTreeMap<Rank, Vec<T>> = comm.exchange(messages.collect())?.into_iter().collect();
    let of_list = |(rank, list): &(Rank, Vec<u32>)| match received.remove(rank) {
        Some(values) if values.len() == list.len() => Ok(values),
        values => {
            let n = values.map_or(0, |values| values.len());
            Err(CommError::Mismatch { what: format!("{n} values of {rank} for {} cells", list.len()) })
        }
    };
    receive.iter().map(of_list).collect()
}
