//! Cores of tracks: where are the most bound former members now, and how far are two cores apart?
//!
//! A core is the mean position and velocity of the 20 most bound tracers, and their spreads. Sums are exact, so
//! they do not depend on which rank has which particle.

use crate::bound::{ClumpParticle, HaloFrame, length};
use crate::tracks::sources::FormerPlace;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::props::combine::SizedBox;
use inselberg_kernels::sum::{FixedSum, Quantum};
use inselberg_kernels::tracks::N_CORE;
use std::collections::BTreeMap;

/// A core has at least this many of its particles.
const FEWEST: u64 = 10;

/// Sums over the particles of a core: position, velocity, and the squares of both.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct CoreSums {
    slot: u64,
    n: u64,
    sums: [FixedSum; 8],
}

/// The core of a track.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct TrackCore {
    /// 0 if too few of its particles are found.
    is_known: u64,
    position: [f64; 3],
    velocity: [f64; 3],
    /// Spreads of positions and velocities in three dimensions.
    spread: [f64; 2],
}

/// The cores of all tracks, on all ranks.
pub struct TrackCores {
    of_slot: Vec<TrackCore>,
    space: SizedBox,
}

impl TrackCores {
    /// Collective: of particles with these former places. `peaks` has a position near each core.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        particles: &[ClumpParticle],
        former: &[FormerPlace],
        peaks: &[[f64; 3]],
        space: SizedBox,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let of_cores = || particles.iter().zip(former).filter(|(_, place)| place.rank < N_CORE);
        let speed = of_cores()
            .flat_map(|(particle, _)| particle.velocity)
            .fold(0.0, |most: f64, v| most.max(v.abs()));
        let speed = comm.all_max(&[speed])?[0];
        let extent = space.side * f64::from(space.domain.coarse.into_iter().max().unwrap_or(1));
        let (x, v) = (extent, speed);
        let bounds = [x, x, x, v, v, v, 3.0 * x * x, 3.0 * v * v];
        let quanta = bounds.map(|bound| Quantum::for_terms(bound, N_CORE.into()));
        let square = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>();
        let terms = of_cores().filter_map(|(particle, place)| {
            let (slot, v) = (place.slot()?, particle.velocity);
            let d = HaloFrame { space, peak: peaks[slot] }.relative(particle.position);
            let terms = [d[0], d[1], d[2], v[0], v[1], v[2], square(d), square(v)];
            let sums = std::array::from_fn(|i| quanta[i].quantize(terms[i]));
            Some(CoreSums { slot: slot as u64, n: 1, sums })
        });
        let own: Vec<CoreSums> = added(terms).into_values().collect();
        let all = comm.exchange(vec![(Rank(0), own)])?.into_iter().flat_map(|(_, sums)| sums);
        let core = |slot: usize, sums: CoreSums| {
            let mean = |i: usize| quanta[i].value(sums.sums[i]) / sums.n as f64;
            let (d, velocity) = ([mean(0), mean(1), mean(2)], [mean(3), mean(4), mean(5)]);
            let spread =
                [mean(6) - square(d), mean(7) - square(velocity)].map(|square| square.max(0.0).sqrt());
            let position = HaloFrame { space, peak: peaks[slot] }.in_box(d);
            TrackCore { is_known: (sums.n >= FEWEST).into(), position, velocity, spread }
        };
        let mut of_slot = vec![TrackCore::default(); peaks.len()];
        for (slot, sums) in added(all) {
            of_slot[slot as usize] = core(slot as usize, sums);
        }
        // Rank 0 has all sums.
        Ok(Self { of_slot: comm.broadcast(Rank(0), &of_slot)?, space })
    }

    /// Local: the distance of two cores in position plus that in velocity, in units of the spreads of
    /// either core, whichever is less. Infinite where too few particles of a core are found.
    pub fn distance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (&self.of_slot[a], &self.of_slot[b]);
        if a.is_known == 0 || b.is_known == 0 {
            return f64::INFINITY;
        }
        let x = length(HaloFrame { space: self.space, peak: a.position }.relative(b.position));
        let v = length(std::array::from_fn(|i| a.velocity[i] - b.velocity[i]));
        let by = |core: &TrackCore| match core.spread {
            [of_x, of_v] if of_x > 0.0 && of_v > 0.0 => x / of_x + v / of_v,
            _ => f64::INFINITY,
        };
        by(a).min(by(b))
    }
}

/// The sums of each slot.
fn added(terms: impl Iterator<Item = CoreSums>) -> BTreeMap<u64, CoreSums> {
    let mut of_slot: BTreeMap<u64, CoreSums> = BTreeMap::new();
    for term in terms {
        let sums = of_slot.entry(term.slot).or_insert(CoreSums { slot: term.slot, ..CoreSums::default() });
        sums.n += term.n;
        sums.sums.iter_mut().zip(term.sums).for_each(|(sum, term)| *sum += term);
    }
    of_slot
}
