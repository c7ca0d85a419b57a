//! Gas cells: those of each clump, and their mass in spheres.
//!
//! Each leaf of a patch is a member of a clump. For unbinding its mass is at its centre, its softening is its
//! side, and it moves with the velocity of the gas. The identity of a leaf is its row in the table of cells
//! ([`LeafRows`]). A leaf without a density above 0 has no gas.
//!
//! RAMSES stores the magnetic field at the faces of a cell. At the centre each component is the mean of those
//! of two faces.

use crate::bound::{BoundRequest, ClumpParticle, HaloMember, PointMass};
use crate::error::RunError;
use crate::particles::MemberType;
use crate::partition::to_leaf_owners;
use crate::phew::bound::input::BoundInput;
use crate::phew::bound::leaf_rows::LeafRows;
use crate::pieces::for_each_oct_block;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::Comm;
use inselberg_io::{MONATOMIC, OctBlock, ReadError, ReadResult, Snapshot};
use inselberg_kernels::geom::{cell_centre, cell_side, cell_volume};
use inselberg_kernels::mesh::local;
use rayon::prelude::*;
use std::cmp::Ordering;

/// The gas of an input: the fields that members need.
pub struct GasCells<'a> {
    snapshot: &'a dyn Snapshot,
    /// Density, velocity along each axis, then pressure and magnetic field if they exist.
    fields: Vec<&'static str>,
    /// The column of the pressure.
    pressure: Option<usize>,
    /// The column of the first of the six components of the magnetic field.
    magnetic: Option<usize>,
    /// The ratio of specific heats.
    pub adiabatic_index: f64,
    /// Its origin: `given`, `input`, or `assumed` to be that of a monatomic gas.
    pub adiabatic_index_source: &'static str,
}

/// The gas of this rank.
#[derive(Default)]
pub struct OwnGas {
    /// Leaves of this rank in a halo.
    pub in_haloes: Vec<ClumpCell>,
    /// The leaves that this rank reads, by level, if they are requested.
    pub by_level: Vec<Vec<PointMass>>,
}

/// A leaf with gas, as ranks exchange it. In code units.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GasLeaf {
    /// Velocity.
    pub velocity: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Thermal energy per mass.
    pub internal_energy: f64,
    /// Pressure, 0 or more; 0 if it is not known.
    pub pressure: f64,
    /// Magnetic energy per volume.
    pub magnetic: f64,
    /// Position on the grid of its level.
    pub ijk: [u32; 3],
    /// Level.
    pub level: u32,
}

/// A leaf with gas in a clump.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpCell {
    /// Identifier of the halo.
    pub halo: u64,
    /// Identifier of the clump.
    pub clump: u64,
    /// Row in the table of cells: its place by level, and then along the Morton curve.
    pub row: u64,
    /// The leaf.
    pub leaf: GasLeaf,
}

impl HaloMember for ClumpCell {
    fn halo(&self) -> u64 {
        self.halo
    }

    fn order(&self, other: &Self) -> Ordering {
        (self.halo, self.row).cmp(&(other.halo, other.row))
    }
}

impl ClumpCell {
    /// As a candidate of unbinding, in a box with level-0 cells of a side.
    pub fn as_particle(&self, side: f64) -> ClumpParticle {
        let (leaf, level) = (&self.leaf, self.leaf.level as u8);
        ClumpParticle {
            halo: self.halo,
            clump: self.clump,
            id: self.row,
            position: cell_centre(level, leaf.ijk).map(|x| x * side),
            velocity: leaf.velocity,
            mass: leaf.mass,
            internal_energy: leaf.internal_energy,
            softening: (cell_side(level) * side) as f32,
            particle_type: MemberType::Gas as u32,
            patch: self.clump,
            ..ClumpParticle::default()
        }
    }
}

impl<'a> GasCells<'a> {
    const NEEDED: [&'static str; 4] = ["density", "velocity_x", "velocity_y", "velocity_z"];
    /// The names of the pressure in the versions of RAMSES.
    const PRESSURE: [&'static str; 2] = ["pressure", "thermal_pressure"];
    /// The names of the magnetic field in the versions of RAMSES: left faces, then right faces.
    const MAGNETIC: [[&'static str; 6]; 2] = [
        ["B_x_left", "B_y_left", "B_z_left", "B_x_right", "B_y_right", "B_z_right"],
        ["B_left_x", "B_left_y", "B_left_z", "B_right_x", "B_right_y", "B_right_z"],
    ];

    /// The gas of an input; `None` if it has none.
    ///
    /// # Errors
    /// When properties of gas are requested and there is no gas. When it has no velocities, or only a part of
    /// a magnetic field. When it is not known which of its variables are the pressure and the magnetic field.
    pub fn of_input(snapshot: &'a dyn Snapshot, request: &BoundRequest) -> Result<Option<Self>, RunError> {
        let has = |name: &&str| snapshot.fields().iter().any(|f| f.family == "hydro" && f.name == **name);
        if !has(&"density") {
            return if request.gas { Err(RunError::NoGas) } else { Ok(None) };
        }
        if let Some(field) = Self::NEEDED.into_iter().find(|name| !has(name)) {
            return Err(RunError::NoGasField { field });
        }
        if let Some(why) = snapshot.unclear_gas() {
            return Err(RunError::UnclearGas { why });
        }
        let mut fields = Self::NEEDED.to_vec();
        let pressure = Self::PRESSURE.into_iter().find(|name| has(name));
        let pressure_at = pressure.map(|_| fields.len());
        fields.extend(pressure);
        // Unbinding does not count magnetic energy.
        let names = Self::MAGNETIC.into_iter().find(|names| request.gas && names.iter().any(&has));
        if let Some(field) = names.and_then(|names| names.into_iter().find(|name| !has(name))) {
            return Err(RunError::NoMagneticField { field });
        }
        let magnetic_at = names.map(|_| fields.len());
        fields.extend(names.into_iter().flatten());
        let (adiabatic_index, adiabatic_index_source) =
            match (request.adiabatic_index, snapshot.adiabatic_index()) {
                (Some(given), _) => (given, "given"),
                (None, Some(stated)) => (stated, "input"),
                (None, None) => (MONATOMIC, "assumed"),
            };
        Ok(Some(Self {
            snapshot,
            fields,
            pressure: pressure_at,
            magnetic: magnetic_at,
            adiabatic_index,
            adiabatic_index_source,
        }))
    }

    /// Whether the input states a pressure.
    pub fn has_pressure(&self) -> bool {
        self.pressure.is_some()
    }

    /// Whether the input states a magnetic field, and it is needed.
    pub fn has_magnetic_field(&self) -> bool {
        self.magnetic.is_some()
    }

    /// Collective: the leaves of this rank in haloes and, if `with_all`, the mass of all leaves that this
    /// rank reads.
    ///
    /// # Errors
    /// When the cells cannot be read or hold values that are not allowed, or another rank fails.
    pub fn read(&self, input: &BoundInput, with_all: bool, comm: &Comm) -> Result<OwnGas, RunError> {
        let test_field = input.test_field.as_ref();
        let fields: Vec<&str> = self.fields.iter().copied().chain(test_field.map(|f| f.name)).collect();
        let of_block = |piece: usize, block: &OctBlock| self.leaves(input, with_all, piece, block);
        let mut may_be_tests = Vec::new();
        let mut by_level: Vec<Vec<PointMass>> = Vec::new();
        for (level, leaves) in for_each_oct_block(self.snapshot, &fields, comm, of_block)? {
            may_be_tests.extend(leaves.may_be_tests);
            by_level.resize_with(by_level.len().max(level + 1), Vec::new);
            by_level[level].extend(leaves.points);
        }
        let at = |leaf: &GasLeaf| cell_centre(leaf.level as u8, leaf.ijk);
        let here = to_leaf_owners(may_be_tests, at, input.places.leaves().part, comm)?;
        let rows = LeafRows::new(input.places.leaves().part, comm)?;
        let in_haloes = here.into_par_iter().filter_map(|leaf| self.in_halo(&leaf, input, &rows)).collect();
        Ok(OwnGas { in_haloes, by_level })
    }

    /// The leaf as a member, if it is in a halo.
    fn in_halo(&self, leaf: &GasLeaf, input: &BoundInput, rows: &LeafRows) -> Option<ClumpCell> {
        let (brick, bit) = input.places.leaves().part.field.mesh.find_brick(leaf.level as u8, leaf.ijk)?;
        let patch = input.places.leaves().segmentation.labels
            [input.places.leaves().segmentation.test_cells.at(brick.at(), bit)?.at()];
        let (halo, clump) = (input.ids.halo[patch.at()], input.ids.clump[patch.at()]);
        let row = rows.row(brick.at(), bit);
        (halo > 0).then_some(ClumpCell { halo, clump, row, leaf: *leaf })
    }

    /// The leaves of a block with gas, by their level.
    fn leaves(
        &self,
        input: &BoundInput,
        with_all: bool,
        piece: usize,
        block: &OctBlock,
    ) -> ReadResult<(usize, BlockLeaves)> {
        let mut found = BlockLeaves::default();
        let volume = self.snapshot.header().boxlen.powi(3) * cell_volume(block.level);
        for (oct, position) in block.position.iter().enumerate() {
            for cell in local::bits(u64::from(!block.split[oct])) {
                let ijk = local::child_of(*position, cell);
                let values = CellValues { block, oct, cell: cell as usize };
                self.check(&values).map_err(|(field, value)| {
                    let place = self.snapshot.place_of(piece, Some(field));
                    ReadError::bad_value(place, field, value, block.level, ijk)
                })?;
                let mass = values.of(0) * volume;
                if with_all && mass > 0.0 {
                    let position = cell_centre(block.level, ijk);
                    found.points.push(PointMass { position, mass, particle_type: MemberType::Gas as u64 });
                }
                let test_density =
                    input.test_field.as_ref().map(|f| (values.of(self.fields.len()), f.threshold));
                if mass > 0.0 && test_density.is_none_or(|(density, threshold)| density > threshold) {
                    found.may_be_tests.push(GasLeaf {
                        velocity: std::array::from_fn(|a| values.of(1 + a)),
                        mass,
                        internal_energy: self.internal_energy(&values),
                        pressure: self.pressure(&values),
                        magnetic: self.magnetic_energy(&values),
                        ijk,
                        level: block.level.into(),
                    });
                }
            }
        }
        Ok((usize::from(block.level), found))
    }

    /// Thermal energy per mass.
    fn internal_energy(&self, values: &CellValues) -> f64 {
        match self.has_pressure() {
            true => self.pressure(values) / ((self.adiabatic_index - 1.0) * values.of(0)),
            false => 0.0,
        }
    }

    /// The pressure. Differences of large energies may leave a small negative one, which counts as 0.
    fn pressure(&self, values: &CellValues) -> f64 {
        self.pressure.map_or(0.0, |column| values.of(column).max(0.0))
    }

    /// Half the square of the field at the centre.
    fn magnetic_energy(&self, values: &CellValues) -> f64 {
        self.magnetic.map_or(0.0, |first| {
            let field: [f64; 3] =
                std::array::from_fn(|a| 0.5 * (values.of(first + a) + values.of(first + 3 + a)));
            0.5 * (field[0] * field[0] + field[1] * field[1] + field[2] * field[2])
        })
    }

    /// # Errors
    /// The first field with a value that is not finite, and that value.
    fn check(&self, values: &CellValues) -> Result<(), (&'static str, f64)> {
        let mut read = self.fields.iter().enumerate().map(|(column, field)| (*field, values.of(column)));
        read.find(|(_, value)| !value.is_finite()).map_or(Ok(()), Err)
    }
}

/// The leaves of a block.
#[derive(Default)]
struct BlockLeaves {
    /// Those that may be test cells.
    may_be_tests: Vec<GasLeaf>,
    /// All leaves, if they are requested.
    points: Vec<PointMass>,
}

/// The values of a cell.
struct CellValues<'a> {
    block: &'a OctBlock,
    oct: usize,
    cell: usize,
}

impl CellValues<'_> {
    fn of(&self, column: usize) -> f64 {
        self.block.values[column][self.oct][self.cell]
    }
}
