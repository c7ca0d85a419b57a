"""FITS cubes and images: astropy writes small files, and compares what `inselberg` makes of them with what astropy reads: every
cell, and sky coordinates by astropy.wcs.

    python fits.py make FOLDER               the files; prints their names
    python fits.py compare FILE CATALOGUE
"""

import os
import re
import sys

import h5py
import numpy as np
from astropy import units
from astropy.io import fits
from astropy.wcs import WCS

RANDOM = np.random.default_rng(28)
LINE = 1.420405751768e9


def blobs(shape):
    """Some peaks, with noise that is also negative."""
    grid = np.indices(shape).astype(float)
    field = 0.1 * RANDOM.standard_normal(shape)
    for _ in range(12):
        centre, width = [RANDOM.uniform(0, n) for n in shape], [RANDOM.uniform(1, 3) for _ in shape]
        square = sum(((g - c) / w) ** 2 for g, c, w in zip(grid, centre, width))
        field += RANDOM.uniform(2, 9) * np.exp(-square / 2)
    return field


def celestial(names, code, value, steps=(-0.02, 0.02), **cards):
    kinds = [f"{name:-<5}{code:->3}" if len(name) < 5 else name + code for name in names]
    header = {"CTYPE1": kinds[0], "CTYPE2": kinds[1], "CRVAL1": value[0], "CRVAL2": value[1]}
    return header | {"CDELT1": steps[0], "CDELT2": steps[1], "CRPIX1": 12.5, "CRPIX2": 8.0} | cards


def spectral(kind, value, step, **cards):
    return {"CTYPE3": kind, "CRVAL3": value, "CDELT3": step, "CRPIX3": 4.0} | cards


def write(folder, name, data, cards, **others):
    header = fits.Header()
    for key, value in cards.items():
        header[key] = value
    fits.writeto(f"{folder}/{name}", data, header)
    print(name)


def packed(folder, name, data, cards, kind, **how):
    """In compressed tiles."""
    header = fits.Header(list(cards.items()))
    part = fits.CompImageHDU(data, header, compression_type=kind, **how)
    fits.HDUList([fits.PrimaryHDU(), part]).writeto(f"{folder}/{name}.fits.fz")
    print(f"{name}.fits.fz")


def make(folder):
    os.makedirs(folder)
    cube, image = blobs((9, 20, 27)), blobs((31, 26))
    cube[2:4, 5:9, 3] = np.nan
    velocity = spectral("VRAD", -4e3, 500.0, SPECSYS="LSRK")
    for code in ["TAN", "SIN", "ARC", "STG", "ZEA", "CAR", "SFL", "GLS", "NCP"]:
        for i, place in enumerate([(83.8, -5.4), (0.01, 88.0), (200.0, 41.0)]):
            cards = celestial(("RA", "DEC"), code, place, RADESYS="FK5", EQUINOX=2000.0)
            write(folder, f"{code.lower()}{i}.fits", cube.astype(">f4"), cards | velocity)
    turned = celestial(("GLON", "GLAT"), "TAN", (10.0, 1.0), PC1_1=0.8, PC1_2=-0.6, PC2_1=0.6, PC2_2=0.8)
    write(folder, "pc.fits", image, turned)
    cd = celestial(("RA", "DEC"), "TAN", (10.0, 1.0), CD1_1=-0.01, CD1_2=0.003, CD2_1=0.004, CD2_2=0.02)
    write(folder, "cd.fits", image, {k: v for k, v in cd.items() if not k.startswith("CDELT")})
    write(folder, "crota.fits", image, celestial(("RA", "DEC"), "SIN", (10.0, 1.0), (-0.02, 0.03), CROTA2=25.0))
    write(folder, "ncp.fits", image, celestial(("RA", "DEC"), "SIN", (10.0, 50.0), PV2_1=0.1, PV2_2=0.8391))
    write(folder, "pole.fits", image, celestial(("RA", "DEC"), "TAN", (10.0, 20.0), LONPOLE=150.0))
    # Where two poles are as near to LATPOLE, the choice turns the sky by 180 degrees.
    for i, (lon, lat, at) in enumerate([(0.0, 0.0, 20.0), (180.0, 0.0, -20.0), (170.0, 0.0, -20.0), (30.0, -90.0, 20.0)]):
        for code in ["CAR", "SFL"]:
            poles = celestial(("GLON", "GLAT"), code, (10.0, at), LONPOLE=lon, LATPOLE=lat)
            write(folder, f"{code.lower()}pole{i}.fits", image, poles)
    arcsec = celestial(("RA", "DEC"), "TAN", (3e5, 3e4), (-60.0, 60.0), CUNIT1="arcsec", CUNIT2="arcsec")
    write(folder, "arcsec.fits", image, arcsec)
    sky = celestial(("RA", "DEC"), "SIN", (83.8, -5.4), (-0.001, 0.001))
    lines = {"RESTFRQ": LINE, "CUNIT3": "MHz"}
    write(folder, "freq.fits", cube, sky | spectral("FREQ", LINE / 1e6, 0.02, **lines))
    write(folder, "norest.fits", cube, sky | spectral("FREQ", LINE / 1e6, 0.02, CUNIT3="MHz"))
    write(folder, "wave.fits", cube, sky | spectral("WAVE", 656.0, 0.1, CUNIT3="nm", RESTWAV=656.28e-9))
    write(folder, "vopt.fits", cube, sky | spectral("VOPT", -4.0, 0.5, CUNIT3="km/s"))
    stokes = {"CTYPE4": "STOKES", "CRVAL4": 1.0, "CDELT4": 1.0, "CRPIX4": 1.0}
    write(folder, "stokes.fits", cube[None], sky | velocity | stokes)
    write(folder, "planes.fits", np.stack([cube, -cube, 3 * cube]), sky | velocity | stokes)
    write(folder, "unit.fits", cube, sky | spectral("VRAD", -4.0, 0.5, CUNIT3="km s**-1"))
    write(folder, "felo.fits", cube, sky | spectral("FELO-HEL", -4e3, 500.0, RESTFRQ=LINE))
    write(folder, "packed.fits.gz", cube, sky | velocity)
    packed(folder, "rice", cube.astype("f4"), sky | velocity, "RICE_1", quantize_method=1, dither_seed=77)
    packed(folder, "rice2", cube.astype("f8"), sky | velocity, "RICE_1", quantize_method=2, tile_shape=(2, 7, 10))
    packed(folder, "gzip", cube.astype("f4"), sky | velocity, "GZIP_1", quantize_method=-1)
    packed(folder, "gzip2", cube.astype("f8"), sky | velocity, "GZIP_2", quantize_level=0)
    packed(folder, "short", np.nan_to_num(90 * image).astype("i2"), turned, "RICE_1")
    packed(folder, "bytes", np.nan_to_num(9 * image).clip(0).astype("u1"), turned, "GZIP_2")
    lines = {"CTYPE1": "VRAD", "CRVAL1": 1e3, "CDELT1": 500.0, "CRPIX1": 2.0, "CTYPE2": "RA---TAN", "CRVAL2": 83.8}
    lines |= {"CDELT2": -0.01, "CRPIX2": 3.0, "CTYPE3": "DEC--TAN", "CRVAL3": -5.4, "CDELT3": 0.01, "CRPIX3": 9.0}
    write(folder, "vfirst.fits", cube, lines)
    slit = {"CTYPE1": "RA---TAN", "CTYPE2": "VRAD", "CTYPE3": "DEC--TAN", "CRVAL1": 83.8, "CRVAL3": -5.4, "CDELT1": -0.01}
    slit |= {"CDELT2": 300.0, "CDELT3": 0.01, "CRPIX1": 5.0, "CRPIX3": 0.5}
    write(folder, "slit.fits", image[None], slit)
    plain = {"CTYPE1": "X", "CTYPE2": "Y", "CTYPE3": "Z", "CDELT1": 0.1, "CRVAL2": 5.0, "CRPIX3": 2.0, "CUNIT1": "pc"}
    write(folder, "plain.fits", cube, plain)
    for bits in ["u1", "i2", "i4", "i8"]:
        scaled = fits.PrimaryHDU(np.maximum(20 * np.nan_to_num(cube), 0).astype(bits))
        scaled.header["BLANK"] = 7
        scaled.header["BSCALE"], scaled.header["BZERO"] = 0.25, -1.5
        fits.HDUList([scaled]).writeto(f"{folder}/{bits}.fits", output_verify="ignore")
        print(f"{bits}.fits")


def stored(path):
    """The numbers in the file, scaled in double precision."""
    with fits.open(path, do_not_scale_image_data=True) as file:
        hdu = next(h for h in file if h.data is not None)
        header, data = hdu.header, hdu.data
        values = data.astype("f8")
        # Of a Stokes axis the first plane is taken, which is I.
        values = values[0] if header.get("CTYPE4") == "STOKES" else values
        if "BLANK" in header:
            values[data == header["BLANK"]] = np.nan
        return header, header.get("BZERO", 0.0) + header.get("BSCALE", 1.0) * values


def velocities(world, kind, header):
    """km/s from what astropy.wcs says, which is in m/s, Hz or m."""
    if kind in ("VRAD", "VOPT", "VELO"):
        return world / 1e3
    if kind == "FREQ" and "RESTFRQ" in header:
        rest = units.doppler_radio(header["RESTFRQ"] * units.Hz)
    elif kind == "WAVE" and "RESTWAV" in header:
        rest = units.doppler_optical(header["RESTWAV"] * units.m)
    else:
        return world
    unit = {"FREQ": units.Hz, "WAVE": units.m}[kind]
    return (world * unit).to_value(units.km / units.s, equivalencies=rest)


def columns(header):
    """The names of the coordinates, by axis of the file."""
    for axis in range(1, header["NAXIS"] + 1):
        kind = header.get(f"CTYPE{axis}", "")
        if re.match("(RA|DEC|GLON|GLAT)-", kind):
            yield axis, kind, kind.split("-")[0].lower()
        elif kind in ("VRAD", "VOPT", "VELO") or (kind == "FREQ" and "RESTFRQ" in header) or kind == "WAVE":
            yield axis, kind, "velocity"
        elif kind == "FREQ":
            yield axis, kind, "frequency"
        elif kind not in ("", "STOKES", "FELO-HEL"):
            yield axis, kind, kind.lower()


def compare(path, catalogue):
    header, values = stored(path)
    axes = range(1, header["NAXIS"] + 1)
    used = [axis for axis in axes if header[f"NAXIS{axis}"] > 1 and header.get(f"CTYPE{axis}") != "STOKES"]
    flat = values.reshape([n for n in values.shape if n > 1]).T
    with h5py.File(catalogue) as file:
        at = file["cells/ijk"][:, : flat.ndim]
        assert len(at) == np.isfinite(flat).sum(), (len(at), np.isfinite(flat).sum())
        assert np.array_equal(file["cells/density"][:], flat[tuple(at.T)])
        n = 0
        for table, place in [("clumps", "peak"), ("clumps", "centre"), ("haloes", "peak"), ("haloes", "centre")]:
            rows = file[table]
            positions = rows["peak_position" if place == "peak" else "centre_of_mass"][:]
            assert len(positions) > 2
            pixels = np.ones((len(positions), header["NAXIS"]))
            pixels[:, np.array(used) - 1] = positions[:, : len(used)] + 0.5
            known = list(columns(header))
            world = WCS(header).wcs_pix2world(pixels, 1) if known else None
            for axis, kind, name in known:
                expected, found = world[:, axis - 1], rows[f"{place}_{name}"][:]
                if name in ("ra", "glon"):
                    # A longitude counts for less near a pole.
                    latitude = [other for other, _, o in known if o in ("dec", "glat")][0]
                    off = (found - expected + 180) % 360 - 180
                    off, scale = off * np.cos(np.radians(world[:, latitude - 1])), 1.0
                else:
                    expected = velocities(expected, kind, header) if name == "velocity" else expected
                    off, scale = found - expected, np.abs(expected).max() if name == "frequency" else 1.0
                assert np.isfinite(found).all() and np.abs(off).max() < 1e-9 * scale, (name, found, expected)
                n += 1
    print(f"{path}: {len(at)} cells, {n} columns")


if __name__ == "__main__":
    make(sys.argv[2]) if sys.argv[1] == "make" else compare(*sys.argv[2:])
