//! Particles: kept for maps after a search, and the square map of all of them along z.

use super::Projection;
use super::maps::{KeptForMaps, Mappable};
use super::pixels::add_up;
use super::view::{Exposure, MapBox};
use crate::particles::{Bounds, Masses, Positions};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::geom::fold;
use inselberg_kernels::sum::{FixedSum, Quantum};

/// Positions and masses of the particles of one rank. A particle is a small cube.
#[derive(Debug)]
pub struct KeptParticles {
    position: Positions,
    mass: Masses,
    /// Side of the cubes.
    side: f64,
    space: MapBox,
}

impl KeptParticles {
    /// Collective: of particles that will be moved, as cubes of this side. An open box is the cube around all
    /// particles.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        position: &Positions,
        mass: &Masses,
        sides: Option<[f64; 3]>,
        side: f64,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let space = match sides {
            Some(sides) => MapBox { low: [0.0; 3], sides, periodic: [true; 3] },
            None => cube_around(position, comm)?,
        };
        Ok(Self { position: position.clone(), mass: mass.clone(), side, space })
    }

    fn density(&self, particle: usize) -> f64 {
        self.mass.get(particle) / self.side.powi(3)
    }
}

impl KeptForMaps for KeptParticles {
    fn space(&self) -> &MapBox {
        &self.space
    }

    fn finest(&self) -> f64 {
        self.side
    }
}

impl Mappable for KeptParticles {
    fn bounds(&self) -> (u64, f64) {
        let n = self.position.len();
        let greatest = (0..n).map(|i| self.density(i).abs()).fold(0.0, f64::max);
        (n as u64, greatest)
    }

    fn add_to(&self, exposure: &mut Exposure) {
        let space = &self.space;
        for i in 0..self.position.len() {
            let position = self.position.get(i);
            let low = std::array::from_fn(|axis| {
                let at = if space.periodic[axis] {
                    fold(position[axis], space.sides[axis])
                } else {
                    position[axis]
                };
                at - self.side / 2.0
            });
            exposure.add(low, [self.side; 3], self.density(i));
        }
    }
}

/// Collective: a cube around all particles, a little larger than they need.
fn cube_around(position: &Positions, comm: &Comm) -> Result<MapBox, CommError> {
    let bounds = Bounds::from_positions(position).over_ranks(comm)?;
    let extent = bounds.widest();
    let side = if extent > 0.0 && extent.is_finite() { extent * 1.02 } else { 1.0 };
    let low = bounds.middle().map(|middle| middle - side / 2.0);
    Ok(MapBox { low, sides: [side; 3], periodic: [false; 3] })
}

/// Pixels per side: a few particles per pixel on average, within limits.
fn pixels(n_particles: u64) -> usize {
    ((n_particles as f64 / 4.0).sqrt() as usize).next_power_of_two().clamp(64, 1024)
}

/// Collective: mass per area of all particles along z; on rank 0, and `None` elsewhere. Without a periodic
/// box, of the square around all particles.
///
/// # Errors
/// When another rank fails.
pub fn project_particles(
    position: &Positions,
    mass: &Masses,
    n_particles: u64,
    sides: Option<[f64; 3]>,
    comm: &Comm,
) -> Result<Option<Projection>, CommError> {
    let n = pixels(n_particles);
    let (corner, side) = match sides {
        Some(sides) => ([0.0; 2], sides[0].max(sides[1])),
        None => square_around(position, comm)?,
    };
    let heaviest = (0..position.len()).map(|i| mass.get(i).abs()).fold(0.0, f64::max);
    let quantum = Quantum::for_terms(comm.all_max(&[heaviest])?[0], n_particles);
    let all = add_up(sums((position, mass), quantum, n, sides, corner, side), |a, b| *a += b, comm)?;
    let Some(all) = all else { return Ok(None) };
    let area = (side / n as f64).powi(2);
    let values = all.into_iter().map(|sum| (quantum.value(sum) / area) as f32).collect();
    Ok(Some(Projection { n, values, side, corner }))
}

/// Collective: lower corner and side of a square around all particles.
fn square_around(position: &Positions, comm: &Comm) -> Result<([f64; 2], f64), CommError> {
    let bounds = Bounds::from_positions(position).over_ranks(comm)?;
    let side = bounds.extent(0).max(bounds.extent(1));
    let side = if side > 0.0 && side.is_finite() { side * 1.02 } else { 1.0 };
    let [x, y, _] = bounds.middle();
    Ok(([x - side / 2.0, y - side / 2.0], side))
}

fn sums(
    (position, mass): (&Positions, &Masses),
    quantum: Quantum,
    n: usize,
    sides: Option<[f64; 3]>,
    corner: [f64; 2],
    side: f64,
) -> Vec<FixedSum> {
    let mut sums = vec![FixedSum::default(); n * n];
    for i in 0..position.len() {
        let [x, y, _] = position.get(i);
        let place = sides.map_or([x, y], |sides| [fold(x, sides[0]), fold(y, sides[1])]);
        let pixel = |axis: usize| (((place[axis] - corner[axis]) / side * n as f64) as usize).min(n - 1);
        sums[pixel(1) * n + pixel(0)] += quantum.quantize(mass.get(i));
    }
    sums
}
