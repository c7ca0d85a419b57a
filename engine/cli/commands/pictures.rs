//! The picture and the report of a search.

use super::driver::RunCosts;
use super::fault::CommandError;
use super::picture_title;
use super::preflight::REPORT_PAGE;
use crate::config::{CubeRegion, MapChoices, MapRegion, ShownResults};
use crate::report::page::{ReportData, Zoom, cube_view, page, whole_view, zoom_views};
use crate::report::plot::sky_axes::{ShownValues, shown_values};
use crate::report::plot::{Beside, PictureData, stage_plot};
use crate::report::{DisplayUnits, RankReport, UnitChoice};
use inselberg::phew::image::{ImageSky, is_flat};
use inselberg::stage::Stage;
use inselberg::{DensityMap, FoundCatalogue, MapBox, Region, View};
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::catalogue::{Attribute, Catalogue};
use inselberg_io::params::InputScale;
use inselberg_io::staging::{Staged, hidden, stage_file};
use std::path::Path;

/// The maps of a search; empty except on rank 0.
pub struct ShownMaps {
    space: MapBox,
    maps: Vec<DensityMap>,
    zooms: Vec<Zoom>,
}

/// The description of a search.
pub struct RunAbout<'a> {
    /// The file or folder of the input.
    pub input: &'a Path,
    /// Names and values of the input and the search.
    pub facts: Vec<(&'static str, String)>,
    /// Notes for readers.
    pub warnings: Vec<String>,
    /// Counts by name.
    pub counts: Vec<(&'static str, Option<i64>)>,
    /// Another name of the code unit of density.
    pub code_density: Option<&'static str>,
    /// What the stages process.
    pub things: &'static str,
    /// The costs of the run.
    pub costs: &'a RunCosts,
}

/// Collective: the maps of what was found, with objects of the tables `zoomed`. What they are made of is then
/// freed.
///
/// # Errors
/// As [`views`], and when a view cannot be made.
pub fn maps(
    input: &Path,
    shown: &ShownResults,
    found: &mut FoundCatalogue,
    zoomed: &[&str],
    comm: &Comm,
) -> Result<ShownMaps, CommandError> {
    let _maps = Stage::within("picture", comm);
    let failed = |error| CommandError::of_call(input, &error);
    let lists = match zoomed {
        [] => None,
        tables => found.gather_tables(tables).map_err(failed)?,
    };
    let (space, finest) = found.map_box().map_err(failed)?;
    let scale = scale_of(found.attributes());
    let searched = searched_cube(found.attributes(), &space);
    let (views, rows) = views((input, shown, &scale), searched, lists.as_ref(), (&space, finest), comm)?;
    let maps = found.maps(&views).map_err(failed)?;
    found.forget_density();
    Ok(ShownMaps::new(space, maps, rows))
}

/// A cube around the regions that were searched; `None` for the whole box.
pub fn searched_cube(attributes: &[(String, Attribute)], space: &MapBox) -> Option<CubeRegion> {
    let regions = attributes.iter().find_map(|(name, value)| match value {
        Attribute::Text(text) if name == "region" => Some(text.split(';')),
        _ => None,
    })?;
    let bounds: Vec<_> =
        regions.map(|text| text.parse::<Region>().expect("a run states its regions").bounds()).collect();
    let end = |corner: usize, axis: usize, outer: fn(f64, f64) -> f64| {
        bounds.iter().map(|bounds| bounds[corner][axis]).reduce(outer).expect("a text has a part")
    };
    let low: [f64; 3] = std::array::from_fn(|axis| end(0, axis, f64::min));
    let high: [f64; 3] = std::array::from_fn(|axis| end(1, axis, f64::max));
    let centre = std::array::from_fn(|axis| low[axis].midpoint(high[axis]));
    let side = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    (side < space.sides.into_iter().fold(0.0, f64::max)).then_some(CubeRegion { centre, side })
}

/// Views along the chosen axes: of the chosen region, else of `cube`, else of the whole box.
///
/// # Errors
/// The centre of the region is not in the box, or the input lacks what its units need: a message.
pub fn chosen_views(
    chosen: &MapChoices,
    scale: &InputScale,
    cube: Option<CubeRegion>,
    (space, finest): (&MapBox, f64),
) -> Result<Vec<View>, String> {
    let given = |region: &MapRegion| region.cube(scale, space.low, space.sides);
    let cube = chosen.region.as_ref().map(given).transpose()?.or(cube);
    let view = |along: &usize| match cube {
        Some(CubeRegion { centre, side }) => cube_view(&centre, side, *along, space, finest),
        None => whole_view(*along, space, finest),
    };
    Ok(chosen.axes.iter().map(view).collect())
}

/// Collective: which views are shown: of the given region, else of the `searched` one. `lists` are on rank 0;
/// all ranks get the same views.
///
/// # Errors
/// When a rank fails, or the centre of the region is not in the box. `input` is for the message.
fn views(
    (input, shown, scale): (&Path, &ShownResults, &InputScale),
    searched: Option<CubeRegion>,
    lists: Option<&Catalogue>,
    (space, finest): (&MapBox, f64),
    comm: &Comm,
) -> Result<(Vec<View>, Vec<usize>), CommandError> {
    let mut all = chosen_views(&shown.maps, scale, searched, (space, finest))
        .map_err(|problem| CommandError::about(input, problem))?;
    let zooms = match lists.filter(|_| shown.report.is_some()) {
        Some(lists) => zoom_views(lists, space, finest),
        None => Vec::new(),
    };
    let number = |(row, view): &(usize, View)| {
        let [width, height] = view.pixels;
        let integers = [*row, view.along, width, height].map(|n| n as u64);
        let reals = [view.low, view.sides].concat();
        [&integers[..], &reals.iter().map(|x| x.to_bits()).collect::<Vec<_>>()].concat()
    };
    let numbers: Vec<u64> = zooms.iter().flat_map(number).collect();
    let to_all = match comm.rank() {
        Rank(0) => (0..comm.n_ranks() as u32).map(|rank| (Rank(rank), numbers.clone())).collect(),
        _ => Vec::new(),
    };
    let received = comm.exchange(to_all).map_err(CommandError::ranks)?;
    let mut rows = Vec::new();
    for zoom in received.iter().flat_map(|(_, numbers)| numbers.chunks_exact(10)) {
        let real = |at: usize| f64::from_bits(zoom[at]);
        rows.push(zoom[0] as usize);
        all.push(View {
            along: zoom[1] as usize,
            pixels: [zoom[2] as usize, zoom[3] as usize],
            low: [real(4), real(5), real(6)],
            sides: [real(7), real(8), real(9)],
        });
    }
    Ok((all, rows))
}

impl ShownMaps {
    /// From maps of the views, zooms last.
    fn new(space: MapBox, maps: Option<Vec<DensityMap>>, rows: Vec<usize>) -> Self {
        let mut maps = maps.unwrap_or_default();
        let zoomed = maps.split_off(maps.len().saturating_sub(rows.len()));
        let zooms = rows.into_iter().zip(zoomed).map(|(row, map)| Zoom { row, map }).collect();
        Self { space, maps, zooms }
    }
}

/// Collective: the picture and the report. Rank 0 gets them.
///
/// # Errors
/// When they cannot be written, or a rank fails.
pub fn stage(
    shown: &ShownResults,
    maps: ShownMaps,
    lists: Option<&Catalogue>,
    about: RunAbout<'_>,
    comm: &Comm,
) -> Result<Staged, CommandError> {
    let ranks = match &about.costs.ranks {
        Some(ranks) => ranks.clone(),
        None => RankReport::new(comm, &about.costs.stages, None).map_err(CommandError::ranks)?,
    };
    let mut staged = Staged::default();
    let Some(catalogue) = lists else { return Ok(staged) };
    let chosen = shown.maps.units.unwrap_or(UnitChoice::Physical);
    let mut units = DisplayUnits::new(chosen, &catalogue.attributes);
    if let Some(name) = about.code_density {
        units = units.with_code_density(name);
    }
    let sky = ImageSky::from_attributes(&catalogue.attributes).and_then(Result::ok);
    let values = values_of(&maps.maps, &units, sky.as_ref(), catalogue);
    let title = picture_title::title(catalogue, about.input);
    if let Some(path) = &shown.plot {
        let data = PictureData {
            title: title.clone(),
            subtitle: picture_title::conditions(catalogue, &units),
            maps: maps.maps.clone(),
            space: maps.space,
            sky: sky.clone(),
            values: values.clone(),
            colours: shown.maps.colours,
            units: units.clone(),
            labelled: Vec::new(),
            beside: Beside::Counts { marked: None },
            least: shown.maps.least,
            catalogue,
        };
        staged.extend(stage_plot(path, &data)?);
    }
    let Some(folder) = &shown.report else { return Ok(staged) };
    let mut facts = about.facts;
    facts.push(("Search", picture_title::conditions(catalogue, &units)));
    facts.extend(provenance(catalogue));
    let data = ReportData {
        title,
        facts,
        warnings: about.warnings,
        counts: about.counts,
        units,
        sky,
        least: shown.maps.least,
        colours: shown.maps.colours,
        space: maps.space,
        maps: maps.maps,
        zooms: maps.zooms,
        catalogue,
        stages: &about.costs.stages,
        things: about.things,
        ranks: &ranks,
        peak_memory: about.costs.peak_memory,
    };
    staged.extend(stage_page(folder, &data)?);
    Ok(staged)
}

/// What the values of all of these maps are: integrals if all are, else means.
pub fn values_of(
    maps: &[DensityMap],
    units: &DisplayUnits,
    sky: Option<&ImageSky>,
    catalogue: &Catalogue,
) -> ShownValues {
    let flat = is_flat(&catalogue.attributes);
    let mut all = maps.iter().map(|map| shown_values(units, sky, &map.view, flat));
    let first = all.next().expect("a picture has a map");
    match all.all(|other| other == first) {
        true => first,
        false => shown_values(units, None, &maps[0].view, flat),
    }
}

fn stage_page(folder: &Path, data: &ReportData<'_>) -> Result<Staged, CommandError> {
    stage_html(folder, &page(data).map_err(|problem| CommandError::about(folder, problem))?)
}

/// Stages a page as the report in a folder.
///
/// # Errors
/// When it cannot be written.
pub fn stage_html(folder: &Path, text: &str) -> Result<Staged, CommandError> {
    let place = hidden::place(folder).map_err(|error| CommandError::about(folder, error))?;
    let staged = stage_file(&folder.join(REPORT_PAGE), |out| out.write_all(text.as_bytes()))?;
    Ok(staged.in_place(place))
}

/// The program, the command line and the date.
fn provenance(catalogue: &Catalogue) -> Vec<(&'static str, String)> {
    let count = |name: &str| match catalogue.attribute(name) {
        Some(Attribute::Int(n)) => n.to_string(),
        _ => "unknown".into(),
    };
    let mut facts = about_program();
    facts.push(("Ranks", count("run_ranks")));
    facts.push(("Threads per rank", count("run_threads")));
    facts
}

/// The program and the date.
pub fn about_program() -> Vec<(&'static str, String)> {
    let mpi = if cfg!(feature = "mpi") { ", with MPI" } else { "" };
    vec![
        ("Command", std::env::args().collect::<Vec<_>>().join(" ")),
        ("Version", format!("inselberg {}{mpi}", env!("CARGO_PKG_VERSION"))),
        ("Machine", super::machine::machine()),
        ("Date", super::machine::utc(std::time::SystemTime::now())),
    ]
}
