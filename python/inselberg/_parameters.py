"""Keywords of the functions, as the library declares them.

Printed by ``inselberg options --python``: do not edit.
"""

from __future__ import annotations

import os
from typing import Literal, Mapping, Optional, Sequence, TypedDict, Union


class PhewOptions(TypedDict, total=False):
    """Clumps and haloes: phew."""

    #: Density above which cells or particles are segmented.
    density_threshold: Union[None, float, str]

    #: Least significance of a peak in a density of particles; 3 by default.
    significance_threshold: Optional[float]

    #: Saddle density above which clumps merge into one halo.
    saddle_threshold: Union[None, float, str]

    #: Merge clumps of lower relevance into haloes, in place of a saddle threshold.
    halo_relevance: Optional[float]

    #: Largest halo mass whose clumps are not listed (code units).
    mass_threshold: Union[None, float, str]

    #: Least number of leaf cells of a halo whose clumps are listed.
    min_cells: Optional[int]

    #: Least number of particles, of any type, of a halo whose clumps are listed.
    min_particles: Optional[int]

    #: The rules to follow where the PHEW paper and RAMSES differ.
    compat: Literal["paper", "ramses"]

    #: What is divided evenly among ranks. It never changes a result.
    balance: Literal["work", "test-cells", "leaves"]

    #: List for which other thresholds clumps and haloes are the same.
    stability: bool

    #: Search this many halves of the particles, and list how often each clump is found again.
    subsamples: Optional[int]

    #: Also list every leaf cell with its clump and halo.
    with_cells: bool

    #: Also list every particle with its clump and halo.
    with_particles: bool

    #: Smallest peak-to-saddle density ratio of a peak that is not noise.
    relevance_threshold: Optional[float]

    #: Instead of a ratio: smallest peak-to-saddle density difference (code units).
    relevance_difference: Union[None, float, str]

    #: Segment only the leaves whose centre is in this box or sphere (code units).
    region: Union[None, str, Sequence[str], Sequence[float]]

    #: Segment only the leaves of these levels, both included.
    levels: Union[None, str, Sequence[str], Sequence[float]]

    #: Distance of a FITS image or cube (pc), for luminosities and masses.
    distance: Union[None, float, str]

    #: Mass per luminosity of the line of a cube, in Msun/(K km/s pc2).
    alpha_co: Optional[float]

    #: The beam of a FITS image or cube, instead of that of its header.
    beam: Union[None, str, Sequence[str], Sequence[float]]

    #: The unit of the values of a FITS image or cube, instead of BUNIT of its header.
    bunit: Union[None, str, Sequence[str], Sequence[float]]

    #: The rest frequency of a FITS image or cube, instead of that of its header.
    rest_frequency: Union[None, str, Sequence[str], Sequence[float]]

    #: Noise of a FITS image or cube: a number in its unit, or a FITS file with a map or cube.
    noise: Union[None, str, Sequence[str], Sequence[float]]

    #: Find the particles and gas cells that gravity binds to each clump.
    unbind: bool

    #: How potentials of bound particles are computed.
    potential: Literal["tree", "spherical", "ramses"]

    #: Which clump of a halo is its central.
    central: Literal["heaviest", "densest"]

    #: Also list the bound particles of each clump, the most bound first.
    with_members: bool

    #: The types whose mass makes the potential of unbinding.
    potential_from: Union[None, str, Sequence[str], Sequence[float]]

    #: Count the thermal energy of gas cells in unbinding.
    thermal_energy: bool

    #: Softening lengths of the particles for unbinding (code units).
    softening: Union[None, float, str, Mapping[str, float]]

    #: The ratio of specific heats of gas cells, for unbinding and properties of gas.
    gamma: Optional[float]

    #: Whether particles of one type and halo may share an ID in unbinding.
    duplicate_ids: Literal["error", "allow"]

    #: Properties of bound members and of gas: words from basic, bound, so, all, gas.
    properties: Union[None, str, Sequence[str], Sequence[float]]

    #: Remember the members of each object from output to output.
    tracks: bool

    #: With `tracks`: the catalogue of the last output, from which the first search goes on.
    tracks_from: Union[None, str, os.PathLike[str]]


class MeshOptions(TypedDict, total=False):
    """The mesh that particles make."""

    #: Mesh from particles: split cells with more particles than this.
    m_refine: Optional[int]

    #: Mesh from particles: split all cells coarser than this level, 2 to 12.
    level_min: Optional[int]

    #: Mesh from particles: never split cells of this level, 2 to 20.
    level_max: Optional[int]

    #: The types of particles that make the mesh or the graph.
    particle_types: Sequence[int]

    #: Side of the periodic box of a plain array, in the units of the positions.
    box: Optional[float]


class GraphOptions(TypedDict, total=False):
    """The graph of particles."""

    #: Particle graph: number of nearest neighbours of each particle, 1 to 254.
    neighbours: Optional[int]

    #: Take densities of the particle graph from the input, as SPH codes store them.
    given_density: bool

    #: The types of particles that make the mesh or the graph.
    particle_types: Sequence[int]

    #: Side of the periodic box of a plain array, in the units of the positions.
    box: Optional[float]


class RecutOptions(TypedDict, total=False):
    """New thresholds of clumps: recut."""

    #: Higher density threshold, for a catalogue with cells (code units).
    density_threshold: Union[None, float, str]

    #: New least significance of peaks; default: that of the catalogue.
    significance_threshold: Optional[float]

    #: New saddle threshold (code units); default: that of the catalogue.
    saddle_threshold: Union[None, float, str]

    #: Merge clumps of lower relevance into haloes, in place of a saddle threshold.
    halo_relevance: Optional[float]

    #: New mass threshold (code units); default: that of the catalogue.
    mass_threshold: Union[None, float, str]

    #: New least number of leaf cells of a listed halo; default: that of the catalogue.
    min_cells: Optional[int]

    #: New relevance threshold; default: that of the catalogue.
    relevance_threshold: Optional[float]

    #: The same for a catalogue that was cut by a difference (code units).
    relevance_difference: Union[None, float, str]


class AtlasOptions(TypedDict, total=False):
    """What thresholds do: atlas."""

    #: Values of each threshold per factor of ten.
    values_per_decade: Optional[int]

    #: Values of each threshold where two vary; 0 leaves pairs out.
    pair_values: Optional[int]

    #: Values of the density threshold, for a catalogue with cells; 0 leaves it out.
    density_values: Optional[int]


class FofOptions(TypedDict, total=False):
    """Groups of particles: fof."""

    #: Smallest number of linking particles in a listed group.
    min_size: Optional[int]

    #: Mass above which groups get a black hole (solar masses).
    black_hole_seed_mass: Union[None, float, str]

    #: Group ID of particles in no group.
    group_id_default: Optional[int]

    #: ID of the largest group; smaller groups have the next IDs.
    group_id_offset: Optional[int]

    #: Softening length of potentials in the units of the positions.
    softening: Union[None, float, str]

    #: Linking length in units of the mean separation of dark-matter particles.
    linking_ratio: Optional[float]

    #: Linking length in the units of the positions, instead of a ratio.
    linking_length: Union[None, float, str]

    #: Whether particles of linking or attaching types may share an ID.
    duplicate_ids: Literal["error", "allow"]

    #: Properties of groups: words from basic, bound, so, all.
    properties: Union[None, str, Sequence[str], Sequence[float]]

    #: How potentials of bound particles are computed.
    potential: Literal["tree", "spherical", "ramses"]

    #: Also list the bound particles of each group, the most bound first.
    with_members: bool

    #: Remember the members of each object from output to output.
    tracks: bool

    #: With `tracks`: the catalogue of the last output, from which the first search goes on.
    tracks_from: Union[None, str, os.PathLike[str]]


class FofTypesOptions(TypedDict, total=False):
    """Particle types of fof."""

    #: Particle types that link and so form the groups.
    linking_types: Sequence[int]

    #: Particle types that join the group of the nearest linking particle in reach.
    attaching_types: Sequence[int]

    #: Side of the periodic box of a plain array, in the units of the positions.
    box: Optional[float]

    #: The box is not periodic.
    open: bool


class VoidsOptions(TypedDict, total=False):
    """Voids: voids."""

    #: Smallest ratio of wall to least density of a zone that is not noise.
    relevance_threshold: Optional[float]

    #: Zones that meet below this density are one void (mean densities); 0: none do.
    wall_threshold: Union[None, float, str]

    #: Only particles less dense than this take part (mean densities); default: all do.
    density_threshold: Union[None, float, str]

    #: Least effective radius of a listed void (code units).
    min_radius: Union[None, float, str]

    #: Least number of particles of a listed void.
    min_particles: Optional[int]

    #: Also list every particle with its zone and void.
    with_particles: bool


class VoidsGraphOptions(TypedDict, total=False):
    """The graph of particles of voids."""

    #: Particle graph: number of nearest neighbours of each particle, 1 to 254.
    neighbours: Optional[int]

    #: Take densities of the particle graph from the input, as SPH codes store them.
    given_density: bool

    #: The types of particles that make the mesh or the graph.
    particle_types: Sequence[int]

    #: Side of the periodic box of a plain array, in the units of the positions.
    box: Optional[float]


class RecutVoidsOptions(TypedDict, total=False):
    """New thresholds of voids: recut."""

    #: New relevance threshold; default: that of the catalogue.
    relevance_threshold: Optional[float]

    #: New wall threshold of voids (mean densities); default: that of the catalogue.
    wall_threshold: Union[None, float, str]

    #: New least radius of voids (code units); default: that of the catalogue.
    min_radius: Union[None, float, str]

    #: New least number of particles of a listed void; default: that of the catalogue.
    min_particles: Optional[int]


class TreeOptions(TypedDict, total=False):
    """Merger trees: tree."""

    #: Number of snapshots in which an object may be missing.
    gap: Optional[int]

    #: Number of most bound dark matter and star members of an object that are compared.
    tracers: Optional[int]

    #: Follow an object that is gone by its most bound tracer.
    orphans: bool


class CompareOptions(TypedDict, total=False):
    """Two catalogues beside each other: compare."""

    #: Smallest objects that count (particles).
    least_members: Optional[int]

    #: Score from which an object counts as found.
    least_score: Optional[float]

    #: Part of the members of an object from which another one counts as a piece of it.
    least_share: Optional[float]

    #: Distance up to which objects are matched by place (code lengths of the first catalogue).
    match_distance: Optional[float]

    #: Added to all three coordinates of the second catalogue (its code lengths).
    shift: Optional[float]


class EngineOptions(TypedDict, total=False):
    """How long ranks wait for each other."""

    #: Seconds without progress after which waiting ranks give up; 0: never.
    stall_timeout: Optional[float]

    #: Seconds that a rank waits for the others after an error, and at the end.
    recover_timeout: Optional[float]


class CellsOptions(TypedDict, total=False):
    """What an input of cells leaves open."""

    #: Periodic axes of an input that does not state them: xyz, some of these letters, or none.
    periodic: Union[None, str, Sequence[str], Sequence[float]]

    #: Side of a cell of a plain array of cells.
    spacing: Optional[float]

    #: Lower corner of a plain array of cells.
    origin: Union[None, str, Sequence[str], Sequence[float]]

    #: Names of the hydro variables of a RAMSES output without a descriptor, in their order.
    hydro_names: Union[None, str, Sequence[str], Sequence[float]]

    #: The plane to take of the Stokes axis of a FITS image or cube.
    stokes: Union[None, str, Sequence[str], Sequence[float]]

    #: A plain array of two axes is an image, not positions of particles.
    image: bool

    #: Pressure over density of dark energy today, where the snapshot does not state it.
    w0: Optional[float]

    #: The part of w that changes with the expansion, where the snapshot does not state it.
    wa: Optional[float]

    #: Density parameter of radiation, where the snapshot does not state it.
    omega_r: Optional[float]

    #: Density parameter of massive neutrinos, where the snapshot does not state it.
    omega_nu: Optional[float]


class ParticlesOptions(TypedDict, total=False):
    """What an input of particles leaves open."""

    #: Mass per particle (code units) where the snapshot has none.
    particle_mass: Optional[float]

    #: Unit of length in cm, for a Gadget snapshot that does not state it.
    unit_length: Union[None, float, str]

    #: Unit of mass in g, for a Gadget snapshot that does not state it.
    unit_mass: Union[None, float, str]

    #: Unit of velocity in cm/s, for a Gadget snapshot that does not state it.
    unit_velocity: Union[None, float, str]

    #: Expansion factor of a Gadget snapshot whose time and redshift do not agree.
    expansion_factor: Optional[float]

    #: Order of blocks in a Gadget snapshot of type 1: gizmo has two more before masses.
    gadget_blocks: Literal["auto", "gadget", "gizmo"]

    #: Pressure over density of dark energy today, where the snapshot does not state it.
    w0: Optional[float]

    #: The part of w that changes with the expansion, where the snapshot does not state it.
    wa: Optional[float]

    #: Density parameter of radiation, where the snapshot does not state it.
    omega_r: Optional[float]

    #: Density parameter of massive neutrinos, where the snapshot does not state it.
    omega_nu: Optional[float]
