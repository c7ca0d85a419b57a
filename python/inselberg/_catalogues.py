"""What calls return: clumps and haloes with their hierarchy, groups, and voids."""

from __future__ import annotations

import html
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _native
from ._arrays import placed
from ._errors import InvalidArgumentError
from ._options import has_keywords, texts
from ._parameters import RecutOptions, RecutVoidsOptions
from ._ranks import Place
from ._sources import Particles, array
from ._tables import Column, Row, Table

if TYPE_CHECKING:
    from typing_extensions import Unpack



class _Member(Row):
    """A row of a catalogue."""

    #: The column of the identifiers.
    _identifiers = "id"

    def __init__(self, table: Table, number: int, catalogue: Any) -> None:
        super().__init__(table, number)
        self._catalogue = catalogue

    def _identifier(self) -> int:
        return int(self[self._identifiers])

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or self._catalogue is not other._catalogue:
            return False
        return self._identifier() == other._identifier()

    def __hash__(self) -> int:
        return hash((id(self._catalogue), self._identifier()))


class Clump(_Member):
    """A row of ``cat.clumps``: its columns, its place in the hierarchy, and its cells."""

    _catalogue: "ClumpCatalogue"

    @property
    def is_main(self) -> bool:
        """Whether it is the main clump of its halo."""
        return bool(self["parent"] == self["id"])

    @property
    def parent(self) -> Optional["Clump"]:
        """The clump that it merges into; None for the main clump of a halo."""
        return None if self.is_main else self._catalogue.clump(int(self["parent"]))

    @property
    def children(self) -> List["Clump"]:
        """The clumps that merge into it, by falling peak density."""
        return self._catalogue._children(int(self["id"]))

    @property
    def halo(self) -> "Halo":
        """Its halo."""
        return self._catalogue.halo(int(self["halo"]))

    def walk(self) -> Iterator["Clump"]:
        """This clump and all below it, each before its children."""
        waiting = [self]
        while waiting:
            clump = waiting.pop()
            yield clump
            waiting.extend(reversed(clump.children))

    def cells(self) -> np.ndarray:
        """Indices of its cells in the arrays that were handed over."""
        return self._catalogue.cells(self)

    def __repr__(self) -> str:
        return f"<clump {self['id']} of halo {self['halo']}: mass {self['mass']:.6g}>"


class Halo(_Member):
    """A row of ``cat.haloes``: its columns, its clumps and its cells."""

    _catalogue: "ClumpCatalogue"

    @property
    def main(self) -> Clump:
        """Its main clump, which has the same identifier."""
        return self._catalogue.clump(int(self["id"]))

    @property
    def clumps(self) -> List[Clump]:
        """All its clumps, by falling peak density."""
        self._catalogue._check_all_rows("the clumps of a halo")
        clumps = self._catalogue.clumps
        return [clumps[row] for row in np.flatnonzero(clumps["halo"] == self["id"])]

    def walk(self) -> Iterator[Clump]:
        """Its clumps, each before its children."""
        return self.main.walk()

    def cells(self) -> np.ndarray:
        """Indices of its cells in the arrays that were handed over."""
        return self._catalogue.cells(self)

    def __repr__(self) -> str:
        return f"<halo {self['id']}: mass {self['mass']:.6g}>"


class Group(_Member):
    """A row of ``cat.groups``: its columns and its members."""

    _catalogue: "GroupCatalogue"
    _identifiers = "GroupIDs"

    def members(self) -> np.ndarray:
        """Indices of its particles in the arrays that were handed over."""
        return self._catalogue.members(self)

    def __repr__(self) -> str:
        return f"<group {self['GroupIDs']}: {self['Sizes']} members>"


class Catalogue:
    """Tables with the attributes of the run that made them."""

    #: The class of the rows of some tables.
    _members: Dict[str, Any] = {}

    def __init__(
        self, native: Any, has_items: bool = False, place: Place = Place(0, 1), call: Optional["Catalogue"] = None
    ) -> None:
        self._native = native
        #: The native result of the call, which knows the labels: another one for a catalogue that was gathered.
        self._of: Any = native if call is None else call._of
        #: Whether cells or particles were handed over, which have labels.
        self._has_items = has_items
        #: Tables have the rows of this rank.
        self._place = place
        #: Rows of each table on all ranks.
        self.totals: Dict[str, int] = {}
        self._found: Dict[str, Any] = {}
        #: Provenance, parameters, units and totals.
        self.attributes: Dict[str, Any] = native.attributes()
        self._layout: Dict[str, Tuple[int, List[Column]]] = {}
        for number, (name, n_rows, n_total, heads) in enumerate(native.layout()):
            self.totals[name] = n_total
            columns = [
                Column(name_of, units, cgs, about, _Loader(native, number, i))
                for i, (name_of, units, cgs, about) in enumerate(heads)
            ]
            self._layout[name] = n_rows, columns

    def __copy__(self) -> Any:
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, attributes=dict(self.attributes))
        return other

    def __deepcopy__(self, _: Any) -> Any:
        # All but the dictionary of attributes is immutable.
        return self.__copy__()

    def __reduce__(self) -> Any:
        self._check_all_rows("a pickle")
        with tempfile.TemporaryDirectory(prefix="inselberg-") as folder:
            path = os.path.join(folder, "catalogue.hdf5")
            self.save(path)
            with open(path, "rb") as file:
                return _restored, (file.read(), self._kept())

    def _kept(self) -> Dict[str, Any]:
        """What a file does not hold: labels by name."""
        return {}

    @property
    def tables(self) -> Dict[str, Table]:
        """The tables by name."""
        return {name: self[name] for name in self._layout}

    def __getitem__(self, table: str) -> Table:
        if table not in self._layout:
            raise KeyError(f"no table {table!r}; expected one of {', '.join(self._layout) or 'none'}")
        n_rows, columns = self._layout[table]
        # Tables refer to the catalogue, which keeps none of them: it ends with its last user.
        return Table(table, n_rows, columns, self._rows_of(table), _unit_factors(self.attributes))

    def _rows_of(self, table: str) -> Any:
        member = self._members.get(table)
        return None if member is None else lambda owner, number: member(owner, number, self)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the catalogue to a file, whole or not at all: ``.hdf5`` or ``.csv``. Over ranks collective: one file of all."""
        self._native.write(os.fspath(path))

    def to_soap(self, path: Union[str, "os.PathLike[str]"], particles: Optional[Particles] = None) -> None:
        """Writes the properties of bound particles and spheres in the layout of SOAP, which swiftsimio reads.

        ``path`` is a file ``.hdf5``, or a folder if it has no ending. After a call with ``with_members=True`` a folder also gets
        the memberships of the particles in the order of ``particles``, those that the call ran on, if these
        are a snapshot by types. As ``--soap`` of the command. Over ranks collective.
        """
        self._native.write_soap(os.fspath(path), None if particles is None else particles._native)

    def gather(self, root: int = 0) -> Any:
        """Over ranks collective: the catalogue with all rows on one rank, None on the others.

        Labels stay those of the cells or particles of the rank. New cuts of it are local, and have no labels.
        """
        native = self._of_call("gather", root)
        return None if native is None else self._with_all_rows(native)

    def allgather(self) -> Any:
        """Over ranks collective: as :meth:`gather`, on every rank. The ranks receive all rows one after the other."""
        gathered = [self._of_call("gather", root) for root in range(self._place.n_ranks)]
        return self._with_all_rows(gathered[self._place.rank])

    def _with_all_rows(self, native: Any) -> Any:
        return type(self)(native, self._has_items, call=self)

    def _of_call(self, name: str, *arguments: Any) -> Any:
        """The result of the call, which a catalogue from a file lacks."""
        if not hasattr(self._of, name):
            raise InvalidArgumentError(f"a catalogue from a file has no {name}; expected the result of a call")
        return getattr(self._of, name)(*arguments)

    def _check_all_rows(self, what: str) -> None:
        """Refuses a question that needs the rows of all ranks."""
        rank, n_ranks = self._place
        if n_ranks > 1:
            message = f"{what} from the rows of rank {rank} of {n_ranks}; expected all rows, from gather() or allgather()"
            raise InvalidArgumentError(message)

    def _summary(self) -> str:
        def rows(name: str, n_rows: int) -> str:
            return f"{n_rows} {name}" if self._place.n_ranks == 1 else f"{n_rows} of {self.totals[name]} {name}"

        return ", ".join(rows(name, n_rows) for name, (n_rows, _) in self._layout.items())

    def __repr__(self) -> str:
        rank, n_ranks = self._place
        where = "" if n_ranks == 1 else f" on rank {rank} of {n_ranks}"
        return f"<{type(self).__name__}{where}: {self._summary()}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
            for name, value in self.attributes.items()
        )
        details = f"<details><summary>attributes</summary><table>{rows}</table></details>"
        first = next(iter(self._layout), None)
        table = "" if first is None else self[first]._repr_html_()
        return f"<p><b>{type(self).__name__}</b>: {html.escape(self._summary())}</p>{table}{details}"


class ClumpCatalogue(Catalogue):
    """Clumps, haloes and the tree of peaks that PHEW found."""

    _members = {"clumps": Clump, "haloes": Halo}

    def __init__(
        self,
        native: Any,
        has_items: bool = False,
        shape: Optional[Tuple[int, ...]] = None,
        place: Place = Place(0, 1),
        call: Optional[Catalogue] = None,
    ) -> None:
        super().__init__(native, has_items, place, call)
        self._shape = shape

    def _kept(self) -> Dict[str, Any]:
        if not self._has_items:
            return {}
        return {"labels": self.labels, "halo_labels": self.halo_labels, "coverage": self.coverage}

    def _with_all_rows(self, native: Any) -> "ClumpCatalogue":
        return ClumpCatalogue(native, self._has_items, self._shape, call=self)

    @property
    def clumps(self) -> Table:
        """One row per clump, by falling peak density."""
        return self["clumps"]

    @property
    def haloes(self) -> Table:
        """One row per halo: a main clump with all clumps that merge into it."""
        return self["haloes"]

    @property
    def tree(self) -> Table:
        """One row per peak of the density field."""
        return self["tree"]

    @property
    def coverage(self) -> float:
        """The part of the box that the leaves cover: 1 where none was left out."""
        return self._found["coverage"] if "coverage" in self._found else self._of_call("coverage")

    @property
    def labels(self) -> np.ndarray:
        """The identifier of the clump of each cell, in the order of the cells; 0 for none.

        Cells are those that were handed over. For an output on disk they are the rows of the table ``cells``. Labels of a FITS
        image or cube have the shape of its array in astropy; pixels without a value have 0.
        """
        return self._labels("labels", "clump")

    @property
    def halo_labels(self) -> np.ndarray:
        """The identifier of the halo of each cell, in the order of the cells; 0 for none."""
        return self._labels("halo_labels", "halo")

    def sums(self, values: Any, of: str = "clumps") -> np.ndarray:
        """Sums of values over the cells of each row of ``clumps`` or ``haloes``, in the order of the rows.

        One value per cell, in the order or the shape of the cells that were handed over; those of cells without a label do not
        count. The same bits on any number of ranks and threads. Over ranks collective: the rows are those of this rank.
        For an output on disk the cells are those of the table ``cells``; for a FITS image they have the shape of its array.
        """
        given = array(values, "values")
        if self._has_items and hasattr(self._of, "sums"):
            return self._of.sums(given.ravel() if self._shape is None else given.ravel(order="F"), of)
        self._check_all_rows("sums over cells")
        if of not in ("clumps", "haloes"):
            raise InvalidArgumentError(f"labels of {of!r}; expected clumps or haloes")
        labels = self.labels if of == "clumps" else self.halo_labels
        if given.size != labels.size:
            raise InvalidArgumentError(f"values: {given.size} of them; expected {labels.size}, one per cell")
        ids, cells = self[of]["id"], np.flatnonzero(labels)
        order = np.argsort(ids, kind="stable")
        rows = order[np.searchsorted(ids, labels.ravel()[cells], sorter=order)]
        return np.bincount(rows, given.ravel()[cells], minlength=len(ids))

    def clump(self, identifier: int) -> Clump:
        """The clump with this identifier."""
        self._check_all_rows("a clump by its identifier")
        return _find(self.clumps, "id", identifier, self._found)

    def halo(self, identifier: int) -> Halo:
        """The halo with this identifier."""
        self._check_all_rows("a halo by its identifier")
        return _find(self.haloes, "id", identifier, self._found)

    def walk(self) -> Iterator[Tuple[int, Clump]]:
        """All clumps with their depth, halo by halo, each before its children."""
        self._check_all_rows("the hierarchy")
        for halo in self.haloes:
            waiting = [(0, halo.main)]
            while waiting:
                depth, clump = waiting.pop()
                yield depth, clump
                waiting.extend((depth + 1, child) for child in reversed(clump.children))

    def save_labels(self, path: Union[str, "os.PathLike[str]"], of: str = "clumps") -> None:
        """Writes the labels of clumps or ``haloes``: ``.fits``, an image of the label of each cell; ``.reg`` or ``.crtf``, ellipses.

        An image has the axes and coordinates of a FITS input, and needs cells of one size in the table ``cells``
        (``with_cells=True``). Ellipses at half maximum, for DS9 and CARTA, are of FITS images. Over ranks collective.
        """
        self._native.write_labels(os.fspath(path), of)

    def cells(self, owner: Union[int, Clump, Halo]) -> np.ndarray:
        """Indices of the cells of a clump, by row or identifier, or of a halo.

        Indices count the cells as they were handed over. For a three-dimensional array they belong to ``field.ravel()``. For
        an output on disk they count the rows of the table ``cells``; for a FITS image they belong to ``labels.ravel()``.
        """
        which = "halo_labels" if isinstance(owner, Halo) else "labels"
        return _members(getattr(self, which), which, self._identifier(owner), self._found)

    def particles(self, owner: Union[int, Clump, Halo]) -> np.ndarray:
        """Indices of the rows of the table ``particles`` that are in a clump, by row or identifier, or in a halo."""
        if "particles" not in self._layout:
            raise InvalidArgumentError("no table of particles; expected a call with with_particles=True")
        which = "halo" if isinstance(owner, Halo) else "clump"
        labels = self["particles"][which]
        return _members(labels, f"{which} of particles", self._identifier(owner), self._found)

    def _identifier(self, owner: Union[int, Clump, Halo]) -> int:
        if isinstance(owner, Row):
            return int(owner["id"])
        # The row of an identifier may be on another rank.
        return int(owner) if self._place.n_ranks > 1 else int(self.clump(owner)["id"])

    @has_keywords(RecutOptions)
    def recut(self, **options: Unpack[RecutOptions]) -> "ClumpCatalogue":
        """The catalogue of a run with other thresholds, from the tree alone. None keeps a threshold. Over ranks collective."""
        given = texts(RecutOptions, options)
        # The call's own result finds new labels; rows alone do not.
        has_items = self._has_items and self._of is self._native
        return ClumpCatalogue(self._native.recut(given), has_items, self._shape, self._place)

    def plot(self, axis: int = 2, ax: Any = None, **style: Any) -> Any:
        """Peaks of the clumps along one axis as circles, larger by mass and coloured by halo. Needs matplotlib."""
        positions, mass = self.clumps["peak_position"], self.clumps["mass"]
        return _plot(self, ax, axis, positions, mass, self.clumps["halo"], style)

    def _children(self, identifier: int) -> List[Clump]:
        self._check_all_rows("the children of a clump")
        clumps = self.clumps
        if "children" not in self._found:
            children: Dict[int, List[int]] = {}
            own, parents = clumps["id"].tolist(), clumps["parent"].tolist()
            for row, (clump, parent) in enumerate(zip(own, parents)):
                if clump != parent:
                    children.setdefault(parent, []).append(row)
            self._found["children"] = children
        return [clumps[row] for row in self._found["children"].get(identifier, [])]

    def _labels(self, name: str, column: str) -> np.ndarray:
        if name not in self._found:
            self._found[name] = labels = self._given_labels(name) if self._has_items else self._listed_labels(column)
            labels.flags.writeable = False
        return self._found[name]

    def _given_labels(self, name: str) -> np.ndarray:
        labels = self._of_call(name)
        return labels if self._shape is None else labels.reshape(self._shape, order="F")

    def _listed_labels(self, column: str) -> np.ndarray:
        if "cells" not in self._layout:
            raise InvalidArgumentError("no labels of cells; expected a call with with_cells=True, or cells as arrays")
        listed = self["cells"]
        labels = listed[column].astype(np.int64)
        if "fits_shape" not in self.attributes:
            return labels
        shape = tuple(int(n) for n in self.attributes["fits_shape"])[::-1]
        # Axes of length 1 have no place among the positions.
        places = np.zeros((len(labels), len(shape)), np.uint32)
        for along, axis in enumerate(self.attributes["fits_axes"]):
            places[:, len(shape) - int(axis)] = listed["ijk"][:, along]
        return placed(labels, places, shape)


class GroupCatalogue(Catalogue):
    """Groups that friends-of-friends found."""

    _members = {"Groups": Group}

    @property
    def groups(self) -> Table:
        """One row per group, by falling number of members."""
        return self["Groups"]

    @property
    def linking_length(self) -> float:
        """In the units of the positions."""
        found = self._found.get("linking_length")
        return self._of_call("linking_length") if found is None else found

    def _kept(self) -> Dict[str, Any]:
        if self._of is not self._native or not hasattr(self._of, "linking_length"):
            return {}
        labels = {"labels": self.labels} if self._has_items else {}
        return {"linking_length": self.linking_length, **labels}

    @property
    def labels(self) -> np.ndarray:
        """The identifier of the group of each particle, in the order of the particles; 0 for none."""
        if "labels" not in self._found:
            if not self._has_items:
                raise InvalidArgumentError("no labels of particles; expected positions as arrays")
            self._found["labels"] = labels = self._of_call("labels")
            labels.flags.writeable = False
        return self._found["labels"]

    def sums(self, values: Any) -> np.ndarray:
        """Sums of values over the particles of each group, in the order of ``groups``.

        One value per particle that was handed over. The same bits on any number of ranks and threads. Over ranks collective: the
        groups are those of this rank.
        """
        return self._of_call("sums", array(values, "values").ravel())

    def members(self, group: Union[int, Group]) -> np.ndarray:
        """Indices of the particles of a group, by row or identifier."""
        identifier = int(group["GroupIDs"] if isinstance(group, Row) else group)
        if self._place.n_ranks == 1:
            _find(self.groups, "GroupIDs", identifier, self._found)
        return _members(self.labels, "labels", identifier, self._found)

    def plot(self, axis: int = 2, ax: Any = None, **style: Any) -> Any:
        """Centres of the groups along one axis as circles, larger by mass. Needs matplotlib."""
        masses = self.groups["Masses"]
        return _plot(self, ax, axis, self.groups["Centres"], masses, self.groups["GroupIDs"], style)


class VoidCatalogue(Catalogue):
    """Voids, their zones and the tree of zones."""

    @property
    def voids(self) -> Table:
        """One row per void, by rising least density."""
        return self["voids"]

    @property
    def zones(self) -> Table:
        """One row per zone, by rising least density."""
        return self["zones"]

    @property
    def tree(self) -> Table:
        """One row per zone before noise is removed."""
        return self["tree"]

    @has_keywords(RecutVoidsOptions)
    def recut(self, **options: Unpack[RecutVoidsOptions]) -> "VoidCatalogue":
        """The catalogue of a run with other thresholds, from the tree alone. None keeps a threshold.

        It lacks densities of cores and walls, which need the particles. Over ranks all rows are needed, from :meth:`gather`.
        """
        self._check_all_rows("a new cut of voids")
        given = texts(RecutVoidsOptions, options)
        stored = self._native if hasattr(self._native, "recut_voids") else self._native.gather(0)
        return VoidCatalogue(stored.recut_voids(given))

    def plot(self, axis: int = 2, ax: Any = None, **style: Any) -> Any:
        """Centres of the voids along one axis as circles, larger by volume. Needs matplotlib."""
        return _plot(self, ax, axis, self.voids["centre"], self.voids["volume"], self.voids["id"], style)


def read(path: str) -> Catalogue:
    """The catalogue of a file, as :func:`inselberg.read_catalogue`."""
    native = _native.read_catalogue(path)
    names = {name for name, *_ in native.layout()}
    # Groups whose subhaloes are remembered list these as clumps.
    is_of_groups = "Groups" in names and "linking_length" in native.attributes()
    if "clumps" in names and not is_of_groups:
        return ClumpCatalogue(native)
    if "voids" in names:
        return VoidCatalogue(native)
    return GroupCatalogue(native) if "Groups" in names else Catalogue(native)


def _restored(file: bytes, kept: Dict[str, Any]) -> Catalogue:
    """The catalogue of a pickle."""
    with tempfile.TemporaryDirectory(prefix="inselberg-") as folder:
        path = os.path.join(folder, "catalogue.hdf5")
        with open(path, "wb") as out:
            out.write(file)
        catalogue = read(path)
    for value in kept.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    catalogue._found.update(kept)
    return catalogue


class _Loader:
    """Fetches the values of one column."""

    __slots__ = ("_native", "_table", "_column")

    def __init__(self, native: Any, table: int, column: int) -> None:
        self._native, self._table, self._column = native, table, column

    def __call__(self) -> np.ndarray:
        return self._native.column(self._table, self._column)


def _unit_factors(attributes: Dict[str, Any]) -> Dict[str, float]:
    """The code units in cgs; empty where they are unknown."""
    names = ("unit_length", "unit_density", "unit_time")
    if not all(name in attributes for name in names):
        return {}
    length, density, time = (attributes[name] for name in names)
    return {"code_length": length, "code_mass": density * length**3, "code_time": time}


def _find(table: Table, column: str, identifier: int, found: Dict[str, Any]) -> Any:
    key = f"rows of {table.name}"
    if key not in found:
        found[key] = {number: row for row, number in enumerate(table[column].tolist())}
    if identifier not in found[key]:
        raise KeyError(f"{table.name} has no identifier {identifier}")
    return table[found[key][identifier]]


def _members(labels: np.ndarray, which: str, identifier: int, found: Dict[str, Any]) -> np.ndarray:
    """Indices with a label, rising. Sorts the labels at the first use."""
    key = f"order of {which}"
    if key not in found:
        flat = labels.ravel()
        order = np.argsort(flat, kind="stable")
        found[key] = order, flat[order]
    order, ordered = found[key]
    return order[np.searchsorted(ordered, identifier) : np.searchsorted(ordered, identifier, side="right")]


def _plot(
    catalogue: Catalogue, ax: Any, axis: int, positions: np.ndarray, mass: np.ndarray, group: np.ndarray, style: Any
) -> Any:
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots()
    across, up = [a for a in range(3) if a != axis]
    heaviest = mass.max() if len(mass) and mass.max() > 0 else 1.0
    looks = {"s": 4 + 300 * (mass / heaviest) ** (2 / 3), "c": group % 20, "cmap": "tab20", "alpha": 0.7, **style}
    ax.scatter(positions[:, across], positions[:, up], **looks)
    ax.set_xlabel("xyz"[across] + " [code_length]")
    ax.set_ylabel("xyz"[up] + " [code_length]")
    ax.set_aspect("equal")
    return ax
