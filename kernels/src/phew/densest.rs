//! The densest of the 27 places around each place, for all at once: a separable maximum of words that say where it is.
//!
//! A word is the first 24 bits of a density in single precision and the place. Of places whose first bits are the same
//! the greatest word has the last; the maximum of words with all bits of the place turned over has the first. Where they
//! differ, several places are as dense as far as 24 bits tell.

use super::block::{PLANE, ROW};

/// The bits of a word that hold the place. Those from 256 on hold nothing, so no maximum is there.
const PLACE: u32 = 0xff;

/// The first 24 bits of a density, in the order of densities.
#[inline(always)]
pub fn rough(rho: f32) -> u32 {
    rho.to_bits() & !PLACE
}

/// The maxima of the 27 places around each place.
#[derive(Debug, Clone)]
pub struct Densest<const N: usize> {
    last: Maxima<N>,
    first: Maxima<N>,
}

/// Words, and their maxima.
#[derive(Debug, Clone)]
struct Maxima<const N: usize> {
    word: [u32; N],
    x: [u32; N],
    xy: [u32; N],
    xyz: [u32; N],
}

impl<const N: usize> Default for Densest<N> {
    fn default() -> Self {
        let [last, first] = [(); 2].map(|()| Maxima { word: [0; N], x: [0; N], xy: [0; N], xyz: [0; N] });
        Self { last, first }
    }
}

impl<const N: usize> Densest<N> {
    /// Those of `rho`, but for the first and the last plane.
    #[inline(always)]
    pub fn fill_in(&mut self, rho: &[f32; N]) {
        let all = |_| u32::MAX;
        self.fill_in_looking::<ROW, PLANE>(rho, all, all, all);
    }

    /// Those in blocks of four places along each axis that follow a plane of nothing. The first and the last place along an axis
    /// do not look along it.
    #[inline(always)]
    pub fn fill_in_blocks<const ROW: usize, const PLANE: usize>(&mut self, rho: &[f32; N]) {
        let [along_x, along_y, along_z]: [&[u32; N]; 3] =
            const { [&inner(1, PLANE), &inner(ROW, PLANE), &inner(PLANE, PLANE)] };
        self.fill_in_looking::<ROW, PLANE>(rho, |i| along_x[i], |i| along_y[i], |i| along_z[i]);
    }

    /// Of the bits of the neighbours of a place along each axis only those in `x`, `y` and `z` count.
    #[inline(always)]
    fn fill_in_looking<const ROW: usize, const PLANE: usize>(
        &mut self,
        rho: &[f32; N],
        x: impl Fn(usize) -> u32,
        y: impl Fn(usize) -> u32,
        z: impl Fn(usize) -> u32,
    ) {
        for (maxima, turned) in [(&mut self.last, 0), (&mut self.first, PLACE)] {
            maxima.begin(rho, turned);
            greatest::<1, PLANE, N>(&mut maxima.x, &maxima.word, &x);
            greatest::<ROW, PLANE, N>(&mut maxima.xy, &maxima.x, &y);
            greatest::<PLANE, PLANE, N>(&mut maxima.xyz, &maxima.xy, &z);
        }
    }

    /// The [rough] maximum around a place.
    #[inline(always)]
    pub fn value(&self, place: usize) -> u32 {
        self.last.xyz[place] & !PLACE
    }

    /// The one place that holds it; `None` if there are several.
    #[inline(always)]
    pub fn at(&self, place: usize) -> Option<usize> {
        let [last, first] = [self.last.xyz[place], self.first.xyz[place]];
        ((last ^ first) & PLACE == PLACE).then_some((last & PLACE) as usize)
    }
}

impl<const N: usize> Maxima<N> {
    /// Words of `rho` with the bits of the place in `turned` turned over.
    #[inline(always)]
    fn begin(&mut self, rho: &[f32; N], turned: u32) {
        for (place, (word, rho)) in self.word.iter_mut().zip(rho).enumerate() {
            *word = rough(*rho) | (place as u32 ^ turned);
        }
    }
}

/// The maxima of three places along an axis. Of the bits of the neighbours of a place only those in `looks` count.
#[inline(always)]
fn greatest<const OFFSET: usize, const GUARD: usize, const N: usize>(
    to: &mut [u32; N],
    from: &[u32; N],
    looks: impl Fn(usize) -> u32,
) {
    for i in GUARD..N - GUARD {
        let seen = |place: usize| from[place] & looks(i);
        to[i] = from[i].max(seen(i - OFFSET)).max(seen(i + OFFSET));
    }
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
