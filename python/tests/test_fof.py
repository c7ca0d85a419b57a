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
