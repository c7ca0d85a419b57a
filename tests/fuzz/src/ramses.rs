//! Outputs of RAMSES with one changed file: an error, or the values of the plain reader.

use crate::bases;
use crate::bases::{Base, name};
use crate::changes::{Script, change_records, change_text};
use crate::plain;
use crate::plain::{Amr, CellFile, Oct};
use inselberg_io::{Family, ReadResult, Snapshot};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A particle: the bits of position, velocity and mass, the identity and the family.
type Particle = ([u64; 7], i64, Family);

/// All that an output holds, piece by piece.
#[derive(Default)]
struct Content {
    octs: Vec<Vec<Oct>>,
    particles: Vec<Vec<Particle>>,
}

/// The bases, made once.
pub fn bases() -> &'static [Base] {
    static BASES: OnceLock<Vec<Base>> = OnceLock::new();
    BASES.get_or_init(|| bases::all(crate::folder()))
}

/// A changed file in place of the sound one, as long as this lives.
pub struct Swapped<'a> {
    path: &'a PathBuf,
    sound: &'a [u8],
}

impl<'a> Swapped<'a> {
    /// Lets the script choose a base and a file of it.
    pub fn new(kind: &str, script: &mut Script) -> Option<(&'a Base, usize, Vec<u8>, Self)> {
        let base = &bases()[usize::from(script.bytes::<1>()[0]) % bases().len()];
        let of_kind = base.files_of(kind);
        let which = *of_kind.get(script.below(of_kind.len()))?;
        let (path, sound) = &base.files[which];
        let is_text = path.extension().is_some_and(|e| e == "txt");
        let changed = if is_text { change_text(sound, script) } else { change_records(sound, script) };
        fs::write(path, &changed).expect("writing");
        Some((base, which, changed, Self { path, sound }))
    }
}

impl Drop for Swapped<'_> {
    fn drop(&mut self) {
        fs::write(self.path, self.sound).expect("writing");
    }
}

/// Changes one file of `kind`.
pub fn target(kind: &str, bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let Some((base, which, changed, _swapped)) = Swapped::new(kind, &mut script) else { return };
    let Ok(snapshot) = inselberg_io::open(&base.root) else { return };
    let Ok(content) = read(&*snapshot) else { return };
    crate::compared();
    let bytes_of = |i: usize| if i == which { &changed[..] } else { &base.files[i].1[..] };
    let files: HashMap<String, &[u8]> =
        (0..base.files.len()).map(|i| (name(&base.files[i].0), bytes_of(i))).collect();
    check_info(&*snapshot, files["info_00007.txt"]);
    let expected = expected(&*snapshot, &files).expect("the plain reader reads what the library reads");
    for (piece, octs) in content.octs.iter().enumerate() {
        assert_eq!(*octs, expected.octs[piece], "octs of piece {piece}");
    }
    for (piece, particles) in content.particles.iter().enumerate() {
        assert_eq!(*particles, expected.particles[piece], "particles of piece {piece}");
    }
}

/// Everything, through the library.
fn read(snapshot: &dyn Snapshot) -> ReadResult<Content> {
    let names: Vec<_> = snapshot.fields().iter().map(|f| f.name.as_str()).collect();
    let mut content = Content::default();
    for piece in 0..snapshot.header().n_pieces {
        let (counts, n_particles) = (snapshot.count_octs(piece)?, snapshot.count_particles(piece)?);
        let (mut octs, mut particles) = (Vec::new(), Vec::new());
        snapshot.octs(piece, &names, &mut |block| {
            octs.extend((0..block.position.len()).map(|i| Oct {
                level: block.level,
                position: block.position[i],
                split: block.split[i],
                values: block.values.iter().map(|v| v[i].map(f64::to_bits)).collect(),
            }));
            Ok(())
        })?;
        snapshot.particles(piece, &mut |block| {
            particles.extend((0..block.id.len()).map(|i| {
                let (x, v) = (block.position[i], block.velocity[i]);
                let bits = [x[0], x[1], x[2], v[0], v[1], v[2], block.mass[i]].map(f64::to_bits);
                (bits, block.id[i], block.family[i])
            }));
            Ok(())
        })?;
        assert_eq!(octs.len() as u64, counts.iter().sum::<u64>(), "octs that were counted before");
        assert_eq!(particles.len() as u64, n_particles, "particles that were counted before");
        content.octs.push(octs);
        content.particles.push(particles);
    }
    Ok(content)
}

fn check_info(snapshot: &dyn Snapshot, info: &[u8]) {
    let (header, lines) = (snapshot.header(), plain::lines(info));
    let number = |name: &str| lines.get(name).and_then(|v| v.parse::<f64>().ok()).map(f64::to_bits);
    let same = |name: &str, value: f64| {
        assert_eq!(number(name), Some(value.to_bits()), "{name} of the info file, {value} in the header");
    };
    same("ncpu", header.n_pieces as f64);
    same("levelmin", f64::from(header.levelmin));
    same("levelmax", f64::from(header.levelmax));
    for (name, value) in [
        ("boxlen", header.boxlen),
        ("time", header.time),
        ("unit_l", header.units.length),
        ("unit_d", header.units.density),
        ("unit_t", header.units.time),
    ] {
        same(name, value);
    }
    if let Some(cosmology) = &header.cosmology {
        same("aexp", cosmology.aexp);
        same("H0", cosmology.h0);
        same("omega_m", cosmology.omega_m);
    }
}

/// Everything, through the plain reader.
fn expected(snapshot: &dyn Snapshot, files: &HashMap<String, &[u8]>) -> Option<Content> {
    let header = snapshot.header();
    let piece_of =
        |kind: &str, piece: usize| files.get(&format!("{kind}_00007.out{:05}", piece + 1)).copied();
    let amrs = (0..header.n_pieces).map(|p| Amr::read(piece_of("amr", p)?)).collect::<Option<Vec<_>>>()?;
    let first = box_of(&amrs)?;
    check_fields(snapshot, files);
    let columns = part_columns(files);
    let parts = (0..header.n_pieces).map(|p| piece_of("part", p)).collect::<Option<Vec<_>>>()?;
    let birth = if columns.is_some() { None } else { birth_column(&parts)? };
    let mut content = Content::default();
    for (piece, amr) in amrs.iter().enumerate() {
        let values =
            [CellFile::read(piece_of("hydro", piece)?, 6)?, CellFile::read(piece_of("grav", piece)?, 4)?];
        content.octs.push(plain::octs(amr, &values, piece, first)?);
        let part = parts[piece];
        let found = match &columns {
            Some(columns) => plain::particles(part, columns)?,
            None => plain::particles(part, &old_columns(part, birth)?)?,
        };
        content.particles.push(particles(snapshot, &found)?);
    }
    Some(content)
}

/// The first coarse cell of the box: coarse cells outside of it have no octs of a CPU.
fn box_of(amrs: &[Amr]) -> Option<[i64; 3]> {
    let has_boundaries = amrs[0].has_boundaries();
    if !has_boundaries {
        return Some([0; 3]);
    }
    let cells: Vec<_> =
        amrs.iter().enumerate().map(|(cpu, amr)| amr.coarse_cells(cpu)).collect::<Option<_>>()?;
    let least = |a: usize| cells.iter().flatten().map(|c| c[a]).min();
    Some([least(0)?, least(1)?, least(2)?])
}

/// Names of hydro fields are those of the descriptor, where it has one for each.
fn check_fields(snapshot: &dyn Snapshot, files: &HashMap<String, &[u8]>) {
    let Some(file) = files.get("hydro_file_descriptor.txt") else { return };
    let described = plain::described(file);
    let of_hydro: Vec<_> = snapshot.fields().iter().filter(|f| f.family == "hydro").collect();
    let mut seen = std::collections::HashSet::new();
    for (field, (name, _)) in of_hydro.iter().zip(&described) {
        if seen.insert(name) {
            assert_eq!(field.name, *name, "a field of the hydro descriptor");
        }
    }
    assert_eq!(of_hydro.len(), described.len(), "a descriptor that lacks columns was taken");
}

fn part_columns(files: &HashMap<String, &[u8]>) -> Option<Vec<(String, String)>> {
    files.get("part_file_descriptor.txt").map(|file| plain::described(file))
}

/// Records of a particle file before its columns.
const BEFORE: usize = 8;
/// Columns up to the levels.
const NAMED: usize = 9;

/// The columns of files from before descriptors. Behind the levels stand families and tags, if they are
/// bytes, or else columns of which this one has birth times.
fn old_columns(part: &[u8], birth: Option<usize>) -> Option<Vec<(String, String)>> {
    let n_rest = plain::records(part)?.len().checked_sub(BEFORE + NAMED)?;
    let reals = ["position_x", "position_y", "position_z", "velocity_x", "velocity_y", "velocity_z", "mass"];
    let mut columns: Vec<(String, String)> =
        reals.iter().map(|name| (name.to_string(), "d".to_string())).collect();
    columns.extend(["identity", "levelp"].map(|name| (name.to_string(), "q".to_string())));
    let has_families = has_families(part)?;
    columns.extend((0..n_rest).map(|rest| match rest {
        0 if has_families => ("family".to_string(), "b".to_string()),
        rest if birth == Some(rest) && !has_families => ("birth_time".to_string(), "d".to_string()),
        _ => (format!("rest_{rest}"), "d".to_string()),
    }));
    Some(columns)
}

/// Whether the first column behind the levels has one byte per particle.
fn has_families(part: &[u8]) -> Option<bool> {
    let records = plain::records(part)?;
    let n = plain::count(records.get(2)?)?;
    Some(n > 0 && records.get(BEFORE + NAMED).is_some_and(|record| record.len() as i64 == n))
}

/// The first column behind the levels that gives as many stars as the header states; none without stars or
/// with families.
#[allow(clippy::option_option)]
fn birth_column(parts: &[&[u8]]) -> Option<Option<usize>> {
    let n_stars = plain::count(plain::records(parts[0])?.get(4)?)?;
    for part in parts {
        if n_stars == 0 || has_families(part)? {
            return Some(None);
        }
    }
    let mut n_rest = 0;
    for part in parts {
        n_rest = n_rest.max(plain::records(part)?.len().checked_sub(BEFORE + NAMED)?);
    }
    for rest in 0..n_rest {
        let mut found = 0;
        for part in parts {
            let columns = plain::particles(part, &old_columns(part, Some(rest))?)?;
            let (mass, id) = (columns.get("mass")?, columns.get("identity")?);
            let Some(birth) = columns.get("birth_time") else { continue };
            let is_star = |i: &usize| family(None, mass[*i].0, Some(birth[*i].0), id[*i].1) == Family::Star;
            found += (0..id.len()).filter(is_star).count() as i64;
        }
        if found == n_stars {
            return Some(Some(rest));
        }
    }
    Some(None)
}

fn particles(snapshot: &dyn Snapshot, found: &HashMap<String, plain::Numbers>) -> Option<Vec<Particle>> {
    let header = snapshot.header();
    let column = |name: &str| found.get(name);
    let names = ["position_x", "position_y", "position_z", "velocity_x", "velocity_y", "velocity_z", "mass"];
    let reals: Vec<_> = names.iter().map(|name| column(name)).collect::<Option<_>>()?;
    let (ids, families, births) = (column("identity")?, column("family"), column("birth_time"));
    let particle = |i: usize| {
        let bits = std::array::from_fn(|k| {
            let x = reals[k][i].0;
            let is_wrapped = k < 3 && header.periodic[k];
            let side = header.boxlen * f64::from(header.coarse[k % 3]);
            if is_wrapped { wrapped(x, side) } else { x }.to_bits()
        });
        (bits, ids[i].1, family(families.map(|f| f[i].1), reals[6][i].0, births.map(|b| b[i].0), ids[i].1))
    };
    Some((0..ids.len()).map(particle).collect())
}

/// What is in the box stays as it is.
fn wrapped(x: f64, side: f64) -> f64 {
    if (0.0..side).contains(&x) {
        return x;
    }
    let x = x % side;
    let x = if x < 0.0 { x + side } else { x };
    if x == side { 0.0 } else { x }
}

fn family(code: Option<i64>, mass: f64, birth: Option<f64>, id: i64) -> Family {
    match code {
        Some(1) => Family::DarkMatter,
        Some(2) => Family::Star,
        Some(3) => Family::Cloud,
        Some(4) => Family::Debris,
        Some(code) if code <= 0 => Family::Tracer,
        Some(_) => Family::Other,
        None if mass == 0.0 => Family::Tracer,
        None if birth.is_some_and(|b| b != 0.0) && id < 0 => Family::Debris,
        None if birth.is_some_and(|b| b != 0.0) => Family::Star,
        None if id < 0 => Family::Cloud,
        None => Family::DarkMatter,
    }
}
