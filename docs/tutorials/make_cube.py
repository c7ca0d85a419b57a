"""A FITS cube of three clouds in noise, for the tutorial of cubes. It needs nothing but Python: python3 make_cube.py CUBE.fits"""

import array
import math
import random
import struct
import sys

CHANNELS, SIDE, NOISE = 40, 64, 0.1
# Peak in K; centre in channels and pixels; widths (standard deviations) in channels and pixels.
CLOUDS = [(4.0, (14, 22, 20), (2.0, 3.0)), (2.5, (17, 30, 28), (1.5, 2.5)), (1.5, (28, 46, 44), (2.0, 4.0))]
CARDS = [
    ("SIMPLE", "T"), ("BITPIX", "-32"), ("NAXIS", "3"), ("NAXIS1", str(SIDE)), ("NAXIS2", str(SIDE)), ("NAXIS3", str(CHANNELS)),
    ("BUNIT", "'K'"), ("CTYPE1", "'RA---TAN'"), ("CTYPE2", "'DEC--TAN'"), ("CTYPE3", "'VRAD'"),
    ("CRPIX1", "32.5"), ("CRPIX2", "32.5"), ("CRPIX3", "20.5"), ("CRVAL1", "83.8"), ("CRVAL2", "-5.4"), ("CRVAL3", "9000.0"),
    ("CDELT1", "-0.002"), ("CDELT2", "0.002"), ("CDELT3", "300.0"), ("CUNIT1", "'deg'"), ("CUNIT2", "'deg'"), ("CUNIT3", "'m/s'"),
    ("RADESYS", "'ICRS'"), ("SPECSYS", "'LSRK'"), ("RESTFRQ", "1.15271202E11"), ("BMAJ", "0.005"), ("BMIN", "0.005"), ("BPA", "0.0"),
]


def brightness(channel: int, y: int, x: int) -> float:
    total = 0.0
    for peak, (channel0, y0, x0), (width, size) in CLOUDS:
        distance2 = ((channel - channel0) / width) ** 2 + ((y - y0) ** 2 + (x - x0) ** 2) / size**2
        total += peak * math.exp(-0.5 * distance2)
    return total


def padded(block: bytes, filler: bytes) -> bytes:
    return block + filler * (-len(block) % 2880)


random.seed(1)
header = "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in CARDS) + "END".ljust(80)
cells = ((c, y, x) for c in range(CHANNELS) for y in range(SIDE) for x in range(SIDE))
values = array.array("f", (brightness(*cell) + random.gauss(0.0, NOISE) for cell in cells))
if struct.pack("=f", 1.0) != struct.pack(">f", 1.0):
    values.byteswap()
with open(sys.argv[1], "wb") as file:
    file.write(padded(header.encode(), b" ") + padded(values.tobytes(), b"\0"))
