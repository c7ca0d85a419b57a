//! The properties of gas, from the ranks that processed haloes to those with their rows.

use crate::bound::{HaloClump, HaloRows, RowDirectory};
use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::phew::bound::gas_clumps::columns::{CellChoice, GasColumn, Missing};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::TableColumn;
use inselberg_kernels::gas::GasProperties;

/// Kinds of records.
const CLUMPS: usize = 0;
const HALOES: usize = 1;

/// The properties of the gas of a clump: of its own cells, and with those of all clumps in it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GasOfClump {
    /// Identifier of the clump.
    pub id: u64,
    /// Identifier of its halo.
    pub halo: u64,
    /// Of its own cells.
    pub own: GasProperties,
    /// Of all cells.
    pub inclusive: GasProperties,
}

/// The properties for the rows of this rank, by identifier.
pub struct GasTables {
    clumps: Vec<GasOfClump>,
    haloes: Vec<GasOfClump>,
}

impl GasTables {
    /// Collective: brings properties to rows. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(found: &[GasOfClump], rows: &HaloRows, comm: &Comm) -> Result<Self, CommError> {
        let mut buffers = SendBuffers::<2>::default();
        let (clump_rows, halo_rows) =
            (RowDirectory::new(&rows.clumps, comm)?, RowDirectory::new(&rows.haloes, comm)?);
        for clump in found {
            // A main clump may be listed as a halo only.
            if let Some(holder) = clump_rows.holder(clump.id) {
                buffers.put(holder, CLUMPS, &[*clump]);
            }
            if clump.id == clump.halo {
                let holder = halo_rows.holder(clump.id).expect("a halo that is worked on is listed");
                buffers.put(holder, HALOES, &[*clump]);
            }
        }
        let received = buffers.exchange(comm)?;
        let of = |kind: usize| {
            let records = |bundle: &Bundle<2>| bundle.records::<GasOfClump>(kind);
            let mut all: Vec<GasOfClump> = received.iter().flat_map(records).collect();
            all.sort_unstable_by_key(|clump| clump.id);
            all
        };
        Ok(Self { clumps: of(CLUMPS), haloes: of(HALOES) })
    }

    /// The columns of these clumps.
    pub fn clump_columns(&self, rows: &[HaloClump], missing: Missing) -> Vec<TableColumn> {
        let own = properties(&self.clumps, rows, |clump| clump.own);
        let inclusive = properties(&self.clumps, rows, |clump| clump.inclusive);
        let mut columns = GasColumn::columns(&own, CellChoice::Own, missing);
        columns.extend(GasColumn::columns(&inclusive, CellChoice::Inclusive, missing));
        columns
    }

    /// The columns of these haloes.
    pub fn halo_columns(&self, rows: &[HaloClump], missing: Missing) -> Vec<TableColumn> {
        let of_halo = properties(&self.haloes, rows, |halo| halo.inclusive);
        GasColumn::columns(&of_halo, CellChoice::OfHalo, missing)
    }
}

fn properties(
    found: &[GasOfClump],
    rows: &[HaloClump],
    which: fn(&GasOfClump) -> GasProperties,
) -> Vec<GasProperties> {
    let place = |row: &HaloClump| found.binary_search_by_key(&row.id, |clump| clump.id);
    rows.iter().map(|row| which(&found[place(row).expect("each listed row was worked on")])).collect()
}
