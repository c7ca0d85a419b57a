//! `part_NNNNN.outCCCCC`: the particles of one CPU, one record per column.
//!
//! The descriptor names the columns. Older outputs without a descriptor have positions, velocities, mass, identity and level,
//! then perhaps birth time and metallicity. In outputs without families a star has a birth time other than 0, a sink cloud has
//! a negative identity, and a tracer has mass 0.

use super::descriptor::{DescribedColumn, Descriptor};
use super::record::{FortranRecord, Records};
use crate::source_file::SourceFile;
use crate::{Family, ParticleBlock, ReadError, ReadResult};
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
        records.skip("localseed to nsink", 5)?;
        Ok(Self { records, n })
    }

    /// Streams the particles in file order.
    pub(super) fn stream(
        mut self,
        descriptor: Option<&Descriptor>,
        wrap: Wrap,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let path = self.records.path();
        let named = match descriptor {
            Some(descriptor) => self.described(descriptor)?,
            None => self.undescribed()?,
        };
        let mut table = PartColumns::pick(path, named)?;
        let mut block = ParticleBlock::default();
        for first in (0..self.n).step_by(BLOCK) {
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
    fn undescribed(&mut self) -> ReadResult<Vec<(String, ParticleColumn<'a>)>> {
        let mut named = Vec::new();
        for name in POSITION.iter().chain(&VELOCITY).chain(&["mass"]) {
            named.push((name.to_string(), self.column('d')?));
        }
        named.push(("identity".to_string(), self.column('?')?));
        named.push(("levelp".to_string(), self.column('i')?));
        let mut rest = Vec::new();
        while !self.records.at_end() {
            let column = self.column('d')?;
            if rest.len() < 3 {
                rest.push(column);
            }
        }
        let names: &[&str] = match rest.len() {
            0..=2 => &["birth_time", "metallicity"],
            _ => &["potential", "birth_time", "metallicity"],
        };
        named.extend(names.iter().map(|name| name.to_string()).zip(rest));
        Ok(named)
    }

    /// The next column. Reals may be of either precision whatever the descriptor says; `?` stands
    /// for an integer of 4 or 8 bytes.
    fn column(&mut self, letter: char) -> ReadResult<ParticleColumn<'a>> {
        let what = "column";
        let record = self.records.next(what)?;
        let allowed = match letter {
            'd' | 'f' => "df",
            '?' => "iq",
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
            None if self.mass.real(i) == 0.0 => Family::Tracer,
            None if self.birth.as_ref().is_some_and(|b| b.real(i) != 0.0) => Family::Star,
            None if self.id.int(i) < 0 => Family::Cloud,
            None => Family::DarkMatter,
        }
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
