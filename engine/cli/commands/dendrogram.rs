//! The dendrogram of the cells of a search or a catalogue, for astrodendro.

use super::fault::CommandError;
use crate::config::DendrogramRequest;
use inselberg::phew::dendrogram::{DendrogramError, stage};
use inselberg_comm::Comm;
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::catalogue::{Attribute, Catalogue, Table};
use inselberg_io::params::Measure;
use inselberg_io::staging::Staged;
use inselberg_kernels::dendrogram::DendrogramLimits;
use std::path::Path;

/// Stages the file of a whole catalogue at `output`. `input` is the catalogue, for messages.
pub fn stage_of_catalogue(
    input: &Path,
    output: &Path,
    request: &DendrogramRequest,
    whole: &Catalogue,
) -> Result<Staged, CommandError> {
    let expected = "a catalogue of `inselberg phew --with-cells`";
    let cells = whole
        .table("cells")
        .ok_or_else(|| CommandError::about(input, format!("no table cells; expected {expected}")))?;
    stage_of_cells((input, output), request, (&whole.attributes, cells), &Comm::solo())
}

/// Collective: stages the file of the cells of all ranks at `output`; rank 0 gets it. `input` is the source
/// of the cells, for messages.
pub fn stage_of_cells(
    (input, output): (&Path, &Path),
    request: &DendrogramRequest,
    (attributes, cells): (&[(String, Attribute)], &Table),
    comm: &Comm,
) -> Result<Staged, CommandError> {
    let (limits, threshold) = limits(input, request, attributes)?;
    stage(output, attributes, cells, &limits, threshold, comm).map_err(|error| match error {
        DendrogramError::Cells(problem) => CommandError::about(input, problem),
        DendrogramError::Write(error) => error.into(),
        DendrogramError::Comm(error) => CommandError::ranks(error),
    })
}

/// The limits of the structures, and the density threshold of the catalogue.
fn limits(
    input: &Path,
    request: &DendrogramRequest,
    attributes: &[(String, Attribute)],
) -> Result<(DendrogramLimits, Option<f64>), CommandError> {
    let wrong = |problem: String| CommandError::about(input, problem);
    let threshold = attributes.iter().find(|(name, _)| name == "density_threshold");
    let threshold = match threshold {
        Some((_, Attribute::Real(threshold))) => Some(*threshold),
        _ => None,
    };
    let scale = scale_of(attributes);
    let density = |given| {
        let expected = |lack| wrong(format!("expected densities without units: {lack}"));
        scale.plain(given, &Measure::DENSITY).map_err(expected)
    };
    let (given, delta) = (request.value.map(density).transpose()?, density(request.delta)?);
    let value = given.or(threshold).ok_or_else(|| {
        wrong("no attribute density_threshold; expected one, or a least density (--min-value)".into())
    })?;
    Ok((DendrogramLimits { value, delta, cells: request.cells }, threshold))
}
