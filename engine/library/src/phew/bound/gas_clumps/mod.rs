//! Gas clumps: which properties does the gas of each clump have, bound or not?
//!
//! Leaves with gas come in, each with its clump; columns of clumps and haloes come out. In the order of the
//! steps:
//!
//! | step | file |
//! |---|---|
//! | the constant of gravity, if the input determines it | `newton` |
//! | haloes to ranks | here |
//! | the clumps of a halo, one task per clump | `clumps` |
//! | the same of large haloes, by all ranks together | `spanning` |
//! | properties, each one column, and which of them are not computed | `columns` |
//! | values to the ranks with rows | `rows` |
//! | attributes | here |
//!
//! There are four exchanges, in addition to those of large haloes. The numerical part is in
//! `inselberg_kernels::gas`, which has the definitions.

mod clumps;
mod columns;
mod newton;
mod rows;
mod spanning;

use crate::bound::{HaloClump, HaloRows, HaloWork, SpanRules, to_workers};
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::gas::{ClumpCell, GasCells};
use crate::phew::bound::gas_clumps::clumps::GasMeasure;
use crate::phew::bound::gas_clumps::columns::{GasColumn, Missing};
use crate::phew::bound::gas_clumps::newton::Newton;
use crate::phew::bound::gas_clumps::rows::{GasOfClump, GasTables};
use crate::phew::bound::gas_clumps::spanning::measure_spanning;
use crate::stage::Stage;
use crate::tables::AttributeList;
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::CataloguePart;
use inselberg_kernels::bound::MemberError;
use inselberg_kernels::gas::GasRules;
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// The input of the measurement of gas.
pub struct GasTask<'a> {
    /// The gas of the input.
    pub gas: &'a GasCells<'a>,
    /// The input.
    pub snapshot: &'a dyn Snapshot,
    /// The box.
    pub space: SizedBox,
    /// The rows of this rank.
    pub rows: &'a HaloRows,
    /// Which haloes span ranks.
    pub spanning: SpanRules,
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
        let measure = GasMeasure { space: self.space, rules, block: self.spanning.block };
        let (work, spanning) = to_workers(cells, self.rows, &self.spanning, comm)?;
        let mut found = whole_haloes(&work, &measure)?;
        drop(work);
        for halo in spanning.haloes {
            found.extend(measure_spanning(halo, spanning.limit, &measure, comm)?);
        }
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

/// Local: measures the clumps of all haloes that are whole here, in the order of the haloes.
fn whole_haloes(work: &HaloWork<ClumpCell>, measure: &GasMeasure) -> Result<Vec<GasOfClump>, MemberError> {
    let of_halo = |clumps: &[HaloClump]| measure.halo(clumps, work.members_of(clumps[0].halo));
    let found: Vec<Vec<GasOfClump>> =
        work.haloes().into_par_iter().with_max_len(1).map(of_halo).collect::<Result<_, _>>()?;
    Ok(found.concat())
}
