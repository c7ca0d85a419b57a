"""Each failure is one exception with one line."""

import numpy as np
import pytest

import inselberg as ib

LEVELS, POSITIONS = np.full(2, 1), np.array([[0, 0, 0], [1, 0, 0]])
RHO = np.array([2.0, 3.0])


def phew(levels=LEVELS, positions=POSITIONS, field=RHO, **options):
    return ib.phew_cells(levels, positions, field, **{"density": 1.0, **options})


@pytest.mark.parametrize(
    "wrong, kind, text",
    [
        (dict(density=-1.0), ib.InvalidArgumentError, "density_threshold is -1"),
        (dict(saddle=0.5), ib.InvalidArgumentError, "saddle_threshold is 0.5"),
        (dict(relevance=2.0, difference=1.0), ib.InvalidArgumentError, "not both"),
        (dict(rules="mine"), ib.InvalidArgumentError, 'expected paper or ramses'),
        (dict(threads=0), ib.InvalidArgumentError, "0 threads"),
        (dict(box=-2.0), ib.InvalidArgumentError, "side"),
        (dict(coarse=(1, 1)), ib.InvalidArgumentError, "three numbers"),
        (dict(field=RHO[:1]), ib.InvalidArgumentError, "density has 1 entries; expected 2"),
            (dict(field=RHO.astype("c8")), ib.InvalidArgumentError, "dtype complex64"),
        (dict(field=RHO.reshape(1, 2)), ib.InvalidArgumentError, "one dimension"),
        (dict(levels=LEVELS + 0.5), ib.InvalidArgumentError, "level 0 is 1.5; expected an integer"),
        (dict(positions=POSITIONS[:, :2]), ib.InvalidArgumentError, "expected (n, 3)"),
        (dict(levels=LEVELS + 40), ib.InvalidCellsError, "level"),
        (dict(positions=POSITIONS * 0), ib.InvalidCellsError, ""),
        (dict(positions=POSITIONS + 7), ib.InvalidCellsError, "in the box"),
        (dict(field=np.array([1.0, np.nan])), ib.InvalidValueError, "density of cell 1, [1, 0, 0] of level 1, is NaN"),
    ],
)
def test_wrong_cells(wrong, kind, text):
    with pytest.raises(kind) as error:
        phew(**wrong)
    assert text in str(error.value) and "\n" not in str(error.value)
    assert isinstance(error.value, ib.InselbergError) and isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    "wrong, kind",
    [
        (dict(), ib.InvalidArgumentError),  # a ratio without a box
        (dict(box=1.0, ratio=0.2, length=0.1), ib.InvalidArgumentError),
        (dict(box=1.0, ratio=-1.0), ib.InvalidArgumentError),
        (dict(box=1.0, ids=[1, 1]), ib.InvalidArgumentError),
        (dict(box=1.0, masses=[1.0]), ib.InvalidArgumentError),
        (dict(box=0.1), ib.InvalidValueError),
    ],
)
def test_wrong_particles(wrong, kind):
    with pytest.raises(kind):
        ib.fof(np.array([[0.1, 0.5, 0.5], [0.2, 0.5, 0.5]]), **wrong)


def test_files(tmp_path):
    cat = phew()
    with pytest.raises(ib.WriteError) as error:
        cat.save(tmp_path / "no folder" / "a.hdf5")
    assert isinstance(error.value, OSError)
    with pytest.raises(ib.WriteError, match=r"unknown ending \.txt"):
        cat.save(tmp_path / "a.txt")
    with pytest.raises(ib.ReadError) as error:
        ib.read_catalogue(tmp_path / "absent.hdf5")
    assert isinstance(error.value, OSError) and "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_names_that_do_not_exist():
    cat = phew()
    with pytest.raises(KeyError, match="no column 'weight'; expected one of id, halo"):
        cat.clumps["weight"]
    with pytest.raises(AttributeError):
        cat.clumps[0].weight
    with pytest.raises(KeyError):
        cat.cells(99)
    with pytest.raises(IndexError):
        cat.clumps[99]
    with pytest.raises(ib.InvalidArgumentError, match="expected those by which"):
        cat.recut(difference=1.0)


def test_an_engine_works_on_after_an_error():
    engine, cells = ib.Engine(), ib.Cells.leaves(LEVELS, POSITIONS)
    with pytest.raises(ib.InvalidValueError):
        engine.phew(cells, RHO * np.nan, density=1.0)
    assert len(engine.phew(cells, RHO, density=1.0).clumps) == 1
