//! Which octs go into which file, and how are they connected?

use super::{Output, RamsesWriteError, RamsesWriteResult, Split};
use std::collections::{HashMap, HashSet};

/// Index of an oct among all octs, by level and then as they came.
pub(super) type OctIdx = u32;

/// An oct: its position and the place of its values.
pub(super) struct WrittenOct {
    pub(super) level: u8,
    pub(super) position: [u32; 3],
    pub(super) split: u8,
    pub(super) owner: usize,
    /// Block and place in the block.
    pub(super) source: (usize, usize),
}

/// All octs and the coarse grid around them.
pub(super) struct OctTree {
    pub(super) octs: Vec<WrittenOct>,
    /// Octs of each level, the first that of level-1 cells.
    pub(super) levels: Vec<std::ops::Range<usize>>,
    index: HashMap<(u8, [u32; 3]), OctIdx>,
    coarse: [u32; 3],
    periodic: [bool; 3],
    /// First coarse cell of the box and number of them, boundary regions included.
    pub(super) first: [u32; 3],
    pub(super) all: [u32; 3],
    /// Coarse cells of each boundary region.
    pub(super) boundaries: Vec<Vec<[u32; 3]>>,
}

/// Octs of one file by level and CPU.
pub(super) type Domains = Vec<Vec<Vec<OctIdx>>>;

impl OctTree {
    pub(super) fn new(output: Output, split: Split, sides: [bool; 2]) -> RamsesWriteResult<Self> {
        let octs = collect(output, split)?;
        let deepest = octs.last().map_or(0, |oct| oct.level);
        let start = |level: u8| octs.partition_point(|oct| oct.level < level);
        let levels = (1..=deepest).map(|level| start(level)..start(level + 1)).collect();
        let places = octs.iter().enumerate().map(|(i, o)| ((o.level, o.position), i as OctIdx));
        let index: HashMap<_, _> = places.collect();
        let (coarse, periodic) = (output.header.coarse, output.header.periodic);
        let below = |a: usize| u32::from(!periodic[a] && sides[0]);
        let above = |a: usize| u32::from(!periodic[a] && sides[1]);
        let first = std::array::from_fn(below);
        let all = std::array::from_fn(|a| coarse[a] + below(a) + above(a));
        let boundaries = Vec::new();
        let mut layout = Self { octs, levels, index, coarse, periodic, first, all, boundaries };
        layout.boundaries = layout.regions();
        layout.check().map(|()| layout)
    }

    /// The slabs of coarse cells beside the box.
    fn regions(&self) -> Vec<Vec<[u32; 3]>> {
        let mut regions = Vec::new();
        for axis in 0..3 {
            let sides = [(self.first[axis] > 0).then_some(0), self.last_above(axis)];
            for side in sides.into_iter().flatten() {
                let cells = (0..self.coarse.iter().product::<u32>()).map(|i| {
                    let mut cell = std::array::from_fn(|a| self.first[a] + self.coarse_coordinate(i, a));
                    cell[axis] = side;
                    cell
                });
                let cells: HashSet<_> = cells.collect();
                let mut cells: Vec<_> = cells.into_iter().collect();
                cells.sort_unstable();
                regions.push(cells);
            }
        }
        regions
    }

    fn last_above(&self, axis: usize) -> Option<u32> {
        let above = self.all[axis] > self.first[axis] + self.coarse[axis];
        above.then(|| self.all[axis] - 1)
    }

    fn coarse_coordinate(&self, i: u32, axis: usize) -> u32 {
        let stride: u32 = self.coarse[..axis].iter().product();
        i / stride % self.coarse[axis]
    }

    /// The octs must be a tree: each in a split cell, and each split cell with its oct.
    fn check(&self) -> RamsesWriteResult<()> {
        if self.index.len() != self.octs.len() {
            return Err(RamsesWriteError::Invalid("an oct is given twice".into()));
        }
        let n_coarse: u64 = self.coarse.iter().map(|&n| u64::from(n)).product();
        let n_split: u64 = self.octs.iter().map(|o| u64::from(o.split.count_ones())).sum();
        let orphan = self.octs.iter().find(|o| o.level > 1 && !self.is_in_split_cell(o));
        if let Some(WrittenOct { level, position, .. }) = orphan {
            let what = format!("the oct of level {level} at {position:?} is not in a split cell");
            return Err(RamsesWriteError::Invalid(what));
        }
        if n_coarse + n_split != self.octs.len() as u64 {
            let what = format!(
                "{} octs for {n_coarse} coarse cells and {n_split} split cells; expected one in each",
                self.octs.len()
            );
            return Err(RamsesWriteError::Invalid(what));
        }
        Ok(())
    }

    fn is_in_split_cell(&self, oct: &WrittenOct) -> bool {
        let (father, cell) = father_cell(oct.level, oct.position);
        self.find(father).is_some_and(|i| self.octs[i as usize].split >> cell & 1 == 1)
    }

    pub(super) fn find(&self, place: (u8, [u32; 3])) -> Option<OctIdx> {
        self.index.get(&place).copied()
    }

    /// The oct in `cell` of `oct`, if the cell is split.
    pub(super) fn son(&self, oct: &WrittenOct, cell: u32) -> Option<OctIdx> {
        self.find((oct.level + 1, std::array::from_fn(|a| 2 * oct.position[a] + (cell >> a & 1))))
    }

    /// Place of the oct beside `oct` along `axis`, `None` outside a box that does not wrap.
    pub(super) fn beside(&self, oct: &WrittenOct, axis: usize, up: bool) -> Option<[u32; 3]> {
        let n = self.coarse[axis] << (oct.level - 1);
        let mut place = oct.position;
        place[axis] = match (up, place[axis]) {
            (true, x) if x + 1 < n => x + 1,
            (false, x) if x > 0 => x - 1,
            (up, _) if self.periodic[axis] => {
                if up {
                    0
                } else {
                    n - 1
                }
            }
            _ => return None,
        };
        Some(place)
    }

    /// Octs of the file of `cpu`: its own and, if requested, its ghosts.
    pub(super) fn domains_of(&self, cpu: usize, ghosts: bool) -> Domains {
        let own = || (0..self.octs.len()).filter(|&i| self.octs[i].owner == cpu);
        let mut here: HashSet<usize> = own().collect();
        if ghosts {
            own().for_each(|i| self.add_ghosts_of(&self.octs[i], &mut here));
        }
        let n_cpus = self.octs.iter().map(|o| o.owner + 1).max().unwrap_or(1);
        let mut domains = vec![vec![Vec::new(); n_cpus]; self.levels.len()];
        let mut here: Vec<_> = here.into_iter().collect();
        here.sort_unstable();
        for i in here {
            let oct = &self.octs[i];
            domains[usize::from(oct.level) - 1][oct.owner].push(i as OctIdx);
        }
        domains
    }

    fn add_ghosts_of(&self, oct: &WrittenOct, here: &mut HashSet<usize>) {
        let sons = (0..8).filter_map(|cell| self.son(oct, cell));
        let sides = (0..6).filter_map(|side| self.beside(oct, side / 2, side % 2 == 1));
        let beside = sides.filter_map(|place| self.find((oct.level, place)));
        here.extend(sons.map(|i| i as usize));
        for i in beside.chain(self.find((oct.level, oct.position))) {
            self.add_with_fathers(i as usize, here);
        }
    }

    fn add_with_fathers(&self, i: usize, here: &mut HashSet<usize>) {
        let mut next = Some(i);
        while let Some(i) = next {
            here.insert(i);
            let oct = &self.octs[i];
            let father = (oct.level > 1).then(|| father_cell(oct.level, oct.position).0);
            next = father.and_then(|place| self.find(place)).map(|i| i as usize);
        }
    }
}

/// The oct whose cell holds the oct at `position`, and which cell of it.
pub(super) fn father_cell(level: u8, position: [u32; 3]) -> ((u8, [u32; 3]), u32) {
    let cell = (0..3).fold(0, |bits, a| bits | (position[a] & 1) << a);
    ((level - 1, position.map(|x| x / 2)), cell)
}

/// All octs, sorted by level, owners checked.
fn collect(output: Output, split: Split) -> RamsesWriteResult<Vec<WrittenOct>> {
    let mut octs = Vec::new();
    for (b, block) in output.octs.iter().enumerate() {
        let level = block.level;
        let n = block.position.len();
        let columns_fit = block.values.iter().all(|column| column.len() == n);
        if block.split.len() != n || block.values.len() != output.fields.len() || !columns_fit {
            let what = format!("block {b} of octs: its columns are not those of {n} octs and the fields");
            return Err(RamsesWriteError::Invalid(what));
        }
        for (i, &position) in block.position.iter().enumerate() {
            let owner = (split.oct_owner)(level, position);
            let inside = (1..=29).contains(&level)
                && (0..3).all(|a| position[a] >> (level - 1) < output.header.coarse[a]);
            if owner >= split.n_cpus || !inside {
                let what = format!("the oct of level {level} at {position:?} (CPU {owner}) is outside");
                return Err(RamsesWriteError::Invalid(what));
            }
            octs.push(WrittenOct { level, position, split: block.split[i], owner, source: (b, i) });
        }
    }
    if octs.len() > i32::MAX as usize / 9 {
        return Err(RamsesWriteError::Invalid(format!("{} octs are too many for one output", octs.len())));
    }
    octs.sort_by_key(|oct| oct.level);
    Ok(octs)
}
