//! Particle positions as a NumPy file (format 1.0) with a JSON file of the same name beside it.

use super::ParticleBox;
use inselberg_comm::agree::{AgreeError, agree};
use inselberg_comm::{Comm, Rank};
use inselberg_io::particles::stage_positions;
use inselberg_io::staging::mark::MARK;
use inselberg_io::staging::{Staged, WriteError, resolve, stage_file};
use serde::Serialize;
use std::path::Path;

/// The content of the JSON file beside the particles.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParticleMeta {
    /// Number of particles.
    #[serde(rename = "N")]
    pub number: u64,
    /// Seed.
    pub seed: u64,
    /// Side of the periodic box.
    #[serde(rename = "box")]
    pub side: f64,
    /// The usual linking length: 0.2 mean distances, in units of the positions.
    pub linking_length: f64,
    /// Seeded haloes.
    pub n_haloes_seeded: usize,
    /// Share of the particles in them.
    pub frac_in_haloes: f64,
    /// Particles of the largest.
    pub largest_seeded: u64,
}

/// Collective: writes all positions, `[N, 3]` f32 in C order, to `path`, and the metadata to the same name
/// with ending `.json`. Both appear whole or not at all, and are the same for any number of ranks and
/// threads. Rank 0 makes a hidden file, each rank writes its share of the particles into it, and rank 0 gives
/// it its name; all must see the folder of `path`, and agree on `particles`. Beside the box a million
/// particles a rank are in memory.
///
/// # Errors
/// The system's on any rank, while creating, writing or renaming: then all ranks get an error and `path` is
/// as before. And when a rank is lost.
pub fn write_particles(
    path: &Path,
    particles: &ParticleBox,
    comm: &Comm,
) -> Result<ParticleMeta, AgreeError<WriteError>> {
    let (meta, staged) = stage_particles(path, particles, comm)?;
    agree(comm, staged.commit())?;
    Ok(meta)
}

/// Collective: as [`write_particles`], but leaves the last step to rank 0, which gets the files.
///
/// # Errors
/// As [`write_particles`].
pub fn stage_particles(
    path: &Path,
    particles: &ParticleBox,
    comm: &Comm,
) -> Result<(ParticleMeta, Staged), AgreeError<WriteError>> {
    let params = particles.params();
    let meta = ParticleMeta {
        number: params.number,
        seed: params.seed,
        side: f64::from(particles.side()),
        linking_length: 0.2,
        n_haloes_seeded: particles.n_haloes(),
        frac_in_haloes: particles.n_in_haloes() as f64 / params.number as f64,
        largest_seeded: particles.largest_halo(),
    };
    let mut staged = stage_positions(path, params.number, |i| particles.position(i), comm)?;
    let target = agree(comm, resolve(path))?;
    let about = (comm.rank() == Rank(0)).then(|| {
        stage_file(&target.with_extension("json"), |out| {
            let mut json = serde_json::to_value(&meta)?;
            json["creator"] = MARK.into();
            serde_json::to_writer_pretty(&mut *out, &json)?;
            writeln!(out)
        })
    });
    // Only rank 0 has the file.
    staged.extend(agree(comm, about.transpose())?.unwrap_or_default());
    Ok((meta, staged))
}
