//! Tracers: the most bound collisionless members of an object.

use bytemuck::{Pod, Zeroable};

/// The weight of the most bound tracer. Weights are integers, so their sums are exact.
pub const UNIT: u64 = 1 << 40;

/// Number of tracers of an object, at most, for which sums of weights cannot overflow.
pub const MOST_TRACERS: u32 = 1 << 20;

/// A particle: identities are unique within a type. The order is by identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(C)]
pub struct TracerKey {
    /// The identity.
    pub id: u64,
    /// The type: 1 dark matter, 4 stars.
    pub kind: u64,
}

/// The weight of the tracer with this rank: [`UNIT`] / (1 + sqrt(rank)), rounded. The most bound tracer has
/// rank 0.
pub fn weight(rank: u32) -> u64 {
    (UNIT as f64 / (1.0 + f64::from(rank).sqrt())).round() as u64
}

/// The sum of the weights of 0, 1, 2, ... up to `most` tracers.
pub fn weight_sums(most: u32) -> Vec<u64> {
    let mut sum = 0;
    let next = |rank| {
        sum += weight(rank);
        sum
    };
    std::iter::once(0).chain((0..most).map(next)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_fall_and_sums_fit() {
        assert_eq!([weight(0), weight(1), weight(4)], [UNIT, UNIT / 2, (UNIT as f64 / 3.0).round() as u64]);
        assert!((0..1000).all(|rank| weight(rank) > weight(rank + 1)));
        assert_eq!(weight_sums(2), [0, UNIT, UNIT + UNIT / 2]);
        assert!(u128::from(UNIT) * u128::from(MOST_TRACERS) < 1 << 62);
    }
}
