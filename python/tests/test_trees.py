"""Merger trees that grow from call to call: the same tables as those of the command, and of catalogues in files.

The command is taken from the variable INSELBERG_COMMAND, if that is set.
"""

import os
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
from conftest import same_tables

import inselberg as ib

FIXTURE = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "ramses_16.tar.xz"
COMMAND = os.environ.get("INSELBERG_COMMAND")

#: Above 2**53, where reals are not exact.
LEAST = 2**60 + 1


def series(n_outputs=6, n_objects=30, seed=3):
    """Outputs of objects whose members change their order, and which are not always found."""
    random = np.random.default_rng(seed)
    sizes = random.integers(20, 90, n_objects)
    particles = [LEAST + 1000 * i + np.arange(n) for i, n in enumerate(sizes)]
    for output in range(n_outputs):
        found = np.flatnonzero((random.random(n_objects) < 0.8) | (np.arange(n_objects) < 10))
        order = [np.argsort(np.arange(sizes[i]) + random.integers(0, 9, sizes[i])) for i in found]
        members = [particles[i][at] for i, at in zip(found, order)]
        yield dict(
            number=10 + output,
            ids=found + 1,
            members=members,
            types=[np.where(m % 4 == 0, 4, 1).astype(np.int8) for m in members],
            parents=np.where(found % 3 == 0, found + 1, 1),
            masses=0.1 * np.array([len(m) for m in members]),
            positions=random.random((len(found), 3)),
            velocities=random.normal(size=(len(found), 3)),
            box=2.0,
            time=float(output),
        )


def add(tree, output, **changes):
    given = dict(output, **changes)
    members, types = (np.concatenate(given.pop(name)) for name in ("members", "types"))
    n_members = [len(m) for m in output["members"]]
    tree.add_objects(given.pop("number"), given.pop("ids"), n_members, members, types=types, **given)


def grown(**options):
    tree = ib.trees(threads=1, **options)
    for output in series():
        add(tree, output)
    return tree


def test_objects_of_a_program(tmp_path):
    tree = grown(gap=2)
    assert tree.n_outputs == 6 and "6 outputs" in repr(tree)
    nodes = tree.catalogue()["nodes"]
    assert len(nodes) > 150 and {0, 3} <= set(nodes["fate"])
    assert nodes["tracer"].min() > 2**60 and nodes["tracer_type"].max() == 4
    first = next(series())
    of_first = nodes["snapshot"] == 0
    np.testing.assert_array_equal(nodes["object"][of_first], first["ids"])
    np.testing.assert_array_equal(nodes["position"][of_first], first["positions"])
    assert (nodes["track"][of_first] == 10 * 2**40 + first["ids"]).all()
    for name in ("tree.hdf5", "tree.csv"):
        tree.save(tmp_path / name)
        assert same_tables(ib.read_catalogue(tmp_path / name), tree.catalogue())


def test_parameters_matter():
    tables = [grown(**options).catalogue()["nodes"] for options in (dict(gap=3), dict(gap=0, orphans=False))]
    assert len(tables[0]) != len(tables[1]) or (tables[0]["fate"] != tables[1]["fate"]).any()
    attributes = grown(tracers=7).catalogue().attributes
    assert (attributes["tracers"], attributes["gap"], attributes["orphans"]) == (7, 4, 1)


def test_members_with_offsets_and_other_arrays():
    tree = ib.trees(threads=1, gap=2)
    for output in series():
        # The members of the last object first, one of nobody behind each object, and arrays of other types and strides.
        members = [np.append(m, -5) for m in output["members"]][::-1]
        types = [np.append(t, 1) for t in output["types"]][::-1]
        n = np.array([len(m) for m in members])
        offsets = (np.cumsum(n) - n)[::-1]
        twice = np.repeat(np.concatenate(members), 2)[::2]
        axes = [np.ascontiguousarray(axis) for axis in output["positions"].T]
        more = {name: output[name] for name in ("parents", "masses", "velocities", "box", "time")}
        tree.add_objects(
            output["number"], output["ids"].astype(np.uint32), (n - 1)[::-1], twice,
            offsets=offsets, types=np.concatenate(types), positions=axes, **more,
        )  # fmt: skip
    assert same_tables(tree.catalogue(), grown(gap=2).catalogue())


def test_failures_change_nothing():
    tree, outputs = ib.trees(threads=1), list(series())
    refused = pytest.raises(ib.InvalidArgumentError, match="tracers is 0; expected 1 to")
    with refused:
        ib.trees(tracers=0)
    add(tree, outputs[0])
    for message, changes in [
        ("the same output", {}),
        ("is below", dict(number=9)),
        ("one per object", dict(number=11, time=1.0, masses=[1.0])),
        ("one per member", dict(number=11, time=1.0, types=[[1]])),
        ("twice a member|is a member of", dict(number=11, time=1.0, members=[m * 0 for m in outputs[0]["members"]])),
        ("the sum over all objects", dict(number=11, time=1.0, members=[[1, 2]], types=[[1, 1]])),
        ("object identifier", dict(number=11, time=1.0, ids=-outputs[0]["ids"])),
        ("positions has the shape", dict(number=11, time=1.0, positions=np.zeros((3, 2)))),
    ]:
        with pytest.raises(ib.InvalidArgumentError, match=message):
            add(tree, outputs[0], **changes)
        assert tree.n_outputs == 1
    for output in outputs[1:]:
        add(tree, output)
    assert same_tables(tree.catalogue(), grown().catalogue())


@pytest.mark.skipif(not FIXTURE.exists(), reason="only in the repository")
def test_clumps_and_groups_of_calls(tmp_path):
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="data")
    output = tmp_path / "ramses_16" / "dm_1rank" / "output_00002"
    options = dict(density=80, relevance=3, unbind=True, threads=1)
    cat = ib.phew(ib.open(output), with_members=True, saddle=200, **options)
    tree = ib.trees(threads=1)
    tree.add(cat, 2)
    nodes = tree.catalogue()["nodes"]
    clumps = cat["clumps"]
    bound = clumps["n_bound"] > 0
    np.testing.assert_array_equal(nodes["object"], np.sort(clumps["id"][bound]))
    np.testing.assert_array_equal(np.sort(nodes["n_members"]), np.sort(clumps["n_bound"][bound]))
    with pytest.raises(ib.InvalidArgumentError, match="the same output"):
        tree.add(cat, 2)
    with pytest.raises(ib.InvalidArgumentError, match="no members"):
        tree.add(ib.phew(ib.open(output), **options), 3)
    cat.save(tmp_path / "clumps.hdf5")
    with pytest.raises(ib.InvalidArgumentError, match="a catalogue from a file"):
        tree.add(ib.read_catalogue(tmp_path / "clumps.hdf5"), 3)
    with pytest.raises(ib.InvalidArgumentError, match="one catalogue"):
        tree.add_files(tmp_path / "clumps.hdf5")
    groups = ib.fof(ib.open_particles(output), min_size=10, properties="bound", with_members=True, threads=1)
    of_groups = ib.trees(threads=1)
    of_groups.add(groups, 2)
    assert len(of_groups.catalogue()["nodes"]) == (groups.groups["n_bound"] > 0).sum()
    with pytest.raises(ib.InvalidArgumentError, match="groups, but"):
        tree.add(groups, 3)


@pytest.mark.skipif(COMMAND is None, reason="INSELBERG_COMMAND is not set")
def test_the_command_gives_the_same(tmp_path):
    def command(*arguments):
        subprocess.run([COMMAND, *map(str, arguments), "--quiet"], check=True)

    command("synth", "series", "-o", tmp_path, "--outputs", 5, "--members", 20000)
    paths = sorted(tmp_path.glob("clumps_*.hdf5"))
    assert len(paths) == 5
    command("tree", *paths, "-o", tmp_path / "tree.hdf5", "--gap", 2)
    expected = ib.read_catalogue(tmp_path / "tree.hdf5")
    tree = ib.trees(threads=2, gap=2)
    tree.add_files(*reversed(paths))
    assert same_tables(tree.catalogue(), expected)

    by_hand = ib.trees(threads=1, gap=2)
    for path in paths:
        cat = ib.read_catalogue(path)
        clumps, members, about = cat["clumps"], cat["members"], cat.attributes
        by_hand.add_objects(
            about["input_number"], clumps["id"], clumps["n_bound"], members["id"],
            offsets=clumps["members_offset"], types=members["type"], parents=clumps["parent"], masses=clumps["bound_mass"],
            positions=clumps["most_bound_position"], velocities=clumps["bound_velocity"], box=about["boxlen"],
            time=about["time"], units=[about[name] for name in ("unit_length", "unit_density", "unit_time")],
            cosmology=[about[name] for name in ("aexp", "h0", "omega_m", "omega_l", "omega_k", "omega_b")],
        )  # fmt: skip
    found = by_hand.catalogue()
    assert list(found["nodes"].columns) == list(expected["nodes"].columns)
    given = set(found["nodes"].columns) - {"max_circular_velocity", "max_circular_radius", "radius"}
    for name in given:
        np.testing.assert_array_equal(found["nodes"][name], expected["nodes"][name], err_msg=name)
