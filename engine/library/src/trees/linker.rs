//! One output after another: members are compared with those of the last output, and rank 0 adds the output
//! to the history.

use crate::progress::Observer;
use crate::stage::Stage;
use crate::trees::error::TreeError;
use crate::trees::facts::OutputFacts;
use crate::trees::input::{
    MemberSource, ObjectProperties, OutputObjects, open_members, read_facts, read_objects,
};
use crate::trees::members::{SortedMembers, sort_by_id, sorted_members};
use crate::trees::pairs::{ComparedLists, FoundTracers, sent};
use crate::trees::series::{SeriesOrder, check_fits, check_follows, ordered};
use crate::trees::tables::{LinkedOutput, tree_catalogue};
use inselberg_comm::agree::agree;
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::Catalogue;
use inselberg_kernels::trees::history::{History, HistoryParams, ObjectRow, OutputStep};
use inselberg_kernels::trees::join::MemberEntry;
use inselberg_kernels::trees::tracer::MOST_TRACERS;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// What a rank keeps from output to output.
#[derive(Debug)]
pub struct TreeLinker {
    n_tracers: u32,
    /// Whether this is rank 0.
    is_first: bool,
    /// Number of outputs.
    n_outputs: usize,
    /// On rank 0.
    history: History,
    /// The outputs so far, on rank 0.
    outputs: Vec<LinkedOutput>,
    /// Members of the last output whose identities belong to this rank, by identity.
    last: Vec<MemberEntry>,
    /// Tracers of missing objects whose identities belong to this rank, by slot.
    waiting: Vec<MemberEntry>,
    /// Number of slots: objects of the last output, and missing objects behind them.
    n_slots: usize,
}

/// How much an output has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputCounts {
    /// Objects of the output.
    pub n_objects: u64,
    /// Rows of members that all ranks read.
    pub n_members: u64,
}

impl TreeLinker {
    /// Nothing linked so far.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn new(params: HistoryParams, comm: &Comm) -> Result<Self, TreeError> {
        if !(1..=MOST_TRACERS).contains(&params.n_tracers) {
            let (value, expected) = (u64::from(params.n_tracers), format!("1 to {MOST_TRACERS}"));
            return Err(TreeError::Parameter { name: "number of tracers", value, expected });
        }
        let (outputs, last, waiting) = (Vec::new(), Vec::new(), Vec::new());
        let is_first = comm.rank() == Rank(0);
        let n_tracers = params.n_tracers;
        let history = History::new(params);
        Ok(Self { n_tracers, is_first, n_outputs: 0, history, outputs, last, waiting, n_slots: 0 })
    }

    /// Number of outputs so far. Local.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// Collective: adds the catalogues in these files, sorted by time. Returns their order.
    ///
    /// # Errors
    /// One cannot be read or does not fit the others; when a rank fails.
    pub fn add_files(
        &mut self,
        paths: &[PathBuf],
        comm: &Comm,
        observer: &dyn Observer,
    ) -> Result<SeriesOrder, TreeError> {
        let is_first = comm.rank() == Rank(0);
        let headers = Stage::begin("headers", paths.len() as u64, comm, observer);
        let read = || -> Result<_, TreeError> {
            let facts: Vec<Result<_, _>> = paths.par_iter().map(|path| read_facts(path)).collect();
            let facts = facts.into_iter().collect::<Result<Vec<_>, _>>()?;
            let order = ordered(&facts)?;
            Ok((facts, order))
        };
        let read = agree(comm, is_first.then(read).transpose())?;
        drop(headers);
        let places: Vec<u64> =
            read.iter().flat_map(|(_, order)| order.places.iter().map(|i| *i as u64)).collect();
        let places = comm.broadcast(Rank(0), &places)?;
        for place in &places {
            let path = &paths[*place as usize];
            let facts = read.as_ref().map(|(facts, _)| facts[*place as usize].clone());
            self.add_file(path, facts, comm, observer)?;
        }
        let own = SeriesOrder { places: places.into_iter().map(|i| i as usize).collect(), sorted_by: None };
        Ok(read.map_or(own, |(_, order)| order))
    }

    /// Collective: adds one catalogue in a file. `facts` is needed on rank 0.
    ///
    /// # Errors
    /// It cannot be read; when a rank fails.
    fn add_file(
        &mut self,
        path: &Path,
        facts: Option<OutputFacts>,
        comm: &Comm,
        observer: &dyn Observer,
    ) -> Result<OutputCounts, TreeError> {
        let objects = read_objects(facts.as_ref(), path, comm)?;
        let source = open_members(path, comm)?;
        self.add(&path.display().to_string(), facts, objects, &*source, comm, observer)
    }

    /// Collective: adds an output. `facts` is needed on rank 0.
    ///
    /// # Errors
    /// It does not fit the outputs before it, members cannot be read, or a particle occurs twice; when a rank
    /// fails. The outputs before it then stay as they were.
    pub fn add(
        &mut self,
        name: &str,
        facts: Option<OutputFacts>,
        objects: OutputObjects,
        source: &dyn MemberSource,
        comm: &Comm,
        observer: &dyn Observer,
    ) -> Result<OutputCounts, TreeError> {
        let n_rows = objects.spans.iter().map(|span| u64::from(span.n)).sum();
        agree(comm, facts.as_ref().map_or(Ok(()), |facts| self.check_next(facts)))?;
        let reading = Stage::begin("members", n_rows, comm, observer);
        let members = sorted_members(name, &objects, source, self.n_tracers, comm, observer)?;
        reading.count(members.n_rows);
        drop(reading);
        let n_objects = objects.n_objects;
        let linking = Stage::begin("matching", n_objects, comm, observer);
        let found = self.compare(&members, comm)?;
        let waiting = match facts {
            Some(facts) => self.advance(facts, objects.properties, &members, &found),
            None => Vec::new(),
        };
        self.keep(&comm.broadcast(Rank(0), &waiting)?, n_objects as u32, members.entries);
        linking.count(n_objects);
        Ok(OutputCounts { n_objects, n_members: n_rows })
    }

    /// Whether an output may follow the last one.
    fn check_next(&self, facts: &OutputFacts) -> Result<(), TreeError> {
        let Some(last) = self.outputs.last().map(|output| &output.facts) else { return Ok(()) };
        check_fits(last, facts)?;
        check_follows(last, facts, true)
    }

    /// Collective: pairs and sightings of an output, on rank 0.
    fn compare(&self, members: &SortedMembers, comm: &Comm) -> Result<FoundTracers, TreeError> {
        let first_slot = self.history.sources().len() as u32;
        let orphans: Vec<_> = self.history.orphan_tracers().into_iter().zip(first_slot..).collect();
        let orphans = sent(&orphans, comm)?;
        let lists = ComparedLists {
            last: &self.last,
            waiting: &self.waiting,
            orphans: &orphans,
            next: &members.entries,
        };
        Ok(lists.found().gathered(comm)?)
    }

    /// On rank 0: adds an output to the history. Returns the slots of the objects that wait now.
    fn advance(
        &mut self,
        facts: OutputFacts,
        properties: ObjectProperties,
        members: &SortedMembers,
        found: &FoundTracers,
    ) -> Vec<u32> {
        let row = |(place, object): (usize, &u64)| ObjectRow {
            object: *object,
            n_tracers: 0,
            tracer: None,
            mass: properties.mass[place],
            host: properties.host[place],
            track: properties.track[place],
        };
        let mut objects: Vec<ObjectRow> = properties.id.iter().enumerate().map(row).collect();
        for count in &members.tracers {
            let object = &mut objects[count.object as usize];
            (object.n_tracers, object.tracer) = (count.n, Some(count.first));
        }
        // Numbers name tracks, so each is there once.
        let least = self.outputs.last().map_or(0, |last| last.number + 1);
        let number = facts.number.filter(|n| (least..1 << 22).contains(n)).unwrap_or(least);
        let step = OutputStep { number, objects: &objects, pairs: &found.pairs, sightings: &found.sightings };
        let waiting = self.history.advance(&step);
        self.outputs.push(LinkedOutput { facts, number, properties });
        waiting
    }

    /// Keeps the members of an output with `n_objects`, and the tracers of the objects that are missing in
    /// it. These are the objects in `slots`, which get new slots in this order.
    fn keep(&mut self, slots: &[u32], n_objects: u32, members: Vec<MemberEntry>) {
        let mut new_slot = vec![None; self.n_slots];
        for (slot, new) in slots.iter().zip(n_objects..) {
            new_slot[*slot as usize] = Some(new);
        }
        let kept = self.last.par_iter().chain(&self.waiting).filter_map(|entry| {
            let (slot, rank) = (new_slot[entry.object as usize]?, entry.rank()?);
            Some(MemberEntry::new(entry.key(), slot, Some(rank)))
        });
        let mut kept: Vec<MemberEntry> = kept.collect();
        sort_by_id(&mut kept);
        (self.last, self.waiting) = (members, kept);
        self.n_slots = n_objects as usize + slots.len();
        self.n_outputs += 1;
    }

    /// Whether the history is here. Local.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// On rank 0: the history so far as a catalogue.
    pub fn catalogue(&self) -> Catalogue {
        tree_catalogue(&self.history, &self.outputs)
    }
}
