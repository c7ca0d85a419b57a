"""The functions and classes that a user calls."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from . import _native
from ._catalogues import Catalogue, ClumpCatalogue, GroupCatalogue
from ._errors import InvalidArgumentError
from ._progress import reporting
from ._sources import (
    BoxOptions,
    Cells,
    ParticleMesh,
    Particles,
    Snapshot,
    Source,
    array,
    axes,
    geometry,
    vectors,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _Thresholds(TypedDict):
    density: float


class PhewOptions(_Thresholds, total=False):
    """Keywords of PHEW."""

    relevance: Optional[float]
    difference: Optional[float]
    saddle: Optional[float]
    mass: float
    rules: str
    velocity: Any
    mass_density: Any
    name: str
    with_cells: bool
    with_particles: bool
    progress: Any


class CellOptions(PhewOptions, BoxOptions):
    """Keywords of PHEW and of the box."""


class Engine:
    """Threads and the mesh of the last cells, for many calls. ``threads=None``: as many as this process may use."""

    def __init__(self, threads: Optional[int] = None) -> None:
        self._native = _native.Engine(threads)

    def phew(
        self,
        source: Source,
        field: Any = None,
        /,
        *,
        density: float,
        relevance: Optional[float] = None,
        difference: Optional[float] = None,
        saddle: Optional[float] = None,
        mass: float = 0.0,
        rules: str = "paper",
        velocity: Any = None,
        mass_density: Any = None,
        name: str = "density",
        with_cells: bool = False,
        with_particles: bool = False,
        progress: Any = None,
    ) -> ClumpCatalogue:
        """PHEW on cells, an output, or the mesh that particles make. Parameters as in :func:`phew`."""
        thresholds = dict(density=density, relevance=relevance, difference=difference, saddle=saddle, mass=mass)
        options: Dict[str, Any] = dict(thresholds, rules=rules, with_cells=with_cells, with_particles=with_particles)
        arrays = (velocity, mass_density)
        if not isinstance(source, Cells) and any(given is not None for given in arrays):
            raise InvalidArgumentError("velocity or mass_density for an output; expected them for cells only")
        with reporting(progress) as report:
            if isinstance(source, Cells):
                return self._phew_cells(source, field, options, arrays, name, report)
            return ClumpCatalogue(self._phew_on_disk(source, field, options, report))

    def _phew_cells(
        self, cells: Cells, field: Any, options: Dict[str, Any], arrays: Tuple[Any, Any], name: str, report: Any
    ) -> ClumpCatalogue:
        if field is None:
            raise InvalidArgumentError("no field; expected one number per cell")
        velocity, mass_density = arrays
        found = self._native.phew(
            cells._native,
            array(field),
            options,
            velocity=None if velocity is None else axes(velocity),
            mass_density=None if mass_density is None else array(mass_density),
            name=name,
            report=report,
        )
        return ClumpCatalogue(found, has_items=True, shape=cells._shape)

    def _phew_on_disk(self, source: Source, field: Any, options: Dict[str, Any], report: Any) -> Any:
        if isinstance(source, Snapshot):
            return self._native.phew_snapshot(source._native, "auto" if field is None else field, options, report)
        mesh = source.mesh() if isinstance(source, Particles) else source
        if not isinstance(mesh, ParticleMesh):
            expected = "cells, an opened output or opened particles"
            raise InvalidArgumentError(f"{type(source).__name__} instead of a source; expected {expected}")
        if field is not None:
            raise InvalidArgumentError("a field for a mesh of particles; expected none")
        return self._native.phew_particles(mesh.particles._native, mesh.options, options, report)

    def fof(
        self,
        source: Any,
        /,
        *,
        box: Optional[float] = None,
        ratio: Optional[float] = None,
        length: Optional[float] = None,
        min_size: int = 20,
        progress: Any = None,
        **options: Any,
    ) -> GroupCatalogue:
        """Friends-of-friends of positions, or of particles on disk. Parameters as in :func:`fof`."""
        linking = {"ratio": ratio, "length": length, "min_size": min_size}
        if ratio is None and length is None:
            linking["ratio"] = 0.2
        with reporting(progress) as report:
            if isinstance(source, Particles):
                return self._fof_on_disk(source, box, linking, report, **options)
            return self._fof_positions(source, box, linking, report, **options)

    def _fof_positions(
        self,
        positions: Any,
        box: Optional[float],
        linking: Dict[str, Any],
        report: Any,
        *,
        ids: Any = None,
        masses: Any = None,
        velocities: Any = None,
        attached: Any = None,
        coarse: Sequence[int] = (1, 1, 1),
        time: float = 0.0,
        units: Optional[Sequence[float]] = None,
        cosmology: Optional[Sequence[float]] = None,
    ) -> GroupCatalogue:
        found = self._native.fof(
            vectors(positions),
            geometry(1.0 if box is None else box, coarse, box is not None, time, units, cosmology),
            linking,
            ids=None if ids is None else array(ids),
            masses=None if masses is None else array(masses),
            velocities=None if velocities is None else vectors(velocities),
            attached=None if attached is None else array(attached),
            report=report,
        )
        return GroupCatalogue(found, has_items=True)

    def _fof_on_disk(
        self,
        particles: Particles,
        box: Optional[float],
        linking: Dict[str, Any],
        report: Any,
        *,
        linking_types: Sequence[int] = (1,),
        attaching_types: Sequence[int] = (),
        is_open: bool = False,
    ) -> GroupCatalogue:
        side = None if box is None else float(box)
        types = dict(linking=list(linking_types), attaching=list(attaching_types), side=side, is_open=is_open)
        return GroupCatalogue(self._native.fof_particles(particles._native, types, linking, report))


def open(path: Union[str, "os.PathLike[str]"]) -> Snapshot:  # noqa: A001
    """An output with cells, by its headers: a folder of RAMSES. :func:`phew` reads the rest."""
    return Snapshot(_native.open_snapshot(os.fspath(path)), os.fspath(path))


def open_particles(*paths: Union[str, "os.PathLike[str]"]) -> Particles:
    """Particles in the files of one input, by their headers: SWIFT, Gadget, RAMSES, or a plain array."""
    names = [os.fspath(path) for path in paths]
    return Particles(_native.open_particles(names), names)


def phew(
    source: Source, field: Any = None, /, *, threads: Optional[int] = None, **options: Unpack[PhewOptions]
) -> ClumpCatalogue:
    """Clumps and haloes of an output, of cells with a field, or of the mesh that particles make.

    ``field`` is the name of a field of an output (by default the one that the command takes), or one number per cell.
    Options are those of :func:`phew_cells`, and for outputs ``with_particles=True``: the catalogue lists every particle.

    Densities and masses are in code units. On the mesh of particles, densities are in units of their mean.
    """
    return Engine(threads).phew(source, field, **options)


def phew_cells(
    levels: Any,
    positions: Any,
    field: Any,
    /,
    *,
    density: float,
    relevance: Optional[float] = None,
    difference: Optional[float] = None,
    saddle: Optional[float] = None,
    mass: float = 0.0,
    rules: str = "paper",
    velocity: Any = None,
    mass_density: Any = None,
    name: str = "density",
    with_cells: bool = False,
    threads: Optional[int] = None,
    progress: Any = None,
    **box: Unpack[BoxOptions],
) -> ClumpCatalogue:
    """Clumps and haloes of leaf cells, in any order.

    ``levels``, ``positions`` and ``field`` have one entry per leaf. Leaves at or below the density threshold may be left out.
    Options of the box, such as ``box=`` and ``periodic=``, are those of :meth:`Cells.leaves`.

    ``density``
        Cells denser than this take part.
    ``relevance``, ``difference``
        Peaks below this ratio of peak to saddle density, or below this difference, are noise. A ratio of 3 by default.
    ``saddle``
        Clumps that meet above this density are one halo. Without it every clump is its own halo.
    ``mass``
        Clumps of haloes up to this mass are not listed.
    ``rules``
        ``"paper"`` or ``"ramses"``.
    ``velocity``, ``mass_density``
        Velocities for mean velocities of clumps; a mass density where ``field`` is something else.
    ``name``
        What the catalogue calls the field.
    ``with_cells``
        The catalogue lists every leaf.
    ``threads``
        As many as this process may use by default. They never change a result.
    ``progress``
        True, False, a function of (stage, done, work), or None: a line on a terminal or in a notebook.
    """
    return Engine(threads).phew(
        Cells.leaves(levels, positions, threads=threads, **box),
        field,
        density=density,
        relevance=relevance,
        difference=difference,
        saddle=saddle,
        mass=mass,
        rules=rules,
        velocity=velocity,
        mass_density=mass_density,
        name=name,
        with_cells=with_cells,
        progress=progress,
    )


def phew_octs(
    levels: Any,
    positions: Any,
    splits: Any,
    field: Any,
    /,
    *,
    threads: Optional[int] = None,
    **options: Unpack[CellOptions],
) -> ClumpCatalogue:
    """Clumps and haloes of octs (:meth:`Cells.octs`). ``field`` has eight entries per oct. Options as in :func:`phew_cells`."""
    box, others = _split(options)
    return Engine(threads).phew(Cells.octs(levels, positions, splits, threads=threads, **box), field, **others)


def phew_grid(field: Any, /, *, threads: Optional[int] = None, **options: Unpack[CellOptions]) -> ClumpCatalogue:
    """Clumps and haloes of a three-dimensional array (:meth:`Cells.grid`), indexed by x, y, z. Labels have its shape.

    Options as in :func:`phew_cells`; ``velocity`` is three arrays of the same shape.
    """
    field = array(field)
    box, others = _split(options)
    return Engine(threads).phew(Cells.grid(field.shape, threads=threads, **box), field, **others)


def fof(source: Any, /, *, threads: Optional[int] = None, **options: Any) -> GroupCatalogue:
    """Friends-of-friends groups of particles.

    ``source`` is an array of positions of shape (n, 3), three arrays of n, or :class:`Particles` on disk.

    ``box``
        Side of the periodic box along x, which starts at 0. None: open boundaries for positions, and the box that an input on
        disk states.
    ``ratio``, ``length``
        The linking length, in mean separations (0.2 by default) or in the units of the positions.
    ``min_size``
        Least number of members, 20 by default.
    ``threads``, ``progress``
        As in :func:`phew_cells`.

    For positions only:

    ``ids``, ``masses``, ``velocities``
        One per particle. IDs decide between groups of equal size; else particles count from 0, with mass 1.
    ``attached``
        Particles with a flag other than 0 join the group of the nearest particle without one.
    ``coarse``, ``time``, ``units``, ``cosmology``
        As in :meth:`Cells.leaves`.

    For particles on disk only:

    ``linking_types``, ``attaching_types``
        Types that link, and types that join the group of the nearest particle that links. Dark matter, and none.
    ``is_open``
        Boundaries are open, even if the input is periodic.
    """
    return Engine(threads).fof(source, **options)


def read_catalogue(path: Union[str, "os.PathLike[str]"]) -> Catalogue:
    """A catalogue that the command ``inselberg`` or this package wrote: HDF5 or CSV."""
    native = _native.read_catalogue(os.fspath(path))
    names = {name for name, _, _ in native.layout()}
    if "clumps" in names:
        return ClumpCatalogue(native)
    return GroupCatalogue(native) if "Groups" in names else Catalogue(native)


def _split(options: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Options of the box, and all others."""
    box = {name: options[name] for name in options if name in BoxOptions.__annotations__}
    return box, {name: options[name] for name in options if name not in box}
