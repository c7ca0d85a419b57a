//! `amr_NNNNN.outCCCCC`: the octs that one CPU holds, its own and its ghosts, level by level.
//!
//! After 22 header records follow the lists of octs per level and domain (the CPUs, then the boundary
//! regions), the records of the ordering, the coarse cells, and one block of records for every level and
//! domain with octs.

use super::record::{Ints, Reals, Records};
use crate::source_file::SourceFile;
use crate::{ReadResult, reserve};
use std::ops::Range;

/// The least bytes per oct: 34 integers and 3 single-precision reals.
const LEAST_OCT_BYTES: u64 = 34 * 4 + 3 * 4;

/// The header of an amr file.
pub(super) struct AmrHeader {
    pub(super) n_cpus: usize,
    /// Coarse cells along each axis, those of boundary regions among them.
    pub(super) coarse: [u32; 3],
    pub(super) n_levels: usize,
    pub(super) n_boundaries: usize,
    /// Octs by level and CPU, then by level and boundary region, as in the file.
    in_cpus: Vec<u32>,
    in_boundaries: Vec<u32>,
}

/// An amr file after its header, before its first block of octs.
pub(super) struct Amr<'a> {
    pub(super) header: AmrHeader,
    records: Records<'a>,
}

/// The octs of one level and domain.
pub(super) struct Octs<'a> {
    pub(super) n: usize,
    /// Centres along x, y, z in coarse cells from the corner of the coarse grid.
    pub(super) centre: Vec<Reals<'a>>,
    /// For each of the eight cells the oct inside it, 0 for none.
    pub(super) son: Vec<Ints<'a>>,
}

impl<'a> Amr<'a> {
    /// Reads the header of `file`, which must be of a run on `n_cpus`.
    ///
    /// # Errors
    /// A record is broken, the numbers contradict each other or the size of the file, or the run was not
    /// three-dimensional.
    pub(super) fn open(file: &'a SourceFile, n_cpus: usize) -> ReadResult<Self> {
        let mut records = Records::new(file);
        let header = AmrHeader::read(&mut records, n_cpus)?;
        pass_ordering(&mut records)?;
        let n_coarse = header.coarse.iter().map(|&n| n as usize).product();
        for what in ["coarse son", "coarse flag1", "coarse cpu_map"] {
            records.ints(what, n_coarse)?;
        }
        Ok(Self { header, records })
    }

    /// Skips the next block, that of `domain` (from 1: CPUs, then boundary regions) at `level`. Returns its
    /// octs if `wanted`.
    pub(super) fn block(
        &mut self,
        level: usize,
        domain: usize,
        wanted: bool,
    ) -> ReadResult<Option<Octs<'a>>> {
        let n = self.header.count(level, domain);
        if n == 0 {
            return Ok(None);
        }
        self.records.enter_block(level, domain);
        if wanted { self.read_block(n).map(Some) } else { self.pass_block(n).map(|()| None) }
    }

    fn read_block(&mut self, n: usize) -> ReadResult<Octs<'a>> {
        let records = &mut self.records;
        skip_ints(records, &["ind_grid", "next", "prev"], n)?;
        let centre = (0..3).map(|_| records.reals("xg", n)).collect::<ReadResult<_>>()?;
        skip_ints(records, &["father", "nbor", "nbor", "nbor", "nbor", "nbor", "nbor"], n)?;
        let son = (0..8).map(|_| records.ints("son", n)).collect::<ReadResult<_>>()?;
        skip_ints(records, &["cpu_map"; 8], n)?;
        skip_ints(records, &["flag1"; 8], n)?;
        Ok(Octs { n, centre, son })
    }

    fn pass_block(&mut self, n: usize) -> ReadResult<()> {
        self.records.ints("ind_grid", n)?;
        self.records.skip("next to flag1", 2 + 3 + 1 + 6 + 3 * 8)
    }
}

impl Octs<'_> {
    /// Reads the octs in `range`.
    pub(super) fn load(&mut self, range: Range<usize>) -> ReadResult<()> {
        self.centre.iter_mut().try_for_each(|centre| centre.load(range.clone()))?;
        self.son.iter_mut().try_for_each(|son| son.load(range.clone()))
    }
}

fn skip_ints(records: &mut Records, names: &[&'static str], n: usize) -> ReadResult<()> {
    names.iter().try_for_each(|what| records.ints(what, n).map(drop))
}

impl AmrHeader {
    fn read(records: &mut Records, n_cpus: usize) -> ReadResult<Self> {
        let found = records.count("ncpu", 1)?;
        if found != n_cpus {
            return Err(records.error("ncpu", format!("{found}"), format!("{n_cpus}, as in the info file")));
        }
        let n_dim = records.int("ndim")?;
        if n_dim != 3 {
            let expected = "3: only three dimensions are read";
            return Err(records.error("ndim", format!("{n_dim}"), expected));
        }
        let coarse = read_coarse(records)?;
        let n_levels = records.count("nlevelmax", 1)?;
        records.count("ngridmax", 0)?;
        let n_boundaries = records.count("nboundary", 0)?;
        records.count("ngrid_current", 0)?;
        records.reals("boxlen", 1)?;
        records.skip("noutput to mass_sph", 11)?;
        let mut header =
            Self { n_cpus, coarse, n_levels, n_boundaries, in_cpus: vec![], in_boundaries: vec![] };
        header.read_counts(records)?;
        records.next("free memory")?;
        Ok(header)
    }

    fn read_counts(&mut self, records: &mut Records) -> ReadResult<()> {
        records.skip("headl, taill", 2)?;
        let (levels, coarse) = (self.n_levels, self.coarse);
        self.in_cpus = read_list(records, "numbl", self.n_cpus, levels, coarse)?;
        records.skip("numbtot", 1)?;
        if self.n_boundaries > 0 {
            records.skip("headb, tailb", 2)?;
            self.in_boundaries = read_list(records, "numbb", self.n_boundaries, levels, coarse)?;
        }
        Ok(())
    }

    /// CPUs and boundary regions together.
    pub(super) fn n_domains(&self) -> usize {
        self.n_cpus + self.n_boundaries
    }

    /// Octs of `domain` at `level`, both from 1.
    pub(super) fn count(&self, level: usize, domain: usize) -> usize {
        let n = if domain <= self.n_cpus {
            self.in_cpus[(level - 1) * self.n_cpus + domain - 1]
        } else {
            self.in_boundaries[(level - 1) * self.n_boundaries + domain - self.n_cpus - 1]
        };
        n as usize
    }
}

fn read_coarse(records: &mut Records) -> ReadResult<[u32; 3]> {
    const MOST: i32 = 1 << 20;
    let n = records.list("nx, ny, nz", 3)?;
    let coarse = [n[0], n[1], n[2]];
    if coarse.iter().all(|n| (1..=MOST).contains(n)) {
        return Ok(coarse.map(|n| n as u32));
    }
    Err(records.error("nx, ny, nz", format!("{coarse:?}"), format!("1 to {MOST} coarse cells an axis")))
}

/// A table of `n_domains` by `n_levels` counts of octs, checked against the file and the grid.
fn read_list(
    records: &mut Records,
    what: &'static str,
    n_domains: usize,
    n_levels: usize,
    coarse: [u32; 3],
) -> ReadResult<Vec<u32>> {
    // Both factors come from 32-bit integers, so the product cannot overflow.
    let table = records.list(what, n_domains * n_levels)?;
    if let Some(n) = table.iter().find(|n| **n < 0) {
        return Err(records.error(what, format!("{n} octs"), "counts of at least 0"));
    }
    let mut counts: Vec<u32> = Vec::new();
    reserve(&mut counts, n_domains * n_levels, records.path(), what)?;
    counts.extend(table.iter().map(|n| *n as u32));
    check_room(records, what, &counts)?;
    check_depth(records, what, counts.chunks_exact(n_domains), coarse)?;
    Ok(counts)
}

/// The claimed octs must fit the file.
fn check_room(records: &Records, what: &str, counts: &[u32]) -> ReadResult<()> {
    let n_octs: u64 = counts.iter().map(|&n| u64::from(n)).sum();
    let least = n_octs.saturating_mul(LEAST_OCT_BYTES);
    if least <= records.file_len() as u64 {
        return Ok(());
    }
    let problem = format!("the header claims {n_octs} octs, at least {least} bytes");
    let expected = format!("no more than the file's {} bytes", records.file_len());
    Err(records.error(what, problem, expected))
}

/// Cells must be addressable by 32-bit coordinates at every level that has octs.
fn check_depth<'c>(
    records: &Records,
    what: &str,
    levels: impl DoubleEndedIterator<Item = &'c [u32]> + ExactSizeIterator,
    coarse: [u32; 3],
) -> ReadResult<()> {
    let widest = u64::from(coarse.into_iter().max().expect("three axes"));
    let deepest = levels.enumerate().rfind(|(_, counts)| counts.iter().any(|&n| n > 0));
    let level = deepest.map_or(0, |(i, _)| i + 1);
    if level <= 31 && widest << level <= 1 << 32 {
        return Ok(());
    }
    let problem = format!("octs at level {level} over {widest} coarse cells");
    Err(records.error(what, problem, "at most 2^32 cells along an axis"))
}

/// Skips the name of the ordering and its records of the domains' bounds.
fn pass_ordering(records: &mut Records) -> ReadResult<()> {
    let name = records.text("ordering")?;
    match name.as_str() {
        "bisection" => records.skip("bisection tree", 5),
        "ksection" => records.skip("ksection tree", 10),
        _ => records.skip("bound_key", 1),
    }
}
