"""The same numbers give the same labels, however they lie in memory."""

import numpy as np
import pytest
from conftest import same_tables

import inselberg as ib


@pytest.fixture(scope="module")
def expected(mesh):
    return ib.phew_cells(mesh.levels, mesh.positions, mesh.density, velocity=mesh.velocity, **mesh.thresholds)


def records(*columns):
    """Columns as fields of packed records: strides that are no multiple of the size of a number."""
    kinds = [(str(i), c.dtype, c.shape[1:]) for i, c in enumerate(columns)]
    table = np.empty(len(columns[0]), dtype=[("flag", "i1"), *kinds])
    for i, column in enumerate(columns):
        table[str(i)] = column
    return [table[str(i)] for i in range(len(columns))]


LAYOUTS = {
    "fortran": lambda a: np.asfortranarray(a),
    "backwards": lambda a: a[::-1].copy()[::-1],
    "every third": lambda a: np.repeat(a, 3, axis=0)[::3],
    "record": lambda a: records(a)[0],
    "read-only": lambda a: np.broadcast_to(a, a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_memory_order(mesh, expected, layout):
    lay = LAYOUTS[layout]
    arrays = [lay(a) for a in (mesh.levels, mesh.positions, mesh.density)]
    found = ib.phew_cells(*arrays, velocity=lay(mesh.velocity), **mesh.thresholds)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert same_tables(found, expected)


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_any_integers(mesh, expected, kind):
    found = ib.phew_cells(mesh.levels.astype(kind), mesh.positions.astype(kind), mesh.density, **mesh.thresholds)
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_positions_as_three_arrays_and_as_lists(mesh, expected):
    axes = tuple(np.ascontiguousarray(mesh.positions[:, a]) for a in range(3))
    found = ib.phew_cells(mesh.levels, axes, mesh.density, **mesh.thresholds)
    np.testing.assert_array_equal(found.labels, expected.labels)
    found = ib.phew_cells(mesh.levels.tolist(), mesh.positions.tolist(), mesh.density.tolist(), **mesh.thresholds)
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_single_precision_equals_its_values_in_double(mesh):
    single = mesh.density.astype("f4")
    cells = ib.Cells.leaves(mesh.levels, mesh.positions)
    found = ib.phew(cells, single, **mesh.thresholds)
    wide = ib.phew(cells, single.astype("f8"), **mesh.thresholds)
    np.testing.assert_array_equal(found.labels, wide.labels)
    assert same_tables(found, wide)


def test_any_order_of_cells_and_any_threads(mesh, expected):
    order = np.random.default_rng(5).permutation(len(mesh.levels))
    arrays = (mesh.levels[order], mesh.positions[order], mesh.density[order])
    found = ib.phew_cells(*arrays, velocity=mesh.velocity[order], threads=1, **mesh.thresholds)
    np.testing.assert_array_equal(found.labels, expected.labels[order])
    assert same_tables(found, expected)


def test_empty_arrays():
    nothing = ib.phew_cells(np.zeros(0, "i4"), np.zeros((0, 3), "i4"), np.zeros(0), density=1.0)
    assert len(nothing.clumps) == 0 and nothing.labels.shape == (0,)
    assert len(ib.fof(np.zeros((0, 3)), box=1.0).groups) == 0


@pytest.mark.parametrize("order", ["C", "F", "swapped", "sliced", "reversed"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_grids_in_any_memory_order(order, kind):
    field = np.random.default_rng(3).random((8, 4, 12)).astype(kind)
    lay = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "swapped": lambda a: np.ascontiguousarray(a.swapaxes(0, 1)).swapaxes(0, 1),
        "sliced": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=2)[::2, :, ::3],
        "reversed": lambda a: a[::-1, :, ::-1].copy()[::-1, :, ::-1],
    }
    x, y, z = np.meshgrid(*[np.arange(n) for n in field.shape], indexing="ij")
    positions = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    thresholds = dict(density=0.3, relevance=1.1)
    coarse = dict(box=2.0, coarse=(2, 1, 3))
    leaves = ib.phew_cells(np.full(field.size, 2), positions, field.ravel(), **coarse, **thresholds)
    found = ib.phew_grid(lay[order](field), box=2.0, **thresholds)
    assert found.labels.shape == field.shape
    np.testing.assert_array_equal(found.labels.ravel(), leaves.labels)
    assert same_tables(found, leaves)
    clump = found.clumps[0]
    assert field.ravel()[found.cells(clump)].max() == clump.density_peak


def test_octs_equal_leaves():
    # One oct of level 1, whose cell 3 is split into an oct of level 2.
    levels, positions, splits = [1, 2], [[0, 0, 0], [1, 1, 0]], [0b1000, 0]
    field = np.arange(16.0)
    found = ib.phew_octs(levels, positions, splits, field, density=1.0, relevance=1.0)
    corners = np.array([[c & 1, c >> 1 & 1, c >> 2 & 1] for c in range(8)])
    is_leaf = np.arange(16) != 3
    cells = np.concatenate([corners, 2 * np.array([1, 1, 0]) + corners])[is_leaf]
    leaf_levels = np.repeat(levels, 8)[is_leaf]
    expected = ib.phew_cells(leaf_levels, cells, field[is_leaf], density=1.0, relevance=1.0)
    np.testing.assert_array_equal(found.labels[is_leaf], expected.labels)
    assert found.labels[3] == 0 and found.coverage == 1.0


def test_velocities_of_a_grid():
    random = np.random.default_rng(4)
    field, velocity = random.random((4, 4, 4)), random.normal(size=(4, 4, 4, 3))
    positions = np.argwhere(field >= 0)
    options = dict(density=0.3, relevance=1.1)
    leaves = ib.phew_cells(np.full(64, 2), positions, field.ravel(), velocity=velocity.reshape(-1, 3), **options)
    for given in (velocity, [np.asfortranarray(velocity[..., axis]) for axis in range(3)]):
        assert same_tables(ib.phew_grid(field, velocity=given, **options), leaves)
    with pytest.raises(ib.InvalidArgumentError, match=r"expected 3 along the last axis"):
        ib.phew_grid(field, velocity=velocity[..., :2], **options)
    with pytest.raises(ib.InvalidArgumentError, match=r"velocity has the shape \[2, 4, 4\]; expected the shape \[4, 4, 4\]"):
        ib.phew_grid(field, velocity=velocity[:2], **options)


class Exported:
    """An array of another library, which is reached by DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_of_other_kinds_and_byte_orders():
    random = np.random.default_rng(5)
    field, options = random.integers(0, 2000, (8, 8, 8)).astype(np.float64), dict(density_threshold=900, relevance_threshold=1.01)
    expected = ib.phew_grid(field, **options).labels
    assert expected.any()
    for given in (field.astype(">f8"), field.astype(">i2"), field.astype("f2"), Exported(field), memoryview(field), field.tolist()):
        np.testing.assert_array_equal(ib.phew_grid(given, **options).labels, expected)
    positions = random.random((200, 3))
    groups = ib.fof(positions, linking_length=0.1, min_size=2)
    for given in (positions.astype(">f8"), Exported(positions), list(positions.T.astype(">f8"))):
        np.testing.assert_array_equal(ib.fof(given, linking_length=0.1, min_size=2).labels, groups.labels)


def brute_force_labels(field, threshold):
    """Cells above the threshold by the peak that steepest ascent leads to, with neighbours along faces, edges and corners."""
    steps = [s for s in np.ndindex(*[3] * field.ndim) if any(n != 1 for n in s)]
    order = {}

    def value(place):
        inside = all(0 <= n < top for n, top in zip(place, field.shape))
        return field[place] if inside and field[place] > threshold else -np.inf

    def root(place):
        near = [tuple(n + s - 1 for n, s in zip(place, step)) for step in steps]
        best = max(near, key=value)
        return place if value(best) < field[place] else root(best)

    labels = np.zeros(field.shape, int)
    for place in np.ndindex(*field.shape):
        if value(place) > threshold:
            labels[place] = order.setdefault(root(place), len(order) + 1)
    return labels


def same_partition(first, second):
    pairs = set(zip(first.ravel().tolist(), second.ravel().tolist()))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize("shape", [(9, 7, 5), (8, 8, 8), (12, 10), (7, 1, 4)])
def test_arrays_of_any_shape_may_have_absent_cells(shape):
    random = np.random.default_rng(8)
    field = random.random(shape)
    absent = random.random(shape) < 0.1
    holes = np.where(absent, np.nan, field)
    options = dict(density_threshold=0.3, relevance_threshold=1.0)
    if field.ndim == 3:
        options["periodic"] = False
    found = ib.phew_grid(holes, **options)
    assert same_partition(found.labels, brute_force_labels(np.where(absent, -1, field), 0.3)) and found.labels.any()
    assert (found.labels[absent] == 0).all()
    masked = ib.phew_grid(np.ma.masked_array(field, absent), **options)
    np.testing.assert_array_equal(masked.labels, found.labels)
    halo = found.haloes[0]
    assert set(found.labels.ravel()[found.cells(halo)]) == {clump.id for clump in halo.clumps}
    with pytest.raises(ib.InvalidArgumentError, match="units, velocity for an array with absent cells"):
        ib.phew_grid(holes, velocity=np.zeros((*shape, 3)), units=(1.0, 1.0, 1.0), **options)


def test_masked_values_are_never_taken_for_numbers():
    with pytest.raises(ib.InvalidArgumentError, match="masses has 1 masked values"):
        ib.fof(np.zeros((2, 3)), linking_length=0.1, masses=np.ma.masked_array([1.0, 2.0], [False, True]))
    levels, at = np.full(2, 2), np.array([[0, 0, 0], [1, 0, 0]])
    with pytest.raises(ib.InvalidArgumentError, match="field has 1 masked values"):
        ib.phew_cells(levels, at, np.ma.masked_array([1.0, 2.0], [False, True]), density_threshold=0.5)
    # A mask that hides nothing is none.
    assert ib.phew_grid(np.ma.masked_array(np.ones((4, 4, 4))), density_threshold=0.1).labels.all()


def test_a_path_is_no_source():
    for call, opens in ((ib.phew, "open"), (ib.fof, "open_particles"), (ib.voids, "open_particles")):
        with pytest.raises(ib.InvalidArgumentError, match=rf"'output_00080' is a path; .*inselberg\.{opens}\('output_00080'\)"):
            call("output_00080")
