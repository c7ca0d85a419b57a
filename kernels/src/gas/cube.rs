//! Cubes: the energy of a homogeneous cube in its own field, and the radius with half of the mass of many
//! cubes.

use super::members::ListedCells;
use crate::bound::mass_profile::{MassProfile, ProfilePoint};
use crate::bound::slices::Slices;

/// Minus the potential energy of a homogeneous cube, in units of G m² / side.
///
/// Half the mean of 1 / r over all pairs of points of the unit cube:
///
/// ```text
///     (1 + √2 - 2 √3) / 5 - π / 3 + ln((1 + √2) (2 + √3))
/// ```
pub const SELF_ENERGY: f64 = 0.941_156_322_194_830_3;

/// Least number of points that represent the mass of a clump.
const FEWEST_POINTS: u64 = 512;

/// Most points along the side of a cell.
const MOST_PARTS: usize = 8;

/// The radius about `centre` with half of the mass of the cells of all slices, `number` of them. Each cell of
/// a clump with few cells is cut into up to 8 x 8 x 8 cubes, whose masses are at their centres. The mass
/// within r is linear between points, and from 0 at the centre.
///
/// # Errors
/// Those of the slices.
pub fn half_mass_radius<S: Slices>(
    cells: &ListedCells<S>,
    number: u64,
    centre: [f64; 3],
) -> Result<f64, S::Error> {
    let parts = parts_for(number);
    let n_parts = parts * parts * parts;
    let mut points = Vec::with_capacity(cells.list.len() * n_parts);
    for cell in cells.iter() {
        let mass = cell.mass / n_parts as f64;
        let offset = |i: usize| ((i as f64 + 0.5) / parts as f64 - 0.5) * cell.side;
        for part in 0..n_parts {
            let place = [part % parts, part / parts % parts, part / (parts * parts)];
            let d: [f64; 3] = std::array::from_fn(|a| cell.position[a] + offset(place[a]) - centre[a]);
            let radius = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            points.push(ProfilePoint { radius, mass, particle_type: 0 });
        }
    }
    let block = cells.members.bounds().members.block;
    MassProfile::new(points, block, cells.slices)?.half_mass_radius()
}

/// The least power of two of parts along each side that gives `number` cells enough points.
fn parts_for(n_cells: u64) -> usize {
    let mut parts = 1;
    while parts < MOST_PARTS && n_cells * ((parts * parts * parts) as u64) < FEWEST_POINTS {
        parts *= 2;
    }
    parts
}
