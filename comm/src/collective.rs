//! Calls that every rank makes together.

use crate::Comm;

/// How values of several ranks become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduce {
    /// Their sum.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Comm {
    /// Collective: reduces counts over all ranks, place by place; every rank gets the result.
    ///
    /// # Panics
    /// When ranks give different numbers of values.
    pub fn all_reduce_counts(&self, values: &[u64], how: Reduce) -> Vec<u64> {
        let fold = |a: u64, b: u64| match how {
            Reduce::Sum => a + b,
            Reduce::Min => a.min(b),
            Reduce::Max => a.max(b),
        };
        self.fold(values, fold)
    }

    /// Collective: the greatest of each value over all ranks; every rank gets the result. No sums of
    /// reals are offered, because they would depend on the order of the ranks.
    ///
    /// # Panics
    /// When ranks give different numbers of values.
    pub fn all_max(&self, values: &[f64]) -> Vec<f64> {
        let words: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
        let largest = |a: u64, b: u64| f64::from_bits(a).max(f64::from_bits(b)).to_bits();
        self.fold(&words, largest).into_iter().map(f64::from_bits).collect()
    }

    /// Collective: the sum of `value` over the ranks before this one.
    pub fn sum_before(&self, value: u64) -> u64 {
        self.backend.transport().all_gather(&[value])[..self.rank()].iter().map(|v| v[0]).sum()
    }

    fn fold(&self, values: &[u64], fold: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        let mut all = self.backend.transport().all_gather(values).into_iter();
        let mut result = all.next().unwrap_or_default();
        for other in all {
            assert_eq!(other.len(), result.len(), "ranks must reduce the same number of values");
            for (a, b) in result.iter_mut().zip(other) {
                *a = fold(*a, b);
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_everything_is_its_own() {
        let comm = Comm::solo();
        assert_eq!((comm.rank(), comm.n_ranks(), comm.sum_before(7)), (0, 1, 0));
        assert_eq!(comm.all_reduce_counts(&[3, 4], Reduce::Sum), [3, 4]);
        assert_eq!(comm.all_max(&[-1.5]), [-1.5]);
    }
}
