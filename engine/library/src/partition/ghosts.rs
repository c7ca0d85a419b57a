//! Links between copies of cells and their owners, which keep values the same on both sides.

use super::splits::Splits;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::CellIdx;
use inselberg_kernels::mesh::Mesh;

/// The links of one rank to all ranks with which it shares cells.
///
/// Cells are indices on this rank: a [`CellIdx`] as built, and after [`Ghosts::restrict`] whatever it maps
/// them to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ghosts {
    links: Vec<GhostLink>,
}

/// The cells that this rank shares with one other. The other rank has the same link with ghosts and mirrors
/// swapped, in the same order: by (level, Morton key).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GhostLink {
    /// The other rank.
    pub rank: Rank,
    /// Copies, on this rank, of cells of the other.
    pub ghosts: Vec<u32>,
    /// Own cells of which the other rank has copies.
    pub mirrors: Vec<u32>,
}

impl Ghosts {
    /// No links: one rank.
    pub const NONE: Self = Self { links: Vec::new() };

    /// Links by ascending rank; those without cells are dropped.
    pub fn new(mut links: Vec<GhostLink>) -> Self {
        links.retain(|link| !link.ghosts.is_empty() || !link.mirrors.is_empty());
        Self { links }
    }

    /// The links, by ascending rank. If rank a has a link to b, then b has one to a.
    pub fn links(&self) -> &[GhostLink] {
        &self.links
    }

    /// The ranks to which there are links, ascending.
    pub fn neighbours(&self) -> Vec<Rank> {
        self.links.iter().map(|link| link.rank).collect()
    }

    /// Number of ghosts.
    pub fn len(&self) -> usize {
        self.links.iter().map(|link| link.ghosts.len()).sum()
    }

    /// Whether there are no ghosts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Collective, between neighbours: gives every ghost the value of its owner. `values` has one entry per
    /// index. One message per link.
    ///
    /// # Errors
    /// When another rank fails, or the two sides of a link differ.
    pub fn push<T: Pod>(&self, comm: &Comm, values: &mut [T]) -> Result<(), CommError> {
        let own = |cell: u32| values[cell as usize];
        let received = self.exchange(comm, own, |link| &link.mirrors, |link| &link.ghosts)?;
        for (link, received) in self.links.iter().zip(received) {
            link.ghosts.iter().zip(received).for_each(|(ghost, value)| values[*ghost as usize] = value);
        }
        Ok(())
    }

    /// Collective, between neighbours: for every ghost, link by link, the value that its owner computes by
    /// `of`. One message per link.
    ///
    /// # Errors
    /// When another rank fails, or the two sides of a link differ.
    pub fn collect<T: Pod>(&self, comm: &Comm, of: impl Fn(u32) -> T) -> Result<Vec<T>, CommError> {
        Ok(self.exchange(comm, of, |link| &link.mirrors, |link| &link.ghosts)?.concat())
    }

    /// Collective, between neighbours: combines the value of every ghost into that of its owner. A cell may
    /// receive several values, by ascending rank; `combine` must not depend on their order. One message per
    /// link.
    ///
    /// # Errors
    /// When another rank fails, or the two sides of a link differ.
    pub fn reduce<T: Pod>(
        &self,
        comm: &Comm,
        values: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        let gathered = |cell: u32| values[cell as usize];
        let received = self.exchange(comm, gathered, |link| &link.ghosts, |link| &link.mirrors)?;
        for (link, received) in self.links.iter().zip(received) {
            let own = link.mirrors.iter().zip(received);
            own.for_each(|(own, value)| combine(&mut values[*own as usize], value));
        }
        Ok(())
    }

    /// Sends the values of one side of every link, and returns those of the other side: one list per link.
    fn exchange<T: Pod>(
        &self,
        comm: &Comm,
        of: impl Fn(u32) -> T,
        send: impl Fn(&GhostLink) -> &Vec<u32>,
        receive: impl Fn(&GhostLink) -> &Vec<u32>,
    ) -> Result<Vec<Vec<T>>, CommError> {
        let part =
            |link: &GhostLink| (link.rank, send(link).iter().map(|cell| of(*cell)).collect::<Vec<T>>());
        let parts = self.links.iter().map(part).filter(|(_, values)| !values.is_empty()).collect();
        let mut received = comm.exchange_with(&self.neighbours(), parts)?.into_iter().peekable();
        let of_link = |link: &GhostLink| {
            // No values arrive where the other side has none; the count is checked below.
            let values = received.next_if(|part| part.0 == link.rank).map_or(Vec::new(), |part| part.1);
            match receive(link).len() {
                n if n == values.len() => Ok(values),
                n => Err(differ(link.rank, &format!("{} values for {n} cells", values.len()))),
            }
        };
        self.links.iter().map(of_link).collect()
    }

    /// The links with only those cells for which `keep` returns a new index, in the same order. Both sides of
    /// a link must keep the same cells. So `keep` may depend only on what both sides know of a cell: its
    /// position, and values that were pushed. Local.
    pub fn restrict(&self, keep: impl Fn(CellIdx) -> Option<u32>) -> Self {
        let kept = |cells: &[u32]| cells.iter().filter_map(|i| keep(CellIdx(*i))).collect();
        let of_link = |link: &GhostLink| GhostLink {
            rank: link.rank,
            ghosts: kept(&link.ghosts),
            mirrors: kept(&link.mirrors),
        };
        Self::new(self.links.iter().map(of_link).collect())
    }

    /// Collective, between neighbours: whether both sides of every link have the same cells in the same
    /// order, and whether each cell belongs to its owner by `splits`. For links as built, to the cells of
    /// `mesh`.
    ///
    /// # Errors
    /// When they differ, or another rank fails.
    pub fn check(&self, comm: &Comm, mesh: &Mesh, splits: &Splits) -> Result<(), CommError> {
        let place = |cell: &u32| {
            let (level, [x, y, z]) = mesh.locate(CellIdx(*cell));
            [u32::from(level), x, y, z]
        };
        let parts = self.links.iter().map(|l| (l.rank, l.ghosts.iter().map(place).collect())).collect();
        let mut received = comm.exchange_with(&self.neighbours(), parts)?.into_iter().peekable();
        for link in &self.links {
            let theirs = received.next_if(|part| part.0 == link.rank).map_or(Vec::new(), |part| part.1);
            let ours: Vec<[u32; 4]> = link.mirrors.iter().map(place).collect();
            if ours != theirs {
                return Err(differ(link.rank, "other cells, or in another order"));
            }
            let owned_by = |cell: &u32, rank| {
                let (level, position) = mesh.locate(CellIdx(*cell));
                splits.owner(level, position) == rank
            };
            if !link.ghosts.iter().all(|cell| owned_by(cell, link.rank)) {
                return Err(differ(link.rank, "ghosts of cells that it does not own"));
            }
            if !link.mirrors.iter().all(|cell| owned_by(cell, comm.rank())) {
                return Err(differ(link.rank, "copies of cells that this rank does not own"));
            }
        }
        Ok(())
    }
}

fn differ(rank: Rank, how: &str) -> CommError {
    CommError::Mismatch { what: format!("ghosts shared with {rank}: {how}") }
}
