"""Calls and the process around them: interrupts, forks, threads, progress, imports."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import inselberg as ib


def run(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, **options)


HEAVY = """
import signal, sys, threading, time
import numpy as np, inselberg as ib
# A shell starts programs in the background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
field = np.random.default_rng(1).random((160, 160, 160))
cells = ib.Cells.grid(field.shape)
engine = ib.Engine()
begun = threading.Event()
def report(stage, done, work):
    if not begun.is_set():
        begun.set()
        print("begun", flush=True)
try:
    for _ in range(1000):
        engine.phew(cells, field, density=0.1, progress=report)
except KeyboardInterrupt:
    print("interrupted", flush=True)
small = np.array([2.0, 3.0])
found = engine.phew(ib.Cells.leaves([1, 1], [[0, 0, 0], [1, 0, 0]]), small, density=1.0, progress=False)
print("and on:", len(found.clumps), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_a_call_and_the_engine_works_on():
    child = subprocess.Popen([sys.executable, "-c", HEAVY], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGINT)
    rest = child.communicate(timeout=300)[0]
    assert rest == "interrupted\nand on: 1\n"
    assert child.returncode == 0


FORKED = """
import os, numpy as np, inselberg as ib
BEFORE
child = os.fork()
if child == 0:
    try:
        print(ib.phew_cells([1, 1], [[0, 0, 0], [1, 0, 0]], [2.0, 3.0], density=1.0), flush=True)
    except ib.ForkedError as error:
        print("refused:", error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_is_refused_in_one_line():
    used = run(FORKED.replace("BEFORE", "ib.fof(np.random.rand(100, 3), box=1.0)"))
    assert used.stdout.startswith("refused: a forked child cannot use the threads of its parent")
    assert used.stdout.count("\n") == 1
    # A parent that has not made a call has no threads to lose.
    fresh = run(FORKED.replace("BEFORE", ""))
    assert fresh.stdout == "<ClumpCatalogue: 1 clumps, 1 haloes, 1 tree>\n"


def test_python_runs_while_a_call_runs():
    field = np.random.default_rng(1).random((64, 64, 64))
    counted, is_done = [0], threading.Event()

    def count():
        while not is_done.is_set():
            counted[0] += 1

    seen = []
    thread = threading.Thread(target=count)
    thread.start()
    ib.phew_grid(field, density=0.1, progress=lambda *_: seen.append(counted[0]))
    is_done.set()
    thread.join()
    assert counted[0] > 0 and seen == sorted(seen)


def test_calls_of_one_engine_take_turns():
    field = np.random.default_rng(1).random((32, 32, 32))
    engine, cells = ib.Engine(threads=2), ib.Cells.grid(field.shape)
    expected = engine.phew(cells, field, density=0.1).labels
    found = []

    def work():
        found.append(engine.phew(cells, field, density=0.1).labels)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(labels, expected) for labels in found)


def test_an_error_in_a_report_ends_the_call():
    field = np.random.default_rng(1).random((96, 96, 96))

    def report(stage, done, work):
        raise LookupError(stage)

    with pytest.raises(LookupError):
        for _ in range(100):
            ib.phew_grid(field, density=0.1, progress=report)


def test_results_outlive_engine_and_arrays(mesh):
    found = ib.phew_cells(mesh.levels.copy(), mesh.positions.copy(), mesh.density.copy(), **mesh.thresholds)
    table = found.clumps
    labels = found.labels
    del found
    assert labels.max() == len(table) and table["mass"].sum() > 0


def test_a_catalogue_ends_with_its_last_user(mesh):
    """Memory of the library is freed at once, not when the garbage collector comes by."""
    gc.disable()
    try:
        cat = ib.phew_cells(mesh.levels, mesh.positions, mesh.density, **mesh.thresholds)
        clump, alive = cat.clumps[0], weakref.ref(cat)
        assert len(clump.halo.clumps) > 0 and len(list(cat.walk())) > 0 and len(cat.cells(clump)) > 0
        del cat
        assert alive() is not None and clump.halo.main is not None
        del clump
        assert alive() is None
    finally:
        gc.enable()


def test_the_import_brings_in_no_large_package():
    large = ("h5py", "pandas", "matplotlib", "unyt", "astropy")
    found = run(f"import sys, inselberg; print([m for m in {large} if m in sys.modules])")
    assert found.stdout == "[]\n"


def test_keywords_are_those_that_the_library_declares():
    import inspect

    from inselberg import _parameters

    for function, kinds in [
        (ib.phew, [_parameters.PhewOptions]),
        (ib.fof, [_parameters.FofOptions, _parameters.FofTypesOptions]),
        (ib.voids, [_parameters.VoidsOptions]),
        (ib.trees, [_parameters.TreeOptions]),
        (ib.atlas, [_parameters.AtlasOptions]),
        (ib.compare, [_parameters.CompareOptions]),
        (ib.Engine, [_parameters.EngineOptions]),
        (ib.open_particles, [_parameters.ParticlesOptions]),
        (ib.ClumpCatalogue.recut, [_parameters.RecutOptions]),
    ]:
        declared = {key for kind in kinds for key in kind.__annotations__}
        assert declared <= set(inspect.signature(function).parameters), function


def test_older_keywords_stay_and_unknown_ones_are_refused():
    levels, positions, rho = np.full(2, 3), np.array([[0, 4, 4], [1, 4, 4]]), np.array([2.0, 3.0])
    new = ib.phew_cells(levels, positions, rho, density_threshold=1.0, compat="ramses")
    old = ib.phew_cells(levels, positions, rho, density=1.0, rules="ramses")
    assert np.array_equal(new.labels, old.labels)
    with pytest.raises(ib.InvalidArgumentError, match="unknown keyword densty_threshold; did you mean density_threshold"):
        ib.phew_cells(levels, positions, rho, densty_threshold=1.0)
    with pytest.raises(ib.InvalidArgumentError, match="the same"):
        ib.phew_cells(levels, positions, rho, density=1.0, density_threshold=1.0)


class _Quantity(float):
    """As a quantity of astropy or unyt: a value with a unit."""

    def __new__(cls, value, **unit):
        made = super().__new__(cls, value)
        made.value = value
        made.__dict__.update(unit)
        return made


def test_values_have_units():
    levels, positions, rho = np.full(2, 3), np.array([[0, 4, 4], [1, 4, 4]]), np.array([2.0, 3.0])
    plain = ib.phew_cells(levels, positions, rho, density_threshold=1.0)
    for density in ["1code", _Quantity(1.0, unit="code"), _Quantity(1.0, units="code")]:
        assert np.array_equal(ib.phew_cells(levels, positions, rho, density_threshold=density).labels, plain.labels)
    for density, problem in [
        ("1g/cm3", "1g/cm3; expected a density without unit: the input states no units"),
        (_Quantity(2.0, unit="g / cm3"), "2.0 g / cm3; expected a density without unit"),
        ("1kpc", "expected a density without unit, or with the unit code, crit, mean, sigma \\(of images\\) or one such as g/cm3"),
    ]:
        with pytest.raises(ib.InvalidArgumentError, match=problem):
            ib.phew_cells(levels, positions, rho, density_threshold=density)


def test_cells_at_a_later_time(mesh):
    first = ib.Cells.leaves(mesh.levels, mesh.positions, box=2.0, time=0.5, units=(3.0, 2.0, 1.0))
    engine = ib.Engine(threads=1)
    engine.phew(first, mesh.density, density_threshold=1)
    later = first.at(time=0.75, cosmology=ib.Cosmology(0.5, 70, 0.3, 0.7))
    found = engine.phew(later, mesh.density, density_threshold=1)
    said = [found.attributes[name] for name in ("time", "aexp", "unit_length", "boxlen")]
    assert said == [0.75, 0.5, 3.0, 2.0]
    assert len(first.at(box=4.0)) == len(first)
