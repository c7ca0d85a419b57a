//! Files for other programs, of a search or of a catalogue (`inselberg convert`).

use super::dendrogram;
use super::fault::CommandError;
use super::grouped::grouped;
use super::info::describe_json;
use super::{interrupt, out, preflight};
use crate::config::{Common, ConvertFormat, ConvertJob, DendrogramRequest, PhewJob};
use inselberg::{Clumps, Persistence};
use inselberg_comm::Comm;
use inselberg_io::catalogue::{self, Catalogue, VtkCells};
use inselberg_io::params::{Quantity, QuantityUnit};
use inselberg_io::staging::{self, Staged};
use std::path::Path;

/// The folders for viewers of a command.
pub struct ViewerFolders<'a> {
    /// For yt.
    pub yt: Option<&'a Path>,
    /// For VTK.
    pub vtk: Option<&'a Path>,
}

impl ViewerFolders<'_> {
    /// The files of a whole catalogue.
    pub fn stage(&self, whole: &Catalogue, cells: VtkCells) -> Result<Staged, CommandError> {
        let mut staged = Staged::default();
        if let Some(folder) = self.yt {
            staged.extend(catalogue::stage_yt(folder, whole)?);
        }
        if let Some(folder) = self.vtk {
            staged.extend(catalogue::stage_vtk(folder, whole, cells)?);
        }
        Ok(staged)
    }
}

/// The folders of `inselberg phew`.
fn folders_of_phew(job: &PhewJob) -> ViewerFolders<'_> {
    let vtk = job.vtk.as_ref().map(|(folder, _)| folder.as_path());
    ViewerFolders { yt: job.yt.as_deref(), vtk }
}

/// Collective: the files for viewers of a run. Rank 0 gets them; it holds the tables that yt and VTK need,
/// one viewer at a time.
pub fn stage_of_phew(job: &PhewJob, clumps: &Clumps, comm: &Comm) -> Result<Staged, CommandError> {
    let gather = |names: &[&str]| {
        clumps.gather_tables(names).map_err(|error| CommandError::of_call(&job.input, &error))
    };
    let folders = folders_of_phew(job);
    let mut staged = Staged::default();
    if folders.yt.is_some()
        && let Some(lists) = gather(&["clumps", "members", "particles"])?
    {
        staged.extend(ViewerFolders { vtk: None, ..folders_of_phew(job) }.stage(&lists, VtkCells::None)?);
    }
    if let Some((_, cells)) = job.vtk
        && let Some(lists) = gather(if cells == VtkCells::None { &["clumps"] } else { &["clumps", "cells"] })?
    {
        staged.extend(ViewerFolders { yt: None, ..folders }.stage(&lists, cells)?);
    }
    if let Some(path) = &job.dendrogram {
        let value = match clumps.thresholds().persistence.value {
            Persistence::Difference(difference) => difference,
            Persistence::Ratio(_) => 0.0,
        };
        let delta = Quantity { value, unit: QuantityUnit::Own };
        let request = DendrogramRequest { value: None, delta, cells: 0 };
        let cells = clumps.table("cells").expect("a dendrogram implies cells");
        let lists = (clumps.attributes(), cells);
        staged.extend(dendrogram::stage_of_cells((&job.input, path), &request, lists, comm)?);
    }
    Ok(staged)
}

/// Writes a catalogue for another program.
pub fn convert(job: &ConvertJob, common: Common) -> Result<(), CommandError> {
    match job.to {
        ConvertFormat::Fits | ConvertFormat::Ecsv | ConvertFormat::Dendrogram(_) => {
            staging::check_writable(&job.output)?;
            if matches!(job.to, ConvertFormat::Dendrogram(_)) {
                catalogue::check_viewer(&job.output)?;
            }
        }
        _ => preflight::folder(&job.output)?,
    }
    let whole = catalogue::read(&job.input)?;
    preflight::not_an_origin(&job.input, &whole, ("output", &job.output))?;
    preflight::replaceable(&job.output, common.force)?;
    interrupt::guard()?;
    let output = &job.output;
    let staged = match job.to {
        ConvertFormat::Yt => catalogue::stage_yt(output, &whole)?,
        ConvertFormat::Vtk(cells) => catalogue::stage_vtk(output, &whole, cells)?,
        ConvertFormat::Fits => catalogue::stage_fits(output, &whole)?,
        ConvertFormat::Ecsv => catalogue::stage_ecsv(output, &whole)?,
        ConvertFormat::Dendrogram(request) => {
            dendrogram::stage_of_catalogue(&job.input, output, &request, &whole)?
        }
        ConvertFormat::Ytree => catalogue::stage_ytree(output, &whole)?,
        ConvertFormat::ConsistentTrees => catalogue::stage_consistent_trees(output, &whole)?,
    };
    out::finish(common, staged, || text(job, &whole), || describe_json(&whole))
}

/// The input and the written files.
fn text(job: &ConvertJob, whole: &Catalogue) -> String {
    let rows = whole.tables.iter().map(|table| format!("{}: {}", table.name, grouped(table.n_rows() as u64)));
    let rows = rows.collect::<Vec<_>>().join(", ");
    format!("{} written; rows of the catalogue by table: {rows}", job.output.display())
}
