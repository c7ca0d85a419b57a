//! Gas clumps: what is the gas of each clump like, whether gravity holds it or not?
//!
//! Leaves with gas come in, each with its clump; columns of clumps and haloes come out. In the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | the constant of gravity, as far as the input says | `newton` |
//! | whole haloes to ranks, one task per clump | here |
//! | properties, each one column, and which of them are not computed | `columns` |
//! | values to the ranks with rows | `rows` |
//! | attributes | here |
//!
//! Four exchanges. The numerical part is in `inselberg_kernels::gas`, which has the definitions.

mod columns;
mod newton;
mod rows;

use crate::bound::{HaloClump, HaloFrame, HaloRows, HaloWork, to_workers};
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::gas::{ClumpCell, GasCells};
use crate::phew::bound::gas_clumps::columns::{GasColumn, Missing};
use crate::phew::bound::gas_clumps::newton::Newton;
use crate::phew::bound::gas_clumps::rows::{GasOfClump, GasTables};
use crate::stage::Stage;
use crate::tables::AttributeList;
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::CataloguePart;
use inselberg_kernels::bound::MemberError;
use inselberg_kernels::gas::{
    GasCell, GasMembers, GasProperties, GasRules, GasScratch, NestedLists, gas_properties,
};
use inselberg_kernels::geom::{cell_centre, cell_side};
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// What the gas of clumps is measured with.
pub struct GasTask<'a> {
    /// The gas of the input.
    pub gas: &'a GasCells<'a>,
    /// The input.
    pub snapshot: &'a dyn Snapshot,
    /// The box.
    pub space: SizedBox,
    /// The rows of this rank.
    pub rows: &'a HaloRows,
}

impl GasTask<'_> {
    /// Collective: adds the properties of the gas of clumps and haloes to their tables.
    ///
    /// # Errors
    /// When a cell has a value that is not allowed, or another rank fails.
    pub fn add_to(
        &self,
        catalogue: &mut CataloguePart,
        cells: Vec<ClumpCell>,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), RunError> {
        let _gas = Stage::begin("gas clumps", cells.len() as u64, comm, executor.observer());
        let newton = Newton::of_input(self.snapshot);
        let rules = GasRules {
            newton: newton.as_ref().map_or(0.0, |newton| newton.value),
            adiabatic_index: self.gas.adiabatic_index,
        };
        let work = to_workers(cells, self.rows, comm)?;
        let found = self.measure(&work, &rules)?;
        let missing = Missing {
            pressure: !self.gas.has_pressure(),
            magnetic_field: !self.gas.has_magnetic_field(),
            gravity: newton.is_none(),
        };
        let tables = GasTables::new(&found, self.rows, comm)?;
        for part in &mut catalogue.tables {
            match part.table.name.as_str() {
                "clumps" => part.table.columns.extend(tables.clump_columns(&self.rows.clumps, missing)),
                "haloes" => part.table.columns.extend(tables.halo_columns(&self.rows.haloes, missing)),
                _ => {}
            }
        }
        catalogue.attributes.extend(self.attributes(newton.as_ref(), missing).into_attributes());
        Ok(())
    }

    /// Local: measures the clumps of all haloes that this rank works on, in the order of the haloes.
    fn measure(&self, work: &HaloWork<ClumpCell>, rules: &GasRules) -> Result<Vec<GasOfClump>, MemberError> {
        let of_halo = |clumps: &[HaloClump]| self.of_halo(clumps, work.members_of(clumps[0].halo), rules);
        let found: Vec<Vec<GasOfClump>> =
            work.haloes().into_par_iter().with_max_len(1).map(of_halo).collect::<Result<_, _>>()?;
        Ok(found.concat())
    }

    /// The clumps of one halo, the main one first.
    fn of_halo(
        &self,
        clumps: &[HaloClump],
        cells: &[ClumpCell],
        rules: &GasRules,
    ) -> Result<Vec<GasOfClump>, MemberError> {
        let frame = HaloFrame { space: self.space, peak: clumps[0].peak };
        let relative: Vec<GasCell> = cells.iter().map(|cell| self.relative(cell, &frame)).collect();
        let members = GasMembers::new(&relative)?;
        let place = |id: u64| clumps.binary_search_by_key(&id, |clump| clump.id).unwrap_or(0) as u32;
        // The cells of a clump that is not listed belong to the main clump.
        let clump_of: Vec<u32> =
            members.entries().iter().map(|entry| place(cells[*entry as usize].clump)).collect();
        let parent: Vec<Option<u32>> =
            clumps.iter().map(|clump| (clump.id != clump.halo).then(|| place(clump.parent))).collect();
        let lists = NestedLists::new(&members, &clump_of, &parent).expect("a tree of its own clumps");
        let measure = |scratch: &mut GasScratch, clump: usize| {
            let of = |list: &[u32], scratch: &mut GasScratch| {
                let found = gas_properties(&members, list, rules, scratch);
                GasProperties { centre_of_mass: in_box(&found, &frame), ..found }
            };
            let own = of(&lists.own[clump], scratch);
            let inclusive = lists.inclusive[clump].as_ref().map_or(own, |list| of(list, scratch));
            let HaloClump { id, halo, .. } = clumps[clump];
            GasOfClump { id, halo, own, inclusive }
        };
        // Clumps differ in size by orders of magnitude, so each is a task.
        let each = (0..clumps.len()).into_par_iter().with_max_len(1);
        Ok(each.map_init(GasScratch::default, measure).collect())
    }

    /// A cell about the main peak.
    fn relative(&self, cell: &ClumpCell, frame: &HaloFrame) -> GasCell {
        let (leaf, level, side) = (&cell.leaf, cell.leaf.level as u8, self.space.side);
        GasCell {
            position: frame.relative(cell_centre(level, leaf.ijk).map(|x| x * side)),
            side: cell_side(level) * side,
            velocity: leaf.velocity,
            mass: leaf.mass,
            pressure: leaf.pressure,
            magnetic: leaf.magnetic,
        }
    }

    /// Attributes begin with `gas_`, by which a new cut drops them.
    fn attributes(&self, newton: Option<&Newton>, missing: Missing) -> AttributeList {
        let mut list = AttributeList::new();
        if self.gas.has_pressure() {
            list.real("gas_adiabatic_index", self.gas.adiabatic_index);
            list.text("gas_adiabatic_index_source", self.gas.adiabatic_index_source);
        }
        if let Some(newton) = newton {
            list.real("gas_gravity_constant", newton.value);
            list.text("gas_gravity_constant_source", newton.source);
        }
        let masked: Vec<&str> = GasColumn::masked(missing).map(|column| column.name).collect();
        list.text("gas_masked", &if masked.is_empty() { "none".into() } else { masked.join(", ") });
        list
    }
}

/// The centre of mass in the box; 0 without gas.
fn in_box(found: &GasProperties, frame: &HaloFrame) -> [f64; 3] {
    if found.number == 0 { [0.0; 3] } else { frame.in_box(found.centre_of_mass) }
}
