#!/usr/bin/env bash
# A real Slurm of one node for one command, without set-up: munge, controller and node daemon run in namespaces of their own.
#   scripts/slurm.sh COMMAND...       scripts/slurm.sh srun --mpi=pmix --ntasks=2 ./prog
#   scripts/slurm.sh --check PROGRAM  runs configs/slurm.sh with two ranks and compares the catalogue with that of one process
# Nothing is left when the command ends, however it does. Says "skipped: ..." and gives 77 where the machine does not permit it.
# Needs root and Debian's slurm-wlm and munge (scripts/setup.sh --slurm).
set -euo pipefail

self=$(realpath "$0")
cluster=/run/cluster

skip() {
    echo "skipped: $*" >&2
    exit 77
}

enter() {
    for tool in munged slurmctld slurmd srun unshare ip; do
        command -v $tool >/dev/null || skip "no $tool"
    done
    [ "$(id -u)" -eq 0 ] || skip "the daemons of Slurm need root"
    local spaces=(--net --mount --uts --ipc --pid --fork --mount-proc --propagation private)
    unshare "${spaces[@]}" true 2>/dev/null || skip "namespaces are not permitted"
    exec unshare --kill-child "${spaces[@]}" "$self" inside "$@"
}

# What Slurm is told: one node of two processors, whatever the machine has.
configuration() {
    cat <<END
ClusterName=inselberg
SlurmctldHost=node1
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
MpiDefault=${SLURM_MPI_TYPE:-pmix}
TmpFS=/run
ReturnToService=2
NodeName=node1 NodeAddr=10.77.1.1 Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 State=UNKNOWN
PartitionName=all Nodes=node1 Default=YES MaxTime=INFINITE State=UP
END
}

inside() {
    hostname node1
    # Names are resolved only where there is another address than 127.0.0.1.
    ip link set lo up && ip addr add 10.77.1.1/32 dev lo || skip "no network of its own"
    # What the daemons write goes with these mounts.
    mount -t tmpfs tmpfs /run || skip "nothing can be mounted"
    mkdir -p /run/munge $cluster/state $cluster/spool
    { cat /etc/hosts && echo "10.77.1.1 node1"; } >$cluster/hosts
    mount --bind $cluster/hosts /etc/hosts
    configuration >$cluster/slurm.conf
    export SLURM_CONF=$cluster/slurm.conf TMPDIR=/run

    head -c 1024 /dev/urandom >$cluster/munge.key
    chmod 400 $cluster/munge.key
    # Files of root in folders of root: that is what --force accepts here.
    munged --force --key-file $cluster/munge.key --log-file $cluster/munged.log --seed-file $cluster/munge.seed
    slurmctld
    slurmd -N node1
    for _ in $(seq 100); do
        [ "$(sinfo --noheader --format %T 2>/dev/null)" != idle ] || break
        sleep 0.1
    done
    if [ "$(sinfo --noheader --format %T)" != idle ]; then
        tail -n 20 $cluster/*.log >&2
        exit 1
    fi
    local status=0
    "$@" || status=$?
    [ $status -eq 0 ] || tail -n 20 $cluster/slurmd.log >&2
    return $status
}

# configs/slurm.sh as a user submits it, on a test case that the program makes. The tables are compared as text, without the
# lines that name the number of ranks.
check() {
    local program room table
    program=$(realpath "${1:?expected a program}")
    room=$(mktemp -d /run/check.XXXXXX)
    printf '%s\n' '[phew]' 'density_threshold = 80' 'relevance_threshold = 1.5' 'saddle_threshold = 200' >"$room/phew.toml"
    "$program" synth field -o "$room/output_00001" --test-cells 2e5 >/dev/null
    "$program" phew "$room/output_00001" -o "$room/one.csv" --config "$room/phew.toml" --threads 1 >/dev/null
    CONFIG=$room/phew.toml INSELBERG=$program sbatch --quiet --wait --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 \
        --output="$room/job.log" "$(dirname "$self")/../configs/slurm.sh" "$room/output_00001" "$room/two.csv" \
        || { cat "$room/job.log" >&2 && return 1; }
    grep -q '^# attribute: run_ranks int 2$' "$room/two.csv" || { echo "slurm: the tasks were not one run of two ranks" >&2 && return 1; }
    for table in "" .haloes .tree; do
        cmp <(same "$room/one$table.csv") <(same "$room/two$table.csv") || return 1
    done
    echo "slurm: one job of two ranks; $(grep -c '^[0-9]' "$room/two.csv") clumps as of one process"
}

same() {
    grep -v -e '^# checksum: ' -e '^# attribute: run_ranks ' "$1"
}

case ${1:-} in
inside | check) "$@" ;;
--check) shift && enter "$self" check "$@" ;;
'' | -*) sed -n '2,6s/^# //p' "$self" && exit 2 ;;
*) enter "$@" ;;
esac
