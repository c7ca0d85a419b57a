"""Friends-of-friends against a search of all pairs."""

import numpy as np
import pytest

import inselberg as ib


def brute_force(positions, length, min_size, box=None):
    """Groups as sets of members, by falling size, then by lowest member."""
    offset = np.abs(positions[:, None] - positions[None])
    if box is not None:
        offset = np.minimum(offset, box - offset)
    linked = (offset**2).sum(axis=-1) <= length**2
    left, groups = set(range(len(positions))), []
    while left:
        group, front = set(), {min(left)}
        while front:
            group |= front
            front = {int(j) for i in front for j in np.flatnonzero(linked[i])} - group
        left -= group
        groups.append(group)
    return sorted((g for g in groups if len(g) >= min_size), key=lambda g: (-len(g), min(g)))


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("is_periodic", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_pairs_agree(kind, is_periodic, order):
    random = np.random.default_rng(7)
    positions = np.asarray(4 * random.random((400, 3)) ** 1.5, dtype=kind, order=order)
    length, box = 0.21, 4.0 if is_periodic else None
    cat = ib.fof(positions, box=box, length=length, min_size=3, threads=2)
    expected = brute_force(positions.astype("f8"), length, 3, box)
    assert len(cat.groups) == len(expected) > 5
    labels = np.zeros(400, int)
    for number, group in enumerate(expected, start=1):
        labels[sorted(group)] = number
        np.testing.assert_array_equal(cat.members(number), sorted(group))
        assert cat.groups[number - 1].Sizes == len(group)
    np.testing.assert_array_equal(cat.labels, labels)
    assert cat.linking_length == length


def test_ratio_is_of_the_mean_separation():
    positions = np.random.default_rng(1).random((1000, 3))
    cat = ib.fof(positions, box=1.0, ratio=0.5, min_size=2)
    assert cat.linking_length == pytest.approx(0.05)
    np.testing.assert_array_equal(cat.labels, ib.fof(positions, box=1.0, length=0.05, min_size=2).labels)


def test_masses_velocities_ids_and_attached_particles():
    positions = np.array([[0.10, 0.5, 0.5], [0.12, 0.5, 0.5], [0.11, 0.5, 0.5], [0.9, 0.5, 0.5]])
    cat = ib.fof(
        positions,
        box=1.0,
        length=0.05,
        min_size=2,
        ids=np.array([9, 8, 7, 6], "u4"),
        masses=np.array([1, 3, 5, 7], "f4"),
        velocities=np.array([[1.0, 0, 0], [5.0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        attached=np.array([False, False, True, False]),
    )
    np.testing.assert_array_equal(cat.labels, [1, 1, 1, 0])
    group = cat.groups[0]
    assert (group.Sizes, group.LinkedSizes, group.LowestIDs, group.Masses) == (3, 2, 8, 9.0)
    np.testing.assert_allclose(group.Velocities, [16 / 9, 0, 0])
    np.testing.assert_array_equal(group.members(), [0, 1, 2])


def halo(seed=3, n=3000):
    """A ball of particles in units of kpc, km/s and 1e10 solar masses, and their cosmology."""
    random = np.random.default_rng(seed)
    radius = 300 * random.random(n) ** 1.5
    direction = random.normal(size=(n, 3))
    positions = 2000 + direction * (radius / np.linalg.norm(direction, axis=1))[:, None]
    units = ib.Units(length=3.0856775814913673e21, density=1.98841e43 / 3.0856775814913673e21**3, time=3.0856775814913673e16)
    cosmology = ib.Cosmology(aexp=1.0, h0=70.0, omega_m=0.3, omega_l=0.7)
    arrays = dict(masses=np.full(n, 100.0 / n), velocities=random.normal(0, 30, (n, 3)), ids=np.arange(n) + 2**40)
    return positions, arrays, dict(box=4000.0, units=units, cosmology=cosmology, time=1.0)


def test_held_particles_have_all_that_particles_on_disk_have():
    positions, arrays, box = halo()
    held = ib.hold_particles(positions, **arrays, **box)
    assert held.is_held and held.species == {"particles": len(positions)} and "held" in repr(held)
    groups = ib.fof(held, linking_length=30.0, properties="so,bound", with_members=True)
    group = groups.groups[0]
    assert group["Sizes"] > 2000 and 0 < group["bound_mass"] <= 100.0 and group["mass_200_crit"] > 0
    # Labels are in the order of the particles, as without bound particles.
    plain = ib.fof(positions, box=4000.0, linking_length=30.0, ids=arrays["ids"])
    np.testing.assert_array_equal(groups.labels, plain.labels)
    assert set(groups["members"]["id"]) <= set(arrays["ids"])
    assert len(ib.phew(held.mesh(level_max=9), unbind=True).clumps) >= 1
    assert len(ib.phew(held.graph(), density_threshold=80).clumps) >= 1
    assert "voids" in ib.voids(held).tables


def test_held_particles_are_members_of_clumps_of_cells():
    positions, arrays, box = halo()
    held = ib.hold_particles(positions, **arrays, **box)
    mass, _ = np.histogramdd(positions, bins=64, range=[(0, 4000)] * 3, weights=arrays["masses"])
    density = mass / (4000 / 64) ** 3
    options = dict(density_threshold=1e-9, relevance_threshold=1.5, unbind=True, with_members=True)
    options.update(units=box["units"], cosmology=box["cosmology"])
    found = ib.phew_grid(density, box=4000.0, particles=held, **options)
    assert found.clumps["n_bound"].sum() > 1000 and len(found["members"]) == found.clumps["n_bound"].sum()
    with pytest.raises(ib.InvalidArgumentError, match="cells in memory without particles"):
        ib.phew_grid(density, box=4000.0, **options)
    with pytest.raises(ib.InvalidArgumentError, match="expected one box"):
        ib.phew_grid(density, box=2000.0, particles=held, **options)


def test_held_particles_that_lack_something_say_what():
    positions, arrays, box = halo()
    with pytest.raises(ib.InvalidArgumentError, match="no box"):
        ib.hold_particles(positions)
    with pytest.raises(ib.InvalidArgumentError, match="unknown keyword mass; did you mean masses?"):
        ib.hold_particles(positions, box=1.0, mass=arrays["masses"])
    with pytest.raises(ib.InvalidValueError, match="the type of particle 0 is 12; expected 0 to 6"):
        ib.hold_particles(positions, types=np.full(len(positions), 12), box=4000.0)
    bare = ib.hold_particles(positions, **box)
    with pytest.raises(ib.InselbergError, match="mass"):
        ib.fof(bare, linking_length=30.0, properties="bound")


def test_tracks_go_on_from_call_to_call_and_from_a_catalogue(tmp_path):
    positions, arrays, box = halo()
    options = dict(linking_length=30.0, properties="basic", with_members=True, tracks=True)
    with ib.Engine(threads=2) as engine:
        held = engine.hold_particles(positions, **arrays, **box)
        first = engine.fof(held, **options)
        first.save(str(tmp_path / "groups.hdf5"))
        kept = engine.fof(held, **options)
    assert len(first["tracks"]) == (first.groups["n_bound"] > 0).sum() > 0
    assert first.attributes["unbind_tracks_from"] == "none"
    assert kept.attributes["unbind_tracks_from"] == first.attributes["unbind_tracks_state"]
    with ib.Engine(threads=1) as engine:
        held = engine.hold_particles(positions, **arrays, **box)
        read = engine.fof(held, tracks_from=tmp_path / "groups.hdf5", **options)
    for table in ("Groups", "clumps", "members", "tracks", "sources"):
        for name in kept[table].columns:
            np.testing.assert_array_equal(read[table][name], kept[table][name], err_msg=f"{table}/{name}")
    assert isinstance(ib.read_catalogue(str(tmp_path / "groups.hdf5")), type(first))
    with pytest.raises(ib.InselbergError, match="no tracks; expected a catalogue"):
        plain = ib.fof(held_again(), linking_length=30.0, properties="basic")
        plain.save(str(tmp_path / "plain.hdf5"))
        ib.fof(held_again(), tracks_from=tmp_path / "plain.hdf5", **options)


def held_again():
    positions, arrays, box = halo()
    return ib.hold_particles(positions, **arrays, **box)
