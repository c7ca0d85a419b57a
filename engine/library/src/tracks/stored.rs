//! Tracks of a stored catalogue.

use crate::tracks::state::{STATE, STEP, TrackState};
use crate::trees::TreeError;
use inselberg_comm::agree::{agree, share_of_rank};
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::{self, Attribute, CatalogueOutline, CataloguePart, Table, Values};
use inselberg_kernels::tracks::Track;
use inselberg_kernels::trees::join::MemberEntry;
use inselberg_kernels::trees::tracer::TracerKey;
use std::path::Path;

/// Columns of tracks that are read.
const COLUMNS: [&str; 11] = [
    "track",
    "parent",
    "clump",
    "n_bound",
    "bound_mass",
    "greatest_bound_mass",
    "is_central",
    "n_missed",
    "merged_into",
    "sources_offset",
    "n_sources",
];

/// Collective: the tracks of a catalogue, of which rank 0 reads the tracks and each rank a share of the
/// sources.
///
/// # Errors
/// It cannot be read, has no tracks, or its numbers contradict each other; when a rank fails.
pub fn read_tracks(path: &Path, comm: &Comm) -> Result<TrackState, TreeError> {
    let name = path.display().to_string();
    let is_first = comm.rank() == Rank(0);
    let read = || {
        let outline = catalogue::outline(path)?;
        let n = |table: &str| outline.table(table).map(|table| table.n_rows);
        let (Some(n_tracks), Some(n_sources)) = (n(STATE[0]), n(STATE[1])) else {
            return Err(TreeError::of(&name, "no tracks", "a catalogue of a search with tracks"));
        };
        let table = catalogue::read_rows(path, STATE[0], &COLUMNS, 0..n_tracks)?;
        let tracks = tracks_of(&name, &table, n_sources)?;
        let facts = facts(&name, &outline)?;
        Ok((tracks, [facts.0, facts.1.to_bits(), n_sources]))
    };
    let read = agree(comm, is_first.then(read).transpose())?;
    let (tracks, facts) = read.map_or((Vec::new(), Vec::new()), |(tracks, facts)| (tracks, facts.to_vec()));
    let tracks = comm.broadcast(Rank(0), &tracks)?;
    let facts = comm.broadcast(Rank(0), &facts)?;
    let [step, time, n_sources] = facts[..] else { unreachable!("rank 0 sends three numbers") };
    let sources = agree(comm, own_sources(&name, path, &tracks, n_sources, comm))?;
    Ok(TrackState { step, time: f64::from_bits(time), tracks, sources })
}

/// Step and time.
fn facts(name: &str, outline: &CatalogueOutline) -> Result<(u64, f64), TreeError> {
    let step = match outline.attribute(STEP) {
        Some(Attribute::Int(step)) => u64::try_from(*step).ok().filter(|step| *step < 1 << 22),
        _ => None,
    };
    let time = match outline.attribute("time") {
        Some(Attribute::Real(time)) if time.is_finite() => Some(*time),
        _ => None,
    };
    let facts = step.zip(time);
    facts.ok_or_else(|| TreeError::of(name, format!("no sound {STEP} and time"), "what a search writes"))
}

/// The rows of sources that this rank reads: an equal share.
fn own_sources(
    name: &str,
    path: &Path,
    tracks: &[Track],
    n_sources: u64,
    comm: &Comm,
) -> Result<Vec<MemberEntry>, TreeError> {
    let rows = share_of_rank(n_sources, comm.rank(), comm.n_ranks());
    let table = catalogue::read_rows(path, STATE[1], &["id", "type"], rows.clone())?;
    sources_of(name, &table, tracks, rows.start)
}

/// The tracks of a table.
fn tracks_of(name: &str, table: &Table, n_sources: u64) -> Result<Vec<Track>, TreeError> {
    let bad = |problem: String| TreeError::of(name, problem, "tracks as a search writes them");
    let missing = |column: &str| bad(format!("no sound column {column} in {}", STATE[0]));
    let counts = |column| table.counts(column).ok_or_else(|| missing(column));
    let reals = |column| table.reals(column).ok_or_else(|| missing(column));
    let (number, parent, clump) = (counts("track")?, counts("parent")?, counts("clump")?);
    let (n_bound, is_central) = (counts("n_bound")?, counts("is_central")?);
    let (mass, greatest_mass) = (reals("bound_mass")?, reals("greatest_bound_mass")?);
    let (n_missed, merged_into) = (counts("n_missed")?, counts("merged_into")?);
    let (first, n) = (counts("sources_offset")?, counts("n_sources")?);
    let track = |i: usize| Track {
        number: number[i],
        parent: parent[i],
        clump: clump[i],
        n_bound: n_bound[i],
        mass: mass[i],
        greatest_mass: greatest_mass[i],
        n_sources: n[i],
        is_central: is_central[i],
        n_missed: n_missed[i],
        merged_into: merged_into[i],
    };
    let tracks: Vec<Track> = (0..table.n_rows()).map(track).collect();
    if !tracks.is_sorted_by(|a, b| a.number < b.number) {
        return Err(bad("track numbers that do not ascend".into()));
    }
    if u32::try_from(tracks.len()).is_err() {
        return Err(bad(format!("{} tracks", tracks.len())));
    }
    let mut next = Some(0u64);
    for (track, first) in tracks.iter().zip(first) {
        next = next.filter(|next| next == first && track.n_sources < 1 << 31);
        next = next.and_then(|next| next.checked_add(track.n_sources));
    }
    match next {
        Some(end) if end == n_sources => Ok(tracks),
        _ => Err(bad(format!("sources of tracks that are not the {n_sources} rows of {}", STATE[1]))),
    }
}

/// The sources in rows from `first` on.
fn sources_of(
    name: &str,
    table: &Table,
    tracks: &[Track],
    first: u64,
) -> Result<Vec<MemberEntry>, TreeError> {
    let columns = (table.identities("id"), table.column("type").map(|column| &column.values));
    let (Some(ids), Some(Values::U8(kinds))) = columns else {
        return Err(TreeError::of(name, format!("{} of other types", STATE[1]), "u64 and u8"));
    };
    let ends = tracks.iter().scan(0, |end, track| {
        *end += track.n_sources;
        Some(*end)
    });
    let ends: Vec<u64> = ends.collect();
    let mut slot = ends.partition_point(|end| *end <= first);
    let mut sources = Vec::with_capacity(ids.len());
    for (row, (id, kind)) in (first..).zip(ids.iter().zip(kinds)) {
        while ends[slot] <= row {
            slot += 1;
        }
        if ![1, 4].contains(kind) {
            return Err(TreeError::of(name, format!("type {kind} in {}", STATE[1]), "1 or 4"));
        }
        let rank = row - (ends[slot] - tracks[slot].n_sources);
        let key = TracerKey { id: *id, kind: u64::from(*kind) };
        sources.push(MemberEntry::new(key, slot as u32, Some(rank as u32)));
    }
    Ok(sources)
}

impl TrackState {
    /// The state in the tables of a search, as far as they are on this rank; `None` without tracks. Rank 0 has
    /// the tracks, which all ranks get.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn of_part(part: &CataloguePart, comm: &Comm) -> Result<Option<Self>, TreeError> {
        let [Some(tracks), Some(sources)] = STATE.map(|name| part.table(name)) else { return Ok(None) };
        let name = "tracks in memory";
        let outline = CatalogueOutline { attributes: part.attributes.clone(), tables: Vec::new() };
        let (step, time) = facts(name, &outline)?;
        let is_first = comm.rank() == Rank(0);
        let own = is_first.then(|| tracks_of(name, &tracks.table, sources.n_rows)).transpose();
        let tracks = comm.broadcast(Rank(0), &agree(comm, own)?.unwrap_or_default())?;
        let first = sources.runs.first().map_or(0, |run| run.first);
        let sources = sources_of(name, &sources.table, &tracks, first)?;
        Ok(Some(Self { step, time, tracks, sources }))
    }
}
