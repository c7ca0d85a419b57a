#!/usr/bin/env bash
# Builds the package from source with MPI, as docs/python.md says, and tests it over ranks and alone:
#     bash python/check_mpi.sh            (another launcher: MPIRUN="srun --mpi=pmix")
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
place=$CARGO_TARGET_DIR/tmp/ranks

bash scripts/setup.sh --mpi --venv
rm -rf "$place"
python3 -m venv "$place"
"$place/bin/python" -m pip install --quiet mpi4py pytest h5py
"$place/bin/python" -m pip install --quiet ./python --config-settings=build-args='--features mpi'

export INSELBERG_MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}
cd "$place"
"$place/bin/python" -m pytest -p no:cacheprovider "$root/python/tests"
