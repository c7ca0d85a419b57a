"""Engines over the ranks of an mpi4py communicator."""

from __future__ import annotations

import atexit
from typing import Any, Callable, Dict, NamedTuple, Optional

from . import _native
from ._errors import CommunicationError, InvalidArgumentError

#: How long Python waits at its end for calls that an interrupt has left, in seconds.
_LAST_CALLS = 10.0

#: The attribute of a communicator that has its engine.
_keys: Dict[str, int] = {}


class Place(NamedTuple):
    """A rank, and the number of ranks."""

    rank: int
    n_ranks: int


def place(comm: Any) -> Place:
    """The rank of this process in a communicator; rank 0 of 1 without one."""
    return Place(0, 1) if comm is None else Place(comm.rank, comm.size)


def native_engine(threads: Optional[int], comm: Any, limits: Dict[str, str]) -> Any:
    """Collective over the communicator: an engine on a duplicate of it. Without a communicator one for this process alone."""
    if comm is None:
        return _native.Engine(threads, limits=limits)
    MPI = _check(comm)
    level = MPI.Query_thread()
    if level < MPI.THREAD_SERIALIZED:
        expected = 'mpi4py.rc.thread_level = "multiple" before mpi4py.MPI is imported'
        raise InvalidArgumentError(f"MPI takes calls from its main thread only; expected {expected}")
    if not _keys:
        # Before the end of MPI, which mpi4py puts after all functions of atexit.
        atexit.register(_native.wait_for_ranks, _LAST_CALLS)
        _keys["engine"] = MPI.Comm.Create_keyval()
    try:
        return _native.Engine(threads, comm.py2f(), level == MPI.THREAD_MULTIPLE, limits)
    except CommunicationError as error:
        name, version = MPI.get_vendor()
        library = f"{name} {'.'.join(map(str, version))}"
        message = f"{error}; mpi4py runs {library}, expected the MPI library that this package is built with"
        raise CommunicationError(message) from None


def kept(comm: Any, make: Callable[[], Any]) -> Any:
    """Collective over the communicator at its first use: the engine that it keeps for functions with ``comm=``."""
    _check(comm)
    engine = comm.Get_attr(_keys["engine"]) if _keys else None
    if engine is None:
        engine = make()
        comm.Set_attr(_keys["engine"], engine)
    return engine


def check_running() -> None:
    """Refuses calls after the end of MPI."""
    from mpi4py import MPI

    if MPI.Is_finalized():
        raise InvalidArgumentError("MPI is finalized; expected calls before MPI.Finalize()")


def _check(comm: Any) -> Any:
    """The module ``mpi4py.MPI``, if this is one of its communicators and this package can use it."""
    if not _native.HAS_MPI:
        how = "pip install ./python --config-settings=build-args='--features mpi'"
        raise InvalidArgumentError(f"comm= in a package without MPI; expected one from source: {how}")
    from mpi4py import MPI

    if comm == MPI.COMM_NULL:
        raise InvalidArgumentError("comm is MPI.COMM_NULL; expected a communicator that this rank belongs to")
    if not isinstance(comm, MPI.Intracomm):
        raise InvalidArgumentError(f"comm is {type(comm).__name__}; expected an intracommunicator of mpi4py")
    check_running()
    return MPI
