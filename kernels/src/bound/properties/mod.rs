//! Properties: which properties do the bound members of a clump have, and the spheres around its centre?
//!
//! Definitions and names are those of SOAP (McGibbon et al. 2025) unless a file says otherwise. One file per
//! family:
//!
//! | family | file |
//! |---|---|
//! | centre, sums over members by type, dispersion, angular momentum, energies | [`sums`] |
//! | half-mass radii, extent | [`half_mass`] |
//! | maximum of the circular velocity | [`circular_velocity`] |
//! | inertia tensors | [`inertia`], with [`symmetric`] |
//! | three spins | [`spin`] |
//! | spheres of given mean density | [`spherical_overdensity`] |
//! | concentration | [`concentration`] |
//!
//! Lengths, velocities and masses are in the caller's units; with comoving positions, all lengths are
//! comoving, and angular momenta contain one comoving length. Positions are relative to the same point as
//! those of the members.

pub mod circular_velocity;
pub mod concentration;
pub mod half_mass;
pub mod inertia;
pub mod spherical_overdensity;
pub mod spin;
pub mod sums;
pub mod symmetric;

use super::Gravity;
use super::members::{HaloMembers, N_TYPES};
use super::radial::RadialMembers;
use super::slices::{Slices, Whole, greatest};
use super::unbind::BoundMembers;
use circular_velocity::MaximumCircularVelocity;
use inertia::{InertiaSphere, InertiaTensors};
use spin::SpinSphere;
use sums::{MotionSums, Motions};

/// Members of one or several types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// All types.
    Total,
    /// Type 0.
    Gas,
    /// Type 1.
    DarkMatter,
    /// Type 4.
    Stars,
    /// Types 0 and 4.
    Baryons,
}

impl Component {
    /// All components, in the order of columns that have one entry per component.
    pub const ALL: [Self; 5] = [Self::Total, Self::Gas, Self::DarkMatter, Self::Stars, Self::Baryons];

    /// Whether a type belongs to it.
    #[inline]
    pub fn holds(self, particle_type: u8) -> bool {
        match self {
            Self::Total => true,
            Self::Gas => particle_type == 0,
            Self::DarkMatter => particle_type == 1,
            Self::Stars => particle_type == 4,
            Self::Baryons => particle_type == 0 || particle_type == 4,
        }
    }
}

/// One value per component.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ByComponent<T>(pub [T; 5]);

impl<T: Copy> ByComponent<T> {
    /// The value of a component.
    pub fn of(&self, component: Component) -> T {
        self.0[component as usize]
    }
}

/// The properties of the bound members of one clump.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundProperties {
    /// Position of the member with the lowest potential: `HaloCentre`.
    pub halo_centre: [f64; 3],
    /// Mass by type.
    pub mass: [f64; N_TYPES],
    /// Number of members by type.
    pub number: [u64; N_TYPES],
    /// Mass, mean velocity, dispersion and angular momentum by component.
    pub motion: ByComponent<Motions>,
    /// Half-mass radius; 0 of a component without mass.
    pub half_mass_radius: ByComponent<f64>,
    /// Distance of the farthest member from the centre: `EncloseRadius`.
    pub enclose_radius: f64,
    /// Maximum of the circular velocity, radii no less than the softening: `MaximumCircularVelocity`.
    pub maximum_circular_velocity: MaximumCircularVelocity,
    /// The same without softening: `MaximumCircularVelocityUnsoftened`.
    pub maximum_circular_velocity_unsoftened: MaximumCircularVelocity,
    /// Inertia tensors within ten half-mass radii of the component.
    pub inertia: ByComponent<InertiaTensors>,
    /// Spin by V_max and R_max: `SpinParameter`.
    pub spin_parameter: f64,
    /// Spin by energy (Peebles 1969).
    pub spin_peebles: f64,
    /// Kinetic energy in the frame of the centre of mass, with the Hubble flow about the centre.
    pub kinetic_energy: f64,
    /// The same of the gas, in the frame of its own centre of mass.
    pub gas_kinetic_energy: f64,
    /// Thermal energy of the gas; 0 if thermal energy does not count.
    pub gas_thermal_energy: f64,
    /// Potential energy: half the sum of mass times potential.
    pub potential_energy: f64,
}

/// The properties of bound members; `None` if there are none. Costs one sort by radius and passes over the
/// members.
pub fn bound_properties(
    members: &HaloMembers,
    bound: &BoundMembers,
    gravity: &Gravity,
) -> Option<BoundProperties> {
    let Ok(found) = bound_properties_of_slices(members, bound, gravity, &Whole);
    found
}

/// The same of bound members in slices. The sort moves 40 bytes per member.
///
/// # Errors
/// Those of the slices.
pub fn bound_properties_of_slices<S: Slices>(
    members: &HaloMembers,
    bound: &BoundMembers,
    gravity: &Gravity,
    slices: &S,
) -> Result<Option<BoundProperties>, S::Error> {
    let Some(deepest) = bound.deepest_of_slices(members, slices)? else { return Ok(None) };
    let (list, halo_centre) = (bound.member.as_slice(), deepest.position);
    let sums = MotionSums::new(members, list, halo_centre, deepest.velocity, slices)?;
    let motion = sums.motions();
    let order = RadialMembers::of_slice(members, list, halo_centre, slices)?;
    let half_mass_radius = half_mass::half_mass_radii(&order, slices)?;
    let [softened, unsoftened] = circular_velocity::maximum(&order, gravity, slices)?;
    let [enclose_radius] = greatest(slices, [order.radius.last().copied().unwrap_or(0.0)])?;
    drop(order);
    let kinetic_energy = sums.kinetic_energy(Component::Total, gravity);
    let potential_energy = sums::potential_energy(members, bound, slices)?;
    let total = motion.of(Component::Total);
    let sphere = SpinSphere { radius: softened.radius, centre: halo_centre, velocity: total.velocity };
    let inside = sphere.inside(members, list, slices)?;
    let shape = InertiaSphere { members, centre: halo_centre, slices };
    let energy = kinetic_energy + potential_energy;
    Ok(Some(BoundProperties {
        halo_centre,
        mass: sums.mass(),
        number: sums.number(),
        motion,
        half_mass_radius,
        enclose_radius,
        maximum_circular_velocity: softened,
        maximum_circular_velocity_unsoftened: unsoftened,
        inertia: shape.by_component(list, &sums.number(), &half_mass_radius)?,
        spin_parameter: spin::spin_parameter(&inside, softened.velocity, softened.radius),
        spin_peebles: spin::spin_peebles(total.angular_momentum, total.mass, energy, gravity),
        kinetic_energy,
        gas_kinetic_energy: sums.kinetic_energy(Component::Gas, gravity),
        gas_thermal_energy: sums::thermal_energy(members, bound, slices)?,
        potential_energy,
    }))
}
