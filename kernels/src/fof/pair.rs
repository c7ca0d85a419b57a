//! Pairs of cells: is any particle of one cell linked to any particle of another?
//!
//! Few pairs of particles are tested one by one. Two dense cells that are almost linked would need all pairs,
//! so from [`FEW`] pairs on both are divided: if the bounding boxes are too far apart there is no link, else
//! the list with the wider box is halved, and each half is compared with the other list.
//!
//! ```text
//!     a: [..... .....]       b: [..........]
//!     boxes of a and b too far apart?     -> no link
//!     a is wider: [.....] with b, then [.....] with b, each in the same way
//! ```

use super::Metric;
use super::record::Record;

/// Up to this number, pairs of particles are tested one by one.
const FEW: usize = 2048;

/// Whether any particle of `a` is linked to any of `b`. Stops at the first link.
#[inline(always)]
pub fn touch<R: Record>(metric: &Metric, a: &[R], b: &[R]) -> bool {
    if a.len() * b.len() <= FEW { any(metric, a, b) } else { touch_many(metric, a, b) }
}

#[inline(always)]
fn any<R: Record>(metric: &Metric, a: &[R], b: &[R]) -> bool {
    a.iter().any(|a| {
        let at = a.position();
        b.iter().any(|b| metric.linked(at, b.position()))
    })
}

#[inline(never)]
fn touch_many<R: Record>(metric: &Metric, a: &[R], b: &[R]) -> bool {
    if metric.linked(a[0].position(), b[0].position()) {
        return true;
    }
    let places = |list: &[R]| list.iter().map(R::position).collect::<Vec<_>>();
    divide(metric, &mut places(a), &mut places(b))
}

/// The least and the greatest coordinates.
type BlockBounds = [[f64; 3]; 2];

fn bounds(list: &[[f64; 3]]) -> BlockBounds {
    list.iter().fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], p| {
        [[0, 1, 2].map(|i| low[i].min(p[i])), [0, 1, 2].map(|i| high[i].max(p[i]))]
    })
}

/// The axis along which a box is widest, and its width.
fn widest(of: &BlockBounds) -> (usize, f64) {
    let width = [0, 1, 2].map(|i| of[1][i] - of[0][i]);
    (0..3).map(|i| (i, width[i])).fold((0, width[0]), |best, it| if it.1 > best.1 { it } else { best })
}

/// Whether no particle in one box can be linked to one in the other, with a margin for rounding.
fn apart(metric: &Metric, a: &BlockBounds, b: &BlockBounds) -> bool {
    let gap = |i: usize| {
        let side = if metric.sides[i].is_finite() { metric.sides[i] } else { 0.0 };
        let image = |by: f64| (b[0][i] + by - a[1][i]).max(a[0][i] - b[1][i] - by).max(0.0);
        image(0.0).min(image(side)).min(image(-side))
    };
    let (x, y, z) = (gap(0), gap(1), gap(2));
    let far = metric.length * (1.0 + 1.0 / 65536.0);
    x * x + y * y + z * z > far * far
}

/// Whether any position of `a` is linked to any of `b`, by halving. Reorders both.
fn divide(metric: &Metric, a: &mut [[f64; 3]], b: &mut [[f64; 3]]) -> bool {
    let (box_a, box_b) = (bounds(a), bounds(b));
    if apart(metric, &box_a, &box_b) {
        return false;
    }
    let ((axis_a, width_a), (axis_b, width_b)) = (widest(&box_a), widest(&box_b));
    if width_a == 0.0 && width_b == 0.0 {
        return metric.linked(a[0], b[0]);
    }
    if a.len() * b.len() <= FEW {
        return a.iter().any(|a| b.iter().any(|b| metric.linked(*a, *b)));
    }
    if width_a > width_b {
        let [low, high] = halves(a, axis_a);
        divide(metric, low, b) || divide(metric, high, b)
    } else {
        let [low, high] = halves(b, axis_b);
        divide(metric, a, low) || divide(metric, a, high)
    }
}

/// The lower and the upper half of a list along an axis.
fn halves(list: &mut [[f64; 3]], axis: usize) -> [&mut [[f64; 3]]; 2] {
    let middle = list.len() / 2;
    list.select_nth_unstable_by(middle, |p, q| p[axis].total_cmp(&q[axis]));
    let (low, high) = list.split_at_mut(middle);
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::super::record::Double;
    use super::*;
    use proptest::prelude::*;

    /// Positions in a cell at some distance from the origin, with few or many values.
    fn cell(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<[f64; 3]>> {
        let coordinate = prop_oneof![0.0..0.5f64, (0..3u32).prop_map(|i| 0.25 * f64::from(i))];
        let list = prop::collection::vec([coordinate.clone(), coordinate.clone(), coordinate], n);
        (list, prop::array::uniform3(prop_oneof![Just(0.0), 0.8..1.2f64, Just(7.4)])).prop_map(
            |(list, origin)| list.into_iter().map(|x| [0, 1, 2].map(|a| x[a] + origin[a])).collect(),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        /// Reference: all pairs. The lengths are on both sides of the limit; the least distance is a frequent
        /// linking length.
        #[test]
        fn links_are_those_of_all_pairs(
            (a, b) in prop_oneof![(cell(1..9), cell(1..9)), (cell(40..120), cell(40..120)), (cell(1..4), cell(800..1500))],
            periodic in proptest::bool::ANY,
            length in 0.0..3.0f64,
            is_exact in proptest::bool::ANY,
        ) {
            let sides = if periodic { [8.0; 3] } else { [f64::INFINITY; 3] };
            let distance2 = |length: f64| {
                let metric = Metric { sides, length };
                let pairs = a.iter().flat_map(|a| b.iter().map(move |b| metric.distance2(*a, *b)));
                pairs.fold(f64::INFINITY, f64::min)
            };
            let length = if is_exact { distance2(1.0).sqrt().max(0.01) } else { length };
            let metric = Metric { sides, length };
            let records = |list: &[[f64; 3]]| list.iter().zip(0..).map(|(x, i)| Double::new(*x, i)).collect::<Vec<_>>();
            prop_assert_eq!(touch(&metric, &records(&a), &records(&b)), distance2(length) < length * length);
        }
    }
}
