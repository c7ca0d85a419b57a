"""The native half. Its names are not public: use those of `inselberg`."""

import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

_Report = Optional[Callable[[str, int, int], None]]
_Vectors = Union[np.ndarray, Sequence[np.ndarray]]
_ColumnHead = Tuple[str, str, Optional[float], str]
_Layout = List[Tuple[str, int, List[_ColumnHead]]]

__version__: str

class _Tables:
    def layout(self) -> _Layout: ...
    def attributes(self) -> Dict[str, Any]: ...
    def column(self, table: int, number: int) -> np.ndarray: ...
    def write(self, path: Union[str, os.PathLike[str]]) -> None: ...

class Clumps(_Tables):
    def labels(self) -> np.ndarray: ...
    def halo_labels(self) -> np.ndarray: ...
    def coverage(self) -> float: ...
    def recut(self, options: Mapping[str, Any]) -> "Clumps": ...

class Groups(_Tables):
    def labels(self) -> np.ndarray: ...
    def linking_length(self) -> float: ...

class Stored(_Tables):
    def recut(self, options: Mapping[str, Any]) -> "Stored": ...

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
    def grid(level: int, geometry: Mapping[str, Any], threads: Optional[int]) -> "Cells": ...
    def __len__(self) -> int: ...

class Snapshot:
    def about(self) -> Dict[str, Any]: ...

class Particles:
    def about(self) -> Dict[str, Any]: ...

class Engine:
    def __init__(self, threads: Optional[int] = None) -> None: ...
    def phew(
        self,
        cells: Cells,
        field: np.ndarray,
        options: Mapping[str, Any],
        *,
        velocity: Optional[Sequence[np.ndarray]] = None,
        mass_density: Optional[np.ndarray] = None,
        name: str = "density",
        report: _Report = None,
    ) -> Clumps: ...
    def phew_snapshot(
        self, snapshot: Snapshot, field: str, options: Mapping[str, Any], report: _Report = None
    ) -> Clumps: ...
    def phew_particles(
        self, particles: Particles, mesh: Mapping[str, Any], options: Mapping[str, Any], report: _Report = None
    ) -> Clumps: ...
    def fof_particles(
        self, particles: Particles, types: Mapping[str, Any], options: Mapping[str, Any], report: _Report = None
    ) -> Groups: ...
    def fof(
        self,
        positions: _Vectors,
        geometry: Mapping[str, Any],
        options: Mapping[str, Any],
        *,
        ids: Optional[np.ndarray] = None,
        masses: Optional[np.ndarray] = None,
        velocities: Optional[_Vectors] = None,
        attached: Optional[np.ndarray] = None,
        report: _Report = None,
    ) -> Groups: ...

def read_catalogue(path: Union[str, os.PathLike[str]]) -> Stored: ...
def open_snapshot(path: Union[str, os.PathLike[str]]) -> Snapshot: ...
def open_particles(paths: Sequence[Union[str, os.PathLike[str]]]) -> Particles: ...
