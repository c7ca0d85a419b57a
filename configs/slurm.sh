#!/usr/bin/env bash
# PHEW on a cluster with Slurm: sbatch configs/slurm.sh SNAPSHOT CATALOGUE [more options of inselberg phew]
# One rank a NUMA domain, one thread a core of it. Set the next three to your nodes (lscpu shows the domains).
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --time=01:00:00
set -euo pipefail

snapshot=${1:?the snapshot, such as output_00080}
catalogue=${2:?the catalogue to write, such as clumps.hdf5}
shift 2

# Since version 22.05 srun no longer takes the cores of a task from the job.
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
# Each task has cores of its own, so its threads are pinned to them (--pin auto).
# block:block puts a rank on neighbouring cores. If ranks do not find each other, name the interface of your MPI library, also
# in the environment of sbatch: SLURM_MPI_TYPE=pmix (Open MPI) or SLURM_MPI_TYPE=pmi2 (MPICH).
srun --distribution=block:block --cpu-bind=cores \
    "${INSELBERG:-inselberg}" phew "$snapshot" -o "$catalogue" \
    --config "${CONFIG:-configs/phew.toml}" --threads "$SLURM_CPUS_PER_TASK" "$@"
