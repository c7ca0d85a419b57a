//! Tracks and their sources as tables, and clumps without peaks as rows of clumps and haloes.

use crate::bound::HaloClump;
use crate::tables::{AttributeList, column};
use crate::tracks::before::PlacedTracks;
use crate::tracks::state::{STATE, STEP, TrackState};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_io::catalogue::{Attribute, Dimension, PartTable, RowRun, Table, TableColumn, Values};
use inselberg_kernels::tracks::Track;
use inselberg_kernels::trees::join::MemberEntry;
use std::collections::BTreeMap;

impl TrackState {
    /// Collective: the tables `tracks` and `sources`. Rank 0 has the tracks.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn tables(&self, comm: &Comm) -> Result<[PartTable; 2], CommError> {
        let is_first = comm.rank() == Rank(0);
        let here = if is_first { self.tracks.as_slice() } else { &[] };
        let runs = vec![RowRun { first: 0, n: here.len() }];
        let tracks = PartTable { table: tracks_table(here), runs, n_rows: self.tracks.len() as u64 };
        let n = self.sources.len();
        let run = RowRun { first: comm.sum_before(n as u64)?, n };
        let n_rows = comm.all_reduce_counts(&[n as u64], Reduce::Sum)?[0];
        let sources = PartTable { table: sources_table(&self.sources), runs: vec![run], n_rows };
        Ok([tracks, sources])
    }
}

/// The attribute with the digest of the state.
pub const DIGEST: &str = "unbind_tracks_state";

/// The attribute with the digest of the state of the last output, or `none`.
pub const DIGEST_BEFORE: &str = "unbind_tracks_from";

/// Collective: the attributes of a catalogue about its tracks.
///
/// # Errors
/// When another rank fails.
pub fn track_attributes(
    before: Option<&TrackState>,
    placed: Option<&PlacedTracks>,
    after: &TrackState,
    comm: &Comm,
) -> Result<Vec<(String, Attribute)>, CommError> {
    let mut list = AttributeList::new();
    list.int(STEP, after.step as i64);
    let digest = |state: &TrackState| Ok::<_, CommError>(format!("{:016x}", state.digest(comm)?));
    list.text(DIGEST_BEFORE, &before.map_or_else(|| Ok("none".into()), digest)?);
    list.text(DIGEST, &digest(after)?);
    let peakless =
        placed.map_or(0, |placed| placed.placements.iter().filter(|found| found.is_peakless > 0).count());
    list.int("unbind_clumps_without_peak", peakless as i64);
    Ok(list.into_attributes())
}

fn tracks_table(tracks: &[Track]) -> Table {
    let none = Dimension::NONE;
    let counts = |of: fn(&Track) -> u64| Values::U64(tracks.iter().map(of).collect());
    let reals = |of: fn(&Track) -> f64| Values::F64(tracks.iter().map(of).collect());
    let firsts = tracks.iter().scan(0, |first, track| {
        let own = *first;
        *first += track.n_sources;
        Some(own)
    });
    let columns = vec![
        column(
            "track",
            none,
            "track, the same for life: number of the output of its birth times 2^40, plus its clump there",
            counts(|t| t.number),
        ),
        column("parent", none, "track in which it lies; 0 for a central", counts(|t| t.parent)),
        column(
            "clump",
            none,
            "identifier of its clump in this output; 0 if it is missing",
            counts(|t| t.clump),
        ),
        column(
            "n_bound",
            none,
            "number of its bound particles when it was last bound",
            counts(|t| t.n_bound),
        ),
        column("bound_mass", Dimension::MASS, "their mass", reals(|t| t.mass)),
        column(
            "greatest_bound_mass",
            Dimension::MASS,
            "its greatest bound mass so far",
            reals(|t| t.greatest_mass),
        ),
        column(
            "is_central",
            none,
            "1 for the central of its halo, 0 for satellites",
            counts(|t| t.is_central),
        ),
        column("n_missed", none, "consecutive outputs in which it is missing", counts(|t| t.n_missed)),
        column(
            "merged_into",
            none,
            "track into which it has merged in this output, and so ends; 0 for none",
            counts(|t| t.merged_into),
        ),
        column(
            "sources_offset",
            none,
            "row of its first particle in sources, from 0",
            Values::U64(firsts.collect()),
        ),
        column("n_sources", none, "number of its particles there", counts(|t| t.n_sources)),
    ];
    Table { name: STATE[0].into(), columns }
}

fn sources_table(sources: &[MemberEntry]) -> Table {
    let kinds = sources.iter().map(|entry| entry.key().kind as u8).collect();
    let ids = Values::U64(sources.iter().map(|entry| entry.id).collect());
    let text =
        "identity of a particle of the track: bound ones first, the most bound first, then former ones";
    let columns = vec![
        column("id", Dimension::NONE, text, ids),
        column("type", Dimension::NONE, "1 dark matter, 4 stars", Values::U8(kinds)),
    ];
    Table { name: STATE[1].into(), columns }
}

/// Local, on all ranks: adds rows for clumps without a peak to a table of clumps or haloes. The last rank gets
/// them, as their identifiers are above all others.
///
/// They have no patch: its numbers, masses and volumes are 0, its densities are NaN.
pub fn add_peakless(part: &mut PartTable, peakless: &[HaloClump], comm: &Comm) {
    part.n_rows += peakless.len() as u64;
    if comm.rank().at() + 1 < comm.n_ranks() {
        return;
    }
    part.runs.push(RowRun { first: part.n_rows - peakless.len() as u64, n: peakless.len() });
    for column in &mut part.table.columns {
        append(column, peakless);
    }
}

fn append(column: &mut TableColumn, peakless: &[HaloClump]) {
    let is_amount = [Dimension::MASS, Dimension::VOLUME].contains(&column.dimension);
    let is_position = column.name.starts_with("peak_position");
    let count: fn(&HaloClump) -> u64 = match column.name.as_str() {
        "id" | "central" => |clump| clump.id,
        "halo" => |clump| clump.halo,
        "parent" => |clump| clump.parent,
        _ => |_| 0,
    };
    let real = if is_amount { 0.0 } else { f64::NAN };
    match &mut column.values {
        Values::U64(values) => values.extend(peakless.iter().map(count)),
        Values::I64(values) => values.extend(peakless.iter().map(|clump| count(clump).cast_signed())),
        Values::U8(values) => values.extend(peakless.iter().map(|_| 0)),
        Values::F64(values) => values.extend(peakless.iter().map(|_| real)),
        Values::F32(values) => values.extend(peakless.iter().map(|_| real as f32)),
        Values::F64x3(values) => {
            values.extend(peakless.iter().map(|clump| if is_position { clump.peak } else { [f64::NAN; 3] }));
        }
        Values::U32x3(values) => values.extend(peakless.iter().map(|_| [0; 3])),
    }
}

/// Adds the track of each clump, and whether it is more than history: a column with this name and description.
pub fn add_track_columns(
    table: &mut Table,
    rows: &[HaloClump],
    track_of: &BTreeMap<u64, u64>,
    [name, about]: [&str; 2],
) {
    let track = rows.iter().map(|row| track_of.get(&row.id).copied().unwrap_or(0)).collect();
    let has_patch = rows.iter().map(|row| u8::from(row.is_peakless == 0)).collect();
    table.columns.extend([
        column(
            "track",
            Dimension::NONE,
            "its track, a row of tracks; 0 if too few are bound",
            Values::U64(track),
        ),
        column(name, Dimension::NONE, about, Values::U8(has_patch)),
    ]);
}
