"""Times friends-of-friends of several programs on one array of positions: see README.md.

usage: compare.py INSELBERG FILE.npy [LENGTH [SIDE]] [--repeat N]
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

MIN_SIZE = 20


def scipy_tree(positions, side, length):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    n = len(positions)
    pairs = cKDTree(positions, boxsize=side).query_pairs(length, output_type="ndarray")
    links = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return np.bincount(connected_components(links, directed=False)[1])


def kdcount(positions, side, length):
    from kdcount import cluster, models

    return cluster.fof(models.dataset(positions, boxsize=side), linking_length=length, np=0).length


def pyfof(positions, side, length):
    from pyfof import friends_of_friends

    return np.array([len(group) for group in friends_of_friends(positions, length)])


def yt(positions, side, length):
    from yt_astro_analysis.halo_analysis.halo_finding.fof.EnzoFOF import RunFOF

    x, y, z = (np.ascontiguousarray(column) for column in (positions / side).T)
    labels = np.asarray(RunFOF(x, y, z, length / side))
    return np.bincount(labels[labels >= 0])


# Module to be imported, search, whether its box is periodic, particles beyond which it is left out.
PEERS = {
    "kdcount": ("kdcount", kdcount, True, 1 << 26),
    "scipy": ("scipy", scipy_tree, True, 1 << 23),
    "pyfof": ("pyfof", pyfof, False, 1 << 23),
    "yt": ("yt_astro_analysis", yt, True, 1 << 23),
}


def summary(sizes):
    kept = np.asarray(sizes)[np.asarray(sizes) >= MIN_SIZE]
    return len(kept), int(kept.max(initial=0)), int(kept.sum())


def measured(peer, path, side, length, channel):
    """In a process of its own: seconds and what was found."""
    module, search, _, _ = PEERS[peer]
    try:
        __import__(module)
        positions = np.load(path).astype(np.float64)
        positions[positions >= side] -= side
        begin = time.process_time()
        sizes = search(positions, side, length)
        channel.put((time.process_time() - begin, summary(sizes)))
    except Exception as error:
        channel.put((None, f"{type(error).__name__}: {error}"))


def run_peer(peer, path, side, length):
    context = multiprocessing.get_context("spawn")
    channel = context.Queue()
    process = context.Process(target=measured, args=(peer, path, side, length, channel))
    process.start()
    while process.is_alive() and channel.empty():
        process.join(0.2)
    if channel.empty() and process.exitcode != 0:
        return None, f"ended with {process.exitcode}"
    said = channel.get()
    process.join()
    return said


def run_inselberg(program, path, side, length, periodic):
    """One thread: its seconds are CPU seconds, but for what other programs take from it."""
    box = ["--box", str(side)] if periodic else ["--open"]
    with tempfile.TemporaryDirectory() as room:
        words = [program, "fof", path, "-o", f"{room}/groups.csv", *box, "--linking-length", str(length)]
        words += ["--min-size", str(MIN_SIZE), "--threads", "1", "--json"]
        before = os.times()
        said = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        after = os.times()
    apart = sum(stage["seconds"] for stage in said["stages"] if stage["name"] in ("reading", "write"))
    used = after.children_user + after.children_system - before.children_user - before.children_system
    totals = said["totals"]
    found = totals["groups"], totals["largest_group"], totals["in_groups"]
    # The search is what all stages take but reading and writing, in the share of CPU time that the process had.
    return min(said["seconds"] - apart, used), found


def box_of(arguments, n):
    beside = pathlib.Path(arguments.file).with_suffix(".json")
    known = json.loads(beside.read_text()) if beside.exists() else {}
    side = arguments.side or known.get("box") or n ** (1 / 3)
    return float(side), float(arguments.length or known.get("linking_length") or 0.2 * side / n ** (1 / 3))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("length", nargs="?", type=float)
    parser.add_argument("side", nargs="?", type=float)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    n = len(np.load(arguments.file, mmap_mode="r"))
    side, length = box_of(arguments, n)
    print(f"{n} particles, side {side:.9g}, linking length {length:.9g}; CPU seconds of the search on one core")
    print(f"{'program':<12}{'seconds':>10}{'ours':>10}{'ratio':>8}{'groups':>10}{'largest':>10}{'in groups':>12}")
    wrong, all_ours = [], []
    for peer, (_, _, periodic, most) in PEERS.items():
        if n > most:
            print(f"{peer:<12}left out: more than {most} particles")
            continue
        theirs, ours, found, ours_found = [], [], None, None
        for _ in range(arguments.repeat):
            first, ours_found = run_inselberg(arguments.program, arguments.file, side, length, periodic)
            seconds, found = run_peer(peer, arguments.file, side, length)
            if seconds is None:
                break
            last, _ = run_inselberg(arguments.program, arguments.file, side, length, periodic)
            theirs.append(seconds)
            ours += [first, last]
        if not theirs:
            print(f"{peer:<12}left out: {found}")
            continue
        all_ours += [n / seconds for seconds in ours]
        a, b = statistics.median(theirs), statistics.mean(ours)
        counts = f"{found[0]:>10}{found[1]:>10}{found[2]:>12}"
        same = found == ours_found
        note = "" if same else f"  DIFFERS: ours {ours_found}"
        print(f"{peer:<12}{a:>10.2f}{b:>10.2f}{a / b:>8.1f}{counts}{note}", flush=True)
        if not same:
            wrong.append(peer)
    if all_ours:
        low, high = min(all_ours) / 1e6, max(all_ours) / 1e6
        print(f"inselberg: {low:.2f} to {high:.2f} million particles a second in {len(all_ours)} runs")
    if wrong:
        sys.exit(f"not the same groups: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
