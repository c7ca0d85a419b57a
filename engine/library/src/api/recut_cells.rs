//! A higher density threshold for a stored catalogue: its cells are segmented again.

use crate::api::cells::{Cells, Geometry};
use crate::api::engine::Engine;
use crate::error::{Error, ErrorKind};
use crate::phew::PhewParams;
use crate::phew::recut::{NewCut, NewThresholds, of_new_run};
use crate::phew::tables::PEAK;
use inselberg_io::catalogue::{Catalogue, Table, Values};
use inselberg_kernels::geom::Domain;
use std::collections::HashMap;

/// The relative difference up to which masses of the tree are those of the cells.
const SAME_MASS: f64 = 1e-9;

/// The catalogue that a run with these thresholds writes, with its table of cells.
///
/// # Errors
/// The catalogue lacks cells with densities, or what a run finds besides these; a threshold does not fit.
pub fn recut_cells(stored: &Catalogue, thresholds: &NewThresholds) -> Result<Catalogue, Error> {
    let cut = NewCut::new(stored, thresholds)?;
    let (old, new) = (cut.header.density_threshold, cut.thresholds.density);
    if new < old {
        let unit = cut.header.unit;
        let message = format!(
            "density threshold {} is below {}, that of the catalogue; expected at least that, or a new run of \
             `inselberg phew`",
            new / unit,
            old / unit
        );
        return Err(refused(&message));
    }
    let cells = sound_cells(stored, &cut)?;
    let parts = (cells.bytes("level"), cells.positions("ijk"), cells.reals("density"));
    let (Some(levels), Some(ijk), Some(density)) = parts else { return Err(refused(NO_CELLS)) };
    check_masses(stored, &cut, (levels, density))?;
    let Domain { coarse, periodic } = cut.header.space.domain;
    let geometry = Geometry::cube(cut.header.space.side).coarse(coarse).periodic(periodic);
    let mut params = PhewParams::from(cut.thresholds).rules(cut.header.rules).with_cells(true);
    params = params.stability(cut.has_stability);
    params.bound.central = cut.header.central;
    let mut engine = Engine::builder().threads(rayon::current_num_threads()).build()?;
    let cells = Cells::from_leaves(geometry, levels, ijk)?;
    let found = engine.phew(&cells, density, &params)?;
    let mut whole = found.gather(0)?.expect("a rank alone has everything");
    keep_refined(stored, &mut whole)?;
    Ok(of_new_run(stored, whole, &cut))
}

/// Whether a higher density threshold can segment the cells of a catalogue again.
pub fn has_cells_to_cut(stored: &Catalogue) -> bool {
    let is_sound = || {
        let cut = NewCut::new(stored, &NewThresholds::default()).ok()?;
        let cells = sound_cells(stored, &cut).ok()?;
        check_masses(stored, &cut, (cells.bytes("level")?, cells.reals("density")?)).ok()
    };
    stored.table("cells").is_some() && is_sound().is_some()
}

const NO_CELLS: &str = "a new density threshold, and no table `cells` with densities; expected a catalogue of \
                        `inselberg phew --with-cells`";

fn refused(message: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, message.to_string())
}

/// The cells, if a run on them alone finds all that the catalogue has.
fn sound_cells<'a>(stored: &'a Catalogue, cut: &NewCut) -> Result<&'a Table, Error> {
    let cells = stored.table("cells").ok_or_else(|| refused(NO_CELLS))?;
    let tree = stored.table("tree");
    let has = |name: &str| tree.is_some_and(|tree| tree.column(name).is_some());
    let problem = match () {
        () if cells.column(PEAK).is_some() => "it is of an image, whose noise the cells do not have",
        () if cells.column("selected").is_some() => "only a part of its cells was searched",
        () if has("significance") => "its density is made of particles, which the cells do not have",
        () if cut.header.space.origin != [0.0; 3] => "its box has a corner of its own",
        () => return Ok(cells),
    };
    Err(refused(&format!("a new density threshold, and {problem}; expected a new run of `inselberg phew`")))
}

/// Gives peaks the refined positions that they have in the stored tree. An output may give split cells values
/// of their own, which enter these positions and are not among the leaves.
fn keep_refined(stored: &Catalogue, found: &mut Catalogue) -> Result<(), Error> {
    let of_peaks = |catalogue: &Catalogue| {
        let tree = catalogue.table("tree")?;
        let places = tree.bytes("level")?.iter().copied().zip(tree.positions("ijk")?.iter().copied());
        Some((
            places.collect::<Vec<_>>(),
            tree.counts("peak_rank")?.to_vec(),
            tree.vectors(REFINED)?.to_vec(),
        ))
    };
    let broken =
        || refused("the table `tree` has no sound positions; expected one written by `inselberg phew`");
    let (places, _, refined) = of_peaks(stored).ok_or_else(broken)?;
    let of_place: HashMap<(u8, [u32; 3]), [f64; 3]> = places.into_iter().zip(refined).collect();
    let (places, ranks, _) = of_peaks(found).expect("a run writes its tree");
    // Each peak above the new threshold was one above the old one.
    let refined = places.iter().map(|place| of_place.get(place).copied());
    let refined = refined.collect::<Option<Vec<_>>>().ok_or_else(broken)?;
    let of_rank: HashMap<u64, [f64; 3]> = ranks.into_iter().zip(refined.iter().copied()).collect();
    for table in &mut found.tables {
        let ranks = table.counts("peak_rank").map(<[u64]>::to_vec);
        let name = if table.name == "tree" { REFINED } else { "peak_position_refined" };
        let column = table.columns.iter_mut().find(|column| column.name == name);
        if let (Some(ranks), Some(column)) = (ranks, column) {
            column.values = Values::F64x3(ranks.iter().map(|rank| of_rank[rank]).collect());
        }
    }
    Ok(())
}

/// The column of the tree with refined positions.
const REFINED: &str = "position_refined";

/// Whether the masses of patches are sums of the densities of the cells, as they are in a run on cells alone.
fn check_masses(stored: &Catalogue, cut: &NewCut, (levels, density): (&[u8], &[f64])) -> Result<(), Error> {
    let side = cut.header.space.side;
    let volume = |level: u8| (side * 0.5_f64.powi(i32::from(level))).powi(3);
    let tests = levels.iter().zip(density).filter(|(_, rho)| **rho > cut.header.density_threshold);
    let of_cells: f64 = tests.map(|(level, rho)| rho * volume(*level)).sum();
    let masses = stored.table("tree").and_then(|tree| tree.reals("mass"));
    let of_tree: f64 =
        masses.ok_or_else(|| refused("no masses in the table `tree`; expected some"))?.iter().sum();
    if (of_cells - of_tree).abs() <= SAME_MASS * of_tree.abs() {
        return Ok(());
    }
    let message = "a new density threshold, and the masses of the catalogue are not those of its densities; expected \
                   a new run of `inselberg phew`";
    Err(refused(message))
}
