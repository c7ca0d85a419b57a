#!/usr/bin/env bash
# Builds the wheel with an HDF5 of its own, checks its types, and tests it in a fresh environment without compilers and HDF5:
#     bash python/check.sh            (the command, if it is to be compared: INSELBERG_COMMAND=target/debug/inselberg)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
place=$CARGO_TARGET_DIR/tmp

fail() {
    echo "python: $*" >&2
    exit 1
}

tools=$place/wheel-tools/bin
rm -rf "$place/wheel-test"
bash packaging/wheels.sh "$place/wheels"
wheel=$(ls "$place"/wheels/*.whl)

python3 -m venv "$place/wheel-test"
own=$place/wheel-test/bin
"$own/python" -m pip install --quiet "$wheel[test]" || fail "the wheel cannot be installed"
(cd python && "$tools/mypy" --python-executable "$own/python" --cache-dir "$place/mypy" inselberg) || fail "types do not fit"
native=$("$own/python" -c 'import inselberg._native as native; print(native.__file__)')
if ldd "$native" | grep -iE 'hdf5|libz|hwloc|mpi'; then
    fail "the wheel links libraries of this machine"
fi

# Nothing of this machine but Python: no compiler is on the path.
command=${INSELBERG_COMMAND:+$(realpath "$INSELBERG_COMMAND")}
cd "$place/wheel-test"
env -i HOME="$HOME" PATH="$own" ${command:+INSELBERG_COMMAND="$command"} \
    "$own/python" -m pytest -p no:cacheprovider "$root/python/tests"
