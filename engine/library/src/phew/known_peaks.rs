//! The facts about a peak that any rank may know: its density, its cell, and its name over all ranks.

use crate::chunks::{carve, chunks, zeros};
use crate::exchange::firsts_by_level;
use crate::phew::pass::PassContext;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::{PeakName, PeakSlot};
use inselberg_kernels::mesh::local;
use rayon::prelude::*;
use std::ops::Range;

/// The facts about a peak that any rank may know.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct KnownPeak {
    /// Density.
    pub rho: f64,
    /// Its name over all ranks.
    pub name: PeakName,
    /// Level of its cell.
    pub level: u32,
    /// Position of its cell on the grid of that level.
    pub ijk: [u32; 3],
}

/// Known peaks, column by column. On a single rank, these columns become those of
/// [`Peaks`](crate::phew::peaks::Peaks), so nothing is stored twice.
#[derive(Debug, Default)]
pub struct PeakColumns {
    /// Densities.
    pub rho: Vec<f64>,
    /// Levels of their cells.
    pub level: Vec<u8>,
    /// Positions of their cells on the grids of these levels.
    pub ijk: Vec<[u32; 3]>,
    /// Their names; empty until they are [given](Self::give_names).
    pub name: Vec<PeakName>,
}

impl PeakColumns {
    /// Number of peaks.
    pub fn len(&self) -> usize {
        self.rho.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rho.is_empty()
    }

    /// The peak at this place. They must have names.
    pub fn get(&self, i: usize) -> KnownPeak {
        KnownPeak { rho: self.rho[i], name: self.name[i], level: self.level[i].into(), ijk: self.ijk[i] }
    }

    /// The peaks at these places.
    pub fn at(&self, places: &[PeakSlot]) -> Self {
        fn picked<T: Copy + Send + Sync>(column: &[T], places: &[PeakSlot]) -> Vec<T> {
            places.par_iter().map(|place| column[place.at()]).collect()
        }
        Self {
            rho: picked(&self.rho, places),
            level: picked(&self.level, places),
            ijk: picked(&self.ijk, places),
            name: picked(&self.name, places),
        }
    }

    /// Keeps the peaks whose places a closure accepts. They must not have names yet.
    pub fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        retain_places(&mut self.rho, &is_kept);
        retain_places(&mut self.level, &is_kept);
        retain_places(&mut self.ijk, &is_kept);
    }

    /// Adds a peak with its name.
    pub fn push(&mut self, peak: &KnownPeak) {
        self.rho.push(peak.rho);
        self.level.push(peak.level as u8);
        self.ijk.push(peak.ijk);
        self.name.push(peak.name);
    }

    /// Collective: names the peaks, which are own ones in the order of their cells. Returns the number of all
    /// peaks.
    ///
    /// # Errors
    /// When another rank fails, or there are more peaks or ranks than there are names for.
    pub fn give_names(&mut self, comm: &Comm) -> Result<u64, CommError> {
        let n_levels = self.level.last().map_or(0, |level| usize::from(*level) + 1);
        let start = |level: usize| self.level.partition_point(|of| usize::from(*of) < level);
        let starts: Vec<usize> = (0..=n_levels).map(start).collect();
        let counts: Vec<u64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
        let (firsts, n_global) = firsts_by_level(comm, &counts)?;
        if n_global >= PeakName::MOST_PEAKS || comm.n_ranks() > PeakName::MOST_RANKS as usize {
            let (peaks, ranks) = (PeakName::MOST_PEAKS - 1, PeakName::MOST_RANKS);
            let n_ranks = comm.n_ranks();
            return Err(comm.abort(format!(
                "{n_global} peaks on {n_ranks} ranks; at most {peaks} peaks on {ranks} ranks have names"
            )));
        }
        let owner = comm.rank().0;
        let name = |(i, level): (usize, &u8)| {
            let level = usize::from(*level);
            PeakName::new(firsts[level] + (i - starts[level]) as u64, owner)
        };
        self.name = self.level.par_iter().enumerate().map(name).collect();
        Ok(n_global)
    }
}

/// Keeps the entries of a list whose places a closure accepts.
pub fn retain_places<T>(list: &mut Vec<T>, is_kept: impl Fn(usize) -> bool) {
    let mut places = 0..;
    list.retain(|_| places.next().is_some_and(&is_kept));
}

/// Super-bricks whose roots are listed at once.
const SUPERS_AT_ONCE: usize = 1 << 6;

/// Density, level and position of every root, in the order of the cells. They have no names yet.
pub fn at_roots(pass: &PassContext) -> PeakColumns {
    let PassContext { mesh, test_cells, roots, .. } = *pass;
    let n = roots.len();
    let mut peaks = PeakColumns { rho: zeros(n), level: zeros(n), ijk: zeros(n), name: Vec::new() };
    let runs = chunks(mesh.supers().len(), SUPERS_AT_ONCE);
    let n_roots = |supers: &Range<usize>| {
        let cells = test_cells.of_supers(mesh, supers.clone());
        roots.before(cells.end) - roots.before(cells.start)
    };
    let lengths: Vec<usize> = runs.iter().map(n_roots).collect();
    let rho = carve(&mut peaks.rho, lengths.iter().copied());
    let level = carve(&mut peaks.level, lengths.iter().copied());
    let ijk = carve(&mut peaks.ijk, lengths.iter().copied());
    runs.into_par_iter().zip(rho).zip(level).zip(ijk).for_each(|(((run, rho), level), ijk)| {
        for (i, root) in run.flat_map(|s| in_super(pass, s)).enumerate() {
            (rho[i], level[i], ijk[i]) = root;
        }
    });
    peaks
}

/// Density, level and position of the roots in a super-brick.
fn in_super<'a>(pass: &PassContext<'a>, s: usize) -> impl Iterator<Item = (f64, u8, [u32; 3])> + 'a {
    let PassContext { mesh, test_cells, roots, .. } = *pass;
    let level = mesh.level_of_super(s);
    test_cells.bricks_of(mesh, &mesh.supers()[s]).flat_map(move |b| {
        let brick = &mesh.bricks()[b];
        roots.of_brick(test_cells, b).map(move |(_, bit)| {
            let cell = brick.cell(bit).expect("a root is a cell of its brick");
            (test_cells.rho[cell.at()], level, local::position_of(brick.position, bit))
        })
    })
}
