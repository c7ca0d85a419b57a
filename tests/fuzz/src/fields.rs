//! Fields of other codes: an error, or cells of which each comes once; of FITS images those that a plain
//! reader finds.

use crate::changes::{Script, change_bytes, change_text};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[path = "../../common/fits.rs"]
mod fits_file;
#[path = "../../common/plotfile.rs"]
#[allow(dead_code, reason = "tests use all of it")]
mod plotfile;

use fits_file::{FitsFile, encoded, packed_sample};
use plotfile::Plotfile;

/// The bits of the values by place.
type Cells = BTreeMap<[u32; 3], u64>;

const CARD: usize = 80;
const BLOCK: usize = 2880;

/// A FITS image of which cards and values change.
pub fn fits(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let [kind] = script.bytes();
    if kind % 32 == 31 {
        return packed_fits(&mut script);
    }
    let base = fits_base(kind);
    let (header, data) = base.split_at(BLOCK);
    let header = change_cards(header, &mut script);
    let data = if kind & 64 == 0 { data.to_vec() } else { change_bytes(data, &mut script) };
    let file = [header, data].concat();
    let path = crate::folder().join("cube.fits");
    fs::write(&path, &file).expect("writing");
    let Some(found) = cells(&path, 0) else { return };
    crate::compared();
    if let Some(plain) = plain_fits(&file) {
        let found: Cells = found.into_iter().map(|((_, at), value)| (at, value)).collect();
        assert_eq!(found, plain);
    }
}

/// Compressed tiles whose headers and bytes change: errors or cells.
fn packed_fits(script: &mut Script) {
    let base = packed_sample().bytes;
    let (headers, data) = base.split_at(2 * BLOCK);
    let (first, header) = headers.split_at(BLOCK);
    let file = [first, &change_cards(header, script), &change_bytes(data, script)].concat();
    let path = crate::folder().join("cube.fits");
    fs::write(&path, &file).expect("writing");
    cells(&path, 0);
}

fn fits_base(kind: u8) -> Vec<u8> {
    let bits = [8, 16, 32, -32, -64, 64][usize::from(kind % 6)];
    let sizes: &[usize] = [&[5, 4, 3][..], &[7, 6], &[4, 1, 3, 2]][usize::from(kind / 6 % 3)];
    let sky =
        ["CTYPE1 = 'RA---TAN'", "CTYPE2 = 'DEC--TAN'", "CDELT1 = -0.1", "CRVAL1 = 1.5D1", "BUNIT = 'K'"];
    let scale = ["BSCALE = 0.5", "BZERO = -3.0", "BLANK = 4"];
    let n = sizes.iter().product::<usize>();
    let data = encoded(bits, (0..n).map(|i| (i * 7 % 23) as f64));
    FitsFile::default().image(bits, sizes, if kind & 128 == 0 { &sky } else { &scale }, &data).bytes
}

/// Cards go, come twice, or get other characters.
fn change_cards(header: &[u8], script: &mut Script) -> Vec<u8> {
    let mut cards: Vec<[u8; CARD]> = header.as_chunks().0.to_vec();
    let n = cards.iter().position(|card| card.starts_with(b"END ")).unwrap_or(cards.len()) + 1;
    for _ in 0..4 {
        if script.is_done() {
            break;
        }
        let [kind] = script.bytes();
        let at = script.below(n.min(cards.len()));
        match kind % 8 {
            0 => drop(cards.remove(at)),
            1 => {
                let (card, to) = (cards[at], script.below(n));
                cards.insert(to.min(cards.len()), card);
            }
            2..=5 => cards[at][usize::from(kind >> 3) % 30] = script.bytes::<1>()[0],
            _ => {
                let [digit, place] = script.bytes();
                cards[at][10 + usize::from(place) % 12] = b'0' + digit % 10;
            }
        }
    }
    let mut header = cards.concat();
    header.resize(BLOCK, b' ');
    header
}

/// The values of an image in the first header, by its cards; `None` for anything that is not plain.
fn plain_fits(file: &[u8]) -> Option<Cells> {
    let mut values: BTreeMap<&str, f64> = BTreeMap::new();
    for card in file[..BLOCK].as_chunks::<CARD>().0 {
        let card = std::str::from_utf8(card).ok()?;
        let keyword = card[..8].trim_end();
        if card.trim_end() == "END" {
            break;
        }
        let is_used =
            keyword.starts_with("NAXIS") || ["BITPIX", "BSCALE", "BZERO", "BLANK"].contains(&keyword);
        if is_used {
            let text = card[8..].strip_prefix("= ")?.split('/').next()?.trim();
            let is_new = values.insert(keyword, text.parse().ok()?).is_none();
            is_new.then_some(())?;
        }
    }
    let sizes: Vec<usize> = (1..=*values.get("NAXIS")? as usize)
        .map(|axis| Some(*values.get(&*format!("NAXIS{axis}"))? as usize))
        .collect::<Option<_>>()?;
    let long: Vec<usize> = sizes.iter().copied().filter(|n| *n != 1).collect();
    let (nx, ny) = (*long.first()?, *long.get(1)?);
    let (bits, value) = (*values.get("BITPIX")? as i64, |name: &str| values.get(name).copied());
    let (scale, zero) = (value("BSCALE").unwrap_or(1.0), value("BZERO").unwrap_or(0.0));
    let blank = value("BLANK").filter(|_| bits > 0);
    let n = long.iter().product::<usize>();
    let bytes = file.get(BLOCK..BLOCK + n * (bits.unsigned_abs() / 8) as usize)?;
    let mut cells = Cells::new();
    for (i, bytes) in bytes.chunks_exact((bits.unsigned_abs() / 8) as usize).enumerate() {
        let number = match bits {
            8 => f64::from(bytes[0]),
            16 => f64::from(i16::from_be_bytes(bytes.try_into().ok()?)),
            32 => f64::from(i32::from_be_bytes(bytes.try_into().ok()?)),
            64 => i64::from_be_bytes(bytes.try_into().ok()?) as f64,
            -32 => f64::from(f32::from_be_bytes(bytes.try_into().ok()?)),
            -64 => f64::from_be_bytes(bytes.try_into().ok()?),
            _ => return None,
        };
        let is_plain = scale == 1.0 && zero == 0.0 && blank.is_none();
        let value = if is_plain { number } else { zero + scale * number };
        if blank != Some(number) && !value.is_nan() {
            cells.insert([i % nx, i / nx % ny, i / (nx * ny)].map(|x| x as u32), value.to_bits());
        }
    }
    Some(cells)
}

/// Files and what they hold.
type SoundFiles = Vec<(PathBuf, Vec<u8>)>;

/// One file of an AMReX plotfile.
pub fn amrex(bytes: &[u8]) {
    static BASE: OnceLock<(PathBuf, SoundFiles)> = OnceLock::new();
    let (root, files) = BASE.get_or_init(|| {
        let root = crate::folder().join("plt00001");
        Plotfile::sample().write(&root);
        let names = ["Header", "Level_0/Cell_H", "Level_1/Cell_H", "Level_2/Cell_H", "Level_1/Cell_D_00000"];
        let files = names.map(|name| (root.join(name), fs::read(root.join(name)).expect("a file")));
        (root, files.to_vec())
    });
    let mut script = Script::new(bytes);
    let [which] = script.bytes();
    let (path, sound) = &files[usize::from(which) % files.len()];
    let is_text = usize::from(which) % files.len() < 4;
    let changed = if is_text { change_text(sound, &mut script) } else { change_bytes(sound, &mut script) };
    fs::write(path, changed).expect("writing");
    let found = cells(root, 0);
    fs::write(path, sound).expect("writing");
    if found.is_some() {
        crate::compared();
    }
}

/// All leaves of a field; `None` for an error. A leaf that comes twice is no error of a reader: the search
/// finds it.
fn cells(path: &Path, field: usize) -> Option<BTreeMap<(u8, [u32; 3]), u64>> {
    let snapshot = inselberg_io::open(path).ok()?;
    let name = snapshot.fields().get(field)?.name.clone();
    let (mut all, mut n) = (BTreeMap::new(), 0);
    for piece in 0..snapshot.header().n_pieces {
        n += snapshot.count_leaves(piece).ok()?.iter().sum::<u64>();
        let read = snapshot.octs(piece, &[&name], &mut |block| {
            for (oct, position) in block.position.iter().enumerate() {
                for cell in (0..8_u32).filter(|cell| block.split[oct] >> cell & 1 == 0) {
                    let at = std::array::from_fn(|a| 2 * position[a] + (cell >> a & 1));
                    all.insert((block.level, at), block.values[0][oct][cell as usize].to_bits());
                }
            }
            Ok(())
        });
        read.ok()?;
    }
    assert!(all.len() as u64 <= n, "{} cells of {n}", all.len());
    Some(all)
}
