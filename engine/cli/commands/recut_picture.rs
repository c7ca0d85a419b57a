//! The picture of a new cut.

use super::fault::CommandError;
use super::picture_title;
use super::pictures::{searched_cube, values_of};
use super::stored_maps::StoredMatter;
use crate::config::RecutJob;
use crate::report::plot::{Beside, PictureData, stage_plot};
use crate::report::{DisplayUnits, UnitChoice};
use inselberg::phew::image::ImageSky;
use inselberg_io::catalogue::Catalogue;
use inselberg_io::staging::Staged;
use std::path::Path;

/// Stages the picture of the new cut `cut` of the catalogue `stored`, whose cells are its map.
///
/// # Errors
/// The catalogue does not state its box, the chosen region is not in it, or the picture cannot be written.
pub fn stage(
    path: &Path,
    job: &RecutJob,
    stored: &Catalogue,
    cut: &Catalogue,
) -> Result<Staged, CommandError> {
    let wrong = |problem: String| CommandError::about(&job.input, problem);
    let chosen = &job.shown.maps;
    let matter = StoredMatter::new(stored).map_err(wrong)?;
    let searched = searched_cube(&stored.attributes, &matter.space);
    let maps = matter.maps(stored, chosen, searched).map_err(wrong)?;
    let units = DisplayUnits::new(chosen.units.unwrap_or(UnitChoice::Physical), &stored.attributes);
    let sky = ImageSky::from_attributes(&stored.attributes).and_then(Result::ok);
    let data = PictureData {
        title: picture_title::title(cut, &picture_title::origin(stored, &job.input)),
        subtitle: picture_title::conditions(cut, &units),
        values: values_of(&maps, &units, sky.as_ref(), stored),
        maps,
        space: matter.space,
        sky,
        colours: chosen.colours,
        units,
        labelled: Vec::new(),
        beside: Beside::Counts { marked: None },
        least: chosen.least,
        catalogue: cut,
    };
    Ok(stage_plot(path, &data)?)
}
