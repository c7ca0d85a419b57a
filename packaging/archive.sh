#!/usr/bin/env bash
# A release archive that builds without a network: the sources of HEAD with all crates that they use, also those of the Python package.
#   packaging/archive.sh [FOLDER]            writes FOLDER/inselberg-VERSION.tar.xz and its checksum; FOLDER is target/package
#   packaging/archive.sh --check ARCHIVE     builds it in a temporary folder, with an empty cache of Cargo and no network
# CHECK sets what --check calls instead of `cargo build --frozen`, such as CHECK="cargo check --frozen".
set -euo pipefail

fail() {
    echo "archive: $*" >&2
    exit 1
}

make_archive() {
    cd "$(dirname "$0")/.."
    local folder=${1:-${CARGO_TARGET_DIR:-target}/package}
    local version name date
    version=$(cargo pkgid --offline -p inselberg-cli | sed 's/.*[@#]//')
    name=inselberg-$version
    date=$(git log -1 --format=%ct)
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    room=$(mktemp -d "$folder/archive.XXXXXX")
    trap 'rm -rf "$room"' EXIT

    mkdir "$room/$name"
    git archive HEAD | tar -x -C "$room/$name"
    (
        cd "$room/$name"
        cargo vendor --quiet --locked --sync python/Cargo.toml vendor >/dev/null
        mkdir .cargo
        printf '%s\n' '[source.crates-io]' 'replace-with = "vendored"' '' '[source.vendored]' 'directory = "vendor"' >.cargo/config.toml
    ) || fail "the crates cannot be fetched"
    # Equal for everyone who makes it of the same commit.
    tar -C "$room" --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner -c "$name" | xz -T0 >"$room/archive"
    mv "$room/archive" "$folder/$name.tar.xz"
    (cd "$folder" && sha256sum "$name.tar.xz" | tee "$name.tar.xz.sha256")
}

check_archive() {
    local archive=${1:?expected an archive}
    room=$(mktemp -d)
    trap 'rm -rf "$room"' EXIT
    mkdir "$room/cargo"
    tar -xJf "$archive" -C "$room"
    # A command that needs the network fails: there is none in this namespace, where the machine permits one.
    local apart=()
    ! unshare --net true 2>/dev/null || apart=(unshare --net)
    (
        cd "$room"/inselberg-*
        # Words on purpose.
        # shellcheck disable=SC2086
        CARGO_HOME=$room/cargo CARGO_TARGET_DIR=$room/target "${apart[@]}" ${CHECK:-cargo build --frozen}
    ) || fail "${CHECK:-cargo build --frozen} fails in $archive without a network"
    echo "archive: ${CHECK:-cargo build --frozen} passes in $archive without a network"
}

case ${1:-} in
--check) check_archive "${2:-}" ;;
-*) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
*) make_archive "${1:-}" ;;
esac
