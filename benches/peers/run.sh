#!/usr/bin/env bash
# Friends-of-friends of inselberg and its peers on the same particles, one core each:
#   benches/peers/run.sh [NUMBER | FILE.npy [LENGTH [SIDE]]] [--repeat N]     (2e6)
# Needs Python 3 and the network for pip. INSELBERG: the program (target/release/inselberg).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}
program=$(realpath "${INSELBERG:-$target/release/inselberg}")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

python=$target/peers/bin/python
[ -x "$python" ] || python3 -m venv "$target/peers"
install() { "$python" -m pip install --quiet --disable-pip-version-check "$@" >"$room/pip.log" 2>&1; }
install numpy scipy setuptools wheel cython || { cat "$room/pip.log" >&2; exit 1; }
for peer in kdcount pyfof ${PEERS_YT:+yt_astro_analysis}; do
    "$python" -c "import $peer" 2>/dev/null || install --no-build-isolation "$peer" || install "$peer" ||
        echo "$peer cannot be installed: $(grep -im1 'error: \|Error:' "$room/pip.log")" >&2
done

what=${1:-2e6}
[ $# -gt 0 ] && shift
if [ ! -e "$what" ]; then
    "$program" synth particles --number "$what" -o "$room/box.npy" --quiet
    what=$room/box.npy
fi
OMP_NUM_THREADS=1 "$python" "$here/compare.py" "$program" "$what" "$@"
