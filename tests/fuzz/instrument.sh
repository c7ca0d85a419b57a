#!/usr/bin/env bash
# What RUSTC_WORKSPACE_WRAPPER calls: the compiler, with the coverage counters that libFuzzer reads.
# All of these are stable options. Only Inselberg's own crates get them, so third-party crates are shared with
# other builds.
exec "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
