"""Dendrograms, columns and label cubes of FITS cubes and images, beside astropy and astrodendro."""

import h5py
import subprocess
import sys
import warnings

import numpy as np
from astropy import units as u
from astropy.io import fits
from astropy.table import QTable
from astropy.wcs import WCS
from astrodendro import Dendrogram, pp_catalog, ppv_catalog
from astrodendro.analysis import PPStatistic, PPVStatistic, ScalarStatistic

warnings.simplefilter("ignore")
program, folder = sys.argv[1:3]
AXES = {
    "x": ("RA---TAN", "deg", 83.8, -0.001),
    "y": ("DEC--TAN", "deg", -5.4, 0.001),
    "v": ("VRAD", "m/s", 8000.0, 200.0),
}


def run(*args):
    done = subprocess.run([program, *args, "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)


def cloudy(rng, shape):
    """Noise around 0 with clouds in it."""
    data = rng.normal(0, 0.3, shape)
    places = np.indices(shape)
    for _ in range(5):
        centre = [rng.uniform(2, n - 2) for n in shape]
        width = [rng.uniform(1.2, 2.2) for _ in shape]
        r2 = sum(((p - c) / w) ** 2 for p, c, w in zip(places, centre, width))
        data += rng.uniform(4, 9) * np.exp(-r2 / 2)
    return data.astype("f4")


def header(order, shape):
    """Cards of axes in the order of a file, with a beam and a turned sky."""
    cards = fits.Header()
    for i, axis in enumerate(order, 1):
        kind, unit, value, step = AXES[axis]
        cards[f"CTYPE{i}"], cards[f"CUNIT{i}"] = kind, unit
        cards[f"CRVAL{i}"], cards[f"CDELT{i}"], cards[f"CRPIX{i}"] = value, step, shape[::-1][i - 1] / 2
    x, y = order.index("x") + 1, order.index("y") + 1
    turn = np.radians(20.0)
    cards[f"PC{x}_{x}"], cards[f"PC{y}_{y}"] = np.cos(turn), np.cos(turn)
    cards[f"PC{x}_{y}"], cards[f"PC{y}_{x}"] = -np.sin(turn), np.sin(turn)
    cards["BUNIT"], cards["BMAJ"], cards["BMIN"], cards["BPA"] = "K", 0.003, 0.002, 30.0
    cards["RESTFRQ"], cards["RADESYS"], cards["SPECSYS"] = 115.271e9, "ICRS", "LSRK"
    return cards


def metadata(wcs):
    return dict(
        data_unit=u.K, spatial_scale=3.6 * u.arcsec, velocity_scale=0.2 * u.km / u.s, beam_major=10.8 * u.arcsec,
        beam_minor=7.2 * u.arcsec, wavelength=2.6 * u.mm, wcs=wcs,
    )


def turned(data, order):
    """The array as velocity, declination, right ascension."""
    names = order[::-1]
    return np.ascontiguousarray(np.transpose(data, [names.index(axis) for axis in "vyx" if axis in order]))


def check(seed, order, shape):
    rng = np.random.default_rng(seed)
    data = cloudy(rng, shape)
    # Borders without a value, and holes.
    data[..., :2] = np.nan
    data[(0,) * len(shape)] = np.nan
    data[rng.random(shape) < 0.01] = np.nan
    cube, found, own, converted, labels = (
        f"{folder}/{name}" for name in ("c.fits", "c.hdf5", "own.hdf5", "d.hdf5", "l.fits")
    )
    fits.writeto(cube, data, header(order, shape), overwrite=True)
    limits = dict(min_value=1.0, min_delta=0.5)
    run("phew", cube, "-o", found, "--density-threshold", "1", "--relevance-difference", "0.5", "--dendrogram", own,
        "--labels-fits", labels, "--force")
    run("convert", found, "--to", "dendrogram", "-o", converted, "--min-delta", "0.5", "--force")
    assert WCS(labels).wcs.compare(WCS(cube).wcs) and fits.getdata(labels).shape == data.shape
    assert (fits.getdata(labels)[np.isnan(data)] == 0).all() and fits.getdata(labels).max() > 0
    array = turned(data, order).astype(float)
    place = turned_header(order, shape)
    theirs = Dendrogram.compute(array, **limits, wcs=WCS(place))
    catalogue = ppv_catalog if len(shape) == 3 else pp_catalog
    for path in (own, converted):
        ours = Dendrogram.load_from(path)
        assert np.array_equal(ours.data, array, equal_nan=True)
        assert (ours.index_map[np.isnan(array)] == -1).all()
        assert ours.wcs is not None and ours.wcs.naxis == len(shape)
        middle = [[n / 3 for n in shape]]
        assert np.allclose(ours.wcs.wcs_pix2world(middle, 0), WCS(place).wcs_pix2world(middle, 0), rtol=1e-13)
        a = catalogue(ours, metadata(ours.wcs), verbose=False)
        structures(path, a, ours)
        b = catalogue(theirs, metadata(WCS(place)), verbose=False)
        assert len(a) == len(b) > 0, (len(a), len(b))
        for table in (a, b):
            # Numbers of branches may differ; pixels do not.
            table.sort(["area_exact", "flux"])
        for name in set(a.colnames) - {"_idx"}:
            x, y = (np.asarray(table[name], float) for table in (a, b))
            assert np.allclose(x, y, rtol=1e-10, atol=1e-10, equal_nan=True), (seed, order, name, abs(x - y).max())
    columns(found, array, order, metadata(WCS(place)))
    return len(b)


def columns(found, array, order, about):
    """Columns of clumps and haloes, each from its own pixels."""
    with h5py.File(found) as file:
        ijk, axes = file["cells/ijk"][:], ["xyv".index(axis) for axis in "vyx" if axis in order]
        names = [order.index("xyv"[axis]) for axis in axes]
        places = tuple(ijk[:, axis] for axis in names)
        for table in ("clumps", "haloes"):
            labels = np.zeros(array.shape, int)
            labels[places] = file[f"cells/{table[:-1].replace('haloe', 'halo')}"][:]
            rows = {name: file[table][name][:] for name in file[table]}
            assert len(rows["id"]) > 0
            for i, label in enumerate(rows["id"]):
                where = np.nonzero(labels == label)
                statistic = PPVStatistic if array.ndim == 3 else PPStatistic
                theirs = statistic(ScalarStatistic(array[where], where), about)
                for name in ("major_sigma", "minor_sigma", "radius", "area_ellipse", "area_exact", "v_rms"):
                    if name != "v_rms" or array.ndim == 3:
                        close(rows[name][i], getattr(theirs, name).value, name)
                angle = (rows["position_angle"][i] - theirs.position_angle.value) % 180
                assert min(angle, 180 - angle) < 1e-6 or rows["n_cells"][i] < 3, angle
                close(rows["flux"][i] * (299792458 / 115.271e9 / 2.6e-3) ** 2, theirs.flux.value, "flux", 1e-5)
                close(rows["centre_ra"][i], theirs.x_cen.item(), "ra")
                close(rows["centre_dec"][i], theirs.y_cen.item(), "dec")
                edges = [(w == 0).any() or (w == n - 1).any() for w, n in zip(where, array.shape)]
                assert rows["touches_edge"][i] == any(edges)
                padded = np.pad(array, 1, constant_values=0.0)
                at = [w + 1 for w in where]
                beside = [[w + (step if a == axis else 0) for a, w in enumerate(at)] for axis in range(array.ndim) for step in (-1, 1)]
                assert rows["touches_blank"][i] == any(np.isnan(padded[tuple(place)]).any() for place in beside)
                if array.ndim == 3:
                    close(rows["centre_velocity"][i] * 1e3, theirs.v_cen.item(), "velocity")
                    assert rows["n_channels"][i] == len(set(where[0]))


def structures(path, theirs, dendrogram):
    """The table of structures, each with all that is in it, beside astrodendro's catalogue of the same file."""
    with h5py.File(path) as file:
        rows = {name: file["structures"][name][:] for name in file["structures"]}
    assert len(rows["id"]) == len(theirs) > 0
    for row in theirs:
        i, own = row["_idx"], dendrogram[row["_idx"]]
        assert rows["id"][i] == i and rows["parent"][i] == (own.parent.idx if own.parent else -1)
        assert rows["ancestor"][i] == own.ancestor.idx and rows["level"][i] == own.level
        assert rows["n_leaves"][i] == (1 if own.is_leaf else sum(d.is_leaf for d in own.descendants))
        assert rows["n_cells"][i] == own.get_npix() and rows["density_peak"][i] == own.get_peak()[1]
        close(rows["height"][i], own.height, "height")
        for name in ("major_sigma", "minor_sigma", "radius", "area_ellipse", "area_exact", "v_rms"):
            if name in theirs.colnames:
                close(rows[name][i], row[name], name)
        close(rows["flux"][i] * (299792458 / 115.271e9 / 2.6e-3) ** 2, row["flux"], "flux", 1e-5)
        close(rows["centre_ra"][i], row["x_cen"], "ra")
        close(rows["centre_dec"][i], row["y_cen"], "dec")
        if "v_cen" in theirs.colnames:
            close(rows["centre_velocity"][i] * 1e3, row["v_cen"], "velocity")


def close(ours, theirs, name, within=1e-10):
    assert abs(ours - theirs) <= within * abs(theirs) + 1e-7 * (name == "minor_sigma"), (name, ours, theirs)


def turned_header(order, shape):
    """The header of the turned array."""
    names = order[::-1]
    lengths = {axis: shape[names.index(axis)] for axis in names}
    kept = [axis for axis in "xyv" if axis in order]
    return header("".join(kept), [lengths[axis] for axis in kept[::-1]])


def units():
    """Columns of a table in ECSV have their units in astropy."""
    rng = np.random.default_rng(99)
    cube, found, table = (f"{folder}/{name}" for name in ("u.fits", "u.hdf5", "u.ecsv"))
    fits.writeto(cube, cloudy(rng, (12, 16, 20)), header("xyv", (12, 16, 20)), overwrite=True)
    run("phew", cube, "-o", found, "--distance", "414pc", "--force")
    run("convert", found, "--to", "ecsv", "-o", table, "--force")
    import glob

    [path] = glob.glob(f"{folder}/u*clumps*ecsv") or [table]
    columns = QTable.read(path)
    expected = dict(
        flux=u.Jy, flux_integrated=u.Jy * u.km / u.s, brightness_integrated=u.K * u.km / u.s * u.arcsec**2, radius=u.arcsec,
        area_exact=u.arcsec**2, v_rms=u.km / u.s, luminosity=u.K * u.km / u.s * u.pc**2, mass_luminous=u.Msun, radius_pc=u.pc,
        flux_error=u.Jy, major_sigma_error=u.arcsec, centre_ra=u.deg,
    )
    for name, unit in expected.items():
        assert columns[name].unit == unit, (name, columns[name].unit)


units()
n = 0
for seed, (order, shape) in enumerate(
    [
        ("xyv", (12, 16, 20)), ("vxy", (16, 20, 12)), ("yxv", (9, 21, 14)), ("vyx", (18, 13, 8)), ("xyv", (30, 17, 15)),
        ("xvy", (15, 9, 22)), ("xy", (40, 33)), ("yx", (32, 48)), ("xy", (64, 64)), ("yx", (29, 71)),
    ]
):
    n += check(seed, order, shape)
assert n > 60, n
print(n, "structures")
