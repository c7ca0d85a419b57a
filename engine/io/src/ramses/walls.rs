//! Cells of boundary regions, beyond the walls of the box.

use super::amr::Octs;
use super::{Amr, CellFile, Ramses, SourceFile};
use crate::ReadResult;
use crate::open_files;
use crate::ramses::locate::FileFamily;

impl Ramses {
    /// Calls `sink` with the side of the box and the value of each boundary leaf in the files of a piece.
    pub(super) fn boundary_leaves(
        &self,
        piece: usize,
        field: &str,
        sink: &mut dyn FnMut([i8; 3], f64),
    ) -> ReadResult<()> {
        self.check_piece(piece)?;
        let source = self.source(field)?;
        let _pass = open_files::pass_for(open_files::A_PIECE);
        let amr_file = SourceFile::open(&self.files.piece(FileFamily::Amr, piece))?;
        let value_file = SourceFile::open(&self.files.piece(source.kind, piece))?;
        let mut amr = Amr::open(&amr_file, self.info.n_cpus)?;
        let mut file = CellFile::open(&value_file, source.kind)?;
        file.check(&amr.header, amr_file.path(), self.n_vars(source.kind))?;
        file.want(source.var, 0);
        for level in 1..=amr.header.n_levels {
            for domain in 1..=amr.header.n_domains() {
                let (n, is_boundary) = (amr.header.count(level, domain), domain > self.info.n_cpus);
                let octs = amr.block(level, domain, is_boundary)?;
                let mut values = file.block((level, domain), n, amr_file.path(), is_boundary)?;
                let Some((mut octs, values)) = octs.zip(values.first_mut()) else { continue };
                octs.load(0..octs.n)?;
                values.load(0..octs.n)?;
                for (oct, cell) in (0..octs.n).flat_map(|oct| (0..8).map(move |cell| (oct, cell))) {
                    if octs.son[cell].get(oct) == 0 {
                        sink(self.side(&octs, oct), values.cells[cell].get(oct));
                    }
                }
            }
        }
        Ok(())
    }

    /// The side of the box on which an oct lies along each axis: -1, 0 or 1.
    fn side(&self, octs: &Octs, oct: usize) -> [i8; 3] {
        std::array::from_fn(|a| {
            let from_box = octs.centre[a].get(oct) - f64::from(self.grid.first[a]);
            i8::from(from_box > f64::from(self.grid.coarse[a])) - i8::from(from_box < 0.0)
        })
    }
}
