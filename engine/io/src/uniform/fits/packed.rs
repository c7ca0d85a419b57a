//! Images in compressed tiles (`.fz`): rows of a binary table, each with the numbers of one tile.
//!
//! RICE_1, GZIP_1 and GZIP_2 are read. Each tile is independent, so ranks unpack those that they need. Reals
//! may have been rounded to integers with a scale per tile; tiles for which this failed are stored as reals.

use super::cards::{CardValue, HeaderCards};
use super::parts::FoundPart;
use super::quantized::{self, Dither};
use super::rice;
use super::table_columns::{TableColumns, number_form, table_columns};
use crate::source_file::SourceFile;
use crate::stored_array::{NumberKind, RealFormat};
use crate::tiles::Tile;
use crate::{ReadError, ReadResult};
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;

/// The most numbers of a tile.
const MOST: u64 = 1 << 28;
/// The integer for no value where the file names none.
const BLANK: f64 = -2_147_483_647.0;
const KNOWN: &str = "RICE_1, GZIP_1 or GZIP_2; funpack writes a plain file of others";

/// How tiles are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Packing {
    /// Bytes of a number, and numbers of a block.
    Rice { width: u8, block: usize },
    /// Whole numbers.
    Gzip,
    /// The first bytes of all numbers, then the second ones, and so on.
    ShuffledGzip,
}

/// A column of the table whose cells are lists in the heap.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ListColumn {
    /// Bytes before it in a row.
    at: u64,
    /// Whether its counts have 8 bytes, not 4.
    is_wide: bool,
    /// Bytes of an element.
    each: u64,
}

/// A number per tile: a column, or the same for all.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum PerTile {
    /// Bytes before it in a row, and its type.
    Column(u64, RealFormat),
    All(f64),
}

/// An image in compressed tiles.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::uniform) struct PackedTiles {
    /// Bytes before the table, and of a row.
    at: u64,
    row: u64,
    /// Bytes before the lists, and at their end.
    heap: u64,
    end: u64,
    packed: ListColumn,
    /// Tiles of reals that were not rounded, and tiles that are not compressed.
    gzipped: Option<ListColumn>,
    plain: Option<ListColumn>,
    packing: Packing,
    /// The numbers of the image.
    kind: NumberKind,
    /// For reals that were rounded: scale, zero and dither.
    rounded: Option<(PerTile, PerTile, Dither)>,
    /// The integer of rounded reals that stands for no value.
    blank: PerTile,
    /// Of all axes of the image: numbers, and those of a tile.
    sizes: Vec<u64>,
    tile: Vec<u64>,
    /// The axes, from 0, that are x, y and z.
    axes: Vec<usize>,
    /// The place along each axis for those that are none of these.
    plane: Vec<u64>,
}

impl ListColumn {
    fn of(columns: &TableColumns, name: &str) -> Option<Self> {
        let (at, form) = columns.get(name)?;
        let is_wide = match form.as_bytes().first()? {
            b'P' => false,
            b'Q' => true,
            _ => return None,
        };
        Some(Self { at: *at, is_wide, each: number_form(form.get(1..)?)?.kind.bytes() })
    }
}

impl PackedTiles {
    /// From the header of a part. `kind` is that of the numbers of the image; `axes` are those that are x, y
    /// and z, from 0, `plane` the place along each of the others.
    ///
    /// # Errors
    /// The header is broken, or the compression is another one.
    pub(super) fn new(
        file: &SourceFile,
        part: &FoundPart,
        kind: NumberKind,
        axes: Vec<usize>,
        plane: Vec<u64>,
    ) -> ReadResult<Self> {
        let cards = &part.cards;
        let columns = table_columns(file, cards)?;
        let whole = |keyword: &str| cards.whole(file, keyword);
        let row = whole("NAXIS1")?.unwrap_or(0).max(0).cast_unsigned();
        let rows = whole("NAXIS2")?.unwrap_or(0).max(0).cast_unsigned();
        let lists = whole("THEAP")?.map_or(row.saturating_mul(rows), |at| at.max(0).cast_unsigned());
        let mut tile = Vec::new();
        for (i, size) in part.axes.iter().enumerate() {
            let keyword = format!("ZTILE{}", i + 1);
            let n = whole(&keyword)?.unwrap_or(if i == 0 { size.cast_signed() } else { 1 });
            match u64::try_from(n) {
                Ok(n) if n > 0 => tile.push(n.min(*size)),
                _ => return Err(cards.bad(file, &keyword, format!("{n}"), "1 or more")),
            }
        }
        let n_tiles = part.axes.iter().zip(&tile).map(|(size, tile)| size.div_ceil(*tile));
        let n_tiles = n_tiles.fold(1_u64, u64::saturating_mul);
        if n_tiles != rows || tile.iter().fold(1_u64, |n, of| n.saturating_mul(*of)) > MOST {
            let problem = format!("{rows} tiles of {tile:?} numbers");
            return Err(cards.bad(file, "NAXIS2", problem, format!("{n_tiles}, those of {:?}", part.axes)));
        }
        if columns.contains_key("NULL_PIXEL_MASK") {
            return Err(cards.bad(file, "NULL_PIXEL_MASK", "a compressed mask", "blanks in the values"));
        }
        let need = |name: &str| {
            let bad = || cards.bad(file, name, "no such column of lists", "one");
            ListColumn::of(&columns, name).ok_or_else(bad)
        };
        let packing = packing(file, cards, kind)?;
        Ok(Self {
            at: part.at,
            row,
            heap: part.at.saturating_add(lists),
            end: file.len() as u64,
            packed: need("COMPRESSED_DATA")?,
            gzipped: ListColumn::of(&columns, "GZIP_COMPRESSED_DATA"),
            plain: ListColumn::of(&columns, "UNCOMPRESSED_DATA"),
            packing,
            kind,
            rounded: rounded(file, cards, &columns, kind)?,
            blank: per_tile(file, cards, &columns, "ZBLANK")?.unwrap_or(PerTile::All(BLANK)),
            sizes: part.axes.clone(),
            tile,
            axes,
            plane,
        })
    }

    /// Whether values were rounded before compression.
    pub(in crate::uniform) fn is_rounded(&self) -> bool {
        self.rounded.is_some()
    }

    /// Bytes of the file for a tile.
    fn bytes_at(&self, file: &SourceFile, from: u64, n: u64, tile: u64) -> ReadResult<Vec<u8>> {
        let end = from.checked_add(n).filter(|end| *end <= self.end);
        let (Some(_), Ok(n)) = (end, usize::try_from(n)) else {
            return Err(self.bad(file, tile, "bytes beyond the end of the file", "bytes that are there"));
        };
        let mut bytes = vec![0; n];
        file.read_at(&mut bytes, from as usize)?;
        Ok(bytes)
    }

    fn bad(&self, file: &SourceFile, tile: u64, problem: &str, expected: &str) -> ReadError {
        ReadError::content(file.path(), format!("tile {}", tile + 1), problem, expected)
    }

    /// The list of a tile in a column; empty without one.
    fn list(&self, file: &SourceFile, column: Option<ListColumn>, tile: u64) -> ReadResult<Vec<u8>> {
        let Some(column) = column else { return Ok(Vec::new()) };
        let each = if column.is_wide { 8 } else { 4 };
        let place = self.at.saturating_add(self.row.saturating_mul(tile)).saturating_add(column.at);
        let bytes = self.bytes_at(file, place, 2 * each, tile)?;
        let number = |part: &[u8]| part.iter().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
        let (n, from) = (number(&bytes[..each as usize]), number(&bytes[each as usize..]));
        match n {
            0 => Ok(Vec::new()),
            n => self.bytes_at(file, self.heap.saturating_add(from), n.saturating_mul(column.each), tile),
        }
    }

    fn number(&self, file: &SourceFile, of: PerTile, tile: u64) -> ReadResult<f64> {
        let (at, form) = match of {
            PerTile::All(number) => return Ok(number),
            PerTile::Column(at, form) => (at, form),
        };
        let place = self.at.saturating_add(self.row.saturating_mul(tile)).saturating_add(at);
        let bytes = self.bytes_at(file, place, form.kind.bytes(), tile)?;
        let mut numbers = Vec::new();
        form.decode(&bytes, &mut numbers);
        Ok(numbers[0])
    }

    /// The numbers of a tile of `n` numbers.
    fn unpack(&self, file: &SourceFile, tile: u64, n: usize) -> ReadResult<Vec<f64>> {
        let damaged = || self.bad(file, tile, "compressed numbers that are damaged", "those of the tile");
        let plain = RealFormat { kind: self.kind, big_endian: true };
        let decoded = |bytes: &[u8], form: RealFormat| {
            let mut numbers = Vec::with_capacity(n);
            (bytes.len() == n * form.kind.bytes() as usize).then(|| form.decode(bytes, &mut numbers));
            (numbers.len() == n).then_some(numbers)
        };
        let packed = self.list(file, Some(self.packed), tile)?;
        if packed.is_empty() {
            let gzipped = self.list(file, self.gzipped, tile)?;
            let bytes = match gzipped.is_empty() {
                false => inflated(&gzipped, n * plain.kind.bytes() as usize).ok_or_else(damaged)?,
                true => self.list(file, self.plain, tile)?,
            };
            return decoded(&bytes, plain).ok_or_else(damaged);
        }
        let form = match self.rounded {
            Some(_) => number_form("J").expect("a form of the standard"),
            None => plain,
        };
        let numbers = match self.packing {
            Packing::Rice { width, block } => rice::decode(&packed, n, block, width)
                .map(|numbers| numbers.into_iter().map(f64::from).collect::<Vec<_>>()),
            Packing::Gzip | Packing::ShuffledGzip => {
                let each = form.kind.bytes() as usize;
                let bytes = inflated(&packed, n * each).ok_or_else(damaged)?;
                let is_shuffled = self.packing == Packing::ShuffledGzip;
                decoded(&if is_shuffled { in_order(&bytes, each) } else { bytes }, form)
            }
        };
        let numbers = numbers.ok_or_else(damaged)?;
        let Some((scale, zero, dither)) = self.rounded else { return Ok(numbers) };
        let scales = (self.number(file, scale, tile)?, self.number(file, zero, tile)?);
        let blank = self.number(file, self.blank, tile)? as i64;
        let integers: Vec<i32> = numbers.into_iter().map(|x| x as i32).collect();
        let values = quantized::values(&integers, scales, dither, tile, blank);
        let is_single = self.kind == NumberKind::F32;
        Ok(values.into_iter().map(|x| if is_single { f64::from(x as f32) } else { x }).collect())
    }

    /// The tile of a place, and its index in the tile.
    fn find(&self, place: &[u64]) -> (u64, usize) {
        let (mut tile, mut index, mut tiles, mut numbers) = (0, 0, 1, 1);
        for (axis, at) in place.iter().enumerate() {
            let (size, of_tile) = (self.sizes[axis], self.tile[axis]);
            tile += at / of_tile * tiles;
            index += at % of_tile * numbers;
            tiles *= size.div_ceil(of_tile);
            numbers *= self.along(place, axis);
        }
        (tile, index as usize)
    }

    /// Numbers between neighbours along x in the tile of a place.
    fn step(&self, place: &[u64]) -> usize {
        (0..self.axes[0]).map(|axis| self.along(place, axis)).product::<u64>() as usize
    }

    /// Numbers along an axis of the tile around a place.
    fn along(&self, place: &[u64], axis: usize) -> u64 {
        let of_tile = self.tile[axis];
        of_tile.min(self.sizes[axis] - place[axis] / of_tile * of_tile)
    }

    /// Numbers of the tile around a place; tiles at the ends of axes are shorter.
    fn n_numbers(&self, place: &[u64]) -> usize {
        (0..place.len()).map(|axis| self.along(place, axis)).product::<u64>() as usize
    }
}

fn packing(file: &SourceFile, cards: &HeaderCards, kind: NumberKind) -> ReadResult<Packing> {
    let name = cards.text(file, "ZCMPTYPE")?.unwrap_or_default();
    let parameter = |wanted: &str, otherwise: i64| {
        for i in 1..=9 {
            if cards.text(file, &format!("ZNAME{i}"))?.as_deref() == Some(wanted) {
                return Ok(cards.whole(file, &format!("ZVAL{i}"))?.unwrap_or(otherwise));
            }
        }
        Ok(otherwise)
    };
    match name.as_str() {
        "RICE_1" | "RICE_ONE" => {
            let usual = match kind {
                NumberKind::Integer { bytes, .. } => bytes.into(),
                NumberKind::F32 | NumberKind::F64 => 4,
            };
            let (block, width) = (parameter("BLOCKSIZE", 32)?, parameter("BYTEPIX", usual)?);
            match (usize::try_from(block), width) {
                (Ok(block @ 1..=65_536), 1 | 2 | 4) => Ok(Packing::Rice { width: width as u8, block }),
                _ => {
                    let problem = format!("blocks of {block} numbers of {width} bytes");
                    Err(cards.bad(file, "ZVAL1", problem, "numbers of 1, 2 or 4 bytes"))
                }
            }
        }
        "GZIP_1" => Ok(Packing::Gzip),
        "GZIP_2" => Ok(Packing::ShuffledGzip),
        other => Err(cards.bad(file, "ZCMPTYPE", format!("compression {other:?}"), KNOWN)),
    }
}

/// Scale, zero and dither of reals that were rounded; `None` for other images.
fn rounded(
    file: &SourceFile,
    cards: &HeaderCards,
    columns: &TableColumns,
    kind: NumberKind,
) -> ReadResult<Option<(PerTile, PerTile, Dither)>> {
    let is_real = matches!(kind, NumberKind::F32 | NumberKind::F64);
    let method = cards.text(file, "ZQUANTIZ")?.unwrap_or_else(|| "NO_DITHER".into());
    let (Some(scale), Some(zero), true) = (
        per_tile(file, cards, columns, "ZSCALE")?,
        per_tile(file, cards, columns, "ZZERO")?,
        is_real && method != "NONE",
    ) else {
        return Ok(None);
    };
    let seed = cards.whole(file, "ZDITHER0")?.unwrap_or(1);
    let dither = match method.as_str() {
        "NO_DITHER" => Dither::None,
        "SUBTRACTIVE_DITHER_1" => Dither::Subtractive { seed, keeps_zero: false },
        "SUBTRACTIVE_DITHER_2" => Dither::Subtractive { seed, keeps_zero: true },
        other => {
            let expected = "NO_DITHER, SUBTRACTIVE_DITHER_1 or SUBTRACTIVE_DITHER_2";
            return Err(cards.bad(file, "ZQUANTIZ", format!("{other:?}"), expected));
        }
    };
    Ok(Some((scale, zero, dither)))
}

/// A number that is a column, or a card for all tiles.
fn per_tile(
    file: &SourceFile,
    cards: &HeaderCards,
    columns: &TableColumns,
    name: &str,
) -> ReadResult<Option<PerTile>> {
    if let Some((at, form)) = columns.get(name) {
        let bad = || cards.bad(file, name, format!("a column of form {form:?}"), "a number");
        return Ok(Some(PerTile::Column(*at, number_form(form).ok_or_else(bad)?)));
    }
    Ok(match cards.value(file, name)? {
        Some(CardValue::Whole(n)) => Some(PerTile::All(n as f64)),
        Some(CardValue::Real(x)) => Some(PerTile::All(x)),
        _ => None,
    })
}

/// The `n` bytes of a gzip stream; `None` if it has others.
fn inflated(packed: &[u8], n: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed).take(n as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == n).then_some(bytes)
}

/// Numbers of `each` bytes, of which all first bytes come first.
fn in_order(shuffled: &[u8], each: usize) -> Vec<u8> {
    let n = shuffled.len() / each;
    (0..shuffled.len()).map(|i| shuffled[i % each * n + i / each]).collect()
}

/// Tiles that are unpacked, while a block is read.
pub(in crate::uniform) struct OpenTiles<'a> {
    of: &'a PackedTiles,
    file: &'a SourceFile,
    /// The numbers of the tiles of the last read.
    recent: BTreeMap<u64, Vec<f64>>,
}

impl<'a> OpenTiles<'a> {
    /// Of an image in a file.
    pub fn new(of: &'a PackedTiles, file: &'a SourceFile) -> Self {
        Self { of, file, recent: BTreeMap::new() }
    }

    /// Appends the numbers of a block of the image, x fastest.
    ///
    /// # Errors
    /// A tile is damaged.
    pub fn read(&mut self, block: &Tile, to: &mut Vec<f64>) -> ReadResult<()> {
        let mut used = BTreeMap::new();
        let mut place = self.of.plane.clone();
        let (x, end) = (self.of.axes[0], u64::from(block.low[0] + block.size[0]));
        for row in 0..block.size[1] * block.size[2] {
            let at = [0, row % block.size[1], row / block.size[1]];
            for (a, axis) in self.of.axes.iter().enumerate() {
                place[*axis] = u64::from(block.low[a] + at[a]);
            }
            while place[x] < end {
                let (tile, index) = self.of.find(&place);
                let numbers = match (used.entry(tile), self.recent.remove(&tile)) {
                    (Entry::Occupied(numbers), _) => numbers.into_mut(),
                    (Entry::Vacant(numbers), Some(recent)) => numbers.insert(recent),
                    (Entry::Vacant(numbers), None) => {
                        numbers.insert(self.of.unpack(self.file, tile, self.of.n_numbers(&place))?)
                    }
                };
                let left = self.of.tile[x] - place[x] % self.of.tile[x];
                let n = left.min(end - place[x]);
                to.extend(numbers[index..].iter().step_by(self.of.step(&place)).take(n as usize));
                place[x] += n;
            }
        }
        self.recent = used;
        Ok(())
    }
}
