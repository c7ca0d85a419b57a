//! Gas cells as members of clumps, and their mass in spheres.
//!
//! Each leaf of a patch is a member: its mass is at its centre, its softening is its side, and it moves with the velocity of
//! the gas. The identity of a leaf is its row in the table of cells ([`LeafRows`]). A leaf without a density above 0 has no gas.

use crate::bound::{ClumpParticle, MemberType, PointMass};
use crate::error::RunError;
use crate::partition::{for_each_oct_block, to_leaf_owners};
use crate::phew::bound::input::BoundInput;
use crate::phew::bound::leaf_rows::LeafRows;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::Comm;
use inselberg_io::{MONATOMIC, OctBlock, ReadError, ReadResult, Snapshot};
use inselberg_kernels::geom::{cell_centre, cell_side, cell_volume};
use inselberg_kernels::mesh::local;
use rayon::prelude::*;

/// The gas of an input: which of its fields members need.
pub struct GasCells<'a> {
    snapshot: &'a dyn Snapshot,
    /// Density, velocity along each axis, and the pressure if there is one.
    fields: Vec<&'static str>,
    /// The ratio of specific heats; that of a monatomic gas if the input states none.
    pub adiabatic_index: f64,
}

/// The gas of this rank.
#[derive(Default)]
pub struct OwnGas {
    /// Leaves of this rank in a halo.
    pub in_haloes: Vec<ClumpParticle>,
    /// The leaves that this rank reads, by level, if these are wanted.
    pub by_level: Vec<Vec<PointMass>>,
}

/// A leaf with gas, as ranks exchange it. In code units.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GasLeaf {
    velocity: [f64; 3],
    mass: f64,
    internal_energy: f64,
    ijk: [u32; 3],
    level: u32,
}

impl<'a> GasCells<'a> {
    const NEEDED: [&'static str; 4] = ["density", "velocity_x", "velocity_y", "velocity_z"];
    /// The names of the pressure in the versions of RAMSES.
    const PRESSURE: [&'static str; 2] = ["pressure", "thermal_pressure"];

    /// The gas of an input; `None` if it has none.
    ///
    /// # Errors
    /// When the gas has no velocities.
    pub fn of_input(snapshot: &'a dyn Snapshot) -> Result<Option<Self>, RunError> {
        let has = |name: &str| snapshot.fields().iter().any(|f| f.family == "hydro" && f.name == name);
        if !has("density") {
            return Ok(None);
        }
        if let Some(field) = Self::NEEDED.into_iter().find(|name| !has(name)) {
            return Err(RunError::NoGasField { field });
        }
        let pressure = Self::PRESSURE.into_iter().find(|name| has(name));
        Ok(Some(Self {
            snapshot,
            fields: Self::NEEDED.into_iter().chain(pressure).collect(),
            adiabatic_index: snapshot.adiabatic_index().unwrap_or(MONATOMIC),
        }))
    }

    /// Whether the input states a pressure.
    pub fn has_pressure(&self) -> bool {
        self.fields.len() > Self::NEEDED.len()
    }

    /// Collective: the leaves of this rank in haloes and, if `with_all`, the mass of all leaves that this rank reads.
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
        let here = to_leaf_owners(may_be_tests, at, input.part, comm)?;
        let rows = LeafRows::new(input.part, comm)?;
        let in_haloes = here.into_par_iter().filter_map(|leaf| self.in_halo(&leaf, input, &rows)).collect();
        Ok(OwnGas { in_haloes, by_level })
    }

    /// The leaf as a member, if it is in a halo.
    fn in_halo(&self, leaf: &GasLeaf, input: &BoundInput, rows: &LeafRows) -> Option<ClumpParticle> {
        let level = leaf.level as u8;
        let (brick, bit) = input.part.field.mesh.find_brick(level, leaf.ijk)?;
        let patch = input.segmentation.labels[input.segmentation.test_cells.at(brick.at(), bit)?.at()];
        let (halo, clump) = (input.ids.halo[patch.at()], input.ids.clump[patch.at()]);
        let side = self.snapshot.header().boxlen;
        (halo > 0).then(|| ClumpParticle {
            halo,
            clump,
            id: rows.row(brick.at(), bit),
            position: cell_centre(level, leaf.ijk).map(|x| x * side),
            velocity: leaf.velocity,
            mass: leaf.mass,
            internal_energy: leaf.internal_energy,
            softening: (cell_side(level) * side) as f32,
            particle_type: MemberType::Gas as u32,
        })
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
                let ijk = std::array::from_fn(|a| 2 * position[a] + (cell >> a & 1));
                let values = CellValues { block, oct, cell: cell as usize };
                self.check(&values).map_err(|(field, value)| {
                    let place = self.snapshot.place_of(piece, Some(field));
                    ReadError::bad_value(place, field, value, block.level, ijk)
                })?;
                let mass = values.of(0) * volume;
                if with_all && mass > 0.0 {
                    found.points.push(PointMass { position: cell_centre(block.level, ijk), mass });
                }
                let test_density =
                    input.test_field.as_ref().map(|f| (values.of(self.fields.len()), f.threshold));
                if mass > 0.0 && test_density.is_none_or(|(density, threshold)| density > threshold) {
                    found.may_be_tests.push(GasLeaf {
                        velocity: std::array::from_fn(|a| values.of(1 + a)),
                        mass,
                        internal_energy: self.internal_energy(&values),
                        ijk,
                        level: block.level.into(),
                    });
                }
            }
        }
        Ok((usize::from(block.level), found))
    }

    /// Thermal energy per mass. Differences of large energies may leave a small negative pressure, which counts as 0.
    fn internal_energy(&self, values: &CellValues) -> f64 {
        match self.has_pressure() {
            true => values.of(Self::NEEDED.len()).max(0.0) / ((self.adiabatic_index - 1.0) * values.of(0)),
            false => 0.0,
        }
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
    /// All of them, if these are wanted.
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
