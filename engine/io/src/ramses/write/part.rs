//! Writes part files.

use super::record::RecordWriter;
use super::{Output, OutputWriter, RamsesWriteError, RamsesWriteResult, Split};
use crate::{Family, ParticleBlock};

/// Checks that the columns are of equal length and that every particle has an owner.
pub(super) fn check(output: Output, split: Split) -> RamsesWriteResult<()> {
    let Some(all) = output.particles else { return Ok(()) };
    let n = all.id.len();
    let lengths = [all.position.len(), all.velocity.len(), all.mass.len(), all.family.len()];
    if lengths.iter().any(|&len| len != n) {
        return Err(RamsesWriteError::Invalid(format!("particle columns of {lengths:?} for {n} identities")));
    }
    match (0..n).find(|&i| (split.particle_owner)(i) >= split.n_cpus) {
        Some(i) => {
            Err(RamsesWriteError::Invalid(format!("particle {i} has no owner among {} CPUs", split.n_cpus)))
        }
        None => Ok(()),
    }
}

/// Identities are of 8 bytes where the dialect says so or one of them needs it.
fn has_wide_ids(job: &OutputWriter) -> bool {
    let ids = job.output.particles.map_or(&[][..], |all| &all.id);
    job.dialect.wide_ids || ids.iter().any(|&id| i32::try_from(id).is_err())
}

/// Writes the particle file of `cpu`, if there are particles.
pub(super) fn write(job: &OutputWriter, cpu: usize) -> RamsesWriteResult<()> {
    let Some(all) = job.output.particles else { return Ok(()) };
    let own: Vec<_> = (0..all.id.len()).filter(|&i| (job.split.particle_owner)(i) == cpu).collect();
    let mut out = RecordWriter::create(&job.file("part", cpu), job.dialect)?;
    header(job, &mut out, all, own.len())?;
    for axis in 0..3 {
        out.reals(own.iter().map(|&i| all.position[i][axis]))?;
    }
    for axis in 0..3 {
        out.reals(own.iter().map(|&i| all.velocity[i][axis]))?;
    }
    out.reals(own.iter().map(|&i| all.mass[i]))?;
    if has_wide_ids(job) {
        out.longs(own.iter().map(|&i| all.id[i]))?;
    } else {
        out.ints(own.iter().map(|&i| all.id[i] as i32))?;
    }
    out.ints(own.iter().map(|_| i32::from(job.output.header.levelmin)))?;
    if job.dialect.has_families() {
        out.bytes(own.iter().map(|&i| code(all.family[i]) as u8))?;
        out.bytes(own.iter().map(|_| 0))?;
    } else if n_of(all, Family::Star) > 0 {
        out.reals(own.iter().map(|&i| birth_time(all.family[i])))?;
    }
    out.finish()
}

/// Names and type letters of the columns.
pub(super) fn columns(job: &OutputWriter) -> Vec<(&'static str, char)> {
    let real = if job.dialect.single_precision { 'f' } else { 'd' };
    let reals = ["position_x", "position_y", "position_z", "velocity_x", "velocity_y", "velocity_z", "mass"];
    let mut columns: Vec<_> = reals.into_iter().map(|name| (name, real)).collect();
    columns.push(("identity", if has_wide_ids(job) { 'q' } else { 'i' }));
    columns.push(("levelp", 'i'));
    if job.dialect.has_families() {
        columns.extend([("family", 'b'), ("tag", 'b')]);
    } else if job.output.particles.is_some_and(|all| n_of(all, Family::Star) > 0) {
        columns.push(("birth_time", real));
    }
    columns
}

/// Particles of one family.
pub(super) fn n_of(all: &ParticleBlock, family: Family) -> usize {
    all.family.iter().filter(|f| **f == family).count()
}

fn header(
    job: &OutputWriter,
    out: &mut RecordWriter,
    all: &ParticleBlock,
    n: usize,
) -> RamsesWriteResult<()> {
    let wide = job.dialect.wide_counts;
    let count = |out: &mut RecordWriter, n: usize| {
        if wide { out.longs([n as i64]) } else { out.ints([n as i32]) }
    };
    out.ints([job.split.n_cpus as i32])?;
    out.ints([3])?;
    count(out, n)?;
    out.ints([0; 4])?;
    count(out, n_of(all, Family::Star))?;
    out.reals([0.0])?;
    out.reals([0.0])?;
    out.ints([0])
}

fn code(family: Family) -> i8 {
    match family {
        Family::DarkMatter => 1,
        Family::Star => 2,
        Family::Cloud => 3,
        Family::Debris => 4,
        // RAMSES has no gas among its particles.
        Family::Gas | Family::Other => 5,
        Family::Tracer => 0,
    }
}

/// Anything but 0 marks a star.
fn birth_time(family: Family) -> f64 {
    if family == Family::Star { 1.0 } else { 0.0 }
}
