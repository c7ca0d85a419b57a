//! The row of each leaf in the table of cells: its number by level, and then along the Morton curve, over all
//! ranks.

use crate::exchange::firsts_by_level;
use crate::partition::LocalField;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::mesh::local;

/// The rows of own leaves.
pub struct LeafRows<'a> {
    part: &'a LocalField,
    /// The row of the first own leaf of each brick.
    first: Vec<u64>,
}

impl<'a> LeafRows<'a> {
    /// Collective: the rows of the leaves of a part. Linear in the bricks.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(part: &'a LocalField, comm: &Comm) -> Result<Self, CommError> {
        let mesh = &part.field.mesh;
        let mut counts = vec![0; usize::from(mesh.n_levels())];
        let mut first = vec![0; mesh.bricks().len()];
        let each_brick = || {
            let supers = mesh.supers().iter().enumerate();
            supers.flat_map(|(s, bricks)| mesh.bricks_of(bricks).map(move |b| (b, mesh.level_of_super(s))))
        };
        for (brick, level) in each_brick() {
            first[brick] = counts[usize::from(level)];
            counts[usize::from(level)] += u64::from(own_leaves(part, brick).count_ones());
        }
        let (of_level, _) = firsts_by_level(comm, &counts)?;
        for (brick, level) in each_brick() {
            first[brick] += of_level[usize::from(level)];
        }
        Ok(Self { part, first })
    }

    /// The row of an own leaf, by its brick and its bit there.
    pub fn row(&self, brick: usize, bit: u32) -> u64 {
        self.first[brick] + u64::from(local::rank(own_leaves(self.part, brick), bit))
    }
}

fn own_leaves(part: &LocalField, brick: usize) -> u64 {
    part.field.mesh.bricks()[brick].leaf & part.own[brick]
}
