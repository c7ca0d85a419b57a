//! `tree`: everything that other thresholds need, one row per peak in the order of the cells.

use crate::phew::peaks::{OwnTree, PeakProminence, Peaks};
use crate::phew::prominence;
use crate::phew::tables::error::RecutError;
use crate::phew::tables::header::RecutHeader;
use crate::phew::tables::stored::{StoredTable, peak_of_row};
use crate::phew::tables::ties::read_ties;
use crate::tables::column;
use inselberg_io::catalogue::{Catalogue, Dimension, Table, TableColumn, Values};
use inselberg_kernels::geom::cell_centre;
use inselberg_kernels::ids::{PeakIdx, PeakName};
use inselberg_kernels::phew::significance::Prominence;
use inselberg_kernels::phew::tree::{Death, MergeTree};
use inselberg_kernels::props::sums::{MASS, MOMENT, VOLUME};
use inselberg_kernels::props::{PatchValues, PixelValues};
use rayon::prelude::*;

/// The column with the significance of peaks, in densities that are made of particles. Old catalogues lack
/// it.
const SIGNIFICANCE: &str = "significance";

/// The column with the mass above the saddle.
const MASS_ABOVE: &str = "mass_above_saddle";

/// The same of the component into which a peak dies, above the same saddle. Catalogues of version 0.1 may
/// lack both.
const ELDER_SIGNIFICANCE: &str = "elder_significance";

/// The column with the mass there.
const ELDER_MASS_ABOVE: &str = "elder_mass_above_saddle";

/// The table of the peaks.
pub fn tree_table(peaks: &Peaks, peak_rank: &[u64]) -> Table {
    let mut columns = place_columns(peaks, peak_rank);
    columns.extend(death_columns(peaks));
    columns.extend(patch_columns(peaks));
    columns.extend(peaks.pixels.iter().flat_map(|pixels| pixel_columns(pixels)));
    columns.extend(prominence_columns(peaks));
    Table { name: "tree".into(), columns }
}

fn place_columns(peaks: &Peaks, peak_rank: &[u64]) -> Vec<TableColumn> {
    let centre = |(level, ijk): (&u8, &[u32; 3])| peaks.space.place(cell_centre(*level, *ijk));
    let positions = peaks.level.par_iter().zip(&peaks.ijk).map(centre).collect();
    let (none, length) = (Dimension::NONE, Dimension::LENGTH);
    let rank = Values::U64(copied(peak_rank));
    let ijk = Values::U32x3(copied(&peaks.ijk));
    vec![
        column("peak_rank", none, "place of the peak by falling density, from 1", rank),
        column("level", none, "level of the peak's cell", Values::U8(copied(&peaks.level))),
        column("ijk", none, "integer position of the peak's cell on the grid of its level", ijk),
        column("position", length, "centre of the peak's cell", Values::F64x3(positions)),
        column(
            "position_refined",
            length,
            "refined position of the peak",
            Values::F64x3(copied(&peaks.refined)),
        ),
        column("density", Dimension::DENSITY, "density of the peak", Values::F64(copied(&peaks.tree.rho))),
    ]
}

fn death_columns(peaks: &Peaks) -> Vec<TableColumn> {
    let row = |p: PeakIdx| if p.is_none() { 0 } else { peaks.name_of(p).number() + 1 };
    let deaths = &peaks.tree.death;
    let saddle = Values::F64(deaths.par_iter().map(|d| d.saddle).collect());
    let near = Values::U64(deaths.par_iter().map(|d| row(d.near)).collect());
    let endpoint = Values::U64(deaths.par_iter().map(|d| row(d.endpoint)).collect());
    let position = Values::F64x3(copied(&peaks.saddle_position));
    let (none, meets) =
        (Dimension::NONE, "density of the saddle where the peak's component meets a higher peak's");
    vec![
        column("death_saddle", Dimension::DENSITY, &format!("{meets}; 0 if never"), saddle),
        column(
            "death_near",
            none,
            "row, from 1, of the patch on the near side of that saddle; 0 if none",
            near,
        ),
        column(
            "endpoint",
            none,
            "row, from 1, of the patch on the far side of that saddle; 0 if none",
            endpoint,
        ),
        column("death_position", Dimension::LENGTH, "where that saddle is; NaN if none", position),
    ]
}

fn patch_columns(peaks: &Peaks) -> Vec<TableColumn> {
    let patches = &peaks.patches;
    let sum = |i: usize| Values::F64(patches.par_iter().map(|p| p.sums[i]).collect());
    let moments = Values::F64x3(patches.par_iter().map(|p| [0, 1, 2].map(|a| p.sums[MOMENT + a])).collect());
    let cells = Values::U64(patches.par_iter().map(|p| p.n_cells).collect());
    let least = Values::F64(patches.par_iter().map(|p| p.rho_min).collect());
    let (moment, momentum) = (Dimension::new(1, 1, 0), Dimension::new(1, 1, -1));
    let mut columns = vec![
        column("n_cells", Dimension::NONE, "leaf cells of the patch", cells),
        column("density_min", Dimension::DENSITY, "least density of the patch", least),
        column("volume", Dimension::VOLUME, "volume of the patch", sum(VOLUME)),
        column("mass", Dimension::MASS, "mass of the patch", sum(MASS)),
        column("mass_moment", moment, "sum over its cells of mass times displacement from the peak", moments),
    ];
    if let Some(momenta) = &peaks.momenta {
        columns.push(column(
            "momentum",
            momentum,
            "sum over its cells of mass times velocity",
            Values::F64x3(copied(momenta)),
        ));
    }
    columns
}

/// Columns of patches of an image.
fn pixel_columns(pixels: &[PixelValues]) -> Vec<TableColumn> {
    let vector = |first: usize| {
        Values::F64x3(pixels.par_iter().map(|p| [0, 1, 2].map(|a| p.sums[first + a])).collect())
    };
    let place = |of: fn(&PixelValues) -> [u32; 3]| Values::U32x3(pixels.par_iter().map(of).collect());
    let touches = Values::U8(pixels.par_iter().map(|p| p.touches_blank.into()).collect());
    let [square, length, area] = [Dimension::new(2, 1, 0), Dimension::LENGTH, Dimension::new(2, 0, 0)];
    let sums = [
        (square, "sum over its pixels of mass times the squares of the displacement from the peak"),
        (square, "the same of the products yz, zx and xy"),
        (length, "sum over its pixels of the displacement from the peak"),
        (area, "sum over its pixels of the squares of the displacement from the peak"),
    ];
    let sums = PIXEL_SUMS.iter().zip(sums).enumerate();
    let sums = sums.map(|(i, (name, (dimension, text)))| column(name, dimension, text, vector(3 * i)));
    let none = Dimension::NONE;
    let [low, high, blank] = PIXEL_EXTENT;
    let others = [
        column(low, none, "least position of its pixels along each axis", place(|p| p.low)),
        column(high, none, "greatest position of its pixels along each axis", place(|p| p.high)),
        column(blank, none, "1 if a pixel shares a face with one without a value", touches),
    ];
    sums.chain(others).collect()
}

/// The columns with sums over pixels, three each.
const PIXEL_SUMS: [&str; 4] = ["square_moment", "product_moment", "offset_sum", "offset_square_sum"];
/// The columns with the extent of patches.
const PIXEL_EXTENT: [&str; 3] = ["pixel_min", "pixel_max", "touches_blank"];

/// The pixels of the patches of a stored tree; `None` of catalogues that have none.
fn read_pixels(stored: &StoredTable) -> Result<Option<Vec<PixelValues>>, RecutError> {
    let [low, high, blank] = PIXEL_EXTENT;
    if stored.0.column(low).is_none() {
        return Ok(None);
    }
    let sums = PIXEL_SUMS.iter().map(|name| stored.vectors(name)).collect::<Result<Vec<_>, _>>()?;
    let (low, high, blank) = (stored.positions(low)?, stored.positions(high)?, stored.bytes(blank)?);
    let of_patch = |i: usize| PixelValues {
        sums: std::array::from_fn(|k| sums[k / 3][i][k % 3]),
        low: low[i],
        high: high[i],
        touches_blank: blank[i] != 0,
    };
    Ok(Some((0..low.len()).map(of_patch).collect()))
}

/// Columns of densities that are made of particles.
fn prominence_columns(peaks: &Peaks) -> Vec<TableColumn> {
    let Some(of_peaks) = &peaks.prominence else { return Vec::new() };
    let values = |of: fn(&PeakProminence) -> f64| Values::F64(of_peaks.par_iter().map(of).collect());
    vec![
        column(
            SIGNIFICANCE,
            Dimension::NONE,
            "excess of mass above that saddle, or the density threshold, over the shot noise of particles",
            values(|of| of.prominence.significance),
        ),
        column(
            MASS_ABOVE,
            Dimension::MASS,
            "mass above that saddle or threshold, in the patches of the peak and of all peaks that die into it",
            values(|of| of.prominence.mass),
        ),
        column(
            ELDER_SIGNIFICANCE,
            Dimension::NONE,
            "significance above that saddle of the component into which the peak dies; NaN if none, or where that of the peak is \
             below 1",
            values(|of| of.of_elder.significance),
        ),
        column(
            ELDER_MASS_ABOVE,
            Dimension::MASS,
            "mass above that saddle in the component into which the peak dies; NaN likewise",
            values(|of| of.of_elder.mass),
        ),
    ]
}

/// A copy, made by all threads: new memory takes longer than the copying.
fn copied<T: Copy + Send + Sync>(values: &[T]) -> Vec<T> {
    values.par_iter().copied().collect()
}

/// The peaks of a stored catalogue.
///
/// # Errors
/// When the catalogue has no sound `tree`.
pub fn read_tree(catalogue: &Catalogue, header: &RecutHeader) -> Result<Peaks, RecutError> {
    let table = catalogue.table("tree").ok_or(RecutError::NoTable("tree"))?;
    let stored = StoredTable(table);
    let level = stored.bytes("level")?;
    let ijk = stored.positions("ijk")?;
    let n = level.len();
    let rows = |name| {
        let rows = stored.counts(name)?;
        rows.iter().map(|&row| peak_of_row(row, n, name)).collect::<Result<Vec<_>, _>>()
    };
    let (near, endpoint, saddle) = (rows("death_near")?, rows("endpoint")?, stored.reals("death_saddle")?);
    let death = (0..n).map(|i| Death { saddle: saddle[i], near: near[i], endpoint: endpoint[i] }).collect();
    let tree = MergeTree { rho: stored.reals("density")?, death };
    let wrong_death = tree.first_fault();
    let momenta = table.column("momentum").map(|_| stored.vectors("momentum")).transpose()?;
    let (n_cells, rho_min) = (stored.counts("n_cells")?, stored.reals("density_min")?);
    let (volume, mass, moment) =
        (stored.reals("volume")?, stored.reals("mass")?, stored.vectors("mass_moment")?);
    let patch = |i: usize| {
        let [x, y, z] = moment[i];
        PatchValues { n_cells: n_cells[i], rho_min: rho_min[i], sums: [volume[i], mass[i], x, y, z] }
    };
    let patches = (0..n).map(patch).collect();
    let peaks = Peaks {
        name: (0..n).map(|row| PeakName::new(row as u64, 0)).collect(),
        n_global: n as u64,
        space: header.space,
        density_threshold: header.density_threshold,
        tree: OwnTree::from_whole(tree),
        ties: Vec::new(),
        refined: stored.vectors("position_refined")?,
        saddle_position: stored.vectors("death_position")?,
        patches,
        momenta,
        pixels: read_pixels(&stored)?,
        prominence: None,
        level,
        ijk,
    };
    let of_death = || wrong_death.map(|p| (p.at(), "death ends no component in a higher one"));
    match first_fault(&peaks).or_else(of_death) {
        Some((row, what)) => Err(RecutError::Unsound { row: row + 1, what }),
        None => {
            let prominence = read_prominence(&stored)?.map(|list| prominence::of_stored(&peaks, &list));
            Ok(Peaks { ties: read_ties(catalogue, &peaks.tree)?, prominence, ..peaks })
        }
    }
}

/// The prominences of the peaks of a sound tree, and those of their elders; `None` in catalogues that have
/// none. Those of elders are unknown in older catalogues.
fn read_prominence(stored: &StoredTable) -> Result<Option<Vec<[Prominence; 2]>>, RecutError> {
    let of = |[significance, mass]: [&'static str; 2]| -> Result<_, RecutError> {
        if stored.0.column(significance).is_none() {
            return Ok(None);
        }
        let both = stored.reals(significance)?.into_iter().zip(stored.reals(mass)?);
        Ok(Some(both.map(|(significance, mass)| Prominence { significance, mass }).collect::<Vec<_>>()))
    };
    let Some(of_peaks) = of([SIGNIFICANCE, MASS_ABOVE])? else { return Ok(None) };
    let of_elders = of([ELDER_SIGNIFICANCE, ELDER_MASS_ABOVE])?;
    let of_elders = of_elders.unwrap_or_else(|| vec![Prominence::UNKNOWN; of_peaks.len()]);
    Ok(Some(of_peaks.into_iter().zip(of_elders).map(|(peak, elder)| [peak, elder]).collect()))
}

/// The first row, from 0, that no run writes, and what is wrong with it.
fn first_fault(peaks: &Peaks) -> Option<(usize, &'static str)> {
    let (domain, tree) = (&peaks.space.domain, &peaks.tree);
    let is_inside = |p: usize| {
        let (level, ijk) = (peaks.level[p], peaks.ijk[p].map(i64::from));
        domain.holds_level(level) && ijk.iter().zip(domain.extent(level)).all(|(x, n)| *x < n)
    };
    let is_finite = |p: usize| {
        let patch = &peaks.patches[p];
        let momentum = peaks.momenta.iter().flat_map(|momenta| &momenta[p]);
        let of_pixels = peaks.pixels.iter().flat_map(|pixels| &pixels[p].sums);
        let momentum = momentum.chain(of_pixels);
        let mut values = patch.sums.iter().chain(momentum).chain(&peaks.refined[p]).chain([&patch.rho_min]);
        values.all(|x| x.is_finite())
    };
    let has_cells = |p: usize| (1..1 << 32).contains(&peaks.patches[p].n_cells);
    let is_dense = |p: usize| tree.rho[p].is_finite() && tree.rho[p] > peaks.density_threshold;
    (0..peaks.len()).find_map(|p| match p {
        _ if !is_inside(p) => Some((p, "cell is not in the box")),
        _ if !is_dense(p) => Some((p, "density is not above the threshold")),
        _ if !has_cells(p) => Some((p, "number of cells is out of range")),
        _ if !is_finite(p) => Some((p, "sums are not finite")),
        _ => None,
    })
}
