#!/usr/bin/env bash
# Runs small jobs of the debug build under valgrind's memcheck: bash scripts/valgrind.sh
# Any read of memory that was not written, or is not there, ends it with an error.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build
program=${CARGO_TARGET_DIR:-target}/debug/inselberg
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
tar -xJf tests/fixtures/ramses_16.tar.xz -C "$room"
input=$room/ramses_16/dm_3ranks/output_00002
thresholds=(--density-threshold 40 --relevance-threshold 3 --saddle-threshold 200)

check() {
    echo "valgrind: inselberg $*" | sed "s#$room/##g"
    valgrind --quiet --error-exitcode=99 \
        "$program" "$@" --threads 2 --quiet
}

check phew "$input" -o "$room/c.hdf5" "${thresholds[@]}" --with-cells --with-particles
check phew "$input" -o "$room/d.csv" "${thresholds[@]}" --ranks 3
check recut "$room/c.hdf5" -o "$room/r.hdf5" --relevance-threshold 5
check fof "$input" -o "$room/g.hdf5" --linking-ratio 0.2 --group-ids "$room/ids.hdf5"
check phew "$input" --mesh-from-particles -o "$room/m.hdf5" --density-threshold 40 --saddle-threshold 200
check synth field -o "$room/output_00001" --test-cells 2000
echo "valgrind: nothing found"
