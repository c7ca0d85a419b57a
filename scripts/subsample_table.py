#!/usr/bin/env python3
"""How complete and pure are clumps by the frequency with which halves of the particles have them?

Makes a mock whose members are known: haloes of 20 to 4000 particles, subhaloes in the large ones, and a
uniform background. Searches it with `phew --subsamples`, and matches clumps with true objects by members.
Prints the table of docs/thresholds.md. Usage: subsample_table.py PROGRAM [SEEDS..]
"""

import array
import collections
import csv
import math
import pathlib
import random
import subprocess
import sys
import tempfile

SIDE = 100.0
N_BACKGROUND = 30_000
N_ROUNDS = 16
LEAST_SCORE = 0.25
KEPT = [0.0, 0.25, 0.5, 0.75, 1.0]
SEARCHES = {
    "mesh, defaults": ["--mesh-from-particles"],
    "mesh, no significance": ["--mesh-from-particles", "--significance-threshold", "0"],
    "graph, defaults": ["--particle-graph"],
    "graph, no significance": ["--particle-graph", "--significance-threshold", "0"],
}


def halo(draw, centre, n, radius):
    """Positions of n particles with a density as r^-2 up to the radius."""
    rows = []
    for _ in range(n):
        r, z, angle = radius * draw.random(), draw.uniform(-1, 1), draw.uniform(0, 2 * math.pi)
        s = math.sqrt(1 - z * z)
        offset = (r * s * math.cos(angle), r * s * math.sin(angle), r * z)
        rows.append([(c + x) % SIDE for c, x in zip(centre, offset)])
    return rows


def radius_of(n, density):
    """The radius of n particles with this mean density, in units of about that of the box."""
    return (3 * n / (4 * math.pi * density * 0.1)) ** (1 / 3)


def mock(seed):
    """Positions, and the true object of each particle; 0 for none."""
    draw = random.Random(seed)
    rows, truth, number = [], [], 0
    for _ in range(150):
        n = int(20 * 200 ** (draw.random() ** 2))
        centre = [draw.uniform(0, SIDE) for _ in range(3)]
        radius = radius_of(n, 200)
        objects = [(centre, n, radius)]
        for _ in range(n // 500):
            n_sub = max(20, int(0.1 * n * draw.random()))
            away = halo(draw, centre, 1, radius)[0]
            objects.append((away, n_sub, radius_of(n_sub, 2000)))
        for place, n_members, size in objects:
            number += 1
            rows += halo(draw, place, n_members, size)
            truth += [number] * n_members
    rows += [[draw.uniform(0, SIDE) for _ in range(3)] for _ in range(N_BACKGROUND)]
    return rows, truth + [0] * N_BACKGROUND


def write_npy(path, rows):
    """Positions in single precision. A place may round to the side, which is 0."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 3), }" % len(rows)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    values = array.array("f", [x if x < SIDE - 1e-5 else 0.0 for row in rows for x in row])
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.write(values.tobytes())


def table(path):
    """The rows of a table, by the names of its columns."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines))


def matched(clump_of, truth):
    """Clumps and true objects that are the best partners of each other."""
    n_a, n_b = collections.Counter(clump_of), collections.Counter(truth)
    shared = collections.Counter((a, b) for a, b in zip(clump_of, truth) if a and b)
    score = {pair: n * n / (n_a[pair[0]] * n_b[pair[1]]) for pair, n in shared.items()}
    best_a, best_b = {}, {}
    for pair in sorted(score, key=lambda pair: (-score[pair], pair)):
        best_a.setdefault(pair[0], pair)
        best_b.setdefault(pair[1], pair)
    return [p for a, p in best_a.items() if best_b[p[1]] == p and score[p] >= LEAST_SCORE]


def search(program, folder, truth, options):
    """The frequency of each clump, and the clumps that are true."""
    command = [program, "phew", "mock.npy", "--box", str(SIDE), "--subsamples", str(N_ROUNDS), "--with-particles"]
    command += ["-o", "clumps.csv", "--force", "--quiet", *options]
    subprocess.run(command, cwd=folder, check=True)
    clumps, particles = (table(folder / name) for name in ["clumps.csv", "clumps.particles.csv"])
    clump_of = [0] * len(truth)
    for row in particles:
        clump_of[int(row["id"])] = int(row["clump"])
    frequency = {int(row["id"]): float(row["subsample_frequency"]) for row in clumps}
    return frequency, {clump for clump, _ in matched(clump_of, truth)}


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    seeds = [int(seed) for seed in sys.argv[2:]] or [1]
    mocks = [mock(seed) for seed in seeds]
    n_true = sum(len(set(truth) - {0}) for _, truth in mocks)
    print(f"{sum(len(rows) for rows, _ in mocks)} particles, {n_true} true objects, {N_ROUNDS} halves\n")
    print("| search | frequency at least | clumps | true | completeness | purity |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for search_name, options in SEARCHES.items():
            found = []
            for rows, truth in mocks:
                write_npy(folder / "mock.npy", rows)
                frequency, true = search(program, folder, truth, options)
                found += [(of, clump in true) for clump, of in frequency.items()]
            for least in KEPT:
                kept = [is_true for of, is_true in found if of >= least]
                purity = sum(kept) / len(kept) if kept else math.nan
                shares = f"{sum(kept) / n_true:.2f} | {purity:.2f}"
                print(f"| {search_name} | {least:g} | {len(kept)} | {sum(kept)} | {shares} |")


if __name__ == "__main__":
    main()
