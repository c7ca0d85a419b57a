//! The façade on blocks of leaves and on grids.

use crate::common::Place;
use crate::facade::{check_tables, over_ranks, shuffled};
use inselberg::executor::Executor;
use inselberg::phew::PhewRequest;
use inselberg::phew::params::{FieldChoice, Thresholds};
use inselberg::phew::run::run;
use inselberg::{
    CellFields, Cells, ClumpId, Column, Engine, Error, ErrorKind, Geometry, Persistence, PhewParams,
    VectorColumn,
};
use inselberg_comm::{Comm, run_threads};
use inselberg_io::{
    Every, FieldInfo, Header, LeafBlock, OctBlock, ParticleBlock, ReadResult, Snapshot, Units,
};
use std::collections::BTreeMap;

/// Blocks of the leaves of a field on a uniform grid with one refined half: level 3 where x is below the
/// middle, level 4 above.
struct HostBlocks {
    level: Vec<u8>,
    corner: Vec<[u32; 3]>,
    covered: Vec<u8>,
    rho: Vec<f32>,
}

const BLOCK: [u32; 3] = [4, 8, 2];

impl HostBlocks {
    fn new() -> Self {
        let mut blocks = Self { level: Vec::new(), corner: Vec::new(), covered: Vec::new(), rho: Vec::new() };
        let wave = |x: f64| 1.0 + (std::f64::consts::TAU * x * 2.0).sin();
        for level in [3_u8, 4] {
            let n = 1_u32 << level;
            for corner in corners(n, BLOCK) {
                // The finer level exists in one half only. There it covers the coarser one.
                if level == 4 && corner[0] < n / 2 {
                    continue;
                }
                blocks.level.push(level);
                blocks.corner.push(corner);
                for [x, y, z] in cells_of(corner, BLOCK) {
                    blocks.covered.push(u8::from(level == 3 && x >= n / 2));
                    let centre = [x, y, z].map(|x| (f64::from(x) + 0.5) / f64::from(n));
                    let ripple = 1.0 + 0.01 * f64::from((7 * x + 3 * y + 5 * z) % 11);
                    blocks.rho.push((centre.map(wave).iter().product::<f64>() * ripple) as f32);
                }
            }
        }
        blocks
    }

    /// Some blocks, in this order.
    fn some(&self, order: &[usize]) -> Self {
        let n = BLOCK.iter().product::<u32>() as usize;
        let values = |i: &usize| n * i..n * (i + 1);
        Self {
            level: order.iter().map(|i| self.level[*i]).collect(),
            corner: order.iter().map(|i| self.corner[*i]).collect(),
            covered: order.iter().flat_map(|i| self.covered[values(i)].to_vec()).collect(),
            rho: order.iter().flat_map(|i| self.rho[values(i)].to_vec()).collect(),
        }
    }

    fn cells(&self) -> Cells {
        Cells::from_blocks(Geometry::cube(1.0), &self.level, &self.corner, BLOCK, &self.covered)
            .expect("blocks")
    }

    /// Level and position of each value.
    fn places(&self) -> Vec<Place> {
        let of_block = |(level, corner): (&u8, &[u32; 3])| {
            let level = *level;
            cells_of(*corner, BLOCK).map(move |cell| (level, cell)).collect::<Vec<_>>()
        };
        self.level.iter().zip(&self.corner).flat_map(of_block).collect()
    }
}

fn corners(n: u32, size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let counts = size.map(|s| n / s);
    let n_blocks: u32 = counts.iter().product();
    (0..n_blocks).map(move |i| {
        let at = [i % counts[0], i / counts[0] % counts[1], i / (counts[0] * counts[1])];
        std::array::from_fn(|a| at[a] * size[a])
    })
}

/// x fastest.
fn cells_of(corner: [u32; 3], [x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..x * y * z).map(move |i| [corner[0] + i % x, corner[1] + i / x % y, corner[2] + i / (x * y)])
}

#[test]
fn blocks_give_what_their_leaves_give() {
    let blocks = HostBlocks::new();
    let places = blocks.places();
    let leaves: Vec<usize> = (0..places.len()).filter(|i| blocks.covered[*i] == 0).collect();
    let level: Vec<u8> = leaves.iter().map(|i| places[*i].0).collect();
    let position: Vec<_> = leaves.iter().map(|i| places[*i].1).collect();
    let rho: Vec<f32> = leaves.iter().map(|i| blocks.rho[*i]).collect();
    let params = PhewParams::new(1.5).persistence(Persistence::Ratio(1.01)).saddle(2.0).with_cells(true);
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let of_leaves = Cells::from_leaves(Geometry::cube(1.0), &level, &position).expect("leaves");
    let expected = engine.phew(&of_leaves, &rho, &params).expect("clumps");
    assert!(expected.n_clumps() > 7 && expected.coverage() == 1.0, "{expected:?}");
    let label_of: BTreeMap<Place, Option<ClumpId>> =
        leaves.iter().zip(expected.labels()).map(|(i, label)| (places[*i], *label)).collect();
    let whole = expected.gather(0).expect("alone").expect("rank 0");
    for n_ranks in [1, 3] {
        let order = shuffled(blocks.level.len(), n_ranks as u64);
        over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
            let own: Vec<usize> = order.iter().copied().filter(|i| i % n_ranks == rank).collect();
            let own = blocks.some(&own);
            let cells = own.cells();
            for _ in 0..2 {
                let found = engine.phew(&cells, &own.rho, &params).expect("clumps");
                for (i, place) in own.places().into_iter().enumerate() {
                    // Covered cells have no label.
                    let wanted = if own.covered[i] == 0 { label_of[&place] } else { None };
                    assert_eq!(found.labels()[i], wanted, "{place:?} on {n_ranks} ranks");
                }
                assert_eq!(found.coverage(), 1.0);
                if let Some(found) = found.gather(0).expect("gathered") {
                    check_tables(&found, &whole, "blocks");
                }
            }
        });
    }
}

/// The blocks as the output of a block-structured code, in two pieces.
struct BlockOutput {
    blocks: HostBlocks,
    header: Header,
    fields: Vec<FieldInfo>,
}

impl BlockOutput {
    /// Fields in units of the density.
    const FIELDS: [(&str, f64); 4] =
        [("density", 1.0), ("velocity_x", -0.5), ("velocity_y", 2.0), ("velocity_z", 3.0)];

    fn new(blocks: HostBlocks) -> Self {
        let header = Header {
            format: "blocks",
            number: None,
            time: 0.0,
            boxlen: 1.0,
            origin: [0.0; 3],
            coarse: [1; 3],
            periodic: [true; 3],
            levelmin: 3,
            levelmax: 4,
            units: Units { length: 1.0, density: 1.0, time: 1.0 },
            cosmology: None,
            n_pieces: 2,
        };
        let fields = Self::FIELDS.map(|(name, _)| FieldInfo { family: "hydro", name: name.into() });
        Self { blocks, header, fields: fields.into() }
    }

    fn block(&self, i: usize, fields: &[&str]) -> LeafBlock {
        let n = BLOCK.iter().product::<u32>() as usize;
        let values = n * i..n * (i + 1);
        let of_field = |name: &&str| {
            let factor = Self::FIELDS.iter().find(|(known, _)| known == name).expect("a field").1;
            self.blocks.rho[values.clone()].iter().map(|rho| factor * f64::from(*rho)).collect()
        };
        LeafBlock {
            level: self.blocks.level[i],
            corner: self.blocks.corner[i],
            size: BLOCK,
            covered: self.blocks.covered[values.clone()].iter().map(|flag| *flag != 0).collect(),
            values: fields.iter().map(of_field).collect(),
        }
    }
}

impl Snapshot for BlockOutput {
    fn header(&self) -> &Header {
        &self.header
    }

    fn fields(&self) -> &[FieldInfo] {
        &self.fields
    }

    fn has_particles(&self) -> bool {
        false
    }

    fn is_octree(&self) -> bool {
        false
    }

    fn count_octs(&self, _: usize) -> ReadResult<Vec<u64>> {
        Ok(Vec::new())
    }

    fn count_particles(&self, _: usize) -> ReadResult<u64> {
        Ok(0)
    }

    fn octs(
        &self,
        piece: usize,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let mut octs = OctBlock::default();
        (piece..self.blocks.level.len()).step_by(2).try_for_each(|i| {
            self.block(i, fields).to_octs(&mut octs);
            sink(&octs)
        })
    }

    fn particles_of(
        &self,
        _: usize,
        _: Every,
        _: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        Ok(())
    }
}

/// A reader of blocks gives what the same blocks in memory give.
#[test]
fn an_output_of_blocks_gives_what_blocks_in_memory_give() {
    let output = BlockOutput::new(HostBlocks::new());
    let params = PhewParams::new(1.5).persistence(Persistence::Ratio(1.01)).saddle(2.0).with_cells(true);
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let velocity = |factor: f64| output.blocks.rho.iter().map(|x| factor * f64::from(*x)).collect::<Vec<_>>();
    let velocity = [velocity(-0.5), velocity(2.0), velocity(3.0)];
    let fields =
        CellFields::density(&output.blocks.rho).velocity(VectorColumn(velocity.each_ref().map(Column::from)));
    let expected = engine.phew(&output.blocks.cells(), fields, &params).expect("clumps");
    let expected = expected.gather(0).expect("alone").expect("rank 0");
    let config = PhewRequest {
        field: FieldChoice::Auto,
        params: PhewParams::from(Thresholds {
            density: 1.5,
            persistence: params.persistence.expect("given"),
            significance: None,
            saddle: params.saddle,
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .with_cells(true),
    };
    for n_ranks in [1, 2, 5] {
        run_threads(n_ranks, |comm| {
            let found = run(&output, &config, comm, &Executor::default()).expect("a run");
            if let Some(found) = found.catalogue.gather(comm).expect("gathered") {
                check_tables(&found, &expected, &format!("{n_ranks} ranks"));
            }
        })
        .expect("ranks");
        let config = PhewRequest { field: FieldChoice::Cic, ..config.clone() };
        run_threads(n_ranks, |comm| {
            run(&output, &config, comm, &Executor::default()).map(drop).expect_err("no particles");
        })
        .expect("ranks");
    }
}

#[test]
fn a_grid_is_one_block_and_gaps_are_told() {
    let geometry = Geometry::cube(1.0).coarse([3, 1, 1]);
    let places: Vec<[u32; 3]> = cells_of([0; 3], [12, 4, 4]).collect();
    let rho: Vec<f64> = places.iter().map(|[x, y, z]| f64::from((5 * x + 3 * y + 7 * z) % 13)).collect();
    let params = PhewParams::new(4.0).persistence(Persistence::Ratio(1.2));
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let grid =
        engine.phew(&Cells::uniform(geometry.clone(), 2).expect("a grid"), &rho, &params).expect("clumps");
    let leaves = Cells::from_leaves(geometry.clone(), &vec![2_u8; places.len()], &places).expect("leaves");
    let of_leaves = engine.phew(&leaves, &rho, &params).expect("clumps");
    assert_eq!((grid.labels(), grid.coverage()), (of_leaves.labels(), 1.0));
    // Leaves that are no test cells may be left out.
    let dense: Vec<usize> = (0..rho.len()).filter(|i| rho[*i] > 4.0).collect();
    let dense_places: Vec<_> = dense.iter().map(|i| places[*i]).collect();
    let dense_rho: Vec<f64> = dense.iter().map(|i| rho[*i]).collect();
    let some = Cells::from_leaves(geometry.clone(), &vec![2_u8; dense.len()], &dense_places).expect("leaves");
    let found = engine.phew(&some, &dense_rho, &params).expect("clumps");
    assert_eq!(found.coverage(), dense.len() as f64 / rho.len() as f64);
    assert_eq!((grid.warnings().len(), found.warnings().len()), (0, 1));
    assert!(found.warnings()[0].contains("% of the box"), "{:?}", found.warnings());
    let none = engine.phew(&some, &dense_rho, &PhewParams::new(99.0)).expect("no clumps");
    assert!(none.warnings()[1].contains("threshold 99; the densest has 12"), "{:?}", none.warnings());
    let wanted: Vec<_> = dense.iter().map(|i| grid.labels()[*i]).collect();
    assert_eq!(found.labels(), wanted);

    let refused = |cells: Result<Cells, Error>| cells.expect_err("refused").kind();
    let none = [0_u8; 0];
    let odd = Cells::from_blocks(geometry.clone(), &[2_u8], &[[0_u32; 3]], [3, 2, 2], &none);
    assert_eq!(refused(odd), ErrorKind::InvalidArgument);
    let outside = Cells::from_blocks(geometry.clone(), &[2_u8], &[[0_u32, 0, 2]], [2, 2, 4], &none);
    assert_eq!(refused(outside), ErrorKind::InvalidCells);
    let too_many = Cells::uniform(geometry.clone(), 29);
    assert_eq!(refused(too_many), ErrorKind::OutOfMemory);
    let no_parent = Cells::from_octs(geometry.clone(), &[0_u8], &[[0_u32; 3]], &[0_u8]);
    assert_eq!(refused(no_parent), ErrorKind::InvalidCells);
    let part = Cells::from_blocks(geometry, &[2_u8], &[[0_u32; 3]], [2; 3], &[1_u8, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(refused(part), ErrorKind::InvalidCells);
}
