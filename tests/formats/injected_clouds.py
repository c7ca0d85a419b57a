"""Gaussian clouds of known flux, size and width in noise, found again: bias and scatter by peak over noise.

    python tests/formats/injected_clouds.py PROGRAM FOLDER

Columns: clouds found of those injected; the median of the measured over the true value and its scatter (1.4826 MAD), for
flux, size and width. "same pixels": the same sums over the same pixels of the cloud without noise, so this part is the cut
at the threshold and not noise. "noise alone": the scatter that noise of these pixels gives, which is flux_error.
"""

import subprocess
import sys

import h5py
import numpy as np
from astropy.io import fits

program, folder = sys.argv[1:3]
SIDE, CHANNELS, STEP, SIZE, WIDTH = 96, 24, 24, 2.0, 1.5


def header():
    cards = fits.Header()
    axes = [("RA---TAN", "deg", 83.8, -0.001), ("DEC--TAN", "deg", -5.4, 0.001), ("VRAD", "m/s", 8000.0, 200.0)]
    for i, (kind, unit, value, step) in enumerate(axes, 1):
        cards[f"CTYPE{i}"], cards[f"CUNIT{i}"], cards[f"CRVAL{i}"], cards[f"CDELT{i}"] = kind, unit, value, step
        cards[f"CRPIX{i}"] = 1.0
    cards["BUNIT"] = "Jy"
    return cards


def moments(values, where):
    total = values.sum()
    means = [(values * w).sum() / total for w in where]
    v, y, x = ((values * (w - m) ** 2).sum() / total for w, m in zip(where, means))
    return total, (max(x, 0) * max(y, 0)) ** 0.25, max(v, 0) ** 0.5


def spread(values):
    return np.median(values), 1.4826 * np.median(abs(values - np.median(values)))


def measure(peak, seed):
    rng = np.random.default_rng(seed)
    shape = (CHANNELS, SIDE, SIDE)
    v, y, x = np.indices(shape)
    clouds = np.zeros(shape)
    centres = []
    for cy in range(STEP // 2, SIDE, STEP):
        for cx in range(STEP // 2, SIDE, STEP):
            at = (CHANNELS / 2 + rng.uniform(-0.5, 0.5), cy + rng.uniform(-0.5, 0.5), cx + rng.uniform(-0.5, 0.5))
            centres.append(at)
            r2 = ((v - at[0]) / WIDTH) ** 2 + ((y - at[1]) / SIZE) ** 2 + ((x - at[2]) / SIZE) ** 2
            clouds += peak * np.exp(-r2 / 2)
    cube, found = f"{folder}/injected.fits", f"{folder}/injected.hdf5"
    fits.writeto(cube, clouds + rng.normal(0, 1, shape), header(), overwrite=True)
    limits = ["--density-threshold", "2sigma", "--relevance-difference", "2.5sigma", "--with-cells"]
    done = subprocess.run([program, "phew", cube, "-o", found, *limits, "--quiet", "--force"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows, flux = [], peak * (2 * np.pi) ** 1.5 * SIZE * SIZE * WIDTH
    with h5py.File(found) as file:
        noise = file.attrs["noise"]
        labels = np.zeros(shape, int)
        labels[tuple(file["cells/ijk"][:, axis] for axis in (2, 1, 0))] = file["cells/clump"][:]
        table = {name: file["clumps"][name][:] for name in ("id", "flux", "radius", "v_rms", "flux_error")}
    for centre in centres:
        label = labels[tuple(int(round(c)) for c in centre)]
        if label == 0:
            continue
        i = np.searchsorted(table["id"], label)
        where = np.nonzero(labels == label)
        plain = moments(clouds[where], where)
        own = (table["flux"][i], table["radius"][i] / 3.6, table["v_rms"][i] / 0.2)
        rows.append([a / b for a, b in zip(own + plain, 2 * (flux, SIZE, WIDTH))] + [table["flux_error"][i] / flux])
    return noise, len(centres), rows


print("peak  noise  found      flux             same pixels  noise alone  size             width")
for peak in (3, 5, 10, 20, 30):
    runs = [measure(peak, 100 * peak + seed) for seed in range(4)]
    rows = np.array([row for _, _, of in runs for row in of])
    n, noise = sum(n for _, n, _ in runs), np.mean([noise for noise, _, _ in runs])
    (flux, by), (size, size_by), (width, width_by) = (spread(rows[:, i]) for i in range(3))
    alone, same = np.median(rows[:, 6]), np.median(rows[:, 3])
    print(f"{peak:4} {noise:6.3f} {len(rows):4}/{n:3}  {flux:.3f} +- {by:.3f}   {same:.3f}        {alone:.3f}        "
          f"{size:.3f} +- {size_by:.3f}  {width:.3f} +- {width_by:.3f}")
    assert 0.98 < noise < 1.02, noise
    if peak >= 10:
        # The cut and the noise that it lets in explain the bias, and noise the scatter.
        assert len(rows) == n and same < flux < 1 and by < 3 * alone, (peak, flux, same, by, alone)
