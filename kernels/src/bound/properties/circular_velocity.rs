//! Circular velocity: where is sqrt(G M(<= r) / r) largest?
//!
//! With softening no radius is less than the softening of its member. Without softening, members at the
//! centre count only by their mass.

use super::super::Gravity;
use super::super::radial::RadialMembers;
use super::super::slices::{BlockSums, Slices};

/// The maximum and its place; both 0 if no member is outside the centre.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MaximumCircularVelocity {
    /// The velocity.
    pub velocity: f64,
    /// The radius, no less than the softening there.
    pub radius: f64,
}

/// The maxima with and without softening over all slices. Between equals, the first one counts.
///
/// # Errors
/// Those of the slices.
pub fn maximum<S: Slices>(
    order: &RadialMembers,
    gravity: &Gravity,
    slices: &S,
) -> Result<[MaximumCircularVelocity; 2], S::Error> {
    let mut own = BlockSums::new(order.bounds(), [order.bounds().mass]);
    if slices.number() > 1 {
        order.runs().for_each(|run| own.add([order.mass[run].iter().sum()]));
    }
    let (mut before, _) = own.before_and_all(slices)?;
    // Mass over radius, and radius.
    let mut most = [[0.0; 2]; 2];
    for run in order.runs() {
        let [base] = before.values();
        let (mut block, mut within) = (0.0, [[0.0; 2]; 2]);
        for at in run {
            block += order.mass[at];
            let (mass, r) = (base + block, order.radius[at]);
            let softened = r.max(f64::from(order.softening[at]));
            for (most, r) in within.iter_mut().zip([softened, r]) {
                if mass > most[0] * r && r > 0.0 {
                    *most = [mass / r, r];
                }
            }
        }
        before.add([block]);
        (0..2).for_each(|i| most[i] = greater(most[i], within[i]));
    }
    let all = slices.gather(&most)?;
    let most: [[f64; 2]; 2] =
        std::array::from_fn(|i| all.iter().fold([0.0; 2], |most, of| greater(most, of[i])));
    Ok(most.map(|[ratio, radius]| MaximumCircularVelocity { velocity: (gravity.g * ratio).sqrt(), radius }))
}

/// The greater of two ratios with their radii; between equals, the first one.
fn greater(first: [f64; 2], second: [f64; 2]) -> [f64; 2] {
    if second[0] > first[0] { second } else { first }
}
