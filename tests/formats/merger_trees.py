"""Compares a merger tree in ytree with its catalogue: python merger_trees.py CATALOGUE TREE."""

import sys

import h5py
import numpy as np
import ytree
import yt

yt.set_log_level(50)
CATALOGUE = h5py.File(sys.argv[1])
NODES, SNAPSHOTS = CATALOGUE["nodes"], CATALOGUE["snapshots"]
snapshot, descendant, main, mass = (NODES[name][:] for name in ("snapshot", "descendant", "main_progenitor", "mass"))
masses = mass * SNAPSHOTS["unit_mass"][:][snapshot] / 1.98841e33
redshifts = SNAPSHOTS["redshift"][:][snapshot]

arbor = ytree.load(sys.argv[2])
roots = np.flatnonzero(descendant < 0)
assert arbor.size == len(roots)
assert set(np.array(arbor["uid"]).astype(int)) == set(roots)
assert arbor.hubble_constant == CATALOGUE.attrs["h0"] / 100
assert str(arbor["mass"].units) == "Msun" and str(arbor["position_x"].units) == "Mpc"
assert str(arbor["vmax"].units) == "km/s"

arbor.set_selector("max_field_value", "main_line")
n_nodes = 0
for tree in arbor:
    line = [int(tree["uid"])]
    while main[line[-1]] >= 0:
        line.append(main[line[-1]])
    assert np.array_equal(np.array(tree["prog", "uid"]).astype(int), line)
    assert np.allclose(tree["prog", "mass"].to("Msun").d, masses[line], rtol=1e-12)
    assert np.allclose(tree["prog", "redshift"], redshifts[line], rtol=1e-12)
    uids = np.array(tree["tree", "uid"]).astype(int)
    assert np.array_equal(np.array(tree["tree", "desc_uid"]).astype(int), descendant[uids])
    assert np.array_equal(np.array(tree["tree", "tracer"]), NODES["tracer"][:][uids])
    n_nodes += len(uids)
assert n_nodes == len(mass)

# The default of ytree follows the heaviest progenitor instead.
by_mass = ytree.load(sys.argv[2])
main_mass = [np.array(tree["prog", "uid"]).astype(int) for tree in by_mass]
for line in main_mass:
    for node in line[:-1]:
        progenitors = np.flatnonzero(descendant == node)
        assert masses[progenitors].max() == masses[line[list(line).index(node) + 1]]

halos = arbor.ytds.all_data()
assert len(halos["halos", "mass"]) == len(mass)
assert np.isclose(halos["halos", "mass"].to("Msun").sum().d, masses.sum(), rtol=1e-5)
