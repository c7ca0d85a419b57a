//! Particles that are kept for maps after a search.

use super::types::Particles;
use crate::particles::{Bounds, Masses, Positions};
use crate::projection::{Exposure, KeptForMaps, MapBox, Mappable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::geom::fold;

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
        particles: &Particles,
        sides: Option<[f64; 3]>,
        side: f64,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let space = match sides {
            Some(sides) => MapBox { low: [0.0; 3], sides, periodic: [true; 3] },
            None => cube_around(particles, comm)?,
        };
        Ok(Self { position: particles.position.clone(), mass: particles.mass.clone(), side, space })
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
fn cube_around(particles: &Particles, comm: &Comm) -> Result<MapBox, CommError> {
    let bounds = Bounds::from_positions(&particles.position).over_ranks(comm)?;
    let extent = bounds.widest();
    let side = if extent > 0.0 && extent.is_finite() { extent * 1.02 } else { 1.0 };
    let low = bounds.middle().map(|middle| middle - side / 2.0);
    Ok(MapBox { low, sides: [side; 3], periodic: [false; 3] })
}
