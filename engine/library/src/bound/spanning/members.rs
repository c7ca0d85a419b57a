//! Brings the members of a halo to slices: sorted by name, for their places, and then by key.

use crate::bound::candidates::{ClumpParticle, HaloMember};
use crate::bound::error::BoundError;
use crate::bound::frame::HaloFrame;
use crate::bound::rank_slices::RankSlices;
use crate::bound::unbind::Unbinder;
use crate::particles::MemberType;
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::bound::members::NO_RANK;
use inselberg_kernels::bound::slices::{SortOrder, block_starts};
use inselberg_kernels::bound::{HaloBounds, HaloMembers, MemberColumns, MemberError};

/// A member of a halo in slices.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SlicedMember {
    /// Morton key.
    pub key: u64,
    /// Place among all members by type and identity. It decides between equals.
    pub place: u64,
    /// Identity among the members of its type.
    pub id: u64,
    /// Identifier of the clump.
    pub clump: u64,
    /// Identifier of the clump in whose patch it lies; 0 for none.
    pub patch: u64,
    /// Position from the main peak on.
    pub position: [f64; 3],
    /// Velocity.
    pub velocity: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Thermal energy per mass.
    pub internal_energy: f64,
    /// Softening length.
    pub softening: f32,
    /// Type.
    pub particle_type: u32,
    /// Place among the former members of its track.
    pub former_rank: u32,
    /// 0: fills the record.
    pub reserved: u32,
}

/// The members of a halo in this slice.
pub(super) struct SlicedHalo {
    /// The members.
    pub members: HaloMembers,
    /// The identity of each among the members of its type.
    pub id: Vec<u64>,
    /// Identifier of the clump of each.
    pub clump: Vec<u64>,
    /// Identifier of the clump in whose patch each lies.
    pub patch: Vec<u64>,
    /// The first member of each block.
    starts: Vec<u32>,
    /// The place of the first member among those of all slices.
    first: u64,
}

impl SlicedHalo {
    /// Collective: brings members to the slices of their keys. Four exchanges, of about 100 bytes per member.
    pub fn new(
        particles: Vec<ClumpParticle>,
        frame: &HaloFrame,
        unbinder: &Unbinder,
        slices: &RankSlices,
    ) -> Result<Self, BoundError> {
        let block = unbinder.spanning.block;
        let by_name = SortOrder {
            primary: &|particle: &ClumpParticle| [particle.particle_type.into(), particle.id],
            order: &|a, b| a.order(b),
            block,
        };
        let sorted = by_name.sort(slices, particles)?;
        if !unbinder.allow_duplicate_ids {
            check_ids(&sorted.records)?;
        }
        let has_heat = unbinder.method.is_thermal();
        let member = |(place, particle): (u64, &ClumpParticle)| SlicedMember {
            key: 0,
            place,
            id: particle.id,
            clump: particle.clump,
            patch: particle.patch,
            position: frame.relative(particle.position),
            velocity: particle.velocity,
            mass: particle.mass,
            internal_energy: if has_heat { particle.internal_energy } else { 0.0 },
            softening: particle.softening,
            particle_type: particle.particle_type,
            former_rank: particle.former_rank,
            reserved: 0,
        };
        let mut members: Vec<SlicedMember> = (sorted.first..).zip(&sorted.records).map(member).collect();
        drop(sorted);
        let bounds = bounds(&members, block).over(slices)?;
        members.iter_mut().for_each(|member| member.key = bounds.key(member.position));
        let by_key = SortOrder {
            primary: &|member: &SlicedMember| [member.key, 0],
            order: &|a, b| (a.key, a.place).cmp(&(b.key, b.place)),
            block,
        };
        let sorted = by_key.sort(slices, members)?;
        let (members, first) = (sorted.records, sorted.first);
        let columns = columns(members.iter(), has_heat, unbinder.has_tracks);
        columns.check().map_err(|error| by_place(error, &members))?;
        let starts = block_starts(members.len(), |i| members[i].key, first, block);
        Ok(Self {
            id: members.iter().map(|member| member.id).collect(),
            clump: members.iter().map(|member| member.clump).collect(),
            patch: members.iter().map(|member| member.patch).collect(),
            members: HaloMembers::of_slice(columns, bounds, starts.clone()),
            starts,
            first,
        })
    }

    /// The number of the block of a member among those of all slices.
    pub fn block_of(&self, member: u32) -> u64 {
        let block = self.starts.partition_point(|start| *start <= member) - 1;
        (self.first + u64::from(self.starts[block])) / self.members.bounds().block
    }

    /// A member, without its key.
    pub fn member(&self, member: u32) -> SlicedMember {
        let (at, columns) = (member as usize, self.members.columns());
        SlicedMember {
            key: 0,
            place: columns.id[at],
            id: self.id[at],
            clump: self.clump[at],
            patch: self.patch[at],
            position: columns.position[at],
            velocity: columns.velocity[at],
            mass: columns.mass[at],
            internal_energy: columns.internal_energy.get(at).copied().unwrap_or(0.0),
            softening: columns.softening[at],
            particle_type: columns.particle_type[at].into(),
            former_rank: columns.former_rank.get(at).copied().unwrap_or(NO_RANK),
            reserved: 0,
        }
    }
}

/// Members in their order as columns; with thermal energies if some have them, and former ranks if there are
/// tracks.
pub(super) fn columns<'a>(
    members: impl Iterator<Item = &'a SlicedMember> + Clone,
    has_heat: bool,
    has_tracks: bool,
) -> MemberColumns {
    MemberColumns {
        position: members.clone().map(|member| member.position).collect(),
        velocity: members.clone().map(|member| member.velocity).collect(),
        mass: members.clone().map(|member| member.mass).collect(),
        softening: members.clone().map(|member| member.softening).collect(),
        particle_type: members.clone().map(|member| member.particle_type as u8).collect(),
        internal_energy: match has_heat {
            true => members.clone().map(|member| member.internal_energy).collect(),
            false => Vec::new(),
        },
        former_rank: match has_tracks {
            true => members.clone().map(|member| member.former_rank).collect(),
            false => Vec::new(),
        },
        id: members.map(|member| member.place).collect(),
    }
}

fn bounds(members: &[SlicedMember], block: u64) -> HaloBounds {
    let most = |of: &dyn Fn(&SlicedMember) -> f64| members.iter().fold(0.0f64, |most, m| most.max(of(m)));
    let longest = |x: [f64; 3]| x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    HaloBounds {
        number: members.len() as u64,
        mass: most(&|member| member.mass),
        reach: most(&|member| longest(member.position)),
        speed: most(&|member| longest(member.velocity)),
        block,
    }
}

/// Members of a type that share an identity are in one slice.
fn check_ids(particles: &[ClumpParticle]) -> Result<(), BoundError> {
    let is_same = |pair: &&[ClumpParticle]| {
        pair[0].name() == pair[1].name() && pair[0].particle_type != MemberType::Other as u32
    };
    match particles.windows(2).find(is_same) {
        Some(pair) => Err(BoundError::SharedId { halo: pair[0].halo, id: pair[0].id.cast_signed() }),
        None => Ok(()),
    }
}

/// An error that names the place of a member instead of its number in a slice.
fn by_place(error: MemberError, members: &[SlicedMember]) -> MemberError {
    match error {
        MemberError::Value { column, entry, expected } => {
            MemberError::Value { column, entry: members[entry].place as usize, expected }
        }
        other => other,
    }
}
