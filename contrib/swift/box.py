"""Initial conditions of a small box for SWIFT: python box.py 32 box.hdf5

Dark matter on a grid, displaced by Zel'dovich's approximation with a power spectrum of cold dark matter (Bardeen et al. 1986),
normalised to sigma_8. The cosmology is that of box.yml.
"""

import sys

import h5py
import numpy as np

SIDE = 50.0  # Mpc, comoving
A_BEGIN = 0.04
H, OMEGA_M, OMEGA_L, SIGMA_8, N_S = 0.7, 0.3, 0.7, 0.85, 0.96
CRITICAL = 27.7536627 * H**2  # 1e10 Msun / Mpc^3


def transfer(k):
    """Bardeen et al. 1986, k in 1/Mpc."""
    q = np.maximum(k / (OMEGA_M * H**2), 1e-8)
    by_q = 1 + 3.89 * q + (16.1 * q) ** 2 + (5.46 * q) ** 3 + (6.71 * q) ** 4
    return np.log(1 + 2.34 * q) / (2.34 * q) * by_q**-0.25


def amplitude():
    """Factor of k^n T^2 that gives sigma_8."""
    k = np.logspace(-4, 2, 20000)
    x = k * 8 / H
    window = 3 * (np.sin(x) - x * np.cos(x)) / x**3
    variance = np.trapezoid(k**3 * k**N_S * transfer(k) ** 2 * window**2, np.log(k)) / (2 * np.pi**2)
    return SIGMA_8**2 / variance


def growth(a):
    """Growth factor, 1 today, by its integral."""

    def integral(to):
        x = np.linspace(1e-6, to, 20000)
        rate = np.sqrt(OMEGA_M / x**3 + OMEGA_L)
        return np.sqrt(OMEGA_M / to**3 + OMEGA_L) * np.trapezoid(1 / (x * rate) ** 3, x)

    return integral(a) / integral(1.0)


def displacements(n):
    """Displacements today in Mpc, on a grid of n cells per side."""
    noise = np.random.default_rng(59).standard_normal((n, n, n))
    axis = 2 * np.pi * np.fft.fftfreq(n, SIDE / n)
    k = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"))
    square = (k**2).sum(0)
    square[0, 0, 0] = 1
    power = amplitude() * square ** (N_S / 2) * transfer(np.sqrt(square)) ** 2
    density = np.fft.fftn(noise) * np.sqrt(power * n**3 / SIDE**3)
    density[0, 0, 0] = 0
    return np.stack([np.fft.ifftn(1j * k[i] / square * density).real for i in range(3)], axis=-1)


def main():
    n, path = int(sys.argv[1]), sys.argv[2]
    grid = (np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1) + 0.5) * SIDE / n
    shift = displacements(n) * growth(A_BEGIN)
    hubble = 100 * H * np.sqrt(OMEGA_M / A_BEGIN**3 + OMEGA_L)
    rate = (OMEGA_M / (OMEGA_M + OMEGA_L * A_BEGIN**3)) ** 0.55
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        header["BoxSize"] = [SIDE] * 3
        header["NumPart_Total"] = header["NumPart_ThisFile"] = np.array([0, n**3, 0, 0, 0, 0, 0], "u4")
        header["NumPart_Total_HighWord"] = np.zeros(7, "u4")
        header["MassTable"] = np.zeros(7)
        header["Time"], header["Dimension"] = A_BEGIN, 3
        header["NumFilesPerSnapshot"], header["Flag_Entropy_ICs"] = 1, 0
        units = file.create_group("Units").attrs
        units["Unit length in cgs (U_L)"], units["Unit mass in cgs (U_M)"] = 3.08567758e24, 1.98841e43
        units["Unit time in cgs (U_t)"] = 3.08567758e19
        units["Unit current in cgs (U_I)"] = units["Unit temperature in cgs (U_T)"] = 1.0
        part = file.create_group("PartType1")
        part["Coordinates"] = ((grid + shift) % SIDE).reshape(-1, 3)
        # Peculiar, in km/s.
        part["Velocities"] = (shift * A_BEGIN * hubble * rate).reshape(-1, 3).astype("f4")
        part["Masses"] = np.full(n**3, OMEGA_M * CRITICAL * SIDE**3 / n**3, "f4")
        part["ParticleIDs"] = np.arange(1, n**3 + 1)


main()
