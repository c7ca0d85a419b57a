#!/usr/bin/env bash
# An Open MPI job over several hosts that are not there: network namespaces of this machine, each with its own
# address, hostname, processes' shared memory and temporary folder. Ranks on different ones talk over TCP.
#   scripts/hosts.sh [HOSTS] mpirun-arguments...       scripts/hosts.sh 3 -n 6 ./prog
# Everything is inside namespaces of this one command, so nothing is left when it ends, however it does, and
# several can run at once. Says "skipped: ..." and gives 77 where the machine does not permit it.
set -euo pipefail

net=10.77.0
self=$(realpath "$0")

skip() {
    echo "skipped: $*" >&2
    exit 77
}

enter() {
    for tool in ip unshare mpirun; do
        command -v $tool >/dev/null || skip "no $tool"
    done
    mpirun --version | grep -q 'Open MPI' || skip "mpirun is not Open MPI's"
    local spaces=(--net --mount --uts --ipc --pid --fork --mount-proc --propagation private)
    [ "$(id -u)" -eq 0 ] || spaces=(--user --map-root-user "${spaces[@]}")
    unshare "${spaces[@]}" true 2>/dev/null || skip "namespaces are not permitted"
    exec unshare --kill-child "${spaces[@]}" "$self" inside "$@"
}

inside() {
    local n=$1
    shift
    hostname hub
    # What a host is known by goes with this mount.
    mount -t tmpfs tmpfs /run || skip "nothing can be mounted"
    mkdir /run/netns /run/tmp
    make_hosts "$n" || skip "namespaces cannot be connected"
    export TMPDIR=/run/tmp OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mpirun --mca plm rsh --mca plm_rsh_agent "$self agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca oob_tcp_if_include $net.0/24 --mca btl_tcp_if_include $net.0/24 \
        --mca btl tcp,vader,self --mca pml ob1 --mca osc ^ucx \
        --mca orte_keep_fqdn_hostnames 1 --mca mpi_yield_when_idle 1 \
        --oversubscribe --bind-to none --map-by node --hostfile /run/hosts -x PATH "$@"
}

make_hosts() {
    ip link add name hub0 type bridge && ip addr add $net.254/24 dev hub0 && ip link set hub0 up && ip link set lo up
    for i in $(seq 1 "$1"); do
        ip netns add "host$i" &&
            ip link add "veth$i" type veth peer name eth0 netns "host$i" &&
            ip link set "veth$i" master hub0 up &&
            ip -n "host$i" addr add "$net.$i/24" dev eth0 &&
            ip -n "host$i" link set eth0 up && ip -n "host$i" link set lo up || return
        echo "host$i slots=2" >>/run/hosts
    done
}

# As mpirun calls it to start its daemon on a host: the host, and a command for a shell.
agent() {
    local host=$1
    shift
    exec nsenter --net="/run/netns/$host" unshare --mount --uts --ipc --propagation private bash -c '
        hostname "$1" && mount -t tmpfs tmpfs /dev/shm && export TMPDIR=/dev/shm
        shift
        exec bash -c "$*"' _ "$host" "$@"
}

case ${1:-} in
inside | agent) "$@" ;;
[1-9]) enter "$@" ;;
-*) enter 3 "$@" ;;
*) sed -n '2,6s/^# //p' "$self" && exit 2 ;;
esac
