//! Densest neighbour: which of the 27 places around each place is the densest?
//!
//! Place in the flow: the inner kernel of [`super::ascent`] and [`super::raise`]. It uses densities at
//! places, not cells.
//!
//! The maximum over 3x3x3 places is separable: three maxima along x, then along y, then along z, each one
//! vector loop over all places. To learn *where* the maximum is, the loops run on 32-bit words of a density
//! and its place:
//!
//! ```text
//!     bit 31                         8 7           0
//!         | leading 24 bits of rho    |   place     |      in `last`
//!         | leading 24 bits of rho    | 255 - place |      in `first`
//! ```
//!
//! The bits of positive floats are in the order of the floats, so the greatest word has the greatest leading
//! bits. Among places whose leading bits are equal, the greatest word in `last` names the last place, in
//! `first` the first place. If both name the same place, it is the only one. Otherwise 24 bits do not
//! determine which of several places is the densest.
//!
//! Places from 256 on are guards: they have no bits of their own and density 0, so they are never a relevant
//! maximum.

use super::block::{PLANE, ROW};

/// The bits of a word that hold the place.
const PLACE: u32 = 0xff;

/// The leading 24 bits of a density. They ascend as densities do.
#[inline(always)]
pub fn leading_bits(rho: f32) -> u32 {
    rho.to_bits() & !PLACE
}

/// The maxima over the 27 places around each place of an array.
#[derive(Debug, Clone)]
pub struct Densest<const N: usize> {
    last: Maxima<N>,
    first: Maxima<N>,
}

/// Words, and their maxima over 3, 3x3 and 3x3x3 places.
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
    /// Takes the maxima of `rho`, except in the first and the last plane.
    #[inline(always)]
    pub fn fill_in(&mut self, rho: &[f32; N]) {
        let all = |_| u32::MAX;
        self.fill_in_masked::<ROW, PLANE>(rho, all, all, all);
    }

    /// Takes the maxima in 4x4x4 places with one empty plane before them, for [`super::raise`]: the first and
    /// the last place along an axis do not look along that axis.
    #[inline(always)]
    pub fn fill_in_blocks<const ROW: usize, const PLANE: usize>(&mut self, rho: &[f32; N]) {
        let [along_x, along_y, along_z]: [&[u32; N]; 3] =
            const { [&inner(1, PLANE), &inner(ROW, PLANE), &inner(PLANE, PLANE)] };
        self.fill_in_masked::<ROW, PLANE>(rho, |i| along_x[i], |i| along_y[i], |i| along_z[i]);
    }

    /// Takes the maxima, where the words of the two neighbours of a place along x count as masked by `x`, and
    /// likewise along y and z. A mask is all ones or zero.
    #[inline(always)]
    fn fill_in_masked<const ROW: usize, const PLANE: usize>(
        &mut self,
        rho: &[f32; N],
        x: impl Fn(usize) -> u32,
        y: impl Fn(usize) -> u32,
        z: impl Fn(usize) -> u32,
    ) {
        for (maxima, flipped) in [(&mut self.last, 0), (&mut self.first, PLACE)] {
            maxima.begin(rho, flipped);
            greatest::<1, PLANE, N>(&mut maxima.x, &maxima.word, &x);
            greatest::<ROW, PLANE, N>(&mut maxima.xy, &maxima.x, &y);
            greatest::<PLANE, PLANE, N>(&mut maxima.xyz, &maxima.xy, &z);
        }
    }

    /// The [leading bits](leading_bits) of the maximum around a place.
    #[inline(always)]
    pub fn value(&self, place: usize) -> u32 {
        self.last.xyz[place] & !PLACE
    }

    /// The place of the maximum around a place; `None` if several places share its leading bits.
    #[inline(always)]
    pub fn place_of_maximum(&self, place: usize) -> Option<usize> {
        let [last, first] = [self.last.xyz[place], self.first.xyz[place]];
        ((last ^ first) & PLACE == PLACE).then_some((last & PLACE) as usize)
    }
}

impl<const N: usize> Maxima<N> {
    /// Makes the words of `rho`, with the bits in `flipped` of the place inverted.
    #[inline(always)]
    fn begin(&mut self, rho: &[f32; N], flipped: u32) {
        for (place, (word, rho)) in self.word.iter_mut().zip(rho).enumerate() {
            *word = leading_bits(*rho) | (place as u32 ^ flipped);
        }
    }
}

/// The maxima of each place and its two neighbours at `OFFSET`, whose words are masked by `mask`.
#[inline(always)]
fn greatest<const OFFSET: usize, const GUARD: usize, const N: usize>(
    to: &mut [u32; N],
    from: &[u32; N],
    mask: impl Fn(usize) -> u32,
) {
    for i in GUARD..N - GUARD {
        let masked = |place: usize| from[place] & mask(i);
        to[i] = from[i].max(masked(i - OFFSET)).max(masked(i + OFFSET));
    }
}

/// A mask that is all ones at the second and third of every four places along an axis from `first` on, and
/// zero elsewhere.
const fn inner<const N: usize>(offset: usize, first: usize) -> [u32; N] {
    let (mut table, mut place) = ([0; N], first);
    while place < N {
        table[place] = if matches!((place - first) / offset % 4, 1 | 2) { u32::MAX } else { 0 };
        place += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::block::{LEN, OWN, around};
    use super::*;
    use proptest::prelude::*;

    /// The greatest leading bits of some places, and the place if only one has them.
    fn plain(rho: &[f32], places: impl Iterator<Item = usize>) -> (u32, Option<usize>) {
        let places: Vec<usize> = places.collect();
        let greatest = places.iter().map(|place| leading_bits(rho[*place])).max().expect("some places");
        let mut holding = places.into_iter().filter(|place| leading_bits(rho[*place]) == greatest);
        let first = holding.next();
        (greatest, first.filter(|_| holding.next().is_none()))
    }

    /// Densities of few values, some of which are equal in 24 bits, and 0.
    fn densities(n: usize) -> impl Strategy<Value = Vec<f32>> {
        let some = prop_oneof![
            Just(0.0f32),
            (0..4u32).prop_map(|i| 1.0 + i as f32),
            (0..3u32).prop_map(|i| 1.0 + i as f32 * f32::EPSILON),
            1e-30..1e30f32,
        ];
        prop_oneof![prop::collection::vec(some, n), prop::collection::vec(1.0..2.0f32, n)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        #[test]
        fn maxima_are_those_of_27_places(some in densities(216)) {
            let mut rho = [0.0; LEN];
            rho[PLANE..][..216].copy_from_slice(&some);
            let mut densest = Densest::<LEN>::default();
            densest.fill_in(&rho);
            for place in OWN.map(usize::from).into_iter().filter(|place| rho[*place] > 0.0) {
                prop_assert_eq!((densest.value(place), densest.place_of_maximum(place)), plain(&rho, around(place)));
            }
        }

        /// Each coarser cell along an axis touches the own cells of the table in [`super::super::raise`].
        #[test]
        fn maxima_in_blocks_are_those_of_the_cells_that_touch(some in densities(64)) {
            let mut rho = [0.0; 96];
            rho[16..80].copy_from_slice(&some);
            let mut densest = Densest::<96>::default();
            densest.fill_in_blocks::<4, 16>(&rho);
            let touching = [0..1, 0..3, 1..4, 3..4];
            for coarser in 0..64 {
                let [x, y, z] = [coarser % 4, coarser / 4 % 4, coarser / 16].map(|i: usize| touching[i].clone());
                let own = z.flat_map(|z| y.clone().map(move |y| 16 + 4 * y + 16 * z));
                let own = own.flat_map(|row| x.clone().map(move |x| row + x));
                let expected = plain(&rho, own);
                prop_assert_eq!(densest.value(16 + coarser), expected.0);
                if expected.0 > 0 {
                    prop_assert_eq!(densest.place_of_maximum(16 + coarser), expected.1);
                }
            }
        }
    }
}
