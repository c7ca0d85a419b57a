//! What is a snapshot of leaves alone? Readers of block-structured codes and of plain arrays tell their
//! [`LeafFacts`], and stream the leaves of a piece; all else of a [`Snapshot`] is here, once.
//!
//! This module knows no format.

use crate::attribute::Attribute;
use crate::leaf_stream::LeafSink;
use crate::{
    Counted, Every, FieldInfo, Header, OctBlock, ParticleBlock, ReadError, ReadResult, Snapshot, facts,
    open_files,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is known of such a snapshot before any cell is read.
#[derive(Serialize, Deserialize)]
pub(crate) struct LeafFacts {
    /// Its file or folder.
    #[serde(with = "facts::path")]
    pub path: PathBuf,
    pub header: Header,
    pub fields: Vec<FieldInfo>,
}

impl LeafFacts {
    /// The error of a piece that does not exist.
    pub fn no_piece(&self, piece: usize) -> ReadError {
        let what = format!("no piece {piece}; expected one below {}", self.header.n_pieces);
        ReadError::absent(&self.path, what)
    }

    /// The indices of fields by name.
    ///
    /// # Errors
    /// There is no such field.
    fn indices(&self, names: &[&str]) -> ReadResult<Vec<usize>> {
        let index = |name: &&str| {
            self.fields.iter().position(|field| field.name == *name).ok_or_else(|| {
                let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
                let what = format!("no field \"{name}\"; expected one of what it has: {}", names.join(", "));
                ReadError::absent(&self.path, what)
            })
        };
        names.iter().map(index).collect()
    }
}

/// The fields of cells with these names.
pub(crate) fn cell_fields(names: impl IntoIterator<Item = String>) -> Vec<FieldInfo> {
    names.into_iter().map(|name| FieldInfo { family: "cells", name }).collect()
}

/// So many leaves of one level, as [`Snapshot::count_leaves`] counts them.
pub(crate) fn count_of(level: u8, n: u64) -> Vec<u64> {
    let mut counts = vec![0; usize::from(level)];
    counts.push(n);
    counts
}

/// A snapshot of leaves alone, without particles and units.
pub(crate) trait LeafSnapshot: Send + Sync {
    /// What is known of it.
    fn facts(&self) -> &LeafFacts;

    /// As [`Snapshot::count_leaves`].
    fn count_leaves(&self, piece: usize) -> ReadResult<Vec<u64>>;

    /// Streams those blocks of a piece that `blocks` takes, with the values of the fields with these indices.
    fn stream_leaves(
        &self,
        piece: usize,
        fields: &[usize],
        blocks: &mut Counted,
        sink: LeafSink<'_>,
    ) -> ReadResult<()>;

    /// The file of a piece, for messages.
    fn file_of(&self, _piece: usize) -> PathBuf {
        self.facts().path.clone()
    }

    /// As [`Snapshot::attributes`].
    fn attributes(&self) -> Vec<(String, Attribute)> {
        Vec::new()
    }

    /// As [`Snapshot::notes`].
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<T: LeafSnapshot> Snapshot for T {
    fn header(&self) -> &Header {
        &self.facts().header
    }

    fn fields(&self) -> &[FieldInfo] {
        &self.facts().fields
    }

    fn has_particles(&self) -> bool {
        false
    }

    fn is_octree(&self) -> bool {
        false
    }

    fn has_units(&self) -> bool {
        false
    }

    fn attributes(&self) -> Vec<(String, Attribute)> {
        LeafSnapshot::attributes(self)
    }

    fn notes(&self) -> Vec<String> {
        LeafSnapshot::notes(self)
    }

    fn place_of(&self, piece: usize, _field: Option<&str>) -> PathBuf {
        self.file_of(piece)
    }

    fn count_octs(&self, piece: usize) -> ReadResult<Vec<u64>> {
        Ok(LeafSnapshot::count_leaves(self, piece)?.into_iter().map(|n| n.div_ceil(8)).collect())
    }

    fn count_leaves(&self, piece: usize) -> ReadResult<Vec<u64>> {
        LeafSnapshot::count_leaves(self, piece)
    }

    fn count_particles(&self, _piece: usize) -> ReadResult<u64> {
        Ok(0)
    }

    fn octs(
        &self,
        piece: usize,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.octs_of(piece, Every::ALL, fields, sink)
    }

    fn octs_of(
        &self,
        piece: usize,
        blocks: Every,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let fields = self.facts().indices(fields)?;
        let _pass = open_files::pass();
        let mut octs = OctBlock::default();
        self.stream_leaves(piece, &fields, &mut blocks.counted(), &mut |leaves| {
            leaves.to_octs(&mut octs);
            sink(&octs)
        })
    }

    fn leaf_values(
        &self,
        piece: usize,
        field: &str,
        sink: &mut dyn FnMut(&[f64]) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let fields = self.facts().indices(&[field])?;
        let _pass = open_files::pass();
        let mut uncovered = Vec::new();
        self.stream_leaves(piece, &fields, &mut Every::ALL.counted(), &mut |leaves| {
            let values = &leaves.values[0];
            if leaves.covered.is_empty() {
                return sink(values);
            }
            uncovered.clear();
            let all = values.iter().zip(&leaves.covered);
            uncovered.extend(all.filter(|(_, covered)| !**covered).map(|(value, _)| *value));
            sink(&uncovered)
        })
    }

    fn particles_of(
        &self,
        _piece: usize,
        _blocks: Every,
        _sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        Ok(())
    }
}
