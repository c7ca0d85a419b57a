//! The evolution of haloes from one output to the next.
//!
//! A halo in the field grows: new particles join it, loosely bound. It may fall into a heavier one. A halo
//! within another loses its outer particles to it, may pass through its centre, where no finder sees it, and
//! merges after some outputs, or when 20 particles are left. A halo within a halo that ends goes to the next
//! one around. `encounters` has the numbers of the rules.

use super::SeriesParams;
use super::encounters::Roughness;
use crate::synth::stream::{Purpose, RandomStream};

/// The smallest halo that a finder lists.
pub(super) const LEAST: usize = 20;
/// Slope of the mass function, dn/dm = m^-SLOPE.
const SLOPE: f64 = 1.9;
/// Part of the members at the first output; haloes grow to about all of them.
const AT_FIRST: f64 = 0.7;
/// Growth per step of a halo in the field: mean, and scatter between haloes and steps.
const GROWTH: (f64, f64) = (0.04, 0.03);
/// New haloes per step, as a part of those in the field.
const BIRTHS: f64 = 0.03;
/// Chance per step that a halo falls into another.
const INFALL: f64 = 0.07;
/// Outputs from infall to merger.
const LIFETIME: (f64, f64) = (2.0, 9.0);

/// A halo, from its birth on.
#[derive(Debug, Clone)]
pub(super) struct SynthHalo {
    /// Counters of its particles, the most bound first; none after its end.
    pub particles: Vec<u64>,
    /// Its centre, in the unit box.
    pub position: [f64; 3],
    /// Its velocity per step.
    pub velocity: [f64; 3],
    /// The halo around it.
    pub host: Option<Orbit>,
    /// The last output at which no finder sees it, while it passes through its host.
    pub hidden_until: u32,
    /// The halo that got its particles, and the kind of its end.
    pub end: Option<End>,
}

/// The path of a halo within another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Orbit {
    /// The halo around.
    pub host: usize,
    /// From its centre.
    pub offset: [f64; 3],
    /// The output at which they merge.
    pub merges_at: u32,
}

/// The end of a halo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// The halo that has its particles.
    pub into: usize,
    /// The first output without it.
    pub output: u32,
    /// Whether it was stripped to nothing, rather than merged.
    pub is_disrupted: bool,
}

/// All haloes.
pub(super) struct Haloes {
    seed: u64,
    roughness: Roughness,
    pub all: Vec<SynthHalo>,
    /// Particles in use: counters below this one.
    pub n_particles: u64,
}

impl Haloes {
    /// Haloes in the field with a power law of masses.
    pub fn new(params: SeriesParams) -> Self {
        let roughness = params.rules.roughness();
        let mut haloes = Self { seed: params.seed, roughness, all: Vec::new(), n_particles: 0 };
        let total = (params.members as f64 * AT_FIRST) as u64;
        let largest = (params.members as f64 / 20.0).max(LEAST as f64);
        while haloes.n_particles < total {
            haloes.add(0, largest);
        }
        haloes
    }

    fn stream(&self, output: u32, halo: usize) -> RandomStream {
        RandomStream::new(self.seed, Purpose::Fate, u64::from(output) << 40 | halo as u64)
    }

    /// A new halo in the field, of up to `largest` particles.
    fn add(&mut self, output: u32, largest: f64) {
        let mut stream = self.stream(output, self.all.len());
        let power = 1.0 - SLOPE;
        let (low, high) = ((LEAST as f64).powf(power), largest.powf(power));
        let n = (low + stream.unit() * (high - low)).powf(1.0 / power) as u64;
        let particles = self.fresh(n.max(LEAST as u64));
        let position = [stream.unit(), stream.unit(), stream.unit()];
        let velocity = stream.direction().map(|x| 2e-3 * x);
        self.all.push(SynthHalo { particles, position, velocity, host: None, hidden_until: 0, end: None });
    }

    /// Particles that were in no halo.
    fn fresh(&mut self, n: u64) -> Vec<u64> {
        let first = self.n_particles;
        self.n_particles += n;
        (first..self.n_particles).collect()
    }

    /// Moves everything on to this output.
    pub fn step(&mut self, output: u32) {
        let masses = MassOrder::new(&self.all);
        for halo in 0..self.all.len() {
            if self.all[halo].end.is_some() {
                continue;
            }
            let mut stream = self.stream(output, halo);
            match self.all[halo].host {
                None => self.live_in_field(halo, output, &masses, &mut stream),
                Some(orbit) => self.live_in_host(halo, orbit, output, &mut stream),
            }
        }
        let n_field = self.all.iter().filter(|halo| halo.end.is_none() && halo.host.is_none()).count();
        (0..(n_field as f64 * BIRTHS) as usize).for_each(|_| self.add(output, 5.0 * LEAST as f64));
        self.place_in_hosts();
    }

    fn live_in_field(&mut self, halo: usize, output: u32, masses: &MassOrder, stream: &mut RandomStream) {
        let n = self.all[halo].particles.len();
        let growth = (GROWTH.0 + GROWTH.1 * stream.normal()).max(0.0) * n as f64 + stream.unit();
        let new = self.fresh(growth as u64);
        let SynthHalo { particles, position, velocity, .. } = &mut self.all[halo];
        mix_in(particles, &new, 0.4, stream);
        (0..3).for_each(|a| position[a] = (position[a] + velocity[a]).rem_euclid(1.0));
        if stream.happens(INFALL)
            && let Some(host) = self.new_host(n, masses, stream)
            && host != halo
            && self.all[host].end.is_none()
            && self.all[host].host.is_none()
        {
            let offset = [0, 1, 2].map(|a| {
                let way = self.all[halo].position[a] - self.all[host].position[a];
                way - way.round()
            });
            let merges_at = output + stream.within(LIFETIME.0, LIFETIME.1) as u32;
            self.all[halo].host = Some(Orbit { host, offset, merges_at });
        }
    }

    fn new_host(&self, n: usize, masses: &MassOrder, stream: &mut RandomStream) -> Option<usize> {
        let Roughness { is_equal, .. } = self.roughness;
        match is_equal > 0.0 && stream.happens(is_equal) {
            true => masses.next(n, stream),
            false => masses.heavier(n, stream),
        }
    }

    fn live_in_host(&mut self, halo: usize, orbit: Orbit, output: u32, stream: &mut RandomStream) {
        let is_hidden = self.all[halo].hidden_until >= output;
        if output >= orbit.merges_at && !is_hidden {
            return self.end(halo, orbit.host, output, false, stream);
        }
        let Roughness { stripped, passage, stripped_in_passage, exchanged, .. } = self.roughness;
        let mut lost = stream.within(stripped.0, stripped.1);
        if !is_hidden && stream.happens(passage.0) {
            self.all[halo].hidden_until = output + (stream.unit() * passage.1 as f64) as u32;
            lost = stream.within(stripped_in_passage.0, stripped_in_passage.1);
            if exchanged.1 > 0.0 {
                let mut own = std::mem::take(&mut self.all[halo].particles);
                self.roughness.pass(&mut own, &mut self.all[orbit.host].particles, stream);
                self.all[halo].particles = own;
            }
        } else if is_hidden {
            lost = 0.0;
        }
        let particles = &mut self.all[halo].particles;
        let kept = particles.len() - (particles.len() as f64 * lost) as usize;
        if kept < LEAST {
            return self.end(halo, orbit.host, output, true, stream);
        }
        let stripped = particles.split_off(kept);
        mix_in(&mut self.all[orbit.host].particles, &stripped, 0.3, stream);
        if let Some(Orbit { offset, .. }) = &mut self.all[halo].host {
            let [x, y, z] = *offset;
            // A third of a turn per step, on a shrinking circle.
            *offset = [-0.35 * x - 0.6 * y, 0.6 * x - 0.35 * y, 0.7 * z];
        }
    }

    /// Ends a halo; those in it go to its host.
    fn end(&mut self, halo: usize, into: usize, output: u32, is_disrupted: bool, stream: &mut RandomStream) {
        let particles = std::mem::take(&mut self.all[halo].particles);
        mix_in(&mut self.all[into].particles, &particles, self.roughness.merged_depth, stream);
        self.all[halo].end = Some(End { into, output, is_disrupted });
        for other in &mut self.all {
            if let Some(orbit) = other.host.as_mut().filter(|orbit| orbit.host == halo) {
                orbit.host = into;
            }
        }
    }

    /// Haloes within others follow them.
    fn place_in_hosts(&mut self) {
        for halo in 0..self.all.len() {
            let Some(mut orbit) = self.all[halo].host.filter(|_| self.all[halo].end.is_none()) else {
                continue;
            };
            let mut place = orbit.offset;
            // The host may be in a host itself.
            while let Some(around) = self.all[orbit.host].host {
                (0..3).for_each(|a| place[a] += around.offset[a]);
                orbit = around;
            }
            let centre = self.all[orbit.host].position;
            let old = self.all[halo].position;
            let new = [0, 1, 2].map(|a| (centre[a] + place[a]).rem_euclid(1.0));
            self.all[halo].velocity = [0, 1, 2].map(|a| new[a] - old[a] - (new[a] - old[a]).round());
            self.all[halo].position = new;
        }
    }
}

/// Puts particles among those of a halo, below the innermost part `depth` of them; the order within each list
/// stays.
fn mix_in(particles: &mut Vec<u64>, new: &[u64], depth: f64, stream: &mut RandomStream) {
    let first = (particles.len() as f64 * depth) as usize;
    let outer = particles.split_off(first);
    let (mut old, mut new) = (outer.into_iter().peekable(), new.iter().copied().peekable());
    // Each list keeps its pace, so the next particle comes from either by chance.
    while old.peek().is_some() && new.peek().is_some() {
        let share = old.len() as f64 / (old.len() + new.len()) as f64;
        particles.extend(if stream.happens(share) { old.next() } else { new.next() });
    }
    particles.extend(old);
    particles.extend(new);
}

/// Haloes in the field, by mass.
struct MassOrder {
    /// Rows, by falling mass.
    rows: Vec<usize>,
    /// Masses, in that order, and their sums up to there.
    masses: Vec<usize>,
    sums: Vec<u64>,
}

impl MassOrder {
    fn new(all: &[SynthHalo]) -> Self {
        let mut rows: Vec<usize> =
            (0..all.len()).filter(|row| all[*row].end.is_none() && all[*row].host.is_none()).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(all[*row].particles.len()), *row));
        let masses: Vec<usize> = rows.iter().map(|row| all[*row].particles.len()).collect();
        let add = |sum: &mut u64, mass: &usize| {
            *sum += *mass as u64;
            Some(*sum)
        };
        let sums = masses.iter().scan(0, add).collect();
        Self { rows, masses, sums }
    }

    /// One of the lightest haloes with at least `n` particles.
    fn next(&self, n: usize, stream: &mut RandomStream) -> Option<usize> {
        let n_heavier = self.masses.partition_point(|mass| *mass >= n);
        self.rows.get(n_heavier.checked_sub(1 + (stream.unit() * 4.0) as usize)?).copied()
    }

    /// One of the haloes with at least `n` particles, by chance in proportion to its mass.
    fn heavier(&self, n: usize, stream: &mut RandomStream) -> Option<usize> {
        let n_heavier = self.masses.partition_point(|mass| *mass >= n);
        let total = *self.sums.get(n_heavier.checked_sub(1)?)?;
        let drawn = (stream.unit() * total as f64) as u64;
        self.rows.get(self.sums.partition_point(|sum| *sum <= drawn)).copied()
    }
}
