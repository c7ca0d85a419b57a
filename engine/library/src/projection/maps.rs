//! Maps of the leaves and particles that all ranks keep.

use super::pixels::add_up;
use super::view::{DensityMap, Exposure, MapBox, View};
use crate::error::{Error, ErrorKind};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;

/// Matter that a result keeps for maps, with its box.
pub(crate) trait KeptForMaps: Mappable + Send {
    /// The box.
    fn space(&self) -> &MapBox;

    /// The side of the smallest cuboid.
    fn finest(&self) -> f64;
}

/// What maps show: cuboids with densities.
pub(crate) trait Mappable: Sync {
    /// The number of cuboids, and the greatest density.
    fn bounds(&self) -> (u64, f64);

    /// Adds all cuboids that are in view. Sorts out most others cheaply.
    fn add_to(&self, exposure: &mut Exposure);
}

/// The most pixels of one map.
const MOST_PIXELS: usize = 1 << 26;
/// Images of a cuboid that can fall on one pixel, where a view is no larger than the box.
const IMAGES: u64 = 27;

/// Local: whether these views can be made.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] with the first that cannot.
pub(crate) fn check_views(views: &[View], space: &MapBox) -> Result<(), Error> {
    let is_valid = |view: &View| {
        let [width, height] = view.pixels;
        let fits = |axis: usize| {
            let side = view.sides[axis];
            // A hair of rounding is allowed.
            let most = if space.periodic[axis] { space.sides[axis] * (1.0 + 1e-9) } else { f64::MAX };
            side > 0.0 && side <= most && view.low[axis].is_finite()
        };
        view.along < 3
            && (0..3).all(fits)
            && width > 0
            && height > 0
            && width.checked_mul(height).is_some_and(|n| n <= MOST_PIXELS)
    };
    match views.iter().find(|view| !is_valid(view)) {
        None => Ok(()),
        Some(view) => {
            let message = format!(
                "a map of {view:?}; expected a region with positive sides, no larger than the periodic box, an axis from 0 to 2, and \
                 1 to {MOST_PIXELS} pixels"
            );
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
    }
}

/// Collective: a map for each view on rank 0, `None` elsewhere. The same bits for any number of ranks and
/// threads.
///
/// # Errors
/// When another rank fails.
pub(crate) fn maps(
    matter: &dyn Mappable,
    space: &MapBox,
    views: &[View],
    comm: &Comm,
) -> Result<Option<Vec<DensityMap>>, CommError> {
    let (n, greatest) = matter.bounds();
    let n = comm.all_reduce_counts(&[n], Reduce::Sum)?[0];
    let quantum = Quantum::for_terms(comm.all_max(&[greatest])?[0], n * IMAGES);
    let expose = |view: &View| {
        let mut exposure = Exposure::new(view, space, quantum);
        matter.add_to(&mut exposure);
        exposure.into_sums()
    };
    let own: Vec<_> = views.par_iter().map(expose).collect();
    let mut all = Vec::with_capacity(views.len());
    for (view, sums) in views.iter().zip(own) {
        let sums = add_up(sums, |a, b| *a += b, comm)?;
        let map = |sums: Vec<_>| {
            let values = sums.into_iter().map(|sum| quantum.value(sum) as f32).collect();
            DensityMap { view: *view, values }
        };
        all.push(sums.map(map));
    }
    Ok(all.into_iter().collect())
}
