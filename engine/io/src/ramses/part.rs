//! `part_NNNNN.outCCCCC`: the particles of one CPU, one record per column.
//!
//! The descriptor names the columns. Outputs without a descriptor have positions, velocities, mass, identity
//! and level. Families and tags of one byte may follow, then reals without names, of which `birth` finds the
//! birth time. In outputs without families a star has a birth time other than 0, a sink cloud has a negative
//! identity, debris has both, and a tracer has mass 0.

use super::descriptor::{DescribedColumn, Descriptor};
use super::record::{FortranRecord, Records};
use crate::source_file::SourceFile;
use crate::{Every, Family, ParticleBlock, ReadError, ReadResult};
use std::ops::Range;
use std::path::Path;

/// Particles per block.
const BLOCK: usize = 4096;
/// The least bytes per particle: seven reals in single precision.
const LEAST_BYTES: usize = 28;

const POSITION: [&str; 3] = ["position_x", "position_y", "position_z"];
const VELOCITY: [&str; 3] = ["velocity_x", "velocity_y", "velocity_z"];
const OTHERS: [&str; 2] = ["mass", "identity"];

/// Reads the descriptor of particle files, which must name the columns of every particle.
///
/// # Errors
/// It is damaged, or a name is missing.
pub(super) fn descriptor(path: &Path) -> ReadResult<Descriptor> {
    let found = Descriptor::read(path)?;
    found.check_names(POSITION.into_iter().chain(VELOCITY).chain(OTHERS))?;
    Ok(found)
}

/// A particle file after its header, before its first column.
pub(super) struct ParticleFile<'a> {
    records: Records<'a>,
    /// Number of particles.
    pub(super) n: usize,
    /// The number of stars of the whole output, as this file states it.
    pub(super) n_stars: u64,
}

/// The columns of an output without a descriptor.
struct UnnamedColumns<'a> {
    /// Those that every output has.
    named: Vec<(String, ParticleColumn<'a>)>,
    /// Families, where there are columns of bytes.
    families: Option<ParticleColumn<'a>>,
    /// Reals that nothing names.
    rest: Vec<ParticleColumn<'a>>,
}

impl<'a> UnnamedColumns<'a> {
    /// The columns with a name. `birth` is the birth time among those without.
    fn with_birth(self, birth: Option<usize>) -> Vec<(String, ParticleColumn<'a>)> {
        let Self { mut named, families, rest } = self;
        named.extend(families.map(|column| ("family".to_string(), column)));
        let birth = birth.and_then(|birth| rest.into_iter().nth(birth));
        named.extend(birth.map(|column| ("birth_time".to_string(), column)));
        named
    }
}

/// Sides of the box in code length units, `None` along axes that are not periodic.
pub(super) type Wrap = [Option<f64>; 3];

/// One column: its record and the bytes and kind of an element.
struct ParticleColumn<'a> {
    record: FortranRecord<'a>,
    letter: char,
}

/// The columns of a block.
struct PartColumns<'a> {
    position: [ParticleColumn<'a>; 3],
    velocity: [ParticleColumn<'a>; 3],
    mass: ParticleColumn<'a>,
    id: ParticleColumn<'a>,
    family: Option<ParticleColumn<'a>>,
    birth: Option<ParticleColumn<'a>>,
}

impl<'a> ParticleFile<'a> {
    /// Reads the header of `file`, which must be of a run on `n_cpus`.
    ///
    /// # Errors
    /// A record is broken, or the header claims more particles than the file can hold.
    pub(super) fn open(file: &'a SourceFile, n_cpus: usize) -> ReadResult<Self> {
        let mut records = Records::new(file);
        let found = records.count("ncpu", 1)?;
        if found != n_cpus {
            return Err(records.error("ncpu", format!("{found}"), format!("{n_cpus}, as in the info file")));
        }
        match records.int("ndim")? {
            3 => {}
            n => return Err(records.error("ndim", format!("{n}"), "3")),
        }
        let n = records.wide_count("npart")?;
        let room = records.file_len() / LEAST_BYTES;
        if n > room {
            let problem = format!("the header claims {n} particles");
            let expected = format!("at most {room} in the file's {} bytes", records.file_len());
            return Err(records.error("npart", problem, expected));
        }
        records.skip("localseed", 1)?;
        let n_stars = records.wide_count("nstar_tot")? as u64;
        records.skip("mstar_tot to nsink", 3)?;
        Ok(Self { records, n, n_stars })
    }

    /// The number of stars that each column behind the levels would give as birth time; `None` where families
    /// are stored. For outputs without a descriptor.
    ///
    /// # Errors
    /// A record is broken.
    pub(super) fn stars_by_column(mut self) -> ReadResult<Option<Vec<u64>>> {
        let UnnamedColumns { named, families, mut rest } = self.undescribed()?;
        if families.is_some() {
            return Ok(None);
        }
        let is_needed = |name: &str| name == "mass" || name == "identity";
        let mut needed: Vec<_> = named.into_iter().filter(|(name, _)| is_needed(name)).collect();
        let [(_, mass), (_, id)] = &mut needed[..] else { return Ok(Some(Vec::new())) };
        let mut counts = vec![0; rest.len()];
        for first in (0..self.n).step_by(BLOCK) {
            let range = first..self.n.min(first + BLOCK);
            [&mut *mass, &mut *id].into_iter().chain(&mut rest).try_for_each(|values| values.load(&range))?;
            for (count, birth) in counts.iter_mut().zip(&rest) {
                let is_star =
                    |i: &usize| family_by_values(mass.real(*i), birth.real(*i), id.int(*i)) == Family::Star;
                *count += range.clone().filter(is_star).count() as u64;
            }
        }
        Ok(Some(counts))
    }

    /// Streams a selection of the blocks of particles in file order; others are not read. Without a descriptor,
    /// `birth` is the column with the birth time behind the levels.
    ///
    /// # Errors
    /// A record is broken. The error of `sink` ends the stream.
    pub(super) fn stream(
        mut self,
        descriptor: Option<&Descriptor>,
        birth: Option<usize>,
        wrap: Wrap,
        blocks: Every,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let path = self.records.path();
        let named = match descriptor {
            Some(descriptor) => self.described(descriptor)?,
            None => self.undescribed()?.with_birth(birth),
        };
        let mut table = PartColumns::pick(path, named)?;
        let (mut block, mut blocks) = (ParticleBlock::default(), blocks.counted());
        for first in (0..self.n).step_by(BLOCK).filter(|_| blocks.next_is_taken()) {
            table.fill(&mut block, first..self.n.min(first + BLOCK), wrap)?;
            sink(&block)?;
        }
        Ok(())
    }

    fn described(&mut self, descriptor: &Descriptor) -> ReadResult<Vec<(String, ParticleColumn<'a>)>> {
        let read = |column: &DescribedColumn| Ok((column.name.clone(), self.column(type_of(column))?));
        let named: Vec<_> = descriptor.columns().iter().map(read).collect::<ReadResult<_>>()?;
        let n = named.len() + self.records.count_rest("column")?;
        descriptor.check_count(n, &format!("as {} has", self.records.path().display()))?;
        Ok(named)
    }

    /// The columns of outputs without a descriptor.
    fn undescribed(&mut self) -> ReadResult<UnnamedColumns<'a>> {
        let mut named = Vec::new();
        for name in POSITION.iter().chain(&VELOCITY).chain(&["mass"]) {
            named.push((name.to_string(), self.column('d')?));
        }
        named.push(("identity".to_string(), self.column('?')?));
        named.push(("levelp".to_string(), self.column('i')?));
        let (mut families, mut rest) = (None, Vec::new());
        while !self.records.at_end() {
            match (rest.len(), &families) {
                (0, None) => match self.column('*')? {
                    family if family.letter == 'b' => {
                        self.column('b')?;
                        families = Some(family);
                    }
                    real => rest.push(real),
                },
                _ => rest.push(self.column('d')?),
            }
        }
        Ok(UnnamedColumns { named, families, rest })
    }

    /// The next column. Reals may be of either precision whatever the descriptor says; `?` stands
    /// for an integer of 4 or 8 bytes, `*` for a real or a byte.
    fn column(&mut self, letter: char) -> ReadResult<ParticleColumn<'a>> {
        let what = "column";
        let record = self.records.next(what)?;
        let allowed = match letter {
            'd' | 'f' => "df",
            '?' => "iq",
            '*' => "dfb",
            'i' => "i",
            'q' => "q",
            'h' => "h",
            _ => "b",
        };
        let fits = |c: &char| self.n.checked_mul(width(*c)) == Some(record.len());
        match allowed.chars().find(fits) {
            Some(letter) => Ok(ParticleColumn { record, letter }),
            None => {
                let expected = format!("{} elements of type {letter}", self.n);
                Err(self.records.error(what, format!("{} bytes", record.len()), expected))
            }
        }
    }
}

/// The type letter of a column; in the older style it follows from the name.
fn type_of(column: &DescribedColumn) -> char {
    column.letter.unwrap_or(match column.name.as_str() {
        "identity" => '?',
        "levelp" => 'i',
        "family" | "tag" => 'b',
        _ => 'd',
    })
}

fn width(letter: char) -> usize {
    match letter {
        'd' | 'q' => 8,
        'f' | 'i' => 4,
        'h' => 2,
        _ => 1,
    }
}

impl ParticleColumn<'_> {
    /// Reads the elements in `range`.
    fn load(&mut self, range: &Range<usize>) -> ReadResult<()> {
        let width = width(self.letter);
        self.record.load(width * range.start..width * range.end)
    }

    fn real(&self, i: usize) -> f64 {
        match self.letter {
            'd' => f64::from_le_bytes(self.record.bytes(8 * i)),
            'f' => f64::from(f32::from_le_bytes(self.record.bytes(4 * i))),
            _ => self.int(i) as f64,
        }
    }

    fn int(&self, i: usize) -> i64 {
        match self.letter {
            'q' => i64::from_le_bytes(self.record.bytes(8 * i)),
            'i' => i64::from(i32::from_le_bytes(self.record.bytes(4 * i))),
            'h' => i64::from(i16::from_le_bytes(self.record.bytes(2 * i))),
            'b' => i64::from(i8::from_le_bytes(self.record.bytes(i))),
            _ => self.real(i) as i64,
        }
    }
}

impl<'a> PartColumns<'a> {
    fn pick(path: &Path, mut named: Vec<(String, ParticleColumn<'a>)>) -> ReadResult<Self> {
        let mut take = |name: &str| {
            let place = named.iter().position(|(n, _)| n == name)?;
            Some(named.swap_remove(place).1)
        };
        let mut need = |name: &str| {
            take(name).ok_or_else(|| {
                ReadError::content(path, format!("column {name}"), "not in the file", "every particle's")
            })
        };
        let position = [need(POSITION[0])?, need(POSITION[1])?, need(POSITION[2])?];
        let velocity = [need(VELOCITY[0])?, need(VELOCITY[1])?, need(VELOCITY[2])?];
        let (mass, id) = (need("mass")?, need("identity")?);
        Ok(Self { position, velocity, mass, id, family: take("family"), birth: take("birth_time") })
    }

    fn load(&mut self, range: &Range<usize>) -> ReadResult<()> {
        let Self { position, velocity, mass, id, family, birth } = self;
        let always = position.iter_mut().chain(velocity).chain([mass, id]);
        always.chain(family).chain(birth).try_for_each(|values| values.load(range))
    }

    fn fill(&mut self, block: &mut ParticleBlock, range: Range<usize>, wrap: Wrap) -> ReadResult<()> {
        self.load(&range)?;
        block.first = range.start as u64;
        refill(&mut block.position, range.clone(), |i| {
            std::array::from_fn(|a| wrapped(self.position[a].real(i), wrap[a]))
        });
        refill(&mut block.velocity, range.clone(), |i| std::array::from_fn(|a| self.velocity[a].real(i)));
        refill(&mut block.mass, range.clone(), |i| self.mass.real(i));
        refill(&mut block.id, range.clone(), |i| self.id.int(i));
        refill(&mut block.family, range, |i| self.family_of(i));
        Ok(())
    }

    fn family_of(&self, i: usize) -> Family {
        match &self.family {
            Some(code) => by_code(code.int(i)),
            None => {
                let birth = self.birth.as_ref().map_or(0.0, |birth| birth.real(i));
                family_by_values(self.mass.real(i), birth, self.id.int(i))
            }
        }
    }
}

/// The family of a particle of an output without families. `birth` is 0 where there is no birth time.
fn family_by_values(mass: f64, birth: f64, id: i64) -> Family {
    match (birth != 0.0, id < 0) {
        _ if mass == 0.0 => Family::Tracer,
        (true, false) => Family::Star,
        (true, true) => Family::Debris,
        (false, true) => Family::Cloud,
        (false, false) => Family::DarkMatter,
    }
}

fn refill<T>(column: &mut Vec<T>, range: Range<usize>, value: impl FnMut(usize) -> T) {
    column.clear();
    column.extend(range.map(value));
}

/// RAMSES's family codes.
fn by_code(code: i64) -> Family {
    match code {
        1 => Family::DarkMatter,
        2 => Family::Star,
        3 => Family::Cloud,
        4 => Family::Debris,
        ..=0 => Family::Tracer,
        _ => Family::Other,
    }
}

/// `x` brought into `[0, side)`.
fn wrapped(x: f64, side: Option<f64>) -> f64 {
    let Some(side) = side else { return x };
    let within = x.rem_euclid(side);
    // A tiny negative number rounds up to the side itself.
    if within == side { 0.0 } else { within }
}
