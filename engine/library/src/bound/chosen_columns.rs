//! The properties of bound particles: each is one entry here, or in `type_columns`, and then a column.

use crate::bound::columns::{
    ANGULAR_MOMENTUM, AREA, BoundColumn, ENERGY, LENGTH, MASS, VELOCITY, VELOCITY_SQUARED, count,
    dark_matter, diagonal, gas, off_diagonal, place, real, stars, tensor, total, vector,
};
use crate::bound::request::PropertyChoice;
use crate::bound::type_columns::BY_TYPE;
use inselberg_kernels::bound::properties::Component;

impl BoundColumn {
    /// The columns of a choice.
    pub fn chosen(choice: PropertyChoice) -> Vec<&'static Self> {
        let more: &[&[Self]] = if choice.has_all_bound() { &[MORE, BY_TYPE] } else { &[] };
        BASIC.iter().chain(more.iter().copied().flatten()).collect()
    }
}

const BASIC: &[BoundColumn] = &[
    real("bound_mass", MASS, "mass of the bound particles", |p| total(p).mass),
    place(
        "most_bound_position",
        "position of the bound particle with the lowest potential: the centre",
        |p| Some(p.halo_centre),
    ),
    place("bound_centre_of_mass", "centre of mass of the bound particles", |p| Some(total(p).centre_of_mass)),
    vector("bound_velocity", VELOCITY, "velocity of the centre of mass of the bound particles", |p| {
        total(p).velocity
    }),
    real(
        "bound_kinetic_energy",
        ENERGY,
        "kinetic energy of the bound particles in the frame of their centre of mass, with the Hubble flow",
        |p| p.kinetic_energy,
    ),
    real(
        "bound_potential_energy",
        ENERGY,
        "half the sum of mass times potential over the bound particles",
        |p| p.potential_energy,
    ),
    real(
        "maximum_circular_velocity",
        VELOCITY,
        "greatest sqrt(G M(<r) / r) of the bound particles about the centre; r at least the softening",
        |p| p.maximum_circular_velocity.velocity,
    ),
    real("maximum_circular_velocity_radius", LENGTH, "radius of the maximum circular velocity", |p| {
        p.maximum_circular_velocity.radius
    }),
    real("half_mass_radius", LENGTH, "radius about the centre with half of the bound mass", |p| {
        p.half_mass_radius.of(Component::Total)
    }),
];

const MORE: &[BoundColumn] = &[
    real("bound_dark_matter_mass", MASS, "mass of the bound dark matter", |p| dark_matter(p).mass),
    real("bound_gas_mass", MASS, "mass of the bound gas", |p| gas(p).mass),
    real("bound_stellar_mass", MASS, "mass of the bound stars", |p| stars(p).mass),
    count("n_bound_dark_matter", "number of bound dark-matter particles", |p| p.number[1]),
    count("n_bound_gas", "number of bound gas cells, or gas particles", |p| p.number[0]),
    count("n_bound_stars", "number of bound stars", |p| p.number[4]),
    real("enclose_radius", LENGTH, "distance of the farthest bound particle from the centre", |p| {
        p.enclose_radius
    }),
    real(
        "maximum_circular_velocity_unsoftened",
        VELOCITY,
        "as maximum_circular_velocity, with any r above 0",
        |p| p.maximum_circular_velocity_unsoftened.velocity,
    ),
    real(
        "maximum_circular_velocity_radius_unsoftened",
        LENGTH,
        "radius of the maximum circular velocity with any r above 0",
        |p| p.maximum_circular_velocity_unsoftened.radius,
    ),
    real("half_mass_radius_dark_matter", LENGTH, "half-mass radius of the bound dark matter", |p| {
        p.half_mass_radius.of(Component::DarkMatter)
    }),
    real("half_mass_radius_gas", LENGTH, "half-mass radius of the bound gas", |p| {
        p.half_mass_radius.of(Component::Gas)
    }),
    real("half_mass_radius_stars", LENGTH, "half-mass radius of the bound stars", |p| {
        p.half_mass_radius.of(Component::Stars)
    }),
    vector(
        "velocity_dispersion_diagonal",
        VELOCITY_SQUARED,
        "velocity dispersion matrix of the bound particles: xx, yy, zz",
        |p| diagonal(total(p).dispersion),
    ),
    vector(
        "velocity_dispersion_off_diagonal",
        VELOCITY_SQUARED,
        "velocity dispersion matrix of the bound particles: xy, xz, yz",
        |p| off_diagonal(total(p).dispersion),
    ),
    vector(
        "angular_momentum",
        ANGULAR_MOMENTUM,
        "angular momentum of the bound particles about the centre, in the frame of their centre of mass",
        |p| total(p).angular_momentum,
    ),
    vector(
        "angular_momentum_dark_matter",
        ANGULAR_MOMENTUM,
        "the same of the bound dark matter, in its own frame",
        |p| dark_matter(p).angular_momentum,
    ),
    vector("angular_momentum_gas", ANGULAR_MOMENTUM, "the same of the bound gas, in its own frame", |p| {
        gas(p).angular_momentum
    }),
    vector(
        "angular_momentum_stars",
        ANGULAR_MOMENTUM,
        "the same of the bound stars, in their own frame",
        |p| stars(p).angular_momentum,
    ),
    vector(
        "angular_momentum_baryons",
        ANGULAR_MOMENTUM,
        "the same of the bound gas and stars, in their common frame",
        |p| p.motion.of(Component::Baryons).angular_momentum,
    ),
    real(
        "spin_parameter",
        [0; 3],
        "spin |L| / (sqrt(2) M V R) within the radius R of the maximum circular velocity V",
        |p| p.spin_parameter,
    ),
    real("spin_peebles", [0; 3], "spin |L| sqrt|E| / (G M^2.5) of the bound particles (Peebles 1969)", |p| {
        p.spin_peebles
    }),
    vector(
        "inertia_tensor_diagonal",
        AREA,
        "inertia tensor by mass, iterated in an ellipsoid of the volume of 10 half-mass radii: xx, yy, zz; 0 below 20 particles",
        |p| diagonal(tensor(p, Component::Total, |t| t.plain)),
    ),
    vector("inertia_tensor_off_diagonal", AREA, "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::Total, |t| t.plain))
    }),
    vector("inertia_tensor_reduced_diagonal", [0; 3], "the same with the weight 1 / r^2: xx, yy, zz", |p| {
        diagonal(tensor(p, Component::Total, |t| t.reduced))
    }),
    vector("inertia_tensor_reduced_off_diagonal", [0; 3], "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::Total, |t| t.reduced))
    }),
];
