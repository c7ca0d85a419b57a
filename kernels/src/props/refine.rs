//! The position of a peak within its cell, by one Newton step on a quadratic through the 27 cells
//! about it.

use crate::geom::cell_side;
use crate::ids::CellIdx;
use crate::mesh::{Brick, Mesh, local};
use crate::phew::Rules;

/// The peak of the quadratic may leave the cell's centre by this much of its side at the most.
const REACH: f64 = 0.499_999;

/// Where the peak in the cell of `level` at `position` lies, in units of the level-0 cell and not
/// folded back into the box. `rho` holds every cell of the mesh. 27 look-ups.
///
/// Cells of the peak's level are sampled by their own value, split or not, others by the leaf around
/// them. In a graded mesh of leaves above a threshold alone, those that are not there count as at the threshold, and
/// where there are finer ones, those that touch the peak's cell count. Under RAMSES's rules terms of the step whose sign opposes it are left out, as there.
pub fn refined_peak(mesh: &Mesh, rho: &[f64], rules: Rules, level: u8, position: [u32; 3]) -> [f64; 3] {
    let cube = sample(mesh, rho, level, position);
    let step = newton_step(&cube, rules);
    let largest = step.iter().fold(0.0f64, |m, d| m.max(d.abs()));
    let scale = if largest > REACH { REACH / largest } else { 1.0 };
    let side = cell_side(level);
    std::array::from_fn(|a| (f64::from(position[a]) + 0.5 + scale * step[a]) * side)
}

/// Densities at the 27 places about a cell, x fastest.
fn sample(mesh: &Mesh, rho: &[f64], level: u8, position: [u32; 3]) -> [f64; 27] {
    let along =
        [0, 1, 2].map(|a| [-1, 0, 1].map(|d| mesh.domain().wrap_along(level, a, i64::from(position[a]) + d)));
    let mut bricks = Bricks::default();
    let own = bricks.find(mesh, level, position).map_or(0.0, |c| rho[c.at()]);
    std::array::from_fn(|i| {
        let (Some(x), Some(y), Some(z)) = (along[0][i % 3], along[1][i / 3 % 3], along[2][i / 9]) else {
            return own;
        };
        match (bricks.find(mesh, level, [x, y, z]), mesh.leaves_above()) {
            (Some(cell), _) => rho[cell.at()],
            (None, Some(threshold)) => {
                let slot = [i % 3, i / 3 % 3, i / 9];
                value_beside(mesh, rho, (level, [x, y, z]), slot, threshold)
            }
            (None, None) => value_at(mesh, rho, level, [x, y, z]).unwrap_or(own),
        }
    })
}

/// The bricks of one level that were looked up last; 27 cells lie in at most eight.
#[derive(Default)]
struct Bricks([Option<([u32; 3], Option<Brick>)>; 8]);

impl Bricks {
    #[inline]
    fn find(&mut self, mesh: &Mesh, level: u8, position: [u32; 3]) -> Option<CellIdx> {
        let place = position.map(|x| x >> 2);
        let slot = &mut self.0[(place[0] & 1 | (place[1] & 1) << 1 | (place[2] & 1) << 2) as usize];
        let found = match slot {
            Some((at, found)) if *at == place => *found,
            _ => slot.insert((place, mesh.brick_at(level, place).map(|b| mesh.bricks()[b.at()]))).1,
        };
        found?.cell(local::bit_of(position))
    }
}

/// The cell's own value, that of the leaf around it, or in a mesh of leaves the mean of those in it.
fn value_at(mesh: &Mesh, rho: &[f64], level: u8, position: [u32; 3]) -> Option<f64> {
    let around = |up: u8| mesh.find(level - up, position.map(|x| x >> up));
    let found: Option<CellIdx> = (0..=level).find_map(around);
    found.map(|c| rho[c.at()]).or_else(|| mean_of_leaves(mesh, rho, level, position))
}

/// What the place at `slot` about a cell has where only leaves above `threshold` are known: that of the next coarser
/// leaf, or the mean of finer leaves that touch the cell.
fn value_beside(
    mesh: &Mesh,
    rho: &[f64],
    (level, position): (u8, [u32; 3]),
    slot: [usize; 3],
    threshold: f64,
) -> f64 {
    let coarser = level.checked_sub(1).and_then(|up| mesh.find(up, position.map(|x| x >> 1)));
    if let Some(leaf) = coarser {
        return rho[leaf.at()];
    }
    // Of two cells along an axis the upper touches what is above, the lower what is below.
    let touches = |child: u32, a: usize| slot[a] == 1 || (child >> a & 1 == 1) == (slot[a] == 0);
    let (mut sum, mut n) = (0.0, 0.0);
    for child in (0..8).filter(|child| (0..3).all(|a| touches(*child, a))) {
        let at = std::array::from_fn(|a| 2 * position[a] + (child >> a & 1));
        sum += mesh.find(level + 1, at).map_or(threshold, |leaf| rho[leaf.at()]);
        n += 1.0;
    }
    sum / n
}

fn mean_of_leaves(mesh: &Mesh, rho: &[f64], level: u8, position: [u32; 3]) -> Option<f64> {
    if level >= mesh.n_levels() {
        return None;
    }
    if let Some(cell) = mesh.find(level, position) {
        return Some(rho[cell.at()]);
    }
    let child = |i: u32| [0, 1, 2].map(|a| 2 * position[a] + (i >> a & 1));
    let mut sum = 0.0;
    for i in 0..8 {
        sum += mean_of_leaves(mesh, rho, level + 1, child(i))?;
    }
    Some(sum / 8.0)
}

fn newton_step(f: &[f64; 27], rules: Rules) -> [f64; 3] {
    const STRIDE: [usize; 3] = [1, 3, 9];
    let at = |steps: [i32; 3]| f[(13 + steps[0] + 3 * steps[1] + 9 * steps[2]) as usize];
    let gradient: [f64; 3] = std::array::from_fn(|a| 0.5 * (f[13 + STRIDE[a]] - f[13 - STRIDE[a]]));
    let mut h = [[0.0; 3]; 3];
    for a in 0..3 {
        h[a][a] = f[13 + STRIDE[a]] - 2.0 * f[13] + f[13 - STRIDE[a]];
        for b in 0..a {
            let corner = |sa: i32, sb: i32| {
                let mut steps = [0; 3];
                steps[a] = sa;
                steps[b] = sb;
                at(steps)
            };
            h[a][b] = 0.25 * (corner(1, 1) - corner(1, -1) - corner(-1, 1) + corner(-1, -1));
            h[b][a] = h[a][b];
        }
    }
    solve(&h, &gradient, rules)
}

/// -H⁻¹ g by cofactors; no step where H is singular.
fn solve(h: &[[f64; 3]; 3], g: &[f64; 3], rules: Rules) -> [f64; 3] {
    let cofactor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        h[r][c] * h[s][d] - h[r][d] * h[s][c]
    };
    let det = (0..3).map(|j| h[0][j] * cofactor(0, j)).sum::<f64>();
    if det == 0.0 {
        return [0.0; 3];
    }
    std::array::from_fn(|i| {
        let terms = (0..3).map(|j| g[j] * cofactor(i, j));
        let sum: f64 = match rules {
            Rules::Paper => terms.sum(),
            Rules::Ramses => terms.filter(|t| *t > 0.0).sum(),
        };
        -sum / det
    })
}
