#!/usr/bin/env bash
# Builds and installs the library for C and Fortran: bash scripts/install_capi.sh PREFIX [options of cargo, such as --features mpi]
# `make install-capi` calls it. PROFILE names another profile than release.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${1:?expected a folder}
shift
profile=${PROFILE:-release}
began=$SECONDS
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# What programs that link the static library need besides comes out of the compiler.
cargo rustc -p inselberg-capi --profile "$profile" "$@" -- --print native-static-libs 2>&1 | tee "$said"
private=$(sed -n 's/^note: native-static-libs: //p' "$said" | tail -n 1)
[ -n "$private" ] || { echo "install_capi: the compiler names no system libraries" >&2; exit 1; }
# The compiler does not say where HDF5 is.
private="$(pkg-config --libs-only-L hdf5 2>/dev/null || pkg-config --libs-only-L hdf5-serial 2>/dev/null || true) $private"
version=$(cargo pkgid -p inselberg-capi | sed 's/.*[@#]//')
folder=${CARGO_TARGET_DIR:-target}/$profile
[ "$profile" != dev ] || folder=${CARGO_TARGET_DIR:-target}/debug

mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
prefix=$(cd "$prefix" && pwd)
install -m 755 "$folder/libinselberg_capi.so" "$prefix/lib/libinselberg.so.0"
ln -sf libinselberg.so.0 "$prefix/lib/libinselberg.so"
install -m 644 "$folder/libinselberg_capi.a" "$prefix/lib/libinselberg.a"
# Without the debug symbols, which are nine tenths of the shared library, and the compiler's intermediate code, which is most
# of the static one.
strip --strip-debug "$prefix/lib/libinselberg.so.0"
objcopy --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd "$prefix/lib/libinselberg.a"
install -m 644 engine/capi/include/inselberg.h engine/capi/fortran/inselberg.f90 "$prefix/include"
cat >"$prefix/lib/pkgconfig/inselberg.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: inselberg
Description: Clumps and haloes in AMR density fields, and friends-of-friends groups
Version: $version
Libs: -L\${libdir} -Wl,-rpath,\${libdir} -linselberg
Libs.private: $private
Cflags: -I\${includedir}
END
size() { du -h "$(readlink -f "$prefix/lib/libinselberg.$1")" | cut -f1; }
echo "built in $((SECONDS - began)) s; libinselberg.so has $(size so), libinselberg.a has $(size a)"
echo "installed in $prefix: libinselberg.so, libinselberg.a, inselberg.h, inselberg.f90, inselberg.pc"
