"""Gaussian clouds of known flux, size and width in noise, found again: bias and scatter by peak over noise.

    python tests/formats/injected_clouds.py PROGRAM FOLDER

First table: clouds found of those injected; the median of the measured over the true value and its scatter (1.4826 MAD), for
flux, size and width. "same pixels": the same sums over the same pixels of the cloud without noise, so this part is the cut
at the threshold and not noise. "noise alone": the scatter that noise of these pixels gives, which is flux_error.

Second table: clouds whose pixels are fixed, since those around have no value. The scatter of each column over clouds that
differ by their noise only, over the mean of its error column.
"""

import subprocess
import sys

import h5py
import numpy as np
from astropy.io import fits

program, folder = sys.argv[1:3]
SIDE, CHANNELS, STEP, SIZE, WIDTH = 96, 24, 24, 2.0, 1.5


def header(n_axes=3):
    cards = fits.Header()
    axes = [("RA---TAN", "deg", 83.8, -0.001), ("DEC--TAN", "deg", -5.4, 0.001), ("VRAD", "m/s", 8000.0, 200.0)][:n_axes]
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


def islands(peak, shape, seed):
    """Scatter over mean error of each column, of 400 clouds with the same pixels."""
    rng = np.random.default_rng(seed)
    places = np.indices(shape, dtype=float)
    y, x = (places[-2 + i] - (shape[-2 + i] - 1) / 2 for i in (0, 1))
    turn = np.radians(30)
    r2 = ((np.cos(turn) * x + np.sin(turn) * y) / 3) ** 2 + ((np.cos(turn) * y - np.sin(turn) * x) / 2) ** 2
    if len(shape) == 3:
        r2 += ((places[0] - (shape[0] - 1) / 2) / WIDTH) ** 2
    cloud = peak * np.exp(-r2 / 2)
    cloud[cloud < max(3.0, 0.2 * peak)] = np.nan
    tiles = np.concatenate([np.concatenate([cloud] * 20, -1)] * 20, -2)
    image, found = f"{folder}/islands.fits", f"{folder}/islands.hdf5"
    fits.writeto(image, tiles + rng.normal(0, 1, tiles.shape), header(len(shape)), overwrite=True)
    limits = ["--density-threshold", "1e-9", "--relevance-difference", "1", "--noise", "1", "--quiet", "--force"]
    limits += ["--distance", "400pc", "--beam", "5x2@20", "--bunit", "K", "--rest-frequency", "115.27GHz"]
    done = subprocess.run([program, "phew", image, "-o", found, *limits], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with h5py.File(found) as file:
        rows = {name: file["haloes"][name][:] for name in file["haloes"]}
        side = file.attrs["boxlen"] * file.attrs["coarse_cells"][0] / tiles.shape[-1]
    # A pixel below 0 is lost, or cuts a cloud into two.
    whole = rows["n_cells"] > np.isfinite(cloud).sum() - 2
    assert whole.sum() > 350, whole.sum()
    columns = ["flux", "major_sigma", "minor_sigma", "radius", "radius_pc"]
    if len(shape) == 3:
        columns += ["v_rms", "v_rms_deconvolved", "luminosity", "mass_luminous", "mass_virial", "virial_parameter"]
    ratios = {name: rows[name][whole].std() / rows[f"{name}_error"][whole].mean() for name in columns}
    for axis, name, unit in ((0, "x", 3.6), (1, "y", 3.6), (2, "v", 0.2))[: len(shape)]:
        place = rows["centre_of_mass"][:, axis] / side % shape[-1 - axis] * unit
        ratios[name] = place[whole].std() / rows[f"{name}_error"][whole].mean()
    return ratios


print("\nscatter over error, of fixed pixels")
for peak, shape in ((5, (32, 36)), (10, (32, 36)), (20, (32, 36)), (10, (14, 32, 36)), (20, (14, 32, 36))):
    ratios = islands(peak, shape, peak)
    print(f"{len(shape)}-D {peak:3} ", "  ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
    assert all(0.85 < ratio < 1.15 for ratio in ratios.values()), ratios
