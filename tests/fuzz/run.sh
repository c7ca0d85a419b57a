#!/usr/bin/env bash
# Fuzzes what Inselberg reads: bash tests/fuzz/run.sh [SECONDS [TARGET...]]
# FEATURES: those of the tests that were built before, such as mpi. The seconds (60) of processor time are divided among the targets (all but hdf5, see README.md). What is found lies in target/fuzz/TARGET.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(amr hydro grav part info header descriptor npy npz gadget fits amrex catalogue-hdf5 catalogue-csv config run)
fi
each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1

# The features of all crates of the workspace: then more third-party crates are those that the tests have compiled.
RUSTC_WORKSPACE_WRAPPER=$PWD/tests/fuzz/instrument.sh cargo build --workspace ${FEATURES:+--features "$FEATURES"} --bin fuzz
program=${CARGO_TARGET_DIR:-target}/debug/fuzz
export program each

# Fuzzes one target, and says how often.
fuzz() {
    local target=$1 seeds=tests/fuzz/corpus/$1 found=target/fuzz/$1 longest=256
    mkdir -p "$found/corpus" "$seeds"
    # A whole text, not a few changes.
    if [ "$target" = config ]; then longest=4096; fi
    if ! INSELBERG_FUZZ_TARGET=$target "$program" "$found/corpus" "$seeds" -max_total_time="$each" \
        -timeout=20 -rss_limit_mb=4096 -max_len=$longest -len_control=0 -use_value_profile=1 \
        -print_final_stats=1 -artifact_prefix="$found/" >"$found/log" 2>&1; then
        tail -40 "$found/log" >&2
        echo "fuzz: $target failed; again: INSELBERG_FUZZ_TARGET=$target $program $found/crash-..." >&2
        return 1
    fi
    local n compared
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$found/log")
    compared=$(sed -n 's/^compared: //p' "$found/log" | tail -1)
    echo "fuzz: $target: $n executions in $each s, at least ${compared:-0} of them accepted and compared"
}
export -f fuzz

# As many targets at a time as there are processors.
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'fuzz {}'
total=$(for target in "${targets[@]}"; do sed -n 's/^stat::number_of_executed_units: *//p' "target/fuzz/$target/log"; done | awk "{ n += \$1 } END { print n }")
echo "fuzz: $total executions of ${#targets[@]} targets, nothing found"
