"""Inselberg for Spack 1.0 and later; packaging/README.md says how to use it."""

import os

from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *


class Inselberg(CargoPackage):
    """Inselberg finds clumps, haloes and their hierarchy in AMR density fields (PHEW) and
    friends-of-friends groups of particles, over MPI ranks and threads."""

    homepage = "https://doi.org/10.1186/s40668-015-0009-7"
    # packaging/archive.sh makes the archive, which holds all crates: the build needs no network.
    url = f"file://{os.getcwd()}/inselberg-0.2.0.tar.xz"
    manual_download = True

    license("MIT OR Apache-2.0", checked_by="inselberg")

    # A release adds the checksum that packaging/archive.sh prints; until then `spack install --no-checksum`.
    version("0.2.0")

    variant("mpi", default=True, description="Ranks as processes under mpirun or srun")
    variant("hdf5", default=True, description="HDF5 inputs and catalogues")
    variant("numa", default=True, description="Placement of ranks and threads on NUMA nodes")
    variant("capi", default=False, description="The library for C and Fortran programs")

    depends_on("c", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi", when="+mpi")
    # Reads the headers of MPI during the build.
    depends_on("llvm+clang", type="build", when="+mpi")
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("hwloc@2:", when="+numa")

    @property
    def features(self):
        """The features for Cargo, apart from pictures, which need no library."""
        wanted = [name for name in ("mpi", "hdf5", "numa") if self.spec.satisfies(f"+{name}")]
        return ["--locked", "--no-default-features", "--features", ",".join(["plot", *wanted])]

    @property
    def build_args(self):
        return self.features

    @property
    def check_args(self):
        return [*self.features, "--lib", "--bins"]

    def setup_build_environment(self, env):
        if self.spec.satisfies("+mpi"):
            env.set("MPICC", self.spec["mpi"].mpicc)
            env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)
        if self.spec.satisfies("+hdf5"):
            env.set("HDF5_DIR", self.spec["hdf5"].prefix)

    @run_after("install")
    def install_pages_and_completions(self):
        with working_dir(self.stage.source_path):
            environ = {**os.environ, "PROGRAM": str(self.prefix.bin.inselberg)}
            Executable("bash")("packaging/install.sh", self.prefix, env=environ)

    @run_after("install", when="+capi")
    def install_library(self):
        options = ["--locked", "--no-default-features"]
        wanted = [name for name in ("mpi", "hdf5") if self.spec.satisfies(f"+{name}")]
        if wanted:
            options += ["--features", ",".join(wanted)]
        with working_dir(self.stage.source_path):
            Executable("bash")("scripts/install_capi.sh", self.prefix, *options)

    def test_version(self):
        """the program starts"""
        Executable(self.prefix.bin.inselberg)("--version")
