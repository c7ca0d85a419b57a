//! Cubes: the energy of a homogeneous cube in its own field, and the radius with half of the mass of many cubes.

use super::members::GasMembers;

/// Minus the potential energy of a homogeneous cube, in units of G m² / side.
///
/// Half the mean of 1 / r over all pairs of points of the unit cube:
///
/// ```text
///     (1 + √2 - 2 √3) / 5 - π / 3 + ln((1 + √2) (2 + √3))
/// ```
pub const SELF_ENERGY: f64 = 0.941_156_322_194_830_3;

/// Least number of points that stand for the mass of a clump.
const FEWEST_POINTS: usize = 512;

/// Most points along the side of a cell.
const MOST_PARTS: usize = 8;

/// The radius about `centre` with half of the mass of listed cells. Each cell of a clump with few cells is cut into up to
/// 8 x 8 x 8 cubes, whose masses are at their centres. The mass within r is linear between points, and from 0 at the centre.
pub fn half_mass_radius(members: &GasMembers, list: &[u32], centre: [f64; 3]) -> f64 {
    let parts = parts_for(list.len());
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(list.len() * parts.pow(3));
    for cell in list.iter().map(|member| members.cell(*member)) {
        let mass = cell.mass / (parts * parts * parts) as f64;
        let offset = |i: usize| ((i as f64 + 0.5) / parts as f64 - 0.5) * cell.side;
        for part in 0..parts * parts * parts {
            let place = [part % parts, part / parts % parts, part / (parts * parts)];
            let d: [f64; 3] = std::array::from_fn(|a| cell.position[a] + offset(place[a]) - centre[a]);
            points.push(((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt(), mass));
        }
    }
    // Points at one radius may have different masses. In the order of both, the sum has one order.
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)));
    let half = 0.5 * points.iter().map(|(_, mass)| mass).sum::<f64>();
    let (mut inner_radius, mut inner_mass) = (0.0, 0.0);
    for (radius, mass) in points {
        let outer = inner_mass + mass;
        if outer >= half {
            return inner_radius + (radius - inner_radius) * ((half - inner_mass) / mass);
        }
        (inner_radius, inner_mass) = (radius, outer);
    }
    inner_radius
}

/// The least power of two of parts along each side with which so many cells have enough points.
fn parts_for(n_cells: usize) -> usize {
    let mut parts = 1;
    while parts < MOST_PARTS && n_cells * parts * parts * parts < FEWEST_POINTS {
        parts *= 2;
    }
    parts
}
