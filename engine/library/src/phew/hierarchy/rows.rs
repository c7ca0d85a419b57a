//! The rows of clumps and haloes: sums over their patches, and the properties that follow from these.

use crate::bound::CentralChoice;
use crate::chunks::chunks;
use crate::exchange::bundle::{SendBuffers, all_records};
use crate::exchange::grouped;
use crate::phew::hierarchy::clumps::{CutClumps, row_holder};
use crate::phew::hierarchy::cut_tree::{ClumpIdentity, ClumpRow, PeakCell};
use crate::phew::params::Thresholds;
use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::bound::slices::ordered_bits;
use inselberg_kernels::geom::cell_centre;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::props::combine::{GroupSums, GroupValues, PatchGroups, SizedBox};
use inselberg_kernels::props::pixels::{PixelGroups, PixelShape};
use inselberg_kernels::props::sums::{N_SUMS, PIXELS};
use inselberg_kernels::props::{Gathered, PixelSums, PixelValues, Structure};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;
use std::cmp::Reverse;

/// The size of a halo, and its central clump.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct HaloSize {
    mass: f64,
    n_cells: u64,
    /// Identifier.
    central: u64,
}

/// The mass of a clump, for the rank that holds the row of its halo.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MassOfClump {
    clump: u64,
    halo: u64,
    mass: f64,
}

/// The size of a halo, for the row of one of its clumps.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SizeOfClump {
    clump: u64,
    halo: HaloSize,
}

/// A clump of a halo, for the rank that holds the row of the halo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Member {
    /// Identifier of the clump.
    clump: u64,
    /// Identifier of the halo.
    halo: u64,
}

/// The totals of the clumps whose rows are on this rank.
pub struct RowTotals<'a> {
    space: &'a SizedBox,
    rows: SummedRows,
    /// The quanta of the sums of clumps, and of those of haloes.
    quanta: [[Quantum; N_SUMS]; 2],
    /// The halo of each clump.
    halo: Vec<HaloSize>,
    /// The pixels of the clumps and of the haloes, of an image.
    pixels: Option<[Vec<PixelValues>; 2]>,
}

/// The pixels of a clump or halo on one rank, for its row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PartialPixels {
    sums: PixelSums,
    id: u64,
    kind: u64,
}

/// The sums of a clump (kind 0) or halo (kind 1) over the patches of one rank, for its row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PartialSum {
    sums: GroupSums,
    id: u64,
    kind: u64,
}

/// Parallel runs of groups per thread. Most patches are in few groups, so more runs balance better; but every
/// run passes over all patches.
const RUNS_PER_THREAD: usize = 4;

/// The clumps or haloes of the patches of this rank.
struct LocalStructures {
    /// Identifiers, ascending.
    ids: Vec<u64>,
    /// Centre of the highest peak of each.
    heads: Vec<[f64; 3]>,
    /// The structure of each own patch, by its place in `ids`; `u32::MAX` for discarded ones.
    of_patch: Vec<u32>,
}

impl LocalStructures {
    fn new(clumps: &CutClumps, kind: usize) -> Self {
        let kept = clumps.identities.par_iter().filter(|identity| identity.ids[kind] > 0);
        let mut heads: Vec<(u64, PeakCell)> = kept.map(|it| (it.ids[kind], it.heads[kind])).collect();
        heads.par_sort_unstable_by_key(|head| head.0);
        heads.dedup_by_key(|head| head.0);
        let (ids, heads): (Vec<u64>, Vec<_>) =
            heads.into_iter().map(|(id, cell)| (id, centre(&cell))).unzip();
        // Only the identifier 0 of discarded clumps is not listed.
        let place =
            |it: &ClumpIdentity| ids.binary_search(&it.ids[kind]).map_or(u32::MAX, |place| place as u32);
        let of_clump: Vec<u32> = clumps.identities.par_iter().map(place).collect();
        let of_patch = clumps.of_peak.par_iter().map(|clump| of_clump[clump.at()]).collect();
        Self { ids, heads, of_patch }
    }

    fn groups<'a>(&'a self, peaks: &'a Peaks) -> PatchGroups<'a> {
        PatchGroups {
            space: &peaks.space,
            patches: &peaks.patches,
            momenta: peaks.momenta.as_deref(),
            level: &peaks.level,
            ijk: &peaks.ijk,
            group: &self.of_patch,
            head: &self.heads,
        }
    }

    /// The sums over the own patches of each.
    fn totals(&self, peaks: &Peaks, quanta: &[Quantum; N_SUMS]) -> Vec<GroupSums> {
        let mut totals = empty_sums(self.ids.len());
        let run = totals.len().div_ceil(RUNS_PER_THREAD * rayon::current_num_threads()).max(1);
        let parts = totals.par_chunks_mut(run).enumerate();
        parts.for_each(|(i, part)| self.groups(peaks).add(quanta, i * run, part));
        totals
    }
}

/// Clumps and haloes, and the shapes of both, of an image.
type ListedRows = (Vec<Structure>, Vec<Structure>, Option<[Vec<PixelShape>; 2]>);

/// The rows of this rank, with the sums of their clumps and haloes.
struct SummedRows {
    /// Number of rows on all ranks.
    n_all: usize,
    /// By identifier.
    rows: Vec<ClumpRow>,
    /// The clumps of the haloes among these rows, by identifier.
    members: Vec<Member>,
    /// Identifiers of the clumps and of the haloes among these rows, ascending.
    ids: [Vec<u64>; 2],
    /// The sums of each of these.
    sums: [Vec<GroupSums>; 2],
}

/// Empty sums for `n` structures. All threads write them, since new memory takes longer than the values.
fn empty_sums(n: usize) -> Vec<GroupSums> {
    rayon::iter::repeat_n(GroupSums::default(), n).collect()
}

/// Rows.
const ROWS: usize = 0;
/// Clumps of haloes.
const MEMBERS: usize = 1;
/// Sums over the patches of a rank.
const SUMS: usize = 2;

/// Records for the ranks that hold rows. Those for this rank are not copied.
struct ToHolders<'a> {
    comm: &'a Comm,
    /// Number of rows on all ranks.
    n_all: usize,
    buffers: SendBuffers<3>,
}

impl ToHolders<'_> {
    /// Sends a record to the rank that holds the row of an identifier, unless that is this rank. Returns
    /// whether it is sent.
    fn send_one<T: Pod>(&mut self, id: u64, kind: usize, record: &T) -> bool {
        let holder = row_holder(id, self.n_all, self.comm);
        let is_other = holder != self.comm.rank();
        if is_other {
            self.buffers.put(holder, kind, &[*record]);
        }
        is_other
    }

    /// Sends the records of the rows that other ranks hold, and leaves the others. `id` is the identifier of
    /// a row.
    fn send<T: Pod>(&mut self, records: &mut Vec<T>, kind: usize, id: impl Fn(&T) -> u64) {
        if self.comm.n_ranks() > 1 {
            records.retain(|record| !self.send_one(id(record), kind, record));
        }
    }
}

impl SummedRows {
    /// Collective: sends the rows of the clumps that this rank cuts, and the sums over own patches, to the
    /// ranks that hold the rows. Returns those of this rank, with complete sums.
    fn collect(
        clumps: &CutClumps,
        rules: Rules,
        totals: [Vec<GroupSums>; 2],
        here: &[LocalStructures; 2],
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let mut to = ToHolders { comm, n_all: clumps.n_clumps, buffers: SendBuffers::default() };
        let mut rows = clumps.tree.rows(rules);
        let mut members: Vec<Member> =
            rows.par_iter().map(|row| Member { clump: row.id, halo: row.halo }).collect();
        to.send(&mut rows, ROWS, |row| row.id);
        to.send(&mut members, MEMBERS, |member| member.halo);
        for kind in [0, 1] {
            for (&id, &sums) in here[kind].ids.iter().zip(&totals[kind]) {
                // Those of rows on this rank are added below.
                to.send_one(id, SUMS, &PartialSum { sums, id, kind: kind as u64 });
            }
        }
        let received = to.buffers.exchange(comm)?;
        rows.extend(all_records::<ClumpRow, 3>(&received, ROWS));
        rows.par_sort_unstable_by_key(|row| row.id);
        members.extend(all_records::<Member, 3>(&received, MEMBERS));
        members.par_sort_unstable();
        let haloes = rows.iter().filter(|row| row.halo == row.id);
        let ids = [rows.iter().map(|row| row.id).collect(), haloes.map(|row| row.id).collect()];
        let mut all = Self { n_all: clumps.n_clumps, rows, members, ids, sums: Default::default() };
        for (kind, totals) in totals.into_iter().enumerate() {
            // On a rank alone, and wherever the own patches are those of the rows, nothing is copied.
            if here[kind].ids == all.ids[kind] {
                all.sums[kind] = totals;
                continue;
            }
            let is_here = |id: u64| row_holder(id, clumps.n_clumps, comm) == comm.rank();
            all.sums[kind] = empty_sums(all.ids[kind].len());
            let own = here[kind].ids.iter().zip(&totals).filter(|(id, _)| is_here(**id));
            own.for_each(|(id, sums)| all.merge(kind, *id, sums));
        }
        for part in received.iter().flat_map(|bundle| bundle.each::<PartialSum>(SUMS)) {
            all.merge(part.kind as usize, part.id, &part.sums);
        }
        Ok(all)
    }

    fn merge(&mut self, kind: usize, id: u64, sums: &GroupSums) {
        let place = self.place(kind, id);
        self.sums[kind][place].merge(sums);
    }

    /// The place of a clump (kind 0) or halo (kind 1) among those of this rank.
    fn place(&self, kind: usize, id: u64) -> usize {
        match kind {
            0 => (id - self.ids[0][0]) as usize,
            _ => self.ids[1].binary_search(&id).expect("the sums of a halo go to the rank of its row"),
        }
    }

    /// Collective: the pixels of the clumps and haloes of this rank, from the patches of all ranks; `None`
    /// for inputs other than images. One exchange.
    fn pixels(
        &self,
        peaks: &Peaks,
        here: &[LocalStructures; 2],
        comm: &Comm,
    ) -> Result<Option<[Vec<PixelValues>; 2]>, CommError> {
        let Some(pixels) = &peaks.pixels else { return Ok(None) };
        let groups = here.each_ref().map(|here| PixelGroups { groups: here.groups(peaks), pixels });
        let bounds = comm.all_max(&groups.each_ref().map(PixelGroups::bounds).concat())?;
        let zero = Quantum::for_terms(0.0, 1);
        let n = bounds.len() / 2;
        let quanta = [0, 1].map(|kind| -> [Quantum; N_SUMS] {
            let bound = |i: usize| Quantum::for_terms(bounds[kind * n + i - PIXELS], peaks.n_global);
            std::array::from_fn(|i| if (PIXELS..PIXELS + n).contains(&i) { bound(i) } else { zero })
        });
        let mut sums = self.ids.each_ref().map(|ids| vec![PixelSums::default(); ids.len()]);
        let mut others: Vec<(Rank, PartialPixels)> = Vec::new();
        for kind in [0, 1] {
            let mut totals = vec![PixelSums::default(); here[kind].ids.len()];
            groups[kind].add(&quanta[kind], &mut totals);
            for (&id, &part) in here[kind].ids.iter().zip(&totals) {
                match row_holder(id, self.n_all, comm) {
                    holder if holder == comm.rank() => sums[kind][self.place(kind, id)].merge(&part),
                    holder => others.push((holder, PartialPixels { sums: part, id, kind: kind as u64 })),
                }
            }
        }
        for (_, received) in comm.exchange(grouped(&others, |other| *other))? {
            for part in &received {
                let kind = part.kind as usize;
                sums[kind][self.place(kind, part.id)].merge(&part.sums);
            }
        }
        let values = |kind: usize| {
            sums[kind].iter().map(|sums| PixelValues::new(sums, &quanta[kind], 1.0)).collect::<Vec<_>>()
        };
        Ok(Some([values(0), values(1)]))
    }

    /// Collective: the size of the halo of each row on this rank. `sizes` are those of the haloes among the
    /// rows.
    fn halo_sizes(&self, sizes: &[HaloSize], comm: &Comm) -> Result<Vec<HaloSize>, CommError> {
        let mut of_rows = vec![HaloSize { mass: f64::NAN, n_cells: 0, central: 0 }; self.rows.len()];
        let mut others: Vec<(Rank, SizeOfClump)> = Vec::new();
        let of_members: Vec<HaloSize> =
            self.members.par_iter().map(|member| sizes[self.place(1, member.halo)]).collect();
        for (&Member { clump, .. }, halo) in self.members.iter().zip(of_members) {
            match row_holder(clump, self.n_all, comm) {
                holder if holder == comm.rank() => of_rows[self.place(0, clump)] = halo,
                holder => others.push((holder, SizeOfClump { clump, halo })),
            }
        }
        for (_, received) in comm.exchange(grouped(&others, |other| *other))? {
            received.iter().for_each(|of| of_rows[self.place(0, of.clump)] = of.halo);
        }
        debug_assert!(of_rows.iter().all(|of| !of.mass.is_nan()), "each row is a member of one halo");
        Ok(of_rows)
    }
}

impl<'a> RowTotals<'a> {
    /// Collective: adds up the patches of each clump and of each halo. Three exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn sum(
        peaks: &'a Peaks,
        clumps: &CutClumps,
        rules: Rules,
        central: CentralChoice,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let here = [0, 1].map(|kind| LocalStructures::new(clumps, kind));
        let bounds = here.each_ref().map(|here| bounds(&here.groups(peaks))).concat();
        let bounds = comm.all_max(&bounds)?;
        let quanta = [0, 1].map(|kind| -> [Quantum; N_SUMS] {
            std::array::from_fn(|i| Quantum::for_terms(bounds[kind * N_SUMS + i], peaks.n_global))
        });
        let totals = [0, 1].map(|kind| here[kind].totals(peaks, &quanta[kind]));
        let rows = SummedRows::collect(clumps, rules, totals, &here, comm)?;
        let pixels = rows.pixels(peaks, &here, comm)?;
        let mut totals = Self { space: &peaks.space, rows, quanta, halo: Vec::new(), pixels };
        let centrals = totals.centrals(central, comm)?;
        let size = |(place, central): (usize, u64)| totals.size_of_halo(place, central);
        let sizes: Vec<HaloSize> = centrals.into_par_iter().enumerate().map(size).collect();
        totals.halo = totals.rows.halo_sizes(&sizes, comm)?;
        Ok(totals)
    }

    /// The values of the clump (kind 0) or halo (kind 1) at this place.
    fn values(&self, kind: usize, place: usize) -> GroupValues {
        let row = self.rows.place(0, self.rows.ids[kind][place]);
        let head = centre(&self.rows.rows[row].cell);
        GroupValues::new(&self.rows.sums[kind][place], &self.quanta[kind], head)
    }

    fn size_of_halo(&self, place: usize, central: u64) -> HaloSize {
        let halo = self.values(1, place);
        HaloSize { mass: halo.totals(self.space).mass, n_cells: halo.patch.n_cells, central }
    }

    /// Collective: the central clump of each halo among the rows of this rank: the clump with the heaviest
    /// patch (between equals, with the denser peak), or the main clump. One exchange.
    fn centrals(&self, central: CentralChoice, comm: &Comm) -> Result<Vec<u64>, CommError> {
        let SummedRows { rows, ids, n_all, .. } = &self.rows;
        if central == CentralChoice::Densest {
            return Ok(ids[1].clone());
        }
        let of_row = |(i, row): (usize, &ClumpRow)| {
            let mass = self.values(0, i).totals(self.space).mass;
            let holder = row_holder(row.halo, *n_all, comm);
            (holder, MassOfClump { clump: row.id, halo: row.halo, mass })
        };
        let all: Vec<(Rank, MassOfClump)> = rows.par_iter().enumerate().map(of_row).collect();
        let (here, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(holder, _)| *holder == comm.rank());
        let received = comm.exchange(grouped(&others, |other| *other))?;
        let mut best = vec![MassOfClump { clump: u64::MAX, halo: 0, mass: f64::NEG_INFINITY }; ids[1].len()];
        // Identifiers ascend as densities fall.
        let order = |of: &MassOfClump| (ordered_bits(of.mass), Reverse(of.clump));
        let here = here.into_iter().map(|(_, of)| of);
        for of in here.chain(received.into_iter().flat_map(|(_, of)| of)) {
            let best = &mut best[self.rows.place(1, of.halo)];
            if order(&of) > order(best) {
                *best = of;
            }
        }
        Ok(best.iter().map(|of| of.clump).collect())
    }

    /// The listed rows of this rank: clumps and haloes, and the shapes of both.
    pub fn list(&self, thresholds: &Thresholds, rules: Rules) -> ListedRows {
        let SummedRows { rows, ids, .. } = &self.rows;
        let is_large =
            |i: usize| self.halo[i].mass > thresholds.mass && self.halo[i].n_cells >= thresholds.min_cells;
        let is_relevant =
            |i: usize| rules == Rules::Paper || rows[i].relevance > thresholds.persistence.threshold();
        let clumps: Vec<usize> = (0..rows.len()).filter(|i| is_large(*i) && is_relevant(*i)).collect();
        let is_large_halo = |place: &usize| is_large(self.rows.place(0, ids[1][*place]));
        let haloes: Vec<usize> = (0..ids[1].len()).filter(is_large_halo).collect();
        let pixels = self.pixels.as_ref().map(|[of_clumps, of_haloes]| {
            let shape = |kind: usize, place: usize, all: &[PixelValues]| {
                PixelShape::new(&all[place], &self.values(kind, place).patch)
            };
            [
                clumps.iter().map(|i| shape(0, *i, of_clumps)).collect(),
                haloes.iter().map(|i| shape(1, *i, of_haloes)).collect(),
            ]
        });
        (
            clumps.into_par_iter().map(|i| self.structure(i)).collect(),
            haloes.into_par_iter().map(|place| self.as_halo(place)).collect(),
            pixels,
        )
    }

    /// The clump of a row.
    fn structure(&self, i: usize) -> Structure {
        let (row, own) = (&self.rows.rows[i], self.values(0, i));
        let totals = own.totals(self.space);
        Structure {
            id: row.id,
            peak_rank: row.peak_rank,
            halo: row.halo,
            parent: row.parent,
            central: self.halo[i].central,
            level: row.level,
            halo_mass: self.halo[i].mass,
            n_cells: own.patch.n_cells,
            volume: totals.volume,
            mass: totals.mass,
            patch_mass: totals.mass,
            rho_peak: row.rho_peak,
            rho_min: own.patch.rho_min,
            peak: self.space.place(own.head),
            peak_refined: row.refined,
            centre_of_mass: totals.centre_of_mass,
            velocity: totals.velocity,
            relevance: row.relevance,
            significance: row.prominence[0],
            mass_above_saddle: row.prominence[1],
            saddle: row.saddle,
            saddle_position: row.saddle_position,
            saddle_neighbour: row.saddle_neighbour,
        }
    }

    /// The whole halo at this place, under the identifier of its main clump.
    fn as_halo(&self, place: usize) -> Structure {
        let main = self.structure(self.rows.place(0, self.rows.ids[1][place]));
        let all = self.values(1, place);
        let totals = all.totals(self.space);
        Structure {
            n_cells: all.patch.n_cells,
            rho_min: all.patch.rho_min,
            volume: totals.volume,
            mass: totals.mass,
            centre_of_mass: totals.centre_of_mass,
            velocity: totals.velocity,
            ..main
        }
    }
}

fn centre(cell: &PeakCell) -> [f64; 3] {
    cell_centre(cell.level as u8, cell.ijk)
}

/// Patches that one task bounds.
const PATCHES_AT_ONCE: usize = 1 << 14;

fn bounds(groups: &PatchGroups) -> [f64; N_SUMS] {
    let larger = |a: [f64; N_SUMS], b: [f64; N_SUMS]| std::array::from_fn(|i| a[i].max(b[i]));
    let runs = chunks(groups.patches.len(), PATCHES_AT_ONCE).into_par_iter();
    runs.map(|run| groups.bounds(run)).reduce(|| [0.0; N_SUMS], larger)
}
