//! The tree of the clumps, which one rank cuts for all.

use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::phew::hierarchy::chains;
use crate::phew::hierarchy::chains::Followed;
use crate::phew::hierarchy::rows::{ClumpRow, Member, home};
use crate::phew::hierarchy::ties;
use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, SaddleOf, cut_in_order};
use inselberg_kernels::phew::ties::{Tie, cut_with_ties};
use inselberg_kernels::phew::tree::{Death, MergeTree};

/// The rank that cuts the tree.
const CUTTER: Rank = Rank(0);

/// A peak that is no noise, and all that its clump takes from it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpPeak {
    /// Density.
    pub rho: f64,
    /// Density of the saddle at which it ends; 0 if never.
    pub saddle: f64,
    /// Refined position in code units.
    pub refined: [f64; 3],
    /// Where it ends in code units; NaN if never.
    pub saddle_position: [f64; 3],
    /// Its place by falling density among the peaks of all ranks, from 1.
    pub peak_rank: u64,
    /// Its cell.
    pub cell: PeakCell,
    /// Its global index.
    pub global: PeakIdx,
    /// The two patches at which it ends, near side first.
    pub ends: [PeakIdx; 2],
    /// The clumps of these, by global index.
    pub end_clumps: [PeakIdx; 2],
    unused: u32,
}

/// The cell of a peak.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PeakCell {
    /// Its level.
    pub level: u32,
    /// Its position on the grid of that level.
    pub ijk: [u32; 3],
}

/// What a clump is called, and what halo it is in.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpIdentity {
    /// Identifiers of clump and halo; 0 for discarded ones.
    pub ids: [u64; 2],
    /// The cells of their highest peaks.
    pub heads: [PeakCell; 2],
}

/// What the thresholds make of the clumps, as far as this rank has to do with them.
pub struct CutClumps {
    /// Identifiers of the clump and halo of each own patch, by its place here.
    pub names: Vec<ClumpIdentity>,
    /// The name of each own patch.
    pub of_peak: Vec<PeakIdx>,
    /// What the rows of this rank have besides their sums, by identifier.
    pub rows: Vec<ClumpRow>,
    /// The clumps of the haloes among these, by identifier.
    pub members: Vec<Member>,
    /// Number of clumps on all ranks, discarded ones left out.
    pub n_clumps: usize,
    /// Highest level of a saddle that merged clumps.
    pub max_level: u64,
}

/// Collective: cuts the tree. `peak_rank` is the place of each own peak by falling density.
///
/// The cutting rank gets all seeds, each other only what concerns its own patches and rows: two exchanges, besides those that
/// follow the noise.
///
/// # Errors
/// When another rank fails.
pub fn cut(
    peaks: &Peaks,
    peak_rank: &[u64],
    thresholds: &Cut,
    rules: Rules,
    comm: &Comm,
) -> Result<CutClumps, CommError> {
    let has_ties =
        rules == Rules::Ramses && comm.all_reduce_counts(&[peaks.ties.len() as u64], Reduce::Max)?[0] > 0;
    let (followed, ties) = match has_ties {
        false => (chains::follow(peaks, thresholds.relevance, comm)?, Vec::new()),
        true => ties::follow(peaks, thresholds, comm)?,
    };
    let asked = ask(peaks, peak_rank, &followed, comm)?;
    let seeds = asked.iter().flat_map(|bundle| bundle.records(SEEDS)).collect();
    let tree = CutTree::new(seeds, ties, thresholds, rules);
    let answers = tree.answer(&asked, rules, comm)?;
    let names: Vec<ClumpIdentity> = answers.iter().flat_map(|bundle| bundle.records(CLUMPS)).collect();
    if names.len() != followed.clumps.len() {
        return Err(comm.abort(format!("{} clumps, {} names", followed.clumps.len(), names.len())));
    }
    let of_all = comm.all_reduce_counts(&[tree.by_id.len() as u64, tree.max_level(rules)], Reduce::Max)?;
    Ok(CutClumps {
        names,
        of_peak: followed.of_peak,
        rows: answers.iter().flat_map(|bundle| bundle.records(ROWS)).collect(),
        members: answers.iter().flat_map(|bundle| bundle.records(MEMBERS)).collect(),
        n_clumps: of_all[0] as usize,
        max_level: of_all[1],
    })
}

/// Seeds, to the cutter.
const SEEDS: usize = 0;
/// Global indices of clumps, to the cutter; their names, back.
const CLUMPS: usize = 1;
/// Rows, from the cutter.
const ROWS: usize = 0;
/// Clumps of haloes, from the cutter.
const MEMBERS: usize = 2;

/// Collective: sends the cutter the own seeds, and the clumps whose names are wanted.
fn ask(
    peaks: &Peaks,
    peak_rank: &[u64],
    followed: &Followed,
    comm: &Comm,
) -> Result<Vec<Bundle<3>>, CommError> {
    let seed = |(&i, ends): (&usize, &[PeakIdx; 2])| ClumpPeak::new(peaks, i, *ends, peak_rank[i]);
    let seeds: Vec<ClumpPeak> = followed.seeds.iter().zip(&followed.end_clumps).map(seed).collect();
    let mut buffers = SendBuffers::default();
    buffers.put(CUTTER, SEEDS, &seeds);
    buffers.put(CUTTER, CLUMPS, &followed.clumps);
    buffers.exchange(comm)
}

impl ClumpPeak {
    fn new(peaks: &Peaks, i: usize, end_clumps: [PeakIdx; 2], peak_rank: u64) -> Self {
        let death = &peaks.tree.death[i];
        Self {
            rho: peaks.tree.rho[i],
            saddle: death.saddle,
            refined: peaks.refined[i],
            saddle_position: peaks.saddle_position[i],
            peak_rank,
            cell: PeakCell { level: u32::from(peaks.level[i]), ijk: peaks.ijk[i] },
            global: peaks.global[i],
            ends: [death.near, death.endpoint],
            end_clumps,
            unused: 0,
        }
    }
}

/// The tree of the clumps of all ranks, cut. Clumps are known by their place among the seeds.
struct CutTree {
    /// One a clump, discarded ones too, by global index.
    seeds: Vec<ClumpPeak>,
    /// The ties between them.
    ties: Vec<Tie>,
    hierarchy: Hierarchy,
    /// The clumps by identifier; discarded ones have none.
    by_id: Vec<PeakIdx>,
    /// Identifier of each; 0 for discarded ones.
    ids: Vec<u64>,
}

impl CutTree {
    /// `ties` are between clumps by global index.
    fn new(mut seeds: Vec<ClumpPeak>, mut ties: Vec<Tie>, thresholds: &Cut, rules: Rules) -> Self {
        seeds.sort_unstable_by_key(|s| s.global);
        let tree = tree_of(&seeds);
        ties.iter_mut().for_each(|tie| tie.patches = tie.patches.map(|clump| place(&seeds, clump)));
        let hierarchy = match ties.is_empty() {
            true => cut_in_order(&tree, by_death(&seeds), thresholds, rules),
            false => cut_with_ties(&tree, &ties, thresholds),
        };
        let (by_id, ids) = identify(&tree, &hierarchy);
        Self { seeds, ties, hierarchy, by_id, ids }
    }

    /// Collective: sends names to the ranks that want them, and rows to where they belong.
    fn answer(&self, asked: &[Bundle<3>], rules: Rules, comm: &Comm) -> Result<Vec<Bundle<3>>, CommError> {
        let mut buffers = SendBuffers::default();
        for bundle in asked {
            let names = bundle.records(CLUMPS).into_iter().map(|clump| self.name(clump));
            buffers.put(bundle.from, CLUMPS, &names.collect::<Vec<ClumpIdentity>>());
        }
        let home = |id: u64| home(id, self.by_id.len(), comm);
        for row in self.rows(rules) {
            buffers.put(home(row.id), ROWS, &[row]);
            buffers.put(home(row.halo), MEMBERS, &[Member { halo: row.halo, clump: row.id }]);
        }
        buffers.exchange(comm)
    }

    /// Of the clump whose seed has a global index, as what it is after the cut.
    fn name(&self, global: PeakIdx) -> ClumpIdentity {
        let seed = place(&self.seeds, global);
        let clump = if seed.is_none() { seed } else { self.hierarchy.clump[seed.at()] };
        if clump.is_none() {
            return ClumpIdentity::zeroed();
        }
        let both = [clump, self.hierarchy.halo[clump.at()]];
        ClumpIdentity { ids: both.map(|c| self.id(c)), heads: both.map(|c| self.seeds[c.at()].cell) }
    }

    fn id(&self, clump: PeakIdx) -> u64 {
        if clump.is_none() { 0 } else { self.ids[clump.at()] }
    }

    /// Everything about the clumps but their sums, by identifier.
    fn rows(&self, rules: Rules) -> impl Iterator<Item = ClumpRow> + '_ {
        let h = &self.hierarchy;
        self.by_id.iter().map(move |&clump| {
            let (seed, key) = (&self.seeds[clump.at()], &h.key_saddle[clump.at()]);
            let saddle_position = match key.of {
                SaddleOf::Nothing => [f64::NAN; 3],
                SaddleOf::Death(dying) => self.seeds[dying.at()].saddle_position,
                SaddleOf::Tie(tie) => self.ties[tie as usize].position,
            };
            ClumpRow {
                id: self.id(clump),
                peak_rank: seed.peak_rank,
                halo: self.id(h.halo[clump.at()]),
                parent: self.id(h.parent[clump.at()]),
                level: level(h.level[clump.at()], rules),
                rho_peak: seed.rho,
                relevance: h.relevance[clump.at()],
                saddle: key.density,
                saddle_position,
                saddle_neighbour: self.id(key.neighbour),
                refined: seed.refined,
                cell: seed.cell,
            }
        })
    }

    fn max_level(&self, rules: Rules) -> u64 {
        self.by_id.iter().map(|c| level(self.hierarchy.level[c.at()], rules)).max().unwrap_or(0)
    }
}

/// RAMSES counts the rounds of the saddle pass from 0, so that main clumps and those merged in the first
/// round have the same level.
fn level(level: u32, rules: Rules) -> u64 {
    u64::from(if rules == Rules::Ramses { level.saturating_sub(1) } else { level })
}

fn place(seeds: &[ClumpPeak], global: PeakIdx) -> PeakIdx {
    seeds.binary_search_by_key(&global, |s| s.global).map_or(PeakIdx::NONE, PeakIdx::new)
}

/// The tree of the seeds alone.
fn tree_of(seeds: &[ClumpPeak]) -> MergeTree {
    let death = |s: &ClumpPeak| match s.ends[1].is_none() {
        true => Death::NEVER,
        false => {
            let [near, endpoint] = s.end_clumps.map(|clump| place(seeds, clump));
            Death { saddle: s.saddle, near, endpoint }
        }
    };
    MergeTree { rho: seeds.iter().map(|s| s.rho).collect(), death: seeds.iter().map(death).collect() }
}

/// The seeds that end, in the order in which they do: that of the edges between the patches.
fn by_death(seeds: &[ClumpPeak]) -> Vec<PeakIdx> {
    let mut dying: Vec<_> =
        (0..seeds.len()).map(PeakIdx::new).filter(|p| !seeds[p.at()].ends[1].is_none()).collect();
    let edge = |s: &ClumpPeak| (s.ends[0].min(s.ends[1]), s.ends[0].max(s.ends[1]));
    dying.sort_unstable_by(|a, b| {
        let (a, b) = (&seeds[a.at()], &seeds[b.at()]);
        b.saddle.total_cmp(&a.saddle).then_with(|| edge(a).cmp(&edge(b)))
    });
    dying
}

/// Identifiers from 1 by falling density of the clumps that are not discarded.
fn identify(tree: &MergeTree, hierarchy: &Hierarchy) -> (Vec<PeakIdx>, Vec<u64>) {
    let is_kept = |p: &PeakIdx| hierarchy.clump[p.at()] == *p;
    let by_id: Vec<PeakIdx> = tree.by_falling_density().into_iter().filter(is_kept).collect();
    let mut ids = vec![0; tree.len()];
    for (i, p) in by_id.iter().enumerate() {
        ids[p.at()] = i as u64 + 1;
    }
    (by_id, ids)
}
