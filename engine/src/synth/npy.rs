//! Particle positions as a NumPy file (format 1.0) with a JSON file of the same name beside it.

use super::ParticleBox;
use rayon::prelude::*;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
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

/// Writes all positions, `[N, 3]` f32 in C order, to `path`, and the metadata to the same name with
/// ending `.json`. Both appear whole or not at all.
///
/// # Errors
/// The system's, while creating, writing or renaming.
pub fn write_particles(path: &Path, particles: &ParticleBox) -> io::Result<ParticleMeta> {
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
    whole(path, |out| write_positions(out, particles))?;
    whole(&path.with_extension("json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &meta)?;
        writeln!(out)
    })?;
    Ok(meta)
}

fn write_positions(out: &mut dyn Write, particles: &ParticleBox) -> io::Result<()> {
    let number = particles.params().number;
    out.write_all(&npy_header(number))?;
    for first in (0..number).step_by(CHUNK as usize) {
        let bytes: Vec<[u8; 12]> = (0..CHUNK.min(number - first) as u32)
            .into_par_iter()
            .with_min_len(4096)
            .map(|i| {
                let [x, y, z] = particles.position(first + u64::from(i)).map(f32::to_le_bytes);
                [x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3], z[0], z[1], z[2], z[3]]
            })
            .collect();
        out.write_all(bytes.as_flattened())?;
    }
    Ok(())
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

fn whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let prefix = format!(".{name}.");
    let file = crate::hidden::file(&prefix, folder)?;
    let mut out = BufWriter::with_capacity(1 << 18, file.as_file());
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    crate::hidden::making(|| file.persist(path))?;
    Ok(())
}
