//! The densest of the 27 places around each place, for all at once: a separable maximum that takes along where it is.

use super::patch::{PLANE, ROW};
use crate::wide::larger;

/// Set in the place of a maximum that several places hold.
const TIED: u32 = 1 << 16;

/// The maxima of the 27 places around each place, and where they are.
#[derive(Debug, Clone)]
pub struct Densest<const N: usize> {
    x: Maxima<N>,
    xy: Maxima<N>,
    xyz: Maxima<N>,
}

#[derive(Debug, Clone)]
struct Maxima<const N: usize> {
    value: [f32; N],
    at: [u32; N],
}

impl<const N: usize> Default for Densest<N> {
    fn default() -> Self {
        let [x, xy, xyz] = [(); 3].map(|()| Maxima { value: [0.0; N], at: [0; N] });
        Self { x, xy, xyz }
    }
}

impl<const N: usize> Densest<N> {
    /// Those of `rho`, but for the first and the last plane.
    #[inline(always)]
    pub fn fill_in(&mut self, rho: &[f32; N]) {
        let all = |_| u32::MAX;
        self.x.fill_in::<1, PLANE>(rho, const { &places() }, all);
        self.xy.fill_in::<ROW, PLANE>(&self.x.value, &self.x.at, all);
        self.xyz.fill_in::<PLANE, PLANE>(&self.xy.value, &self.xy.at, all);
    }

    /// Those in blocks of four places along each axis that follow a plane of nothing. The first and the last place along an axis
    /// do not look along it.
    #[inline(always)]
    pub fn fill_in_blocks<const ROW: usize, const PLANE: usize>(&mut self, rho: &[f32; N]) {
        let [along_x, along_y, along_z]: [&[u32; N]; 3] =
            const { [&inner(1, PLANE), &inner(ROW, PLANE), &inner(PLANE, PLANE)] };
        self.x.fill_in::<1, PLANE>(rho, const { &places() }, |i| along_x[i]);
        self.xy.fill_in::<ROW, PLANE>(&self.x.value, &self.x.at, |i| along_y[i]);
        self.xyz.fill_in::<PLANE, PLANE>(&self.xy.value, &self.xy.at, |i| along_z[i]);
    }

    /// The maximum around a place.
    #[inline(always)]
    pub fn value(&self, place: usize) -> f32 {
        self.xyz.value[place]
    }

    /// The one place that holds it; `None` if there are several.
    #[inline(always)]
    pub fn at(&self, place: usize) -> Option<usize> {
        let at = self.xyz.at[place];
        (at & TIED == 0).then_some(at as usize)
    }
}

impl<const N: usize> Maxima<N> {
    /// From those of two axes. Of the bits of the neighbours of a place only those in `looks` count.
    #[inline(always)]
    fn fill_in<const OFFSET: usize, const GUARD: usize>(
        &mut self,
        value: &[f32; N],
        at: &[u32; N],
        looks: impl Fn(usize) -> u32,
    ) {
        for i in GUARD..N - GUARD {
            let seen = |place: usize| (f32::from_bits(value[place].to_bits() & looks(i)), at[place]);
            let before_and_here = greater(seen(i - OFFSET), (value[i], at[i]));
            (self.value[i], self.at[i]) = greater(before_and_here, seen(i + OFFSET));
        }
    }
}

/// Without a branch, which would keep the compiler from doing many at a time.
#[inline(always)]
fn greater(a: (f32, u32), b: (f32, u32)) -> (f32, u32) {
    let mask = |is: bool| u32::from(is).wrapping_neg();
    let is_first = mask(a.0 > b.0);
    (larger(a.0, b.0), a.1 & is_first | b.1 & !is_first | TIED & mask(a.0 == b.0))
}

/// All bits at the second and third of every four places along an axis from `first` on, none at the others.
const fn inner<const N: usize>(offset: usize, first: usize) -> [u32; N] {
    let (mut table, mut place) = ([0; N], first);
    while place < N {
        table[place] = if matches!((place - first) / offset % 4, 1 | 2) { u32::MAX } else { 0 };
        place += 1;
    }
    table
}

/// Each place as a number.
const fn places<const N: usize>() -> [u32; N] {
    let mut table = [0; N];
    let mut place = 0;
    while place < N {
        table[place] = place as u32;
        place += 1;
    }
    table
}
