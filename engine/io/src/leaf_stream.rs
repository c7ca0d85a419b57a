//! Streams of leaves from blocks of any size, tile by tile.

use crate::tiles::{Tile, tiles};
use crate::{Counted, LeafBlock, ReadResult};

/// What takes the tiles of a stream, one after the other.
pub(crate) type LeafSink<'a> = &'a mut dyn FnMut(&LeafBlock) -> ReadResult<()>;

/// A block of leaves whose values are read in tiles.
pub(crate) trait LeafSource {
    /// The level of its cells.
    fn level(&self) -> u8;

    /// Its lowest cell on the grid of that level.
    fn corner(&self) -> [u32; 3];

    /// Cells along each axis.
    fn size(&self) -> [u32; 3];

    /// The axes by the distance of neighbours in the file, the least first.
    fn order(&self) -> [usize; 3];

    /// Marks the cells of a tile that are no leaves, x fastest. Leaves `covered` empty if all are.
    fn cover(&self, _tile: &Tile, _covered: &mut Vec<bool>) {}

    /// Appends the values of a requested field in a tile, x fastest.
    fn read(&mut self, tile: &Tile, field: usize, to: &mut Vec<f64>) -> ReadResult<()>;
}

/// Streams the leaves of a block with `n_fields` values per cell. With `nan_is_absent`, cells with NaN are
/// absent.
///
/// # Errors
/// A value cannot be read. The error of `sink` ends the stream.
pub(crate) fn stream(
    mut source: impl LeafSource,
    n_fields: usize,
    nan_is_absent: bool,
    blocks: &mut Counted,
    sink: LeafSink<'_>,
) -> ReadResult<()> {
    let mut leaves = LeafBlock { level: source.level(), ..LeafBlock::default() };
    leaves.values.resize_with(n_fields, Vec::new);
    for tile in tiles(source.corner(), source.size(), source.order()) {
        if !blocks.next_is_taken() {
            continue;
        }
        leaves.corner = std::array::from_fn(|a| source.corner()[a] + tile.low[a]);
        leaves.size = tile.size;
        leaves.covered.clear();
        source.cover(&tile, &mut leaves.covered);
        for (field, values) in leaves.values.iter_mut().enumerate() {
            values.clear();
            source.read(&tile, field, values)?;
            if nan_is_absent && values.iter().any(|value| value.is_nan()) {
                leaves.covered.resize(tile.n_cells(), false);
                values
                    .iter()
                    .zip(&mut leaves.covered)
                    .for_each(|(value, covered)| *covered |= value.is_nan());
            }
        }
        sink(&leaves)?;
    }
    Ok(())
}
