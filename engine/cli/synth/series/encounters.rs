//! How strongly do haloes disturb each other?
//!
//! ```text
//!   close pass    satellite  a b c d e f ...      a X c d Y f ...     particles of the cores change sides,
//!                 host       U V W X Y Z ...      U V W b e Z ...     and the order within the satellite's core changes
//! ```

use crate::synth::stream::RandomStream;

/// The rules of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SeriesRules {
    /// A halo keeps its innermost particles.
    #[default]
    Gentle,
    /// Cores exchange particles, haloes are hidden for longer than a gap, and satellites lose most of their
    /// particles.
    Hard,
}

/// The numbers of a set of rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roughness {
    /// The part that a halo within another loses per step.
    pub stripped: (f64, f64),
    /// Chance per step that a halo passes through its host, and the most outputs for which it is not seen.
    pub passage: (f64, u64),
    /// The part that it loses in the host.
    pub stripped_in_passage: (f64, f64),
    /// The innermost part of a host that stays free of the particles of a halo that merges.
    pub merged_depth: f64,
    /// Chance that a halo falls into one of about its own mass.
    pub is_equal: f64,
    /// The part of the cores that changes sides in a passage.
    pub exchanged: (f64, f64),
    /// Scatter of the logarithm of ranks in the core of a halo that passes.
    pub heated: f64,
}

impl SeriesRules {
    pub(super) fn roughness(self) -> Roughness {
        match self {
            Self::Gentle => Roughness {
                stripped: (0.03, 0.25),
                passage: (0.1, 3),
                stripped_in_passage: (0.15, 0.35),
                merged_depth: 0.2,
                is_equal: 0.0,
                exchanged: (0.0, 0.0),
                heated: 0.0,
            },
            Self::Hard => Roughness {
                stripped: (0.05, 0.4),
                passage: (0.25, 7),
                stripped_in_passage: (0.2, 0.6),
                merged_depth: 0.1,
                is_equal: 0.3,
                exchanged: (0.1, 0.4),
                heated: 1.0,
            },
        }
    }
}

impl Roughness {
    /// A satellite passes the core of its host: the lists of both, the most bound first.
    pub fn pass(&self, satellite: &mut [u64], host: &mut [u64], stream: &mut RandomStream) {
        let core = (satellite.len().min(host.len()) / 4).clamp(5, 60);
        let chance = stream.within(self.exchanged.0, self.exchanged.1);
        for (own, other) in satellite.iter_mut().zip(host).take(core) {
            if stream.happens(chance) {
                std::mem::swap(own, other);
            }
        }
        let mut ranked: Vec<(f64, u64)> = (1..)
            .zip(satellite.iter())
            .map(|(rank, particle)| (f64::from(rank).ln() + self.heated * stream.normal(), *particle))
            .collect();
        ranked[..core.min(satellite.len())].sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        satellite.iter_mut().zip(ranked).for_each(|(place, (_, particle))| *place = particle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::stream::Purpose;

    #[test]
    fn a_pass_exchanges_some_of_the_cores_and_loses_nothing() {
        let roughness = SeriesRules::Hard.roughness();
        let mut n_swapped = 0;
        for seed in 0..40 {
            let (mut a, mut b): (Vec<u64>, Vec<u64>) = ((0..200).collect(), (1000..1900).collect());
            roughness.pass(&mut a, &mut b, &mut RandomStream::new(seed, Purpose::Fate, 0));
            let swapped = a.iter().filter(|particle| **particle >= 1000).count();
            assert!(swapped < 40 && a[50..] == (50..200).collect::<Vec<_>>()[..], "{a:?}");
            assert_eq!(b.iter().filter(|particle| **particle < 1000).count(), swapped);
            let mut all = [a, b].concat();
            all.sort_unstable();
            assert_eq!(all, (0..200).chain(1000..1900).collect::<Vec<_>>());
            n_swapped += swapped;
        }
        // A quarter of 50 on average.
        assert!((300..700).contains(&n_swapped), "{n_swapped}");
    }
}
