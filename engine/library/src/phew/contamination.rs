//! How many particles of a selected region are heavier than the lightest one?
//!
//! A zoom has light particles where its resolution is high. Heavier ones from outside contaminate a halo. In
//! zooms of Gadget and SWIFT they have separate types, which always count.

use crate::error::RunError;
use crate::partition::to_leaf_owners;
use crate::phew::leaf_patch::leaf_patch;
use crate::phew::member_places::LeafPlaces;
use crate::phew::selection::Selected;
use crate::phew::tables::PatchIds;
use crate::pieces::for_each_particle_block;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, Reduce};
use inselberg_io::catalogue::Attribute;
use inselberg_io::{Family, ParticleBlock, Snapshot};
use rayon::prelude::*;

/// Masses with a smaller relative difference are equal.
const SAME: f64 = 1.001;

/// A dark-matter particle of the region.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RegionParticle {
    /// In units of the level-0 cell.
    position: [f64; 3],
    mass: f64,
}

/// Collective: the attributes about dark-matter particles of the region and of its haloes. All particles are
/// read once, also heavy ones of other types.
///
/// # Errors
/// When the particles cannot be read, or another rank fails.
pub fn attributes(
    snapshot: &dyn Snapshot,
    selected: &Selected,
    &LeafPlaces { part, segmentation }: &LeafPlaces,
    ids: &PatchIds,
    comm: &Comm,
) -> Result<Vec<(&'static str, Attribute)>, RunError> {
    let side = snapshot.header().boxlen;
    let of_block = |_: usize, block: &ParticleBlock| {
        let rows = block.family.iter().zip(&block.position).zip(&block.mass);
        let is_dark = |family: &Family| matches!(family, Family::DarkMatter | Family::Other);
        let dark = rows.filter(|((family, _), mass)| is_dark(family) && **mass > 0.0);
        let dark = dark.map(|((_, x), mass)| (*x, *mass));
        let least = dark.clone().map(|(_, mass)| mass).fold(f64::INFINITY, f64::min);
        let here = dark.filter(|(x, _)| selected.has_point(*x));
        let here = here.map(|(x, mass)| RegionParticle { position: x.map(|x| x / side), mass });
        Ok((least, here.collect::<Vec<_>>()))
    };
    let mut blocks = for_each_particle_block(snapshot, comm, of_block)?;
    if let Some(others) = snapshot.left_out_dark_matter() {
        blocks.extend(for_each_particle_block(others.as_ref(), comm, of_block)?);
    }
    let least = blocks.iter().map(|(least, _)| *least).fold(f64::INFINITY, f64::min);
    let least = -comm.all_max(&[-least])?[0];
    let here: Vec<RegionParticle> = blocks.into_iter().flat_map(|(_, here)| here).collect();
    let is_heavy = |particle: &RegionParticle| particle.mass > least * SAME;
    let in_region = [here.len(), here.par_iter().filter(|p| is_heavy(p)).count()];
    let placed = to_leaf_owners(here, |p| p.position, part, comm)?;
    let is_in_halo = |p: &&RegionParticle| {
        let leaf = leaf_patch(&part.field.mesh, segmentation, p.position);
        leaf.is_some_and(|leaf| ids.halo[leaf.patch.at()] > 0)
    };
    let in_haloes: Vec<&RegionParticle> = placed.par_iter().filter(is_in_halo).collect();
    let of_haloes = [in_haloes.len(), in_haloes.iter().filter(|p| is_heavy(p)).count()];
    let counts = [in_region, of_haloes].concat().into_iter().map(|n| n as u64).collect::<Vec<_>>();
    let counts = comm.all_reduce_counts(&counts, Reduce::Sum)?;
    let names =
        ["n_region_particles", "n_region_heavy_particles", "n_halo_particles", "n_halo_heavy_particles"];
    let mut list: Vec<_> =
        names.into_iter().zip(counts).map(|(name, n)| (name, Attribute::Int(n.cast_signed()))).collect();
    if least.is_finite() {
        list.push(("least_particle_mass", Attribute::Real(least)));
    }
    Ok(list)
}
