//! A snapshot of which the values of one field are changed as they are read.

use inselberg_io::catalogue::Attribute;
use inselberg_io::{Every, Family, FieldInfo, Header, OctBlock, ParticleBlock, ReadResult, Snapshot};
use std::path::PathBuf;

/// Changes the values in a column of a block.
pub type BlockChange<'a> = Box<dyn Fn(usize, &mut OctBlock) + Send + Sync + 'a>;

/// Another snapshot, of which `field` is changed.
pub struct ChangedSnapshot<'a> {
    /// The other snapshot.
    pub inner: &'a dyn Snapshot,
    /// The field.
    pub field: &'a str,
    /// A further name, under which the field is as in the other snapshot; `None` for none.
    pub unchanged: Option<&'a str>,
    /// Changes the values in this column of a block.
    pub change: BlockChange<'a>,
    /// Changes a value beyond the walls.
    pub beyond: Box<dyn Fn(f64) -> f64 + Send + Sync + 'a>,
}

impl ChangedSnapshot<'_> {
    /// The fields to read, each once, and the place of each requested field among them.
    fn to_read<'f>(&'f self, fields: &[&'f str]) -> (Vec<&'f str>, Vec<usize>) {
        let (mut read, mut places) = (Vec::new(), Vec::new());
        for name in fields {
            let name = if self.unchanged == Some(*name) { self.field } else { *name };
            let place = read.iter().position(|other| *other == name);
            places.push(place.unwrap_or(read.len()));
            if place.is_none() {
                read.push(name);
            }
        }
        (read, places)
    }
}

impl Snapshot for ChangedSnapshot<'_> {
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

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn unclear_gas(&self) -> Option<String> {
        self.inner.unclear_gas()
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
        let (read, places) = self.to_read(fields);
        let Some(column) = fields.iter().position(|name| *name == self.field) else {
            return self.inner.octs_of(piece, blocks, &read, sink);
        };
        self.inner.octs_of(piece, blocks, &read, &mut |block| {
            let values = places.iter().map(|place| block.values[*place].clone()).collect();
            let (position, split) = (block.position.clone(), block.split.clone());
            let mut block = OctBlock { level: block.level, position, split, values };
            (self.change)(column, &mut block);
            sink(&block)
        })
    }

    fn beyond_walls(&self, piece: usize, field: &str, sink: &mut dyn FnMut([i8; 3], f64)) -> ReadResult<()> {
        let is_changed = field == self.field;
        let mut sink =
            |side: [i8; 3], value: f64| sink(side, if is_changed { (self.beyond)(value) } else { value });
        self.inner.beyond_walls(piece, field, &mut sink)
    }

    fn particles_of(
        &self,
        piece: usize,
        blocks: Every,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.inner.particles_of(piece, blocks, sink)
    }
}
