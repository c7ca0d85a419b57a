//! Numbers in a file at regular places, as the cells of a block.

use crate::source_file::SourceFile;
use crate::tiles::Tile;
use crate::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};

/// The type of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NumberKind {
    /// A real of 4 bytes.
    F32,
    /// A real of 8 bytes.
    F64,
    /// An integer of 1, 2, 4 or 8 bytes; signed or not.
    Integer { bytes: u8, signed: bool },
}

/// Reals in one of two byte orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RealFormat {
    pub kind: NumberKind,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
}

impl RealFormat {
    /// From AMReX's description: 8, numbers about the format, the number of bytes, and their order.
    pub fn described(numbers: &[i64]) -> Option<Self> {
        const DOUBLE: [i64; 8] = [64, 11, 52, 0, 1, 12, 0, 1023];
        const SINGLE: [i64; 8] = [32, 8, 23, 0, 1, 9, 0, 127];
        let (kind, size) = match numbers.get(1..9)? {
            format if format == DOUBLE => (NumberKind::F64, 8),
            format if format == SINGLE => (NumberKind::F32, 4),
            _ => return None,
        };
        let order = numbers.get(10..10 + size as usize)?;
        if numbers[0] != 8 || numbers[9] != size || numbers.len() != 10 + size as usize {
            return None;
        }
        let is =
            |mut expected: Box<dyn Iterator<Item = i64>>| order.iter().all(|n| expected.next() == Some(*n));
        match (is(Box::new(1..=size)), is(Box::new((1..=size).rev()))) {
            (true, _) => Some(Self { kind, big_endian: true }),
            (_, true) => Some(Self { kind, big_endian: false }),
            _ => None,
        }
    }
}

impl RealFormat {
    /// Appends the numbers of some bytes.
    pub fn decode(self, bytes: &[u8], to: &mut Vec<f64>) {
        macro_rules! append {
            ($kind:ty) => {{
                let parts = bytes.as_chunks::<{ size_of::<$kind>() }>().0;
                match self.big_endian {
                    true => to.extend(parts.iter().map(|b| <$kind>::from_be_bytes(*b) as f64)),
                    false => to.extend(parts.iter().map(|b| <$kind>::from_le_bytes(*b) as f64)),
                }
            }};
        }
        match self.kind {
            NumberKind::F32 => append!(f32),
            NumberKind::F64 => append!(f64),
            NumberKind::Integer { bytes: 1, signed: true } => append!(i8),
            NumberKind::Integer { bytes: 1, signed: false } => append!(u8),
            NumberKind::Integer { bytes: 2, signed: true } => append!(i16),
            NumberKind::Integer { bytes: 2, signed: false } => append!(u16),
            NumberKind::Integer { bytes: 4, signed: true } => append!(i32),
            NumberKind::Integer { bytes: 4, signed: false } => append!(u32),
            NumberKind::Integer { signed: true, .. } => append!(i64),
            NumberKind::Integer { signed: false, .. } => append!(u64),
        }
    }
}

impl NumberKind {
    /// Bytes per number.
    pub fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
            Self::Integer { bytes, .. } => bytes.into(),
        }
    }
}

/// Numbers of a block in a file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct StoredArray {
    /// Bytes before the number of the lowest cell.
    pub at: u64,
    /// Cells along each axis.
    pub size: [u32; 3],
    /// The axes by the distance of neighbours in the file, the least first. Along `order[0]` numbers are
    /// contiguous.
    pub order: [usize; 3],
    /// Numbers in the file between neighbours along each axis; 1 along `order[0]`.
    pub step: [u64; 3],
    /// The type of the numbers.
    pub real: RealFormat,
}

impl StoredArray {
    /// Numbers that lie one after the other, from byte `at` on.
    pub fn dense(at: u64, size: [u32; 3], order: [usize; 3], real: RealFormat) -> Self {
        let [fast, middle, slow] = order;
        let mut step = [1; 3];
        step[middle] = u64::from(size[fast]);
        step[slow] = step[middle].saturating_mul(u64::from(size[middle]));
        Self { at, size, order, step, real }
    }

    /// Bytes from the first to the last number; `None` for more than any file holds.
    pub fn bytes(&self) -> Option<u64> {
        if self.size.contains(&0) {
            return Some(0);
        }
        let last = self.size.iter().zip(self.step).try_fold(0_u64, |n, (side, step)| {
            step.checked_mul(u64::from(*side).saturating_sub(1)).and_then(|along| n.checked_add(along))
        });
        self.real.kind.bytes().checked_mul(last?.checked_add(1)?)
    }

    /// Checks that the file is long enough.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self, file: &SourceFile, place: &str) -> ReadResult<()> {
        let end = self.bytes().and_then(|bytes| bytes.checked_add(self.at));
        if end.is_some_and(|end| end <= file.len() as u64) {
            return Ok(());
        }
        let problem =
            format!("{:?} values from byte {} on, in a file of {} bytes", self.size, self.at, file.len());
        Err(ReadError::content(file.path(), place, problem, "a file that holds them"))
    }

    /// Appends the numbers of a tile, x fastest. The file was [checked](Self::check).
    ///
    /// # Errors
    /// Those of the system.
    pub fn read(&self, file: &SourceFile, tile: &Tile, to: &mut Vec<f64>) -> ReadResult<()> {
        let [fast, middle, slow] = self.order;
        let each = self.real.kind.bytes() as usize;
        let first = to.len();
        to.resize(first + tile.n_cells(), 0.0);
        // Whole rows lie together.
        let is_dense = self.step[middle] == u64::from(self.size[fast]);
        let rows = if is_dense && tile.size[fast] == self.size[fast] { tile.size[middle] } else { 1 };
        let row = tile.size[fast] as usize;
        let mut bytes = vec![0; row * rows as usize * each];
        let mut numbers = Vec::new();
        // The distance of neighbours along the fastest axis in the tile, where x is fastest.
        let [nx, ny, _] = tile.size.map(|n| n as usize);
        let step = [1, nx, nx * ny][fast];
        for s in 0..tile.size[slow] {
            for m in (0..tile.size[middle]).step_by(rows as usize) {
                let mut cell = tile.low;
                (cell[middle], cell[slow]) = (cell[middle] + m, cell[slow] + s);
                file.read_at(&mut bytes, (self.at + self.index(cell) * each as u64) as usize)?;
                numbers.clear();
                self.real.decode(&bytes, &mut numbers);
                for (i, numbers) in (m..).zip(numbers.chunks(row)) {
                    let mut at = [0; 3];
                    (at[middle], at[slow]) = (i, s);
                    let begin = first + tile.index(at).expect("the row is in the tile");
                    to[begin..].iter_mut().step_by(step).zip(numbers).for_each(|(to, number)| *to = *number);
                }
            }
        }
        Ok(())
    }

    /// Numbers before that of a cell.
    fn index(&self, cell: [u32; 3]) -> u64 {
        cell.iter().zip(self.step).map(|(at, step)| u64::from(*at) * step).sum()
    }
}
