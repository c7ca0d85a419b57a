//! What makes one field cost more than another?

use inselberg::field::{AmrField, test_cells};
use inselberg_kernels::mesh::Mesh;
use std::fmt;

/// Neighbours are counted for one test cell in this number.
const SAMPLE: usize = 64;

/// Shares and means of a segmented field.
pub struct FieldStatistics {
    /// Test cells per patch.
    pub cells_per_patch: f64,
    /// Clumps per peak.
    pub clumps_per_peak: f64,
    /// Number of clumps.
    pub n_clumps: usize,
    /// Share of the test cells with a neighbour of another level or none.
    pub beside_another: f64,
    /// Share of the super-bricks that have all their 4096 cells.
    pub full_supers: f64,
    /// Test cells per brick that has any.
    pub cells_per_brick: f64,
    /// Such bricks per super-brick that has any.
    pub bricks_per_super: f64,
}

impl FieldStatistics {
    /// The statistics of a field with these numbers of test cells, peaks and clumps.
    pub fn new(field: &AmrField, threshold: f64, [n_tests, n_peaks, n_clumps]: [usize; 3]) -> Self {
        let mesh = &field.mesh;
        let is_full = |s: &&inselberg_kernels::mesh::SuperBrick| {
            s.bricks == u64::MAX && mesh.bricks()[mesh.bricks_of(s)].iter().all(|b| b.exists == u64::MAX)
        };
        let n_full = mesh.supers().iter().filter(is_full).count();
        let found = test_cells::find(field, threshold);
        let bricks = found.mask.iter().filter(|mask| **mask != 0).count() as f64;
        let supers = mesh.supers().iter().filter(|s| found.bricks_in(s) != 0).count() as f64;
        Self {
            cells_per_brick: n_tests as f64 / bricks,
            bricks_per_super: bricks / supers,
            cells_per_patch: n_tests as f64 / n_peaks as f64,
            clumps_per_peak: n_clumps as f64 / n_peaks as f64,
            n_clumps,
            beside_another: beside_another(field, threshold),
            full_supers: n_full as f64 / mesh.supers().len() as f64,
        }
    }
}

fn beside_another(field: &AmrField, threshold: f64) -> f64 {
    let mesh = &field.mesh;
    let (mut seen, mut sampled, mut beside) = (0, 0, 0);
    mesh.for_each_cell(0..mesh.supers().len(), |level, position, cell, is_leaf| {
        if !is_leaf || field.rho[cell.at()] <= threshold {
            return;
        }
        seen += 1;
        if seen % SAMPLE == 0 {
            sampled += 1;
            beside += usize::from(!has_equal_neighbours(mesh, level, position));
        }
    });
    f64::from(beside as u32) / f64::from(sampled.max(1))
}

/// Whether all 26 neighbours are leaves of the same level, or beyond an open wall.
fn has_equal_neighbours(mesh: &Mesh, level: u8, position: [u32; 3]) -> bool {
    let (extent, domain) = (mesh.domain().extent(level), mesh.domain());
    (0..27).all(|place: i64| {
        let step = [place % 3 - 1, place / 3 % 3 - 1, place / 9 - 1];
        let near = [0, 1, 2].map(|a| i64::from(position[a]) + step[a]);
        if (0..3).any(|a| !domain.periodic[a] && !(0..extent[a]).contains(&near[a])) {
            return true;
        }
        let near = [0, 1, 2].map(|a| near[a].rem_euclid(extent[a]) as u32);
        let brick = mesh.find_brick(level, near);
        brick.is_some_and(|(brick, bit)| mesh.bricks()[brick.at()].leaf >> bit & 1 == 1)
    })
}

impl fmt::Display for FieldStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cells_per_patch, clumps_per_peak, n_clumps, beside_another, full_supers, .. } = self;
        let Self { cells_per_brick, bricks_per_super, .. } = self;
        write!(
            f,
            "{cells_per_patch:.1} cells per patch, {n_clumps} clumps ({clumps_per_peak:.2e} per peak), {:.1} % of the test cells \
             beside another level, {:.1} % full super-bricks, {cells_per_brick:.1} test cells per brick, {bricks_per_super:.1} \
             bricks per super-brick",
            100.0 * beside_another,
            100.0 * full_supers
        )
    }
}
