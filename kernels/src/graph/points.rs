//! Particles in the order of their keys, eight to a block.

use crate::geom::MAX_LEVEL;
use crate::loops::{Loops, values};
use crate::sfc::morton;

/// The level of the cells whose Morton keys order the particles.
pub const KEY_LEVEL: u8 = MAX_LEVEL;
/// Particles of a block.
pub(super) const LANES: usize = 8;

/// The cell of [`KEY_LEVEL`] that holds a position, which is in units of the box and in `[0, 1)`.
#[inline]
pub fn cell_of(position: [f64; 3]) -> [u32; 3] {
    position.map(|x| (x * f64::from(1u32 << KEY_LEVEL)) as u32)
}

/// The key of the cell that holds a position.
#[inline]
pub fn key_of(position: [f64; 3]) -> u128 {
    morton(cell_of(position))
}

/// The coordinates of eight particles, axis by axis. Places past the last particle have NaN, which is never
/// near.
pub(super) type PointBlock = [[f64; LANES]; 3];

/// Positions of particles in the order of their keys, in units of the box and in `[0, 1)`.
#[derive(Debug, Clone, Default)]
pub struct GraphPoints {
    pub(super) blocks: Vec<PointBlock>,
    n: usize,
    /// Whether the box wraps around.
    pub periodic: bool,
}

impl GraphPoints {
    /// From positions in the order of their keys.
    pub fn new<L: Loops>(
        n: usize,
        position: impl Fn(usize) -> [f64; 3] + Sync,
        periodic: bool,
        loops: &L,
    ) -> Self {
        let block = |block: usize| {
            let mut lanes = [[f64::NAN; LANES]; 3];
            for i in LANES * block..(LANES * (block + 1)).min(n) {
                let x = position(i);
                (0..3).for_each(|a| lanes[a][i % LANES] = x[a]);
            }
            lanes
        };
        Self { blocks: values(loops, n.div_ceil(LANES), block), n, periodic }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The position of a particle.
    #[inline]
    pub fn position(&self, i: usize) -> [f64; 3] {
        self.blocks[i / LANES].each_ref().map(|x| x[i % LANES])
    }

    /// The squared distance of two positions: to the nearest image if the box wraps around. The same bits for
    /// both orders of the arguments.
    #[inline(always)]
    pub fn square_distance(&self, a: [f64; 3], b: [f64; 3]) -> f64 {
        match self.periodic {
            true => square::<true>(a, b),
            false => square::<false>(a, b),
        }
    }
}

/// [`GraphPoints::square_distance`] with the kind of box known to the compiler.
#[inline(always)]
pub(super) fn square<const PERIODIC: bool>(a: [f64; 3], b: [f64; 3]) -> f64 {
    let apart = |axis: usize| {
        let d = (a[axis] - b[axis]).abs();
        if PERIODIC && 1.0 - d < d { 1.0 - d } else { d }
    };
    let [x, y, z] = [apart(0), apart(1), apart(2)];
    x * x + y * y + z * z
}
