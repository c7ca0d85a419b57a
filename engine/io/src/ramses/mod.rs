//! RAMSES outputs: a folder `output_NNNNN` of text headers and per-CPU files of Fortran records.
//!
//! A piece is the set of one CPU's files. Its amr file and the hydro and grav files of the requested fields
//! are read together, block by block, and must agree. Ghosts and boundary octs are skipped, so every oct
//! occurs once over all pieces.

mod amr;
mod birth;
mod cells;
mod descriptor;
mod grid;
mod hydro_names;
mod info;
mod locate;
mod part;
mod record;
mod walls;
pub mod write;

use super::{
    Counted, Every, FieldDefaults, FieldInfo, Header, OctBlock, ParticleBlock, ReadError, ReadResult, Reader,
    Snapshot, facts,
};
use crate::open_files;
use crate::source_file::SourceFile;
use amr::{Amr, Octs};
use birth::BirthColumn;
use cells::{CellColumn, CellFile};
use descriptor::Descriptor;
use grid::CoarseGrid;
use hydro_names::HydroNames;
use info::Info;
pub(crate) use locate::output_files;
use locate::{FileFamily, Files};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The RAMSES reader.
pub const READER: Reader = Reader {
    name: "RAMSES",
    looks: "a folder such as output_00002 with its info_00002.txt",
    recognises: |path, _| locate::looks_like_output(path),
    read_headers: |path, defaults| {
        defaults.refuse_all(path, READER.name)?;
        Ok(facts::encode(&Ramses::find(path, defaults)?))
    },
    open: |known| Box::new(facts::decode::<Ramses>(known)),
};

/// Octs per block.
const BLOCK: usize = 4096;

/// An opened RAMSES output.
#[derive(Serialize, Deserialize)]
struct Ramses {
    files: Files,
    info: Info,
    grid: CoarseGrid,
    header: Header,
    fields: Vec<FieldInfo>,
    sources: Vec<FieldColumn>,
    /// Values per cell of the hydro and grav files; 0 without such files.
    n_vars: [usize; 2],
    /// Where the names of the hydro variables come from; `None` without such files.
    hydro_names: Option<HydroNames>,
    part_columns: Option<Descriptor>,
    /// The column with the birth times, in particle files without a descriptor.
    birth: BirthColumn,
    /// Ratio of specific heats; 0 without gas.
    gamma: f64,
}

/// The place of a field: its family of files and its index among the values of a cell.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct FieldColumn {
    kind: FileFamily,
    var: usize,
}

fn header(files: &Files, info: &Info, grid: &CoarseGrid) -> Header {
    Header {
        format: READER.name,
        number: Some(files.number()),
        time: info.time,
        boxlen: info.boxlen,
        origin: [0.0; 3],
        coarse: grid.coarse,
        periodic: grid.periodic,
        levelmin: info.levelmin,
        levelmax: info.levelmax,
        units: info.units,
        cosmology: info.cosmology.clone(),
        n_pieces: info.n_cpus,
    }
}

impl Ramses {
    /// Finds the output at `path` and reads its headers.
    fn find(path: &Path, defaults: &FieldDefaults) -> ReadResult<Self> {
        let files = Files::find(path)?;
        let info = Info::read(&files.info(), &defaults.cosmology)?;
        for kind in [FileFamily::Amr, FileFamily::Hydro, FileFamily::Grav, FileFamily::Part] {
            if kind == FileFamily::Amr || files.has(kind) {
                files.check_complete(kind, info.n_cpus)?;
            }
        }
        let amr_files: Vec<_> = (0..info.n_cpus).map(|i| files.piece(FileFamily::Amr, i)).collect();
        let grid = CoarseGrid::find(&amr_files, info.n_cpus)?;
        let header = header(&files, &info, &grid);
        let part_columns = match files.descriptor(FileFamily::Part) {
            Some(path) if files.has(FileFamily::Part) => Some(part::descriptor(path)?),
            _ => None,
        };
        let birth = match part_columns.is_none() && files.has(FileFamily::Part) {
            true => BirthColumn::find(&files, info.n_cpus)?,
            false => BirthColumn::NoneHere,
        };
        let mut ramses = Self {
            files,
            info,
            grid,
            header,
            fields: Vec::new(),
            sources: Vec::new(),
            n_vars: [0; 2],
            hydro_names: None,
            part_columns,
            birth,
            gamma: 0.0,
        };
        ramses.add_fields(FileFamily::Hydro, defaults)?;
        ramses.add_fields(FileFamily::Grav, defaults)?;
        Ok(ramses)
    }

    fn add_fields(&mut self, kind: FileFamily, defaults: &FieldDefaults) -> ReadResult<()> {
        if !self.files.has(kind) {
            return Ok(());
        }
        let path = self.files.piece(kind, 0);
        let file = SourceFile::open(&path)?;
        let CellFile { n_vars: n, gamma, .. } = CellFile::open(&file, kind)?;
        if kind == FileFamily::Hydro {
            self.gamma = gamma;
        }
        let names = match kind {
            FileFamily::Hydro => self.name_hydro(n, &path, defaults)?,
            _ => grav_names(n, &path)?,
        };
        for (var, name) in names.into_iter().enumerate() {
            let name = self.unique(kind, name);
            self.fields.push(FieldInfo { family: kind.name(), name });
            self.sources.push(FieldColumn { kind, var });
        }
        self.n_vars[(kind == FileFamily::Grav) as usize] = n;
        Ok(())
    }

    /// The names of the `n` variables of the hydro files, and where they come from.
    fn name_hydro(&mut self, n: usize, file: &Path, defaults: &FieldDefaults) -> ReadResult<Vec<String>> {
        let descriptor = self.files.descriptor(FileFamily::Hydro);
        let (origin, names) = hydro_names::names(descriptor, defaults, n, file)?;
        self.hydro_names = Some(origin);
        Ok(names)
    }

    /// `name`, or a similar name if another field has it.
    fn unique(&self, kind: FileFamily, name: String) -> String {
        let taken = |name: &str| self.fields.iter().any(|f| f.name == name);
        if !taken(&name) {
            return name;
        }
        let mut other = format!("{}_{name}", kind.name());
        while taken(&other) {
            other.push('_');
        }
        other
    }

    fn source(&self, name: &str) -> ReadResult<FieldColumn> {
        match self.fields.iter().position(|f| f.name == name) {
            Some(i) => Ok(self.sources[i]),
            None => {
                let names: Vec<_> = self.fields.iter().map(|f| f.name.as_str()).collect();
                let known = if names.is_empty() { "no fields".into() } else { names.join(", ") };
                let what = format!("no field \"{name}\"; expected one of what it has: {known}");
                Err(ReadError::absent(self.files.root(), what))
            }
        }
    }

    /// The value files that the `sources` need, opened.
    fn open_values(
        &self,
        piece: usize,
        sources: &[FieldColumn],
    ) -> ReadResult<Vec<(FileFamily, SourceFile)>> {
        let kinds = [FileFamily::Hydro, FileFamily::Grav];
        let needed = kinds.into_iter().filter(|k| sources.iter().any(|s| s.kind == *k));
        needed.map(|k| Ok((k, SourceFile::open(&self.files.piece(k, piece))?))).collect()
    }

    fn n_vars(&self, kind: FileFamily) -> usize {
        self.n_vars[(kind == FileFamily::Grav) as usize]
    }

    fn part_wrap(&self) -> part::Wrap {
        let side = |a: usize| self.info.boxlen * f64::from(self.grid.coarse[a]);
        std::array::from_fn(|a| self.grid.periodic[a].then(|| side(a)))
    }

    fn check_piece(&self, piece: usize) -> ReadResult<()> {
        if piece < self.info.n_cpus {
            return Ok(());
        }
        let what = format!("no piece {piece}; expected one below {}", self.info.n_cpus);
        Err(ReadError::absent(self.files.root(), what))
    }
}

fn grav_names(n: usize, path: &Path) -> ReadResult<Vec<String>> {
    match cells::grav_names(n) {
        Some(names) => Ok(names.iter().map(|name| name.to_string()).collect()),
        None => {
            let expected = "3 (forces), 4 (potential too) or 5 (rho too)";
            Err(ReadError::content(path, "record 2 (nvar)", format!("{n} values a cell"), expected))
        }
    }
}

impl Snapshot for Ramses {
    fn header(&self) -> &Header {
        &self.header
    }

    fn fields(&self) -> &[FieldInfo] {
        &self.fields
    }

    fn has_particles(&self) -> bool {
        self.files.has(FileFamily::Part)
    }

    fn adiabatic_index(&self) -> Option<f64> {
        (self.gamma > 1.0 && self.gamma.is_finite()).then_some(self.gamma)
    }

    fn notes(&self) -> Vec<String> {
        let of_hydro = self.hydro_names.and_then(|names| names.assumption(self.n_vars[0]));
        of_hydro.into_iter().chain(self.birth.assumption()).collect()
    }

    fn unclear_gas(&self) -> Option<String> {
        self.hydro_names.and_then(|names| names.unclear(self.n_vars[0]))
    }

    fn place_of(&self, piece: usize, field: Option<&str>) -> PathBuf {
        match field.map(|name| self.source(name)) {
            None => self.files.piece(FileFamily::Part, piece),
            Some(Ok(source)) => self.files.piece(source.kind, piece),
            Some(Err(_)) => self.files.root().into(),
        }
    }

    fn count_octs(&self, piece: usize) -> ReadResult<Vec<u64>> {
        self.check_piece(piece)?;
        let _pass = open_files::pass_for(open_files::A_PIECE);
        let file = SourceFile::open(&self.files.piece(FileFamily::Amr, piece))?;
        let header = Amr::open(&file, self.info.n_cpus)?.header;
        let counts = (1..=header.n_levels).map(|level| header.count(level, piece + 1) as u64);
        Ok(std::iter::once(0).chain(counts).collect())
    }

    fn count_particles(&self, piece: usize) -> ReadResult<u64> {
        self.check_piece(piece)?;
        if !self.has_particles() {
            return Ok(0);
        }
        let _pass = open_files::pass_for(open_files::A_PIECE);
        let file = SourceFile::open(&self.files.piece(FileFamily::Part, piece))?;
        Ok(part::ParticleFile::open(&file, self.info.n_cpus)?.n as u64)
    }

    fn octs(
        &self,
        piece: usize,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.octs_of(piece, Every::ALL, fields, sink)
    }

    fn octs_of(
        &self,
        piece: usize,
        blocks: Every,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.check_piece(piece)?;
        let sources = fields.iter().map(|f| self.source(f)).collect::<ReadResult<Vec<_>>>()?;
        let _pass = open_files::pass_for(open_files::A_PIECE);
        let amr_file = SourceFile::open(&self.files.piece(FileFamily::Amr, piece))?;
        let value_files = self.open_values(piece, &sources)?;
        let amr = Amr::open(&amr_file, self.info.n_cpus)?;
        self.grid.check(&amr, amr_file.path())?;
        let mut files = Vec::new();
        for (kind, file) in &value_files {
            let mut file = CellFile::open(file, *kind)?;
            file.check(&amr.header, amr_file.path(), self.n_vars(*kind))?;
            let of_kind = sources.iter().enumerate().filter(|(_, s)| s.kind == *kind);
            of_kind.for_each(|(column, s)| file.want(s.var, column));
            files.push(file);
        }
        let walk =
            PieceWalk { grid: &self.grid, path: amr_file.path(), own: piece + 1, n_columns: fields.len() };
        walk.run(amr, files, blocks, sink)
    }

    fn beyond_walls(&self, piece: usize, field: &str, sink: &mut dyn FnMut([i8; 3], f64)) -> ReadResult<()> {
        self.boundary_leaves(piece, field, sink)
    }

    fn particles_of(
        &self,
        piece: usize,
        blocks: Every,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.check_piece(piece)?;
        if !self.has_particles() {
            return Ok(());
        }
        let _pass = open_files::pass_for(open_files::A_PIECE);
        let file = SourceFile::open(&self.files.piece(FileFamily::Part, piece))?;
        let particles = part::ParticleFile::open(&file, self.info.n_cpus)?;
        let birth = self.birth.known(file.path())?;
        particles.stream(self.part_columns.as_ref(), birth, self.part_wrap(), blocks, sink)
    }
}

/// One pass over the files of a piece together.
struct PieceWalk<'a> {
    grid: &'a CoarseGrid,
    /// The amr file, for messages.
    path: &'a Path,
    /// The domain whose octs are streamed.
    own: usize,
    n_columns: usize,
}

impl PieceWalk<'_> {
    fn run(
        &self,
        mut amr: Amr,
        mut files: Vec<CellFile>,
        blocks: Every,
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let (mut block, mut blocks) = (OctBlock::default(), blocks.counted());
        for level in 1..=amr.header.n_levels {
            for domain in 1..=amr.header.n_domains() {
                let n = amr.header.count(level, domain);
                let octs = amr.block(level, domain, domain == self.own)?;
                let mut values = Vec::new();
                for file in &mut files {
                    values.extend(file.block((level, domain), n, self.path, domain == self.own)?);
                }
                if let Some(mut octs) = octs {
                    self.deliver(level, &mut octs, &mut values, &mut block, &mut blocks, sink)?;
                }
            }
        }
        Ok(())
    }

    fn deliver(
        &self,
        level: usize,
        octs: &mut Octs,
        values: &mut [CellColumn],
        block: &mut OctBlock,
        blocks: &mut Counted,
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        for first in (0..octs.n).step_by(BLOCK) {
            let range = first..octs.n.min(first + BLOCK);
            if blocks.next_is_taken() {
                self.fill(level, octs, values, range, block)?;
                sink(block)?;
            }
        }
        Ok(())
    }

    fn fill(
        &self,
        level: usize,
        octs: &mut Octs,
        values: &mut [CellColumn],
        range: std::ops::Range<usize>,
        block: &mut OctBlock,
    ) -> ReadResult<()> {
        octs.load(range.clone())?;
        values.iter_mut().try_for_each(|values| values.load(range.clone()))?;
        block.level = level as u8;
        block.position.clear();
        block.split.clear();
        block.values.resize_with(self.n_columns, Vec::new);
        for i in range.clone() {
            let position = self.grid.position(octs, i, level);
            block.position.push(position.ok_or_else(|| grid::outside(self.path, level))?);
            block.split.push((0..8).fold(0, |bits, c| bits | u8::from(octs.son[c].get(i) != 0) << c));
        }
        for column in &*values {
            let into = &mut block.values[column.column];
            into.clear();
            into.extend(range.clone().map(|i| std::array::from_fn(|c| column.cells[c].get(i))));
        }
        Ok(())
    }
}
