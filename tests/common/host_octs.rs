//! Octs as a program holds them, for tests of the façade.

use super::Whole;
use inselberg::{Cells, Geometry};
use inselberg_io::Snapshot;

/// Octs in any order; values have eight entries per oct.
#[derive(Debug, Clone, Default)]
pub struct HostOcts {
    pub level: Vec<u8>,
    pub position: Vec<[u32; 3]>,
    pub split: Vec<u8>,
    pub rho: Vec<f64>,
    pub velocity: Vec<[f64; 3]>,
}

impl HostOcts {
    /// Every oct of an output with a field, and with the velocities of its gas if it has any.
    pub fn read(snapshot: &dyn Snapshot, field: &str) -> (Self, bool) {
        let whole = Whole::read(snapshot);
        let column = |name: &str| whole.fields.iter().position(|f| f.name == name);
        let rho = column(field).expect("the field");
        let is_hydro = whole.fields[rho].family == "hydro";
        let velocity = ["velocity_x", "velocity_y", "velocity_z"].map(column);
        let mut octs = Self::default();
        for block in &whole.octs {
            for i in 0..block.position.len() {
                octs.level.push(block.level);
                octs.position.push(block.position[i]);
                octs.split.push(block.split[i]);
                octs.rho.extend(block.values[rho][i]);
                let of = |c: usize| velocity.map(|axis| axis.map_or(0.0, |axis| block.values[axis][i][c]));
                octs.velocity.extend((0..8).map(of));
            }
        }
        (octs, is_hydro && velocity.iter().all(Option::is_some))
    }

    /// Some of the octs, in this order.
    pub fn some(&self, order: &[usize]) -> Self {
        let mut octs = Self::default();
        for &i in order {
            octs.level.push(self.level[i]);
            octs.position.push(self.position[i]);
            octs.split.push(self.split[i]);
            octs.rho.extend(&self.rho[8 * i..8 * i + 8]);
            octs.velocity.extend(&self.velocity[8 * i..8 * i + 8]);
        }
        octs
    }

    pub fn cells(&self, geometry: Geometry) -> Cells {
        Cells::from_octs(geometry, &self.level, &self.position, &self.split).expect("octs")
    }

    /// Level and position of a cell.
    pub fn place(&self, cell: usize) -> super::Place {
        let (oct, c) = (cell / 8, cell as u32 % 8);
        let at = self.position[oct];
        (self.level[oct], std::array::from_fn(|a| 2 * at[a] + (c >> a & 1)))
    }
}
