//! Further values of the test cells, and the refined positions of peaks.

use crate::field::AmrField;
use crate::phew::peak_comm::PeakComm;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::props::refine::Refiner;
use rayon::prelude::*;

/// Further values of the test cells, where a run has them.
#[derive(Debug, Default)]
pub struct TestFields {
    /// Mass density, where the segmented field is something else.
    pub mass_density: Option<Vec<f64>>,
    /// Velocities: one list per axis.
    pub velocity: Option<[Vec<f64>; 3]>,
}

/// Peaks refined at once.
const PEAKS_AT_ONCE: usize = 1 << 10;

/// Completes the refined positions of own peaks and folds them into the box, in units of the level-0 cell.
///
/// Positions that are NaN are computed here. The others stay.
pub fn refine(field: &AmrField, rules: Rules, known: &PeakComm, mut refined: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    refined.par_chunks_mut(PEAKS_AT_ONCE).zip(known.own.par_chunks(PEAKS_AT_ONCE)).for_each(
        |(refined, own)| {
            let mut refiner = Refiner::new(&field.mesh, &field.rho, rules);
            for (position, slot) in refined.iter_mut().zip(own) {
                let peak = &known.known[slot.at()];
                if position[0].is_nan() {
                    *position = refiner.refined(peak.level as u8, peak.ijk);
                }
                *position = field.mesh.domain().fold(*position);
            }
        },
    );
    refined
}
