#!/usr/bin/env bash
# Fuzzes what Inselberg reads: bash tests/fuzz/run.sh [SECONDS [TARGET...]]
# FEATURES: those of the tests that were built before, such as mpi. The seconds (60) are divided among the targets (all but hdf5, see README.md). What is found lies in target/fuzz/TARGET.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(amr hydro grav part info header descriptor npy catalogue-hdf5 catalogue-csv config run)
fi
each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1

# The features of all crates of the workspace: then more third-party crates are those that the tests have compiled.
RUSTC_WORKSPACE_WRAPPER=$PWD/tests/fuzz/instrument.sh cargo build --workspace ${FEATURES:+--features "$FEATURES"} --bin fuzz
program=${CARGO_TARGET_DIR:-target}/debug/fuzz
total=0
for target in "${targets[@]}"; do
    seeds=tests/fuzz/corpus/$target
    found=target/fuzz/$target
    mkdir -p "$found/corpus" "$seeds"
    # A whole text, or a few changes.
    case $target in
        config) longest=4096 ;;
        *) longest=256 ;;
    esac
    if ! INSELBERG_FUZZ_TARGET=$target "$program" "$found/corpus" "$seeds" -max_total_time="$each" \
        -timeout=20 -rss_limit_mb=4096 -max_len=$longest -len_control=0 -use_value_profile=1 \
        -print_final_stats=1 -artifact_prefix="$found/" >"$found/log" 2>&1; then
        tail -40 "$found/log" >&2
        echo "fuzz: $target failed; again: INSELBERG_FUZZ_TARGET=$target $program $found/crash-..." >&2
        exit 1
    fi
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$found/log")
    compared=$(sed -n 's/^compared: //p' "$found/log" | tail -1)
    total=$((total + n))
    echo "fuzz: $target: $n executions in $each s, at least ${compared:-0} of them accepted and compared"
done
echo "fuzz: $total executions of ${#targets[@]} targets, nothing found"
