//! Half-mass radii: within which distance of the centre is half the mass of each component?
//!
//! The mass within r is linear between members, and from 0 at the centre to the first one.

use super::super::radial::RadialMembers;
use super::super::slices::{BlockSums, Slices};
use super::{ByComponent, Component};

/// Number of components.
const N: usize = Component::ALL.len();

/// The half-mass radius of each component of the members of all slices; 0 of one without mass.
///
/// # Errors
/// Those of the slices.
pub fn half_mass_radii<S: Slices>(order: &RadialMembers, slices: &S) -> Result<ByComponent<f64>, S::Error> {
    // Total mass first, so that the search passes the order only once.
    let mut own = BlockSums::new(order.bounds(), [order.bounds().mass; N]);
    own.add_blocks(slices, order.runs(), |run| masses(order, run));
    let (mut before, all) = own.before_and_all(slices)?;
    let half = all.values().map(|mass| 0.5 * mass);
    let mut found = [None; N];
    let mut inner = inner_radii(order, slices)?;
    for run in order.runs() {
        let base = before.values();
        let mut block = [0.0; N];
        for at in run {
            let r = order.radius[at];
            for (i, component) in Component::ALL.into_iter().enumerate() {
                if component.holds(order.particle_type[at]) {
                    let mass = base[i] + block[i];
                    block[i] += order.mass[at];
                    let outer = base[i] + block[i];
                    if found[i].is_none() && outer >= half[i] && outer > mass {
                        found[i] = Some(inner[i] + (r - inner[i]) * ((half[i] - mass) / (outer - mass)));
                    }
                    inner[i] = r;
                }
            }
        }
        if found.iter().all(Option::is_some) {
            break;
        }
        before.add(block);
    }
    // The innermost slice with a radius counts. A component without mass has no half-mass radius.
    let all = slices.gather(&found.map(|radius| radius.unwrap_or(f64::NAN)))?;
    let first = |i: usize| all.iter().map(|of| of[i]).find(|radius| !radius.is_nan());
    Ok(ByComponent(std::array::from_fn(|i| first(i).unwrap_or(0.0))))
}

/// The mass of each component in a run.
fn masses(order: &RadialMembers, run: std::ops::Range<usize>) -> [f64; N] {
    let mut block = [0.0; N];
    for at in run {
        for (component, mass) in Component::ALL.into_iter().zip(&mut block) {
            if component.holds(order.particle_type[at]) {
                *mass += order.mass[at];
            }
        }
    }
    block
}

/// The radius of the last member of each component in the slices before this one; 0 if there is none.
fn inner_radii<S: Slices>(order: &RadialMembers, slices: &S) -> Result<[f64; N], S::Error> {
    if slices.number() == 1 {
        return Ok([0.0; N]);
    }
    let last = |component: Component| {
        let at = order.particle_type.iter().rposition(|particle_type| component.holds(*particle_type));
        at.map_or(0.0, |at| order.radius[at])
    };
    let all = slices.gather(&Component::ALL.map(last))?;
    let before = &all[..slices.here()];
    Ok(std::array::from_fn(|i| before.iter().fold(0.0, |most: f64, of| most.max(of[i]))))
}
