//! The haloes and members that a finder lists, with its noise.
//!
//! A finder loses some members, mostly outer ones, and takes in others; it ranks members with noise; it
//! misses some small haloes for one output; it does not see a halo that passes through another. What is
//! missed within a halo is bound to that halo.

use super::rules::{Haloes, LEAST};
use crate::synth::stream::{Purpose, RandomStream};
use rayon::prelude::*;

/// Part of the members that are lost: at the centre, and how much more at the edge.
const LOST: (f64, f64) = (0.01, 0.1);
/// Part of the members that do not belong there.
const GAINED: f64 = 0.02;
/// Scatter of the logarithm of ranks.
const RANK_SCATTER: f64 = 0.5;
/// Haloes of fewer particles are missed with this chance.
const MISSED: (usize, f64) = (60, 0.05);

/// The view of an output by a finder.
pub(super) struct FinderSight {
    pub seed: u64,
    pub output: u32,
}

/// A halo in the list of a finder.
pub(super) struct SeenHalo {
    /// The halo.
    pub halo: usize,
    /// The listed halo around it.
    pub host: Option<usize>,
    /// Counters of its members, the most bound first.
    pub members: Vec<u64>,
}

/// A particle with the logarithm of its rank.
type Ranked = (f64, u64);

impl FinderSight {
    /// The listed haloes, in the order of their birth.
    pub fn look(&self, haloes: &Haloes) -> Vec<SeenHalo> {
        let is_seen: Vec<bool> = (0..haloes.all.len()).map(|halo| self.sees(haloes, halo)).collect();
        let around = |halo: usize| {
            let mut at = haloes.all[halo].host;
            while let Some(orbit) = at.filter(|orbit| !is_seen[orbit.host]) {
                at = haloes.all[orbit.host].host;
            }
            at.map(|orbit| orbit.host)
        };
        let rows: Vec<usize> = (0..haloes.all.len()).filter(|halo| haloes.all[*halo].end.is_none()).collect();
        let parts: Vec<(Vec<Ranked>, Vec<u64>)> =
            rows.par_iter().map(|halo| self.members(haloes, *halo, is_seen[*halo])).collect();
        let mut members: Vec<Vec<Ranked>> = vec![Vec::new(); haloes.all.len()];
        let mut n_foreign = haloes.n_particles;
        for (halo, (kept, lost)) in rows.iter().copied().zip(parts) {
            let mut stream = self.stream(halo, 1);
            if let Some(host) = around(halo) {
                let n = haloes.all[host].particles.len() as f64;
                members[host].extend(lost.into_iter().map(|id| ((n * stream.within(0.2, 1.0)).ln(), id)));
            }
            if is_seen[halo] {
                let n = kept.len() as f64;
                let gained = (GAINED * n + stream.unit()) as u64;
                members[halo].extend(kept);
                // Particles that join haloes later.
                members[halo]
                    .extend((0..gained).map(|i| ((n * stream.within(0.3, 1.0)).ln(), n_foreign + i)));
                n_foreign += gained;
            }
        }
        let listed = |halo: usize| is_seen[halo] && members[halo].len() >= LEAST;
        let mut seen: Vec<SeenHalo> = rows
            .iter()
            .filter(|halo| listed(**halo))
            .map(|halo| SeenHalo {
                halo: *halo,
                host: around(*halo).filter(|host| listed(*host)),
                members: Vec::new(),
            })
            .collect();
        let of_halo: Vec<Vec<Ranked>> =
            seen.iter().map(|seen| std::mem::take(&mut members[seen.halo])).collect();
        seen.par_iter_mut().zip(of_halo).for_each(|(seen, mut ranked)| {
            ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            seen.members = ranked.into_iter().map(|(_, id)| id).collect();
        });
        seen
    }

    fn stream(&self, halo: usize, purpose: u64) -> RandomStream {
        RandomStream::new(
            self.seed,
            Purpose::Sight,
            u64::from(self.output) << 41 | (halo as u64) << 1 | purpose,
        )
    }

    fn sees(&self, haloes: &Haloes, halo: usize) -> bool {
        let halo_now = &haloes.all[halo];
        let is_hidden = halo_now.host.is_some() && halo_now.hidden_until >= self.output;
        // The draw is another one than those of members.
        let draw =
            crate::synth::stream::hash(self.seed, Purpose::Sight, u64::from(self.output) << 32 ^ halo as u64);
        let is_missed =
            halo_now.particles.len() < MISSED.0 && ((draw >> 11) as f64) < MISSED.1 * (1u64 << 53) as f64;
        halo_now.end.is_none() && !is_hidden && !is_missed
    }

    /// The members that are kept, with their ranks, and those that are lost; all of a halo that is not seen.
    fn members(&self, haloes: &Haloes, halo: usize, is_seen: bool) -> (Vec<Ranked>, Vec<u64>) {
        let particles = &haloes.all[halo].particles;
        if !is_seen {
            return (Vec::new(), particles.clone());
        }
        let mut stream = self.stream(halo, 0);
        let (mut kept, mut lost) = (Vec::with_capacity(particles.len()), Vec::new());
        for (rank, id) in particles.iter().enumerate() {
            match stream.happens(LOST.0 + LOST.1 * rank as f64 / particles.len() as f64) {
                true => lost.push(*id),
                false => kept.push((((rank + 1) as f64).ln() + RANK_SCATTER * stream.normal(), *id)),
            }
        }
        (kept, lost)
    }
}
