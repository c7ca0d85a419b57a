"""Merger trees that grow output by output."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Sequence, Union

from . import _native
from ._catalogues import Catalogue
from ._sources import array, geometry, optional, vectors


class MergerTree:
    """A merger tree that grows output by output (:func:`trees`). Outputs are added in the order of time.

    Adding an output and saving are collective over the ranks of the engine. After an exception the tree is as
    before. Ctrl-C may come too late to prevent that an output is added: ``n_outputs`` counts those of the
    tree.
    """

    def __init__(self, native: Any, run: Callable[..., Any]) -> None:
        self._native = native
        self._run = run

    def add(self, found: Catalogue, number: int, *, progress: Any = False) -> None:
        """Adds the clumps or groups of a call with ``with_members=True``, as those of the output with this number."""
        self._run(lambda: _native.Request.tree_add(self._native, number, found._of), progress)

    def add_files(self, *paths: Union[str, "os.PathLike[str]"], progress: Any = False) -> None:
        """Adds two catalogues with members or more, in files. They are sorted by the times that they
        state."""
        names = [os.fspath(path) for path in paths]
        self._run(lambda: _native.Request.tree_add_files(self._native, names), progress)

    def add_objects(
        self,
        number: int,
        ids: Any,
        n_members: Any,
        members: Any,
        /,
        *,
        offsets: Any = None,
        types: Any = None,
        parents: Any = None,
        masses: Any = None,
        positions: Any = None,
        velocities: Any = None,
        box: float = 1.0,
        coarse: Sequence[int] = (1, 1, 1),
        time: float = 0.0,
        units: Optional[Sequence[float]] = None,
        cosmology: Optional[Sequence[float]] = None,
        progress: Any = False,
    ) -> None:
        """Adds objects that were found elsewhere, as those of the output with this number.

        ``ids``, ``n_members``
            Of each object its identifier, an integer from 0 to below 2**40, and its number of bound members.
        ``members``
            Integer identities of all members, object by object, those of an object with the most bound first.
        ``offsets``
            Of each object the place of its first member in ``members``, where members do not stand object by object.
        ``types``
            Of each member its type: 0 gas, 1 dark matter, 4 stars, 5 other. Dark matter by default.
        ``parents``
            Of each object the identifier of the object that it is in, or its own one.
        ``masses``, ``positions``, ``velocities``
            Of each object, for the table. 0 by default.
        ``box``, ``coarse``, ``time``, ``units``, ``cosmology``
            As in :meth:`Cells.leaves`. The time, or the expansion factor, rises from output to output.

        Over ranks each object is on one rank, with all its members.
        """

        def request() -> Any:
            return _native.Request.tree_add_objects(
                self._native,
                number,
                geometry(box, coarse, True, time, units, cosmology),
                array(ids, "ids"),
                array(n_members, "n_members"),
                array(members, "members"),
                offsets=optional(offsets, "offsets"),
                types=optional(types, "types"),
                parents=optional(parents, "parents"),
                masses=optional(masses, "masses"),
                positions=optional(positions, "positions", vectors),
                velocities=optional(velocities, "velocities", vectors),
            )

        self._run(request, progress)

    def catalogue(self) -> Optional[Catalogue]:
        """The tree so far: the tables ``snapshots`` and ``nodes``. Over ranks local: None on all ranks but the first."""
        native = self._native.catalogue()
        return None if native is None else Catalogue(native)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the tree so far to a file, ``.hdf5`` or ``.csv``, as ``inselberg tree`` does. More outputs may follow."""
        self._native.write(os.fspath(path))

    @property
    def n_outputs(self) -> int:
        """Number of outputs so far."""
        return self._native.n_outputs()

    def __repr__(self) -> str:
        return f"<MergerTree of {self.n_outputs} outputs>"
