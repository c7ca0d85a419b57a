//! The datasets of each group of the file, and their columns in the catalogue.

use super::columns::{SoapColumn, SoapMask, SoapType};

/// A dataset that is always computed.
const fn stored(
    name: &'static str,
    kind: SoapType,
    from: &'static [&'static str],
    is_comoving: bool,
) -> SoapColumn {
    SoapColumn { name, from, kind, is_comoving, mask: None }
}

const fn physical(name: &'static str, kind: SoapType, from: &'static [&'static str]) -> SoapColumn {
    stored(name, kind, from, false)
}

const fn comoving(name: &'static str, kind: SoapType, from: &'static [&'static str]) -> SoapColumn {
    stored(name, kind, from, true)
}

/// A physical dataset that is 0 if too few particles are bound.
const fn masked(
    name: &'static str,
    kind: SoapType,
    from: &'static [&'static str],
    mask: SoapMask,
) -> SoapColumn {
    SoapColumn { mask: Some(mask), ..stored(name, kind, from, false) }
}

/// Inertia tensors need this many particles.
const fn shape_of(number: &'static str) -> SoapMask {
    SoapMask { number, threshold: 20 }
}

const ALL: SoapMask = shape_of("InputHalos/NumberOfBoundParticles");
const GAS: SoapMask = shape_of("BoundSubhalo/NumberOfGasParticles");
const DARK_MATTER: SoapMask = shape_of("BoundSubhalo/NumberOfDarkMatterParticles");
const STARS: SoapMask = shape_of("BoundSubhalo/NumberOfStarParticles");

/// The datasets of `BoundSubhalo`.
pub const BOUND: &[SoapColumn] = &[
    comoving("CentreOfMass", SoapType::Double3, &["bound_centre_of_mass"]),
    physical("CentreOfMassVelocity", SoapType::Three, &["bound_velocity"]),
    comoving("GasCentreOfMass", SoapType::Double3, &["bound_gas_centre_of_mass"]),
    physical("GasCentreOfMassVelocity", SoapType::Three, &["bound_gas_velocity"]),
    physical("TotalMass", SoapType::Real, &["bound_mass"]),
    physical("GasMass", SoapType::Real, &["bound_gas_mass"]),
    physical("DarkMatterMass", SoapType::Real, &["bound_dark_matter_mass"]),
    physical("StellarMass", SoapType::Real, &["bound_stellar_mass"]),
    physical("NumberOfGasParticles", SoapType::Count, &["n_bound_gas"]),
    physical("NumberOfDarkMatterParticles", SoapType::Count, &["n_bound_dark_matter"]),
    physical("NumberOfStarParticles", SoapType::Count, &["n_bound_stars"]),
    physical("KineticEnergyTotal", SoapType::Real, &["bound_kinetic_energy"]),
    physical("KineticEnergyGas", SoapType::Real, &["bound_gas_kinetic_energy"]),
    physical("ThermalEnergyGas", SoapType::Real, &["bound_gas_thermal_energy"]),
    physical("PotentialEnergyTotal", SoapType::Real, &["bound_potential_energy"]),
    physical("MaximumCircularVelocity", SoapType::Real, &["maximum_circular_velocity"]),
    comoving("MaximumCircularVelocityRadius", SoapType::Real, &["maximum_circular_velocity_radius"]),
    physical("MaximumCircularVelocityUnsoftened", SoapType::Real, &["maximum_circular_velocity_unsoftened"]),
    comoving(
        "MaximumCircularVelocityRadiusUnsoftened",
        SoapType::Real,
        &["maximum_circular_velocity_radius_unsoftened"],
    ),
    comoving("HalfMassRadiusTotal", SoapType::Real, &["half_mass_radius"]),
    comoving("HalfMassRadiusGas", SoapType::Real, &["half_mass_radius_gas"]),
    comoving("HalfMassRadiusDarkMatter", SoapType::Real, &["half_mass_radius_dark_matter"]),
    comoving("HalfMassRadiusStars", SoapType::Real, &["half_mass_radius_stars"]),
    comoving("EncloseRadius", SoapType::Real, &["enclose_radius"]),
    physical("AngularMomentumGas", SoapType::Three, &["angular_momentum_gas"]),
    physical("AngularMomentumDarkMatter", SoapType::Three, &["angular_momentum_dark_matter"]),
    physical("AngularMomentumStars", SoapType::Three, &["angular_momentum_stars"]),
    physical("AngularMomentumBaryons", SoapType::Three, &["angular_momentum_baryons"]),
    physical("SpinParameter", SoapType::Real, &["spin_parameter"]),
    masked(
        "TotalInertiaTensor",
        SoapType::Six,
        &["inertia_tensor_diagonal", "inertia_tensor_off_diagonal"],
        ALL,
    ),
    masked(
        "TotalInertiaTensorReduced",
        SoapType::Six,
        &["inertia_tensor_reduced_diagonal", "inertia_tensor_reduced_off_diagonal"],
        ALL,
    ),
    masked(
        "GasInertiaTensor",
        SoapType::Six,
        &["inertia_tensor_gas_diagonal", "inertia_tensor_gas_off_diagonal"],
        GAS,
    ),
    masked(
        "GasInertiaTensorReduced",
        SoapType::Six,
        &["inertia_tensor_reduced_gas_diagonal", "inertia_tensor_reduced_gas_off_diagonal"],
        GAS,
    ),
    masked(
        "DarkMatterInertiaTensor",
        SoapType::Six,
        &["inertia_tensor_dark_matter_diagonal", "inertia_tensor_dark_matter_off_diagonal"],
        DARK_MATTER,
    ),
    masked(
        "DarkMatterInertiaTensorReduced",
        SoapType::Six,
        &["inertia_tensor_reduced_dark_matter_diagonal", "inertia_tensor_reduced_dark_matter_off_diagonal"],
        DARK_MATTER,
    ),
    masked(
        "StellarInertiaTensor",
        SoapType::Six,
        &["inertia_tensor_stars_diagonal", "inertia_tensor_stars_off_diagonal"],
        STARS,
    ),
    masked(
        "StellarInertiaTensorReduced",
        SoapType::Six,
        &["inertia_tensor_reduced_stars_diagonal", "inertia_tensor_reduced_stars_off_diagonal"],
        STARS,
    ),
    physical(
        "GasVelocityDispersionMatrix",
        SoapType::Six,
        &["velocity_dispersion_gas_diagonal", "velocity_dispersion_gas_off_diagonal"],
    ),
    physical(
        "DarkMatterVelocityDispersionMatrix",
        SoapType::Six,
        &["velocity_dispersion_dark_matter_diagonal", "velocity_dispersion_dark_matter_off_diagonal"],
    ),
    physical(
        "StellarVelocityDispersionMatrix",
        SoapType::Six,
        &["velocity_dispersion_stars_diagonal", "velocity_dispersion_stars_off_diagonal"],
    ),
];

/// The datasets of `InputHalos/FOF`: the results of the search.
pub const GROUPS: &[SoapColumn] = &[
    physical("GroupIDs", SoapType::Integer, &["GroupIDs"]),
    comoving("Centres", SoapType::Double3, &["Centres"]),
    physical("Masses", SoapType::Real, &["Masses"]),
    physical("Sizes", SoapType::Integer, &["Sizes"]),
];

/// The datasets of `InputHalos/PHEW`.
pub const CLUMPS: &[SoapColumn] = &[
    physical("ClumpID", SoapType::Identity, &["id"]),
    physical("HaloID", SoapType::Identity, &["halo"]),
    physical("ParentID", SoapType::Identity, &["parent"]),
    comoving("PeakPosition", SoapType::Double3, &["peak_position"]),
    comoving("PeakDensity", SoapType::Real, &["density_peak"]),
    comoving("SaddleDensity", SoapType::Real, &["saddle_density"]),
];

/// The spheres: the group, and its datasets.
pub const SPHERES: [(&str, &[SoapColumn]); 4] = [
    (
        "SO/200_crit",
        &[
            physical("TotalMass", SoapType::Real, &["mass_200_crit"]),
            physical("GasMass", SoapType::Real, &["gas_mass_200_crit"]),
            physical("DarkMatterMass", SoapType::Real, &["dark_matter_mass_200_crit"]),
            physical("StellarMass", SoapType::Real, &["stellar_mass_200_crit"]),
            comoving("SORadius", SoapType::Real, &["radius_200_crit"]),
            physical("ConcentrationUnsoftened", SoapType::Real, &["concentration_200_crit"]),
        ],
    ),
    (
        "SO/200_mean",
        &[
            physical("TotalMass", SoapType::Real, &["mass_200_mean"]),
            physical("GasMass", SoapType::Real, &["gas_mass_200_mean"]),
            physical("DarkMatterMass", SoapType::Real, &["dark_matter_mass_200_mean"]),
            physical("StellarMass", SoapType::Real, &["stellar_mass_200_mean"]),
            comoving("SORadius", SoapType::Real, &["radius_200_mean"]),
            physical("ConcentrationUnsoftened", SoapType::Real, &["concentration_200_mean"]),
        ],
    ),
    (
        "SO/500_crit",
        &[
            physical("TotalMass", SoapType::Real, &["mass_500_crit"]),
            physical("GasMass", SoapType::Real, &["gas_mass_500_crit"]),
            physical("DarkMatterMass", SoapType::Real, &["dark_matter_mass_500_crit"]),
            physical("StellarMass", SoapType::Real, &["stellar_mass_500_crit"]),
            comoving("SORadius", SoapType::Real, &["radius_500_crit"]),
        ],
    ),
    (
        "SO/BN98",
        &[
            physical("TotalMass", SoapType::Real, &["mass_bn98"]),
            physical("GasMass", SoapType::Real, &["gas_mass_bn98"]),
            physical("DarkMatterMass", SoapType::Real, &["dark_matter_mass_bn98"]),
            physical("StellarMass", SoapType::Real, &["stellar_mass_bn98"]),
            comoving("SORadius", SoapType::Real, &["radius_bn98"]),
            physical("ConcentrationUnsoftened", SoapType::Real, &["concentration_bn98"]),
        ],
    ),
];
