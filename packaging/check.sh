#!/usr/bin/env bash
# Checks the packages and recipes as far as a machine without their tools can; `bash .ci/run --full` calls it.
# After `scripts/setup.sh --packaging`. PROGRAM is a built program, which the installer and the Lmod file are tried with.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
program=$(realpath "${PROGRAM:-$target/debug/inselberg}")
python=$target/tmp/recipe-tools/bin/python
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

fail() {
    echo "packaging: $*" >&2
    exit 1
}

# Without building each package again: every crate and the program are complete and name versions.
crates() {
    cargo package --workspace --exclude inselberg-capi --exclude inselberg-fuzz --no-verify --allow-dirty --quiet 2>"$room/log" \
        || fail "$(cat "$room/log")"
    local sources
    sources=$(tar -tzf "$target"/package/inselberg-cli-*.crate | grep -c '/cli/.*\.rs$')
    [ "$sources" = "$(find engine/cli -name '*.rs' | wc -l)" ] || fail "the program's package lacks files of engine/cli"
}

scripts() {
    local file
    for file in packaging/*.sh scripts/*.sh configs/slurm.sh; do
        bash -n "$file"
    done
}

spack() {
    PYTHONPYCACHEPREFIX=$room python3 -m py_compile packaging/spack/packages/inselberg/package.py
}

# Each variant of each output, as rattler-build sees it; no package is solved for or built.
conda() {
    "$python" - <<'END'
import rattler_build as conda

recipe = conda.Stage0Recipe.from_file("packaging/conda/recipe.yaml")
variants = conda.VariantConfig.from_file("packaging/conda/variants.yaml")
found = sorted((one.recipe.package.name, one.recipe.build.string.split("_h")[0]) for one in recipe.render(variants))
assert found == [(name, mpi) for name in ("inselberg", "libinselberg") for mpi in ("mpi_mpich", "mpi_openmpi", "nompi")], found
END
}

# What `module load` sets, and that it is refused beside the modules of another MPI.
lmod() {
    PROGRAM=$program bash packaging/install.sh "$room/root" >/dev/null
    local module=$room/root/share/modulefiles
    mkdir -p "$module/mpich"
    echo 'setenv("OTHER_MPI", "1")' >"$module/mpich/4.lua"
    sed -i 's/^local mpi = "[a-z]*"/local mpi = "openmpi"/' "$module"/inselberg/*.lua
    local got
    got=$(env -i HOME="$room" PATH=/usr/bin:/bin bash --norc --noprofile -c '
        . /usr/share/lmod/lmod/init/bash
        module use "$1" && module load inselberg
        [ "$(command -v inselberg)" = "$2/bin/inselberg" ] && echo program
        [ "$INSELBERG_ROOT" = "$2" ] && echo root
        case $MANPATH in "$2/share/man:"*:) echo pages ;; esac
        module purge && module load mpich
        module load inselberg 2>&1 | grep -q "these module(s) are loaded" && echo conflict
    ' _ "$module" "$room/root" | tr '\n' ' ')
    [ "$got" = "program root pages conflict " ] || fail "the Lmod file sets: $got"
}

# The workflows for hosts of code, against the rules of a linter for them.
workflows() {
    "$(dirname "$python")/zizmor" --offline --quiet .github >"$room/log" 2>&1 || fail "workflows: $(cat "$room/log")"
}

for step in crates scripts spack conda lmod workflows; do
    "$step"
done
echo "packaging: crates, scripts, the recipes for Spack and conda, the Lmod file and the workflows are right"
