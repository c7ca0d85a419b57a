//! Gas: which properties has the gas of a clump, from its cells?
//!
//! Place in the flow: after the clumps are known, next to [`crate::bound`]. It uses the order of members and
//! the potentials of that module. In the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | cells of one halo in one order; the cells of each clump, with and without those of the clumps in it | [`members`] |
//! | cubes: their own energy, and their mass within a radius | [`cube`] |
//! | properties of a list of cells | here |
//!
//! With m, v, P, B, s for mass, velocity, pressure, magnetic field and side of a cell, bars for means by
//! mass, M the total mass and V the total volume:
//!
//! ```text
//!     R                equivalent radius        (3 V / 4 π)^⅓
//!     σ                one-dimensional          (Σ m |v - v̄|² / 3 M)^½
//!     c                isothermal sound speed   (Σ P s³ / M)^½
//!     K                turbulent energy         ½ Σ m |v - v̄|²
//!     U                thermal energy           Σ P s³ / (γ - 1)
//!     E_B              magnetic energy          ½ Σ B² s³                 B in units with energy B² / 2 per volume
//!     W                potential energy         -½ Σ_i Σ_j≠i G m_i m_j / r_ij - 0.9412 Σ G m² / s
//!     virial parameter (Bertoldi & McKee 1992)  5 σ² R / (G M)
//!     virial ratio                              2 K / |W|
//!     total virial ratio                        (2 K + 3 Σ P s³ + E_B) / |W|
//!     free-fall time                            (3 π / 32 G ρ)^½          ρ = M / V
//!     axis ratios      of a uniform ellipsoid with the same second moments Σ m (x x + s² / 12) / M
//! ```
//!
//! Cells attract each other as points, and themselves as homogeneous cubes. Expansion is ignored: velocities
//! have no Hubble flow. The module does not use ranks, files, periodic boxes or units. Sums run in the order
//! of members, so no result depends on the order in which cells arrive. Cells may be in slices, with the same
//! bits ([`crate::bound::slices`]).

pub mod cube;
pub mod members;
#[cfg(test)]
mod tests;

use crate::bound::elementary::power;
use crate::bound::potential::FEWEST_OF_TREE;
use crate::bound::potential::listed::{ListedPoints, PotentialScratch};
use crate::bound::properties::symmetric::principal_axes;
use crate::bound::slices::{Slices, Whole, greatest, total};
use crate::bound::{Gravity, HaloBounds, SourceTypes};
use cube::{SELF_ENERGY, half_mass_radius};
pub use members::{GasBounds, GasMembers, ListedCells, NestedLists};
use std::f64::consts::PI;

/// A cell with gas. Units are the caller's, with one constant of gravity for all.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct GasCell {
    /// Its centre relative to a point that all cells of the halo share. Periodic images are already resolved.
    pub position: [f64; 3],
    /// Its side, above 0.
    pub side: f64,
    /// Its velocity.
    pub velocity: [f64; 3],
    /// Its mass, above 0.
    pub mass: f64,
    /// Its pressure; 0 if it is not known.
    pub pressure: f64,
    /// Its magnetic energy per volume, B² / 2; 0 without a field.
    pub magnetic: f64,
}

/// Constants that the properties need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GasRules {
    /// The constant of gravity; 0 leaves out the properties that need it.
    pub newton: f64,
    /// The ratio of specific heats, above 1.
    pub adiabatic_index: f64,
}

/// The properties of the gas of a clump. Those that need gravity are 0 without it.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct GasProperties {
    /// Number of cells.
    pub number: u64,
    /// Mass.
    pub mass: f64,
    /// Volume.
    pub volume: f64,
    /// Radius of the sphere with this volume.
    pub radius: f64,
    /// Radius about the centre of mass with half of the mass.
    pub half_mass_radius: f64,
    /// Centre of mass.
    pub centre_of_mass: [f64; 3],
    /// Velocity of the centre of mass.
    pub velocity: [f64; 3],
    /// One-dimensional velocity dispersion about it.
    pub velocity_dispersion: f64,
    /// Isothermal sound speed.
    pub sound_speed: f64,
    /// Kinetic energy in the frame of the centre of mass.
    pub turbulent_energy: f64,
    /// Thermal energy.
    pub thermal_energy: f64,
    /// Magnetic energy.
    pub magnetic_energy: f64,
    /// Potential energy, negative.
    pub potential_energy: f64,
    /// Virial parameter.
    pub virial_parameter: f64,
    /// Twice the turbulent energy over the potential one.
    pub virial_ratio: f64,
    /// The same, with the terms of pressure and magnetic field.
    pub total_virial_ratio: f64,
    /// Free-fall time at the mean density.
    pub free_fall_time: f64,
    /// Second axis over the first.
    pub b_over_a: f64,
    /// Third axis over the first.
    pub c_over_a: f64,
}

/// Working memory, kept between clumps.
#[derive(Debug, Clone, Default)]
pub struct GasScratch {
    listed: PotentialScratch,
    potential: Vec<f64>,
}

/// The properties of listed members, by rising number; all 0 for an empty list. Time n log n.
pub fn gas_properties(
    members: &GasMembers,
    list: &[u32],
    rules: &GasRules,
    scratch: &mut GasScratch,
) -> GasProperties {
    let Ok(found) = gas_properties_of_slices(&ListedCells { members, list, slices: &Whole }, rules, scratch);
    found
}

/// The same of cells in slices.
///
/// # Errors
/// Those of the slices.
pub fn gas_properties_of_slices<S: Slices>(
    cells: &ListedCells<S>,
    rules: &GasRules,
    scratch: &mut GasScratch,
) -> Result<GasProperties, S::Error> {
    let number = total(cells.slices, cells.list.len())?;
    if number == 0 {
        return Ok(GasProperties::default());
    }
    let sums = GasSums::new(cells)?;
    let (mass, volume) = (sums.mass, sums.volume);
    let spread = Spread::new(cells, &sums)?;
    let radius = power(3.0 * volume / (4.0 * PI), 1.0 / 3.0);
    let turbulent_energy = 0.5 * spread.velocity2;
    let dispersion2 = spread.velocity2 / (3.0 * mass);
    let axes = principal_axes(spread.second.map(|sum| sum / mass)).value;
    let found = GasProperties {
        number,
        mass,
        volume,
        radius,
        half_mass_radius: half_mass_radius(cells, number, sums.centre())?,
        centre_of_mass: sums.centre(),
        velocity: sums.velocity(),
        velocity_dispersion: dispersion2.sqrt(),
        sound_speed: (sums.pressure / mass).sqrt(),
        turbulent_energy,
        thermal_energy: sums.pressure / (rules.adiabatic_index - 1.0),
        magnetic_energy: sums.magnetic,
        b_over_a: (axes[1] / axes[0]).sqrt(),
        c_over_a: (axes[2] / axes[0]).sqrt(),
        ..GasProperties::default()
    };
    if rules.newton <= 0.0 {
        return Ok(found);
    }
    let potential_energy = potential_energy(cells, number, rules.newton, scratch)?;
    Ok(GasProperties {
        potential_energy,
        virial_parameter: 5.0 * dispersion2 * radius / (rules.newton * mass),
        virial_ratio: 2.0 * turbulent_energy / -potential_energy,
        total_virial_ratio: (2.0 * turbulent_energy + 3.0 * sums.pressure + sums.magnetic)
            / -potential_energy,
        free_fall_time: (3.0 * PI * volume / (32.0 * rules.newton * mass)).sqrt(),
        ..found
    })
}

/// Additive quantities of cells: their sums, or the terms of one cell.
#[derive(Debug, Clone, Copy, Default)]
struct GasSums {
    mass: f64,
    volume: f64,
    /// Mass times position.
    position: [f64; 3],
    /// Mass times velocity.
    momentum: [f64; 3],
    /// Pressure times volume.
    pressure: f64,
    /// Magnetic energy.
    magnetic: f64,
}

impl GasSums {
    /// The sums over the cells of all slices.
    fn new<S: Slices>(cells: &ListedCells<S>) -> Result<Self, S::Error> {
        let bounds = Self::bounds_of_terms(cells.members.bounds());
        let sums = cells.sums(bounds.to_list(), |_, cell| Self::terms(cell).to_list())?;
        Ok(Self::from_list(sums))
    }

    /// The terms of one cell.
    fn terms(cell: &GasCell) -> Self {
        let volume = cell.side * cell.side * cell.side;
        Self {
            mass: cell.mass,
            volume,
            position: cell.position.map(|x| cell.mass * x),
            momentum: cell.velocity.map(|v| cell.mass * v),
            pressure: cell.pressure * volume,
            magnetic: cell.magnetic * volume,
        }
    }

    /// The greatest magnitude that the terms of any cell may have.
    fn bounds_of_terms(bounds: &GasBounds) -> Self {
        let GasBounds { members: HaloBounds { mass, reach, speed, .. }, side, pressure, magnetic } = *bounds;
        let volume = side * side * side;
        Self {
            mass,
            volume,
            position: [mass * reach; 3],
            momentum: [mass * speed; 3],
            pressure: pressure * volume,
            magnetic: magnetic * volume,
        }
    }

    fn to_list(self) -> [f64; 10] {
        let Self { mass, volume, position: [x, y, z], momentum: [px, py, pz], pressure, magnetic } = self;
        [mass, volume, x, y, z, px, py, pz, pressure, magnetic]
    }

    fn from_list([mass, volume, x, y, z, px, py, pz, pressure, magnetic]: [f64; 10]) -> Self {
        Self { mass, volume, position: [x, y, z], momentum: [px, py, pz], pressure, magnetic }
    }

    fn centre(&self) -> [f64; 3] {
        self.position.map(|sum| sum / self.mass)
    }

    fn velocity(&self) -> [f64; 3] {
        self.momentum.map(|sum| sum / self.mass)
    }
}

/// Sums over the deviations of cells from the centre of mass.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    /// The sum of mass times squared velocity.
    velocity2: f64,
    /// Second moments of mass: xx, yy, zz, xy, xz, yz. Those of a cell are those of a cube.
    second: [f64; 6],
}

impl Spread {
    fn new<S: Slices>(cells: &ListedCells<S>, sums: &GasSums) -> Result<Self, S::Error> {
        let (centre, mean) = (sums.centre(), sums.velocity());
        let GasBounds { members: HaloBounds { mass, reach, speed, .. }, side, .. } = *cells.members.bounds();
        // A deviation is at most twice the greatest magnitude along each axis.
        let (velocity2, second) = (mass * 16.0 * speed * speed, mass * (8.0 * reach * reach + side * side));
        let most = [velocity2, second, second, second, second, second, second];
        let [velocity2, second @ ..] = cells.sums(most, |_, cell| {
            let x: [f64; 3] = std::array::from_fn(|a| cell.position[a] - centre[a]);
            let v: [f64; 3] = std::array::from_fn(|a| cell.velocity[a] - mean[a]);
            let own = cell.side * cell.side / 12.0;
            let m = cell.mass;
            let square = |a: usize| m * (x[a] * x[a] + own);
            let product = |a: usize, b: usize| m * (x[a] * x[b]);
            let velocity2 = m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            [velocity2, square(0), square(1), square(2), product(0, 1), product(0, 2), product(1, 2)]
        })?;
        Ok(Self { velocity2, second })
    }
}

/// The potential energy of listed cells, `number` of them in all slices: that of points at their centres,
/// plus that of each cell in its own field.
fn potential_energy<S: Slices>(
    cells: &ListedCells<S>,
    number: u64,
    newton: f64,
    scratch: &mut GasScratch,
) -> Result<f64, S::Error> {
    let gravity = &Gravity { g: newton, hubble_flow: 0.0 };
    let ListedCells { members, list, slices } = *cells;
    let GasScratch { listed, potential } = scratch;
    let points = ListedPoints { members: members.order(), list, sources: SourceTypes::ALL, gravity, slices };
    points.potential(number >= FEWEST_OF_TREE as u64, listed, potential)?;
    let energy = |place: usize, cell: &GasCell| {
        0.5 * cell.mass * potential[place] - SELF_ENERGY * newton * cell.mass * cell.mass / cell.side
    };
    let deepest = cells.iter().enumerate().fold(0.0f64, |most, (at, cell)| most.max(energy(at, cell).abs()));
    let most = greatest(slices, [deepest])?;
    let [sum] = cells.sums(most, |place, cell| [energy(place, cell)])?;
    Ok(sum)
}
