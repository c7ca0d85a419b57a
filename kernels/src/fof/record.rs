//! Records: particles as they are sorted, each with its position as given and its number in the input.

use bytemuck::{Pod, Zeroable};

/// A particle as it is sorted.
pub trait Record: Pod + Send + Sync {
    /// A coordinate as given.
    type Real: Real<Record = Self>;

    /// The particle at `position` with number `index` of the input.
    fn new(position: [Self::Real; 3], index: u32) -> Self;
    /// Its position, without rounding.
    fn position(&self) -> [f64; 3];
    /// Its number in the input.
    fn index(&self) -> u32;
}

/// A coordinate as given.
pub trait Real: Pod + Send + Sync {
    /// The record of a particle with such coordinates.
    type Record: Record<Real = Self>;

    /// The coordinate as a double, without rounding.
    fn wide(self) -> f64;

    /// The position in doubles.
    #[inline(always)]
    fn place([x, y, z]: [Self; 3]) -> [f64; 3] {
        [x.wide(), y.wide(), z.wide()]
    }
}

/// A particle with single-precision coordinates.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Single {
    position: [f32; 3],
    index: u32,
}

/// A particle with double-precision coordinates.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Double {
    position: [f64; 3],
    index: u32,
    unused: u32,
}

impl Record for Single {
    type Real = f32;

    #[inline(always)]
    fn new(position: [f32; 3], index: u32) -> Self {
        Self { position, index }
    }

    #[inline(always)]
    fn position(&self) -> [f64; 3] {
        let [x, y, z] = self.position;
        [f64::from(x), f64::from(y), f64::from(z)]
    }

    #[inline(always)]
    fn index(&self) -> u32 {
        self.index
    }
}

impl Record for Double {
    type Real = f64;

    #[inline(always)]
    fn new(position: [f64; 3], index: u32) -> Self {
        Self { position, index, unused: 0 }
    }

    #[inline(always)]
    fn position(&self) -> [f64; 3] {
        self.position
    }

    #[inline(always)]
    fn index(&self) -> u32 {
        self.index
    }
}

impl Real for f32 {
    type Record = Single;

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    type Record = Double;

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}
