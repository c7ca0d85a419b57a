//! Particles to the owners of their places, ghosts to those nearby, and results back to the readers.

use super::domain::Domain;
use super::search::Frame;
use super::{GroupIds, Ids, Masses, Particles, Positions, Role};
use crate::domains::{picked, rounds};
use crate::ranks::parcel::{Outbox, Parcel};
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::fof::record::Real;

/// Particles that a rank sends in one exchange.
const CHUNK: usize = 1 << 20;

/// How results find back.
#[derive(Debug)]
pub struct Routes {
    /// Number of particles that were read here.
    n_read: usize,
    /// For each round, those that went, in the order of their going.
    went: Vec<Vec<u32>>,
    /// For each round, how many came from whom.
    came: Vec<Vec<(Rank, usize)>>,
}

/// The columns of particles on their way.
const COLUMNS: usize = 7;

/// Collective: brings the particles that take part to the owners of their places. In rounds of a million
/// particles, one exchange each; none on one rank.
///
/// # Errors
/// When another rank fails.
pub fn migrate(
    particles: Particles,
    frame: &Frame,
    domain: &Domain,
    comm: &Comm,
) -> Result<(Particles, Option<Routes>), CommError> {
    if comm.n_ranks() == 1 {
        return Ok((particles, None));
    }
    let n = particles.len();
    let mut routes = Routes { n_read: n, went: Vec::new(), came: Vec::new() };
    let mut own = particles.none();
    for round in 0..rounds(n.div_ceil(CHUNK), comm)? {
        let end = |round: usize| (round * CHUNK).min(n);
        let takes_part = |i: &usize| particles.role.as_ref().is_none_or(|role| role[*i] != Role::Ignored);
        let mut order: Vec<(Rank, u32)> = (end(round)..end(round + 1))
            .filter(takes_part)
            .map(|i| (domain.owner(frame.grid.spot(particles.position.of(i)).block), i as u32))
            .collect();
        order.sort_unstable();
        let mut outbox = Outbox::<COLUMNS>::default();
        for part in order.chunk_by(|a, b| a.0 == b.0) {
            let indices: Vec<u32> = part.iter().map(|(_, i)| *i).collect();
            particles.pack(&mut outbox, part[0].0, &indices);
        }
        let parcels = outbox.exchange(comm)?;
        routes.came.push(parcels.iter().map(|p| (p.from, own.unpack(p))).collect());
        routes.went.push(order.into_iter().map(|(_, i)| i).collect());
    }
    Ok((own, Some(routes)))
}

impl Particles {
    /// None, with the same columns, and a column of IDs.
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

    fn pack(&self, outbox: &mut Outbox<COLUMNS>, to: Rank, order: &[u32]) {
        match &self.position {
            Positions::Single(list) => outbox.put(to, 0, &picked(order, list)),
            Positions::Double(list) => outbox.put(to, 0, &picked(order, list)),
        }
        if let Masses::Each(list) = &self.mass {
            outbox.put(to, 1, &picked(order, list));
        }
        let ids: Vec<u64> = order.iter().map(|i| self.id.of(*i as usize)).collect();
        outbox.put(to, 2, &ids);
        if let Some(role) = &self.role {
            let is_attachable = |role: Role| u8::from(role == Role::Attachable);
            outbox.put(to, 3, &picked(order, role).into_iter().map(is_attachable).collect::<Vec<_>>());
        }
        self.velocity.iter().for_each(|list| outbox.put(to, 4, &picked(order, list)));
        self.gas_density.iter().for_each(|list| outbox.put(to, 5, &picked(order, list)));
        if let Some(list) = &self.is_black_hole {
            outbox.put(to, 6, &picked(order, list).into_iter().map(u8::from).collect::<Vec<_>>());
        }
    }

    /// Appends what came; how many particles that are.
    fn unpack(&mut self, parcel: &Parcel<COLUMNS>) -> usize {
        let before = self.len();
        match &mut self.position {
            Positions::Single(list) => list.extend(parcel.records::<[f32; 3]>(0)),
            Positions::Double(list) => list.extend(parcel.records::<[f64; 3]>(0)),
        }
        if let Masses::Each(list) = &mut self.mass {
            list.extend(parcel.records::<f64>(1));
        }
        if let Ids::Each(list) = &mut self.id {
            list.extend(parcel.records::<u64>(2));
        }
        let role = |is_attachable| if is_attachable == 1 { Role::Attachable } else { Role::Linkable };
        self.role.iter_mut().for_each(|list| list.extend(parcel.records::<u8>(3).into_iter().map(role)));
        self.velocity.iter_mut().for_each(|list| list.extend(parcel.records::<[f32; 3]>(4)));
        self.gas_density.iter_mut().for_each(|list| list.extend(parcel.records::<f32>(5)));
        let flags = || parcel.records::<u8>(6).into_iter().map(|flag| flag == 1);
        self.is_black_hole.iter_mut().for_each(|list| list.extend(flags()));
        self.len() - before
    }
}

/// Collective: appends to own particles the linkable ones of other ranks that any of them may be linked to.
/// Returns the IDs of these ghosts. One exchange.
///
/// # Errors
/// When another rank fails.
pub fn ghosts<T: Real>(
    position: &mut Vec<[T; 3]>,
    role: &mut Option<Vec<Role>>,
    id: &Ids,
    frame: &Frame,
    domain: &Domain,
    comm: &Comm,
) -> Result<Vec<u64>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(Vec::new());
    }
    let mut outbox = Outbox::<2>::default();
    let mut ranks = Vec::new();
    for (i, place) in position.iter().enumerate() {
        if role.as_ref().is_some_and(|role| role[i] != Role::Linkable) {
            continue;
        }
        domain.near(&frame.grid, frame.grid.spot(place.map(T::wide)), comm.rank(), &mut ranks);
        for rank in &ranks {
            outbox.put(*rank, 0, &[*place]);
            outbox.put(*rank, 1, &[id.of(i)]);
        }
    }
    let mut ids = Vec::new();
    for parcel in outbox.exchange(comm)? {
        position.extend(parcel.records::<[T; 3]>(0));
        ids.extend(parcel.records::<u64>(1));
    }
    role.iter_mut().for_each(|role| role.resize(position.len(), Role::Linkable));
    Ok(ids)
}

impl Routes {
    /// Collective: what was found for own particles, back to those who read them.
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
        for (went, came) in self.went.iter().zip(&self.came) {
            let take = |(from, n): &(Rank, usize)| {
                let (part, rest) = found.split_at(*n);
                found = rest;
                (*from, part.to_vec())
            };
            let back = comm.exchange(came.iter().map(take).collect())?;
            let values = back.into_iter().flat_map(|(_, part)| part);
            went.iter().zip(values).for_each(|(i, value)| read[*i as usize] = value);
        }
        Ok(read)
    }
}
