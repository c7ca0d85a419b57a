"""Arrays of any shape with absent cells: masked ones, and ones with NaN."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Optional, Tuple, TypeVar

import numpy as np

from ._errors import InvalidArgumentError
from ._sources import array

T = TypeVar("T")


def with_absent_cells(field: Any) -> Optional[np.ndarray]:
    """Values with NaN where a cell is absent; None of an array that is a whole octree, which needs no such treatment."""
    is_masked = isinstance(field, np.ma.MaskedArray)
    values = array(field.data if is_masked else field, "field")
    mask = np.ma.getmaskarray(field) if is_masked else np.zeros(values.shape, bool)
    is_octree = values.ndim == 3 and all(n > 0 and n % 2 == 0 for n in values.shape)
    has_nan = values.dtype.kind == "f" and bool(np.isnan(values).any())
    if is_octree and not has_nan and not mask.any():
        return None
    if values.ndim not in (2, 3) or values.size == 0:
        raise InvalidArgumentError(f"field has the shape {values.shape}; expected two or three axes with cells")
    return np.where(mask, np.nan, values) if mask.any() else values


def through_file(name: str, write: Callable[[str], Any], use: Callable[[str], T]) -> T:
    """What ``use`` makes of a file that ``write`` fills, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="inselberg-") as folder:
        path = os.path.join(folder, name)
        write(path)
        return use(path)


def as_file(values: np.ndarray, use: Callable[[str], T]) -> T:
    """What ``use`` makes of a file of these values, which is gone afterwards."""
    return through_file("array.npy", lambda path: np.save(path, values), use)


def placed(labels: np.ndarray, places: np.ndarray, shape: Tuple[int, ...]) -> np.ndarray:
    """Labels of listed cells in an array of this shape; 0 where there is no cell."""
    whole = np.zeros(shape, np.int64)
    whole[tuple(places[:, axis] for axis in range(len(shape)))] = labels
    return whole
