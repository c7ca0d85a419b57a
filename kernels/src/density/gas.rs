//! Gas as RAMSES adds it to the density of particles: each cell, also a split one, is a body at its centre of
//! mass.

use super::Deposit;
use crate::geom::cell_volume;
use crate::mesh::{Mesh, local};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// The gas in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Body {
    /// Its mass.
    pub mass: f64,
    /// Mass times the displacement from the centre of the cell, in sides of the cell.
    pub moment: [f64; 3],
}

/// The bodies of the leaves of a gas density; split cells have none. `unit` is the volume of a level-0 cell.
pub fn leaf_bodies(mesh: &Mesh, rho: &[f64], unit: f64) -> Vec<Body> {
    let mut bodies = vec![Body::default(); mesh.n_cells()];
    mesh.for_each_cell(0..mesh.supers().len(), |level, _, cell, is_leaf| {
        if is_leaf {
            bodies[cell.at()].mass = rho[cell.at()] * cell_volume(level) * unit;
        }
    });
    bodies
}

/// Sets every cell that contains a whole oct of `level` (1 or more) to the sum of the bodies of that oct.
pub fn gather_bodies(mesh: &Mesh, level: u8, bodies: &mut [Body]) {
    for s in mesh.supers_of(level) {
        for brick in &mesh.bricks()[mesh.bricks_of(&mesh.supers()[s])] {
            for oct in (0..64).step_by(8).filter(|o| brick.exists >> o & 0xff == 0xff) {
                let first = (brick.first + local::rank(brick.exists, oct)) as usize;
                let parent = local::position_of(brick.position, oct).map(|x| x >> 1);
                if let Some(parent) = mesh.find(level - 1, parent) {
                    bodies[parent.at()] = sum_of_oct(&bodies[first..first + 8]);
                }
            }
        }
    }
}

fn sum_of_oct(children: &[Body]) -> Body {
    let mut sum = Body::default();
    for (i, child) in children.iter().enumerate() {
        sum.mass += child.mass;
        for a in 0..3 {
            let offset = if i >> a & 1 == 1 { 0.25 } else { -0.25 };
            sum.moment[a] += offset * child.mass + 0.5 * child.moment[a];
        }
    }
    sum
}

/// Deposits the bodies of some cells, given as one mask per brick of the given super-bricks, on the cells of
/// their own level. The mass of a body is shared among the cells that a cube of the size of a cell around it
/// touches. Parts where there is no cell of the level are dropped.
pub fn deposit_bodies(
    mesh: &Mesh,
    supers: Range<usize>,
    cells: impl Fn(usize) -> u64,
    bodies: &[Body],
    out: &Deposit,
) {
    for s in supers {
        let level = mesh.level_of_super(s);
        for b in mesh.bricks_of(&mesh.supers()[s]) {
            let brick = &mesh.bricks()[b];
            for bit in local::bits(cells(b) & brick.exists) {
                let cell = brick.first + local::rank(brick.exists, bit);
                deposit_body(
                    mesh,
                    level,
                    local::position_of(brick.position, bit),
                    &bodies[cell as usize],
                    out,
                );
            }
        }
    }
}

fn deposit_body(mesh: &Mesh, level: u8, position: [u32; 3], body: &Body, out: &Deposit) {
    let offset = body.moment.map(|moment| if body.mass > 0.0 { moment / body.mass } else { 0.0 });
    for corner in 0..8 {
        let is_beside = |a: usize| corner >> a & 1 == 1;
        let part = |a: usize| if is_beside(a) { offset[a].abs() } else { 1.0 - offset[a].abs() };
        let mass = body.mass * (part(0) * part(1) * part(2));
        let step = |a: usize| i64::from(is_beside(a)) * if offset[a] < 0.0 { -1 } else { 1 };
        let at = std::array::from_fn(|a| i64::from(position[a]) + step(a));
        let cell = mesh.domain().wrap(level, at).and_then(|p| mesh.find(level, p));
        if let Some(cell) = cell.filter(|_| mass > 0.0) {
            out.add(cell, mass);
        }
    }
}
