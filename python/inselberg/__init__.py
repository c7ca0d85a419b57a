"""Clumps, haloes and their hierarchy of substructure (PHEW), and friends-of-friends groups, on NumPy arrays.

>>> import numpy as np, inselberg as ib
>>> rho = np.array([2.0, 9.0, 4.0, 7.0, 3.0, 0.5])
>>> positions = np.array([[x, 4, 4] for x in range(6)])
>>> cat = ib.phew_cells(np.full(6, 3), positions, rho, density=1.0, relevance=1.2, saddle=5.0)
>>> cat.labels
array([1, 1, 1, 2, 2, 0])
"""

from ._api import (
    Engine,
    atlas,
    compare,
    fof,
    hold_particles,
    open_particles,
    phew,
    phew_cells,
    phew_grid,
    phew_octs,
    read_catalogue,
    trees,
    voids,
)
from ._api import open as open  # not in __all__: a star import keeps the built-in one
from ._catalogues import Catalogue, Clump, ClumpCatalogue, Group, GroupCatalogue, Halo, VoidCatalogue
from ._errors import (
    CancelledError,
    CommunicationError,
    ForkedError,
    InselbergError,
    InternalError,
    InvalidArgumentError,
    InvalidCellsError,
    InvalidValueError,
    OutOfMemoryError,
    ReadError,
    TimedOutError,
    WriteError,
)
from ._native import __version__ as __version__
from ._sources import Cells, Cosmology, ParticleGraph, ParticleMesh, Particles, Snapshot, Units
from ._tables import Column, Row, Table
from ._trees import MergerTree

__all__ = [
    "Catalogue",
    "CancelledError",
    "Cells",
    "Clump",
    "ClumpCatalogue",
    "Column",
    "CommunicationError",
    "Cosmology",
    "Engine",
    "ForkedError",
    "Group",
    "GroupCatalogue",
    "Halo",
    "InselbergError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidCellsError",
    "InvalidValueError",
    "MergerTree",
    "OutOfMemoryError",
    "ParticleGraph",
    "ParticleMesh",
    "Particles",
    "ReadError",
    "Row",
    "Snapshot",
    "Table",
    "TimedOutError",
    "Units",
    "VoidCatalogue",
    "WriteError",
    "atlas",
    "compare",
    "fof",
    "hold_particles",
    "open_particles",
    "phew",
    "phew_cells",
    "phew_grid",
    "phew_octs",
    "read_catalogue",
    "trees",
    "voids",
]
