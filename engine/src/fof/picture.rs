//! The projected mass, for pictures.

use crate::fof::Particles;
use crate::particles::Bounds;
use crate::projection::Projection;
use crate::projection::pixels::add_up;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::geom::fold;
use inselberg_kernels::sum::{FixedSum, Quantum};

/// Pixels per side: a few particles per pixel on average, within limits.
fn pixels(n_particles: u64) -> usize {
    ((n_particles as f64 / 4.0).sqrt() as usize).next_power_of_two().clamp(64, 1024)
}

/// Collective: mass per area of all particles along z; on rank 0, and `None` elsewhere. Without a periodic
/// box, of the square around all particles.
///
/// # Errors
/// When another rank fails.
pub fn project(
    particles: &Particles,
    n_particles: u64,
    sides: Option<[f64; 3]>,
    comm: &Comm,
) -> Result<Option<Projection>, CommError> {
    let n = pixels(n_particles);
    let (corner, side) = match sides {
        Some(sides) => ([0.0; 2], sides[0].max(sides[1])),
        None => square_around(particles, comm)?,
    };
    let heaviest = (0..particles.len()).map(|i| particles.mass.get(i).abs()).fold(0.0, f64::max);
    let quantum = Quantum::for_terms(comm.all_max(&[heaviest])?[0], n_particles);
    let all = add_up(sums(particles, quantum, n, sides, corner, side), |a, b| *a += b, comm)?;
    let Some(all) = all else { return Ok(None) };
    let area = (side / n as f64).powi(2);
    let values = all.into_iter().map(|sum| (quantum.value(sum) / area) as f32).collect();
    Ok(Some(Projection { n, values, side, corner }))
}

/// Collective: lower corner and side of a square around all particles.
fn square_around(particles: &Particles, comm: &Comm) -> Result<([f64; 2], f64), CommError> {
    let bounds = Bounds::from_positions(&particles.position).over_ranks(comm)?;
    let side = bounds.extent(0).max(bounds.extent(1));
    let side = if side > 0.0 && side.is_finite() { side * 1.02 } else { 1.0 };
    let [x, y, _] = bounds.middle();
    Ok(([x - side / 2.0, y - side / 2.0], side))
}

fn sums(
    particles: &Particles,
    quantum: Quantum,
    n: usize,
    sides: Option<[f64; 3]>,
    corner: [f64; 2],
    side: f64,
) -> Vec<FixedSum> {
    let mut sums = vec![FixedSum::default(); n * n];
    for i in 0..particles.len() {
        let [x, y, _] = particles.position.get(i);
        let position = sides.map_or([x, y], |sides| [fold(x, sides[0]), fold(y, sides[1])]);
        let pixel = |axis: usize| (((position[axis] - corner[axis]) / side * n as f64) as usize).min(n - 1);
        sums[pixel(1) * n + pixel(0)] += quantum.quantize(particles.mass.get(i));
    }
    sums
}
