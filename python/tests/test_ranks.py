"""Calls over the ranks of mpi4py. Skipped without the variable INSELBERG_MPIRUN, which python/check_mpi.sh sets."""

import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import inselberg as ib
from inselberg import _native

HERE = Path(__file__).resolve().parent
FIXTURE = HERE.parents[1] / "tests" / "fixtures" / "ramses_16.tar.xz"
MPIRUN = os.environ.get("INSELBERG_MPIRUN")

over_ranks = pytest.mark.skipif(MPIRUN is None, reason="INSELBERG_MPIRUN is not set")


def run(scenario, n_ranks, folder):
    command = [*shlex.split(MPIRUN), "-n", str(n_ranks), sys.executable, str(HERE / "over_ranks.py"), scenario, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank} is done" for rank in range(n_ranks)]
    assert "MPI" not in done.stderr, done.stderr


@over_ranks
@pytest.mark.parametrize("n_ranks", [2, 4])
@pytest.mark.parametrize(
    "scenario", ["cells", "octs", "grid", "groups", "errors", "communicators", "interrupt", "report", "leave", "finalize"]
)
def test_ranks(scenario, n_ranks, tmp_path):
    run(scenario, n_ranks, tmp_path)


@over_ranks
@pytest.mark.parametrize("scenario", ["level_serialized", "level_funneled"])
def test_thread_levels(scenario, tmp_path):
    run(scenario, 2, tmp_path)


@over_ranks
@pytest.mark.skipif(not FIXTURE.exists(), reason="only in the repository")
@pytest.mark.parametrize("n_ranks", [2, 4])
def test_outputs(n_ranks, tmp_path):
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="data")
    run("outputs", n_ranks, tmp_path / "ramses_16" / "dm_1rank")


@pytest.mark.skipif(_native.HAS_MPI, reason="this package has MPI")
def test_a_package_without_mpi_says_how_to_get_it():
    with pytest.raises(ib.InvalidArgumentError, match="expected one from source: pip install .*--features mpi"):
        ib.phew_cells([1], [[0, 0, 0]], [2.0], density=1.0, comm=object())
