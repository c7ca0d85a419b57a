//! Objects and members in the memory of a program, as a search left them on all ranks.

use crate::progress::Observer;
use crate::trees::error::TreeError;
use crate::trees::facts::OutputFacts;
use crate::trees::input::{
    MemberSource, MemberSpan, OutputObjects, check_members, object_columns, objects_of, share,
};
use crate::trees::linker::TreeLinker;
use crate::trees::members::share_of;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::agree::agree;
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::{CatalogueOutline, CataloguePart, PartTable, TableOutline, Values};
use std::ops::Range;

/// An output in memory, with the members that this rank works on.
#[derive(Debug)]
pub struct MemoryOutput {
    /// On rank 0.
    facts: Option<OutputFacts>,
    objects: OutputObjects,
    members: RowsInMemory,
}

/// Consecutive rows of the table of members.
#[derive(Debug, Default)]
struct RowsInMemory {
    first: u64,
    ids: Vec<u64>,
    types: Vec<u8>,
}

/// A row of members in a message.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MemberRow {
    row: u64,
    id: u64,
    member_type: u64,
}

impl MemberSource for RowsInMemory {
    fn members(&self, rows: Range<u64>) -> Result<(Vec<u64>, Vec<u8>), TreeError> {
        let own = (rows.start - self.first) as usize..(rows.end - self.first) as usize;
        Ok((self.ids[own.clone()].to_vec(), self.types[own].to_vec()))
    }
}

impl MemoryOutput {
    /// Collective: adds it to a tree.
    ///
    /// # Errors
    /// As [`TreeLinker::add`].
    pub fn add_to(
        self,
        linker: &mut TreeLinker,
        comm: &Comm,
        observer: &dyn Observer,
    ) -> Result<(), TreeError> {
        let name = self.facts.as_ref().map_or(String::new(), |facts| facts.name.clone());
        linker.add(&name, self.facts, self.objects, &self.members, comm, observer)?;
        Ok(())
    }
}

/// Collective: the catalogue of a search as an output with this number. Objects go to rank 0, rows of members
/// to the ranks that work on them: one exchange of 24 bytes per row.
///
/// # Errors
/// There are no members, or columns contradict each other; when a rank fails.
pub fn memory_output(part: &CataloguePart, number: u64, comm: &Comm) -> Result<MemoryOutput, TreeError> {
    let name = format!("output {number}");
    let outline = CatalogueOutline {
        attributes: part.attributes.clone(),
        tables: part.tables.iter().map(outline_of).collect(),
    };
    let facts = OutputFacts::new(&name, &outline, Some(number)).and_then(|facts| {
        check_members(&facts, &outline).map(|()| OutputFacts { number: Some(number), ..facts })
    });
    let facts = agree(comm, facts)?;
    let mut objects = part.table(facts.kind.names().table).cloned().unwrap_or_default();
    let wanted = object_columns(facts.kind, |name| objects.table.column(name).is_some());
    objects.table.columns.retain(|column| wanted.contains(&column.name.as_str()));
    let objects = CataloguePart { attributes: Vec::new(), tables: vec![objects] }.gather_on(Rank(0), comm)?;
    let members = part.table("members").expect("it was checked");
    let read = objects.map(|objects| objects_of(&facts, &objects.tables[0], members.n_rows));
    let objects = share(agree(comm, read.transpose())?, comm)?;
    let members = routed(members, &objects.spans, comm)?;
    let is_first = comm.rank() == Rank(0);
    Ok(MemoryOutput { facts: is_first.then_some(facts), objects, members })
}

fn outline_of(part: &PartTable) -> TableOutline {
    TableOutline {
        name: part.table.name.clone(),
        columns: part.table.columns.iter().map(|column| column.name.clone()).collect(),
        n_rows: part.n_rows,
    }
}

/// Collective: rows to the ranks that work on them, in their order there.
fn routed(part: &PartTable, spans: &[MemberSpan], comm: &Comm) -> Result<RowsInMemory, TreeError> {
    let columns =
        [part.table.column("id"), part.table.column("type")].map(|column| column.map(|c| &c.values));
    let [Some(Values::U64(ids)), Some(Values::U8(types))] = columns else {
        return Err(TreeError::of("members", "columns of other types", "u64 and u8"));
    };
    let n_ranks = comm.n_ranks();
    let range_of = |rank: u32| rows_of(share_of(spans, Rank(rank), n_ranks));
    // Ascending, as the shares are.
    let ranges: Vec<(u32, Range<u64>)> = (0..n_ranks as u32)
        .map(|rank| (rank, range_of(rank)))
        .filter(|(_, range)| !range.is_empty())
        .collect();
    let rows = part.runs.iter().flat_map(|run| run.first..run.first + run.n as u64);
    let mut parts: Vec<(Rank, Vec<MemberRow>)> =
        (0..n_ranks as u32).map(|rank| (Rank(rank), Vec::new())).collect();
    for (row, (id, member_type)) in rows.zip(ids.iter().zip(types)) {
        let next = ranges.partition_point(|(_, range)| range.end <= row);
        // Rows between the objects belong to no object.
        if let Some((rank, _)) = ranges.get(next).filter(|(_, range)| range.contains(&row)) {
            parts[*rank as usize].1.push(MemberRow { row, id: *id, member_type: u64::from(*member_type) });
        }
    }
    let mut own: Vec<MemberRow> = comm.exchange(parts)?.into_iter().flat_map(|(_, rows)| rows).collect();
    own.sort_unstable_by_key(|row| row.row);
    let range = range_of(comm.rank().0);
    let is_whole = own.len() as u64 == range.end - range.start;
    agree(
        comm,
        if is_whole { Ok(()) } else { Err(TreeError::of("members", "rows are missing", "each row once")) },
    )?;
    Ok(RowsInMemory {
        first: range.start,
        ids: own.iter().map(|row| row.id).collect(),
        types: own.iter().map(|row| row.member_type as u8).collect(),
    })
}

/// The rows from the first to the last span.
fn rows_of(spans: &[MemberSpan]) -> Range<u64> {
    match (spans.first(), spans.last()) {
        (Some(first), Some(last)) => first.first..last.first + u64::from(last.n),
        _ => 0..0,
    }
}
