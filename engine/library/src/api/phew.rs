//! PHEW on the cells of a program: one call.

use crate::api::cell_fields::CellFields;
use crate::api::cells::Cells;
use crate::api::clumps::{ClumpLabels, Clumps, NO_MAPS};
use crate::api::found::FoundCatalogue;
use crate::api::meshes::CellPatches;
use crate::api::params::PhewParams;
use crate::api::quantities::converted;
use crate::api::session::Session;
use crate::api::slips::DataSpan;
use crate::error::{Error, ErrorKind, RunError};
use crate::particle_mesh::ParticleSnapshot;
use crate::partition::{Division, LocalField};
use crate::phew::below_zero::SearchThresholds;
use crate::phew::bound;
use crate::phew::from_peaks::{FoundClumps, Source, from_peaks};
use crate::phew::params::ThresholdUnits;
use crate::phew::segmented_leaves::LeafField;
use crate::projection::{Projection, project};
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::params::InputScale;
use inselberg_io::{Header, Snapshot};
use rayon::prelude::*;
use std::sync::Arc;

/// Collective: the clumps of the cells of a program.
pub(crate) fn find(
    session: Session,
    cells: &Cells,
    fields: &CellFields,
    params: &PhewParams,
) -> Result<Clumps, Error> {
    params.check_on_cells()?;
    let scale = InputScale::of_cells(&cells.geometry.header(), cells.geometry.units.is_some());
    let mut params = converted(params, &scale)?;
    session.tracks.clumps.go_on(&mut params.tracks, session.comm)?;
    let params = &params;
    params.check_on_cells()?;
    if params.density.is_none() {
        return Err(RunError::NoDefaultThreshold { why: "for cells in memory".into() }.into());
    }
    let members = members(cells, fields, params, session.comm)?;
    let Session { shared, comm, executor, meshes, tracks } = session;
    check_fields(cells, fields, params)?;
    let search = SearchThresholds::new(params.thresholds());
    let (thresholds, lifted) = (search.searched(), search.lifted_column(&fields.density));
    let fields = &lifted.as_ref().map_or(*fields, |lifted| fields.with_lifted(lifted));
    let division = Division { rho: fields.density, threshold: thresholds.density, weights: params.weights };
    let kept = meshes.with_density(cells, division, comm, executor)?;
    let part = &kept.part;
    let leaves = LeafField {
        part,
        side: cells.geometry.side,
        origin: [0.0; 3],
        threshold: thresholds.density,
        rules: params.rules,
        selected: None,
        deposited: None,
    };
    let mut segmented =
        leaves.segment(|test_cells, _| kept.test_fields(fields, test_cells, comm), comm, executor)?;
    let densest = part.field.rho.par_iter().copied().reduce(|| 0.0, f64::max);
    let densest = comm.all_max(&[densest])?[0];
    let leaves = comm.all_reduce_counts(&cells.given.leaves_by_level(), Reduce::Sum)?;
    let header = cells.geometry.header();
    let source = Source {
        snapshot: members.as_ref().map(|members| -> &dyn Snapshot { members }),
        ..source(&header, cells, fields.name, leaves.iter().sum(), densest)
    };
    let found = from_peaks(&mut segmented, &source, &search, (params, true), comm, executor)?;
    let FoundClumps { catalogue, structures, ids, .. } = found;
    tracks.clumps.keep(&params.tracks, &catalogue, comm)?;
    let _tables = Stage::within("tables", comm);
    let segmentation = segmented.into_segmentation();
    let balance = segmentation.balance;
    let (patches, peaks) = CellPatches::new(kept, cells.len(), segmentation);
    search.lower_values(&mut kept.part.field.rho);
    let span = DataSpan::new(&peaks, &search, &catalogue, comm)?;
    let projection = project_if(params, &kept.part, comm)?;
    let patches = Arc::new(patches);
    let labels = ClumpLabels::new(&patches, ids, comm)?;
    let catalogue = FoundCatalogue::new(shared, catalogue, Err(NO_MAPS));
    Ok(Clumps {
        catalogue: catalogue.with_projection(projection),
        structures,
        peaks: Arc::new(peaks),
        patches: Some(patches),
        units: ThresholdUnits::CODE,
        params: params.clone(),
        scale,
        labels,
        coverage: cells.geometry.coverage(&leaves),
        densest: search.lowered(densest),
        span,
        field: None,
        balance,
    })
}

/// The particles beside the cells, if there are any, checked against what `params` asks of them.
fn members(
    cells: &Cells,
    fields: &CellFields,
    params: &PhewParams,
    comm: &Comm,
) -> Result<Option<ParticleSnapshot>, Error> {
    check_needs_no_output(params, fields.particles.is_some())?;
    let Some(particles) = fields.particles else { return Ok(None) };
    let members = particles.on_ranks_of(comm)?.in_box(&cells.geometry)?;
    members.check_velocities(&params.bound)?;
    bound::check(&members, &params.bound)?;
    Ok(Some(members))
}

/// What the cells say of themselves.
fn source<'a>(header: &'a Header, cells: &Cells, field: &'a str, n_leaves: u64, densest: f64) -> Source<'a> {
    Source {
        header,
        has_units: cells.geometry.units.is_some(),
        field,
        mass_unit: 1.0,
        n_leaves,
        densest,
        attributes: Vec::new(),
        snapshot: None,
        test_field: None,
        counted: None,
    }
}

/// Checks that nothing is asked for that only outputs on disk have.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] with what is.
fn check_needs_no_output(params: &PhewParams, has_particles: bool) -> Result<(), Error> {
    let problem = if params.bound.gas {
        "cells in memory have neither pressure nor magnetic field, of which properties of gas are made"
    } else if params.significance.is_some() {
        "a significance, but no particles make the density of cells in memory"
    } else if params.subsamples > 0 {
        "subsamples, but no particles make the density of cells in memory"
    } else if (params.places_particles() || params.bound.unbind) && !has_particles {
        "cells in memory without particles"
    } else if !params.selection.is_all() {
        "a selection of cells in memory, all of which the caller chose"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::InvalidArgument, format!("{problem}; expected an output on disk")))
}

/// Collective: the projected density on rank 0, where `params` asks for it.
///
/// # Errors
/// When another rank fails.
pub(crate) fn project_if(
    params: &PhewParams,
    part: &LocalField,
    comm: &Comm,
) -> Result<Option<Projection>, CommError> {
    let Some(level) = params.projection_level else { return Ok(None) };
    let _picture = Stage::within("picture", comm);
    project(part, level, comm)
}

fn check_fields(cells: &Cells, fields: &CellFields, params: &PhewParams) -> Result<(), Error> {
    cells.check_values(fields.name, &fields.density, params.least_value())?;
    if let Some(density) = &fields.mass_density {
        cells.check_values("mass density", density, 0.0)?;
    }
    if let Some(velocity) = &fields.velocity {
        let each = ["velocity along x", "velocity along y", "velocity along z"].into_iter().zip(&velocity.0);
        each.into_iter().try_for_each(|(what, axis)| cells.check_values(what, axis, f64::NEG_INFINITY))?;
    }
    Ok(())
}
