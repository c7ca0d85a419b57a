//! A synthetic AMR density field as a snapshot, generated piece by piece.

use super::Clump;
use super::density::{Profile, THRESHOLD};
use super::mesh::SynthMesh;
use super::noise::Noise;
use super::peaks::{SMALLEST_KAPPA, expected_cells, place, radii, solve_kappa};
use inselberg_io::{
    Every, FieldInfo, Header, OctBlock, ParticleBlock, ReadError, ReadResult, Snapshot, Units,
};
use rayon::prelude::*;
use std::path::PathBuf;

/// What messages call it.
const NAME: &str = "synthetic field";

/// The content of the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FieldKind {
    /// Seeded clumps with satellites, and noise.
    #[default]
    Clumps,
    /// Equal peaks on a plain of equal cells, with one ball a level deeper.
    Lattice,
    /// One clump, and noise.
    Giant,
    /// A winding chain of ever higher peaks on a uniform mesh.
    Chain,
}

/// The parameters of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldParams {
    /// The content of the box.
    pub kind: FieldKind,
    /// Approximate number of cells denser than [`THRESHOLD`].
    pub test_cells: u64,
    /// Coarsest and deepest level; `None`: from `test_cells`.
    pub levels: Option<(u8, u8)>,
    /// Seeded clumps; `None`: one per 10⁴ test cells.
    pub peaks: Option<u64>,
    /// Test cells per noise peak, 10 or more; 0: no noise.
    pub cells_per_peak: f64,
    /// Seed.
    pub seed: u64,
}

impl Default for FieldParams {
    fn default() -> Self {
        Self {
            kind: FieldKind::Clumps,
            test_cells: 100_000,
            levels: None,
            peaks: None,
            cells_per_peak: 15.0,
            seed: 1,
        }
    }
}

/// Why there is no such field.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SynthError {
    /// The levels hold too many or too few cells for these clumps.
    #[error(
        "levels {levelmin}:{levelmax} give about {reached:.0} test cells with {peaks} clumps; \
         expected about {wanted}: choose {remedy}"
    )]
    Levels {
        /// Coarsest level.
        levelmin: u8,
        /// Deepest level.
        levelmax: u8,
        /// Test cells that would be made.
        reached: f64,
        /// Test cells asked for.
        wanted: u64,
        /// Number of clumps.
        peaks: usize,
        /// What to change.
        remedy: &'static str,
    },
}

/// Cells of a field, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Leaf cells by level.
    pub leaves: Vec<u64>,
    /// Leaf cells denser than [`THRESHOLD`].
    pub test_cells: u64,
}

/// A snapshot with one field, `density`, and no particles; box side 1, periodic.
///
/// Densities are exact at cell centres: the formula's value, no average. Split cells carry the
/// formula's value at their own centre.
#[derive(Debug)]
pub struct SynthField {
    header: Header,
    fields: [FieldInfo; 1],
    mesh: SynthMesh,
}

impl SynthField {
    /// Lays out the clumps and the levels; no cell is made yet.
    ///
    /// # Errors
    /// Levels that cannot hold about the test cells asked for.
    pub fn new(params: &FieldParams) -> Result<Self, SynthError> {
        let mesh = match params.kind {
            FieldKind::Clumps | FieldKind::Giant => clumpy(params)?,
            FieldKind::Lattice => {
                let level = level_for(params.test_cells as f64 * 0.8);
                let levels = params.levels.unwrap_or((level, level + 1));
                let ball = place(&[0.15], levels.1, params.seed);
                SynthMesh::new(levels, 1e9, ball, Profile::Lattice)
            }
            FieldKind::Chain => {
                let level = params.levels.map_or(level_for(params.test_cells as f64 * 4.0), |l| l.0);
                SynthMesh::new((level, level), 0.0, Vec::new(), Profile::Chain)
            }
        };
        let fields = [FieldInfo { family: "hydro", name: "density".into() }];
        Ok(Self { header: header(&mesh), fields, mesh })
    }

    /// The seeded clumps. The cell at each centre is the highest for some cells around, save where
    /// two centres fall that close together.
    pub fn clumps(&self) -> &[Clump] {
        &self.mesh.clumps
    }

    /// Counts the cells by making them all, on the current thread pool.
    ///
    /// # Errors
    /// None of its own.
    pub fn census(&self) -> ReadResult<CellCounts> {
        let one = |piece| {
            let mut census =
                CellCounts { leaves: vec![0; usize::from(self.mesh.levelmax) + 1], test_cells: 0 };
            self.octs(piece, &["density"], &mut |block| {
                census.add(block);
                Ok(())
            })?;
            Ok(census)
        };
        (0..self.mesh.n_pieces())
            .into_par_iter()
            .map(one)
            .try_reduce(CellCounts::default, |a, b| Ok(a.joined(b)))
    }
}

impl CellCounts {
    fn add(&mut self, block: &OctBlock) {
        for (split, values) in block.split.iter().zip(&block.values[0]) {
            self.leaves[usize::from(block.level)] += u64::from(split.count_zeros());
            let test = |i: &usize| split >> i & 1 == 0 && values[*i] > THRESHOLD;
            self.test_cells += (0..8).filter(test).count() as u64;
        }
    }

    fn joined(self, other: Self) -> Self {
        let (mut long, short) =
            if self.leaves.len() >= other.leaves.len() { (self, other) } else { (other, self) };
        long.leaves.iter_mut().zip(&short.leaves).for_each(|(a, b)| *a += b);
        long.test_cells += short.test_cells;
        long
    }
}

impl Snapshot for SynthField {
    fn header(&self) -> &Header {
        &self.header
    }

    fn fields(&self) -> &[FieldInfo] {
        &self.fields
    }

    fn has_particles(&self) -> bool {
        false
    }

    fn place_of(&self, _piece: usize, _field: Option<&str>) -> PathBuf {
        NAME.into()
    }

    fn count_octs(&self, piece: usize) -> ReadResult<Vec<u64>> {
        self.mesh.count(piece)
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
        match fields.iter().find(|f| **f != "density") {
            Some(field) => Err(ReadError::Absent {
                path: NAME.into(),
                what: format!("no field `{field}`; there is density"),
            }),
            None => self.mesh.blocks(piece, fields.len(), sink),
        }
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

fn header(mesh: &SynthMesh) -> Header {
    Header {
        format: "synthetic",
        number: Some(1),
        time: 0.0,
        boxlen: 1.0,
        origin: [0.0; 3],
        coarse: [1; 3],
        periodic: [true; 3],
        levelmin: mesh.levelmin,
        levelmax: mesh.levelmax,
        units: Units { length: 1.0, density: 1.0, time: 1.0 },
        cosmology: None,
        n_pieces: mesh.n_pieces(),
    }
}

/// The level at which a uniform mesh has about `cells` cells, 2 at least.
fn level_for(cells: f64) -> u8 {
    (cells.log2() / 3.0).round().clamp(2.0, 20.0) as u8
}

fn clumpy(params: &FieldParams) -> Result<SynthMesh, SynthError> {
    let wanted = params.test_cells as f64;
    let radii = match params.kind {
        FieldKind::Giant => vec![0.24],
        _ => radii(params.peaks.unwrap_or((params.test_cells / 10_000).max(1)), params.seed),
    };
    let levels = params.levels.unwrap_or_else(|| levels_for(wanted, &radii));
    let kappa = solve_kappa(&radii, wanted, levels.0, levels.1);
    let reached = expected_cells(&radii, kappa, levels.0, levels.1);
    if params.levels.is_some() && !(0.5..2.0).contains(&(reached / wanted)) {
        let deeper = reached < wanted;
        let remedy = if deeper { "deeper levels" } else { "shallower levels or fewer clumps" };
        let (levelmin, levelmax, peaks) = (levels.0, levels.1, radii.len());
        return Err(SynthError::Levels {
            levelmin,
            levelmax,
            reached,
            wanted: params.test_cells,
            peaks,
            remedy,
        });
    }
    let clumps = place(&radii, levels.1, params.seed);
    let noise = Noise::new(params.seed, params.cells_per_peak);
    Ok(SynthMesh::new(levels, kappa, clumps, Profile::Clumps(noise)))
}

/// Levels that give a middling clump about five cells a radius at its edge and three levels more
/// inside, as far as the number of cells allows.
fn levels_for(wanted: f64, radii: &[f64]) -> (u8, u8) {
    let mut sorted = radii.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2];
    let mut levelmax = ((5.0 / middle).log2().round() as u8 + 3).clamp(3, 28);
    let levelmin = |levelmax: u8| level_for(wanted / 8.0).clamp(3, levelmax);
    while levelmax > 3 && expected_cells(radii, SMALLEST_KAPPA, levelmin(levelmax), levelmax) > wanted {
        levelmax -= 1;
    }
    while levelmax < 28 && expected_cells(radii, f64::MAX, levelmin(levelmax), levelmax) < wanted {
        levelmax += 1;
    }
    (levelmin(levelmax), levelmax)
}
