//! Which patch does a particle belong to?
//!
//! With cells, a particle belongs to the patch of its leaf. In a graph, each particle is in a patch itself.

use crate::error::RunError;
use crate::graph::{GraphParticle, LinkGraph, OwnParticles, below_one};
use crate::partition::{LocalField, deliver, to_leaf_owners};
use crate::phew::leaf_patch::leaf_patch;
use crate::phew::segment::Segmentation;
use crate::pieces::for_each_particle_block;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_io::Snapshot;
use inselberg_kernels::geom::{Domain, cell_side};
use inselberg_kernels::ids::{PeakSlot, TestIdx};
use rayon::prelude::*;

/// The kind of members of patches.
#[derive(Clone, Copy)]
pub enum MemberPlaces<'a> {
    /// In leaves.
    Leaves(LeafPlaces<'a>),
    /// The particles of a graph.
    Graph(GraphPlaces<'a>),
}

/// Leaves and their patches.
#[derive(Clone, Copy)]
pub struct LeafPlaces<'a> {
    /// The cells of this rank.
    pub part: &'a LocalField,
    /// The patch of every test cell.
    pub segmentation: &'a Segmentation<'a>,
}

/// Particles of a graph and their patches.
#[derive(Clone, Copy)]
pub struct GraphPlaces<'a> {
    /// All particles of this rank.
    pub own: &'a OwnParticles,
    /// The test particles.
    pub tests: &'a LinkGraph,
    /// The patch of each test particle.
    pub labels: &'a [PeakSlot],
}

/// The place of a particle in a patch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatchPlace {
    /// The slot of the peak.
    pub patch: PeakSlot,
    /// The side of the leaf, or of a cube of the volume of the particle, in units of the level-0 cell.
    pub size: f64,
}

/// A particle on the way to the owner of its position.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SentParticle {
    id: u64,
    /// In units of the level-0 cell.
    position: [f64; 3],
}

/// A particle in a patch, on the rank that owns its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatchMember {
    /// Its identity.
    pub id: u64,
    /// The slot of the peak of its patch.
    pub patch: PeakSlot,
}

/// A particle of the snapshot, on the rank that owns its place.
#[derive(Debug, Clone, Copy)]
pub struct PlacedParticle {
    /// Its identity.
    pub id: u64,
    /// The slot of the peak of its patch; `None` if it belongs to none.
    pub patch: Option<PeakSlot>,
}

impl MemberPlaces<'_> {
    /// Collective: every particle of the snapshot with its patch. Reads all particles once; one exchange.
    ///
    /// # Errors
    /// When the particles cannot be read, or another rank fails.
    pub fn of_all(&self, snapshot: &dyn Snapshot, comm: &Comm) -> Result<Vec<PlacedParticle>, RunError> {
        let side = snapshot.header().boxlen;
        let blocks = for_each_particle_block(snapshot, comm, |_, block| {
            let rows = block.id.iter().zip(&block.position);
            let sent = |(&id, x): (&i64, &[f64; 3])| SentParticle {
                id: id.cast_unsigned(),
                position: x.map(|x| x / side),
            };
            Ok(rows.map(sent).collect::<Vec<_>>())
        })?;
        let sent = self.to_owners(blocks.concat(), |particle| particle.position, comm)?;
        let placed = |particle: &SentParticle| PlacedParticle {
            id: particle.id,
            patch: self.of(particle.position, particle.id).map(|place| place.patch),
        };
        Ok(sent.par_iter().map(placed).collect())
    }

    /// Collective: the particles that are in patches. A graph has them at hand. With cells, all particles are
    /// read once more, and there is one exchange.
    ///
    /// # Errors
    /// As [`MemberPlaces::of_all`].
    pub fn members(&self, snapshot: &dyn Snapshot, comm: &Comm) -> Result<Vec<PatchMember>, RunError> {
        if let Self::Graph(graph) = self {
            return Ok(graph.members());
        }
        let member = |of: &PlacedParticle| Some(PatchMember { id: of.id, patch: of.patch? });
        Ok(self.of_all(snapshot, comm)?.par_iter().filter_map(member).collect())
    }

    /// The leaves.
    ///
    /// # Panics
    /// For a graph of particles, which has no leaves: neither gas cells, nor regions, nor RAMSES's rules.
    pub fn leaves(&self) -> &LeafPlaces<'_> {
        match self {
            Self::Leaves(leaves) => leaves,
            Self::Graph(_) => panic!("gas cells, regions and RAMSES's rules come with leaves"),
        }
    }

    /// The box, in cells.
    pub fn domain(&self) -> Domain {
        match self {
            Self::Leaves(leaves) => *leaves.part.field.mesh.domain(),
            Self::Graph(graph) => graph.own.domain,
        }
    }

    /// What [`PatchPlace::size`] is.
    pub fn size_name(&self) -> &'static str {
        match self {
            Self::Leaves(_) => "side of the leaf",
            Self::Graph(_) => "cube root of its volume",
        }
    }

    /// Collective: sends every item to the rank that owns the place at its position, which is in units of the
    /// level-0 cell. Items outside the box stay.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn to_owners<T: Pod + Send + Sync>(
        &self,
        items: Vec<T>,
        position: impl Fn(&T) -> [f64; 3] + Sync,
        comm: &Comm,
    ) -> Result<Vec<T>, CommError> {
        match self {
            Self::Leaves(leaves) => to_leaf_owners(items, position, leaves.part, comm),
            Self::Graph(_) if comm.n_ranks() == 1 => Ok(items),
            Self::Graph(graph) => {
                let owner = |item: &T| graph.own.owner_of(position(item).map(below_one));
                deliver(items, |item| (owner(item), *item), comm)
            }
        }
    }

    /// The place of the particle with this identity at a position in units of the level-0 cell. `None` if it
    /// belongs to no patch.
    pub fn of(&self, position: [f64; 3], id: u64) -> Option<PatchPlace> {
        match self {
            Self::Leaves(leaves) => {
                let leaf = leaf_patch(&leaves.part.field.mesh, leaves.segmentation, position)?;
                Some(PatchPlace { patch: leaf.patch, size: cell_side(leaf.level) })
            }
            Self::Graph(GraphPlaces { own, tests, labels }) => {
                let test = tests.of_own[own.find(position.map(below_one), id)?];
                let label = labels.get(test.at())?;
                let volume = own.volume(tests.particles[test.at()].mass, tests.rho[test.at()]);
                Some(PatchPlace { patch: *label, size: volume.cbrt() })
            }
        }
    }
}

impl GraphPlaces<'_> {
    /// Local: the own particles that are in patches.
    fn members(&self) -> Vec<PatchMember> {
        let own = self.own.particles.par_iter().zip(&self.tests.of_own);
        let member = |(particle, test): (&GraphParticle, &TestIdx)| {
            let patch = *self.labels.get(test.at())?;
            Some(PatchMember { id: particle.id, patch })
        };
        own.filter_map(member).collect()
    }
}
