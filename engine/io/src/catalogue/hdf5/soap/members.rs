//! The bound particles of each row, the most bound first.

use super::columns::{SoapDataset, SoapReals, SoapValues};
use super::rows::Subhaloes;
use crate::catalogue::{Catalogue, Dimension, Values};

/// Lists of bound particles.
pub struct SoapMembers {
    /// The first entry of each row of the file.
    pub offset: Vec<i64>,
    /// Identities, which are unique within a type.
    pub id: Vec<u64>,
    /// Types.
    pub particle_type: Vec<u8>,
    /// `HaloCatalogueIndex` of the clump or group.
    pub owner: Vec<i64>,
    /// The place in that object by binding energy, from 0.
    pub rank: Vec<i32>,
    /// Potentials.
    pub potential: Vec<f64>,
}

impl SoapMembers {
    /// In the order of the rows; `None` if the catalogue lists no members. `a` is the expansion factor.
    pub fn new(catalogue: &Catalogue, rows: &Subhaloes) -> Option<Self> {
        let table = catalogue.table("members")?;
        let (ids, potentials) = (table.identities("id")?, table.reals("potential")?);
        let Values::U8(types) = &table.column("type")?.values else { return None };
        let first = rows.table.integers("members_offset")?;
        let n: usize = rows.n_bound.iter().map(|n| *n as usize).sum();
        let mut found = Self {
            offset: Vec::with_capacity(rows.id.len()),
            id: Vec::with_capacity(n),
            particle_type: Vec::with_capacity(n),
            owner: Vec::with_capacity(n),
            rank: Vec::with_capacity(n),
            potential: Vec::with_capacity(n),
        };
        for (i, row) in rows.rows.iter().enumerate() {
            let first = first[row.expect("every row of the file has one of the table")] as usize;
            let list = first..first + rows.n_bound[i] as usize;
            found.offset.push(found.id.len() as i64);
            found.id.extend(&ids[list.clone()]);
            found.particle_type.extend(&types[list.clone()]);
            found.owner.extend(list.clone().map(|_| rows.id[i]));
            found.rank.extend((0..).take(list.len()));
            found.potential.extend(&potentials[list]);
        }
        Some(found)
    }

    /// The datasets of the group `Members`.
    pub fn datasets(&self) -> Vec<SoapDataset> {
        let potentials = self.potential.iter().map(|phi| [*phi]).collect();
        let potential = SoapValues::Real(SoapReals::new(potentials));
        vec![
            SoapDataset::own(
                "ParticleIDs",
                "identity of the particle, or row of the gas cell in the table cells of the catalogue",
                SoapValues::Identity(self.id.clone()),
            ),
            SoapDataset::own(
                "ParticleTypes",
                "type of the particle: 0 gas, 1 dark matter, 4 stars, others in the other numbers",
                SoapValues::Count(self.particle_type.iter().map(|of| u32::from(*of)).collect()),
            ),
            SoapDataset::own("GroupNr_bound", GROUP_NUMBER, SoapValues::Integer(self.owner.clone())),
            SoapDataset::own("Rank_bound", RANK, SoapValues::Short(self.rank.clone())),
            SoapDataset {
                dimension: POTENTIAL,
                ..SoapDataset::own("SpecificPotentialEnergies", ENERGY, potential)
            },
        ]
    }
}

/// The dimension of potentials.
pub const POTENTIAL: Dimension = Dimension::new(2, 0, -2);
/// The description of `GroupNr_bound`.
pub const GROUP_NUMBER: &str = "HaloCatalogueIndex of the clump or group that binds the particle; -1 if none";
/// The description of `Rank_bound`.
pub const RANK: &str =
    "place among the particles that are bound to it, by energy; 0 is the most bound, -1 is unbound";
/// The description of `SpecificPotentialEnergies`.
pub const ENERGY: &str = "potential energy per mass that binds the particle; 0 if it is unbound";
