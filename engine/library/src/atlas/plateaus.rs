//! Where does a number change little? Plateaus along a threshold, and how much a number depends on it.

use super::families::rounded;

/// What is counted along a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedObjects {
    /// Clumps.
    Clumps,
    /// Haloes.
    Haloes,
}

/// A range of a threshold in which a number changes by at most [`TOLERANCE`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Plateau {
    /// What is counted.
    pub counted: CountedObjects,
    /// Its place among the plateaus of this count, from 1: the longest in the logarithm comes first.
    pub number: u64,
    /// First and last value of the threshold that were tried in it.
    pub range: [f64; 2],
    /// The recommended value: the geometric middle, with four digits. In an open plateau, which has no middle:
    /// the value of the catalogue, if it is there.
    pub recommended: Option<f64>,
    /// Least and greatest number in it.
    pub count: [u64; 2],
    /// d ln N / d ln threshold from its first to its last value.
    pub slope: f64,
    /// Whether it reaches an end of the values that were tried, so that it may go on there.
    pub is_open: bool,
}

/// Numbers in a plateau differ by at most this part of the greatest one.
pub const TOLERANCE: f64 = 0.1;
/// A plateau is at least this factor of the threshold long.
const LEAST_FACTOR: f64 = 1.3;
/// Plateaus of a count that are listed.
const MOST_PLATEAUS: usize = 3;
/// Fewer objects make no plateau: at the far end of a threshold everything is one object, or nothing is left.
const LEAST_COUNT: u64 = 2;

/// The plateaus of a count, the longest first; no two overlap. The values ascend; those of 0 take no part.
pub(super) fn plateaus(
    counted: CountedObjects,
    values: &[f64],
    counts: &[u64],
    own: Option<f64>,
) -> Vec<Plateau> {
    let first = values.partition_point(|value| *value <= 0.0);
    let (values, counts) = (&values[first..], &counts[first..]);
    let mut ranges: Vec<[usize; 2]> = (0..values.len()).map(|i| [i, last_of(counts, i)]).collect();
    let length = |[a, b]: &[usize; 2]| values[*b] / values[*a];
    ranges.retain(|range| {
        let least = counts[range[0]..=range[1]].iter().min().expect("not empty");
        length(range) >= LEAST_FACTOR && *least >= LEAST_COUNT
    });
    ranges.sort_by(|a, b| length(b).total_cmp(&length(a)).then(a.cmp(b)));
    let mut kept: Vec<[usize; 2]> = Vec::new();
    for range in ranges {
        let is_apart = |other: &[usize; 2]| range[1] < other[0] || range[0] > other[1];
        if kept.len() < MOST_PLATEAUS && kept.iter().all(is_apart) {
            kept.push(range);
        }
    }
    let of = |(number, [a, b]): (u64, [usize; 2])| {
        let within = &counts[a..=b];
        let count = |of: Option<&u64>| *of.expect("not empty");
        let is_open = a == 0 || b + 1 == values.len();
        let recommended = match is_open {
            true => own.filter(|own| (values[a]..=values[b]).contains(own)),
            false => Some(rounded((values[a] * values[b]).sqrt())),
        };
        Plateau {
            counted,
            number,
            range: [values[a], values[b]],
            recommended,
            count: [count(within.iter().min()), count(within.iter().max())],
            slope: slope([values[a], values[b]], [counts[a], counts[b]].map(|n| n as f64)),
            is_open,
        }
    };
    (1..).zip(kept).map(of).collect()
}

/// The last place up to which counts from `first` on differ little.
fn last_of(counts: &[u64], first: usize) -> usize {
    let (mut least, mut most) = (counts[first], counts[first]);
    for (i, count) in counts.iter().enumerate().skip(first) {
        (least, most) = (least.min(*count), most.max(*count));
        if (most - least) as f64 > TOLERANCE * most as f64 {
            return i - 1;
        }
    }
    counts.len() - 1
}

/// d ln N / d ln threshold between two values; NaN where either has no logarithm.
fn slope(values: [f64; 2], numbers: [f64; 2]) -> f64 {
    let [across, up] = [values, numbers].map(|[a, b]| (b / a).ln());
    if across.is_finite() && up.is_finite() && across > 0.0 { up / across } else { f64::NAN }
}

/// d ln N / d ln threshold at each value, from its neighbours. NaN where the logarithms are not known.
pub fn slopes(values: &[f64], numbers: &[f64]) -> Vec<f64> {
    let last = values.len().saturating_sub(1);
    let at = |i: usize| {
        let mut ends = [i.saturating_sub(1), (i + 1).min(last)];
        if values[ends[0]] <= 0.0 {
            ends[0] = i;
        }
        slope(ends.map(|i| values[i]), ends.map(|i| numbers[i]))
    };
    (0..values.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plateaus_are_where_counts_stay_and_the_longest_comes_first() {
        let values = [0.0, 1.0, 1.2, 1.5, 2.0, 3.0, 6.0, 12.0, 24.0, 48.0];
        let counts = [900, 500, 200, 100, 95, 92, 50, 49, 48, 1];
        let found = plateaus(CountedObjects::Clumps, &values, &counts, None);
        let ranges: Vec<_> = found.iter().map(|of| (of.number, of.range, of.count)).collect();
        assert_eq!(ranges, [(1, [6.0, 24.0], [48, 50]), (2, [1.5, 3.0], [92, 100])]);
        assert_eq!((found[0].recommended, found[0].is_open), (Some(12.0), false));
        assert!((found[0].slope - (48.0_f64 / 50.0).ln() / 4.0_f64.ln()).abs() < 1e-12);
        assert!(
            plateaus(CountedObjects::Haloes, &values, &[1; 10], None).is_empty(),
            "one object is no plateau"
        );
        let flat = plateaus(CountedObjects::Haloes, &values, &[7; 10], Some(2.0));
        assert_eq!((flat.len(), flat[0].range, flat[0].is_open, flat[0].slope), (1, [1.0, 48.0], true, 0.0));
        assert_eq!(flat[0].recommended, Some(2.0), "an open plateau has no middle");
    }

    #[test]
    fn slopes_are_those_of_powers() {
        let values = [1.0_f64, 2.0, 4.0, 8.0];
        let numbers = values.map(|v| 64.0 / (v * v));
        assert!(slopes(&values, &numbers).iter().all(|slope| (slope + 2.0).abs() < 1e-12));
        assert!(slopes(&[0.0, 1.0], &[5.0, 5.0])[0].is_nan());
        assert_eq!(slopes(&[], &[]), [0.0; 0]);
    }
}
