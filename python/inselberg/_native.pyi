"""The native half. Its names are not public: use those of `inselberg`."""

import os
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

_Report = Optional[Callable[[str, int, int], None]]
_Vectors = Union[np.ndarray, Sequence[np.ndarray]]
_ColumnHead = Tuple[str, str, Optional[float], str]
_Layout = List[Tuple[str, int, int, List[_ColumnHead]]]

__version__: str
HAS_MPI: bool

class _Tables:
    def layout(self) -> _Layout: ...
    def attributes(self) -> Dict[str, Any]: ...
    def column(self, table: int, number: int) -> np.ndarray: ...
    def write(self, path: Union[str, os.PathLike[str]]) -> None: ...
    def write_labels(self, path: Union[str, os.PathLike[str]], of: str) -> None: ...
    def write_soap(self, path: Union[str, os.PathLike[str]], particles: Optional["Particles"] = None) -> None: ...

class Found(_Tables):
    def gather(self, rank: int) -> Optional["Stored"]: ...

class Clumps(Found):
    def labels(self) -> np.ndarray: ...
    def halo_labels(self) -> np.ndarray: ...
    def sums(self, values: np.ndarray, of: str) -> np.ndarray: ...
    def coverage(self) -> float: ...
    def recut(self, options: Mapping[str, str]) -> "Clumps": ...

class Groups(Found):
    def labels(self) -> np.ndarray: ...
    def sums(self, values: np.ndarray) -> np.ndarray: ...
    def linking_length(self) -> float: ...

class Voids(Found): ...

class Stored(_Tables):
    def recut(self, options: Mapping[str, str]) -> "Stored": ...
    def recut_voids(self, options: Mapping[str, str]) -> "Stored": ...

class Cells:
    @staticmethod
    def leaves(
        levels: np.ndarray, positions: _Vectors, geometry: Mapping[str, Any], threads: Optional[int]
    ) -> "Cells": ...
    @staticmethod
    def octs(
        levels: np.ndarray,
        positions: _Vectors,
        splits: np.ndarray,
        geometry: Mapping[str, Any],
        threads: Optional[int],
    ) -> "Cells": ...
    @staticmethod
    def grid(
        level: int,
        start: Sequence[int],
        shape: Sequence[int],
        geometry: Mapping[str, Any],
        threads: Optional[int],
    ) -> "Cells": ...
    def __len__(self) -> int: ...

class Snapshot:
    def about(self) -> Dict[str, Any]: ...

class Particles:
    def about(self) -> Dict[str, Any]: ...

class Tree:
    def n_outputs(self) -> int: ...
    def catalogue(self) -> Optional[Stored]: ...
    def write(self, path: Union[str, os.PathLike[str]]) -> None: ...

_T = TypeVar("_T")

class Request(Generic[_T]):
    @staticmethod
    def phew(
        cells: Cells,
        field: np.ndarray,
        options: Mapping[str, str],
        *,
        velocity: Optional[Sequence[np.ndarray]] = None,
        mass_density: Optional[np.ndarray] = None,
        particles: Optional[Particles] = None,
        name: str = "density",
    ) -> "Request[Clumps]": ...
    @staticmethod
    def phew_snapshot(snapshot: Snapshot, field: str, options: Mapping[str, str]) -> "Request[Clumps]": ...
    @staticmethod
    def phew_particles(
        particles: Particles, mesh: Mapping[str, str], options: Mapping[str, str]
    ) -> "Request[Clumps]": ...
    @staticmethod
    def phew_graph(
        particles: Particles, graph: Mapping[str, str], options: Mapping[str, str]
    ) -> "Request[Clumps]": ...
    @staticmethod
    def voids(particles: Particles, graph: Mapping[str, str], options: Mapping[str, str]) -> "Request[Voids]": ...
    @staticmethod
    def fof_particles(
        particles: Particles, types: Mapping[str, str], options: Mapping[str, str]
    ) -> "Request[Groups]": ...
    @staticmethod
    def hold_particles(
        positions: _Vectors,
        geometry: Mapping[str, Any],
        *,
        ids: Optional[np.ndarray] = None,
        masses: Optional[np.ndarray] = None,
        velocities: Optional[_Vectors] = None,
        types: Optional[np.ndarray] = None,
        densities: Optional[np.ndarray] = None,
    ) -> "Request[Particles]": ...
    @staticmethod
    def fof(
        positions: _Vectors,
        geometry: Mapping[str, Any],
        options: Mapping[str, str],
        *,
        ids: Optional[np.ndarray] = None,
        masses: Optional[np.ndarray] = None,
        velocities: Optional[_Vectors] = None,
        attached: Optional[np.ndarray] = None,
    ) -> "Request[Groups]": ...
    @staticmethod
    def open(path: Union[str, os.PathLike[str]], defaults: Mapping[str, str]) -> "Request[Snapshot]": ...
    @staticmethod
    def open_particles(
        paths: Sequence[Union[str, os.PathLike[str]]], defaults: Mapping[str, str]
    ) -> "Request[Particles]": ...
    @staticmethod
    def compare(
        first: Union[str, os.PathLike[str]], second: Union[str, os.PathLike[str]], options: Mapping[str, str]
    ) -> "Request[Optional[Stored]]": ...
    @staticmethod
    def atlas(catalogue: Union[str, os.PathLike[str]], options: Mapping[str, str]) -> "Request[Optional[Stored]]": ...
    @staticmethod
    def tree(options: Mapping[str, str]) -> "Request[Tree]": ...
    @staticmethod
    def tree_add(tree: Tree, number: int, found: Union[Clumps, Groups]) -> "Request[None]": ...
    @staticmethod
    def tree_add_files(tree: Tree, paths: Sequence[Union[str, os.PathLike[str]]]) -> "Request[None]": ...
    @staticmethod
    def tree_add_objects(
        tree: Tree,
        number: int,
        geometry: Mapping[str, Any],
        ids: np.ndarray,
        n_members: np.ndarray,
        members: np.ndarray,
        *,
        offsets: Optional[np.ndarray] = None,
        types: Optional[np.ndarray] = None,
        parents: Optional[np.ndarray] = None,
        masses: Optional[np.ndarray] = None,
        positions: Optional[_Vectors] = None,
        velocities: Optional[_Vectors] = None,
    ) -> "Request[None]": ...

class Engine:
    def __init__(
        self,
        threads: Optional[int] = None,
        comm: Optional[int] = None,
        is_multiple: bool = False,
        limits: Mapping[str, str] = ...,
    ) -> None: ...
    def run(self, make: Callable[[], Request[_T]], report: _Report = None) -> _T: ...
    def agree(self, make: Callable[[], _T]) -> _T: ...
    def close(self) -> None: ...

def wait_for_ranks(seconds: float) -> bool: ...
def read_catalogue(path: Union[str, os.PathLike[str]]) -> Stored: ...
