//! The objects and members of an output.

use crate::bound::IS_CENTRAL;
use crate::trees::error::TreeError;
use crate::trees::facts::{ObjectKind, OutputFacts};
use inselberg_comm::agree::agree;
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::finders::{FinderCatalogue, finder_of};
use inselberg_io::catalogue::{self, CatalogueOutline, Table, Values};
use inselberg_kernels::trees::history::MOST_OBJECTS;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Consecutive rows of the table of members that belong to one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct MemberSpan {
    /// The first row.
    pub first: u64,
    /// The number of rows, above 0.
    pub n: u32,
    /// The place of the object by identifier.
    pub object: u32,
}

/// Properties of objects, by ascending identifier. Columns that a catalogue lacks are 0.
#[derive(Debug, Clone, Default)]
pub struct ObjectProperties {
    /// Identifiers.
    pub id: Vec<u64>,
    /// The place of the object that it is in.
    pub host: Vec<Option<u32>>,
    /// Number of members of all types.
    pub n_members: Vec<u64>,
    /// Masses.
    pub mass: Vec<f64>,
    /// Positions.
    pub position: Vec<[f64; 3]>,
    /// Velocities.
    pub velocity: Vec<[f64; 3]>,
    /// Maximum circular velocities.
    pub max_circular_velocity: Vec<f64>,
    /// Their radii.
    pub max_circular_radius: Vec<f64>,
    /// Radii of half the mass.
    pub radius: Vec<f64>,
    /// Tracks that the search remembered.
    pub track: Vec<u64>,
}

/// Where members of an output come from.
pub trait MemberSource: Sync {
    /// Identities and types of these rows of the table of members.
    ///
    /// # Errors
    /// They cannot be read.
    fn members(&self, rows: Range<u64>) -> Result<(Vec<u64>, Vec<u8>), TreeError>;
}

/// A catalogue of ours in a file.
#[derive(Debug, Clone)]
struct MemberFile(PathBuf);

/// Collective: the members of the catalogue at `path`. That of another finder is opened once, on each rank.
///
/// # Errors
/// It cannot be opened; when a rank fails.
pub fn open_members(path: &Path, comm: &Comm) -> Result<Box<dyn MemberSource>, TreeError> {
    let opened = finder_of(path).map(|finder| finder.open(path)).transpose().map_err(TreeError::from);
    Ok(match agree(comm, opened)? {
        Some(catalogue) => Box::new(catalogue),
        None => Box::new(MemberFile(path.to_path_buf())),
    })
}

impl MemberSource for FinderCatalogue {
    fn members(&self, rows: Range<u64>) -> Result<(Vec<u64>, Vec<u8>), TreeError> {
        Ok(self.members(rows)?)
    }
}

impl MemberSource for MemberFile {
    fn members(&self, rows: Range<u64>) -> Result<(Vec<u64>, Vec<u8>), TreeError> {
        let table = catalogue::read_rows(&self.0, "members", &["id", "type"], rows)?;
        let mut columns = table.columns.into_iter().map(|column| column.values);
        let (ids, types) = (columns.next(), columns.next());
        match (ids.as_ref().and_then(Values::identities), types) {
            (Some(ids), Some(Values::U8(types))) => Ok((ids.to_vec(), types)),
            _ => Err(TreeError::of(&self.0.display().to_string(), "members of other types", "u64 and u8")),
        }
    }
}

/// The objects of an output and the rows of their members. Properties are on rank 0, spans by row on all
/// ranks.
#[derive(Debug)]
pub struct OutputObjects {
    /// Properties of objects, on rank 0.
    pub properties: ObjectProperties,
    /// Number of objects.
    pub n_objects: u64,
    /// The rows of each object that has members, by row.
    pub spans: Vec<MemberSpan>,
}

/// The facts of a catalogue in a file, from its attributes alone. Reads all bytes once, for their checksum.
///
/// # Errors
/// It cannot be read, or is fit for no tree.
pub fn read_facts(path: &Path) -> Result<OutputFacts, TreeError> {
    let outline = catalogue::outline(path)?;
    let name = path.display().to_string();
    let facts = OutputFacts::new(&name, &outline, number_in(path))?;
    check_members(&facts, &outline)?;
    Ok(facts)
}

/// The last number in the name of a file, as in `clumps_00080.hdf5`.
fn number_in(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let digits = name.split(|c: char| !c.is_ascii_digit()).rfind(|part| !part.is_empty())?;
    digits.parse().ok().filter(|number| *number < 1 << 22)
}

/// Whether the members of objects are listed.
///
/// # Errors
/// They are not.
pub fn check_members(facts: &OutputFacts, outline: &CatalogueOutline) -> Result<(), TreeError> {
    let objects = outline.table(facts.kind.names().table);
    let has_offsets = objects.is_some_and(|table| table.has("members_offset") && table.has("n_bound"));
    if has_offsets && outline.table("members").is_some_and(|table| table.has("id") && table.has("type")) {
        return Ok(());
    }
    let expected = match facts.kind {
        ObjectKind::Clumps => "a catalogue of `inselberg phew --unbind --with-members`",
        ObjectKind::Groups => "a catalogue of `inselberg fof --properties bound --with-members`",
    };
    Err(TreeError::of(&facts.name, "no members", expected))
}

/// The columns of the table of objects that a tree uses, as far as they exist.
pub fn object_columns(kind: ObjectKind, has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let names = kind.names();
    let mut wanted = vec![names.id, "n_bound", "members_offset"];
    wanted.extend(names.parent.into_iter().chain([IS_CENTRAL]).filter(|name| has(name)));
    let first = |candidates: &[&'static str]| candidates.iter().copied().find(|name| has(name));
    wanted.extend([names.mass, names.position, names.velocity].into_iter().filter_map(first));
    let others =
        ["maximum_circular_velocity", "maximum_circular_velocity_radius", "half_mass_radius", "track"];
    wanted.extend(others.into_iter().filter(|name| has(name)));
    wanted
}

/// Collective: the objects of the catalogue at `path`, of which rank 0 reads the table.
///
/// # Errors
/// It cannot be read, or its numbers contradict each other; when a rank fails.
pub fn read_objects(
    facts: Option<&OutputFacts>,
    path: &Path,
    comm: &Comm,
) -> Result<OutputObjects, TreeError> {
    let read = || {
        let facts = facts.expect("rank 0 has the facts");
        let outline = catalogue::outline(path)?;
        check_members(facts, &outline)?;
        let names = facts.kind.names();
        let table = outline.table(names.table).expect("it was checked");
        let columns = object_columns(facts.kind, |name| table.has(name));
        let objects = catalogue::read_rows(path, names.table, &columns, 0..table.n_rows)?;
        let n_members = outline.table("members").map_or(0, |table| table.n_rows);
        objects_of(facts, &objects, n_members)
    };
    let is_first = comm.rank() == Rank(0);
    let read = agree(comm, is_first.then(read).transpose())?;
    share(read, comm)
}

/// Collective: what rank 0 has of the objects, with the spans on all ranks.
///
/// # Errors
/// When a rank fails.
pub fn share(
    read: Option<(ObjectProperties, Vec<MemberSpan>)>,
    comm: &Comm,
) -> Result<OutputObjects, TreeError> {
    let (properties, spans) = read.unwrap_or_default();
    let spans = comm.broadcast(Rank(0), &spans)?;
    let n_objects = comm.broadcast(Rank(0), &[properties.id.len() as u64])?[0];
    Ok(OutputObjects { properties, n_objects, spans })
}

/// Objects in the order of their identifiers, and the spans of their members by row.
///
/// # Errors
/// Columns are missing or contradict each other.
pub fn objects_of(
    facts: &OutputFacts,
    table: &Table,
    n_members: u64,
) -> Result<(ObjectProperties, Vec<MemberSpan>), TreeError> {
    let names = facts.kind.names();
    let bad = |problem: String, expected: &str| TreeError::of(&facts.name, problem, expected);
    let whole = |name: &str| {
        let column = table.integers(name);
        column.ok_or_else(|| bad(format!("no column {name} of integers"), "a catalogue with members"))
    };
    let (ids, n_bound, offsets) = (whole(names.id)?, whole("n_bound")?, whole("members_offset")?);
    let n = ids.len();
    if n as u64 >= MOST_OBJECTS {
        return Err(bad(format!("{n} objects"), "fewer than 2^31"));
    }
    // Objects without members make no nodes.
    let mut order: Vec<usize> = (0..n).filter(|row| n_bound[*row] > 0).collect();
    order.sort_unstable_by_key(|row| ids[*row]);
    let id: Vec<u64> = order.iter().map(|row| ids[*row].cast_unsigned()).collect();
    if let Some(pair) = id.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(bad(format!("two objects have the identifier {}", pair[0]), "each identifier once"));
    }
    if let Some(id) = id.iter().find(|id| **id >= 1 << 40) {
        return Err(bad(format!("the identifier {id}"), "identifiers below 2^40"));
    }
    let mut spans = Vec::new();
    for (object, row) in order.iter().enumerate() {
        let (first, n) = (offsets[*row], n_bound[*row]);
        let end = u64::try_from(first).ok().and_then(|first| first.checked_add(n.cast_unsigned()));
        let span = end.filter(|end| *end <= n_members).and_then(|_| u32::try_from(n).ok());
        let Some(n) = span else {
            let problem = format!("members {first} to {} of object {}", first.saturating_add(n), id[object]);
            return Err(bad(
                problem,
                &format!("rows of the {n_members} members, fewer than 2^32 per object"),
            ));
        };
        spans.push(MemberSpan { first: first.cast_unsigned(), n, object: object as u32 });
    }
    spans.sort_unstable_by_key(|span| span.first);
    if let Some(pair) = spans.windows(2).find(|pair| pair[0].first + u64::from(pair[0].n) > pair[1].first) {
        let [a, b] = [pair[0], pair[1]].map(|span| id[span.object as usize]);
        return Err(bad(format!("objects {a} and {b} share rows of members"), "rows of their own"));
    }
    let hosts = hosts_of(facts.kind, table, &ids);
    let host = order.iter().map(|row| first_listed(&hosts, *row, &n_bound));
    let place = |row: usize| id.binary_search(&ids[row].cast_unsigned()).ok().map(|place| place as u32);
    let host = host.map(|row| row.and_then(place)).collect();
    let properties = properties(facts.kind, table, &order, id, host, &n_bound);
    Ok((properties, spans))
}

/// The row of the host of each row: its parent, after the tree of the clumps of a halo was rearranged so that
/// its root is the central. The central has none.
fn hosts_of(kind: ObjectKind, table: &Table, ids: &[i64]) -> Vec<Option<usize>> {
    let Some(parents) = kind.names().parent.and_then(|name| table.integers(name)) else {
        return vec![None; ids.len()];
    };
    let row_of: BTreeMap<i64, usize> = ids.iter().copied().zip(0..).collect();
    let parent = |(row, parent): (usize, &i64)| row_of.get(parent).copied().filter(|parent| *parent != row);
    let by_density: Vec<Option<usize>> = parents.iter().enumerate().map(parent).collect();
    let mut hosts = by_density.clone();
    let is_central = table.integers(IS_CENTRAL).unwrap_or_default();
    for central in (0..is_central.len()).filter(|row| is_central[*row] != 0) {
        // A damaged catalogue may have circles of parents.
        let path = std::iter::successors(Some(central), |row| by_density[*row]).take(ids.len());
        let mut below = None;
        for row in path.collect::<Vec<_>>() {
            hosts[row] = below;
            below = Some(row);
        }
    }
    hosts
}

/// The nearest host above a row that has members.
fn first_listed(hosts: &[Option<usize>], row: usize, n_bound: &[i64]) -> Option<usize> {
    std::iter::successors(hosts[row], |host| hosts[*host]).take(hosts.len()).find(|host| n_bound[*host] > 0)
}

fn properties(
    kind: ObjectKind,
    table: &Table,
    order: &[usize],
    id: Vec<u64>,
    host: Vec<Option<u32>>,
    n_bound: &[i64],
) -> ObjectProperties {
    let names = kind.names();
    let n = order.len();
    let reals = |candidates: &[&str]| -> Vec<f64> {
        let column = candidates.iter().find_map(|name| table.reals(name));
        column.map_or(vec![0.0; n], |values| order.iter().map(|row| values[*row]).collect())
    };
    let vectors = |candidates: &[&str]| -> Vec<[f64; 3]> {
        let column = candidates.iter().find_map(|name| table.vectors(name));
        column.map_or(vec![[0.0; 3]; n], |values| order.iter().map(|row| values[*row]).collect())
    };
    ObjectProperties {
        host,
        n_members: order.iter().map(|row| n_bound[*row].cast_unsigned()).collect(),
        mass: reals(names.mass),
        position: vectors(names.position),
        velocity: vectors(names.velocity),
        max_circular_velocity: reals(&["maximum_circular_velocity"]),
        max_circular_radius: reals(&["maximum_circular_velocity_radius"]),
        radius: reals(&["half_mass_radius"]),
        track: table
            .integers("track")
            .map_or(vec![0; n], |tracks| order.iter().map(|row| tracks[*row].cast_unsigned()).collect()),
        id,
    }
}
