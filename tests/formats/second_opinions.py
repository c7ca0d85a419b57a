"""What yt, pynbody, swiftsimio or astropy reads of an input, beside what our readers read: the same numbers in physical cgs units.

    python second_opinions.py PROGRAM JOBS

A job is an input with its folder of our arrays. It names the quantities that the program gives otherwise (`except`), or says that the
program does not read it (`unread`). Both must hold, else the list in opinions.rs is out of date, which has the reasons.

A quantity ends in Gadget's number of a type: `mass1`. Types of their own have 255.
"""

import glob
import json
import os
import sys
import warnings

import h5py
import numpy as np

# Relative differences, of positions to the box and of velocities to the greatest.
NEAR = 1e-6
# Programs differ in the mass of the sun. It counts only where an input does not state its units.
SUNS = 5e-4
OTHER = 255
# Of a grav file with a density yt takes the density for the first acceleration. An image in kelvin is a temperature.
NAMES_OF_YT = {"density": ("density", "Density"), "rho": ("rho", "x-acceleration"), "image": ("temperature",)}
FAMILIES_OF_RAMSES = {1: 1, 2: 4, 3: 3}
TYPES_OF_YT = {name: number for number, name in enumerate(["Gas", "Halo", "Disk", "Bulge", "Stars", "Bndry"])}
TYPES_OF_YT |= {f"PartType{number}": number for number in range(7)}
TYPES_OF_PYNBODY = {"gas": 0, "dm": 1, "cloud": 3, "star": 4, "bh": 5}
TYPES_OF_SWIFTSIMIO = {"gas": 0, "dark_matter": 1, "stars": 4, "black_holes": 5}


def doubles(values):
    """In double precision: masses in g are more than single precision holds."""
    return np.asarray(values, dtype=float)


def array_in(path):
    """A plain array, of cells or positions, as NumPy and h5py read it."""
    if ":" in path:
        file, name = path.split(":")
        with h5py.File(file) as opened:
            return opened[name][:]
    found = np.load(path)
    return found if path.endswith(".npy") else found["positions"]


def is_array(path):
    return path.endswith((".npy", ".npz")) or ":" in path


class Yt:
    has_other_suns = False

    def __init__(self):
        import yt
        import yt.config

        yt.set_log_level(50)
        # No bars of progress beside the messages.
        yt.config.ytcfg.set("yt", "suppress_stream_logging", True)
        self.yt = yt

    def read(self, path, job):
        if is_array(path):
            return self.of_array(path, array_in(path))
        options = {"unit_base": job["units"]} if job["units"] else {}
        options |= {"long_ids": True} if job["long_ids"] else {}
        data = self.yt.load(path + "/" if os.path.exists(path + "/Header") else path, **options)
        found = {"box": data.domain_width.to("cm").value} | self.of_run(data)
        everything = data.all_data()
        if any(name.startswith("particle_position") or name == "Coordinates" for _, name in data.field_list):
            for name in data.particle_types_raw:
                self.particles(everything, name, found)
        if job["field"]:
            self.cells(everything, data, job["field"], found)
        return found

    def of_run(self, data):
        if not getattr(data, "cosmological_simulation", 0):
            return {"time": float(data.current_time.to("s").value)}
        constants = {"hubble": data.hubble_constant, "matter": data.omega_matter, "lambda": data.omega_lambda}
        return {"scale": 1 / (1 + data.current_redshift)} | constants

    def particles(self, everything, name, found):
        read = lambda field, unit: doubles(everything[name, field].to(unit).value)
        known = {field for kind, field in everything.ds.field_list if kind == name}
        columns = {"mass": read("particle_mass", "g")}
        for quantity, unit in (("position", "cm"), ("velocity", "cm/s")):
            columns[quantity] = np.stack([read(f"particle_{quantity}_{axis}", unit) for axis in "xyz"], axis=1)
        columns["id"] = np.asarray(everything[name, (known & {"ParticleIDs", "particle_identity"}).pop()].value)
        if "Density" in known:
            columns["density"] = read("Density", "g/cm**3")
        types = np.full(len(columns["mass"]), TYPES_OF_YT.get(name, 1))
        if "particle_family" in known:
            families = np.asarray(everything[name, "particle_family"].value).astype("i8").astype("i1")
            types = np.array([FAMILIES_OF_RAMSES.get(family, OTHER) for family in families])
        by_type(columns, types, found)

    def cells(self, everything, data, field, found):
        name = next(own for own in data.field_list if own[1] in NAMES_OF_YT.get(field, (field,)))
        place = [doubles(everything["index", axis].to("cm").value) for axis in ("x", "y", "z", "dx")]
        # The first pixel of FITS has its centre at 1, and ours at 0.5.
        shift = 0.5 if type(data).__name__.endswith("FITSDataset") else 0.0
        found["cells"] = np.stack(place, axis=1) - [shift, shift, shift, 0]
        values = everything[name]
        found["values"] = doubles((values.to("g/cm**3") if str(values.units) == "code_density" else values).value)

    def of_array(self, path, array):
        if array.shape[1:] == (3,):
            box = np.array([array.min(0), array.max(0) + 1]).T
            columns = {f"particle_position_{axis}": array[:, i].astype(float) for i, axis in enumerate("xyz")}
            everything = self.yt.load_particles(columns, length_unit="cm", bbox=box).all_data()
            place = [doubles(everything["io", name].to("cm").value) for name in columns]
            return {"position1": np.stack(place, axis=1)}
        box = np.array([[0.0, n] for n in array.shape])
        if ":" in path:
            file, name = path.split(":/")
            arguments = {"nchunks": 2, "dataset_arguments": {"length_unit": 1.0}}
            data = self.yt.load_hdf5_file(file, fields=[name], bbox=box, **arguments)
        else:
            data = self.yt.load_uniform_grid({"density": array}, array.shape, length_unit="cm", bbox=box)
        found = {"box": data.domain_width.to("cm").value}
        self.cells(data.all_data(), data, "cells" if ":" in path else "density", found)
        return found


class Pynbody:
    has_other_suns = False

    def __init__(self):
        import pynbody

        self.pynbody = pynbody

    def read(self, path, job):
        # The files of a snapshot are given by what their names have in common.
        data = self.pynbody.load(path.removesuffix(".0").replace(".0.hdf5", ""))
        constants = {"scale": "a", "hubble": "h", "matter": "omegaM0", "lambda": "omegaL0"}
        found = {ours: float(data.properties[name]) for ours, name in constants.items() if name in data.properties}
        if job["is_assumed"]:
            self.assume(data, job["is_cosmological"])
        self.context = data.conversion_context()
        for ours, name, unit in (("box", "boxsize", "cm"), ("time", "time", "s")):
            if name in data.properties:
                found[ours] = float(data.properties[name].in_units(unit, **self.context)) * np.ones(3 if ours == "box" else 1)
        self.particles(data, found)
        return found

    def assume(self, data, is_cosmological):
        """Gadget's own units, which our readers assume as well."""
        length, mass, velocity = ("kpc a h**-1", "1e10 Msol h**-1", "km s**-1 a**1/2")
        if not is_cosmological:
            length, mass, velocity = ("kpc", "1e10 Msol", "km s**-1")
        data.set_units_system(velocity=velocity, distance=length, mass=mass)

    def particles(self, data, found):
        parts, types = {}, []
        for family in data.families():
            own, known = data[family], data.loadable_keys(family)
            read = lambda name, unit: doubles(own[name]) * float(own[name].units.ratio(unit, **self.context))
            if "smooth" in known and "rho" in known and "iord" not in known:
                found["cells"] = np.column_stack([read("pos", "cm"), read("smooth", "cm")])
                found["values"] = read("rho", "g cm**-3")
                continue
            columns = {"position": read("pos", "cm"), "velocity": read("vel", "cm s**-1"), "mass": read("mass", "g")}
            columns["id"] = np.asarray(own["iord"])
            columns["density"] = read("rho", "g cm**-3") if "rho" in known else np.full(len(own), np.nan)
            for name, column in columns.items():
                parts.setdefault(name, []).append(column)
            types += [TYPES_OF_PYNBODY.get(family.name, OTHER)] * len(own)
        by_type({name: np.concatenate(of) for name, of in parts.items()}, np.array(types), found)


class Swiftsimio:
    # A unit of mass near to 10^10 suns is taken for them.
    has_other_suns = True

    def __init__(self):
        import swiftsimio
        from unyt import unyt_quantity

        self.load, self.quantity = swiftsimio.load, unyt_quantity

    def cgs(self, values, unit):
        physical = values.to_physical()
        return doubles(physical.value) * self.quantity(1.0, physical.units).to(unit).value

    def read(self, path, job):
        data = self.load(path)
        about = data.metadata
        found = {"box": self.cgs(about.boxsize, "cm")}
        if about.cosmology is not None:
            constants = {"hubble": about.cosmology.h, "matter": about.cosmology.Om0, "lambda": about.cosmology.Ode0}
            found |= {"scale": float(about.scale_factor)} | {name: float(value) for name, value in constants.items()}
        for name, number in TYPES_OF_SWIFTSIMIO.items():
            own = getattr(data, name, None)
            if own is not None:
                columns = {"position": self.cgs(own.coordinates, "cm"), "velocity": self.cgs(own.velocities, "cm/s")}
                columns |= {"mass": self.cgs(own.masses, "g"), "id": np.asarray(own.particle_ids.value)}
                by_type(columns, np.full(len(columns["id"]), number), found)
        return found


class Astropy:
    has_other_suns = False

    def read(self, path, job):
        from astropy.io import fits

        with fits.open(path) as file:
            values = next(part.data for part in file if part.data is not None).astype(float).T
        places = np.indices(values.shape).reshape(values.ndim, -1).T + 0.5
        cells = np.column_stack([places, np.ones(len(places))])
        return {"box": np.array(values.shape, dtype=float), "cells": cells, "values": values.ravel()}


def by_type(columns, types, found):
    for number in np.unique(types):
        for name, column in columns.items():
            own = column[types == number]
            if not (own.dtype.kind == "f" and np.isnan(own).all()):
                found[f"{name}{number}"] = own


def pooled(found):
    """With all types as one."""
    columns = {}
    for name in sorted(found, key=lambda name: name.lstrip("abcdefghijklmnopqrstuvwxyz")):
        stem = name.rstrip("0123456789")
        columns.setdefault(stem, []).append(np.asarray(found[name]))
    return {stem + "1" * (stem in PARTICLES): np.concatenate(of) if stem in PARTICLES else of[0] for stem, of in columns.items()}


PARTICLES = ("position", "velocity", "mass", "id", "density")


def in_order(found, number):
    """Rows by identity, or by place."""
    if f"id{number}" in found:
        return np.argsort(unsigned(found[f"id{number}"]))
    return np.lexsort(found[f"position{number}"].T)


def unsigned(ids):
    """Negative ones above all others."""
    ids = np.asarray(ids)
    return ids if ids.dtype == np.uint64 else ids.astype("i8").astype("u8")


def is_near(ours, theirs, scale):
    return ours.shape == theirs.shape and bool(np.all(np.abs(theirs - ours) <= NEAR * (scale or 1.0)))


def without_suns(ours, theirs):
    ratio = theirs.sum() / ours.sum() if ours.sum() else 1.0
    return theirs / ratio if abs(ratio - 1) < SUNS else theirs


def differences_of_particles(ours, theirs, number, has_other_suns):
    rows, others = len(ours[f"position{number}"]), theirs.get(f"position{number}")
    if others is None or len(others) != rows:
        yield "number"
        return
    order, other_order = in_order(ours, number), in_order(theirs, number)
    for stem in PARTICLES:
        name = f"{stem}{number}"
        if name not in ours:
            continue
        if name not in theirs:
            yield stem
            continue
        values, others = ours[name][order].reshape(rows, -1), np.asarray(theirs[name])[other_order].reshape(rows, -1)
        if stem == "id":
            if not np.array_equal(unsigned(values), unsigned(others)):
                yield stem
            continue
        others = without_suns(values, others) if has_other_suns and stem in ("mass", "density") else others
        scale = ours["box"].max() if stem == "position" and "box" in ours else np.abs(values).max()
        if not is_near(values, others, scale):
            yield stem


def differences_of_cells(ours, theirs):
    if "cells" not in theirs or len(theirs["cells"]) != len(ours["cells"]):
        yield "cells"
        return
    side = ours["cells"][:, 3].max()
    order, other_order = (np.lexsort(np.round(found["cells"] / side, 5).T) for found in (ours, theirs))
    if not is_near(ours["cells"][order], theirs["cells"][other_order], side):
        yield "cells"
    values = ours["values"].ravel()
    if not is_near(values[order], theirs["values"][other_order], np.abs(values).max()):
        yield "values"


def differences(ours, theirs, has_other_suns):
    """Quantities that are not the same, or that they do not give."""
    for name in ("box", "time", "scale", "hubble", "matter", "lambda"):
        if name in ours:
            values = ours[name].ravel()
            if name not in theirs or not is_near(values, np.atleast_1d(theirs[name]), np.abs(values).max()):
                yield name
    for name in ours:
        if name.startswith("position"):
            yield from differences_of_particles(ours, theirs, name.removeprefix("position"), has_other_suns)
    if "cells" in ours:
        yield from differences_of_cells(ours, theirs)


def check(job, program):
    files = glob.glob(f"{glob.escape(job['ours'])}/*.npy")
    ours = {os.path.basename(file).removesuffix(".npy"): np.load(file) for file in files}
    job["is_cosmological"] = "scale" in ours
    try:
        theirs = program.read(job["input"], job)
    except Exception as error:
        if job["unread"]:
            return
        raise error
    has_other_suns = job["is_assumed"] or program.has_other_suns
    found = set(differences(ours, theirs, has_other_suns))
    if "types" in job["except"]:
        assert "number" in found, "the types are the same; the list says that they are not"
        found = {"types"} | set(differences(pooled(ours), pooled(theirs), has_other_suns))
    if job["unread"]:
        assert found, "it is read; the list says that it is not"
    else:
        assert found == set(job["except"]), f"{sorted(found)} differ, not {job['except']}"


def main():
    warnings.simplefilter("ignore")
    program, jobs = sys.argv[1:]
    program = {"yt": Yt, "pynbody": Pynbody, "swiftsimio": Swiftsimio, "astropy": Astropy}[program]()
    wrong = []
    for job in json.load(open(jobs)):
        try:
            check(job, program)
        except Exception as error:
            wrong.append(f"{job['name']}: {type(error).__name__}: {str(error)[:300]}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
