#!/usr/bin/env bash
# Installs the system packages that the default build needs, those that are missing and no others.
# A build with --no-default-features needs only a C linker; --mpi adds what the feature `mpi` needs.
set -euo pipefail

fail() {
    echo "setup: $*" >&2
    exit 1
}

command -v cargo >/dev/null || fail "cargo is missing; install Rust from https://rustup.rs"

missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v pkg-config >/dev/null || missing+=(pkg-config)
command -v xz >/dev/null || missing+=(xz-utils)
if ! { command -v pkg-config >/dev/null && { pkg-config --exists hdf5 || pkg-config --exists hdf5-serial; }; } \
    && [ -z "${HDF5_DIR:-}" ]; then
    missing+=(libhdf5-dev)
fi
if [ "${1:-}" = --mpi ]; then
    command -v mpicc >/dev/null || missing+=(libopenmpi-dev)
    command -v mpirun >/dev/null || missing+=(openmpi-bin)
    command -v clang >/dev/null || missing+=(clang libclang-dev)
fi
[ ${#missing[@]} -eq 0 ] && exit 0

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
