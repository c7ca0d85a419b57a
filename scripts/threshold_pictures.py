#!/usr/bin/env python3
"""Draws the pictures of docs/thresholds.md from bundled outputs, by `inselberg atlas` alone.

    python3 scripts/threshold_pictures.py [INSELBERG]        the program; default: target/release/inselberg

Each picture is a figure of a page of `atlas`. The density threshold is no threshold of a stored tree, so its picture has one run per
value, and the same axes. Needs xz and tar.
"""

import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Name, fixture, snapshot, options of phew, and the figures that the page shows.
INPUTS = [
    (
        "mesh", "gadget4_64.tar.xz", "gadget4_64/snapshot_004.hdf5", ["--mesh-from-particles"],
        ["numbers-relevance", "functions-relevance", "numbers-saddle", "functions-saddle", "numbers-halo_relevance"],
    ),
    ("graph", "gadget4_64.tar.xz", "gadget4_64/snapshot_004.hdf5", ["--particle-graph"], ["numbers-relevance", "functions-relevance"]),
    (
        "amr", "ramses_32.tar.xz", "ramses_32/output_00002",
        ["--density-threshold", "20", "--relevance-threshold", "1.5", "--saddle-threshold", "200"], ["numbers-relevance", "numbers-saddle"],
    ),
]
# Runs for the density threshold, in mean densities, of the first input.
DENSITIES = [20, 40, 60, 100, 200]
COLOURS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#d0a800"]


def run(program: Path, folder: Path, *arguments: str) -> None:
    subprocess.run([str(program), *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def figure(page: str, name: str) -> str:
    """The drawing of a figure, as a file of its own."""
    found = re.search(rf'<figure id="{name}".*?(<svg.*?</svg>)', page, re.DOTALL)
    if found is None:
        sys.exit(f"the page has no figure {name}")
    return found.group(1).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


def masses(path: Path) -> list[float]:
    """The masses of the haloes of a catalogue, the heaviest first."""
    rows = [line.split(",") for line in path.read_text().splitlines() if not line.startswith("#")]
    at = rows[0].index("mass")
    return sorted((float(row[at]) for row in rows[1:]), reverse=True)


def mass_functions(lists: dict[int, list[float]]) -> str:
    """Cumulative mass functions, one line per density threshold."""
    left, top, right, bottom = 110, 30, 830, 636
    low, high = (math.log10(end(end(of) for of in lists.values())) for end in (min, max))
    most = math.log10(max(map(len, lists.values()))) + 0.1

    def x(mass: float) -> float:
        return left + (math.log10(mass) - low) / (high - low) * (right - left)

    def y(n: int) -> float:
        return bottom - math.log10(n) / most * (bottom - top)

    parts = [f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" stroke="#000000"/>']
    for power in range(math.ceil(low), math.floor(high) + 1):
        parts.append(f'<text x="{x(10**power):.1f}" y="{bottom + 28}" text-anchor="middle">1e{power}</text>')
    for power in range(math.floor(most) + 1):
        parts.append(f'<text x="{left - 10}" y="{y(10**power) + 7:.1f}" text-anchor="end">{10**power}</text>')
    for i, ((density, of), colour) in enumerate(zip(lists.items(), COLOURS)):
        points = " ".join(f"{x(mass):.1f},{y(n):.1f}" for n, mass in enumerate(of, 1) if n < 30 or n % 8 == 0 or n == len(of))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{right - 20}" y="{top + 36 + 28 * i}" text-anchor="end" fill="{colour}">{density}</text>')
    parts.append(f'<text x="{(left + right) / 2}" y="{bottom + 64}" text-anchor="middle">mass [code units]</text>')
    parts.append(f'<text transform="translate(34,{(top + bottom) / 2}) rotate(-90)" text-anchor="middle">haloes of this mass or more</text>')
    body = "\n".join(parts)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="860" height="716" viewBox="0 0 860 716" font-family="sans-serif" '
        f'font-size="20">\n<rect width="100%" height="100%" fill="#FFFFFF"/>\n{body}\n</svg>\n'
    )


def main() -> None:
    program = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/inselberg").resolve()
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room)
        for fixture in sorted({of[1] for of in INPUTS}):
            subprocess.run(["tar", "xf", str(ROOT / "tests/fixtures" / fixture)], cwd=folder, check=True)
        for name, _, snapshot, options, figures in INPUTS:
            run(program, folder, "phew", snapshot, "-o", f"{name}.hdf5", "--quiet", *options)
            run(program, folder, "atlas", f"{name}.hdf5", "-o", name, "--pair-values", "0", "--quiet")
            page = (folder / name / "index.html").read_text()
            for of in figures:
                (DOCS / f"thresholds-{name}-{of.replace('_', '-')}.svg").write_text(figure(page, of))
        _, _, snapshot, options, _ = INPUTS[0]
        lists = {}
        for density in DENSITIES:
            at = ["--density-threshold", str(density), "--saddle-threshold", "200"]
            run(program, folder, "phew", snapshot, "-o", f"d{density}.csv", "--quiet", *options, *at)
            lists[density] = masses(folder / f"d{density}.haloes.csv")
        (DOCS / "thresholds-mesh-functions-density.svg").write_text(mass_functions(lists))


if __name__ == "__main__":
    main()
