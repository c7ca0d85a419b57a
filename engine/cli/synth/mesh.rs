//! The octree of a synthetic field, walked top-down one piece at a time.

use super::Clump;
use super::density::{Profile, distance2};
use super::peaks::split_radii;
use inselberg_io::{OctBlock, ReadResult};

/// The most octs per block.
const BLOCK: usize = 2048;

/// Pieces are the cells of this level at most: 512 of them.
const PIECE_LEVEL: u8 = 3;

/// Where the mesh is how deep, and how dense its cells are.
#[derive(Debug)]
pub(super) struct SynthMesh {
    pub(super) levelmin: u8,
    pub(super) levelmax: u8,
    pub(super) profile: Profile,
    pub(super) clumps: Vec<Clump>,
    /// For each clump, squared, what [`split_radii`] gives.
    split2: Vec<Vec<f64>>,
    /// For each clump the distance beyond which it changes nothing.
    reach: Vec<f64>,
    piece_level: u8,
    /// For each piece the clumps that reach it.
    near: Vec<Vec<u32>>,
}

/// Hears every oct: level of its cells, its place, the split mask and the clumps that reach it.
type OctVisitor<'a> = dyn FnMut(u8, [u32; 3], u8, &[u32]) -> ReadResult<()> + 'a;

impl SynthMesh {
    pub(super) fn new(levels: (u8, u8), kappa: f64, clumps: Vec<Clump>, profile: Profile) -> Self {
        let (levelmin, levelmax) = levels;
        let radii: Vec<_> = clumps.iter().map(|c| split_radii(c.radius, kappa, levelmin, levelmax)).collect();
        let reach: Vec<f64> = clumps
            .iter()
            .zip(&radii)
            .map(|(c, r)| (2.0 * c.radius).max(r.first().copied().unwrap_or(0.0)))
            .collect();
        let split2 = radii.into_iter().map(|r| r.iter().map(|x| x * x).collect()).collect();
        let piece_level = PIECE_LEVEL.min(levelmin - 1);
        let near = nearby(&clumps, &reach, piece_level);
        Self { levelmin, levelmax, profile, clumps, split2, reach, piece_level, near }
    }

    pub(super) fn n_pieces(&self) -> usize {
        self.near.len()
    }

    /// Number of octs of `piece` by level of their cells.
    pub(super) fn count(&self, piece: usize) -> ReadResult<Vec<u64>> {
        let mut counts = vec![0; usize::from(self.levelmax) + 1];
        self.walk(piece, &mut |level, _, _, _| {
            counts[usize::from(level)] += 1;
            Ok(())
        })?;
        Ok(counts)
    }

    /// The octs of `piece` with `n_fields` copies of their densities.
    pub(super) fn blocks(
        &self,
        piece: usize,
        n_fields: usize,
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let mut blocks: Vec<OctBlock> = (0..=self.levelmax)
            .map(|level| OctBlock { level, values: vec![Vec::new(); n_fields], ..OctBlock::default() })
            .collect();
        let mut near_clumps = Vec::new();
        self.walk(piece, &mut |level, position, split, near| {
            let block = &mut blocks[usize::from(level)];
            block.position.push(position);
            block.split.push(split);
            if n_fields > 0 {
                near_clumps.clear();
                near_clumps.extend(near.iter().map(|&i| &self.clumps[i as usize]));
                let values = self.profile.oct(level, position, &near_clumps);
                block.values.iter_mut().for_each(|v| v.push(values));
            }
            if block.position.len() < BLOCK {
                return Ok(());
            }
            let sent = sink(block);
            block.position.clear();
            block.split.clear();
            block.values.iter_mut().for_each(Vec::clear);
            sent
        })?;
        blocks.iter().filter(|b| !b.position.is_empty()).try_for_each(sink)
    }

    /// Visits the octs under the cell that is `piece`; the first piece also has those above.
    fn walk(&self, piece: usize, visit: &mut OctVisitor<'_>) -> ReadResult<()> {
        if piece == 0 {
            let all: Vec<u32> = (0..self.clumps.len() as u32).collect();
            for level in 0..self.piece_level {
                for place in 0..1usize << (3 * level) {
                    visit(level + 1, place_of(level, place), 0xff, &all)?;
                }
            }
        }
        let mut near = self.near[piece].clone();
        self.descend(self.piece_level, place_of(self.piece_level, piece), &mut near, 0, visit)
    }

    /// Visits the oct in a split cell and all below; `near[from..]` are the clumps that reach it.
    fn descend(
        &self,
        level: u8,
        cell: [u32; 3],
        near: &mut Vec<u32>,
        from: usize,
        visit: &mut OctVisitor<'_>,
    ) -> ReadResult<()> {
        let children: [[u32; 3]; 8] =
            std::array::from_fn(|i| [0, 1, 2].map(|a| 2 * cell[a] + (i >> a & 1) as u32));
        let mut split = 0u8;
        for (i, &child) in children.iter().enumerate() {
            split |= u8::from(self.is_split(level + 1, child, &near[from..])) << i;
        }
        visit(level + 1, cell, split, &near[from..])?;
        let end = near.len();
        for (_, &child) in children.iter().enumerate().filter(|(i, _)| split >> i & 1 == 1) {
            for k in from..end {
                if self.reaches(near[k], level + 1, child) {
                    near.push(near[k]);
                }
            }
            self.descend(level + 1, child, near, end, visit)?;
            near.truncate(end);
        }
        Ok(())
    }

    fn is_split(&self, level: u8, cell: [u32; 3], near: &[u32]) -> bool {
        if level < self.levelmin || level >= self.levelmax {
            return level < self.levelmin;
        }
        let side = (0.5f64).powi(i32::from(level));
        let centre = cell.map(|x| (f64::from(x) + 0.5) * side);
        let l = usize::from(level - self.levelmin);
        near.iter().any(|&i| distance2(centre, self.clumps[i as usize].centre) < self.split2[i as usize][l])
    }

    /// Whether a clump can matter to a cell or anything in it: by the ball around the cell.
    fn reaches(&self, clump: u32, level: u8, cell: [u32; 3]) -> bool {
        let side = (0.5f64).powi(i32::from(level));
        let centre = cell.map(|x| (f64::from(x) + 0.5) * side);
        let limit = self.reach[clump as usize] + 0.8661 * side;
        distance2(centre, self.clumps[clump as usize].centre) <= limit * limit
    }
}

fn place_of(level: u8, place: usize) -> [u32; 3] {
    let mask = (1usize << level) - 1;
    [0, 1, 2].map(|a| (place >> (a * usize::from(level)) & mask) as u32)
}

/// For each cell of `level` the clumps whose reach touches its slab along every axis.
fn nearby(clumps: &[Clump], reach: &[f64], level: u8) -> Vec<Vec<u32>> {
    let n = 1i64 << level;
    let mut near = vec![Vec::new(); 1 << (3 * level)];
    for (i, (clump, reach)) in clumps.iter().zip(reach).enumerate() {
        let slabs = clump.centre.map(|c| {
            let first = ((c - reach) * n as f64).floor() as i64;
            let last = (((c + reach) * n as f64).floor() as i64).min(first + n - 1);
            (first..=last).map(|k| k.rem_euclid(n) as usize).collect::<Vec<_>>()
        });
        for z in &slabs[2] {
            for y in &slabs[1] {
                for x in &slabs[0] {
                    near[x | y << level | z << (2 * level)].push(i as u32);
                }
            }
        }
    }
    near
}
