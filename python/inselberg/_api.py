"""The functions and classes that a user calls."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, TypedDict, TypeVar, Union

import numpy as np

from . import _native, _ranks
from ._arrays import as_file as as_array_file
from ._arrays import placed, with_absent_cells
from ._catalogues import Catalogue, ClumpCatalogue, GroupCatalogue, VoidCatalogue, read
from ._errors import InvalidArgumentError
from ._images import as_file, image_of
from ._options import check_known, has_keywords, split, texts
from ._parameters import (
    CellsOptions,
    AtlasOptions,
    CompareOptions,
    EngineOptions,
    FofOptions,
    FofTypesOptions,
    ParticlesOptions,
    PhewOptions,
    TreeOptions,
    VoidsOptions,
)
from ._progress import reporting
from ._sources import (
    BoxOptions,
    Cells,
    HeldOptions,
    ParticleGraph,
    ParticleMesh,
    Particles,
    Snapshot,
    Source,
    array,
    axes,
    geometry,
    optional,
    vectors,
)
from ._trees import MergerTree

if TYPE_CHECKING:
    from typing_extensions import Unpack


_Made = TypeVar("_Made")


class CellOptions(PhewOptions, BoxOptions):
    """Keywords of PHEW and of the box."""


class _Later(NamedTuple):
    """A source that is made within a call, so that a failure reaches all ranks."""

    make: Callable[[], Cells]


class Engine:
    """Threads and the mesh of the last cells, for many calls. ``threads=None``: as many as this process may use.

    With ``comm``, a communicator of mpi4py, the engine is one rank of several. It works on a duplicate of the communicator.
    Each call is then collective: all ranks make it, in the same order, each with its own cells or particles.
    It ends with a result on all ranks, or with an exception on all. ``stall_timeout`` and ``recover_timeout`` say for how many
    seconds ranks wait for each other: docs/parameters.md has the defaults.
    """

    @has_keywords(EngineOptions)
    def __init__(self, threads: Optional[int] = None, *, comm: Any = None, **options: Unpack[EngineOptions]) -> None:
        self._native = _ranks.native_engine(threads, comm, texts(EngineOptions, options))
        self._threads = threads
        self._place = _ranks.place(comm)
        self._has_ranks = comm is not None

    @has_keywords(PhewOptions)
    def phew(
        self,
        source: Union[Source, _Later],
        field: Any = None,
        /,
        *,
        velocity: Any = None,
        mass_density: Any = None,
        particles: Optional[Particles] = None,
        name: str = "density",
        progress: Any = None,
        **options: Unpack[PhewOptions],
    ) -> ClumpCatalogue:
        """PHEW on cells, an output, or the mesh made from particles. Parameters as in :func:`phew`."""
        arrays = dict(velocity=velocity, mass_density=mass_density, particles=particles)
        given = texts(PhewOptions, options)
        sources = []

        def request() -> Any:
            made = source.make() if isinstance(source, _Later) else source
            sources.append(made)
            if isinstance(made, Cells):
                return _request_on_cells(made, field, given, name, **arrays)
            if any(given is not None for given in arrays.values()):
                raise InvalidArgumentError("velocity, mass_density or particles for an output; expected them for cells only")
            return _request_on_disk(made, field, given)

        found = self._run(request, progress)
        cells = sources[0] if isinstance(sources[0], Cells) else None
        shape = None if cells is None else cells._shape
        return ClumpCatalogue(found, has_items=cells is not None, shape=shape, place=self._place)

    @has_keywords(FofOptions)
    def fof(
        self,
        source: Any,
        /,
        *,
        box: Optional[float] = None,
        progress: Any = None,
        **options: Any,
    ) -> GroupCatalogue:
        """Friends-of-friends of positions, or of particles on disk. Parameters as in :func:`fof`."""
        is_opened = isinstance(source, Particles)
        make = _groups_on_disk if is_opened else _groups_of_positions
        found = self._run(lambda: make(source, box, **options), progress)
        return GroupCatalogue(found, has_items=not is_opened or source.is_held, place=self._place)

    @has_keywords(HeldOptions)
    def hold_particles(self, positions: Any, /, **options: Unpack[HeldOptions]) -> Particles:
        """Copies of the particles of a program. Parameters as in :func:`hold_particles`."""
        keywords: Dict[str, Any] = dict(options)
        given = keywords.get

        def request() -> Any:
            check_known(HeldOptions, options)
            box, periodic = given("box"), given("periodic", True)
            if box is None:
                raise InvalidArgumentError("no box; expected the side of the box of the particles")
            return _native.Request.hold_particles(
                vectors(positions, "positions"),
                geometry(box, (1, 1, 1), periodic, given("time", 0.0), given("units"), given("cosmology")),
                ids=optional(given("ids"), "ids"),
                masses=optional(given("masses"), "masses"),
                velocities=optional(given("velocities"), "velocities", vectors),
                types=optional(given("types"), "types"),
                densities=optional(given("densities"), "densities"),
            )

        return Particles(self._run(request), [], is_held=True)

    @has_keywords(VoidsOptions)
    def voids(
        self,
        source: Union[Particles, ParticleGraph],
        /,
        *,
        progress: Any = None,
        **options: Unpack[VoidsOptions],
    ) -> VoidCatalogue:
        """Voids among particles on disk. Parameters as in :func:`voids`."""
        given = texts(VoidsOptions, options)

        def request() -> Any:
            graph = ParticleGraph(source, {}) if isinstance(source, Particles) else source
            if not isinstance(graph, ParticleGraph):
                expected = "opened particles or their graph"
                raise InvalidArgumentError(_no_source(source, expected, "open_particles"))
            return _native.Request.voids(graph.particles._native, graph.options, given)

        return VoidCatalogue(self._run(request, progress), place=self._place)

    @has_keywords(TreeOptions)
    def trees(self, **options: Unpack[TreeOptions]) -> MergerTree:
        """Over ranks collective: an empty merger tree. Parameters as in :func:`trees`."""
        given = texts(TreeOptions, options)
        return MergerTree(self._run(lambda: _native.Request.tree(given)), self._run)

    @has_keywords(CompareOptions)
    def compare(
        self, first: "Union[str, os.PathLike[str]]", second: "Union[str, os.PathLike[str]]", /, **options: Unpack[CompareOptions]
    ) -> Optional[Catalogue]:
        """Over ranks collective: pairs of the objects of two catalogues. Parameters as in :func:`compare`."""
        given = texts(CompareOptions, options)
        found = self._run(lambda: _native.Request.compare(os.fspath(first), os.fspath(second), given))
        return None if found is None else Catalogue(found)

    @has_keywords(AtlasOptions)
    def atlas(self, catalogue: "Union[str, os.PathLike[str]]", /, **options: Unpack[AtlasOptions]) -> Optional[Catalogue]:
        """Over ranks collective: what each threshold of a catalogue does. Parameters as in :func:`atlas`."""
        given = texts(AtlasOptions, options)
        found = self._run(lambda: _native.Request.atlas(os.fspath(catalogue), given))
        return None if found is None else Catalogue(found)

    def agree(self, make: Callable[[], _Made], /) -> _Made:
        """Over ranks collective: what ``make`` returns on this rank. If it raises an exception on one rank,
        all ranks raise it.

        For work of one rank that can fail before a call, such as ``engine.agree(lambda: Cells.leaves(levels, positions))``.
        """
        self._check_running()
        return self._native.agree(make)

    def close(self) -> None:
        """Over ranks collective: frees the communicator. Results can still be read, but not gathered, saved or cut again."""
        self._check_running()
        self._native.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        # Other ranks may not come here after an exception.
        if kind is None:
            self.close()

    def _run(self, make: Callable[[], Any], progress: Any = False) -> Any:
        self._check_running()
        # One line of progress suffices.
        quiet = progress is None and self._place.rank > 0
        with reporting(False if quiet else progress) as report:
            return self._native.run(make, report)

    def _check_running(self) -> None:
        if self._has_ranks:
            _ranks.check_running()


def _request_on_cells(
    cells: Cells,
    field: Any,
    options: Dict[str, Any],
    name: str,
    *,
    velocity: Any,
    mass_density: Any,
    particles: Optional[Particles],
) -> Any:
    if field is None:
        raise InvalidArgumentError("no field; expected one number per cell")
    if particles is not None and not isinstance(particles, Particles):
        raise InvalidArgumentError(_no_source(particles, "held or opened particles", "open_particles"))
    return _native.Request.phew(
        cells._native,
        array(field, "field"),
        options,
        velocity=optional(velocity, "velocity", axes),
        mass_density=optional(mass_density, "mass_density"),
        particles=None if particles is None else particles._native,
        name=name,
    )


def _request_on_disk(source: Source, field: Any, options: Dict[str, Any]) -> Any:
    if isinstance(source, Snapshot):
        if source.format == "FITS":
            # Labels of pixels need the cells.
            options = {"with_cells": "true", **options}
        return _native.Request.phew_snapshot(source._native, "auto" if field is None else field, options)
    mesh = source.mesh() if isinstance(source, Particles) else source
    if not isinstance(mesh, (ParticleMesh, ParticleGraph)):
        raise InvalidArgumentError(_no_source(source, "cells, an opened output or opened particles", "open"))
    if field is not None:
        raise InvalidArgumentError("a field for particles; expected none")
    if isinstance(mesh, ParticleGraph):
        return _native.Request.phew_graph(mesh.particles._native, mesh.options, options)
    return _native.Request.phew_particles(mesh.particles._native, mesh.options, options)


def _no_source(given: Any, expected: str, opens: str) -> str:
    if isinstance(given, (str, os.PathLike)):
        return f"{os.fspath(given)!r} is a path; expected {expected}: inselberg.{opens}({os.fspath(given)!r})"
    return f"{type(given).__name__} instead of a source; expected {expected}"


def _groups_of_positions(
    positions: Any,
    box: Optional[float],
    *,
    ids: Any = None,
    masses: Any = None,
    velocities: Any = None,
    attached: Any = None,
    coarse: Sequence[int] = (1, 1, 1),
    time: float = 0.0,
    units: Optional[Sequence[float]] = None,
    cosmology: Optional[Sequence[float]] = None,
    **options: Unpack[FofOptions],
) -> Any:
    if isinstance(positions, (str, os.PathLike)):
        raise InvalidArgumentError(_no_source(positions, "positions or opened particles", "open_particles"))
    return _native.Request.fof(
        vectors(positions, "positions"),
        geometry(1.0 if box is None else box, coarse, box is not None, time, units, cosmology),
        texts(FofOptions, options),
        ids=optional(ids, "ids"),
        masses=optional(masses, "masses"),
        velocities=optional(velocities, "velocities", vectors),
        attached=optional(attached, "attached"),
    )


def _groups_on_disk(particles: Particles, box: Optional[float], **options: Any) -> Any:
    given, types = split([FofOptions, FofTypesOptions], options if box is None else dict(options, box=box))
    return _native.Request.fof_particles(particles._native, types, given)


def _engine(threads: Optional[int], comm: Any) -> Engine:
    """For one call: a new engine, or the one that the communicator keeps."""
    if comm is None:
        return Engine(threads)
    engine = _ranks.kept(comm, lambda: Engine(threads, comm=comm))
    engine.agree(lambda: _check_threads(threads, engine._threads))
    return engine


def _check_threads(wanted: Optional[int], kept: Optional[int]) -> None:
    if wanted is not None and wanted != kept:
        had = "the default number" if kept is None else str(kept)
        message = f"{wanted} threads on a communicator whose first call had {had}; expected the same, or an Engine"
        raise InvalidArgumentError(message)


@has_keywords(CellsOptions)
def open(  # noqa: A001
    path: Union[str, "os.PathLike[str]"], *, comm: Any = None, **options: Unpack[CellsOptions]
) -> Snapshot:
    """An output with cells. Only its headers are read; :func:`phew` reads the rest.

    Options are values that the input does not state, such as ``periodic="xyz"``: docs/parameters.md lists
    them.
    With ``comm`` collective over a communicator of mpi4py: its first rank reads the headers for all.
    """
    engine = Engine(1) if comm is None else _engine(None, comm)
    given = texts(CellsOptions, options)
    return Snapshot(engine._run(lambda: _native.Request.open(os.fspath(path), given)), os.fspath(path))


@has_keywords(ParticlesOptions)
def open_particles(
    *paths: Union[str, "os.PathLike[str]"], comm: Any = None, **options: Unpack[ParticlesOptions]
) -> Particles:
    """Particles in the files of one input, by their headers: SWIFT, Gadget, RAMSES, or a plain array.

    Options are values that the input does not state, such as ``unit_length=3.085678e24``: docs/parameters.md
    lists them.
    ``comm`` as in :func:`open`.
    """
    given = texts(ParticlesOptions, options)
    engine, names = Engine(1) if comm is None else _engine(None, comm), [os.fspath(path) for path in paths]
    return Particles(engine._run(lambda: _native.Request.open_particles(names, given)), names)


@has_keywords(HeldOptions)
def hold_particles(positions: Any, /, *, comm: Any = None, **options: Unpack[HeldOptions]) -> Particles:
    """Copies of the particles of a program: an input of :func:`phew`, :func:`fof` and :func:`voids`, as if they were on disk.

    So groups have bound particles and spheres, and there are voids, meshes and graphs. As ``particles=`` of :func:`phew_cells` they
    are members of clumps of cells in the same box. Velocities and densities are kept in single precision.

    ``positions``
        An array of shape (n, 3), or three arrays of n.
    ``box``, ``periodic``
        The side of the box, which starts at 0, and whether it wraps around.
    ``masses``, ``velocities``, ``ids``
        One per particle. Calls that need what is left out refuse the particles; without IDs particles count from 0.
    ``types``
        By the numbers of Gadget: 0 gas, 1 dark matter, 4 stars, 5 black holes. All dark matter by default.
    ``densities``
        Of gas, as SPH codes have them.
    ``time``, ``units``, ``cosmology``
        As in :meth:`Cells.leaves`. Velocities are in units of length over time.
    ``comm``
        A communicator of mpi4py. The call is then collective, and each rank holds its own particles.
    """
    return (Engine(1) if comm is None else _engine(None, comm)).hold_particles(positions, **options)


@has_keywords(PhewOptions)
def phew(
    source: Source,
    field: Any = None,
    /,
    *,
    threads: Optional[int] = None,
    comm: Any = None,
    **options: Unpack[PhewOptions],
) -> ClumpCatalogue:
    """Clumps and haloes of an output, of cells with a field, or of the mesh made from particles.

    ``field`` is the name of a field of an output (by default the one that the command takes), or one number per cell.
    Options are those of :func:`phew_cells`, and for outputs with particles:

    ``with_particles``
        The catalogue lists every particle.
    ``unbind``
        The clumps have the properties of their gravitationally bound particles and gas cells. ``"spherical"``
        instead of ``True``: faster, by
        potentials of shells. ``"ramses"``: by RAMSES's own rules, with ``compat="ramses"``.
    ``properties``
        ``"basic"``, ``"bound"``, ``"so"``, ``"all"``, ``"gas"``, or several of them with commas, as for the command. All but ``"gas"``
        need ``unbind``; that is of the gas cells of an output, bound or not.
    ``with_members``
        With ``unbind``: the catalogue lists the bound particles and gas cells of each clump, the most bound first.
    ``central``
        Which clump of a halo is its central: ``"heaviest"``, or ``"densest"``, the main clump, to which losers of unbinding then go.
    ``potential_from``
        The types whose mass makes the potential: ``"all"``, or some of gas, dark-matter, stars and other, separated by commas.
    ``thermal_energy``
        Whether the thermal energy of gas cells counts.
    ``softening``
        One softening length for all particles, or a dictionary of lengths by type. By default that of the output, or else the
        side of the leaf around a particle.
    ``duplicate_ids``
        Whether particles of one type and halo may share an ID.
    ``gamma``
        The ratio of specific heats of gas cells. By default that of the output, and 5/3 where it states none above 1.

    Particles and the matter of cosmological outputs need no ``density_threshold`` and no ``saddle_threshold``; docs/using.md has the defaults.

    Densities and masses are in code units. On the mesh or graph of particles, thresholds are in mean densities of matter, or of the
    particles where the output states no cosmology or no units.
    """
    return _engine(threads, comm).phew(source, field, **options)


@has_keywords(PhewOptions, BoxOptions)
def phew_cells(
    levels: Any,
    positions: Any,
    field: Any,
    /,
    *,
    threads: Optional[int] = None,
    comm: Any = None,
    **options: Unpack[CellOptions],
) -> ClumpCatalogue:
    """Clumps and haloes of leaf cells, in any order.

    ``levels``, ``positions`` and ``field`` have one entry per leaf. Leaves at or below the density threshold may be left out.
    Options of the box, such as ``box=`` and ``periodic=``, are those of :meth:`Cells.leaves`.

    ``density_threshold``
        Cells denser than this take part.
    ``relevance_threshold``, ``relevance_difference``
        Peaks below this ratio of peak to saddle density, or below this difference, are noise. A ratio of 3 by default.
    ``saddle_threshold``
        Clumps that meet above this density are one halo. Without it every clump is its own halo.
    ``mass_threshold``
        Clumps of haloes up to this mass are not listed.
    ``min_cells``
        Clumps of haloes with fewer leaf cells are not listed.
    ``compat``
        ``"paper"`` or ``"ramses"``.
    ``particles``
        Particles in the same box (:func:`hold_particles`, :func:`open_particles`): members of clumps, for ``unbind``,
        ``with_particles`` and ``min_particles``.
    ``velocity``, ``mass_density``
        Velocities for mean velocities of clumps; a mass density if ``field`` is something else.
    ``name``
        The name of the field in the catalogue.
    ``with_cells``
        The catalogue lists every leaf.
    ``threads``
        As many as this process may use by default. They never change a result.
    ``comm``
        A communicator of mpi4py. The call is then collective. Each rank hands over its own cells and gets their labels. The
        communicator keeps an engine for later calls, with the threads of the first one.
    ``progress``
        True, False, a function of (stage, done, work), or None: a line on a terminal or in a notebook.
    """
    box, others = _split(options)
    cells = _Later(lambda: Cells.leaves(levels, positions, threads=threads, **box))
    return _engine(threads, comm).phew(cells, field, **others)


@has_keywords(PhewOptions, BoxOptions)
def phew_octs(
    levels: Any,
    positions: Any,
    splits: Any,
    field: Any,
    /,
    *,
    threads: Optional[int] = None,
    comm: Any = None,
    **options: Unpack[CellOptions],
) -> ClumpCatalogue:
    """Clumps and haloes of octs (:meth:`Cells.octs`). ``field`` has eight entries per oct. Options as in :func:`phew_cells`."""
    box, others = _split(options)
    cells = _Later(lambda: Cells.octs(levels, positions, splits, threads=threads, **box))
    return _engine(threads, comm).phew(cells, field, **others)


@has_keywords(PhewOptions, BoxOptions)
def phew_grid(
    field: Any,
    /,
    *,
    wcs: Any = None,
    start: Sequence[int] = (0, 0, 0),
    whole: Optional[Sequence[int]] = None,
    threads: Optional[int] = None,
    comm: Any = None,
    **options: Unpack[CellOptions],
) -> ClumpCatalogue:
    """Clumps and haloes of a three-dimensional array (:meth:`Cells.grid`), indexed by x, y, z. Labels have its shape.

    Over ranks each has a part of a grid of shape ``whole``, from the cell ``start`` on. Options as in :func:`phew_cells`;
    ``velocity`` is three arrays of the same shape.

    In one process, arrays may have two axes, any lengths, and absent cells: masked ones, and NaN. Such arrays take ``box`` and
    ``periodic`` (images neither), no other options of the box, no velocities and no particles. Absent cells have the label 0.

    With ``wcs``, a WCS of astropy or a header of FITS, the array is an image or cube in astropy's order, the first axis of the
    header last: pixels may be NaN, and catalogues have the columns of observers. So is a cube of spectral-cube, which has its own
    coordinates. Needs astropy.
    """
    image = image_of(field, wcs)
    if image is not None:
        if comm is not None:
            raise InvalidArgumentError("wcs over ranks; expected a FITS file, which ib.open opens")
        # Options of the box are refused there: an image has its own.
        keywords: Dict[str, Any] = dict(options)
        return as_file(*image, lambda path: phew(open(path), threads=threads, **keywords))
    whole_field = comm is None and whole is None and tuple(start) == (0, 0, 0)
    values = with_absent_cells(field) if whole_field else None
    if values is not None:
        return _phew_with_absent_cells(values, threads, **options)
    box, others = _split(options)

    def grid() -> Cells:
        return Cells.grid(array(field, "field").shape, start=start, whole=whole, threads=threads, **box)

    return _engine(threads, comm).phew(_Later(grid), field, **others)


def _phew_with_absent_cells(
    values: np.ndarray,
    threads: Optional[int],
    box: Optional[float] = None,
    periodic: Union[None, bool, Sequence[bool]] = None,
    **options: Any,
) -> ClumpCatalogue:
    """PHEW on an array that is no whole octree. An image has no box, and its lengths are pixels."""
    refused = {"velocity", "mass_density", "particles", "name", *BoxOptions.__annotations__} & {
        name for name, value in options.items() if value is not None
    }
    if refused:
        raise InvalidArgumentError(f"{', '.join(sorted(refused))} for an array with absent cells or of this shape; expected none")
    about: Dict[str, Any] = dict(image=True)
    if values.ndim == 3:
        axes = [periodic is not False] * 3 if periodic is None or isinstance(periodic, (bool, np.bool_)) else list(periodic)
        wraps = "".join(letter for letter, wraps in zip("xyz", axes) if wraps)
        about = dict(periodic=wraps or "none", spacing=(1.0 if box is None else float(box)) / values.shape[0])
    elif box is not None or periodic is not None:
        raise InvalidArgumentError("box or periodic for an image; expected neither")

    def find(path: str) -> ClumpCatalogue:
        return phew(open(path, **about), threads=threads, **{**options, "with_cells": True})

    found: ClumpCatalogue = as_array_file(values, find)
    cells = found["cells"]
    for name, column in (("labels", "clump"), ("halo_labels", "halo")):
        found._found[name] = placed(cells[column], cells["ijk"], values.shape)
        found._found[name].flags.writeable = False
    return found


@has_keywords(FofOptions, FofTypesOptions)
def fof(source: Any, /, *, threads: Optional[int] = None, comm: Any = None, **options: Any) -> GroupCatalogue:
    """Friends-of-friends groups of particles.

    ``source`` is an array of positions of shape (n, 3), three arrays of n, or :class:`Particles` on disk.

    ``box``
        Side of the periodic box along x, which starts at 0. None: open boundaries for positions, and the box that an input on
        disk states.
    ``linking_ratio``, ``linking_length``
        The linking length, in mean separations (0.2 by default) or in the units of the positions.
    ``min_size``
        Least number of members, 20 by default.
    ``threads``, ``comm``, ``progress``
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
        Types that link, and types that join the group of the nearest particle that links. Dark matter, and gas, stars and black holes as far as they do not link.
    ``open``
        Boundaries are open, even if the input is periodic.
    ``properties``
        Further columns of groups: ``"so"``, ``"bound"``, ``"so,bound"`` or other words of the command's ``--properties``.
    ``potential``, ``softening``
        How potentials of bound particles are computed, ``"tree"`` or ``"spherical"``, and the softening length of all particles in
        the units of the positions. None: a fifth of the linking length.
    ``with_members``
        The catalogue lists the bound particles of each group, the most bound first.
    """
    return _engine(threads, comm).fof(source, **options)


@has_keywords(VoidsOptions)
def voids(
    source: Union[Particles, ParticleGraph], /, *, threads: Optional[int] = None, comm: Any = None, **options: Any
) -> VoidCatalogue:
    """Voids among particles, their zones and their hierarchy.

    ``source`` is :class:`Particles` on disk, which get 32 neighbours each, or their graph (:meth:`Particles.graph`).

    ``relevance_threshold``
        Zones with a smaller ratio of wall to least density are noise. 2 by default.
    ``wall_threshold``
        Zones that meet below this density are one void. 0.2 mean densities by default. None: every zone is a void.
    ``density_threshold``
        Only particles less dense than this take part, in mean densities. By default all do.
    ``min_radius``, ``min_particles``
        Voids of smaller effective radius or of fewer particles are not listed.
    ``with_particles``
        The catalogue lists every particle with its zone and void.
    ``threads``, ``comm``, ``progress``
        As in :func:`phew_cells`.
    """
    return _engine(threads, comm).voids(source, **options)


@has_keywords(TreeOptions)
def trees(
    *, threads: Optional[int] = None, comm: Any = None, **options: Unpack[TreeOptions]
) -> MergerTree:
    """An empty merger tree, to which outputs are added one after another. It keeps tracers from call to call.

    ``gap``
        Number of outputs in which an object may be missing.
    ``tracers``
        Number of most bound dark matter and star members that are compared.
    ``orphans``
        Whether the most bound member of an object that is gone is followed until it merges.
    ``threads``, ``comm``
        As in :func:`phew_cells`.
    """
    return _engine(threads, comm).trees(**options)


@has_keywords(CompareOptions)
def compare(
    first: Union[str, "os.PathLike[str]"],
    second: Union[str, "os.PathLike[str]"],
    /,
    *,
    threads: Optional[int] = None,
    comm: Any = None,
    **options: Unpack[CompareOptions],
) -> Optional[Catalogue]:
    """Which objects of two catalogues of one snapshot are the same: of files of this program, of Gadget-4's SUBFIND or of Rockstar.

    Returns a table per level that both have, such as ``clumps`` and ``haloes``: pairs of best partners with both sides, their
    score and number of common members, and objects without a partner. Over ranks None on all ranks but the first. For two
    catalogues of this program, the attribute ``first_difference`` names the first value that differs.

    ``least_members``, ``least_score``, ``least_share``
        Sizes and scores that count in the statistics of the command ``inselberg compare``. The tables have all objects.
    ``match_distance``
        Without members, the distance up to which objects can be the same, in code lengths of the first catalogue.
    ``shift``
        Added to all coordinates of the second catalogue.
    ``threads``, ``comm``
        As in :func:`phew_cells`.
    """
    return _engine(threads, comm).compare(first, second, **options)


@has_keywords(AtlasOptions)
def atlas(
    catalogue: Union[str, "os.PathLike[str]"],
    /,
    *,
    threads: Optional[int] = None,
    comm: Any = None,
    **options: Unpack[AtlasOptions],
) -> Optional[Catalogue]:
    """What each threshold of a catalogue of clumps in a file does. No snapshot is read: its merge tree is cut again and again.

    Returns a table per threshold, such as ``relevance`` and ``saddle``, with the numbers of clumps, haloes and levels, the mass in
    haloes and the slopes at each value; their mass functions, as ``saddle_mass_function``; the ranges in which numbers change
    little, as ``saddle_plateaus``; and pairs, as ``relevance_saddle``. Over ranks None on all ranks but the first.

    ``values_per_decade``
        Values of each threshold per factor of ten.
    ``pair_values``
        Values of each threshold where two vary; 0 leaves pairs out.
    ``density_values``
        Values of the density threshold, for a catalogue with cells; each takes as long as a search. 0 leaves it out.
    ``threads``, ``comm``
        As in :func:`phew_cells`.
    """
    return _engine(threads, comm).atlas(catalogue, **options)


def read_catalogue(path: Union[str, "os.PathLike[str]"]) -> Catalogue:
    """A catalogue that the command ``inselberg`` or this package wrote: HDF5 or CSV."""
    return read(os.fspath(path))


def _split(options: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Options of the box, and all others."""
    box = {name: options[name] for name in options if name in BoxOptions.__annotations__}
    return box, {name: options[name] for name in options if name not in box}
