//! Questions and answers between ranks about cells at their borders.

use super::block_owners::BlockOwners;
use super::merge::ComponentEdge;
use super::rows::KnownGroup;
use super::search::{SearchSpace, Sorted};
use crate::exchange::chains::RemoteIndex;
use crate::exchange::grouped;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::fof::grid::Spot;
use inselberg_kernels::fof::record::Record;

/// A ghost cell, and the root of its component on the sender.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Ghost {
    block: [u32; 3],
    cell: u32,
    root: u32,
}

/// Two components of two ranks that share a cell: the root on the owner of the cell, and the root where it is
/// a ghost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct RootPair {
    on_owner: u32,
    on_ghost: u32,
}

/// The sorted particles of this rank: own ones, with indices below `n_own`, and ghosts. All particles of a
/// cell are of the same kind, since ranks own whole blocks.
pub struct SortedWithGhosts<'a, R> {
    /// The cells.
    pub frame: &'a SearchSpace,
    /// Their owners.
    pub owners: &'a BlockOwners,
    /// The particles.
    pub sorted: &'a Sorted<R>,
    /// Number of own particles.
    pub n_own: usize,
    /// Whether there are ghosts.
    pub has_ghosts: bool,
}

impl<R: Record> SortedWithGhosts<'_, R> {
    /// Whether a cell belongs to another rank.
    pub fn is_ghost(&self, cell: u32) -> bool {
        self.has_ghosts && self.sorted.in_cell(cell)[0].index() as usize >= self.n_own
    }

    /// The own particles of a cell.
    #[inline]
    pub fn own(&self, cell: u32) -> &[R] {
        if self.is_ghost(cell) { &[] } else { self.sorted.in_cell(cell) }
    }

    fn spot(&self, cell: u32) -> Spot {
        self.frame.grid.spot(self.sorted.in_cell(cell)[0].position())
    }

    /// The own cell that another rank has as a ghost.
    fn own_cell(&self, ghost: &Ghost) -> u32 {
        let cell = self.sorted.blocks.cell_at(Spot { block: ghost.block, cell: ghost.cell });
        cell.expect("ghosts are copies of particles in own cells")
    }

    /// Collective: edges from own components to those of other ranks. `roots` has the root of each cell, and
    /// `counts` the number of own particles of each root. Two exchanges; none on one rank.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn edges(&self, comm: &Comm, roots: &[u32], counts: &[u32]) -> Result<Vec<ComponentEdge>, CommError> {
        if comm.n_ranks() == 1 {
            return Ok(Vec::new());
        }
        let has_own = |cell: &u32| counts[roots[*cell as usize] as usize] > 0;
        let ghosts = (0..roots.len() as u32).filter(|cell| self.is_ghost(*cell)).filter(has_own);
        let mut sent: Vec<(Rank, Ghost)> = ghosts
            .map(|cell| {
                let Spot { block, cell: local } = self.spot(cell);
                (self.owners.owner(block), Ghost { block, cell: local, root: roots[cell as usize] })
            })
            .collect();
        sent.sort_by_key(|t| t.0);
        let received = comm.exchange(grouped(&sent, |t| *t))?;
        let pair =
            |ghost: &Ghost| RootPair { on_owner: roots[self.own_cell(ghost) as usize], on_ghost: ghost.root };
        let mut pairs: Vec<(Rank, RootPair)> = Vec::new();
        for (from, ghosts) in &received {
            let mut list: Vec<RootPair> = ghosts.iter().map(pair).collect();
            list.sort_unstable();
            list.dedup();
            pairs.extend(list.into_iter().map(|pair| (*from, pair)));
        }
        let answers = comm.exchange(grouped(&pairs, |pair| *pair))?;
        let edge = |rank: Rank, index, from| ComponentEdge { from, to: RemoteIndex { rank: rank.0, index } };
        let answered = answers.iter().flat_map(|(from, list)| list.iter().map(|pair| (*from, pair)));
        let mut edges: Vec<ComponentEdge> =
            answered.map(|(from, pair)| edge(from, pair.on_owner, pair.on_ghost)).collect();
        edges.extend(pairs.iter().map(|(from, pair)| edge(*from, pair.on_ghost, pair.on_owner)));
        Ok(edges)
    }

    /// Collective: the groups of ghost `cells`, from their owners, in the order of the cells. `known` gives
    /// the group of an own cell. Two exchanges; none on one rank.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn ask(
        &self,
        comm: &Comm,
        cells: &[u32],
        known: impl Fn(u32) -> KnownGroup,
    ) -> Result<Vec<KnownGroup>, CommError> {
        if comm.n_ranks() == 1 {
            return Ok(Vec::new());
        }
        let mut asked: Vec<(Rank, usize)> = cells
            .iter()
            .enumerate()
            .map(|(i, cell)| (self.owners.owner(self.spot(*cell).block), i))
            .collect();
        asked.sort_unstable();
        let question = |(to, i): &(Rank, usize)| {
            let Spot { block, cell } = self.spot(cells[*i]);
            (*to, Ghost { block, cell, root: 0 })
        };
        let received = comm.exchange(grouped(&asked, question))?;
        let answer = |ghost: &Ghost| known(self.own_cell(ghost));
        let answers =
            received.iter().map(|(from, list)| (*from, list.iter().map(answer).collect())).collect();
        let answers = comm.exchange::<KnownGroup>(answers)?.into_iter().flat_map(|(_, list)| list);
        let mut all = vec![KnownGroup::NONE; cells.len()];
        asked.iter().zip(answers).for_each(|((_, i), answer)| all[*i] = answer);
        Ok(all)
    }
}
