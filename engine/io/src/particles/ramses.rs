//! The particles of a RAMSES output.

use super::file_offsets::FileOffsets;
use super::{
    Columns, DARK_MATTER, GAS, InputDefaults, MassOf, Matter, N_KINDS, ParticleHeader, ParticleInput,
    ParticleReader, SINK, STAR, Species,
};
use crate::{
    Family, FieldDefaults, InputFacts, ParticleBlock, ReadError, ReadResult, Snapshot, facts, ramses,
};
use std::ops::Range;
use std::path::PathBuf;

/// The reader of RAMSES particles.
pub const READER: ParticleReader = ParticleReader {
    name: "RAMSES",
    looks: "a folder such as output_00002 with its info_00002.txt",
    recognises: |path| (ramses::READER.recognises)(path, &FieldDefaults::default()),
    has_several_files: false,
    read_headers,
    open,
};

struct Pieces {
    about: ParticleHeader,
    snapshot: Box<dyn Snapshot>,
    offsets: FileOffsets,
}

/// Reads the header of every particle file.
fn read_headers(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<Vec<u8>> {
    defaults.refuse_units(&paths[0])?;
    let [path] = paths else {
        return Err(ReadError::absent(&paths[1], "a second output; expected a single one"));
    };
    let cosmology = FieldDefaults { cosmology: defaults.cosmology, ..FieldDefaults::default() };
    let input = crate::read_headers_with(path, &cosmology)?;
    let snapshot = crate::open_from(&input);
    if !snapshot.has_particles() {
        return Err(ReadError::absent(path, "no particle files; expected part_*.out* in the output"));
    }
    let counts = (0..snapshot.header().n_pieces).map(|piece| snapshot.count_particles(piece));
    let offsets = FileOffsets::from_counts(counts.collect::<ReadResult<Vec<_>>>()?);
    Ok(facts::encode(&(input, offsets)))
}

fn open(known: &[u8]) -> Box<dyn ParticleInput> {
    let (input, offsets): (InputFacts, FileOffsets) = facts::decode(known);
    let snapshot = crate::open_from(&input);
    Box::new(Pieces { about: about(snapshot.as_ref(), offsets.total()), snapshot, offsets })
}

fn about(snapshot: &dyn Snapshot, n: u64) -> ParticleHeader {
    let header = snapshot.header();
    let species = Species {
        name: "Particles".into(),
        kind: None,
        n,
        mass: MassOf::Each,
        is_double: true,
        has_ids: true,
        has_velocities: true,
        has_densities: false,
        has_weights: false,
        has_wind: false,
        problem: None,
    };
    ParticleHeader {
        format: header.format,
        sides: Some(header.coarse.map(|n| header.boxlen * f64::from(n))),
        periodic: header.periodic == [true; 3],
        time: header.time,
        units: Some(header.units),
        assumed_units: Vec::new(),
        boundary_is_assumed: false,
        notes: Vec::new(),
        sampled: [1.0; N_KINDS],
        cosmology: header.cosmology.clone(),
        softening: [None; N_KINDS],
        matter: Matter::of(header, snapshot.fields().iter().any(|f| f.family == "hydro")),
        species: vec![species],
    }
}

impl ParticleInput for Pieces {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    /// Skips the blocks of a piece before the rows.
    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        for (piece, rows) in self.offsets.parts(rows) {
            if rows.is_empty() {
                continue;
            }
            self.snapshot.particles(piece, &mut |block| {
                let n = block.position.len() as u64;
                let within = |row: u64| row.clamp(block.first, block.first + n) - block.first;
                append(block, within(rows.start) as usize..within(rows.end) as usize, into);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Those of each piece. Reading one in parts would read it once per part.
    fn runs(&self, _species: usize, rows: Range<u64>) -> Vec<Range<u64>> {
        let mut end = rows.start;
        let lengths = self.offsets.parts(rows).map(|(_, rows)| rows.end - rows.start);
        let runs = lengths.map(|n| {
            end += n;
            end - n..end
        });
        runs.filter(|run| !run.is_empty()).collect()
    }

    fn place_of(&self, _species: usize, row: u64) -> (PathBuf, String) {
        let (piece, row) = self.offsets.find(row);
        (self.snapshot.place_of(piece, None), format!("particle {}", row + 1))
    }
}

fn append(block: &ParticleBlock, rows: Range<usize>, into: &mut Columns) {
    into.position.extend_from_doubles(&block.position[rows.clone()]);
    if let Some(mass) = &mut into.mass {
        mass.extend_from_slice(&block.mass[rows.clone()]);
    }
    if let Some(id) = &mut into.id {
        id.extend(block.id[rows.clone()].iter().map(|id| id.cast_unsigned()));
    }
    if let Some(kind) = &mut into.kind {
        kind.extend(block.family[rows.clone()].iter().map(|f| kind_of(*f)));
    }
    if let Some(velocity) = &mut into.velocity {
        velocity.extend(block.velocity[rows.clone()].iter().map(|v| v.map(|v| v as f32)));
    }
    if let Some(density) = &mut into.density {
        density.extend(rows.map(|_| f32::NAN));
    }
}

/// Debris and tracers get a number outside of all kinds, so they are in no group.
fn kind_of(family: Family) -> u8 {
    match family {
        Family::Gas => GAS,
        Family::DarkMatter => DARK_MATTER,
        Family::Star => STAR,
        Family::Cloud => SINK,
        Family::Debris | Family::Other | Family::Tracer => u8::MAX,
    }
}
