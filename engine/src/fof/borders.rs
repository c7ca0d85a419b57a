//! What ranks tell each other about cells at their borders.

use super::domain::BlockOwners;
use super::merge::ComponentEdge;
use super::rows::KnownGroup;
use super::search::{SearchSpace, Sorted};
use crate::exchange::chains::RemoteIndex;
use crate::exchange::grouped;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::fof::grid::Spot;
use inselberg_kernels::fof::record::Record;

/// A cell of another rank, and the component that it is in here.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Ghost {
    block: [u32; 3],
    cell: u32,
    root: u32,
}

/// Two components of two ranks that are one.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Same {
    here: u32,
    there: u32,
}

/// The sorted particles of this rank: own ones, numbered below `n_own`, and ghosts. A cell has only one kind,
/// because parts of ranks are made of whole blocks.
pub struct SortedWithGhosts<'a, R> {
    /// The cells.
    pub frame: &'a SearchSpace,
    /// Whose they are.
    pub domain: &'a BlockOwners,
    /// The particles.
    pub sorted: &'a Sorted<R>,
    /// Number of own ones.
    pub n_own: usize,
    /// Whether there are ghosts.
    pub has_ghosts: bool,
}

impl<R: Record> SortedWithGhosts<'_, R> {
    /// Whether a cell is another rank's.
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

    /// Collective: edges from own components, which have the given root for each cell and number of own
    /// particles for each root, to those of other ranks. Two exchanges; none on one rank.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn edges(&self, comm: &Comm, roots: &[u32], counts: &[u32]) -> Result<Vec<ComponentEdge>, CommError> {
        if comm.n_ranks() == 1 {
            return Ok(Vec::new());
        }
        let has_own = |cell: &u32| counts[roots[*cell as usize] as usize] > 0;
        let ghosts = (0..roots.len() as u32).filter(|cell| self.is_ghost(*cell)).filter(has_own);
        let mut told: Vec<(Rank, Ghost)> = ghosts
            .map(|cell| {
                let Spot { block, cell: local } = self.spot(cell);
                (self.domain.owner(block), Ghost { block, cell: local, root: roots[cell as usize] })
            })
            .collect();
        told.sort_by_key(|t| t.0);
        let received = comm.exchange(grouped(&told, |t| *t))?;
        let same = |ghost: &Ghost| {
            let cell = self.sorted.blocks.cell_at(Spot { block: ghost.block, cell: ghost.cell });
            cell.map(|cell| Same { here: roots[cell as usize], there: ghost.root })
        };
        let mut found: Vec<(Rank, Same)> = Vec::new();
        for (from, ghosts) in &received {
            let mut list: Vec<Same> = ghosts.iter().filter_map(same).collect();
            list.sort_unstable_by_key(|s| (s.here, s.there));
            list.dedup_by_key(|s| (s.here, s.there));
            found.extend(list.into_iter().map(|s| (*from, s)));
        }
        let answers = comm.exchange(grouped(&found, |f| *f))?;
        let edge = |rank: Rank, index, from| ComponentEdge { from, to: RemoteIndex { rank: rank.0, index } };
        let answered = answers.iter().flat_map(|(from, list)| list.iter().map(|s| (*from, s)));
        let mut edges: Vec<ComponentEdge> = answered.map(|(from, s)| edge(from, s.here, s.there)).collect();
        edges.extend(found.iter().map(|(from, s)| edge(*from, s.there, s.here)));
        Ok(edges)
    }

    /// Collective: what the owners of ghost `cells` know of their groups, in the order of the cells; `known`
    /// says so of own cells. Two exchanges; none on one rank.
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
            .map(|(i, cell)| (self.domain.owner(self.spot(*cell).block), i))
            .collect();
        asked.sort_unstable();
        let question = |(to, i): &(Rank, usize)| {
            let Spot { block, cell } = self.spot(cells[*i]);
            (*to, Ghost { block, cell, root: 0 })
        };
        let received = comm.exchange(grouped(&asked, question))?;
        let answer = |ghost: &Ghost| {
            let cell = self.sorted.blocks.cell_at(Spot { block: ghost.block, cell: ghost.cell });
            cell.map_or(KnownGroup::NONE, &known)
        };
        let answers =
            received.iter().map(|(from, list)| (*from, list.iter().map(answer).collect())).collect();
        let answers = comm.exchange::<KnownGroup>(answers)?.into_iter().flat_map(|(_, list)| list);
        let mut all = vec![KnownGroup::NONE; cells.len()];
        asked.iter().zip(answers).for_each(|((_, i), answer)| all[*i] = answer);
        Ok(all)
    }
}
