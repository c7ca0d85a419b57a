"""Outputs on disk: the same catalogues as the command's.

The command is taken from the variable INSELBERG_COMMAND, if that is set.
"""

import os
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
from conftest import same_files, same_tables

import inselberg as ib

FIXTURE = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "ramses_16.tar.xz"
COMMAND = os.environ.get("INSELBERG_COMMAND")

pytestmark = pytest.mark.skipif(not FIXTURE.exists(), reason="only in the repository")


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "ramses_16" / "dm_1rank" / "output_00002"


THRESHOLDS = dict(density=80, relevance=3, saddle=200)
FLAGS = ["--density-threshold", "80", "--relevance-threshold", "3", "--saddle-threshold", "200"]


def command(*arguments):
    subprocess.run([COMMAND, *map(str, arguments), "--quiet"], check=True)


def lasting(attributes):
    """Attributes that do not depend on how and where a catalogue was made."""
    return {name: value for name, value in attributes.items() if not name.startswith("run_")}


def units(catalogue):
    return {name: table.units for name, table in catalogue.tables.items()}


def same_catalogues(first, second):
    assert lasting(first.attributes) == lasting(second.attributes)
    assert units(first) == units(second)
    return same_tables(first, second)


def test_headers(output):
    snapshot = ib.open(output)
    assert "ramses" in snapshot.format.lower()
    assert snapshot.number == 2 and snapshot.has_particles and snapshot.redshift is not None
    assert "rho" in snapshot.fields and str(output) in repr(snapshot)
    particles = ib.open_particles(output)
    assert sum(particles.species.values()) > 0 and particles.sides is not None


def test_clumps_with_cells_and_particles(output):
    cat = ib.phew(ib.open(output), with_cells=True, with_particles=True, threads=2, **THRESHOLDS)
    assert len(cat.haloes) > 0 and cat.coverage == 1.0
    for halo in cat.haloes:
        assert len(halo.cells()) == halo.n_cells
        np.testing.assert_array_equal(cat["cells"]["halo"][halo.cells()], halo.id)
        np.testing.assert_array_equal(cat["particles"]["halo"][cat.particles(halo)], halo.id)
    assert len(cat.particles(1)) > 0
    plain = ib.phew(ib.open(output), **THRESHOLDS)
    with pytest.raises(ib.InvalidArgumentError, match="with_cells=True"):
        plain.labels
    with pytest.raises(ib.InvalidArgumentError, match="with_particles=True"):
        plain.particles(1)


def test_bound_particles_of_clumps(output):
    cat = ib.phew(ib.open(output), unbind=True, properties="all", with_members=True, with_particles=True, **THRESHOLDS)
    clumps, members = cat["clumps"], cat["members"]
    assert clumps["n_bound"].sum() == len(members["id"]) > 0
    first, n = int(clumps["members_offset"][0]), int(clumps["n_bound"][0])
    assert n >= 20 and (members["clump"][first : first + n] == clumps["id"][0]).all()
    assert (np.diff(members["energy"][first : first + n]) >= 0).all() and members["energy"].max() < 0
    assert clumps["most_bound_id"][0] in members["id"][first : first + n] and clumps["spin_parameter"][0] > 0
    shells = ib.phew(ib.open(output), unbind="spherical", **THRESHOLDS)
    assert "spin_parameter" not in shells["clumps"] and 0 < shells["clumps"]["n_bound"][0] <= 2 * n
    own = ib.phew(ib.open(output), unbind="ramses", rules="ramses", **THRESHOLDS)
    assert own["clumps"]["n_bound"].sum() > 0
    soft = ib.phew(ib.open(output), unbind=True, softening={"dark-matter": 0.05}, with_members=True, **THRESHOLDS)
    assert soft["members"]["potential"].min() > members["potential"].min() and (members["type"] == 1).all()
    none = ib.phew(ib.open(output), unbind=True, potential_from="gas", softening=0.01, **THRESHOLDS)
    assert none["clumps"]["n_bound"].sum() == 0
    no_gas = (dict(properties="so"), dict(properties="gas"), dict(unbind=True, gamma=1.0))
    refused = (*no_gas, dict(unbind=True, potential_from="moons"), dict(unbind=True, softening=-1.0), dict(unbind="ramses"))
    for wrong in (dict(with_members=True), dict(unbind="ring"), dict(unbind=True, properties="few"), *refused):
        with pytest.raises(ib.InvalidArgumentError, match="expected"):
            ib.phew(ib.open(output), **wrong, **THRESHOLDS)
    cells = ib.Cells.leaves([3], [[1, 1, 1]], box=1.0)
    with pytest.raises(ib.InvalidArgumentError, match="particles"):
        ib.phew(cells, np.ones(1), density=0.5, unbind=True)


def test_properties_of_groups(output):
    particles = ib.open_particles(output)
    cat = ib.fof(particles, min_size=20, properties="so,bound", with_members=True, softening=0.01)
    groups, members = cat["Groups"], cat["members"]
    assert groups["n_bound"].sum() == len(members["id"]) > 0 and groups["mass_200_crit"].max() > 0
    assert members["group"][0] == groups["GroupIDs"][np.flatnonzero(groups["n_bound"])[0]]
    spheres = ib.fof(particles, min_size=20, properties="so")
    assert "n_bound" not in spheres["Groups"] and spheres["Groups"]["radius_bn98"].max() > 0
    for wrong in (dict(with_members=True), dict(properties="so", softening=1.0), dict(properties="few")):
        with pytest.raises(ib.InvalidArgumentError, match="expected"):
            ib.fof(particles, **wrong)
    with pytest.raises(ib.InvalidArgumentError, match="expected a finite length above 0"):
        ib.fof(particles, properties="bound", softening=-1.0)
    with pytest.raises(ib.InvalidArgumentError, match="particles in memory"):
        ib.fof(np.ones((3, 3)), length=0.1, properties="so")


def test_layout_of_soap(output, tmp_path):
    particles = ib.open_particles(output)
    cat = ib.fof(particles, min_size=20, properties="so,bound", with_members=True)
    cat.to_soap(tmp_path / "own.hdf5")
    cat.save(tmp_path / "own_catalogue.hdf5")
    ib.read_catalogue(tmp_path / "own_catalogue.hdf5").to_soap(tmp_path / "stored.hdf5")
    assert (tmp_path / "own.hdf5").read_bytes() == (tmp_path / "stored.hdf5").read_bytes()
    cat.to_soap(tmp_path / "soap", particles)
    assert (tmp_path / "soap" / "halo_properties.hdf5").read_bytes() == (tmp_path / "own.hdf5").read_bytes()
    # RAMSES keeps no particles by type.
    assert not (tmp_path / "soap" / "membership.hdf5").exists()
    with pytest.raises(ib.WriteError, match="expected a name that ends in .hdf5, or a folder"):
        cat.to_soap(tmp_path / "own.csv")
    with pytest.raises(ib.WriteError, match="no such properties in the catalogue"):
        ib.fof(particles, min_size=20).to_soap(tmp_path / "none.hdf5")
    assert not (tmp_path / "none.hdf5").exists()


SWIFT = FIXTURE.parent / "swift_fof_16.tar.xz"


@pytest.mark.skipif(COMMAND is None, reason="INSELBERG_COMMAND is not set")
def test_layout_of_soap_equals_that_of_the_command(output, tmp_path):
    with tarfile.open(SWIFT) as archive:
        archive.extractall(tmp_path, filter="data")
    snapshot = tmp_path / "swift_fof_16" / "snap_0000.hdf5"
    command("fof", snapshot, "--soap", tmp_path / "groups", "--properties", "bound", "--with-members")
    particles = ib.open_particles(snapshot)
    # The command attaches these types.
    groups = ib.fof(particles, attaching_types=(0, 4, 5), properties="bound", with_members=True)
    groups.to_soap(tmp_path / "own_groups", particles)
    # Another HDF5 library may lay out a file in another way. The command has another number for no group.
    for name in ("membership.hdf5", "halo_properties.hdf5"):
        same_files(tmp_path / "own_groups" / name, tmp_path / "groups" / name, but=["FOF:group_id_default"])
    command("phew", output, *FLAGS, "--unbind", "--properties", "all", "--soap", tmp_path / "clumps.hdf5")
    ib.phew(ib.open(output), unbind=True, properties="all", **THRESHOLDS).to_soap(tmp_path / "own_clumps.hdf5")
    same_files(tmp_path / "clumps.hdf5", tmp_path / "own_clumps.hdf5")


def test_cells_of_an_output_make_a_mesh_in_memory(output):
    """Its leaves fill the box, and no two of them overlap."""
    table = ib.phew(ib.open(output), with_cells=True, **THRESHOLDS)["cells"]
    cells = ib.Cells.leaves(table["level"], table["ijk"], box=ib.open(output).sides[0])
    assert ib.phew(cells, np.linspace(1, 2, len(table)), density=1.5).coverage == 1.0


def test_recut_equals_a_fresh_run(output):
    cat = ib.phew(ib.open(output), **THRESHOLDS)
    cut, fresh = cat.recut(relevance=5, saddle=150), ib.phew(ib.open(output), density=80, relevance=5, saddle=150)
    assert same_tables(cut, fresh)


def test_wrong_sources(output):
    with pytest.raises(ib.ReadError, match="no_such"):
        ib.open("no_such_output_00001")
    with pytest.raises(ib.InvalidArgumentError, match="`vorticity`; expected one of"):
        ib.phew(ib.open(output), "vorticity", density=80)
    with pytest.raises(ib.InvalidArgumentError, match="expected cells, an opened output"):
        ib.phew(str(output), density=80)
    with pytest.raises(ib.InvalidArgumentError, match="dark matter either linking or attaching"):
        ib.fof(ib.open_particles(output), attaching_types=[1])
    groups = ib.fof(ib.open_particles(output), min_size=5)
    with pytest.raises(ib.InvalidArgumentError, match="expected positions as arrays"):
        groups.labels


@pytest.mark.skipif(COMMAND is None, reason="INSELBERG_COMMAND is not set")
def test_clumps_equal_those_of_the_command(output, tmp_path):
    command("phew", output, *FLAGS, "--with-cells", "-o", tmp_path / "command.hdf5")
    cat = ib.phew(ib.open(output), with_cells=True, **THRESHOLDS)
    assert same_catalogues(cat, ib.read_catalogue(tmp_path / "command.hdf5"))
    cat.save(tmp_path / "own.hdf5")
    assert same_catalogues(ib.read_catalogue(tmp_path / "own.hdf5"), ib.read_catalogue(tmp_path / "command.hdf5"))
    command("recut", tmp_path / "own.hdf5", "--relevance-threshold", "5", "-o", tmp_path / "cut.hdf5")
    assert same_catalogues(cat.recut(relevance=5), ib.read_catalogue(tmp_path / "cut.hdf5"))


@pytest.mark.skipif(COMMAND is None, reason="INSELBERG_COMMAND is not set")
def test_particles_equal_those_of_the_command(output, tmp_path):
    command("fof", output, "--min-size", "5", "-o", tmp_path / "groups.hdf5")
    groups = ib.fof(ib.open_particles(output), min_size=5)
    expected = ib.read_catalogue(tmp_path / "groups.hdf5")
    for column in groups.groups.columns:
        np.testing.assert_array_equal(groups.groups[column], expected.groups[column])
    flags = ["--mesh-from-particles", "--m-refine", "4", "--level-min", "3", "--level-max", "12"]
    command("phew", output, *flags, *FLAGS, "-o", tmp_path / "mesh.hdf5")
    mesh = ib.open_particles(output).mesh(m_refine=4, level_min=3, level_max=12)
    assert same_catalogues(ib.phew(mesh, **THRESHOLDS), ib.read_catalogue(tmp_path / "mesh.hdf5"))
    command("phew", output, "--particle-graph", "--neighbours", "20", *FLAGS, "-o", tmp_path / "graph.hdf5")
    graph = ib.open_particles(output).graph(neighbours=20)
    assert same_catalogues(ib.phew(graph, **THRESHOLDS), ib.read_catalogue(tmp_path / "graph.hdf5"))
    for source, flag in [(ib.open_particles(output), ["--mesh-from-particles"]), (ib.open(output), [])]:
        command("phew", output, *flag, "-o", tmp_path / "zero.hdf5")
        assert same_catalogues(ib.phew(source), ib.read_catalogue(tmp_path / "zero.hdf5"))
    flags = ["--relevance-threshold", "1.2", "--wall-threshold", "0.3", "--neighbours", "20", "--with-particles"]
    command("voids", output, *flags, "-o", tmp_path / "voids.hdf5")
    voids = ib.voids(graph, relevance=1.2, wall=0.3, with_particles=True)
    assert same_catalogues(voids, ib.read_catalogue(tmp_path / "voids.hdf5"))


def test_voids_have_zones_and_new_cuts(output, tmp_path):
    particles = ib.open_particles(output)
    cat = ib.voids(particles, relevance=1.2, wall=0.3)
    voids, zones = cat.voids, cat.zones
    assert len(voids) > 1 and voids["n_zones"].sum() == len(zones)
    assert voids["n_particles"].sum() == cat.attributes["n_test_particles"]
    np.testing.assert_allclose(4 / 3 * np.pi * voids["radius"] ** 3, voids["volume"])
    cat.save(tmp_path / "voids.hdf5")
    fresh = ib.voids(particles, relevance=1.5, wall=0.5, min_radius=1e-3)
    for cut in (cat, ib.read_catalogue(tmp_path / "voids.hdf5")):
        cut = cut.recut(relevance=1.5, wall=0.5, min_radius=1e-3)
        assert isinstance(cut, ib.VoidCatalogue) and len(cut.voids) == len(fresh.voids)
        for column in cut.voids.columns:
            np.testing.assert_array_equal(cut.voids[column], fresh.voids[column])
    with pytest.raises(ib.InvalidArgumentError, match="wall_threshold is 2; expected at most the density threshold 1"):
        ib.voids(particles, wall=2, density=1)
    with pytest.raises(ib.InvalidArgumentError, match="expected opened particles or their graph"):
        ib.voids(str(output))
