//! Properties of the bound particles of one type: gas, dark matter or stars.
//!
//! A matrix fills two columns, as in `columns`.

use crate::bound::columns::{
    AREA, BoundColumn, ENERGY, VELOCITY, VELOCITY_SQUARED, dark_matter, diagonal, gas, off_diagonal, place,
    real, stars, tensor, vector,
};
use inselberg_kernels::bound::properties::Component;

/// In addition to masses, numbers, half-mass radii and angular momenta.
pub(super) const BY_TYPE: &[BoundColumn] = &[
    place("bound_gas_centre_of_mass", "centre of mass of the bound gas; 0 where there is none", |p| {
        (gas(p).mass > 0.0).then_some(gas(p).centre_of_mass)
    }),
    vector("bound_gas_velocity", VELOCITY, "velocity of the centre of mass of the bound gas", |p| {
        gas(p).velocity
    }),
    real(
        "bound_gas_kinetic_energy",
        ENERGY,
        "kinetic energy of the bound gas in the frame of its own centre of mass, with the Hubble flow",
        |p| p.gas_kinetic_energy,
    ),
    real(
        "bound_gas_thermal_energy",
        ENERGY,
        "thermal energy of the bound gas cells; 0 where thermal energy does not count, and of gas particles",
        |p| p.gas_thermal_energy,
    ),
    vector(
        "velocity_dispersion_dark_matter_diagonal",
        VELOCITY_SQUARED,
        "velocity dispersion matrix of the bound dark matter about its own mean: xx, yy, zz",
        |p| diagonal(dark_matter(p).dispersion),
    ),
    vector("velocity_dispersion_dark_matter_off_diagonal", VELOCITY_SQUARED, "the same: xy, xz, yz", |p| {
        off_diagonal(dark_matter(p).dispersion)
    }),
    vector(
        "inertia_tensor_dark_matter_diagonal",
        AREA,
        "inertia tensor of the bound dark matter by mass, iterated in an ellipsoid: xx, yy, zz; 0 below 20 particles",
        |p| diagonal(tensor(p, Component::DarkMatter, |t| t.plain)),
    ),
    vector("inertia_tensor_dark_matter_off_diagonal", AREA, "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::DarkMatter, |t| t.plain))
    }),
    vector(
        "inertia_tensor_reduced_dark_matter_diagonal",
        [0; 3],
        "the same with the weight 1 / r^2: xx, yy, zz",
        |p| diagonal(tensor(p, Component::DarkMatter, |t| t.reduced)),
    ),
    vector("inertia_tensor_reduced_dark_matter_off_diagonal", [0; 3], "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::DarkMatter, |t| t.reduced))
    }),
    vector(
        "velocity_dispersion_gas_diagonal",
        VELOCITY_SQUARED,
        "velocity dispersion matrix of the bound gas about its own mean: xx, yy, zz",
        |p| diagonal(gas(p).dispersion),
    ),
    vector("velocity_dispersion_gas_off_diagonal", VELOCITY_SQUARED, "the same: xy, xz, yz", |p| {
        off_diagonal(gas(p).dispersion)
    }),
    vector(
        "inertia_tensor_gas_diagonal",
        AREA,
        "inertia tensor of the bound gas by mass, iterated in an ellipsoid: xx, yy, zz; 0 below 20 particles",
        |p| diagonal(tensor(p, Component::Gas, |t| t.plain)),
    ),
    vector("inertia_tensor_gas_off_diagonal", AREA, "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::Gas, |t| t.plain))
    }),
    vector(
        "inertia_tensor_reduced_gas_diagonal",
        [0; 3],
        "the same with the weight 1 / r^2: xx, yy, zz",
        |p| diagonal(tensor(p, Component::Gas, |t| t.reduced)),
    ),
    vector("inertia_tensor_reduced_gas_off_diagonal", [0; 3], "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::Gas, |t| t.reduced))
    }),
    vector(
        "velocity_dispersion_stars_diagonal",
        VELOCITY_SQUARED,
        "velocity dispersion matrix of the bound stars about its own mean: xx, yy, zz",
        |p| diagonal(stars(p).dispersion),
    ),
    vector("velocity_dispersion_stars_off_diagonal", VELOCITY_SQUARED, "the same: xy, xz, yz", |p| {
        off_diagonal(stars(p).dispersion)
    }),
    vector(
        "inertia_tensor_stars_diagonal",
        AREA,
        "inertia tensor of the bound stars by mass, iterated in an ellipsoid: xx, yy, zz; 0 below 20 particles",
        |p| diagonal(tensor(p, Component::Stars, |t| t.plain)),
    ),
    vector("inertia_tensor_stars_off_diagonal", AREA, "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::Stars, |t| t.plain))
    }),
    vector(
        "inertia_tensor_reduced_stars_diagonal",
        [0; 3],
        "the same with the weight 1 / r^2: xx, yy, zz",
        |p| diagonal(tensor(p, Component::Stars, |t| t.reduced)),
    ),
    vector("inertia_tensor_reduced_stars_off_diagonal", [0; 3], "the same: xy, xz, yz", |p| {
        off_diagonal(tensor(p, Component::Stars, |t| t.reduced))
    }),
];
