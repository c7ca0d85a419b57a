//! Cells on their way between ranks, 24 bytes each.

/// A cell as it travels: position, level and leaf flag, density.
pub(super) type Record = [u32; 6];

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub level: u8,
    pub position: [u32; 3],
    pub is_leaf: bool,
    pub rho: f64,
}

impl Cell {
    pub fn pack(self) -> Record {
        let [x, y, z] = self.position;
        let rho = self.rho.to_bits();
        [x, y, z, u32::from(self.level) | u32::from(self.is_leaf) << 8, rho as u32, (rho >> 32) as u32]
    }

    pub fn unpack(record: &Record) -> Self {
        let [x, y, z, level, low, high] = *record;
        Self {
            level: level as u8,
            position: [x, y, z],
            is_leaf: level >> 8 & 1 == 1,
            rho: f64::from_bits(u64::from(high) << 32 | u64::from(low)),
        }
    }

    /// Whether it has further values: whether it is a test cell.
    pub fn is_test(&self, threshold: f64) -> bool {
        self.is_leaf && self.rho > threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back() {
        for rho in [0.0, -0.0, 1.5e300, f64::MIN_POSITIVE] {
            let cell = Cell { level: 29, position: [1 << 31, 7, u32::MAX], is_leaf: rho > 0.0, rho };
            let back = Cell::unpack(&cell.pack());
            assert_eq!((back, back.rho.to_bits()), (cell, rho.to_bits()));
        }
    }
}
