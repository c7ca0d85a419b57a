//! The noise of an image or cube.
//!
//! Sources are above 0, so the values below 0 are noise. Their standard deviation follows from the median of
//! their magnitudes, without those beyond 5 standard deviations, until that leaves out no more. Ranks count
//! ([`inselberg_kernels::noise`]), so the result is the same for any number of them.

use super::has_axes;
use super::params::ImageParams;
use crate::density::DensitySource;
use crate::error::RunError;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::Attribute;
use inselberg_io::{ReadResult, Snapshot};
use inselberg_kernels::mesh::local;
use inselberg_kernels::noise::{SIGMA_PER_MEDIAN, SelectedBits};
use rayon::prelude::*;

/// Values beyond as many standard deviations are no noise.
const CLIP: f64 = 5.0;
/// Fewer values below 0 say nothing about noise.
const FEWEST: u64 = 100;
/// Values of a part that one thread counts.
const PART: usize = 1 << 18;

/// The noise of an image, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageNoise {
    /// Its standard deviation.
    pub sigma: f64,
    /// How it was found.
    pub origin: String,
}

impl ImageNoise {
    /// Collective: the given noise of the image, or that of its values below 0. `None` of inputs that are no
    /// FITS images, and if fewer than 100 values are below 0.
    ///
    /// # Errors
    /// The image cannot be read, or another rank fails.
    pub fn of_snapshot(
        snapshot: &dyn Snapshot,
        source: DensitySource,
        params: &ImageParams,
        comm: &Comm,
    ) -> Result<Option<Self>, RunError> {
        let DensitySource::Cells(field) = source else { return Ok(None) };
        if !has_axes(&snapshot.attributes()) {
            return Ok(None);
        }
        if let Some(sigma) = params.noise {
            return Ok(Some(Self { sigma, origin: "given".into() }));
        }
        let values = below_zero(snapshot, field, comm)?;
        let sigma = sigma(values, comm)?;
        Ok(sigma.map(|sigma| Self { sigma, origin: "values below 0".into() }))
    }

    /// What a catalogue says of it.
    pub fn attributes(&self) -> [(String, Attribute); 2] {
        let origin = Attribute::Text(self.origin.clone());
        [(super::observer::NOISE.into(), Attribute::Real(self.sigma)), ("noise_origin".into(), origin)]
    }
}

impl ImageNoise {
    /// Local: the noise of a FITS image by its values below 0. As [`Self::of_snapshot`].
    ///
    /// # Errors
    /// The image cannot be read.
    pub fn of_image(snapshot: &dyn Snapshot) -> Result<Option<Self>, RunError> {
        let Some(field) = snapshot.fields().first() else { return Ok(None) };
        let source = DensitySource::Cells(&field.name);
        Self::of_snapshot(snapshot, source, &ImageParams::default(), &Comm::solo())
    }
}

/// The values below 0 in the pieces of this rank.
fn below_zero(snapshot: &dyn Snapshot, field: &str, comm: &Comm) -> ReadResult<Vec<f64>> {
    let of_piece = |piece: usize| {
        let mut below = Vec::new();
        snapshot.octs(piece, &[field], &mut |block| {
            for (absent, values) in block.split.iter().zip(&block.values[0]) {
                let cells = local::bits(u64::from(!absent)).map(|i| values[i as usize]);
                below.extend(cells.filter(|value| *value < 0.0 && value.is_finite()));
            }
            Ok(())
        })?;
        Ok(below)
    };
    let pieces = (comm.rank().at()..snapshot.header().n_pieces).into_par_iter().step_by(comm.n_ranks());
    let parts = pieces.map(of_piece).collect::<ReadResult<Vec<Vec<f64>>>>()?;
    Ok(parts.concat())
}

/// Collective: the standard deviation of these values, which are those below 0.
fn sigma(mut values: Vec<f64>, comm: &Comm) -> Result<Option<f64>, CommError> {
    let mut n = total(&values, comm)?;
    if n < FEWEST {
        return Ok(None);
    }
    loop {
        let sigma = SIGMA_PER_MEDIAN * median(&values, n, comm)?;
        values.retain(|value| *value > -CLIP * sigma);
        let left = total(&values, comm)?;
        if left == n || left < FEWEST {
            return Ok(Some(sigma));
        }
        n = left;
    }
}

fn total(values: &[f64], comm: &Comm) -> Result<u64, CommError> {
    Ok(comm.all_reduce_counts(&[values.len() as u64], Reduce::Sum)?[0])
}

/// Collective: the median of the magnitudes of `n` values.
fn median(values: &[f64], n: u64, comm: &Comm) -> Result<f64, CommError> {
    let (below, above) = (ranked(values, (n - 1) / 2, comm)?, ranked(values, n / 2, comm)?);
    Ok(0.5 * (below + above))
}

/// Collective: the magnitude with `rank` magnitudes below it.
fn ranked(values: &[f64], mut rank: u64, comm: &Comm) -> Result<f64, CommError> {
    let mut selected = SelectedBits::default();
    loop {
        if let Some(value) = selected.value() {
            return Ok(value);
        }
        let joined = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            a
        };
        let here = values.par_chunks(PART).map(|part| selected.counts(part)).reduce_with(joined);
        let here = here.unwrap_or_else(|| selected.counts(&[]));
        let counts = comm.all_reduce_counts(&here, Reduce::Sum)?;
        rank = selected.take(&counts, rank).expect("ranks are below the number of values");
    }
}
