//! Selection by counting: the n-th smallest of many magnitudes, whose parts may lie on different ranks.
//!
//! Magnitudes are compared by their bits, 16 at a time from the highest on. Counts of parts add up, so the
//! result depends on no order and no division:
//!
//! ```text
//!     known bits    0x3ff4 ....           counts of the next 16 bits, by all parts
//!     rank 17 of those that begin so  ->  0x3ff4 8000 ....: rank 5 of those
//! ```

/// Bits that are counted at once.
const DIGIT: u32 = 16;

/// The beginning of the bits of a magnitude that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SelectedBits {
    /// The bits that are known, at their places.
    bits: u64,
    /// How many of them are known.
    known: u32,
}

impl SelectedBits {
    /// The number of values of no parts.
    pub fn no_counts() -> Vec<u64> {
        vec![0; 1 << DIGIT]
    }

    /// Adds the number of values of a part by their next bits, among those that begin with the known ones.
    pub fn count(&self, values: &[f64], counts: &mut [u64]) {
        let shift = u64::BITS - self.known - DIGIT;
        for value in values.iter().filter(|value| self.begins(**value)) {
            counts[(value.abs().to_bits() >> shift) as usize & ((1 << DIGIT) - 1)] += 1;
        }
    }

    /// Whether the magnitude of a value begins with the known bits.
    pub fn begins(&self, value: f64) -> bool {
        self.known == 0 || (value.abs().to_bits() ^ self.bits) >> (u64::BITS - self.known) == 0
    }

    /// Takes the next bits of the value with `rank` values below it, by the counts of all parts. Returns its
    /// rank among those that begin with all known bits; `None` if there are fewer values.
    pub fn take(&mut self, counts: &[u64], rank: u64) -> Option<u64> {
        let mut left = rank;
        let digit = counts.iter().position(|n| {
            let is_here = left < *n;
            left -= if is_here { 0 } else { *n };
            is_here
        })?;
        self.bits |= (digit as u64) << (u64::BITS - self.known - DIGIT);
        self.known += DIGIT;
        Some(left)
    }

    /// The magnitude, once all bits are known.
    pub fn value(&self) -> Option<f64> {
        (self.known == u64::BITS).then(|| f64::from_bits(self.bits))
    }
}

/// Appends the finite values below 0. Without branches on values, of which half are below 0 in no order.
pub fn append_below_zero(values: &[f64], to: &mut Vec<f64>) {
    let first = to.len();
    to.resize(first + values.len(), 0.0);
    let (room, mut n) = (&mut to[first..], 0);
    for value in values {
        room[n] = *value;
        n += usize::from((*value < 0.0) & (*value >= f64::MIN));
    }
    to.truncate(first + n);
}

/// Standard deviations of normal noise per median of its magnitudes.
pub const SIGMA_PER_MEDIAN: f64 = 1.482_602_218_505_602;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn selected(parts: &[&[f64]], rank: u64) -> Option<f64> {
        let (mut of, mut rank) = (SelectedBits::default(), rank);
        while of.value().is_none() {
            let mut counts = SelectedBits::no_counts();
            parts.iter().for_each(|part| of.count(part, &mut counts));
            rank = of.take(&counts, rank)?;
        }
        of.value()
    }

    #[test]
    fn values_that_are_not_below_zero_are_left_out() {
        let values = [-1.0, 0.0, -0.0, f64::NAN, -f64::NAN, f64::NEG_INFINITY, f64::MIN, 2.0];
        let mut found = vec![-3.0];
        append_below_zero(&values, &mut found);
        append_below_zero(&[1.0; 8], &mut found);
        assert_eq!(found, [-3.0, -1.0, f64::MIN]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

        #[test]
        fn selection_is_that_of_a_sorted_list(
            values in prop::collection::vec(prop_oneof![-3.0..3.0f64, Just(0.0), Just(-1.0), any::<f32>().prop_filter_map("finite", |x| x.is_finite().then_some(f64::from(x)))], 1..60),
            cut in 0usize..60,
        ) {
            let cut = cut.min(values.len());
            let mut sorted: Vec<f64> = values.iter().map(|x| x.abs()).collect();
            sorted.sort_by(f64::total_cmp);
            for rank in [0, values.len() / 2, values.len() - 1] {
                prop_assert_eq!(selected(&[&values[..cut], &values[cut..]], rank as u64), Some(sorted[rank]));
            }
            prop_assert_eq!(selected(&[&values], values.len() as u64), None);
        }
    }
}
