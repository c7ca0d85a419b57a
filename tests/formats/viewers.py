"""Opens files for viewers with yt, VTK and astropy: python viewers.py CATALOGUE. In the folder of docs/viewers.md's commands."""

import sys

import h5py
import numpy as np
import vtk
import yt
from astropy.table import Table
from vtk.util.numpy_support import vtk_to_numpy

CATALOGUE = h5py.File(sys.argv[1])
CLUMPS, CELLS = CATALOGUE["clumps"], CATALOGUE["cells"]
BOX = CATALOGUE.attrs["boxlen"]


def cgs(name):
    return CLUMPS[name][:] * CLUMPS[name].attrs["cgs_factor"]


def with_yt():
    yt.set_log_level(50)
    halos = yt.load("yt/clumps.0.h5").all_data()
    # yt sorts halos by place.
    order = np.argsort(np.array(halos["halos", "particle_identifier"]))
    rows = np.argsort(CLUMPS["id"][:])
    assert len(order) == len(rows) > 2
    mass = np.array(halos["halos", "particle_mass"].to("g"))[order]
    assert np.allclose(mass, cgs("mass")[rows], rtol=1e-12)
    place = np.array(halos["halos", "particle_position"].to("cm"))[order]
    assert np.allclose(place, cgs("peak_position_refined")[rows], rtol=1e-12)


def read(name):
    reader = vtk.vtkHDFReader()
    reader.SetFileName(f"vtk/{name}.vtkhdf")
    reader.Update()
    return reader.GetOutput()


def points():
    found = read("clumps")
    assert found.GetNumberOfPoints() == found.GetNumberOfVerts() == len(CLUMPS["id"])
    labels = vtk_to_numpy(found.GetPointData().GetArray("id"))
    assert np.array_equal(labels, CLUMPS["id"][:])


def leaves():
    """Each leaf of the tree has the bounds, the clump and the density that the catalogue has."""
    tree = vtk.vtkHyperTreeGridToUnstructuredGrid()
    tree.SetInputData(read("cells"))
    tree.Update()
    found = tree.GetOutput()
    side = BOX / 2.0 ** CELLS["level"][:]
    low = CELLS["ijk"][:] * side[:, None]
    # In units of 2^-18 of the box, which VTK's single precision holds.
    units = lambda x: tuple(np.round(np.asarray(x) / BOX * 2.0**18).astype(int))
    values = zip(CELLS["clump"][:], CELLS["halo"][:], CELLS["density"][:])
    expected = {units([*corner, h]): value for corner, h, value in zip(low, side, values)}
    assert found.GetNumberOfCells() == len(expected) == len(side)
    columns = [vtk_to_numpy(found.GetCellData().GetArray(name)) for name in ("clump", "halo", "density")]
    for i in range(found.GetNumberOfCells()):
        x0, x1, y0, _, z0, _ = found.GetCell(i).GetBounds()
        assert expected[units([x0, y0, z0, x1 - x0])] == tuple(column[i] for column in columns), i


def tables():
    fits, ecsv = Table.read("clumps.fits", hdu="clumps"), Table.read("clumps.ecsv")
    for table in (fits, ecsv):
        assert np.array_equal(table["id"], CLUMPS["id"][:])
        assert np.array_equal(table["mass"], cgs("mass"))
        assert table["mass"].unit == "g"


with_yt()
points()
leaves()
tables()
