//! Positions of particles as a NumPy file (format 1.0), written by all ranks.

use crate::open_files;
use crate::staging::hidden::shared_name;
use crate::staging::mark::TAB;
use crate::staging::{Pending, Staged, WriteError, WriteResult, resolve, stage_path};
use inselberg_comm::agree::{AgreeError, agree, share_of_rank};
use inselberg_comm::{Comm, Rank};
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Particles generated and written at a time.
const CHUNK: u64 = 1 << 20;

/// Collective: stages the positions of `number` particles, `[N, 3]` f32 in C order, under the name `path`.
///
/// Rank 0 creates a hidden file, each rank writes its share of the particles, and rank 0 gets the staged
/// file. All ranks must see the folder of `path` and agree on `number` and `position`. Each rank holds a
/// million particles at a time.
///
/// # Errors
/// Those of the system on any rank, or a rank is lost. All ranks then get an error, and `path` is unchanged.
pub fn stage_positions(
    path: &Path,
    number: u64,
    position: impl Fn(u64) -> [f32; 3] + Sync,
    comm: &Comm,
) -> Result<Staged, AgreeError<WriteError>> {
    let is_first = comm.rank() == Rank(0);
    let target = agree(comm, resolve(path))?;
    let made = agree(comm, is_first.then(|| begin(path, number)).transpose())?;
    let hidden = shared_name(&target, made.as_ref().map(Pending::hidden), comm)?;
    agree(comm, write_share(&hidden, number, position, comm).map_err(WriteError::io(path, "writing")))?;
    let synced = agree(comm, made.map(Pending::synced).transpose())?;
    // Only rank 0 has the file.
    Ok(synced.map(Staged::from).unwrap_or_default())
}

/// A hidden file with the header and room for all particles.
fn begin(path: &Path, number: u64) -> WriteResult<Pending> {
    let fill = |hidden: &Path| {
        let mut file = File::options().write(true).open(hidden)?;
        let header = npy_header(number);
        file.write_all(&header)?;
        file.set_len(header.len() as u64 + number * size_of::<PositionBytes>() as u64)
    };
    stage_path(path, |hidden| fill(hidden).map_err(WriteError::io(path, "writing")))
}

/// A particle in the file.
type PositionBytes = [u8; 12];

/// Writes the particles of this rank at their offset in the hidden file.
fn write_share(
    hidden: &Path,
    number: u64,
    position: impl Fn(u64) -> [f32; 3] + Sync,
    comm: &Comm,
) -> io::Result<()> {
    let Range { start, end } = share_of_rank(number, comm.rank(), comm.n_ranks());
    let _pass = open_files::pass();
    let mut out = File::options().write(true).open(hidden)?;
    let place = npy_header(number).len() as u64 + start * size_of::<PositionBytes>() as u64;
    out.seek(SeekFrom::Start(place))?;
    let pulse = comm.pulse();
    for first in (start..end).step_by(CHUNK as usize) {
        let rows: Vec<PositionBytes> = (0..CHUNK.min(end - first) as u32)
            .into_par_iter()
            .with_min_len(4096)
            .map(|i| {
                let [x, y, z] = position(first + u64::from(i)).map(f32::to_le_bytes);
                [x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3], z[0], z[1], z[2], z[3]]
            })
            .collect();
        out.write_all(rows.as_flattened())?;
        pulse.beat();
    }
    // Each host must flush its own rows to the disk.
    out.sync_all()
}

/// Magic, version, length and a dictionary, padded to a multiple of 64 bytes. The crate npyz writes a header
/// of other bytes and no part of a file from an offset, so it would only replace these lines.
fn npy_header(number: u64) -> Vec<u8> {
    let mut dictionary =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({number}, 3), }}").into_bytes();
    while !(10 + dictionary.len() + 2).is_multiple_of(64) {
        dictionary.push(b' ');
    }
    dictionary.extend(format!("{TAB}\n").bytes());
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((dictionary.len() as u16).to_le_bytes());
    header.extend(dictionary);
    header
}
