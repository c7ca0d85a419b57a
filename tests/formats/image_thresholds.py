"""Which thresholds find clouds in noise and little else: completeness and purity by multiples of the noise.

    python tests/formats/image_thresholds.py PROGRAM FOLDER

Cubes of 40 x 128 x 128 pixels have 75 Gaussian clouds (2 pixels on the sky, 1.5 channels): 50 in pairs of equal peaks that are 3
standard deviations apart along x, and 25 alone. Noise is white, or smoothed to beams on the sky (2 pixels). A cloud is found if a
clump has its peak within 2 pixels, and that clump is true. The others are noise, or pieces of clouds.
"""

import itertools
import subprocess
import sys

import h5py
import numpy as np
from astropy.io import fits
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

program, folder = sys.argv[1:3]
SHAPE, SIZE, WIDTH = (40, 128, 128), 2.0, 1.5


def cube(peak, seed, is_smooth):
    rng = np.random.default_rng(seed)
    data, centres = np.zeros(SHAPE), []
    v, y, x = np.indices(SHAPE)
    for number, (cv, cy, cx) in enumerate(itertools.product((13, 27), range(13, 128, 25), range(9, 128, 12))):
        # Places of the grid; every second one has a partner.
        if number % 2 and (number // 2) % 2:
            continue
        at = np.array([cv, cy, cx]) + rng.uniform(-0.5, 0.5, 3)
        if number % 2:
            at = centres[-1] + [0, 0, 3 * SIZE]
        centres.append(at)
    for at in centres:
        low = [max(0, int(c) - 12) for c in at]
        here = tuple(slice(a, a + 25) for a in low)
        r2 = ((v[here] - at[0]) / WIDTH) ** 2 + ((y[here] - at[1]) / SIZE) ** 2 + ((x[here] - at[2]) / SIZE) ** 2
        data[here] += peak * np.exp(-r2 / 2)
    noise = rng.normal(0, 1, SHAPE)
    if is_smooth:
        noise = gaussian_filter(noise, (0, 2, 2))
        noise /= noise.std()
    return data + noise, np.array(centres)


def counts(path, centres, density, difference):
    found = f"{folder}/thresholds.hdf5"
    limits = ["--density-threshold", f"{density}sigma", "--relevance-difference", f"{difference}sigma"]
    done = subprocess.run([program, "phew", path, "-o", found, *limits, "--quiet", "--force"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with h5py.File(found) as file:
        places = file["clumps/peak_position"][:] / (file.attrs["boxlen"] * file.attrs["coarse_cells"][0] / SHAPE[2]) - 0.5
    if not len(places):
        return 0, 0
    near = cKDTree(places[:, ::-1]).query(centres, distance_upper_bound=2.0)[1]
    return len(set(near[near < len(places)])), len(places)


print("noise   peak   " + "  ".join(f"{d}s/{r}s".rjust(11) for d in (3, 4, 5) for r in (1, 2, 3, 4)))
for is_smooth in (False, True):
    for peak in (5, 6, 8, 10, 20, 40):
        path, row = f"{folder}/thresholds.fits", []
        data, centres = cube(peak, 7 * peak + is_smooth, is_smooth)
        fits.writeto(path, data.astype("f4"), overwrite=True)
        for density, difference in itertools.product((3, 4, 5), (1, 2, 3, 4)):
            true, n = counts(path, centres, density, difference)
            row.append(f"{true:3}/{len(centres)} {true / max(n, 1):.2f}".rjust(11))
        print(f"{'beams' if is_smooth else 'white'}  {peak:4}   " + "  ".join(row), flush=True)
