"""Inputs of PHEW and friends-of-friends: cells in memory, and outputs on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypedDict, Union

import numpy as np

from . import _native
from ._errors import InvalidArgumentError
from ._options import has_keywords, texts
from ._parameters import GraphOptions, MeshOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack



class Units(NamedTuple):
    """One code unit of length, density and time in cgs."""

    length: float
    density: float
    time: float


class Cosmology(NamedTuple):
    """Expansion factor, Hubble constant in km/s/Mpc, density parameters, and w0 and wa of dark energy.

    Massive neutrinos, ``omega_nu``, are not part of ``omega_m``.
    """

    aexp: float
    h0: float
    omega_m: float
    omega_l: float
    omega_k: float = 0.0
    omega_b: float = 0.0
    omega_r: float = 0.0
    omega_nu: float = 0.0
    w0: float = -1.0
    wa: float = 0.0


class BoxOptions(TypedDict, total=False):
    """Keywords for the box of the cells."""

    box: float
    coarse: Sequence[int]
    periodic: Union[bool, Sequence[bool]]
    time: float
    units: Optional[Sequence[float]]
    cosmology: Optional[Sequence[float]]


class HeldOptions(TypedDict, total=False):
    """Keywords of held particles."""

    box: float
    periodic: bool
    masses: Any
    velocities: Any
    ids: Any
    types: Any
    densities: Any
    time: float
    units: Optional[Sequence[float]]
    cosmology: Optional[Sequence[float]]


class Cells:
    """The cells of a program: levels and integer positions, in any order. Immutable.

    ``Cells.leaves``, ``Cells.octs`` and ``Cells.grid`` make them. An :class:`Engine` keeps the mesh of the
    last cells, so that the next step on the same cells needs no new mesh.
    """

    def __init__(self, native: Any, about_box: Dict[str, Any], shape: Optional[Tuple[int, ...]] = None) -> None:
        self._native = native
        self._box = about_box
        self._shape = shape

    def at(
        self,
        *,
        time: Optional[float] = None,
        box: Optional[float] = None,
        units: Optional[Sequence[float]] = None,
        cosmology: Optional[Sequence[float]] = None,
    ) -> "Cells":
        """The same cells at another time, for the catalogues of the next calls. What is not given stays as it was.

        An :class:`Engine` keeps the mesh.
        """
        old = self._box
        about_box = geometry(
            old["side"] * old["coarse"][0] if box is None else box,
            old["coarse"],
            old["periodic"],
            old["time"] if time is None else time,
            old["units"] if units is None else units,
            old["cosmology"] if cosmology is None else cosmology,
        )
        return Cells(self._native.at(about_box), about_box, self._shape)

    @classmethod
    def leaves(
        cls,
        levels: Any,
        positions: Any,
        *,
        box: float = 1.0,
        coarse: Sequence[int] = (1, 1, 1),
        periodic: Union[bool, Sequence[bool]] = True,
        time: float = 0.0,
        units: Optional[Sequence[float]] = None,
        cosmology: Optional[Sequence[float]] = None,
        threads: Optional[int] = None,
    ) -> "Cells":
        """Leaves: the level of each, and its position on the grid of that level.

        ``box`` is the side of the box along x, with ``coarse[0]`` cells of level 0. ``positions`` has the shape (n, 3), or
        is three arrays of n.
        """
        about_box = geometry(box, coarse, periodic, time, units, cosmology)
        return cls(_native.Cells.leaves(array(levels, "levels"), vectors(positions, "positions"), about_box, threads), about_box)

    @classmethod
    def octs(
        cls,
        levels: Any,
        positions: Any,
        splits: Any,
        *,
        box: float = 1.0,
        coarse: Sequence[int] = (1, 1, 1),
        periodic: Union[bool, Sequence[bool]] = True,
        time: float = 0.0,
        units: Optional[Sequence[float]] = None,
        cosmology: Optional[Sequence[float]] = None,
        threads: Optional[int] = None,
    ) -> "Cells":
        """Octs of 2x2x2 cells, as RAMSES keeps them: those of a whole octree.

        Each oct has the level of its cells, its position on the grid of the level above, and a mask of its
        split cells: bit c for the cell at ``2 * position + (c & 1, c >> 1 & 1, c >> 2 & 1)``. Values and
        labels have eight entries per oct.
        """
        about_box = geometry(box, coarse, periodic, time, units, cosmology)
        given = array(levels, "levels"), vectors(positions, "positions"), array(splits, "splits")
        return cls(_native.Cells.octs(*given, about_box, threads), about_box)

    @classmethod
    def grid(
        cls,
        shape: Sequence[int],
        *,
        start: Sequence[int] = (0, 0, 0),
        whole: Optional[Sequence[int]] = None,
        box: float = 1.0,
        periodic: Union[bool, Sequence[bool]] = True,
        time: float = 0.0,
        units: Optional[Sequence[float]] = None,
        cosmology: Optional[Sequence[float]] = None,
        threads: Optional[int] = None,
    ) -> "Cells":
        """A uniform grid of cubic cells: the whole box, or a rank's part of it.

        ``shape`` has three even numbers; ``box`` is the side of the box along x. A part begins at the cell ``start``, also
        three even numbers, of a grid of shape ``whole``. A part without cells has a 0 in its shape.
        """
        part, begin = _three("a grid of shape", shape, 0), _three("a grid from cell", start, 0)
        everything = part if whole is None else _three("a whole grid of shape", whole, 2)
        if whole is None:
            _three("a grid of shape", shape, 2)
        # The deepest level at which the numbers of cells are whole on level 0.
        level = min((n & -n).bit_length() - 1 for n in everything)
        coarse = [n >> level for n in everything]
        about_box = geometry(box, coarse, periodic, time, units, cosmology)
        return cls(_native.Cells.grid(level, begin, part, about_box, threads), about_box, part)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<{len(self)} cells>" if self._shape is None else f"<grid of {self._shape} cells>"


class Snapshot:
    """An output with cells, such as the folder ``output_00080`` of RAMSES. Only its headers have been read."""

    def __init__(self, native: Any, path: str) -> None:
        self._native = native
        self.path = path
        about = native.about()
        self.format: str = about["format"]
        #: Its number, where the format has one.
        self.number: Optional[int] = about["number"]
        #: The coarsest level of leaves, and the deepest that it may hold.
        self.levels: Tuple[int, int] = tuple(about["levels"])
        #: Names of its cell quantities.
        self.fields: List[str] = about["fields"]
        self.has_particles: bool = about["has_particles"]
        #: Lengths of the box along the axes.
        self.sides: Tuple[float, ...] = tuple(about["sides"])
        self.periodic: Tuple[bool, ...] = tuple(about["periodic"])
        self.time: float = about["time"]
        self.units = None if about["units"] is None else Units(*about["units"])
        self.cosmology = None if about["cosmology"] is None else Cosmology(*about["cosmology"])

    @property
    def redshift(self) -> Optional[float]:
        """None without a cosmology."""
        return None if self.cosmology is None else 1 / self.cosmology.aexp - 1

    def __repr__(self) -> str:
        redshift = "" if self.redshift is None else f", redshift {self.redshift:.4g}"
        fields = ", ".join(self.fields) or "none"
        return f"<{self.format} snapshot {self.path}: levels {self.levels[0]} to {self.levels[1]}, fields {fields}{redshift}>"


class ParticleMesh(NamedTuple):
    """Particles with the mesh that PHEW makes of them (:meth:`Particles.mesh`)."""

    particles: "Particles"
    options: Dict[str, str]


class ParticleGraph(NamedTuple):
    """Particles linked to their nearest neighbours (:meth:`Particles.graph`)."""

    particles: "Particles"
    options: Dict[str, str]


class Particles:
    """Particles on disk, in the files of one input, of which only the headers have been read; or copies of those of a program."""

    def __init__(self, native: Any, paths: List[str], is_held: bool = False) -> None:
        self._native = native
        self.paths = paths
        #: Whether they are copies in memory (:func:`hold_particles`). Groups of them have labels.
        self.is_held = is_held
        about = native.about()
        self.format: str = about["format"]
        #: Lengths of the box along the axes; None if the input does not state them.
        self.sides: Optional[Tuple[float, ...]] = None if about["sides"] is None else tuple(about["sides"])
        self.time: float = about["time"]
        #: The number of particles of each species.
        self.species: Dict[str, int] = about["species"]

    @has_keywords(MeshOptions)
    def mesh(self, **options: Unpack[MeshOptions]) -> ParticleMesh:
        """The mesh for :func:`phew`. Cells with more than ``m_refine`` particles are split, from level ``level_min`` on.

        ``particle_types`` has the numbers of Gadget: 0 gas, 1 dark matter, 4 stars, 5 black holes. ``box`` is the side of the box of
        inputs that state none.
        """
        return ParticleMesh(self, texts(MeshOptions, options))

    @has_keywords(GraphOptions)
    def graph(self, **options: Unpack[GraphOptions]) -> ParticleGraph:
        """The graph for :func:`phew` and :func:`voids`: each particle with its nearest neighbours, 1 to 254.

        By default 16 for clumps and 32 for voids. ``given_density``: densities are those of the input, as SPH codes store them for
        gas. ``particle_types`` and ``box`` as in :meth:`mesh`.
        """
        return ParticleGraph(self, texts(GraphOptions, options))

    def __repr__(self) -> str:
        species = ", ".join(f"{n} {name}" for name, n in self.species.items())
        return f"<{self.format} particles {self.paths[0]}: {species}>" if self.paths else f"<held particles: {species}>"


def _three(what: str, numbers: Sequence[int], least: int) -> Tuple[int, ...]:
    """Even numbers along the axes."""
    found = tuple(int(n) for n in numbers)
    if len(found) != 3 or any(n < least or n % 2 for n in found):
        raise InvalidArgumentError(f"{what} {found}; expected three even numbers from {least}")
    return found


#: What PHEW takes.
Source = Union[Cells, Snapshot, Particles, ParticleMesh, ParticleGraph]


def geometry(
    box: float,
    coarse: Sequence[int],
    periodic: Union[bool, Sequence[bool]],
    time: float,
    units: Optional[Sequence[float]],
    cosmology: Optional[Sequence[float]],
) -> Dict[str, Any]:
    """The box, as the native half takes it."""
    coarse = [int(n) for n in coarse]
    if len(coarse) != 3 or min(coarse) < 1:
        raise InvalidArgumentError(f"{coarse} cells of level 0; expected three numbers from 1")
    axes = [periodic] * 3 if isinstance(periodic, (bool, np.bool_)) else list(periodic)
    return {
        "side": float(box) / coarse[0],
        "coarse": coarse,
        "periodic": [bool(axis) for axis in axes],
        "time": float(time),
        "units": None if units is None else tuple(Units(*units)),
        "cosmology": None if cosmology is None else tuple(Cosmology(*cosmology)),
    }


def array(values: Any, what: str) -> np.ndarray:
    """An array as it is; what is not one as a new one, in the byte order of the machine.

    Takes what NumPy takes, and arrays of other libraries in main memory (DLPack). Masked values have no meaning here: they are
    refused.
    """
    is_known = isinstance(values, np.ndarray) or hasattr(values, "__array__") or hasattr(values, "__array_interface__")
    try:
        found = np.asanyarray(np.from_dlpack(values) if hasattr(values, "__dlpack__") and not is_known else values)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{what}: {error}; expected numbers in main memory") from None
    if isinstance(found, np.ma.MaskedArray):
        n_masked = int(np.count_nonzero(np.ma.getmaskarray(found)))
        if n_masked:
            raise InvalidArgumentError(f"{what} has {n_masked} masked values; expected a number for each cell or particle")
    found = np.asarray(found)
    if found.dtype == np.float16:
        return found.astype(np.float32)
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def vectors(values: Any, what: str) -> Any:
    """Vectors as an array of shape (n, 3), or as three arrays of n."""
    if isinstance(values, (tuple, list)) and len(values) == 3 and all(hasattr(v, "shape") for v in values):
        return [array(axis, what) for axis in values]
    return array(values, what)


def axes(values: Any, what: str) -> Any:
    """Vectors as an array per axis."""
    given = vectors(values, what)
    if isinstance(given, list):
        return given
    if given.ndim < 2 or given.shape[-1] != 3:
        raise InvalidArgumentError(f"{what} has the shape {given.shape}; expected 3 along the last axis")
    return [given[..., axis] for axis in range(3)]


def optional(values: Any, what: str, form: Callable[[Any, str], Any] = array) -> Any:
    """Values in the form that they have to have, or None."""
    return None if values is None else form(values, what)
