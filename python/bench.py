"""How long calls take, and what Python adds to them:

    python python/bench.py [number of cells along an axis]
    python python/bench.py --command COMMAND OUTPUT

Each figure is the median of several calls. The second form compares `phew_cells` with the stages of the command on the cells of
an output, such as one of `inselberg synth field --test-cells 2e6`: by turns, each time in a new process.
"""

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import inselberg as ib

REPEATS = 5
BLANK = "import numpy"
OWN = "import numpy; import inselberg"


def seconds(work, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def imports():
    def run(code):
        subprocess.run([sys.executable, "-c", code], check=True)

    run(OWN)
    own, blank = seconds(lambda: run(OWN), 9), seconds(lambda: run(BLANK), 9)
    print(f"import after NumPy        {1e3 * (own - blank):8.1f} ms")


def smooth(n):
    """A positive field with structure on many scales."""
    random = np.random.default_rng(1)
    waves = np.fft.fftfreq(n)
    k2 = waves[:, None, None] ** 2 + waves[:, None] ** 2 + np.fft.rfftfreq(n) ** 2
    k2[0, 0, 0] = np.inf
    field = np.fft.irfftn(np.fft.rfftn(random.normal(size=(n, n, n))) * k2**-0.75, s=(n, n, n), axes=(0, 1, 2))
    return np.exp(2 * field / field.std())


def calls(n):
    field = smooth(n)
    x, y, z = np.meshgrid(*[np.arange(n)] * 3, indexing="ij")
    positions = np.stack([x, y, z], axis=-1).reshape(-1, 3).astype("u4")
    level = n.bit_length() - 1
    levels, flat, options = np.full(n**3, level, "u1"), field.ravel(), dict(density=0.0, relevance=2.0, saddle=30.0)
    engine = ib.Engine()
    cells = ib.Cells.leaves(levels, positions)
    engine.phew(cells, flat, progress=False, **options)
    again = seconds(lambda: engine.phew(cells, flat, progress=False, **options))
    print(f"cells                     {n**3:8d}")
    print(f"Cells.leaves              {seconds(lambda: ib.Cells.leaves(levels, positions)):8.3f} s")
    print(f"phew on kept cells        {again:8.3f} s, {1e9 * again / n**3:.0f} ns per cell")
    once = seconds(lambda: ib.phew_cells(levels, positions, flat, progress=False, **options))
    print(f"phew_cells                {once:8.3f} s")
    cat = engine.phew(cells, flat, progress=False, **options)
    print(f"labels                    {seconds(lambda: cat._native.labels()):8.3f} s")
    print(f"phew_grid, C order        {seconds(lambda: ib.phew_grid(field, progress=False, **options)):8.3f} s")
    column = np.asfortranarray(field)
    print(f"phew_grid, Fortran order  {seconds(lambda: ib.phew_grid(column, progress=False, **options)):8.3f} s")
    small = ib.Cells.leaves([1], [[0, 0, 0]])
    tiny = seconds(lambda: engine.phew(small, [1.0], density=0.5, progress=False), 200)
    print(f"phew on one cell          {1e6 * tiny:8.0f} us")
    print(f"peak memory               {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MiB")


def interrupt(n):
    """From a signal in the middle of a call to KeyboardInterrupt."""
    field = smooth(n)
    cells, engine, waits = ib.Cells.grid(field.shape), ib.Engine(), []
    for delay in (0.05, 0.1, 0.2):
        sent = []

        def send():
            time.sleep(delay)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=send).start()
        try:
            while True:
                engine.phew(cells, field, density=0.0, progress=False)
        except KeyboardInterrupt:
            waits.append(time.perf_counter() - sent[0])
    print(f"Ctrl-C                    {1e3 * max(waits):8.0f} ms at most of {len(waits)}")


#: Thresholds of both.
CUT = dict(density=80.0, relevance=3.0, saddle=200.0)
FLAGS = ["--density-threshold", "80", "--relevance-threshold", "3", "--saddle-threshold", "200", "--threads", "2"]


def stages(command, output, folder):
    """Seconds of the stages of the command."""
    run = [command, "phew", output, *FLAGS, "-o", str(folder / "clumps.hdf5"), "--json"]
    found = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    return {stage["name"]: stage["seconds"] for stage in found["stages"]}


def records(path):
    """The records of a Fortran file."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        n = int.from_bytes(data[at : at + 4], "little")
        found.append(data[at + 4 : at + 4 + n])
        at += n + 8
    return found


def leaves_of(output):
    """Levels, positions and densities of the leaves of a RAMSES output in one file per quantity, in their order there.

    Per level: 37 records of the octs in the first file, the 4th to 6th centres and the 14th on the sons of the 8 cells; in the
    second a level, a number of octs, and values per cell of an oct and variable.
    """
    octs = records(next(output.glob("amr_*.out00001")))
    hydro = records(next(output.glob("hydro_*.out00001")))
    n_vars, hydro, blocks = int.from_bytes(hydro[1], "little"), hydro[6:], []
    while hydro:
        level, n = (int.from_bytes(record, "little") for record in hydro[:2])
        n_values = 8 * n_vars if n else 0
        blocks.append((level, n, [np.frombuffer(v) for v in hydro[2 : 2 + n_values : n_vars]]))
        hydro = hydro[2 + n_values :]
    blocks = [block for block in blocks if block[1]]
    octs, found = octs[-37 * len(blocks) :], []
    for at, (level, n, values) in enumerate(blocks):
        own = octs[37 * at : 37 * (at + 1)]
        lowest = 2 * np.floor(np.stack([np.frombuffer(x) for x in own[3:6]], axis=1) * 2.0 ** (level - 1)).astype("u4")
        for c in range(8):
            is_leaf = np.frombuffer(own[13 + c], "i4") == 0
            corner = np.array([c & 1, c >> 1 & 1, c >> 2 & 1], "u4")
            found.append((np.full(is_leaf.sum(), level, "u1"), (lowest + corner)[is_leaf], values[c][is_leaf]))
    return [np.concatenate(parts) for parts in zip(*found)]


def one_process(folder):
    """Prints the seconds of a first call, of Cells.leaves in it, and of later calls; memory after 1, 18 and 50 calls."""
    levels, positions, rho = (np.load(Path(folder) / f"{name}.npy") for name in ("levels", "positions", "rho"))

    def call():
        return ib.phew_cells(levels, positions, rho, threads=2, progress=False, **CUT)

    first = seconds(call, 1)
    later = seconds(call)
    leaves = seconds(lambda: ib.Cells.leaves(levels, positions, threads=2))
    engine, cells = ib.Engine(2), ib.Cells.leaves(levels, positions, threads=2)
    kept, held = [], []
    for step in range(50):
        stepped = rho * (1 + 1e-3 * np.sin(step + rho))
        kept.append(seconds(lambda: engine.phew(cells, stepped, progress=False, **CUT), 1))
        held.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6)
    found = dict(first=first, later=later, leaves=leaves, kept=statistics.median(kept[1:]), clumps=len(call().clumps))
    print(json.dumps(dict(found, held=[held[0], held[17], held[49]])))


def against_command(command, output, pairs=5):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        levels, positions, rho = leaves_of(Path(output))
        print(f"{(rho > CUT['density']).sum()} test cells, {len(rho)} leaves, {len(ib.phew(ib.open(output), **CUT).clumps)} clumps")
        for file, values in [("levels", levels), ("positions", positions), ("rho", rho)]:
            np.save(folder / f"{file}.npy", values)
        for _ in range(pairs):
            theirs = stages(command, output, folder)
            own = json.loads(subprocess.check_output([sys.executable, __file__, "--process", name], text=True))
            print(json.dumps(dict(command=theirs, **own)), flush=True)


if __name__ == "__main__" and sys.argv[1:2] == ["--process"]:
    one_process(sys.argv[2])
elif __name__ == "__main__" and sys.argv[1:2] == ["--command"]:
    against_command(*sys.argv[2:4])
elif __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 128
    imports()
    calls(size)
    interrupt(size)
