"""Fields of other codes: writes small files by the descriptions of their formats, and compares what `inselberg` makes of them
with what yt reads, cell by cell.

    python fields.py make FOLDER             the files
    python fields.py compare FILE CATALOGUE FIELD

The files were made for these tests by this program, not by the codes.
"""

import itertools
import os
import sys

import h5py
import numpy as np

RANDOM = np.random.default_rng(28)


def density(x):
    """A smooth field with some peaks, of positions in the unit box, with noise, so that no two cells are
    equal."""
    waves = np.prod(1 + 0.9 * np.sin(2 * np.pi * np.array([2, 1, 3]) * x), axis=-1)
    return waves * np.exp(0.2 * RANDOM.standard_normal(waves.shape)) + 0.01


class Levels:
    """Boxes of a level: (low, size) in cells of that level, from 0."""

    def __init__(self, root, box, ratios, chance=0.4):
        self.root, self.ratios = np.array(root), ratios
        self.boxes = [self.chop(np.array(box))]
        for ratio in ratios:
            finer = []
            for low, size in self.boxes[-1]:
                # Halves of boxes are refined, each with this chance; they may begin at odd cells.
                for half in itertools.product([0, 1], repeat=3):
                    first, end = low + size * np.array(half) // 2, low + size * (np.array(half) + 1) // 2
                    if (end > first).all() and RANDOM.random() < chance:
                        finer.append((first * ratio, (end - first) * ratio))
            self.boxes.append(finer)

    def chop(self, box):
        starts = itertools.product(*[range(0, n, b) for n, b in zip(self.root, box)])
        return [(np.array(s), np.minimum(box, self.root - s)) for s in starts]

    def cells(self, level, low, size):
        """Centres of the cells of a box, in the unit box of the root grid's longest side, indexed [x, y, z]."""
        n = self.root * int(np.prod([1] + self.ratios[:level]))
        axes = [(np.arange(size[a]) + low[a] + 0.5) / n[a] for a in range(3)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def text(low, size):
    high = low + size - 1
    return "((%d,%d,%d) (%d,%d,%d) (0,0,0))" % (*low, *high)


def plotfile(folder, levels, dtype, first=(0, 0, 0), corner=(0.0, 0.0, 0.0), side=1.0, files=1, version=1, ghosts=0):
    """An AMReX plotfile. `first`: lowest cell of the domain; `side`: of a root cell."""
    size = {"f4": "8, (32 8 23 0 1 9 0 127)", "f8": "8, (64 11 52 0 1 12 0 1023)"}[dtype[1:]]
    n_bytes = int(dtype[2])
    order = range(1, n_bytes + 1) if dtype[0] == ">" else range(n_bytes, 0, -1)
    described = "((%s),(%d, (%s)))" % (size, n_bytes, " ".join(map(str, order)))
    names = ["density", "odd name (x/y)"]
    os.makedirs(folder)
    factors = [int(np.prod([1] + levels.ratios[:l])) for l in range(len(levels.boxes))]
    lows = [np.array(first) * f for f in factors]
    corner = np.array(corner)
    head = ["HyperCLaw-V1.1", len(names), *names, 3, 1.5, len(levels.boxes) - 1]
    head += [" ".join(repr(float(x)) for x in corner), " ".join(repr(float(x)) for x in corner + side * levels.root)]
    head += [" ".join(map(str, levels.ratios)) + " ", " ".join(text(l, levels.root * f) for l, f in zip(lows, factors))]
    head += [" ".join("7" for _ in factors)]
    head += [" ".join([repr(side / f)] * 3) for f in factors] + [0, 0]
    for l, boxes in enumerate(levels.boxes):
        head += [f"{l} {len(boxes)} 1.5", 7]
        for low, n in boxes:
            ends = corner + low * side / factors[l], corner + (low + n) * side / factors[l]
            head += [f"{float(a)!r} {float(b)!r}" for a, b in zip(*ends)]
        head += [f"Level_{l}/Cell"]
        os.makedirs(f"{folder}/Level_{l}")
        places = []
        for i, (low, n) in enumerate(boxes):
            name = f"Cell_D_{i % files:05d}"
            values = np.zeros((2, *(n + 2 * ghosts)), order="F") - 99
            inner = tuple(slice(ghosts, ghosts + k) for k in n)
            rho = density(levels.cells(l, low, n))
            values[(0, *inner)], values[(1, *inner)] = rho, 3 * rho
            with open(f"{folder}/Level_{l}/{name}", "ab") as file:
                places.append((name, file.tell()))
                if version == 1:
                    grown = text(low + lows[l] - ghosts, n + 2 * ghosts)
                    file.write(f"FAB {described}{grown} 2\n".encode())
                for field in values:
                    file.write(field.astype(dtype).tobytes(order="F"))
        with open(f"{folder}/Level_{l}/Cell_H", "w") as file:
            lines = [version, 1, 2, ghosts, f"({len(boxes)} 0"] + [text(low + lows[l], n) for low, n in boxes] + [")"]
            lines += [len(boxes)] + ["FabOnDisk: %s %d" % place for place in places] + [""]
            if version in (1, 3):
                lines += 2 * ([f"{len(boxes)},2"] + ["0.0,0.0," for _ in boxes] + [""])
            if version == 4:
                lines += ["0.0,0.0,", "1.0,1.0,"]
            if version > 1:
                lines += [described]
            file.write("\n".join(map(str, lines)) + "\n")
    with open(f"{folder}/Header", "w") as file:
        file.write("\n".join(map(str, head)) + "\n")


def blocks(root, block, chance=0.3):
    """Leaf blocks of two levels: (level, place in blocks of that level)."""
    leaves = []
    for place in itertools.product(*[range(n // b) for n, b in zip(root, block)]):
        if RANDOM.random() < chance:
            leaves += [(1, 2 * np.array(place) + child) for child in itertools.product([0, 1], repeat=3)]
        else:
            leaves += [(0, np.array(place))]
    return leaves


def block_values(root, block, leaves, ghosts=0):
    """[block, z, y, x] of a density."""
    values = []
    for level, place in leaves:
        axes = [(np.arange(-ghosts, b + ghosts) + p * b + 0.5) / (n << level) for p, b, n in zip(place, block, root)]
        x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        values.append(density(x).transpose(2, 1, 0))
    return np.array(values)


def athdf(path, root, block, dtype, low, side):
    leaves = blocks(root, block)
    rho = block_values(root, block, leaves)
    with h5py.File(path, "w") as file:
        ends = [np.array([a, a + side * n, 1.0], dtype) for a, n in zip(low, root)]
        for axis, end in enumerate(ends):
            file.attrs[f"RootGridX{axis + 1}"] = end
        file.attrs["NumCycles"], file.attrs["Time"] = np.int32(3), np.array(2.5, dtype)
        file.attrs["Coordinates"] = np.bytes_("cartesian")
        file.attrs["RootGridSize"], file.attrs["MeshBlockSize"] = np.array(root, ">i4"), np.array(block, ">i4")
        file.attrs["NumMeshBlocks"], file.attrs["MaxLevel"] = np.array(len(leaves), ">i4"), np.array(1, ">i4")
        file.attrs["NumVariables"] = np.array([2, 1], ">i4")
        file.attrs["DatasetNames"] = np.array(["prim", "B"], "S21")
        file.attrs["VariableNames"] = np.array(["rho", "press", "Bcc1"], "S21")
        file["Levels"] = np.array([level for level, _ in leaves], ">i4")
        file["LogicalLocations"] = np.array([place for _, place in leaves], ">i8")
        file["prim"] = np.array([rho, 2 * rho]).astype(dtype)
        file["B"] = np.array([-rho]).astype(dtype)
        for axis in range(3):
            edges = [low[axis] + side / 2**l * (p[axis] * block[axis] + np.arange(block[axis] + 1)) for l, p in leaves]
            centres = [(e[1:] + e[:-1]) / 2 for e in edges]
            file[f"x{axis + 1}f"], file[f"x{axis + 1}v"] = np.array(edges, dtype), np.array(centres, dtype)


def phdf(path, root, block, ghosts, low, side, version=4, made=None):
    """Returns the blocks and their values with ghosts. `made`: from another call."""
    leaves, rho = made or (blocks(root, block), None)
    rho = block_values(root, block, leaves, ghosts) if rho is None else rho
    texts = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        info = file.create_group("Info").attrs
        info["OutputFormatVersion"], info["NumDims"], info["Time"], info["NCycle"] = version, 3, 0.25, 8
        info["NumMeshBlocks"], info["MaxLevel"] = len(leaves), 1
        info["IncludesGhost"], info["NGhost"] = int(ghosts > 0), 2
        info["Coordinates"] = "UniformCartesian"
        info["MeshBlockSize"], info["RootGridSize"] = np.array(block) + 2 * ghosts, np.array(root)
        info["RootGridDomain"] = np.array([x for a, n in zip(low, root) for x in (a, a + side * n, 1.0)])
        ends = ["periodic", "periodic", "outflow", "outflow", "periodic", "periodic"]
        info.create("BoundaryConditions", ends, dtype=texts)
        info["NumComponents"] = [1, 3]
        info.create("OutputDatasetNames", ["prim_density", "mom"], dtype=texts)
        info.create("ComponentNames", ["prim_density", "mom_0", "mom_1", "mom_2"], dtype=texts)
        file["Levels"] = np.array([level for level, _ in leaves])
        file["LogicalLocations"] = np.array([place for _, place in leaves])
        file["prim_density"] = rho
        file["mom"] = np.stack([rho, 2 * rho, -rho], axis=1)
        file.create_group("Params")
        locations = file.create_group("Locations")
        for axis in range(3):
            n = block[axis]
            cells = np.arange(-ghosts, n + ghosts + 1)
            edges = [low[axis] + side / 2**l * (p[axis] * n + cells) for l, p in leaves]
            locations["xyz"[axis]] = np.array(edges)
        volumes = file.create_group("VolumeLocations")
        for axis in range(3):
            edges = locations["xyz"[axis]][:]
            volumes["xyz"[axis]] = (edges[:, 1:] + edges[:, :-1]) / 2
    return leaves, rho


def make(folder):
    os.makedirs(folder, exist_ok=True)
    plotfile(f"{folder}/plt00000", Levels((16, 24, 32), (8, 8, 16), [2, 2]), "<f8", files=3, side=0.25)
    plotfile(f"{folder}/plt00001", Levels((16, 16, 16), (8, 8, 8), [4]), ">f4", (-8, 4, 100), (-2.0, 1.0, 25.0), 0.125, 2)
    plotfile(f"{folder}/plt00002", Levels((10, 15, 7), (5, 6, 7), [2]), ">f8", (3, 3, 3), (-1.0, -1.0, -1.0), 0.1)
    plotfile(f"{folder}/plt00003", Levels((12, 12, 12), (6, 6, 6), [2, 4], 0.2), "<f4", corner=(5.0, 5.0, 5.0))
    athdf(f"{folder}/turb.out1.00005.athdf", (16, 8, 24), (8, 8, 8), ">f4", (-1.0, -0.5, -1.5), 0.125)
    athdf(f"{folder}/double.00001.athdf", (20, 30, 10), (10, 10, 10), ">f8", (0.0, 0.0, 0.0), 0.1)
    phdf(f"{folder}/plain.00001.phdf", (16, 16, 16), (8, 8, 8), 0, (-0.5, -0.5, -0.5), 1 / 16)
    grid, corner = ((16, 8, 24), (8, 8, 8)), (0.0, 1.0, 2.0)
    leaves, rho = phdf(f"{folder}/ghosts.00002.phdf", *grid, 2, corner, 0.5, 3)
    # yt takes ghosts for cells, so it reads the same file without them.
    inner = rho[:, 2:-2, 2:-2, 2:-2]
    phdf(f"{folder}/stripped.00002.phdf", *grid, 0, corner, 0.5, 3, (leaves, inner))
    cells = Levels((33, 65, 7), (33, 65, 7), []).cells(0, (0, 0, 0), (33, 65, 7))
    rho = density(cells)
    rho[RANDOM.random(rho.shape) < 0.05] = np.nan
    np.save(f"{folder}/c.npy", rho)
    np.save(f"{folder}/fortran.npy", np.asfortranarray(rho.astype(">f4")))
    np.save(f"{folder}/counts.npy", (1000 * np.nan_to_num(rho)).astype("i2"))
    with h5py.File(f"{folder}/cube.h5", "w") as file:
        file.create_dataset("some/rho", data=rho, chunks=(8, 16, 7), compression="gzip")
    return rho


def in_order(place, values):
    order = np.lexsort(np.round(place, 9).T)
    return place[order], values[order]


def compare(path, catalogue, field):
    import yt

    yt.set_log_level(50)
    with h5py.File(catalogue) as file:
        cells, attributes = file["cells"], file.attrs
        side = attributes["boxlen"] / 2.0 ** cells["level"][:]
        origin = attributes["origin"] if "origin" in attributes else np.zeros(3)
        ours = origin + (cells["ijk"][:] + 0.5) * side[:, None]
        ours, values = in_order(np.column_stack([ours, side]), cells["density"][:])
        peaks, mass = file["clumps/peak_position"][:], file["clumps/peak_position"].shape[0]
    data = yt.load(path + "/" if os.path.isdir(path) else path).all_data()
    family = [f for f in data.ds.field_list if f[1] == field][0]
    theirs = np.column_stack([np.array(data["index", a].to("code_length")) for a in ("x", "y", "z", "dx")])
    theirs, expected = in_order(theirs, np.array(data[family]))
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    assert np.allclose(ours, theirs, rtol=1e-6, atol=1e-6 * side.max()), np.abs(ours - theirs).max()
    assert np.array_equal(values, expected.astype("f8")), np.abs(values - expected).max()
    assert mass > 2
    # A peak is the centre of a cell, in the coordinates of the code.
    nearest = [np.abs(theirs[:, :3] - peak).max(axis=1).min() for peak in peaks]
    assert max(nearest) < 1e-6 * side.max(), max(nearest)
    total, other = (values * ours[:, 3] ** 3).sum(), (expected * theirs[:, 3] ** 3).sum()
    assert abs(total / other - 1) < 1e-5, (total, other)
    print(f"{path}: {len(ours)} cells, {len(peaks)} clumps, mass {total:.6g}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        compare(*sys.argv[2:])
