//! Random particles for the property tests of this folder, sorted as one slab.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{BlockRow, FofBlock, FofBlocks};
use super::grid::SearchGrid;
use super::record::{Double, Record};
use super::slabs::Slabs;
use super::sorted_slab::{SlabLists, SlabScratch, sort_slab};
use crate::sync::AtomicU32;
use proptest::prelude::*;

/// Particles in a box.
#[derive(Debug, Clone)]
pub struct TestParticles {
    pub positions: Vec<[f64; 3]>,
    pub metric: Metric,
}

/// Particles on a grid of blocks.
pub struct SortedParticles {
    pub grid: SearchGrid,
    pub reach: BlockReach,
    pub blocks: FofBlocks,
    pub records: Vec<Double>,
    /// The root of each cell within its block.
    pub up: Vec<AtomicU32>,
}

/// Up to 150 particles, some of them at the same place or on the sides of the box, in boxes that are periodic
/// or open and between 2 and 40 linking lengths wide.
pub fn particles() -> impl Strategy<Value = TestParticles> {
    let coordinate =
        prop_oneof![6 => 0.0..1.0f64, 1 => Just(0.0), 1 => Just(1.0f64.next_down()), 1 => Just(0.5)];
    let position = [coordinate.clone(), coordinate.clone(), coordinate];
    let sides = prop::array::uniform3(prop_oneof![2.0..5.0f64, 5.0..40.0f64]);
    // A narrow part of the box makes dense cells.
    let part = prop_oneof![Just(1.0), Just(0.3), Just(0.05)];
    (prop::collection::vec(position, 1..150), sides, part, any::<bool>()).prop_map(
        |(unit, sides, part, periodic)| {
            let positions = unit.iter().map(|x| [0, 1, 2].map(|a| part * x[a] * sides[a])).collect();
            let sides = if periodic { sides } else { [f64::INFINITY; 3] };
            TestParticles { positions, metric: Metric { sides, length: 1.0 } }
        },
    )
}

impl TestParticles {
    /// Sorts all of them as one slab.
    pub fn sorted(&self) -> SortedParticles {
        self.sorted_on(self)
    }

    /// Sorts all of them as one slab, on the grid of other particles that include them.
    pub fn sorted_on(&self, all: &Self) -> SortedParticles {
        let (low, high) = (
            [0.0; 3],
            all.positions.iter().fold([0.0f64; 3], |high, x| [0, 1, 2].map(|a| high[a].max(x[a]))),
        );
        let sides = Some(self.metric.sides).filter(|sides| sides[0].is_finite());
        let grid = SearchGrid::new(self.metric.length, sides, low, high);
        let (slabs, reach) = (Slabs::new(&grid, 1), BlockReach::new(&grid));
        let mut records: Vec<Double> =
            self.positions.iter().zip(0..).map(|(x, i)| Double::new(*x, i)).collect();
        let counts = sort_slab(&grid, &slabs, &mut records, &mut SlabScratch::default());
        let mut blocks = FofBlocks {
            rows: vec![BlockRow::default(); counts.n_rows],
            blocks: vec![FofBlock::default(); counts.n_blocks],
            cells: vec![0; counts.n_cells],
            layers: Vec::new(),
        };
        let mut up: Vec<AtomicU32> = blocks.cells.iter().map(|zero| AtomicU32::new(*zero)).collect();
        SlabLists::new(&mut blocks, &mut up).fill(&grid, &reach, &self.metric, &records);
        blocks.seal(records.len());
        SortedParticles { grid, reach, blocks, records, up }
    }
}
