//! The noise of an image or cube.
//!
//! Sources are above 0, so the values below 0 are noise. Their standard deviation follows from the median of
//! their magnitudes. Those beyond 5 standard deviations are left out, and the median is taken again, until
//! none is left out. Ranks only count ([`inselberg_kernels::noise`]), so the result does not depend on their
//! number.

use super::observer::{NOISE, Observation};
use super::{box_attributes, is_fits};
use crate::density::DensitySource;
use crate::error::RunError;
use crate::phew::changed_snapshot::ChangedSnapshot;
use crate::progress::{Observer, Silent};
use crate::stage::Stage;
use crate::tables::column;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::units::NOISE_MEDIAN;
use inselberg_io::catalogue::{Attribute, Dimension, Table, TableColumn, Values};
use inselberg_io::{FieldDefaults, OctBlock, ReadError, ReadResult, Snapshot, open_from, read_headers_with};
use inselberg_kernels::mesh::local;
use inselberg_kernels::noise::{SIGMA_PER_MEDIAN, SelectedBits, append_below_zero};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The column of cells with their noise, where each has its own.
pub const NOISE_OF_CELLS: &str = "noise";
/// Values beyond this many standard deviations are not noise.
const CLIP: f64 = 5.0;
/// The least number of values below 0 that tell the noise.
const FEWEST: u64 = 100;

/// The noise of an image, as it is given.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenNoise {
    /// Of all pixels, in the unit of values.
    Level(f64),
    /// A FITS file with a map of the sky, or with the pixels of the image.
    File(PathBuf),
}

impl std::fmt::Display for GivenNoise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Level(sigma) => write!(f, "{sigma}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The noise of an image, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageNoise {
    /// Its standard deviation; the median of that of pixels, where these differ.
    pub sigma: f64,
    /// How it was found.
    pub origin: String,
    /// The noise of each pixel, where it is given.
    pub(crate) local: Option<Arc<NoiseOfPixels>>,
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
        given: Option<&GivenNoise>,
        comm: &Comm,
        observer: &dyn Observer,
    ) -> Result<Option<Self>, RunError> {
        let DensitySource::Cells(field) = source else { return Ok(None) };
        if !is_fits(&snapshot.attributes()) {
            return Ok(None);
        }
        let of = |sigma: f64, origin: &str| Self { sigma, origin: origin.into(), local: None };
        match given {
            Some(GivenNoise::Level(sigma)) => Ok(Some(of(*sigma, "given"))),
            Some(GivenNoise::File(path)) => {
                let local = NoiseOfPixels::read(path, snapshot)?;
                let sigma = local.median(path)?;
                let origin = format!("file {}", path.display());
                Ok(Some(Self { local: Some(Arc::new(local)), ..of(sigma, &origin) }))
            }
            None => {
                let _noise = Stage::begin("noise", 0, comm, observer);
                let parts = below_zero(snapshot, field, comm)?;
                Ok(sigma(parts, comm)?.map(|sigma| of(sigma, "values below 0")))
            }
        }
    }

    /// What a catalogue says of it.
    pub fn attributes(&self) -> Vec<(String, Attribute)> {
        let mut list = vec![
            (NOISE.into(), Attribute::Real(self.in_densities())),
            ("noise_origin".into(), Attribute::Text(self.origin.clone())),
        ];
        list.extend(self.local.as_ref().map(|_| (NOISE_MEDIAN.into(), Attribute::Real(self.sigma))));
        list
    }

    /// The noise of cells, which are pixels; `None` if all have the same. NaN where there is none.
    pub(crate) fn of_cells(&self, cells: &Table) -> Option<TableColumn> {
        let (local, places) = (self.local.as_ref()?, cells.positions("ijk")?);
        let of = |at: &[u32; 3]| Some(local.at(*at)).filter(|noise| noise.is_finite()).unwrap_or(f64::NAN);
        let values = Values::F64(places.iter().map(of).collect());
        Some(column(NOISE_OF_CELLS, Dimension::NONE, "noise of the pixel, the unit of its density", values))
    }

    /// Whether each pixel has its own.
    pub(crate) fn is_local(&self) -> bool {
        self.local.is_some()
    }

    /// The standard deviation in the unit of the densities that are searched.
    pub(crate) fn in_densities(&self) -> f64 {
        if self.is_local() { 1.0 } else { self.sigma }
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
        Self::of_snapshot(snapshot, source, None, &Comm::solo(), &Silent)
    }
}

/// The noise of each pixel.
#[derive(Debug, PartialEq)]
pub struct NoiseOfPixels {
    /// Pixels along each axis of the box; 1 along the spectral axis of a map.
    size: [u32; 3],
    /// x fastest. Infinite where there is none.
    values: Vec<f64>,
}

impl NoiseOfPixels {
    /// Local: of the pixels of `image`, or of its places on the sky. Holds them all.
    fn read(path: &Path, image: &dyn Snapshot) -> Result<Self, RunError> {
        let facts = read_headers_with(path, &FieldDefaults::default())?;
        let snapshot = open_from(&facts);
        let wrong = |problem: String, expected: String| {
            RunError::from(ReadError::content(path, "noise", problem, expected))
        };
        let attributes: Vec<_> =
            box_attributes(image.header()).into_iter().chain(image.attributes()).collect();
        let observed = Observation::from_attributes(&attributes)
            .ok_or_else(|| wrong("noise of no FITS image".into(), "a FITS image that is searched".into()))?;
        let (size, found) = (observed.size, sizes_of(snapshot.as_ref()));
        let mut on_sky = observed.sky_axes;
        on_sky.sort_unstable();
        let of_map = |axis: usize| if on_sky.contains(&axis) { size[axis] } else { 1 };
        let map: [u32; 3] = std::array::from_fn(of_map);
        let [x, y] = on_sky.map(|axis| size[axis]);
        let own = match found {
            found if found == size => size,
            [a, b, 1] if [a, b] == [x, y] => map,
            [a, b, c] => {
                let [nx, ny, nz] = size;
                let expected = format!("those of the image, {nx} x {ny} x {nz}, or of its sky, {x} x {y}");
                return Err(wrong(format!("{a} x {b} x {c} pixels"), expected));
            }
        };
        let mut values = vec![f64::INFINITY; own.iter().map(|n| *n as usize).product()];
        let field = snapshot.fields()[0].name.clone();
        for piece in 0..snapshot.header().n_pieces {
            snapshot.octs(piece, &[field.as_str()], &mut |block| {
                let octs = block.position.iter().zip(&block.split).zip(&block.values[0]);
                for ((oct, absent), noise) in octs {
                    for i in local::bits(u64::from(!absent)) {
                        let [x, y, z] = local::child_of(*oct, i).map(|x| x as usize);
                        // Files have their pixels in this order, whatever the axes of a map are.
                        let at = (z * found[1] as usize + y) * found[0] as usize + x;
                        if noise[i as usize].is_finite() && noise[i as usize] > 0.0 {
                            values[at] = noise[i as usize];
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(Self { size: own, values })
    }

    /// The noise of a pixel.
    fn at(&self, position: [u32; 3]) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|axis| if self.size[axis] == 1 { 0 } else { position[axis] as usize });
        self.values[(z * self.size[1] as usize + y) * self.size[0] as usize + x]
    }

    /// The median of the noise of pixels that have some.
    fn median(&self, path: &Path) -> Result<f64, RunError> {
        let known: Vec<f64> = self.values.iter().copied().filter(|noise| noise.is_finite()).collect();
        match known.len() {
            0 => Err(ReadError::absent(path, "no value above 0; expected the noise of pixels").into()),
            n => Ok(Magnitudes::new(vec![known], &Comm::solo())?.median_of_least(n as u64)?),
        }
    }

    /// An image whose values of `field` are over their noise; those of the input have the name `unchanged`.
    pub(crate) fn over_noise<'a>(
        &'a self,
        snapshot: &'a dyn Snapshot,
        field: &'a str,
        unchanged: &'a str,
    ) -> ChangedSnapshot<'a> {
        let change = move |column: usize, block: &mut OctBlock| {
            for (oct, values) in block.position.iter().zip(&mut block.values[column]) {
                (0..8).for_each(|i| {
                    let cell = local::child_of(*oct, i);
                    let is_inside = (0..3).all(|a| self.size[a] == 1 || cell[a] < self.size[a]);
                    values[i as usize] /= if is_inside { self.at(cell) } else { 1.0 };
                });
            }
        };
        ChangedSnapshot {
            inner: snapshot,
            field,
            unchanged: Some(unchanged),
            change: Box::new(change),
            beyond: Box::new(|value| value),
        }
    }
}

/// Pixels along each axis of the box of an image.
fn sizes_of(snapshot: &dyn Snapshot) -> [u32; 3] {
    let header = snapshot.header();
    header.coarse.map(|n| n << header.levelmin)
}

/// Local: whether the values of an image tell its noise. Reads only as many as are needed for that.
///
/// # Errors
/// The image cannot be read.
pub fn tells_noise(snapshot: &dyn Snapshot) -> ReadResult<bool> {
    let (Some(field), mut n) = (snapshot.fields().first(), 0) else { return Ok(false) };
    for piece in 0..if is_fits(&snapshot.attributes()) { snapshot.header().n_pieces } else { 0 } {
        snapshot.leaf_values(piece, &field.name, &mut |values| {
            let mut below = Vec::new();
            append_below_zero(values, &mut below);
            n += below.len() as u64;
            Ok(())
        })?;
        if n >= FEWEST {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The values below 0 in each piece of this rank.
fn below_zero(snapshot: &dyn Snapshot, field: &str, comm: &Comm) -> ReadResult<Vec<Vec<f64>>> {
    let of_piece = |piece: usize| {
        let mut below = Vec::new();
        snapshot.leaf_values(piece, field, &mut |values| {
            append_below_zero(values, &mut below);
            Ok(())
        })?;
        Ok(below)
    };
    let pieces = (comm.rank().at()..snapshot.header().n_pieces).into_par_iter().step_by(comm.n_ranks());
    pieces.map(of_piece).collect()
}

/// Collective: the standard deviation of these values, which are those below 0.
fn sigma(parts: Vec<Vec<f64>>, comm: &Comm) -> Result<Option<f64>, CommError> {
    let mut magnitudes = Magnitudes::new(parts, comm)?;
    let mut n = magnitudes.n;
    if n < FEWEST {
        return Ok(None);
    }
    loop {
        let sigma = SIGMA_PER_MEDIAN * magnitudes.median_of_least(n)?;
        let left = magnitudes.n_below(CLIP * sigma)?;
        if left == n || left < FEWEST {
            return Ok(Some(sigma));
        }
        n = left;
    }
}

/// The magnitudes of values on all ranks, of which any is found by its place in their order. Clipping leaves
/// out the greatest ones, so the order of the others never changes, and no list is made shorter.
struct Magnitudes<'a> {
    comm: &'a Comm,
    parts: Vec<Vec<f64>>,
    /// Values on all ranks.
    n: u64,
    /// Values on all ranks by the first bits of their magnitudes.
    by_first_bits: Vec<u64>,
    /// Values of this rank that begin with these bits, as the value that was found last. They are few.
    alike: (SelectedBits, Vec<Vec<f64>>),
}

impl<'a> Magnitudes<'a> {
    /// Collective.
    fn new(parts: Vec<Vec<f64>>, comm: &'a Comm) -> Result<Self, CommError> {
        let by_first_bits = counts(&SelectedBits::default(), &parts, comm)?;
        let n = by_first_bits.iter().sum();
        Ok(Self { comm, parts, n, by_first_bits, alike: Default::default() })
    }

    /// Collective: how many are below a limit.
    fn n_below(&self, limit: f64) -> Result<u64, CommError> {
        let of_part = |values: &Vec<f64>| values.iter().filter(|value| value.abs() < limit).count() as u64;
        Ok(self.comm.all_reduce_counts(&[self.parts.par_iter().map(of_part).sum()], Reduce::Sum)?[0])
    }

    /// Collective: the median of the `n` least.
    fn median_of_least(&mut self, n: u64) -> Result<f64, CommError> {
        let [low, high] = [self.at((n - 1) / 2)?, self.at(n / 2)?];
        Ok(if low == high { low } else { 0.5 * (low + high) })
    }

    /// Collective: the one with `rank` magnitudes below it.
    fn at(&mut self, rank: u64) -> Result<f64, CommError> {
        let mut selected = SelectedBits::default();
        let mut rank = take_next(&mut selected, &self.by_first_bits, rank);
        if self.alike.0 != selected {
            let begins = |value: &f64| selected.begins(*value);
            let alike = |values: &Vec<f64>| values.iter().copied().filter(begins).collect();
            self.alike = (selected, self.parts.par_iter().map(alike).collect());
        }
        loop {
            if let Some(value) = selected.value() {
                return Ok(value);
            }
            let counts = counts(&selected, &self.alike.1, self.comm)?;
            rank = take_next(&mut selected, &counts, rank);
        }
    }
}

/// Takes the next bits of the value with `rank` values below it. Returns its rank among the values that begin
/// alike.
fn take_next(selected: &mut SelectedBits, counts: &[u64], rank: u64) -> u64 {
    selected.take(counts, rank).expect("ranks are below the number of values")
}

/// Collective: values on all ranks that begin with the selected bits, by their next bits.
fn counts(selected: &SelectedBits, parts: &[Vec<f64>], comm: &Comm) -> Result<Vec<u64>, CommError> {
    let counted = parts.par_iter().fold(SelectedBits::no_counts, |mut counts, values| {
        selected.count(values, &mut counts);
        counts
    });
    let here = counted.reduce(SelectedBits::no_counts, |mut a, b| {
        a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
        a
    });
    comm.all_reduce_counts(&here, Reduce::Sum)
}
