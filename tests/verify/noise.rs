//! Which peaks are noise by significance? By the definition, over the sets of patches that join at each
//! saddle.
//!
//! - Lower the water from saddle to saddle. Where two lakes join, the one with the lower highest peak dies
//!   into the other, its elder.
//! - The part of a lake above the saddle are its cells that are denser. Its significance is the excess of its
//!   mass over that of as much volume of the saddle's density, over the scatter of the latter.
//! - A part is noise if its significance is below twice the threshold and its mass below 0.02 of its clump,
//!   below the threshold and 0.03, or below 1. The clump is that of persistence alone at first. Parts are
//!   judged again with the clumps that come of it, until no more are noise.
//! - A peak is noise by persistence, or if its part or that of its elder is noise. By persistence it joins
//!   the clump of the patch beyond the saddle, else that of its elder.

use super::brute::{Brute, order};
use inselberg_kernels::phew::persistence::Persistence;

/// Thresholds, and the mass of a particle.
#[derive(Debug, Clone, Copy)]
pub struct NoiseCut {
    pub density: f64,
    pub persistence: Persistence,
    pub significance: f64,
    pub saddle: Option<f64>,
    pub particle: f64,
}

/// The cells of a lake above a saddle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    pub significance: f64,
    pub mass: f64,
}

/// The death of a peak.
#[derive(Debug, Clone, Copy)]
pub struct Merger {
    pub saddle: f64,
    /// The patch beyond the saddle, and the highest peak of its lake.
    pub beyond: usize,
    pub elder: usize,
    /// Of the lake that dies, and of that of the elder.
    pub parts: [Part; 2],
}

/// Why a peak is noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    Persistence,
    OwnPart,
    PartOfElder,
}

/// What comes of it, by peak.
#[derive(Debug)]
pub struct NoiseOutcome {
    /// The part of each peak above its saddle, or above the density threshold if it never dies.
    pub part: Vec<Part>,
    pub merger: Vec<Option<Merger>>,
    pub reason: Vec<Option<Reason>>,
    /// The clump of each patch, by its peak; `None` where it is discarded.
    pub clump: Vec<Option<usize>>,
    /// The lowest patch of the halo of each patch.
    pub halo: Vec<usize>,
}

/// All of it. Quadratic.
pub fn outcome(brute: &Brute, cut: &NoiseCut) -> NoiseOutcome {
    let rho = brute.peak_densities();
    let n = rho.len();
    let (merger, lake) = lower_the_water(brute, cut.particle);
    let whole = |p: usize| part(brute, &lake, lake[p], cut.density, cut.particle);
    let of_peak = |p: usize| merger[p].map_or_else(|| whole(p), |merger: Merger| merger.parts[0]);
    let is_faint = |p: usize| merger[p].is_some_and(|m| cut.persistence.is_noise(rho[p], m.saddle));
    let followed_by = |reason: &[Option<Reason>]| {
        followed(n, |p| match reason[p]? {
            Reason::Persistence => merger[p].map(|m: Merger| m.beyond),
            _ => merger[p].map(|m| m.elder),
        })
    };
    let mut reason: Vec<Option<Reason>> =
        (0..n).map(|p| is_faint(p).then_some(Reason::Persistence)).collect();
    let clump = loop {
        let clump = followed_by(&reason);
        let is_noise = |part: &Part, peak: usize| {
            let mass = mass_of(brute, |patch| clump[patch] == peak);
            let needed = match part.mass {
                part if part < 0.02 * mass => 2.0 * cut.significance,
                part if part < 0.03 * mass => cut.significance,
                _ => cut.significance.min(1.0),
            };
            part.significance < needed
        };
        let judged = |p: usize| match merger[p] {
            Some(m) if is_noise(&m.parts[0], p) => Some(Reason::OwnPart),
            // A peak that does not stand out itself is not held against its elder.
            Some(m) if m.parts[0].significance >= 1.0 && is_noise(&m.parts[1], m.elder) => {
                Some(Reason::PartOfElder)
            }
            _ => None,
        };
        let next: Vec<Option<Reason>> = (0..n).map(|p| reason[p].or_else(|| judged(p))).collect();
        if next == reason {
            break clump;
        }
        reason = next;
    };
    let touches = |c: usize| {
        brute.saddles.iter().any(|s| {
            s.peaks.map(|p| clump[p] == c) == [true, false] || s.peaks.map(|p| clump[p] == c) == [false, true]
        })
    };
    let stays = |c: usize| touches(c) || !cut.persistence.is_noise(rho[c], cut.density);
    NoiseOutcome {
        part: (0..n).map(of_peak).collect(),
        halo: haloes(brute, &clump, cut.saddle),
        clump: clump.iter().map(|c| stays(*c).then_some(*c)).collect(),
        merger,
        reason,
    }
}

/// The death of each peak, and the lake of each patch in the end, by its highest peak.
fn lower_the_water(brute: &Brute, particle: f64) -> (Vec<Option<Merger>>, Vec<usize>) {
    let rho = brute.peak_densities();
    let mut lake: Vec<usize> = (0..rho.len()).collect();
    let mut mergers = vec![None; rho.len()];
    for saddle in &brute.saddles {
        let [a, b] = saddle.peaks;
        if lake[a] == lake[b] {
            continue;
        }
        let is_a = order(|p| rho[p], lake[a], lake[b]).is_lt();
        let (near, beyond) = if is_a { (a, b) } else { (b, a) };
        let (dying, elder) = (lake[near], lake[beyond]);
        let parts = [dying, elder].map(|head| part(brute, &lake, head, saddle.density, particle));
        mergers[dying] = Some(Merger { saddle: saddle.density, beyond, elder, parts });
        lake.iter_mut().filter(|head| **head == dying).for_each(|head| *head = elder);
    }
    (mergers, lake)
}

/// The part of a lake above a density.
fn part(brute: &Brute, lake: &[usize], head: usize, above: f64, particle: f64) -> Part {
    let cells =
        (0..brute.cells.len()).filter(|c| lake[brute.patch[*c]] == head && brute.cells[*c].rho > above);
    let (mut mass, mut volume) = (0.0, 0.0);
    for c in cells {
        mass += brute.cells[c].rho * cell_volume(brute, c);
        volume += cell_volume(brute, c);
    }
    let smooth = above * volume;
    let significance = if mass > 0.0 { (mass - smooth) / (particle * smooth).sqrt() } else { 0.0 };
    Part { significance, mass }
}

fn cell_volume(brute: &Brute, cell: usize) -> f64 {
    0.125f64.powi(i32::from(brute.cells[cell].level))
}

fn mass_of(brute: &Brute, is_in: impl Fn(usize) -> bool) -> f64 {
    let cells = (0..brute.cells.len()).filter(|c| is_in(brute.patch[*c]));
    cells.map(|c| brute.cells[c].rho * cell_volume(brute, c)).sum()
}

/// Where the way of each peak from target to target ends.
fn followed(n: usize, target: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    let end = |mut p: usize| {
        while let Some(next) = target(p) {
            p = next;
        }
        p
    };
    (0..n).map(end).collect()
}

/// Clumps that touch above the saddle threshold are one halo. By its lowest patch.
fn haloes(brute: &Brute, clump: &[usize], above: Option<f64>) -> Vec<usize> {
    let mut halo: Vec<usize> = (0..clump.len()).collect();
    let mut unite = |a: usize, b: usize| {
        let (low, high) = (halo[a].min(halo[b]), halo[a].max(halo[b]));
        halo.iter_mut().filter(|h| **h == high).for_each(|h| *h = low);
    };
    (0..clump.len()).for_each(|p| unite(p, clump[p]));
    let joins = brute.saddles.iter().filter(|s| above.is_some_and(|above| s.density > above));
    joins.for_each(|s| unite(s.peaks[0], s.peaks[1]));
    halo
}
