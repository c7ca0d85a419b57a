//! Calls on outputs of simulations on disk, which they read.

use crate::api::clumps::{ClumpLabels, Clumps, NO_MAPS};
use crate::api::found::FoundCatalogue;
use crate::api::groups::FofGroups;
use crate::api::opened::{OpenParticles, OpenSnapshot};
use crate::api::params::{FofParams, PhewParams};
use crate::api::params::{LinkingTypes, ParticleGraphParams, ParticleMeshParams};
use crate::api::phew::project_if;
use crate::api::quantities::{MeanOf, converted, of_header, scale_of_cells, scale_of_particles};
use crate::api::session::Session;
use crate::api::slips::DataSpan;
use crate::error::{Error, ErrorKind};
use crate::fof::run_fof;
use crate::phew::PhewRequest;
use crate::phew::image::ImageNoise;
use crate::phew::params::FieldChoice;
use crate::phew::run::{
    PhewOutcome, check_default_thresholds, choose_source, run, run_on_graph, run_on_particles,
};
use crate::projection::{KeptForMaps, KeptLeaves};
use inselberg_io::params::{InputScale, ParamError};
use inselberg_io::{Header, Snapshot};
use std::sync::Arc;

/// Collective: PHEW on an output.
pub(crate) fn phew(
    session: &mut Session,
    snapshot: &OpenSnapshot,
    field: &FieldChoice,
    params: &PhewParams,
) -> Result<Clumps, Error> {
    // Values with units wait for those of the input, so they are checked once more when they are converted.
    params.check_on_cells()?;
    let (header, has_units) = (snapshot.reader().header(), snapshot.reader().has_units());
    let source = choose_source(snapshot.reader(), field, params.rules)?;
    let (given, observer) = (params.image.noise.as_ref(), session.executor.observer());
    let noise = ImageNoise::of_snapshot(snapshot.reader(), source, given, session.comm, observer)?;
    let scale = scale_of_cells(header, has_units, params.rules);
    let scale = InputScale { sigma: noise.as_ref().map(ImageNoise::in_densities), ..scale };
    let mut params = converted(params, &scale)?;
    let density = params.thresholds().density;
    if noise.as_ref().is_some_and(ImageNoise::is_local) && density < 0.0 {
        let expected = "0 or more with the noise of each pixel";
        return Err(ParamError::value("density_threshold", density, expected).into());
    }
    params.image.known = noise;
    session.tracks.clumps.go_on(&mut params.tracks, session.comm)?;
    let params = &params;
    params.check_on_cells()?;
    if params.density.is_none() && params.noise_of_defaults().is_none() {
        check_default_thresholds(snapshot.reader(), field, params.rules)?;
    }
    let request = PhewRequest { field: field.clone(), params: params.clone() };
    let found = run(snapshot.reader(), &request, session.comm, session.executor)?;
    Clumps::of_output(session, found, params, scale, header)
}

/// Collective: PHEW on the mesh that particles make.
pub(crate) fn phew_particles(
    session: &mut Session,
    particles: &OpenParticles,
    mesh: &ParticleMeshParams,
    params: &PhewParams,
) -> Result<Clumps, Error> {
    params.check()?;
    let mesh = mesh.config()?;
    let snapshot = particles.on_ranks_of(session.comm)?.on_mesh(&mesh)?;
    let scale = scale_of_particles(session, particles, &mesh, MeanOf::Matter, params)?;
    let mut params = PhewParams { is_on_mesh: true, ..converted(params, &scale)? };
    session.tracks.clumps.go_on(&mut params.tracks, session.comm)?;
    let params = &params;
    params.check()?;
    let request = PhewRequest { field: FieldChoice::Auto, params: params.clone() };
    let found = run_on_particles(&snapshot, &mesh, &request, session.comm, session.executor)?;
    Clumps::of_output(session, found, params, scale, snapshot.header())
}

/// Collective: PHEW on the graph of particles and their neighbours.
pub(crate) fn phew_graph(
    session: &mut Session,
    particles: &OpenParticles,
    graph: &ParticleGraphParams,
    params: &PhewParams,
) -> Result<Clumps, Error> {
    params.check()?;
    if params.projection_level.is_some() {
        let problem = "a projection of a graph of particles; expected `keep_density` and maps";
        return Err(Error::new(ErrorKind::InvalidArgument, problem));
    }
    let graph = graph.config()?;
    let snapshot = particles.on_ranks_of(session.comm)?.on_mesh(&graph.mesh)?;
    let scale = scale_of_particles(session, particles, &graph.mesh, MeanOf::Matter, params)?;
    let mut params = converted(params, &scale)?;
    session.tracks.clumps.go_on(&mut params.tracks, session.comm)?;
    let params = &params;
    params.check()?;
    let request = PhewRequest { field: FieldChoice::Auto, params: params.clone() };
    let found = run_on_graph(&snapshot, &graph, &request, session.comm, session.executor)?;
    Clumps::of_output(session, found, params, scale, snapshot.header())
}

/// Collective: friends-of-friends groups of particles on disk.
pub(crate) fn fof(
    session: &mut Session,
    particles: &OpenParticles,
    types: &LinkingTypes,
    params: &FofParams,
) -> Result<FofGroups, Error> {
    params.check()?;
    let mut params = converted(params, &of_header(particles.reader().about()))?;
    session.tracks.groups.go_on(&mut params.tracks, session.comm)?;
    let request = types.request(&params)?;
    let found =
        run_fof(particles.on_ranks_of(session.comm)?.reader(), &request, session.comm, session.executor)?;
    session.tracks.groups.keep(&params.tracks, &found.catalogue, session.comm)?;
    Ok(FofGroups::of_output(session.shared, found))
}

impl Clumps {
    /// Collective, where a projection is wanted or the density is kept; `header` is that of the output.
    fn of_output(
        session: &mut Session,
        found: PhewOutcome,
        params: &PhewParams,
        scale: InputScale,
        header: &Header,
    ) -> Result<Self, Error> {
        let (comm, side) = (session.comm, header.boxlen);
        let PhewOutcome { mut catalogue, part, structures, peaks, thresholds, units, leaves, .. } = found;
        session.tracks.clumps.keep(&params.tracks, &catalogue, comm)?;
        catalogue.attributes.extend(params.in_force(units.of).attributes());
        let span = DataSpan::new(&peaks, &thresholds, &catalogue, comm)?;
        let projection = match &part {
            Some(part) => project_if(params, part, comm)?,
            None => None,
        };
        let kept = match (params.keep_density, leaves, part) {
            (true, Some(roots), _) => Some(KeptLeaves::of_roots(roots, side, comm)?),
            (true, None, Some(part)) => Some(KeptLeaves::of_part(part, side, comm)?),
            _ => None,
        };
        let kept = kept.map(|kept| -> Arc<dyn KeptForMaps> { Arc::new(kept.at_origin(header.origin)) });
        let catalogue = FoundCatalogue::new(session.shared, catalogue, kept.ok_or(NO_MAPS));
        Ok(Self {
            catalogue: catalogue.with_projection(projection),
            structures,
            peaks: Arc::new(peaks),
            patches: None,
            params: params.clone(),
            scale: units.scale(scale),
            units,
            labels: ClumpLabels::default(),
            // An octree has no gaps; masked cells are not counted as such.
            coverage: 1.0,
            densest: found.densest,
            span,
            field: Some(found.field),
            balance: found.balance,
        })
    }
}
