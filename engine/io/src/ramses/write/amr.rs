//! Writes amr files.

use super::layout::{Domains, OctIdx, WrittenOct, father_cell};
use super::record::RecordWriter;
use super::{Ordering, OutputWriter, RamsesWriteResult};
use std::collections::HashMap;

/// One amr file being written: cell indices are RAMSES's, coarse cells first, then the first
/// cells of all octs, then the second, ...
struct AmrFile<'a> {
    job: &'a OutputWriter<'a>,
    domains: &'a Domains,
    local: HashMap<OctIdx, i32>,
    n_grid: i32,
    n_coarse: i32,
    out: RecordWriter,
}

/// Writes the amr file of `cpu`.
pub(super) fn write(job: &OutputWriter, cpu: usize, domains: &Domains) -> RamsesWriteResult<()> {
    let octs = domains.iter().flatten().flatten();
    let local: HashMap<_, _> = octs.zip(1..).map(|(&oct, grid)| (oct, grid)).collect();
    let n_boundary: usize = job.layout.boundaries.iter().map(Vec::len).sum();
    // One unused slot: a split cell points to it if its oct is only in another file.
    let n_grid = (local.len() + n_boundary + 1) as i32;
    let n_coarse = job.layout.all.iter().product::<u32>() as i32;
    let out = RecordWriter::create(&job.file("amr", cpu), job.dialect)?;
    let mut file = AmrFile { job, domains, local, n_grid, n_coarse, out };
    file.header()?;
    file.lists()?;
    file.ordering()?;
    file.coarse()?;
    file.blocks()?;
    file.out.finish()
}

impl AmrFile<'_> {
    fn header(&mut self) -> RamsesWriteResult<()> {
        let header = self.job.output.header;
        let (n_levels, out) = (self.job.n_levels(), &mut self.out);
        out.ints([self.job.split.n_cpus as i32])?;
        out.ints([3])?;
        out.ints(self.job.layout.all.map(|n| n as i32))?;
        out.ints([n_levels as i32])?;
        out.ints([self.n_grid])?;
        out.ints([self.job.layout.boundaries.len() as i32])?;
        out.ints([self.local.len() as i32])?;
        out.reals([header.boxlen * f64::from(header.coarse[0])])?;
        out.ints([1, 1, 1])?;
        out.reals([header.time])?;
        let cosmology = header.cosmology.as_ref();
        let aexp = cosmology.map_or(1.0, |c| c.aexp);
        out.reals([aexp])?;
        out.reals([header.time])?;
        out.reals(vec![0.0; n_levels])?;
        out.reals(vec![0.0; n_levels])?;
        out.ints([0, 0])?;
        out.reals([0.0; 3])?;
        let c = cosmology
            .map_or([1.0, 0.0, 0.0, 0.0, 1.0], |c| [c.omega_m, c.omega_l, c.omega_k, c.omega_b, c.h0]);
        out.reals(c.into_iter().chain([aexp, header.boxlen]))?;
        out.reals([aexp, 0.0, aexp, 0.0, 0.0])?;
        out.reals([0.0])
    }

    fn lists(&mut self) -> RamsesWriteResult<()> {
        let (job, domains, local) = (self.job, self.domains, &self.local);
        let lists = || {
            (0..job.n_levels())
                .flat_map(|level| (0..job.split.n_cpus).map(move |cpu| list(domains, level, cpu)))
        };
        let grid = |oct: Option<&OctIdx>| oct.map_or(0, |oct| local[oct]);
        let out = &mut self.out;
        out.ints(lists().map(|octs| grid(octs.first())))?;
        out.ints(lists().map(|octs| grid(octs.last())))?;
        out.ints(lists().map(|octs| octs.len() as i32))?;
        let total = |level: usize| job.layout.levels.get(level).map_or(0, |r| r.len() as i32);
        out.ints(
            (0..job.n_levels())
                .flat_map(|level| (0..10).map(move |i| (level, i)))
                .map(|(level, i)| if i == 0 { total(level) } else { 0 }),
        )?;
        if !job.layout.boundaries.is_empty() {
            self.boundary_lists()?;
        }
        let used = self.local.len() as i32;
        self.out.ints([used + 1, self.n_grid, self.n_grid - used, used, used])
    }

    /// Boundary regions have octs at level 1 only.
    fn boundary_lists(&mut self) -> RamsesWriteResult<()> {
        let heads = self.boundary_heads();
        let (n_levels, regions) = (self.job.n_levels(), &self.job.layout.boundaries);
        let at_level_one = |values: Vec<i32>| {
            let rest = (n_levels - 1) * values.len();
            values.into_iter().chain(std::iter::repeat_n(0, rest))
        };
        let sizes: Vec<_> = regions.iter().map(|cells| cells.len() as i32).collect();
        let tails = heads.iter().zip(&sizes).map(|(head, n)| head + n - 1).collect();
        self.out.ints(at_level_one(heads))?;
        self.out.ints(at_level_one(tails))?;
        self.out.ints(at_level_one(sizes))
    }

    fn boundary_heads(&self) -> Vec<i32> {
        let mut next = self.local.len() as i32 + 1;
        let after = |cells: &Vec<[u32; 3]>| {
            let head = next;
            next += cells.len() as i32;
            head
        };
        self.job.layout.boundaries.iter().map(after).collect()
    }

    fn ordering(&mut self) -> RamsesWriteResult<()> {
        let n = self.job.split.n_cpus;
        let name = super::text::ordering_name(self.job.dialect.ordering);
        self.out.bytes(format!("{name:<128}").into_bytes())?;
        if self.job.dialect.ordering == Ordering::Bisection {
            let nodes = 2 * n - 1;
            self.out.reals(vec![0.5; nodes])?;
            self.out.ints(vec![0; 2 * nodes])?;
            self.out.ints(vec![0; nodes])?;
            self.out.reals(vec![0.0; 3 * n])?;
            return self.out.reals(vec![1.0; 3 * n]);
        }
        let keys = super::text::bounds(self.job);
        if self.job.dialect.wide_keys {
            return self.out.bytes(keys.into_iter().flat_map(|_| [0; 16]));
        }
        // Keys are in double precision for every build.
        self.out.longs(keys.into_iter().map(|key| key.to_bits() as i64))
    }

    fn coarse(&mut self) -> RamsesWriteResult<()> {
        let (mut son, mut cpu_map) = (vec![0; self.n_coarse as usize], vec![0; self.n_coarse as usize]);
        for oct in self.job.layout.octs.iter().filter(|oct| oct.level == 1) {
            let place = self.coarse_index(oct.position) as usize - 1;
            son[place] = self.grid_of(self.job.layout.find((1, oct.position)));
            cpu_map[place] = oct.owner as i32 + 1;
        }
        self.out.ints(son)?;
        self.out.ints(vec![1; self.n_coarse as usize])?;
        self.out.ints(cpu_map)
    }

    fn blocks(&mut self) -> RamsesWriteResult<()> {
        for level in 0..self.job.n_levels() {
            for cpu in 0..self.job.split.n_cpus {
                let octs = list(self.domains, level, cpu);
                if !octs.is_empty() {
                    self.block(octs)?;
                }
            }
            if level == 0 {
                self.boundary_blocks()?;
            }
        }
        Ok(())
    }

    fn block(&mut self, idx: &[OctIdx]) -> RamsesWriteResult<()> {
        let (job, first) = (self.job, self.local[&idx[0]]);
        let octs = || idx.iter().map(|&i| &job.layout.octs[i as usize]);
        self.links(first, idx.len() as i32)?;
        for axis in 0..3 {
            let centre = |oct: &WrittenOct| {
                let side = 0.5_f64.powi(i32::from(oct.level) - 1);
                f64::from(job.layout.first[axis]) + (f64::from(oct.position[axis]) + 0.5) * side
            };
            self.out.reals(octs().map(centre))?;
        }
        let fathers: Vec<_> = octs().map(|oct| self.cell_around(oct.level, oct.position)).collect();
        self.out.ints(fathers)?;
        for side in 0..6 {
            let around = |oct: &WrittenOct| {
                let place = job.layout.beside(oct, side / 2, side % 2 == 1);
                place.map_or(0, |place| self.cell_around(oct.level, place))
            };
            let neighbours: Vec<_> = octs().map(around).collect();
            self.out.ints(neighbours)?;
        }
        self.cell_maps(idx)
    }

    fn cell_maps(&mut self, idx: &[OctIdx]) -> RamsesWriteResult<()> {
        let layout = &self.job.layout;
        let octs = || idx.iter().map(|&i| &layout.octs[i as usize]);
        let is_split = |oct: &WrittenOct, cell: u32| oct.split >> cell & 1 == 1;
        for cell in 0..8 {
            let son = |oct| if is_split(oct, cell) { self.grid_of(layout.son(oct, cell)) } else { 0 };
            let sons: Vec<_> = octs().map(son).collect();
            self.out.ints(sons)?;
        }
        for cell in 0..8 {
            let owner = |oct: &WrittenOct| match layout.son(oct, cell) {
                Some(son) => layout.octs[son as usize].owner as i32 + 1,
                None => oct.owner as i32 + 1,
            };
            self.out.ints(octs().map(owner))?;
        }
        for cell in 0..8 {
            self.out.ints(octs().map(|oct| i32::from(is_split(oct, cell))))?;
        }
        Ok(())
    }

    /// Own indices of a run of octs and of those before and after.
    fn links(&mut self, first: i32, n: i32) -> RamsesWriteResult<()> {
        let end = first + n;
        self.out.ints(first..end)?;
        self.out.ints((first + 1..=end).map(|i| if i == end { 0 } else { i }))?;
        self.out.ints((first - 1..end - 1).map(|i| if i < first { 0 } else { i }))
    }

    fn boundary_blocks(&mut self) -> RamsesWriteResult<()> {
        for (head, cells) in self.boundary_heads().into_iter().zip(&self.job.layout.boundaries) {
            self.links(head, cells.len() as i32)?;
            for axis in 0..3 {
                self.out.reals(cells.iter().map(|cell| f64::from(cell[axis]) + 0.5))?;
            }
            for _father_nbor_son_map_flag in 0..1 + 6 + 3 * 8 {
                self.out.ints(vec![0; cells.len()])?;
            }
        }
        Ok(())
    }

    /// Index of an oct in this file, or the unused slot if it is only in another file.
    fn grid_of(&self, oct: Option<OctIdx>) -> i32 {
        oct.and_then(|oct| self.local.get(&oct).copied()).unwrap_or(self.n_grid)
    }

    /// Index of the cell that an oct of `level` at `position` fills, 0 if not in this file.
    fn cell_around(&self, level: u8, position: [u32; 3]) -> i32 {
        if level == 1 {
            return self.coarse_index(position);
        }
        let (father, cell) = father_cell(level, position);
        let grid = self.job.layout.find(father).and_then(|oct| self.local.get(&oct));
        grid.map_or(0, |grid| self.n_coarse + cell as i32 * self.n_grid + grid)
    }

    fn coarse_index(&self, position: [u32; 3]) -> i32 {
        let (first, all) = (self.job.layout.first, self.job.layout.all);
        let [x, y, z] = std::array::from_fn(|a| position[a] + first[a]);
        (1 + x + all[0] * (y + all[1] * z)) as i32
    }
}

/// Octs of `cpu` at `level` (from 0), none where no oct is that deep.
pub(super) fn list(domains: &Domains, level: usize, cpu: usize) -> &[OctIdx] {
    domains.get(level).and_then(|cpus| cpus.get(cpu)).map_or(&[], Vec::as_slice)
}
