//! AMReX plotfiles: a folder with `Header`, and per level a folder with `Cell_H` and files of boxes (FABs).
//!
//! A piece is a box. Coarse cells under finer boxes are in the files as well; they are left out. Positions
//! count from the lowest cell of the domain. Written from AMReX's own code that writes these files, version
//! 25.

mod covered;
mod fabs;
mod header;
mod lines;

use crate::block_grid::RootGrid;
use crate::leaf_snapshot::{LeafFacts, LeafSnapshot, cell_fields, count_of};
use crate::leaf_stream::{LeafSink, LeafSource, stream};
use crate::source_file::SourceFile;
use crate::stored_array::{RealFormat, StoredArray};
use crate::tiles::Tile;
use crate::{Counted, FieldDefaults, ReadError, ReadResult, Reader, facts};
use covered::{BoxIndex, CellSpan};
use fabs::{FabPlace, LevelFabs};
use header::{PlotHeader, PlotLevel, bad_level};
use lines::{integers, short};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The reader of plotfiles.
pub const READER: Reader = Reader {
    name: "AMReX",
    looks: "a plotfile: a folder such as plt00100 with its Header",
    recognises: |path, _| path.is_dir() && header::looks_like_header(&path.join("Header")),
    read_headers: |path, defaults| Ok(facts::encode(&Plotfile::find(path, defaults)?)),
    open: |known| Box::new(facts::decode::<Plotfile>(known)),
};

/// No header of a FAB is longer.
const LONGEST_HEADER: usize = 1 << 12;

/// An opened plotfile.
#[derive(Serialize, Deserialize)]
struct Plotfile {
    facts: LeafFacts,
    levels: Vec<PlotfileLevel>,
}

/// A level with boxes.
#[derive(Serialize, Deserialize)]
struct PlotfileLevel {
    /// The level of its cells in the mesh.
    level: u8,
    /// How often its cells divide those of the next coarser level.
    ratio: u32,
    /// The lowest cell of the domain, in the numbers of the plotfile.
    low: [i64; 3],
    /// The folder of its files.
    #[serde(with = "facts::path")]
    folder: PathBuf,
    files: Vec<String>,
    fabs: Vec<FabPlace>,
    ghosts: [u32; 3],
    real: Option<RealFormat>,
    /// Its boxes on the grid of the next coarser level, found by place.
    #[serde(skip)]
    on_coarser: OnceLock<BoxIndex>,
}

impl PlotfileLevel {
    fn read(
        folder: &Path,
        level: usize,
        of: &PlotLevel,
        root: &RootGrid,
        n_fields: usize,
    ) -> ReadResult<Self> {
        let (path, name) = of.path.rsplit_once('/').unwrap_or((".", &of.path));
        let folder = folder.join(path);
        let list = folder.join(format!("{name}_H"));
        let LevelFabs { fabs, files, ghosts, real } = LevelFabs::read(&list, n_fields)?;
        let bad = |problem, expected| Err(bad_level(&list, level, problem, expected));
        if fabs.len() != of.n_boxes {
            return bad(format!("{} boxes", fabs.len()), &format!("{}, as in Header", of.n_boxes));
        }
        let ratio = i64::from(of.ratio);
        for FabPlace { low, size, .. } in &fabs {
            let first: [i64; 3] = std::array::from_fn(|a| low[a] - of.low[a]);
            let is_inside =
                |a: usize| first[a] >= 0 && first[a] + i64::from(size[a]) <= i64::from(of.size[a]);
            if !(0..3).all(is_inside) {
                return bad(format!("a box of {size:?} cells at {low:?}"), "boxes in the domain");
            }
            if !(0..3).all(|a| first[a] % ratio == 0 && i64::from(size[a]) % ratio == 0) {
                return bad(format!("a box of {size:?} cells at {low:?}"), "boxes of whole coarser cells");
            }
        }
        let (level, on_coarser) = (root.level + of.up, OnceLock::new());
        Ok(Self { level, ratio: of.ratio, low: of.low, folder, files, fabs, ghosts, real, on_coarser })
    }

    /// A box, from the lowest cell of the domain.
    fn span(&self, fab: &FabPlace) -> CellSpan {
        let low: [u32; 3] = std::array::from_fn(|a| (fab.low[a] - self.low[a]) as u32);
        CellSpan { low, end: std::array::from_fn(|a| low[a] + fab.size[a]) }
    }

    /// Its boxes on the grid of the next coarser level.
    fn on_coarser(&self) -> &BoxIndex {
        self.on_coarser.get_or_init(|| {
            let coarser = |fab| {
                let CellSpan { low, end } = self.span(fab);
                CellSpan { low: low.map(|x| x / self.ratio), end: end.map(|x| x / self.ratio) }
            };
            BoxIndex::new(self.fabs.iter().map(coarser).collect())
        })
    }
}

impl Plotfile {
    fn find(path: &Path, defaults: &FieldDefaults) -> ReadResult<Self> {
        defaults.refuse_grid(path, READER.name)?;
        let file = path.join("Header");
        let plot = PlotHeader::read(&file)?;
        let up = plot.levels.last().map_or(0, |level| level.up);
        plot.root.check_levels(&file, up.into())?;
        let n_fields = plot.fields.len();
        let read = |(at, level)| PlotfileLevel::read(path, at, level, &plot.root, n_fields);
        let levels = plot.levels.iter().enumerate().map(read).collect::<ReadResult<Vec<_>>>()?;
        let mut header =
            plot.root.header(READER.name, plot.time, defaults.periodic.unwrap_or([false; 3]), up);
        header.number = crate::input_file::number_of(path);
        header.n_pieces = levels.iter().map(|level| level.fabs.len()).sum();
        let facts = LeafFacts { path: path.into(), header, fields: cell_fields(plot.fields) };
        Ok(Self { facts, levels })
    }

    /// The level and the box of a piece.
    fn piece(&self, piece: usize) -> ReadResult<(usize, &FabPlace)> {
        let mut left = piece;
        for (at, level) in self.levels.iter().enumerate() {
            match level.fabs.get(left) {
                Some(fab) => return Ok((at, fab)),
                None => left -= level.fabs.len(),
            }
        }
        Err(self.facts.no_piece(piece))
    }

    fn fab_file(&self, level: usize, fab: &FabPlace) -> PathBuf {
        self.levels[level].folder.join(&self.levels[level].files[fab.file as usize])
    }

    /// The parts of a box that finer boxes replace, from the lowest cell of the domain.
    fn covered(&self, level: usize, span: &CellSpan) -> Vec<CellSpan> {
        self.levels.get(level + 1).map_or(Vec::new(), |finer| finer.on_coarser().shared_with(span))
    }

    /// The values of the first field in an open file.
    fn array(&self, level: usize, fab: &FabPlace, file: &SourceFile) -> ReadResult<FabValues> {
        let own = &self.levels[level];
        let (stored, array) = match own.real {
            None => fab_header(file, fab.offset)?,
            Some(real) => {
                let size = std::array::from_fn(|a| fab.size[a] + 2 * own.ghosts[a]);
                let low = std::array::from_fn(|a| fab.low[a] - i64::from(own.ghosts[a]));
                let n = self.facts.fields.len();
                ((low, n), StoredArray::dense(fab.offset, size, [0, 1, 2], real))
            }
        };
        let (low, n_fields) = stored;
        let shift: [i64; 3] = std::array::from_fn(|a| fab.low[a] - low[a]);
        let holds = |a: usize| shift[a] >= 0 && shift[a] + i64::from(fab.size[a]) <= i64::from(array.size[a]);
        let place = format!("box at byte {}", fab.offset);
        if n_fields != self.facts.fields.len() || !(0..3).all(holds) {
            let problem = format!("{n_fields} fields of {:?} cells at {low:?}", array.size);
            let expected = format!("{} of {:?} cells at {:?}", self.facts.fields.len(), fab.size, fab.low);
            return Err(ReadError::content(file.path(), place, problem, expected));
        }
        let each = array.bytes().and_then(|bytes| Some((bytes, bytes.checked_mul(n_fields as u64 - 1)?)));
        let Some((bytes, before_last)) = each else {
            return Err(ReadError::content(file.path(), place, format!("{:?} cells", array.size), "fewer"));
        };
        StoredArray { at: array.at.saturating_add(before_last), ..array }.check(file, &place)?;
        Ok(FabValues { array, bytes, shift: shift.map(|x| x as u32) })
    }
}

/// The values of a box in its file.
struct FabValues {
    /// The first field.
    array: StoredArray,
    /// Bytes of a field.
    bytes: u64,
    /// The lowest cell of the box among the stored ones, which may have ghosts.
    shift: [u32; 3],
}

/// A line of text before the values of a box: their type, the stored cells, and the number of fields.
fn fab_header(file: &SourceFile, offset: u64) -> ReadResult<(([i64; 3], usize), StoredArray)> {
    let bad = |problem: String, expected: &str| {
        ReadError::content(file.path(), format!("box at byte {offset}"), problem, expected)
    };
    let left = (file.len() as u64).saturating_sub(offset);
    let mut bytes = vec![0; left.min(LONGEST_HEADER as u64) as usize];
    file.read_at(&mut bytes, offset as usize)?;
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return Err(bad("no line of text".into(), "FAB and its description"));
    };
    let line = String::from_utf8_lossy(&bytes[..end]);
    let numbers = line.strip_prefix("FAB").and_then(integers).unwrap_or_default();
    let n = numbers.len().saturating_sub(10);
    let (of_real, of_box) = numbers.split_at(n);
    let Some(real) = RealFormat::described(of_real) else {
        return Err(bad(short(&line), "FAB, and IEEE reals of 32 or 64 bits in either byte order"));
    };
    let (low, size) =
        header::cell_box(&of_box[..9]).map_err(|(problem, expected)| bad(problem, &expected))?;
    let n_fields = usize::try_from(of_box[9]).ok().filter(|n| *n > 0);
    let n_fields = n_fields.ok_or_else(|| bad(short(&line), "a number of fields"))?;
    Ok(((low, n_fields), StoredArray::dense(offset + end as u64 + 1, size, [0, 1, 2], real)))
}

/// A box that is read.
struct OpenFab<'a> {
    level: u8,
    span: CellSpan,
    covered: Vec<CellSpan>,
    values: FabValues,
    file: &'a SourceFile,
    fields: &'a [usize],
}

impl LeafSource for OpenFab<'_> {
    fn level(&self) -> u8 {
        self.level
    }

    fn corner(&self) -> [u32; 3] {
        self.span.low
    }

    fn size(&self) -> [u32; 3] {
        std::array::from_fn(|a| self.span.end[a] - self.span.low[a])
    }

    fn order(&self) -> [usize; 3] {
        [0, 1, 2]
    }

    fn cover(&self, tile: &Tile, covered: &mut Vec<bool>) {
        let low: [u32; 3] = std::array::from_fn(|a| self.span.low[a] + tile.low[a]);
        let own = CellSpan { low, end: std::array::from_fn(|a| low[a] + tile.size[a]) };
        for part in self.covered.iter().filter_map(|part| part.shared(&own)) {
            covered.resize(tile.n_cells(), false);
            for z in part.low[2]..part.end[2] {
                for y in part.low[1]..part.end[1] {
                    let first = [part.low[0] - low[0], y - low[1], z - low[2]];
                    let first = tile.index(first).expect("the part is in the tile");
                    covered[first..first + (part.end[0] - part.low[0]) as usize].fill(true);
                }
            }
        }
    }

    fn read(&mut self, tile: &Tile, field: usize, to: &mut Vec<f64>) -> ReadResult<()> {
        let FabValues { array, bytes, shift } = &self.values;
        let stored = Tile { low: std::array::from_fn(|a| shift[a] + tile.low[a]), size: tile.size };
        let at = array.at + self.fields[field] as u64 * bytes;
        StoredArray { at, ..*array }.read(self.file, &stored, to)
    }
}

impl LeafSnapshot for Plotfile {
    fn facts(&self) -> &LeafFacts {
        &self.facts
    }

    fn file_of(&self, piece: usize) -> PathBuf {
        let found = self.piece(piece);
        found.map_or_else(|_| self.facts.path.clone(), |(level, fab)| self.fab_file(level, fab))
    }

    fn count_leaves(&self, piece: usize) -> ReadResult<Vec<u64>> {
        let (level, fab) = self.piece(piece)?;
        let span = self.levels[level].span(fab);
        let covered: u64 = self.covered(level, &span).iter().map(CellSpan::n_cells).sum();
        Ok(count_of(self.levels[level].level, span.n_cells().saturating_sub(covered)))
    }

    fn stream_leaves(
        &self,
        piece: usize,
        fields: &[usize],
        blocks: &mut Counted,
        sink: LeafSink<'_>,
    ) -> ReadResult<()> {
        let (level, fab) = self.piece(piece)?;
        let span = self.levels[level].span(fab);
        let file = SourceFile::open(&self.fab_file(level, fab))?;
        let values = self.array(level, fab, &file)?;
        let (covered, level) = (self.covered(level, &span), self.levels[level].level);
        let source = OpenFab { level, span, covered, values, file: &file, fields };
        stream(source, fields.len(), false, blocks, sink)
    }
}
