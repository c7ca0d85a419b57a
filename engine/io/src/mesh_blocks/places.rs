//! Are the blocks of a file where their numbers say?
//!
//! Levels and logical locations place the blocks. Codes also write the positions of their faces, and write
//! every block of the mesh. Slices and sums of a box have the header of the whole box, but blocks of one cell
//! and other faces, and slices lack blocks. Such a file is refused: its values are not those of the cells
//! where the numbers put them.

use super::BlockGrid;
use crate::ReadResult;
use crate::hdf5_file::Hdf5File;

/// How much of a cell side, and of the rounding of single precision, a face may be off.
const CELL: f64 = 0.25;
const ROUNDING: f64 = 4.0 * f32::EPSILON as f64;
/// How much the volume of all blocks may differ from that of the box by rounding.
const VOLUME: f64 = 1e-9;
const AXES: [&str; 3] = ["x", "y", "z"];

/// Level in the mesh and lowest cell of each block.
type Blocks = [(u8, [u32; 3])];

impl BlockGrid {
    /// Checks that a block has several cells along each axis that has several.
    ///
    /// # Errors
    /// The file is a slice of the box, or a sum over an axis.
    pub(super) fn check_whole(&self, file: &Hdf5File, place: &str) -> ReadResult<()> {
        match (0..3).find(|a| self.size[*a] == 1 && self.root.size[*a] > 1) {
            None => Ok(()),
            Some(a) => {
                let problem = format!(
                    "blocks of 1 cell along {} in a box of {}: a slice, or a sum over that axis",
                    AXES[a], self.root.size[a]
                );
                Err(file.bad(place, problem, "blocks of the whole box"))
            }
        }
    }

    /// Checks that the blocks fill the box, as far as their volumes show it.
    ///
    /// # Errors
    /// They do not.
    pub(super) fn check_volume(&self, file: &Hdf5File, blocks: &Blocks) -> ReadResult<()> {
        let cells = |size: [u32; 3]| size.iter().map(|n| f64::from(*n)).product::<f64>();
        let volume = |level: u8| cells(self.size) * 0.125_f64.powi(i32::from(level - self.root.level));
        let part = blocks.iter().map(|block| volume(block.0)).sum::<f64>() / cells(self.root.size);
        if (part - 1.0).abs() < VOLUME {
            return Ok(());
        }
        let problem = format!("blocks with {part:.6} of the volume of the box");
        Err(file.bad("/LogicalLocations", problem, "leaf blocks that fill it: all of the mesh, each once"))
    }

    /// Checks that the faces of blocks, where the file has them, are where levels and locations put them.
    ///
    /// # Errors
    /// One is not, or the datasets cannot be read. `faces` has their places, one per axis.
    pub(super) fn check_faces(&self, file: &Hdf5File, faces: [&str; 3], blocks: &Blocks) -> ReadResult<()> {
        (0..3).try_for_each(|axis| self.check_axis(file, faces[axis], axis, blocks))
    }

    fn check_axis(&self, file: &Hdf5File, place: &str, axis: usize, blocks: &Blocks) -> ReadResult<()> {
        let Some(found) = file.find(place)? else { return Ok(()) };
        let n = (self.size[axis] + 2 * self.ghosts[axis]) as usize;
        if found.shape != [blocks.len(), n + 1] {
            let expected = format!("{:?}, the faces of blocks of {n} cells", [blocks.len(), n + 1]);
            return Err(file.bad(place, format!("shape {:?}", found.shape), expected));
        }
        file.check_numbers(&found)?;
        for (face, cells) in [(self.ghosts[axis], 0), (self.ghosts[axis] + self.size[axis], self.size[axis])]
        {
            let face = face as usize;
            let positions = file.part(&found, &[0..blocks.len(), face..face + 1])?;
            for (block, position) in positions.into_iter().enumerate() {
                let (level, corner) = blocks[block];
                let side = self.root.side / f64::from(1_u32 << (level - self.root.level));
                let expected = self.root.origin[axis] + side * f64::from(corner[axis] + cells);
                let most = CELL * side + ROUNDING * position.abs().max(expected.abs());
                if (position - expected).abs() <= most {
                    continue;
                }
                let problem = format!("block {block} has a face at {position}");
                let expected = format!("{expected}, by its level and logical location");
                return Err(file.bad(place, problem, expected));
            }
        }
        Ok(())
    }
}
