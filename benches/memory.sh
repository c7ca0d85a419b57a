#!/usr/bin/env bash
# Peak memory of a run on one process and of the largest of several under mpirun, and what is allowed:
#   benches/memory.sh [TEST_CELLS [RANKS [INSELBERG]]]     (2e6 8 target/release/inselberg)
# Needs Open MPI, GNU time and a program built with --features mpi. The allowance: 1.5 shares + 100 MB.
set -euo pipefail

cells=${1:-2e6} ranks=${2:-8}
program=$(realpath "${3:-${CARGO_TARGET_DIR:-target}/release/inselberg}")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

thresholds=(--density-threshold 80 --saddle-threshold 200)
run=(sh -c 'exec time -o "$0/peak.${OMPI_COMM_WORLD_RANK:-alone}" -f %M "$@"' "$room" "$program" phew
    "$room/output_00001" "${thresholds[@]}" --threads 1 --quiet)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1

"$program" synth field --test-cells "$cells" -o "$room/output_00001"
"${run[@]}" -o "$room/one.hdf5"
mpirun --oversubscribe --bind-to none -n "$ranks" "${run[@]}" -o "$room/many.hdf5"

one=$(cat "$room/peak.alone")
most=$(cat "$room"/peak.[0-9]* | sort -n | tail -1)
awk -v one="$one" -v most="$most" -v n="$ranks" 'BEGIN {
    one /= 1000; most /= 1000; allowed = 1.5 * one / n + 100
    printf "one process %.0f MB, largest of %d ranks %.0f MB, allowed %.0f MB\n", one, n, most, allowed
    exit most > allowed
}'
