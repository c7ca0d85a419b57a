//! Particles to the owners of their positions, ghosts to nearby ranks, and results back to the readers.

use super::block_owners::BlockOwners;
use super::search::SearchSpace;
use super::{GroupIds, Particles, Role};
use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::particles::{Ids, Masses, Positions};
use crate::partition::{picked, rounds};
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::fof::record::Real;

/// Particles that a rank sends per exchange.
const CHUNK: usize = 1 << 20;

/// The senders and receivers of particles, by which results return to the readers.
#[derive(Debug)]
pub struct ReturnRoutes {
    /// Number of particles that this rank read.
    n_read: usize,
    /// For each round, the indices of the particles sent, in the order of the messages.
    sent: Vec<Vec<u32>>,
    /// For each round, the number of particles received from each rank.
    received: Vec<Vec<(Rank, usize)>>,
}

/// Columns of particles in messages.
const COLUMNS: usize = 7;

/// Collective: brings the particles that take part to the owners of their positions. One exchange per million
/// particles of the fullest rank; none on one rank.
///
/// # Errors
/// When another rank fails.
pub fn migrate(
    particles: Particles,
    frame: &SearchSpace,
    domain: &BlockOwners,
    comm: &Comm,
) -> Result<(Particles, Option<ReturnRoutes>), CommError> {
    if comm.n_ranks() == 1 {
        return Ok((particles, None));
    }
    let n = particles.len();
    let mut returns = ReturnRoutes { n_read: n, sent: Vec::new(), received: Vec::new() };
    let mut own = particles.none();
    for round in 0..rounds(n.div_ceil(CHUNK), comm)? {
        let end = |round: usize| (round * CHUNK).min(n);
        let takes_part = |i: &usize| particles.role.as_ref().is_none_or(|role| role[*i] != Role::Ignored);
        let mut order: Vec<(Rank, u32)> = (end(round)..end(round + 1))
            .filter(takes_part)
            .map(|i| (domain.owner(frame.grid.spot(particles.position.get(i)).block), i as u32))
            .collect();
        order.sort_unstable();
        let mut buffers = SendBuffers::<COLUMNS>::default();
        for part in order.chunk_by(|a, b| a.0 == b.0) {
            let indices: Vec<u32> = part.iter().map(|(_, i)| *i).collect();
            particles.pack(&mut buffers, part[0].0, &indices);
        }
        let bundles = buffers.exchange(comm)?;
        returns.received.push(bundles.iter().map(|p| (p.from, own.unpack(p))).collect());
        returns.sent.push(order.into_iter().map(|(_, i)| i).collect());
    }
    Ok((own, Some(returns)))
}

impl Particles {
    /// No particles, with the same columns and a column of IDs.
    fn none(&self) -> Self {
        let mass = match self.mass {
            Masses::Same(mass) => Masses::Same(mass),
            Masses::Each(_) => Masses::Each(Vec::new()),
        };
        Self {
            position: Positions::with_capacity(self.position.is_double(), 0),
            mass,
            id: Ids::Each(Vec::new()),
            role: self.role.as_ref().map(|_| Vec::new()),
            velocity: self.velocity.as_ref().map(|_| Vec::new()),
            gas_density: self.gas_density.as_ref().map(|_| Vec::new()),
            is_black_hole: self.is_black_hole.as_ref().map(|_| Vec::new()),
        }
    }

    /// Adds the particles with the indices `order` to the message for `to`.
    fn pack(&self, buffers: &mut SendBuffers<COLUMNS>, to: Rank, order: &[u32]) {
        match &self.position {
            Positions::Single(list) => buffers.put(to, 0, &picked(order, list)),
            Positions::Double(list) => buffers.put(to, 0, &picked(order, list)),
        }
        if let Masses::Each(list) = &self.mass {
            buffers.put(to, 1, &picked(order, list));
        }
        let ids: Vec<u64> = order.iter().map(|i| self.id.get(*i as usize)).collect();
        buffers.put(to, 2, &ids);
        if let Some(role) = &self.role {
            let is_attachable = |role: Role| u8::from(role == Role::Attachable);
            buffers.put(to, 3, &picked(order, role).into_iter().map(is_attachable).collect::<Vec<_>>());
        }
        self.velocity.iter().for_each(|list| buffers.put(to, 4, &picked(order, list)));
        self.gas_density.iter().for_each(|list| buffers.put(to, 5, &picked(order, list)));
        if let Some(list) = &self.is_black_hole {
            buffers.put(to, 6, &picked(order, list).into_iter().map(u8::from).collect::<Vec<_>>());
        }
    }

    /// Appends the particles of a message, and returns their number.
    fn unpack(&mut self, bundle: &Bundle<COLUMNS>) -> usize {
        let before = self.len();
        match &mut self.position {
            Positions::Single(list) => list.extend(bundle.records::<[f32; 3]>(0)),
            Positions::Double(list) => list.extend(bundle.records::<[f64; 3]>(0)),
        }
        if let Masses::Each(list) = &mut self.mass {
            list.extend(bundle.records::<f64>(1));
        }
        match &mut self.id {
            Ids::Each(list) => list.extend(bundle.records::<u64>(2)),
            Ids::From(_) => unreachable!("received particles have a column of IDs"),
        }
        let role = |is_attachable| if is_attachable == 1 { Role::Attachable } else { Role::Linkable };
        self.role.iter_mut().for_each(|list| list.extend(bundle.records::<u8>(3).into_iter().map(role)));
        self.velocity.iter_mut().for_each(|list| list.extend(bundle.records::<[f32; 3]>(4)));
        self.gas_density.iter_mut().for_each(|list| list.extend(bundle.records::<f32>(5)));
        let flags = || bundle.records::<u8>(6).into_iter().map(|flag| flag == 1);
        self.is_black_hole.iter_mut().for_each(|list| list.extend(flags()));
        self.len() - before
    }
}

/// Collective: appends the linkable particles of other ranks that own particles may be linked to. Returns the
/// IDs of these ghosts. One exchange.
///
/// # Errors
/// When another rank fails.
pub fn ghosts<T: Real>(
    position: &mut Vec<[T; 3]>,
    role: &mut Option<Vec<Role>>,
    id: &Ids,
    frame: &SearchSpace,
    domain: &BlockOwners,
    comm: &Comm,
) -> Result<Vec<u64>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(Vec::new());
    }
    let mut buffers = SendBuffers::<2>::default();
    let mut ranks = Vec::new();
    for (i, x) in position.iter().enumerate() {
        if role.as_ref().is_some_and(|role| role[i] != Role::Linkable) {
            continue;
        }
        domain.near(&frame.grid, frame.grid.spot(x.map(T::wide)), comm.rank(), &mut ranks);
        for rank in &ranks {
            buffers.put(*rank, 0, &[*x]);
            buffers.put(*rank, 1, &[id.get(i)]);
        }
    }
    let mut ids = Vec::new();
    for bundle in buffers.exchange(comm)? {
        position.extend(bundle.records::<[T; 3]>(0));
        ids.extend(bundle.records::<u64>(1));
    }
    role.iter_mut().for_each(|role| role.resize(position.len(), Role::Linkable));
    Ok(ids)
}

impl ReturnRoutes {
    /// Collective: returns the groups of own particles to their readers. As many exchanges as brought the
    /// particles.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn back(&self, found: &GroupIds, comm: &Comm) -> Result<GroupIds, CommError> {
        Ok(match found {
            GroupIds::Narrow(found) => GroupIds::Narrow(self.carry(found, comm)?),
            GroupIds::Wide(found) => GroupIds::Wide(self.carry(found, comm)?),
        })
    }

    fn carry<T: Pod>(&self, mut found: &[T], comm: &Comm) -> Result<Vec<T>, CommError> {
        let mut read = bytemuck::zeroed_vec(self.n_read);
        for (sent, received) in self.sent.iter().zip(&self.received) {
            let take = |(from, n): &(Rank, usize)| {
                let (part, rest) = found.split_at(*n);
                found = rest;
                (*from, part.to_vec())
            };
            let back = comm.exchange(received.iter().map(take).collect())?;
            let values = back.into_iter().flat_map(|(_, part)| part);
            sent.iter().zip(values).for_each(|(i, value)| read[*i as usize] = value);
        }
        Ok(read)
    }
}
