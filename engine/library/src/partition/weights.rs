//! The weights of leaves when a mesh is divided among ranks.

use inselberg_io::words;

/// The quantity that is balanced when a mesh is divided among ranks. It never changes a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weights {
    /// The same number of test cells per rank, or of leaves if there is no test cell.
    #[default]
    TestCells,
    /// The same number of leaves per rank, as simulations divide their mesh.
    Leaves,
    /// The same work per rank: leaves and, weighted more, test cells, with compact regions.
    Work,
}

words!(Weights { Work = "work", TestCells = "test-cells", Leaves = "leaves" });
