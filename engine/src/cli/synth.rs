//! `inselberg synth`.

use super::fault::Failure;
use super::out::{self, grouped};
use super::{interrupt, joints, preflight};
use inselberg::config::{Common, FieldJob, ParticleJob};
use inselberg::io::Snapshot;
use inselberg::synth::{ParticleBox, SynthField, THRESHOLD, write_particles};
use serde_json::json;

/// Makes a density field and writes it as a RAMSES output.
pub fn field(job: &FieldJob, common: Common) -> Result<(), Failure> {
    preflight::folder(&job.output)?;
    let field = SynthField::new(&job.params)?;
    let census = field.census()?;
    interrupt::guard(&[], &[&job.output]);
    joints::write_ramses_output(&job.output, &field)?;
    let (header, leaves) = (field.header(), census.leaves.iter().sum::<u64>());
    let text = || {
        format!(
            "{}: levels {} to {}, {} leaf cells, {} above the density threshold {THRESHOLD}, {} clumps seeded",
            job.output.display(),
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
            "output": job.output, "levelmin": header.levelmin, "levelmax": header.levelmax,
            "leaf_cells": leaves, "test_cells": census.test_cells, "density_threshold": THRESHOLD,
            "clumps": clumps().collect::<Vec<_>>(),
        })
    };
    out::report(common, text, json)
}

/// Makes particles and writes them as a NumPy file.
pub fn particles(job: &ParticleJob, common: Common) -> Result<(), Failure> {
    let beside = job.output.with_extension("json");
    preflight::file(&job.output)?;
    preflight::file(&beside)?;
    interrupt::guard(&[&job.output, &beside], &[]);
    let meta = write_particles(&job.output, &ParticleBox::new(job.params))
        .map_err(|e| Failure::user(format!("{}: writing: {e}", job.output.display())))?;
    let text = || {
        format!(
            "{}: {} particles in a box of side {}, {:.1} % of them in {} haloes",
            job.output.display(),
            grouped(meta.number),
            meta.side,
            100.0 * meta.frac_in_haloes,
            grouped(meta.n_haloes_seeded as u64),
        )
    };
    out::report(common, text, || json!(meta))
}
