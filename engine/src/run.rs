//! The recipe: a snapshot in, a catalogue out.

use crate::amr::AmrField;
use crate::catalogue::{Catalogue, CataloguePart};
use crate::io::{ReadError, Snapshot};
use crate::observe::Observer;
use crate::phew::{FieldChoice, PhewConfig, RunError, Segmentation, Task, Thresholds, segment, timed};
use crate::stages::density::{Scheme, deposit, read_dark_matter};
use crate::stages::load::{read_mesh, read_tests};
use crate::stages::properties::TestFields;
use crate::stages::tests;
use crate::structures::{Structures, structures};
use crate::tables::{
    Provenance, attributes, cells_table, clumps_table, haloes_table, particles_table, tree_table,
};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::tests::TestCells;

/// What a run leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// What this rank holds of the catalogue; one rank holds all of it.
    pub catalogue: CataloguePart,
    /// The field that was segmented, for pictures.
    pub field: AmrField,
}

/// Where the density comes from, decided.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source<'a> {
    Cells(&'a str),
    Particles(Scheme),
}

/// PHEW on a snapshot.
///
/// Collective over `comm`; uses the current rayon pool. The catalogue is the same bit for bit for any
/// number of threads and for any split of the snapshot into files.
///
/// # Errors
/// When the input cannot be read, lacks what was asked for, or holds values that are no densities, and
/// when another rank fails.
pub fn run(
    snapshot: &dyn Snapshot,
    config: &PhewConfig,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<Outcome, RunError> {
    if config.with_particles && !snapshot.has_particles() {
        return Err(RunError::NoParticles);
    }
    let source = choose_source(snapshot, config)?;
    let thresholds = mass_in_code_units(snapshot, config)?;
    let field = read_field(snapshot, source, observer)?;
    let tests = timed(observer, "test cells", field.mesh.n_leaves() as u64, || {
        tests::find(&field, thresholds.density)
    });
    let extra = read_extra(snapshot, source, &field, &tests)?;
    let task = Task {
        field: &field,
        extra: &extra,
        density_threshold: thresholds.density,
        side: snapshot.header().boxlen,
        rules: config.rules,
    };
    let segmentation = segment(&task, tests, comm, observer)?;
    let cut = Cut { density: thresholds.density, relevance: thresholds.relevance, saddle: thresholds.saddle };
    let found = timed(observer, "hierarchy", segmentation.tests.len() as u64, || {
        structures(&segmentation.peaks, &cut, thresholds.mass, config.rules)
    });
    let mut catalogue = assemble(&segmentation, &found);
    if config.with_cells {
        catalogue.tables.push(cells_table(&field.mesh, &segmentation, &found));
    }
    if config.with_particles {
        catalogue.tables.push(particles_table(snapshot, &field.mesh, &segmentation, &found)?);
    }
    let totals = totals(&field, &segmentation, &found, comm)?;
    catalogue.attributes = attributes(&Provenance {
        header: snapshot.header(),
        field: source.name(),
        thresholds: &thresholds,
        rules: config.rules,
        totals: &totals,
        run: [("run_threads", rayon::current_num_threads() as u64), ("run_ranks", comm.n_ranks() as u64)],
    });
    Ok(Outcome { catalogue: CataloguePart::whole(catalogue), field })
}

impl Source<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Cells(name) => name,
            Self::Particles(Scheme::Conserving) => "cic",
            Self::Particles(Scheme::Ramses) => "cic-ramses",
        }
    }
}

fn choose_source<'a>(snapshot: &'a dyn Snapshot, config: &'a PhewConfig) -> Result<Source<'a>, RunError> {
    let has = |name: &str| snapshot.fields().iter().any(|f| f.name == name);
    let source = match &config.field {
        FieldChoice::Cic => Source::Particles(Scheme::Conserving),
        FieldChoice::CicRamses => Source::Particles(Scheme::Ramses),
        FieldChoice::Named(name) if has(name) => Source::Cells(name),
        FieldChoice::Named(name) => {
            let particles: &[&str] = if snapshot.has_particles() { &["cic", "cic-ramses"] } else { &[] };
            let cells = snapshot.fields().iter().map(|f| f.name.as_str());
            let known: Vec<&str> = cells.chain(particles.iter().copied()).collect();
            return Err(RunError::NoField { name: name.clone(), known: known.join(", ") });
        }
        FieldChoice::Auto if has("density") => Source::Cells("density"),
        FieldChoice::Auto if has("rho") => Source::Cells("rho"),
        FieldChoice::Auto if config.rules == Rules::Ramses => Source::Particles(Scheme::Ramses),
        FieldChoice::Auto => Source::Particles(Scheme::Conserving),
    };
    match source {
        Source::Particles(_) if !snapshot.has_particles() => Err(RunError::NoParticles),
        source => Ok(source),
    }
}

fn read_field(
    snapshot: &dyn Snapshot,
    source: Source,
    observer: &dyn Observer,
) -> Result<AmrField, RunError> {
    let header = snapshot.header();
    let pieces = header.n_pieces as u64;
    let name = match source {
        Source::Cells(name) => Some(name),
        Source::Particles(_) => None,
    };
    observer.begin("reading", pieces);
    let field = read_mesh(snapshot, name, observer)?;
    observer.end("reading", field.mesh.n_leaves() as u64);
    let Source::Particles(scheme) = source else { return Ok(field) };
    observer.begin("particles", pieces);
    let particles = read_dark_matter(snapshot, observer)?;
    observer.end("particles", particles.mass.len() as u64);
    let work = || deposit(field.mesh, &particles, scheme, header.boxlen);
    Ok(timed(observer, "density", particles.mass.len() as u64, work))
}

/// Gas velocities, and the gas density where the field is another hydro variable.
fn read_extra(
    snapshot: &dyn Snapshot,
    source: Source,
    field: &AmrField,
    tests: &TestCells,
) -> Result<TestFields, RunError> {
    const VELOCITY: [&str; 3] = ["velocity_x", "velocity_y", "velocity_z"];
    let is_hydro = |name: &str| snapshot.fields().iter().any(|f| f.name == name && f.family == "hydro");
    let Source::Cells(name) = source else { return Ok(TestFields::default()) };
    let mut wanted = Vec::new();
    let moving = is_hydro(name) && VELOCITY.iter().all(|v| is_hydro(v));
    let weighed = is_hydro(name) && name != "density" && is_hydro("density");
    if moving {
        wanted.extend(VELOCITY);
    }
    if weighed {
        wanted.push("density");
    }
    if wanted.is_empty() {
        return Ok(TestFields::default());
    }
    let mut columns = read_tests(snapshot, &field.mesh, tests, &wanted)?;
    let mass_density = if weighed { columns.pop() } else { None };
    let velocity = if moving { columns.try_into().ok() } else { None };
    Ok(TestFields { mass_density, velocity })
}

/// RAMSES gives the mass threshold in masses of the lightest particle.
fn mass_in_code_units(snapshot: &dyn Snapshot, config: &PhewConfig) -> Result<Thresholds, ReadError> {
    let mut thresholds = config.thresholds;
    if config.rules == Rules::Ramses && thresholds.mass > 0.0 && snapshot.has_particles() {
        let mut least = f64::INFINITY;
        for piece in 0..snapshot.header().n_pieces {
            snapshot.particles(piece, &mut |block| {
                least = block.mass.iter().filter(|m| **m > 0.0).fold(least, |a, &m| a.min(m));
                Ok(())
            })?;
        }
        thresholds.mass *= if least.is_finite() { least } else { 1.0 };
    }
    Ok(thresholds)
}

fn assemble(segmentation: &Segmentation, found: &Structures) -> Catalogue {
    let has_velocity = segmentation.peaks.has_velocity;
    let tables = vec![
        clumps_table(&found.clumps, has_velocity),
        haloes_table(&found.haloes, has_velocity),
        tree_table(&segmentation.peaks, &found.peak_rank),
    ];
    Catalogue { attributes: Vec::new(), tables }
}

/// Collective: totals over all ranks.
fn totals(
    field: &AmrField,
    segmentation: &Segmentation,
    found: &Structures,
    comm: &Comm,
) -> Result<[(&'static str, u64); 6], CommError> {
    let local = [field.mesh.n_leaves(), segmentation.tests.len(), segmentation.peaks.len()].map(|n| n as u64);
    let sums = comm.all_reduce_counts(&local, Reduce::Sum)?;
    Ok([
        ("n_leaf_cells", sums[0]),
        ("n_test_cells", sums[1]),
        ("n_peaks", sums[2]),
        ("n_clumps", found.clumps.len() as u64),
        ("n_haloes", found.haloes.len() as u64),
        ("n_levels", found.max_level),
    ])
}
