#!/usr/bin/env bash
# Builds the wheel of the Python package, with an HDF5 of its own, and tries it in bare environments.
#   packaging/wheels.sh [FOLDER]             writes FOLDER/inselberg-VERSION-cp310-abi3-PLATFORM.whl; FOLDER is target/tmp/wheels
#   packaging/wheels.sh --try FOLDER PYTHON...   installs the wheel of FOLDER into an environment of each Python, and runs it there
# One wheel serves every CPython from 3.10 on. Its name has the oldest glibc that it needs, which is at most that of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}

fail() {
    echo "wheels: $*" >&2
    exit 1
}

make_wheel() {
    local folder=${1:-$CARGO_TARGET_DIR/tmp/wheels} tools=$CARGO_TARGET_DIR/tmp/wheel-tools/bin wheel
    bash scripts/setup.sh --wheel
    mkdir -p "$folder"
    rm -f "$folder"/*.whl
    folder=$(cd "$folder" && pwd)
    # Maturin looks up which glibc the wheel needs, and refuses libraries that a wheel may not link.
    (cd python && PATH=$tools:$PATH maturin build --release --locked --features static-hdf5 --out "$folder")
    wheel=$(ls "$folder"/*.whl)
    echo "wheels: $(basename "$wheel"), $(du -h "$wheel" | cut -f1)"
}

# Nothing of this machine but Python: no compiler is on the path.
try_wheel() {
    local wheel python place
    wheel=$(ls "${1:?expected a folder}"/*.whl)
    shift
    for python in "$@"; do
        place=$(mktemp -d)
        "$python" -m venv "$place"
        "$place/bin/python" -m pip install --quiet "$wheel" || fail "$python: the wheel cannot be installed"
        env -i HOME="$HOME" PATH="$place/bin" "$place/bin/python" -m doctest /dev/stdin <<'END' || fail "$python: the first example fails"
>>> import numpy as np, inselberg as ib
>>> rho = np.array([2.0, 9.0, 4.0, 7.0, 3.0, 0.5])
>>> positions = np.array([[x, 4, 4] for x in range(6)])
>>> ib.phew_cells(np.full(6, 3), positions, rho, density=1.0, relevance=1.2, saddle=5.0).labels.tolist()
[1, 1, 1, 2, 2, 0]
END
        echo "wheels: $("$place/bin/python" --version) has the wheel and runs the first example"
        rm -r "$place"
    done
}

case ${1:-} in
--try) try_wheel "${@:2}" ;;
-*) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
*) make_wheel "${1:-}" ;;
esac
