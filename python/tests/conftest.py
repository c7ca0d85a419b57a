"""Inputs that several tests use."""

import numpy as np
import pytest


class Mesh:
    """Leaves of three levels that fill the box, with a smooth field of a few blobs."""

    def __init__(self, seed=1):
        random = np.random.default_rng(seed)
        levels, positions = _refined(random, level=3, deepest=5)
        order = random.permutation(len(levels))
        self.levels, self.positions = levels[order], positions[order]
        centres = (self.positions + 0.5) / 2.0 ** self.levels[:, None]
        self.density = 0.1 + sum(_blob(centres, random) for _ in range(8))
        self.velocity = random.normal(size=centres.shape)

    #: Thresholds at which this mesh has clumps in haloes.
    thresholds = dict(density=0.5, relevance=1.2, saddle=1.5)


def _refined(random, level, deepest):
    side = 2**level
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    levels, positions = [], []
    while level < deepest:
        is_split = random.random(len(cells)) < 0.3
        levels.append(np.full((~is_split).sum(), level))
        positions.append(cells[~is_split])
        corners = np.array([[c & 1, c >> 1 & 1, c >> 2 & 1] for c in range(8)])
        cells = (2 * cells[is_split][:, None] + corners).reshape(-1, 3)
        level += 1
    return np.concatenate([*levels, np.full(len(cells), level)]), np.concatenate([*positions, cells])


def _blob(centres, random):
    distance = np.abs(centres - random.random(3))
    distance = np.minimum(distance, 1 - distance)
    return random.uniform(3, 9) * np.exp(-(distance**2).sum(axis=1) / random.uniform(0.005, 0.02))


@pytest.fixture(scope="session")
def mesh():
    return Mesh()


def same_tables(first, second):
    """Whether all tables of two catalogues are equal, bit for bit."""
    assert list(first.tables) == list(second.tables)
    for name, table in first.tables.items():
        assert table.columns == second[name].columns
        for column in table.columns:
            np.testing.assert_array_equal(table[column], second[name][column], err_msg=f"{name}/{column}")
    return True


def same_files(first, second, but=()):
    """Whether two HDF5 files have the same groups, datasets and attributes. Attributes of a run say when and
    where it was; those
    of `but` may differ too."""
    import h5py

    with h5py.File(first) as one, h5py.File(second) as other:
        names = []
        one.visit(names.append)
        others = []
        other.visit(others.append)
        assert names == others and len(names) > 2
        for name in ["/", *names]:
            own = {key: value for key, value in one[name].attrs.items() if not key.startswith("run_") and key not in but}
            for key, value in own.items():
                np.testing.assert_array_equal(value, other[name].attrs[key], err_msg=f"{name} {key}")
            if isinstance(one[name], h5py.Dataset):
                np.testing.assert_array_equal(one[name][()], other[name][()], err_msg=name)
