#!/usr/bin/env bash
# Installs the system packages that the default build needs, those that are missing and no others.
# A build with --no-default-features needs only a C linker. Options add to it, several may be given:
#     --mpi       what the feature `mpi` needs with Open MPI
#     --mpich     the same with MPICH
#     --browser   the browser that a test opens pages in
#     --fuzz      the C++ compiler that the fuzzer needs
#     --valgrind  the checker of memory
#     --fortran   the compiler of the Fortran hosts
#     --python    an environment of Python under target/tmp with swiftsimio, yt, pynbody, VTK, astropy, astrodendro and ytree, which
#                 tests read inputs and catalogues with
#     --wheel     one with maturin and CMake, which build the Python package, and mypy, which checks its types (python/check.sh)
#     --site      mdBook under target/tmp, which `make docs` builds the site with
#     --venv      what environments of Python need
#     --packaging Slurm, munge and Lmod, and an environment of Python with rattler-build and zizmor, which
#                 scripts/slurm.sh and packaging/check.sh use
set -euo pipefail

fail() {
    echo "setup: $*" >&2
    exit 1
}

# Packages of Python need no root; they stay under the target folder.
make_python() {
    local place
    place="${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/tmp/python"
    "$place/bin/python" -c 'import swiftsimio, yt, pynbody, vtk, astropy, astrodendro, ytree' 2>/dev/null && return
    echo "setup: installing swiftsimio, yt, pynbody, VTK, astropy, astrodendro and ytree into $place"
    { python3 -m venv "$place" \
        && "$place/bin/python" -m pip install --quiet 'swiftsimio>=12' 'yt>=4.4' 'pynbody==2.8.0' 'vtk>=9.5' 'astropy>=6' 'astrodendro>=0.3' 'ytree>=3.2'; } \
        || fail "swiftsimio, yt, pynbody, VTK, astropy, astrodendro and ytree cannot be installed into $place"
}

make_wheel_tools() {
    local place
    place="${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/tmp/wheel-tools"
    [ -x "$place/bin/maturin" ] && [ -x "$place/bin/cmake" ] && [ -x "$place/bin/mypy" ] && return
    echo "setup: installing maturin, CMake and mypy into $place"
    { python3 -m venv "$place" && "$place/bin/python" -m pip install --quiet 'maturin>=1.9,<2' cmake 'mypy>=1.15,<3'; } \
        || fail "maturin, CMake and mypy cannot be installed into $place"
}

# MDBOOK names a program that is there already.
make_site_tools() {
    local place
    place="${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/tmp/site-tools"
    [ -n "${MDBOOK:-}" ] || [ -x "$place/bin/mdbook" ] && return
    echo "setup: building mdBook into $place"
    cargo install --quiet --locked mdbook --version '^0.5' --no-default-features --features search --root "$place" \
        || fail "mdBook cannot be installed into $place"
}

make_recipe_tools() {
    local place
    place="${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/tmp/recipe-tools"
    "$place/bin/python" -c 'import rattler_build, yaml' 2>/dev/null && [ -x "$place/bin/zizmor" ] && return
    echo "setup: installing rattler-build, PyYAML and zizmor into $place"
    { python3 -m venv "$place" && "$place/bin/python" -m pip install --quiet 'py-rattler-build>=0.70' pyyaml 'zizmor>=1.20'; } \
        || fail "rattler-build, PyYAML and zizmor cannot be installed into $place"
}

# What was asked for of Python.
make_environments() {
    [ $wants_python = no ] || make_python
    [ $wants_wheel = no ] || make_wheel_tools
    [ $wants_site = no ] || make_site_tools
    [ $wants_recipes = no ] || make_recipe_tools
}

command -v cargo >/dev/null || fail "cargo is missing; install Rust from https://rustup.rs"

missing=()
wants_python=no
wants_wheel=no
wants_site=no
wants_recipes=no
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v pkg-config >/dev/null || missing+=(pkg-config)
command -v xz >/dev/null || missing+=(xz-utils)
if ! { command -v pkg-config >/dev/null && { pkg-config --exists hdf5 || pkg-config --exists hdf5-serial; }; } \
    && [ -z "${HDF5_DIR:-}" ]; then
    missing+=(libhdf5-dev)
fi
if ! { command -v pkg-config >/dev/null && pkg-config --exists hwloc; }; then
    missing+=(libhwloc-dev)
fi
for option in "$@"; do
    case $option in
        --mpi)
            command -v mpicc >/dev/null || missing+=(libopenmpi-dev)
            command -v mpirun >/dev/null || missing+=(openmpi-bin)
            ;;
        --mpich)
            command -v mpicc.mpich >/dev/null || missing+=(libmpich-dev)
            command -v mpirun.mpich >/dev/null || missing+=(mpich)
            ;;
        --browser)
            command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
            continue
            ;;
        --fuzz)
            command -v c++ >/dev/null || missing+=(g++)
            continue
            ;;
        --fortran)
            command -v gfortran >/dev/null || missing+=(gfortran)
            continue
            ;;
        --valgrind)
            command -v valgrind >/dev/null || missing+=(valgrind libc6-dbg)
            continue
            ;;
        --python)
            wants_python=yes
            { command -v python3 && python3 -c 'import ensurepip'; } >/dev/null 2>&1 || missing+=(python3-venv)
            continue
            ;;
        --site)
            wants_site=yes
            command -v python3 >/dev/null || missing+=(python3)
            continue
            ;;
        --wheel)
            wants_wheel=yes
            { command -v python3 && python3 -c 'import ensurepip'; } >/dev/null 2>&1 || missing+=(python3-venv)
            continue
            ;;
        --venv)
            { command -v python3 && python3 -c 'import ensurepip'; } >/dev/null 2>&1 || missing+=(python3-venv)
            continue
            ;;
        --packaging)
            wants_recipes=yes
            { command -v python3 && python3 -c 'import ensurepip'; } >/dev/null 2>&1 || missing+=(python3-venv)
            PATH=$PATH:/usr/sbin
            command -v slurmctld >/dev/null || missing+=(slurm-wlm)
            command -v munged >/dev/null || missing+=(munge)
            command -v ip >/dev/null || missing+=(iproute2)
            [ -d /usr/share/lmod ] || missing+=(lmod)
            continue
            ;;
        *)
            fail "unknown option $option; expected --mpi, --mpich, --browser, --fuzz, --fortran, --valgrind, --python, --wheel," \
                "--site, --venv or --packaging"
            ;;
    esac
    command -v clang >/dev/null || missing+=(clang libclang-dev)
done
if [ ${#missing[@]} -eq 0 ]; then
    make_environments
    exit 0
fi

wanted="install ${missing[*]} (or set HDF5_DIR to an HDF5 of your own), or build with --no-default-features"
command -v apt-get >/dev/null || fail "this is no Debian or Ubuntu; $wanted"
if [ "$(id -u)" -eq 0 ]; then
    root=()
elif command -v sudo >/dev/null; then
    root=(sudo)
else
    fail "neither root nor sudo; $wanted"
fi

echo "setup: installing ${missing[*]}"
"${root[@]}" apt-get update -qq || fail "apt-get update failed; $wanted"
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null || fail "apt-get install failed; $wanted"
make_environments
