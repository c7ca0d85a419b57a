"""Particles of a snapshot beside yt or swiftsimio: their number, mass, centre, mean velocity and box, in physical cgs units.

The catalogue has one group of all dark matter: `fof --open --linking-length` of more than the box. Arguments: which program, the
snapshot, the catalogue. On purpose: velocities of Gadget are written as v / sqrt(a), and both programs give peculiar velocities.
"""

import sys

import h5py
import numpy as np


def by_swiftsimio(path):
    import swiftsimio
    from unyt import unyt_quantity

    data = swiftsimio.load(path)
    dark = data.dark_matter
    position, velocity = dark.coordinates.to_physical(), dark.velocities.to_physical()
    # In double precision: masses in g are more than single precision holds.
    cgs = lambda values, unit: np.asarray(values.value, dtype=float) * unyt_quantity(1.0, values.units).to(unit).value
    box = cgs(data.metadata.boxsize.to_physical(), "cm")
    return cgs(dark.masses.to_physical(), "g"), cgs(position, "cm"), cgs(velocity, "cm/s"), box


def by_yt(path):
    import yt

    yt.set_log_level(50)
    # Gadget-4 states its units in the group Parameters, where yt does not look.
    units = {"UnitLength_in_cm": 3.085678e24, "UnitMass_in_g": 1.989e43, "UnitVelocity_in_cm_per_s": 1e5}
    data = yt.load(path, unit_base=units)
    everything = data.all_data()
    read = lambda name, unit: np.asarray(everything[("PartType1", name)].to(unit).value, dtype=float)
    position, velocity = (
        np.stack([read(f"particle_{name}_{axis}", unit) for axis in "xyz"], axis=1)
        for name, unit in (("position", "cm"), ("velocity", "cm/s"))
    )
    return read("particle_mass", "g"), position, velocity, np.asarray(data.domain_width.to("cm").value)


def main():
    program, path, catalogue = sys.argv[1:]
    mass, position, velocity, box = {"yt": by_yt, "swiftsimio": by_swiftsimio}[program](path)
    with h5py.File(catalogue) as file:
        groups = file["Groups"]
        cgs = lambda name: groups[name][0] * groups[name].attrs["cgs_factor"]
        found = {name: cgs(name) for name in ("Masses", "Centres", "Velocities")}
        number, side = int(groups["Sizes"][0]), file.attrs["sides"] * groups["Centres"].attrs["cgs_factor"]
    weight = mass / mass.sum()
    assert number == len(mass), (number, len(mass))
    near = lambda a, b, scale: np.all(np.abs(np.asarray(a) - b) <= 1e-4 * scale)
    assert near(side, box, box), (side, box)
    assert near(found["Masses"], mass.sum(), mass.sum()), (found["Masses"], mass.sum())
    centre = (weight[:, None] * position).sum(0)
    assert near(found["Centres"], centre, box), (found["Centres"], centre, box)
    mean, spread = (weight[:, None] * velocity).sum(0), velocity.std()
    assert near(found["Velocities"], mean, spread), (found["Velocities"], mean, spread)


main()
