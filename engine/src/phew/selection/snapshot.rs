//! A snapshot in which leaves that do not take part have at most the density threshold.

use super::Selected;
use inselberg_io::catalogue::Attribute;
use inselberg_io::{Every, Family, FieldInfo, Header, OctBlock, ParticleBlock, ReadResult, Snapshot};
use inselberg_kernels::mesh::local;
use std::path::PathBuf;

/// Another snapshot, of which `field` is lowered in leaves that do not take part.
pub struct SelectedSnapshot<'a> {
    /// The other snapshot.
    pub inner: &'a dyn Snapshot,
    /// The leaves that take part.
    pub selected: &'a Selected,
    /// The density.
    pub field: &'a str,
    /// The greatest value of the others.
    pub most: f64,
}

impl SelectedSnapshot<'_> {
    /// Lowers the values of a block. A value that is no number stays, so that its check finds it.
    fn lowered(&self, column: usize, block: &OctBlock) -> OctBlock {
        let mut block = block.clone();
        for (oct, position) in block.position.iter().enumerate() {
            for cell in local::bits(u64::from(!block.split[oct])) {
                let value = &mut block.values[column][oct][cell as usize];
                let at = std::array::from_fn(|a| 2 * position[a] + (cell >> a & 1));
                if *value > self.most && !self.selected.has_leaf(block.level, at) {
                    *value = self.most;
                }
            }
        }
        block
    }
}

impl Snapshot for SelectedSnapshot<'_> {
    fn header(&self) -> &Header {
        self.inner.header()
    }

    fn fields(&self) -> &[FieldInfo] {
        self.inner.fields()
    }

    fn has_particles(&self) -> bool {
        self.inner.has_particles()
    }

    fn is_octree(&self) -> bool {
        self.inner.is_octree()
    }

    fn has_units(&self) -> bool {
        self.inner.has_units()
    }

    fn attributes(&self) -> Vec<(String, Attribute)> {
        self.inner.attributes()
    }

    fn adiabatic_index(&self) -> Option<f64> {
        self.inner.adiabatic_index()
    }

    fn softening(&self, family: Family) -> Option<f64> {
        self.inner.softening(family)
    }

    fn place_of(&self, piece: usize, field: Option<&str>) -> PathBuf {
        self.inner.place_of(piece, field)
    }

    fn count_octs(&self, piece: usize) -> ReadResult<Vec<u64>> {
        self.inner.count_octs(piece)
    }

    fn count_leaves(&self, piece: usize) -> ReadResult<Vec<u64>> {
        self.inner.count_leaves(piece)
    }

    fn count_particles(&self, piece: usize) -> ReadResult<u64> {
        self.inner.count_particles(piece)
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
        match fields.iter().position(|name| *name == self.field) {
            Some(column) => {
                self.inner.octs_of(piece, blocks, fields, &mut |block| sink(&self.lowered(column, block)))
            }
            None => self.inner.octs_of(piece, blocks, fields, sink),
        }
    }

    fn beyond_walls(&self, piece: usize, field: &str, sink: &mut dyn FnMut([i8; 3], f64)) -> ReadResult<()> {
        self.inner.beyond_walls(piece, field, sink)
    }

    fn particles(
        &self,
        piece: usize,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.inner.particles(piece, sink)
    }
}
