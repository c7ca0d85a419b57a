//! The regions that a report shows.

use super::kinds::PageKind;
use inselberg::{MapBox, View};
use inselberg_io::catalogue::Catalogue;

/// Objects with their own map.
const N_ZOOMS: usize = 12;
/// Side of a zoomed map, in radii of its object.
const RADII: f64 = 5.0;
/// Pixels of a map along its longer side: at least and at most. Within that, one per smallest leaf.
const WHOLE: (usize, usize) = (64, 1024);
const ZOOMED: (usize, usize) = (48, 320);

/// The regions of the most massive objects of a catalogue, with their rows.
pub fn zoom_views(catalogue: &Catalogue, space: &MapBox, finest: f64) -> Vec<(usize, View)> {
    let objects = PageKind::of(catalogue).drawn.objects(catalogue);
    let largest = objects.rows.iter().zip(&objects.positions).take(N_ZOOMS).enumerate();
    let view = |(i, (row, position)): (usize, (&usize, &[f64; 3]))| {
        let radius = objects.radii.as_ref().map_or(0.0, |radii| radii[i]);
        let side = (RADII * radius).max(8.0 * finest);
        (*row, cube(position, side, 2, space, finest, ZOOMED))
    };
    largest.map(view).collect()
}

/// The whole box along an axis.
pub fn whole_view(along: usize, space: &MapBox, finest: f64) -> View {
    let view = View { low: space.low, sides: space.sides, along, pixels: [1, 1] };
    with_pixels(view, finest, WHOLE)
}

/// A cube along an axis, as far as the box has it: an image has one pixel of depth.
pub fn cube_view(centre: &[f64; 3], side: f64, along: usize, space: &MapBox, finest: f64) -> View {
    cube(centre, side, along, space, finest, WHOLE)
}

fn cube(
    centre: &[f64; 3],
    side: f64,
    along: usize,
    space: &MapBox,
    finest: f64,
    pixels: (usize, usize),
) -> View {
    // Whole pixels of the finest leaves, as far as they are shown one by one.
    let is_fine = side / finest <= pixels.1 as f64;
    let side = if is_fine { (side / finest).ceil() * finest } else { side };
    let sides = space.sides.map(|whole| side.min(whole));
    let low = std::array::from_fn(|axis| {
        let (first, whole) = (space.low[axis], space.sides[axis]);
        let low = centre[axis] - sides[axis] / 2.0;
        let low = if is_fine { first + ((low - first) / finest).round() * finest } else { low };
        // Beyond the walls there is nothing. Rounding may put the last place before the first.
        if space.periodic[axis] { low } else { low.min(first + whole - sides[axis]).max(first) }
    });
    with_pixels(View { low, sides, along, pixels: [1, 1] }, finest, pixels)
}

/// The view with pixels as large as the smallest leaf, within limits.
fn with_pixels(view: View, finest: f64, (least, most): (usize, usize)) -> View {
    let sides = view.axes().map(|axis| view.sides[axis]);
    let longer = sides[0].max(sides[1]);
    let n = ((longer / finest).round() as usize).clamp(least, most);
    let pixels = sides.map(|side| ((side / longer * n as f64).round() as usize).max(1));
    View { pixels, ..view }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: MapBox = MapBox { low: [0.0; 3], sides: [8.0, 4.0, 4.0], periodic: [true; 3] };

    #[test]
    fn pixels_are_as_large_as_the_smallest_leaf() {
        assert_eq!(whole_view(2, &SPACE, 8.0 / 256.0).pixels, [256, 128]);
        assert_eq!(whole_view(0, &SPACE, 8.0 / 256.0).pixels, [128, 128]);
        assert_eq!(whole_view(2, &SPACE, 1e-9).pixels, [1024, 512]);
    }

    #[test]
    fn cubes_stay_within_the_box() {
        let view = cube_view(&[1.0, 1.0, 1.0], 100.0, 1, &SPACE, 0.01);
        assert_eq!((view.low, view.sides), ([-3.0, -1.0, -1.0], SPACE.sides));
    }

    #[test]
    fn images_have_no_depth() {
        let image = MapBox { low: [0.0; 3], sides: [64.0, 64.0, 1.0], periodic: [false; 3] };
        let view = cube_view(&[30.5, 20.5, 0.5], 10.0, 2, &image, 1.0);
        assert_eq!((view.low, view.sides), ([26.0, 16.0, 0.0], [10.0, 10.0, 1.0]));
        assert_eq!(view.pixels, [64; 2]);
    }

    #[test]
    fn a_cube_at_a_wall_is_moved_into_the_box() {
        let image = MapBox { low: [0.0; 3], sides: [64.0, 64.0, 1.0], periodic: [false; 3] };
        let view = cube_view(&[62.0, 1.0, 0.5], 9.5, 2, &image, 1.0);
        assert_eq!((view.low, view.sides), ([54.0, 0.0, 0.0], [10.0, 10.0, 1.0]));
    }
}
