"""What each rank does in the tests of ranks (test_ranks.py): python over_ranks.py SCENARIO FOLDER, under mpirun."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import mpi4py

if sys.argv[1].startswith("level_"):
    mpi4py.rc.thread_level = sys.argv[1].removeprefix("level_")

import numpy as np
from conftest import Mesh, same_files, same_tables
from mpi4py import MPI

import inselberg as ib

COMM = MPI.COMM_WORLD
RANK, N_RANKS = COMM.rank, COMM.size
MESH, FOLDER = Mesh(), Path(sys.argv[2])


def part_of(n, empty=None):
    """Indices of this rank's items: a random part, in a random order. Rank ``empty`` has none."""
    random = np.random.default_rng(7)
    ranks = [rank for rank in range(N_RANKS) if rank != empty]
    return random.permutation(np.flatnonzero(random.choice(ranks, n) == RANK))


def saved_alike(found, alone):
    """One file of all ranks has the bytes of one rank's."""
    found.save(FOLDER / "ranks.hdf5")
    if RANK == 0:
        alone.save(FOLDER / "alone.hdf5")
        same_files(FOLDER / "ranks.hdf5", FOLDER / "alone.hdf5")
    COMM.barrier()


def refused(kind, work):
    """The exception of `work`, which is the same on all ranks."""
    try:
        work()
    except Exception as error:
        found = type(error).__name__, str(error)
    else:
        found = "no exception", ""
    everywhere = COMM.allgather(found)
    assert everywhere == [everywhere[0]] * N_RANKS, everywhere
    assert found[0] == kind.__name__ and found[1] and "\n" not in found[1], found
    return found[1]


def cells():
    own = part_of(len(MESH.levels), empty=N_RANKS - 1)
    assert len(own) > 0 or RANK == N_RANKS - 1
    options = dict(MESH.thresholds, with_cells=True, threads=2)
    alone = ib.phew_cells(MESH.levels, MESH.positions, MESH.density, velocity=MESH.velocity, **options)
    arrays = MESH.levels[own], MESH.positions[own], MESH.density[own]
    for _ in range(2):
        found = ib.phew_cells(*arrays, velocity=MESH.velocity[own], comm=COMM, **options)
        np.testing.assert_array_equal(found.labels, alone.labels[own])
        np.testing.assert_array_equal(found.halo_labels, alone.halo_labels[own])
    assert found.coverage == 1.0 and found.labels.any() or len(own) == 0
    assert COMM.allreduce(len(found.clumps)) == found.totals["clumps"] == len(alone.clumps) > 2
    assert f"on rank {RANK} of {N_RANKS}: {len(found.clumps)} of {len(alone.clumps)} clumps" in repr(found)

    first = alone.clumps[0]
    np.testing.assert_array_equal(found.cells(1), np.flatnonzero(alone.labels[own] == 1))
    for refusing in (lambda: found.clump(1), lambda: list(found.walk()), lambda: found.halo(1)):
        try:
            refusing()
            raise AssertionError("rows of one rank were taken for all")
        except ib.InvalidArgumentError as error:
            assert "expected all rows" in str(error)

    everywhere, root = found.allgather(), found.gather(N_RANKS - 1)
    assert (root is not None) == (RANK == N_RANKS - 1)
    for whole in [everywhere] if root is None else [everywhere, root]:
        assert same_tables(whole, alone)
        assert [(depth, c.id) for depth, c in whole.walk()] == [(depth, c.id) for depth, c in alone.walk()]
        np.testing.assert_array_equal(whole.cells(whole.clump(1)), found.cells(1))
        assert whole.clump(1).mass == first.mass and whole.coverage == 1.0
        assert same_tables(whole.recut(saddle=2.0), alone.recut(saddle=2.0))
    cut, expected = found.recut(saddle=2.0), alone.recut(saddle=2.0)
    np.testing.assert_array_equal(cut.halo_labels, expected.halo_labels[own])
    assert same_tables(cut.allgather(), expected)
    saved_alike(found, alone)


def octs():
    """Two levels: the second fills one cell of the first. The last rank has no octs."""
    levels, positions, splits = np.array([1, 2]), np.array([[0, 0, 0], [1, 1, 1]]), np.array([1 << 7, 0], "u1")
    rho = np.arange(1.0, 17.0)
    alone = ib.phew_octs(levels, positions, splits, rho, density=0.5)
    own = [0, 1] if N_RANKS == 2 else [RANK] if RANK < 2 else []
    own = own if N_RANKS > 2 or RANK == 0 else []
    entries = np.concatenate([np.arange(8) + 8 * oct for oct in own] + [np.zeros(0, int)]).astype(int)
    found = ib.phew_octs(levels[own], positions[own], splits[own], rho[entries], density=0.5, comm=COMM)
    np.testing.assert_array_equal(found.labels, alone.labels[entries])
    assert same_tables(found.allgather(), alone)


def grid():
    """Slabs of unequal thickness; the first rank has none. Some are in the order of C, some in that of Fortran."""
    whole = np.random.default_rng(3).random((16, 8, 24))
    alone = ib.phew_grid(whole, density=0.2, relevance=1.5, saddle=0.6)
    cuts = [0, 0, *range(4, 4 * (N_RANKS - 1), 4), 24]
    begin, end = cuts[RANK], cuts[RANK + 1]
    slab = whole[:, :, begin:end]
    slab = np.asfortranarray(slab) if RANK % 2 else slab.copy()
    options = dict(density=0.2, relevance=1.5, saddle=0.6, start=(0, 0, begin), whole=whole.shape)
    found = ib.phew_grid(slab, comm=COMM, **options)
    assert found.labels.shape == slab.shape
    np.testing.assert_array_equal(found.labels, alone.labels[:, :, begin:end])
    assert same_tables(found.allgather(), alone)


def groups():
    random = np.random.default_rng(4)
    centres = random.random((12, 3))
    positions = np.concatenate([random.normal(c, 0.01, (90, 3)) for c in centres]) % 1.0
    ids, masses = random.permutation(len(positions)), random.uniform(1, 2, len(positions))
    own = part_of(len(positions), empty=0)
    options = dict(box=1.0, length=0.02, min_size=10)
    alone = ib.fof(positions, ids=ids, masses=masses, velocities=positions, **options)
    found = ib.fof(
        positions[own], ids=ids[own], masses=masses[own], velocities=positions[own], comm=COMM, **options
    )
    np.testing.assert_array_equal(found.labels, alone.labels[own])
    np.testing.assert_array_equal(found.members(1), np.flatnonzero(alone.labels[own] == 1))
    assert same_tables(found.allgather(), alone) and len(alone.groups) > 5
    assert found.linking_length == alone.linking_length
    saved_alike(found, alone)


def outputs():
    output, options = FOLDER / "output_00002", dict(density=80, relevance=3, saddle=200)
    snapshot = ib.open(output, comm=COMM)
    found = ib.phew(snapshot, comm=COMM, with_cells=True, with_particles=True, **options)
    alone = ib.phew(ib.open(output), with_cells=True, with_particles=True, **options)
    assert same_tables(found.allgather(), alone) and len(alone.haloes) > 0
    rows = [np.column_stack([table["level"], table["ijk"], table["clump"]]) for table in (found["cells"], alone["cells"])]
    everywhere = np.concatenate(COMM.allgather(rows[0]))
    np.testing.assert_array_equal(np.unique(everywhere, axis=0), np.unique(rows[1], axis=0))
    np.testing.assert_array_equal(found.labels, rows[0][:, -1])
    assert len(everywhere) == len(rows[1]) == found.totals["cells"]
    saved_alike(found, alone)
    particles = ib.open_particles(output, comm=COMM)
    assert same_tables(ib.fof(particles, comm=COMM).allgather(), ib.fof(ib.open_particles(output)))
    mesh = particles.mesh(m_refine=4, level_min=3, level_max=12)
    alone = ib.phew(mesh, subsamples=4, **options)
    assert same_tables(ib.phew(mesh, comm=COMM, subsamples=4, **options).allgather(), alone)
    assert 0 < alone.clumps["subsample_frequency"].max() <= 1
    assert "no_such" in refused(ib.ReadError, lambda: ib.open("no_such_output_00001", comm=COMM))


def errors():
    """Each on one rank only. All ranks raise it, and the next call works."""
    own, last = part_of(len(MESH.levels)), N_RANKS - 1
    density = MESH.density[own]
    spoilt = density.copy()
    if RANK == last:
        spoilt[3] = np.nan

    def call(levels=MESH.levels[own], field=density, comm=COMM, **wrong):
        options = {**MESH.thresholds, **wrong}
        return ib.phew_cells(levels, MESH.positions[own], field, comm=comm, **options)

    def on_last(right, wrong):
        return wrong if RANK == last else right

    expected = call().totals
    texts = [
        refused(ib.InvalidValueError, lambda: call(field=spoilt)),
        refused(ib.InvalidArgumentError, lambda: call(field=on_last(density, density.astype("c16")))),
        refused(ib.InvalidArgumentError, lambda: call(field=on_last(density, density[1:]))),
        refused(ib.InvalidArgumentError, lambda: call(density=on_last(0.5, "dense"))),
        refused(ib.InvalidArgumentError, lambda: call(density=on_last(0.5, 0.6))),
        refused(ib.InvalidArgumentError, lambda: call(velocity=on_last(None, np.zeros((len(own), 3))))),
        refused(ib.InvalidArgumentError, lambda: call(threads=on_last(None, 7))),
        refused(ib.InvalidCellsError, lambda: call(levels=MESH.levels[own] + 40 * (RANK == last))),
        refused(ib.InvalidArgumentError, lambda: ib.Engine(on_last(1, 0), comm=COMM)),
        refused(ib.InvalidArgumentError, lambda: call().recut(saddle=on_last(2.0, 3.0))),
        refused(ib.InvalidArgumentError, lambda: call().recut(difference=on_last(None, 3.0), relevance=2.0)),
        refused(ib.WriteError, lambda: call().save("/no folder/ranks.hdf5")),
    ]
    wanted = ["NaN", "complex128", "entries; expected", "density_threshold is dense", f"of rank {last}", f"of rank {last}", "7 threads"]
    assert all(part in text for part, text in zip(wanted, texts)), texts
    # Every cell twice, on different ranks.
    whole = MESH.levels, MESH.positions, MESH.density
    assert refused(ib.InvalidCellsError, lambda: ib.phew_cells(*whole, comm=COMM, **MESH.thresholds))
    assert call().totals == expected

    engine = ib.Engine(1, comm=COMM)
    cells = engine.agree(lambda: ib.Cells.leaves(MESH.levels[own], MESH.positions[own]))
    found = engine.phew(cells, density, **MESH.thresholds)
    text = refused(ib.InvalidArgumentError, lambda: engine.agree(lambda: [][1] if RANK == last else 1))
    assert text == ("" if N_RANKS == 1 else f"rank {last}: ") + "IndexError: list index out of range"
    if N_RANKS > 1:
        points = np.full((2, 3), 0.5)
        other = lambda: engine.fof(points) if RANK == last else engine.phew(cells, density, **MESH.thresholds)  # noqa: E731
        text = refused(ib.CommunicationError, other)
        assert text.startswith(f"rank {last} makes its call ") and "(fof), rank 0 its call " in text, text
    assert engine.phew(cells, density, **MESH.thresholds).totals == found.totals
    limit = on_last(1.0, -1.0)
    assert "stall_timeout is -1" in refused(ib.InvalidArgumentError, lambda: ib.Engine(1, comm=COMM, stall_timeout=limit))
    engine.close()
    assert "closed" in refused(ib.InvalidArgumentError, lambda: engine.phew(cells, density, **MESH.thresholds))
    assert "closed" in refused(ib.InvalidArgumentError, lambda: found.gather())
    assert len(found.labels) == len(own)

    for wrong, part in [(MPI.COMM_NULL, "COMM_NULL"), (7, "comm is int")]:
        assert part in refused(ib.InvalidArgumentError, lambda: call(comm=wrong))


def communicators():
    """Each half of the ranks works for itself; the halves have other thresholds, and a call less."""
    half = COMM.Split(RANK % 2, -RANK)
    own = np.flatnonzero(np.arange(len(MESH.levels)) % half.size == half.rank)
    options = dict(MESH.thresholds, relevance=1.2 + RANK % 2)
    alone = ib.phew_cells(MESH.levels, MESH.positions, MESH.density, **options)
    for _ in range(3 - RANK % 2):
        found = ib.phew_cells(MESH.levels[own], MESH.positions[own], MESH.density[own], comm=half, **options)
    np.testing.assert_array_equal(found.labels, alone.labels[own])
    assert same_tables(found.allgather(), alone)
    # A communicator that is freed takes its engine along: the next one may have its handle, and has another engine.
    half.Free()
    everybody = COMM.Dup()
    own = part_of(len(MESH.levels))
    again = ib.phew_cells(MESH.levels[own], MESH.positions[own], MESH.density[own], comm=everybody, **MESH.thresholds)
    assert again.totals["clumps"] == len(ib.phew_cells(MESH.levels, MESH.positions, MESH.density, **MESH.thresholds).clumps)
    assert same_tables(found.allgather(), alone), "results outlive their communicator"
    with ib.Engine(1, comm=MPI.COMM_SELF) as engine:
        assert same_tables(engine.phew(ib.Cells.leaves(MESH.levels, MESH.positions), MESH.density, **options), alone)


def slab_of_noise(n):
    """This rank's part of a grid that takes a while."""
    field = np.random.default_rng(RANK).random((n, n, n))
    return field, dict(start=(0, 0, n * RANK), whole=(n, n, n * N_RANKS), density=0.1, progress=False)


def interrupt():
    """Ctrl-C on one rank in the middle of a call. Then at many moments: the same number of calls is made on all ranks."""
    slab, options = slab_of_noise(96)
    sent = []

    def press(stage, done, work):
        if not sent:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    target = N_RANKS - 1
    try:
        ib.phew_grid(slab, comm=COMM, **{**options, "progress": press if RANK == target else False})
        raise AssertionError("no exception")
    except KeyboardInterrupt:
        assert RANK == target and time.perf_counter() - sent[0] < 1
    except ib.CancelledError as error:
        assert RANK != target and "another rank ended the call" in str(error)

    random = np.random.default_rng(5)
    slab, options = slab_of_noise(40)
    engine = ib.Engine(1, comm=COMM)
    cells = ib.Cells.grid(slab.shape, start=options["start"], whole=options["whole"])
    for _ in range(20):
        target, when, n_made = random.integers(N_RANKS), time.perf_counter() + random.uniform(0, 0.3), 0

        def tire(stage, done, work):
            if time.perf_counter() > when:
                raise KeyboardInterrupt

        try:
            while True:
                engine.phew(cells, slab, density=0.1, progress=tire if RANK == target else False)
                n_made += 1
        except (KeyboardInterrupt, ib.CancelledError) as error:
            assert isinstance(error, KeyboardInterrupt) == (RANK == target)
        counts = COMM.allgather(n_made)
        assert len(set(counts)) == 1, counts
    assert engine.phew(cells, slab, density=0.1).totals["clumps"] > 0
    engine.close()


def report():
    """An error in one rank's progress function is a cancelled call on the others."""
    slab, options = slab_of_noise(48)

    def broken(stage, done, work):
        raise LookupError(stage)

    options["progress"] = broken if RANK == 1 else False
    try:
        for _ in range(100):
            ib.phew_grid(slab, comm=COMM, **options)
        raise AssertionError("no exception")
    except (LookupError, ib.CancelledError) as error:
        assert isinstance(error, LookupError) == (RANK == 1)


def leave():
    """Rank 0 is interrupted while the others are not there yet, and ends: the call still ends on all ranks."""
    slab, options = slab_of_noise(16)
    ib.phew_grid(slab, comm=COMM, **options)
    COMM.barrier()
    if RANK == 0:
        sent = []

        def press():
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.2, press).start()
        try:
            ib.phew_grid(slab, comm=COMM, **options)
        except KeyboardInterrupt:
            assert time.perf_counter() - sent[0] < 1
            return
    time.sleep(3)
    try:
        ib.phew_grid(slab, comm=COMM, **options)
    except ib.CancelledError:
        return
    raise AssertionError("no exception")


def finalize():
    """MPI ends before Python and before the results."""
    slab, options = slab_of_noise(8)
    found, engine = ib.phew_grid(slab, comm=COMM, **options), ib.Engine(1, comm=COMM)
    MPI.Finalize()
    assert found.labels.shape == slab.shape
    for call in (lambda: ib.phew_grid(slab, comm=COMM, **options), engine.close, lambda: engine.phew(None, density=1)):
        try:
            call()
            raise AssertionError("no exception")
        except ib.InvalidArgumentError as error:
            assert "finalized" in str(error)


def level_serialized():
    assert MPI.Query_thread() == MPI.THREAD_SERIALIZED
    slab, options = slab_of_noise(16)
    assert ib.phew_grid(slab, comm=COMM, **options).totals["clumps"] > 0


def level_funneled():
    slab, options = slab_of_noise(8)
    assert "mpi4py.rc.thread_level" in refused(ib.InvalidArgumentError, lambda: ib.phew_grid(slab, comm=COMM, **options))


def main():
    globals()[sys.argv[1]]()
    # In one piece, beside those of the other ranks.
    os.write(1, f"rank {RANK} is done\n".encode())


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        # The other ranks would wait for ever.
        os._exit(1) if MPI.Is_finalized() else COMM.Abort(1)
