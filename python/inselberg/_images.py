"""Images and cubes with world coordinates: arrays beside a WCS of astropy, and cubes of spectral-cube."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import numpy as np

from ._arrays import T, through_file
from ._errors import InvalidArgumentError


def image_of(field: Any, wcs: Any) -> Optional[Tuple[np.ndarray, Any]]:
    """The values and the header of an image; None of an array without coordinates.

    Pixels outside the mask of a spectral-cube are NaN.
    """
    if wcs is None and hasattr(field, "filled_data") and hasattr(field, "header"):
        return np.asarray(field.filled_data[:].value), field.header
    if wcs is None:
        return None
    values = np.asarray(field)
    if values.ndim not in (2, 3):
        raise InvalidArgumentError(f"an image of {values.ndim} axes; expected two or three, the first one along the last axis")
    return values, wcs.to_header() if hasattr(wcs, "to_header") else wcs


def as_file(values: np.ndarray, header: Any, use: Callable[[str], T]) -> T:
    """What ``use`` makes of a FITS file of these values, which is gone afterwards."""
    from astropy.io import fits

    kept = fits.Header(header, copy=True)
    for scale in ("BSCALE", "BZERO", "BLANK"):
        kept.remove(scale, ignore_missing=True)
    return through_file("image.fits", lambda path: fits.writeto(path, values, kept, output_verify="silentfix"), use)
