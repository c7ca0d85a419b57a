//! Whether any particle of one cell is linked to any of another.

use super::Metric;
use super::record::Record;

/// Pairs of particles that are tried one by one; more are divided first.
const FEW: usize = 2048;

/// Whether there is a link between two lists of particles. Leaves at the first one; where there are many and
/// they are just too far apart, boxes around parts of them are compared first.
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

/// Least and greatest coordinates.
type BlockBounds = [[f64; 3]; 2];

fn bounds(list: &[[f64; 3]]) -> BlockBounds {
    list.iter().fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], p| {
        [[0, 1, 2].map(|i| low[i].min(p[i])), [0, 1, 2].map(|i| high[i].max(p[i]))]
    })
}

fn widest(of: &BlockBounds) -> (usize, f64) {
    let width = [0, 1, 2].map(|i| of[1][i] - of[0][i]);
    (0..3).map(|i| (i, width[i])).fold((0, width[0]), |best, it| if it.1 > best.1 { it } else { best })
}

/// Whether no particle in one box can be linked to one in the other; wide of any rounding.
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

/// Two parts of a list, the lower and the upper along an axis.
fn halves(list: &mut [[f64; 3]], axis: usize) -> [&mut [[f64; 3]]; 2] {
    let middle = list.len() / 2;
    list.select_nth_unstable_by(middle, |p, q| p[axis].total_cmp(&q[axis]));
    let (low, high) = list.split_at_mut(middle);
    [low, high]
}
