"""Images and cubes of observers: FITS files, arrays with a WCS, and cubes of spectral-cube."""

import os
import subprocess

import numpy as np
import pytest

import inselberg as ib

fits = pytest.importorskip("astropy.io.fits")
wcs = pytest.importorskip("astropy.wcs")

OPTIONS = dict(density_threshold="5sigma", relevance_difference="2sigma")


def header():
    cards = fits.Header()
    for i, (kind, unit, value, step) in enumerate(
        [("RA---TAN", "deg", 83.8, -0.001), ("DEC--TAN", "deg", -5.4, 0.001), ("VRAD", "m/s", 8000.0, 200.0)], 1
    ):
        cards[f"CTYPE{i}"], cards[f"CUNIT{i}"], cards[f"CRVAL{i}"], cards[f"CDELT{i}"] = kind, unit, value, step
        cards[f"CRPIX{i}"] = 5.0
    cards["BUNIT"], cards["BMAJ"], cards["BMIN"], cards["BPA"] = "K", 0.003, 0.002, 30.0
    cards["RESTFRQ"] = 115.271e9
    return cards


def cube():
    """Two clouds in noise, with odd sides and pixels without a value."""
    rng = np.random.default_rng(3)
    v, y, x = np.mgrid[0:11, 0:17, 0:21]
    data = rng.normal(0, 0.2, v.shape)
    for peak, at in [(9, (4, 6, 5)), (7, (7, 10, 14))]:
        data += peak * np.exp(-((v - at[0]) ** 2 + (y - at[1]) ** 2 + (x - at[2]) ** 2) / 4)
    data[:, :2] = np.nan
    return data


def test_labels_have_the_shape_of_the_array(tmp_path):
    data, path = cube(), tmp_path / "cube.fits"
    fits.writeto(path, data[None], header())
    found = ib.phew(ib.open(path), **OPTIONS)
    assert found.labels.shape == (1, *data.shape)
    labels = found.labels[0]
    assert (labels[np.isnan(data)] == 0).all() and set(np.unique(labels)) == {0, 1, 2}
    assert labels[4, 6, 5] == 1 and labels[7, 10, 14] == 2
    assert (found.clumps["n_cells"] == [(labels == 1).sum(), (labels == 2).sum()]).all()
    assert data[labels > 0].min() > 5 * found.attributes["noise"]
    assert np.array_equal(found.cells(2), np.flatnonzero(found.labels == 2))


def test_an_array_with_coordinates_is_as_its_file(tmp_path):
    data, path = cube(), tmp_path / "cube.fits"
    fits.writeto(path, data, header())
    of_file = ib.phew(ib.open(path), distance="414pc", **OPTIONS)
    found = ib.phew_grid(data, wcs=header(), distance="414pc", **OPTIONS)
    for name in ("major_sigma", "flux", "centre_ra", "v_rms", "luminosity"):
        assert np.array_equal(found.clumps[name], of_file.clumps[name], equal_nan=True), name
    assert np.array_equal(found.labels, of_file.labels)
    placed = ib.phew_grid(data, wcs=wcs.WCS(header()), **OPTIONS)
    assert np.allclose(placed.clumps["centre_ra"], of_file.clumps["centre_ra"], rtol=1e-14)
    # An image has two axes.
    image = ib.phew_grid(np.nansum(data, axis=0), wcs=wcs.WCS(header()).celestial, density_threshold=9, relevance_difference=2)
    assert image.labels.shape == data.shape[1:] and "v_rms" not in image.clumps.units


class MaskedCube:
    """What this package uses of a cube of spectral-cube."""

    class Quantity:
        def __init__(self, value):
            self.value = value

    class Filled:
        def __init__(self, values):
            self.values = values

        def __getitem__(self, part):
            return MaskedCube.Quantity(self.values[part])

    def __init__(self, values, about):
        self.filled_data, self.header = self.Filled(values), about


def test_cubes_of_spectral_cube_have_their_own_coordinates():
    found = ib.phew_grid(MaskedCube(cube(), header()), **OPTIONS)
    expected = ib.phew_grid(cube(), wcs=header(), **OPTIONS)
    assert np.array_equal(found.clumps["major_sigma"], expected.clumps["major_sigma"])


def test_images_without_a_plane_are_refused():
    with pytest.raises(ib.InvalidArgumentError, match="1 axes; expected two or three"):
        ib.phew_grid(np.zeros(4), wcs=header(), density_threshold=1)


def test_columns_have_the_units_of_observers(tmp_path):
    path = tmp_path / "cube.fits"
    fits.writeto(path, cube(), header())
    clumps = ib.phew(ib.open(path), distance="414pc", **OPTIONS).clumps
    expected = dict(
        flux="Jy", flux_error="Jy", radius="arcsec", area_exact="arcsec2", v_rms="km/s", luminosity="K km s-1 pc2",
        mass_luminous="solMass", centre_ra="deg", peak_velocity="km/s", density_peak="K", n_cells="dimensionless",
    )
    assert {name: clumps.units[name] for name in expected} == expected
    units = pytest.importorskip("astropy.units")
    table = clumps.astropy
    assert table["flux"].unit == units.Jy and table["area_exact"].unit == units.arcsec**2
    assert table["luminosity"].unit == units.K * units.km / units.s * units.pc**2
    assert table["density_peak"].unit == units.K and table["n_cells"].dtype.kind == "u"


def test_labels_and_regions_are_written(tmp_path):
    path, labels = tmp_path / "cube.fits", tmp_path / "labels.fits"
    fits.writeto(path, cube(), header())
    found = ib.phew(ib.open(path), **OPTIONS)
    found.save_labels(labels)
    assert np.array_equal(fits.getdata(labels), found.labels)
    assert wcs.WCS(fits.getheader(labels)).wcs.compare(wcs.WCS(header()).wcs)
    found.save_labels(tmp_path / "haloes.fits", of="haloes")
    assert np.array_equal(fits.getdata(tmp_path / "haloes.fits"), found.halo_labels)
    for name in ("clumps.reg", "clumps.crtf"):
        found.save_labels(tmp_path / name)
        assert (tmp_path / name).read_text().count("\nellipse") == len(found.clumps)
    found.save(tmp_path / "found.hdf5")
    again = ib.read_catalogue(tmp_path / "found.hdf5")
    again.save_labels(tmp_path / "again.fits")
    assert (tmp_path / "again.fits").read_bytes() == labels.read_bytes()
    for name, of, text in (("l.txt", "clumps", r"\.fits, \.reg or \.crtf"), ("l.fits", "voids", "clumps or haloes")):
        with pytest.raises(ib.InvalidArgumentError, match=text):
            found.save_labels(tmp_path / name, of=of)


def test_a_dendrogram_is_a_catalogue(tmp_path):
    command = os.environ.get("INSELBERG_COMMAND")
    if command is None:
        pytest.skip("no command")
    path = tmp_path / "cube.fits"
    fits.writeto(path, cube(), header())
    args = ["--density-threshold", "5sigma", "--relevance-difference", "2sigma", "--dendrogram", str(tmp_path / "tree.hdf5")]
    subprocess.run([command, "phew", str(path), "-o", str(tmp_path / "c.hdf5"), "--quiet", *args], check=True)
    table = ib.read_catalogue(tmp_path / "tree.hdf5")["structures"]
    assert len(table) > 0 and (table["n_leaves"] >= 1).all() and (table["ancestor"] <= table["id"].max()).all()
    assert table.units["flux"] == "Jy" and (table["flux"] > 0).all()
