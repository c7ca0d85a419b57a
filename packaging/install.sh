#!/usr/bin/env bash
# Installs the program with its manual pages, completions and Lmod file: bash packaging/install.sh PREFIX [options of cargo]
#     bash packaging/install.sh $HOME/.local --features mpi
# PROGRAM names a program that is built already. The library for C and Fortran comes apart: make install-capi PREFIX=...
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${1:?expected a folder}
shift
mkdir -p "$prefix/bin"
prefix=$(cd "$prefix" && pwd)
program=$prefix/bin/inselberg
if [ -n "${PROGRAM:-}" ]; then
    [ "$PROGRAM" -ef "$program" ] || install -m 755 "$PROGRAM" "$program"
else
    cargo install --path . --locked --no-track --force --root "$prefix" "$@"
fi

# Which MPI the program was linked with.
mpi=none
case $(ldd "$program" 2>/dev/null || true) in
*libmpich* | *libmpi.so.12*) mpi=mpich ;;
*libmpi*) mpi=openmpi ;;
esac

install -d "$prefix"/share/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,modulefiles/inselberg}
"$program" man "$prefix/share/man/man1"
"$program" completions bash >"$prefix/share/bash-completion/completions/inselberg"
"$program" completions zsh >"$prefix/share/zsh/site-functions/_inselberg"
"$program" completions fish >"$prefix/share/fish/vendor_completions.d/inselberg.fish"

version=$("$program" --version | sed -n '1s/^inselberg \([^ ,]*\).*/\1/p')
sed "s/@MPI@/$mpi/" packaging/lmod/inselberg.lua >"$prefix/share/modulefiles/inselberg/$version.lua"
echo "installed in $prefix: inselberg $version (MPI: $mpi), manual pages, completions, share/modulefiles"
