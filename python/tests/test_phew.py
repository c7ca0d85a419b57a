"""Clumps and haloes against references that are worked out by hand or cell by cell."""

import numpy as np
import pytest
from conftest import same_tables

import inselberg as ib


def line():
    """Two peaks, 9 and 7, on a line of cells of level 3, with a saddle between 4 and 7."""
    density = np.array([2.0, 9.0, 4.0, 7.0, 3.0, 0.5])
    return np.full(6, 3), np.array([[x, 4, 4] for x in range(6)]), density


def test_a_line_worked_out_by_hand():
    cat = ib.phew_cells(*line(), density=1.0, relevance=1.2, saddle=5.0)
    np.testing.assert_array_equal(cat.labels, [1, 1, 1, 2, 2, 0])
    np.testing.assert_array_equal(cat.halo_labels, [1, 1, 1, 1, 1, 0])
    assert cat.labels.dtype == np.int64
    np.testing.assert_array_equal(cat.clumps["id"], [1, 2])
    np.testing.assert_array_equal(cat.clumps["density_peak"], [9.0, 7.0])
    # Cells of level 3 have a volume of 8^-3.
    np.testing.assert_allclose(cat.clumps["mass"], np.array([15.0, 10.0]) / 512)
    assert cat.clumps[1].saddle_density == 5.5
    assert cat.clumps[1].relevance == pytest.approx(7 / 5.5)
    np.testing.assert_allclose(cat.clumps["peak_position"][0], [1.5 / 8, 4.5 / 8, 4.5 / 8])


def test_difference_and_saddle():
    noise = ib.phew_cells(*line(), density=1.0, difference=1.6)
    np.testing.assert_array_equal(noise.labels, [1, 1, 1, 1, 1, 0])
    apart = ib.phew_cells(*line(), density=1.0, difference=1.4)
    assert len(apart.clumps) == len(apart.haloes) == 2


def test_values_below_zero():
    levels, positions, density = line()
    cat = ib.phew_cells(levels, positions, density - 5.0, density=-4.0, difference=1.4)
    np.testing.assert_array_equal(cat.labels, [1, 1, 1, 2, 2, 0])
    np.testing.assert_array_equal(cat.clumps["density_peak"], [4.0, 2.0])
    np.testing.assert_allclose(cat.clumps["mass"], np.array([0.0, 0.0]), atol=1e-12)
    np.testing.assert_array_equal(cat.clumps["saddle_density"], [0.5, 0.5])
    alone = ib.phew_cells(levels, positions, density - 5.0, density=-4.0, difference=1.6)
    assert np.isnan(alone.clumps[0].saddle_density)
    np.testing.assert_array_equal(cat.recut(difference=1.6).labels, [1, 1, 1, 1, 1, 0])
    with pytest.raises(ib.InvalidArgumentError, match="density_threshold is -4; expected a finite number, 0 or more"):
        ib.phew_cells(levels, positions, density, density=-4.0, relevance=2.0)


def ascent(field):
    """For each cell of a periodic grid above 0 the place of the peak that steepest ascent ends at."""
    steps = [np.array(s) - 1 for s in np.ndindex(3, 3, 3)]
    ends = {}
    for start in np.ndindex(field.shape):
        here = start
        while True:
            around = [tuple((np.array(here) + s) % field.shape) for s in steps]
            best = max(around, key=lambda cell: field[cell])
            if best == here:
                break
            here = best
        ends[start] = here
    return ends


def test_every_cell_belongs_to_the_peak_of_its_ascent():
    field = np.random.default_rng(11).random((6, 6, 6)) + 0.5
    cat = ib.phew_grid(field, density=0.0, relevance=0.0)
    ends = ascent(field)
    by_density = sorted(set(ends.values()), key=lambda cell: -field[cell])
    expected = {peak: number for number, peak in enumerate(by_density, start=1)}
    for cell, peak in ends.items():
        assert cat.labels[cell] == expected[peak]


def test_masses_are_sums_over_labels(mesh):
    cat = ib.phew_cells(mesh.levels, mesh.positions, mesh.density, box=2.0, **mesh.thresholds)
    assert len(cat.clumps) > len(cat.haloes) > 1
    mass = mesh.density * (2.0 / 2.0**mesh.levels) ** 3
    for clump in cat.clumps:
        np.testing.assert_array_equal(clump.cells(), np.flatnonzero(cat.labels == clump.id))
        assert mass[clump.cells()].sum() == pytest.approx(clump.mass)
    for halo in cat.haloes:
        assert mass[halo.cells()].sum() == pytest.approx(halo.mass)
        assert len(halo.cells()) == halo.n_cells


def test_sums_over_labels_are_those_of_numpy(mesh):
    cat = ib.phew_cells(mesh.levels, mesh.positions, mesh.density, box=2.0, **mesh.thresholds)
    mass = mesh.density * (2.0 / 2.0**mesh.levels) ** 3
    np.testing.assert_allclose(cat.sums(mass), cat.clumps["mass"], rtol=1e-12)
    np.testing.assert_allclose(cat.sums(mass, of="haloes"), cat.haloes["mass"], rtol=1e-12)
    ones = np.ones(len(mass), dtype=np.float32)
    np.testing.assert_array_equal(cat.sums(ones), cat.clumps["n_cells"])
    metals = np.random.default_rng(3).normal(size=len(mass))
    metals[cat.labels == 0] = np.nan
    expected = [metals[cat.labels == clump.id].sum() for clump in cat.clumps]
    np.testing.assert_allclose(cat.sums(metals), expected, rtol=1e-9, atol=1e-12)
    metals[np.flatnonzero(cat.labels)[0]] = np.inf
    with pytest.raises(ib.InvalidValueError, match="column values: value .* is inf; expected a finite value"):
        cat.sums(metals)
    with pytest.raises(ib.InvalidArgumentError, match="expected"):
        cat.sums(mass[1:])
    with pytest.raises(ib.InvalidArgumentError, match="expected clumps or haloes"):
        cat.sums(mass, of="groups")
    field = np.random.default_rng(11).random((6, 5, 4)) + 0.5
    grid = ib.phew_grid(field, density=0.0, relevance=0.0)
    expected = [field[grid.labels == clump.id].sum() for clump in grid.clumps]
    np.testing.assert_allclose(grid.sums(field), expected, rtol=1e-12)


def test_velocity_and_mass_density(mesh):
    cells = ib.Cells.leaves(mesh.levels, mesh.positions)
    cat = ib.phew(cells, mesh.density, velocity=mesh.velocity, mass_density=2 * mesh.density, **mesh.thresholds)
    plain = ib.phew(cells, mesh.density, **mesh.thresholds)
    np.testing.assert_allclose(cat.clumps["mass"], 2 * plain.clumps["mass"])
    mass = mesh.density / 8.0**mesh.levels
    clump = cat.clumps[0]
    mean = (mass[:, None] * mesh.velocity)[clump.cells()].sum(axis=0) / mass[clump.cells()].sum()
    np.testing.assert_allclose(clump.bulk_velocity, mean, rtol=1e-6)


def test_an_engine_serves_many_steps(mesh):
    engine, cells = ib.Engine(threads=2), ib.Cells.leaves(mesh.levels, mesh.positions)
    for step in range(3):
        density = mesh.density * (1 + 0.1 * step)
        cat = engine.phew(cells, density, **mesh.thresholds)
        assert same_tables(cat, ib.phew(cells, density, threads=1, **mesh.thresholds))


def test_recut_equals_a_fresh_run(mesh):
    cells = ib.Cells.leaves(mesh.levels, mesh.positions)
    cat = ib.phew(cells, mesh.density, **mesh.thresholds)
    for changed in (dict(relevance=1.5), dict(saddle=2.5), dict(mass=float(np.median(cat.haloes["mass"])))):
        cut, fresh = cat.recut(**changed), ib.phew(cells, mesh.density, **{**mesh.thresholds, **changed})
        assert same_tables(cut, fresh)
        np.testing.assert_array_equal(cut.labels, fresh.labels)
        np.testing.assert_array_equal(cut.halo_labels, fresh.halo_labels)


def test_the_hierarchy_can_be_walked(mesh):
    cat = ib.phew_cells(mesh.levels, mesh.positions, mesh.density, **mesh.thresholds)
    walked = list(cat.walk())
    assert sorted(clump.id for _, clump in walked) == cat.clumps["id"].tolist()
    for depth, clump in walked:
        assert (depth == 0) == clump.is_main == (clump.parent is None)
        assert all(child.parent == clump for child in clump.children)
        assert clump.halo.main.id == clump.halo.id
    for halo in cat.haloes:
        assert {clump.id for clump in halo.walk()} == {clump.id for clump in halo.clumps}
