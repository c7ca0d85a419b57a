//! `inselberg synth`.

use super::driver::agreed_error;
use super::fault::CommandError;
use super::grouped::grouped;
use super::out;
use super::phew_run::n_octs;
use super::ranks::RankRequest;
use super::seating::start_threads;
use super::{interrupt, memory, preflight};
use crate::config::{Common, FieldJob, ParticleJob, SeriesJob};
use crate::synth::{ParticleBox, ParticleMeta, SynthField, SynthSeries, THRESHOLD, stage_particles};
use inselberg::stage::Stage;
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::{Catalogue, FORMATS, Values, stage};
use inselberg_io::ramses;
use inselberg_io::ramses::write::{Dialect, Output, Split, StagedOutput};
use inselberg_io::staging::{Staged, check_writable};
use inselberg_io::{FieldInfo, Header, MONATOMIC, Snapshot};
use serde_json::json;
use std::path::Path;

/// Makes a density field and writes it as a RAMSES output.
pub fn field(job: &FieldJob, common: Common) -> Result<(), CommandError> {
    let (folder, number) = place_of(&job.output);
    let path = folder.join(format!("output_{number:05}"));
    preflight::folder(&job.output)?;
    if path.exists() {
        return Err(CommandError::user(format!("{}: already exists; expected a new name", path.display())));
    }
    let params = &job.params;
    memory::check_field(params.test_cells, params.peaks.unwrap_or(params.test_cells / 10_000))?;
    let field = SynthField::new(params)?;
    memory::check_output(path.display(), n_octs(&field, (Rank(0), 1))?)?;
    let census = field.census()?;
    interrupt::guard()?;
    let _place =
        inselberg_io::staging::hidden::place(folder).map_err(|error| CommandError::about(folder, error))?;
    let staged = stage_ramses_output(folder, number, &field)?;
    let (header, leaves) = (field.header(), census.leaves.iter().sum::<u64>());
    let text = || {
        format!(
            "{}: levels {} to {}, {} leaf cells, {} above the density threshold {THRESHOLD}, {} clumps seeded",
            path.display(),
            header.levelmin,
            header.levelmax,
            grouped(leaves),
            grouped(census.test_cells),
            grouped(field.clumps().len() as u64),
        )
    };
    let clumps =
        || field.clumps().iter().map(|c| json!({"centre": c.centre, "radius": c.radius, "core": c.core}));
    let json = || {
        json!({
            "output": path.display().to_string(), "levelmin": header.levelmin, "levelmax": header.levelmax,
            "leaf_cells": leaves, "test_cells": census.test_cells, "density_threshold": THRESHOLD,
            "clumps": clumps().collect::<Vec<_>>(),
        })
    };
    out::report(common, text, json)?;
    staged.commit()?;
    Ok(())
}

/// The folder and number of the output at `path`: `output_00007` is an output itself; another name is a
/// folder in which `output_00001` is made.
fn place_of(path: &Path) -> (&Path, u32) {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let digits =
        name.strip_prefix("output_").filter(|d| d.len() == 5 && d.bytes().all(|b| b.is_ascii_digit()));
    match digits.and_then(|d| d.parse().ok()) {
        Some(number) => (preflight::parent(path), number),
        None => (path, 1),
    }
}

/// Makes particles on all ranks and writes them as a NumPy file.
pub fn particles(job: &ParticleJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let ranks = RankRequest::plain(job.ranks).start(world)?;
    ranks.prepare(|_| start_threads(common))?;
    let particle_box = ranks.prepare(|is_first| {
        memory::check_box(job.params.number)?;
        // Only the first process makes files.
        if is_first {
            for path in [job.output.clone(), job.output.with_extension("json")] {
                check_writable(&path)?;
                preflight::replaceable(&path, common.force)?;
            }
        }
        Ok(ParticleBox::new(job.params))
    })?;
    ranks.prepare(|_| interrupt::guard())?;
    ranks.run(|comm| {
        comm.before_end(interrupt::wipe);
        let _write = Stage::within("write", comm);
        let (meta, staged) = stage_particles(&job.output, &particle_box, comm).map_err(agreed_error)?;
        if comm.rank() == Rank(0) { finish(&job.output, &meta, staged, common) } else { Ok(()) }
    })
}

fn finish(path: &Path, meta: &ParticleMeta, staged: Staged, common: Common) -> Result<(), CommandError> {
    let text = || {
        format!(
            "{}: {} particles in a box of side {}, {:.1} % of them in {} haloes",
            path.display(),
            grouped(meta.number),
            meta.side,
            100.0 * meta.frac_in_haloes,
            grouped(meta.n_haloes_seeded as u64),
        )
    };
    out::finish(common, staged, text, || json!(meta))
}

/// Makes catalogues one by one, and their true merger tree. They get their names together.
pub fn series(job: &SeriesJob, common: Common) -> Result<(), CommandError> {
    preflight::folder(&job.output)?;
    memory::check_series(job.params.members)?;
    interrupt::guard()?;
    let about = |error| CommandError::about(&job.output, error);
    let mut staged = Staged::default();
    let place = inselberg_io::staging::hidden::place(&job.output).map_err(about)?;
    let ending = FORMATS[0].extensions[0];
    let mut series = SynthSeries::new(job.params);
    let mut n_members = Vec::new();
    while let Some(output) = series.next_output() {
        n_members.push(n_rows(&output, "members"));
        let name = format!("clumps_{:05}.{ending}", n_members.len());
        staged.extend(stage(&job.output.join(name), &output)?);
    }
    let truth = series.truth();
    staged.extend(stage(&job.output.join(format!("truth.{ending}")), &truth)?);
    let staged = staged.in_place(place);
    let n_mergers = match truth.table("nodes").and_then(|nodes| nodes.column("fate")).map(|fate| &fate.values)
    {
        Some(Values::U8(fates)) => fates.iter().filter(|fate| [1, 2].contains(*fate)).count() as u64,
        _ => 0,
    };
    let (n_nodes, total) = (n_rows(&truth, "nodes"), n_members.iter().sum::<u64>());
    let text = || {
        format!(
            "{}: {} catalogues with {} haloes and {} members in all; {} mergers in truth.{ending}",
            job.output.display(),
            n_members.len(),
            grouped(n_nodes),
            grouped(total),
            grouped(n_mergers),
        )
    };
    let json = || json!({"catalogues": n_members.len(), "haloes": n_nodes, "members": n_members, "mergers": n_mergers});
    out::finish(common, staged, text, json)?;
    remove_later(&job.output, n_members.len(), ending)
        .map_err(|error| CommandError::about(&job.output, error))
}

/// Removes outputs of a longer earlier series, which would follow this one.
fn remove_later(folder: &Path, n_outputs: usize, ending: &str) -> std::io::Result<()> {
    let number = |name: &str| {
        let digits = name.strip_prefix("clumps_")?.strip_suffix(ending)?.strip_suffix('.')?;
        (digits.len() >= 5).then(|| digits.parse::<usize>().ok()).flatten()
    };
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let is_later = name.and_then(number).is_some_and(|number| number > n_outputs);
        if is_later && !inselberg_io::written::is_foreign(&path) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn n_rows(catalogue: &Catalogue, table: &str) -> u64 {
    catalogue.table(table).map_or(0, |table| table.n_rows() as u64)
}

/// Stages `snapshot` as output `number` of RAMSES in `folder`.
fn stage_ramses_output(
    folder: &Path,
    number: u32,
    snapshot: &dyn Snapshot,
) -> Result<StagedOutput, CommandError> {
    let names: Vec<&str> = snapshot.fields().iter().map(|f| f.name.as_str()).collect();
    let mut octs = Vec::new();
    for piece in 0..snapshot.header().n_pieces {
        snapshot.octs(piece, &names, &mut |block| {
            octs.push(block.clone());
            Ok(())
        })?;
    }
    let fields: Vec<_> =
        snapshot.fields().iter().map(|f| FieldInfo { family: "hydro", name: f.name.clone() }).collect();
    let header = Header { number: Some(number), ..snapshot.header().clone() };
    let output =
        Output { header: &header, fields: &fields, octs: &octs, particles: None, adiabatic_index: MONATOMIC };
    let split = Split { n_cpus: 1, oct_owner: &|_, _| 0, particle_owner: &|_| 0, ghosts: false };
    Ok(ramses::write::stage(folder, output, split, &Dialect::default())?)
}
