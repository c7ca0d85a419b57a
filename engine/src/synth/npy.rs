//! Particle positions as a NumPy file (format 1.0) with a JSON file of the same name beside it.

use super::ParticleBox;
use crate::gate;
use crate::ranks::joint::{JointError, agree, hidden_name, share};
use crate::staging::{Pending, Staged, WriteError, WriteResult, resolve, stage_file, stage_path};
use inselberg_comm::{Comm, Rank};
use rayon::prelude::*;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Particles made and written at a time.
const CHUNK: u64 = 1 << 20;

/// What the JSON file beside the particles says.
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
    /// Haloes that were seeded.
    pub n_haloes_seeded: usize,
    /// Share of the particles in them.
    pub frac_in_haloes: f64,
    /// Particles of the largest.
    pub largest_seeded: u64,
}

/// Collective: writes all positions, `[N, 3]` f32 in C order, to `path`, and the metadata to the same name with
/// ending `.json`. Both appear whole or not at all, and are the same for any number of ranks and threads. Rank 0 makes
/// a hidden file, each rank writes its share of the particles into it, and rank 0 gives it its name; all must
/// see the folder of `path`, and agree on `particles`. Beside the box a million particles a rank are in memory.
///
/// # Errors
/// The system's on any rank, while creating, writing or renaming: then all ranks get an error and `path` is as before.
/// And when a rank is lost.
pub fn write_particles(
    path: &Path,
    particles: &ParticleBox,
    comm: &Comm,
) -> Result<ParticleMeta, JointError<WriteError>> {
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
) -> Result<(ParticleMeta, Staged), JointError<WriteError>> {
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
    let is_first = comm.rank() == Rank(0);
    let target = agree(comm, resolve(path))?;
    let made = agree(comm, is_first.then(|| begin(path, params.number)).transpose())?;
    let hidden = hidden_name(&target, made.as_ref().map(Pending::hidden), comm)?;
    agree(comm, write_share(&hidden, particles, comm).map_err(WriteError::io(path, "writing")))?;
    let staged = agree(comm, made.map(|made| finish(&target, made, &meta)).transpose())?;
    Ok((meta, staged.unwrap_or_default()))
}

/// A hidden file with the header and room for all particles.
fn begin(path: &Path, number: u64) -> WriteResult<Pending> {
    let fill = |hidden: &Path| {
        let mut file = File::options().write(true).open(hidden)?;
        let header = npy_header(number);
        file.write_all(&header)?;
        file.set_len(header.len() as u64 + number * size_of::<Row>() as u64)
    };
    stage_path(path, |hidden| fill(hidden).map_err(WriteError::io(path, "writing")))
}

/// A particle in the file.
type Row = [u8; 12];

/// Writes the particles of this rank at their place in the hidden file.
fn write_share(hidden: &Path, particles: &ParticleBox, comm: &Comm) -> io::Result<()> {
    let number = particles.params().number;
    let Range { start, end } = share(number, comm.rank(), comm.n_ranks());
    let _pass = gate::pass();
    let mut out = File::options().write(true).open(hidden)?;
    let place = npy_header(number).len() as u64 + start * size_of::<Row>() as u64;
    out.seek(SeekFrom::Start(place))?;
    let pulse = comm.pulse();
    for first in (start..end).step_by(CHUNK as usize) {
        let rows: Vec<Row> = (0..CHUNK.min(end - first) as u32)
            .into_par_iter()
            .with_min_len(4096)
            .map(|i| {
                let [x, y, z] = particles.position(first + u64::from(i)).map(f32::to_le_bytes);
                [x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3], z[0], z[1], z[2], z[3]]
            })
            .collect();
        out.write_all(rows.as_flattened())?;
        pulse.beat();
    }
    // Each machine has its own rows to bring to the disk.
    out.sync_all()
}

/// Both files, ready for their names.
fn finish(target: &Path, made: Pending, meta: &ParticleMeta) -> WriteResult<Staged> {
    let mut staged = Staged::from(made.synced()?);
    staged.extend(stage_file(&target.with_extension("json"), |out| {
        serde_json::to_writer_pretty(&mut *out, meta)?;
        writeln!(out)
    })?);
    Ok(staged)
}

/// Magic, version, length and a dictionary, padded to a multiple of 64 bytes.
fn npy_header(number: u64) -> Vec<u8> {
    let mut dictionary =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({number}, 3), }}").into_bytes();
    while !(10 + dictionary.len() + 1).is_multiple_of(64) {
        dictionary.push(b' ');
    }
    dictionary.push(b'\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((dictionary.len() as u16).to_le_bytes());
    header.extend(dictionary);
    header
}
