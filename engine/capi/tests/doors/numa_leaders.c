/* A program with one MPI rank per core: the ranks of each NUMA domain give their leaves to one of them, the leader. Leaders call the
 * library, with as many threads as their domain has ranks, and send the labels back.
 *
 * Here a domain is two ranks of one host. A program takes what its MPI library offers: MPI_Comm_split_type with
 * OMPI_COMM_TYPE_NUMA in Open MPI, or its launcher's numbers. The library also works with a rank per core; leaders have fewer, larger
 * messages. */
#include <mpi.h>
#include "inselberg.h"
#include "require.h"

enum { RANKS_OF_DOMAIN = 2, LEVEL = 4, SIDE = 1 << LEVEL };

struct leaf {
  int level, position[3];
  double rho;
};

/* Every n_ranks-th cell of a grid with two peaks. */
static int own_leaves(struct leaf *leaves) {
  int n = 0;
  for (int i = rank; i < SIDE * SIDE * SIDE; i += n_ranks) {
    int x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
    double a = (x - 4) * (x - 4) + (y - 5) * (y - 5) + (z - 6) * (z - 6);
    double b = (x - 8) * (x - 8) + (y - 6) * (y - 6) + (z - 6) * (z - 6);
    leaves[n++] = (struct leaf){LEVEL, {x, y, z}, 30 / (1 + a) + 20 / (1 + b) + 0.1 + 1e-6 * i};
  }
  return n;
}

/* Labels of leaves by an engine on a communicator. */
static void find_labels(MPI_Comm comm, int threads, const struct leaf *leaves, int n, long long *labels) {
  inselberg *engine = NULL;
  const int64_t stride = sizeof *leaves;
  inselberg_box box = {.size = sizeof box, .side = 1.0, .coarse = {1, 1, 1}, .periodic = {1, 1, 1}};
  inselberg_column columns[] = {
      {.name = "level", .data = &leaves->level, .items = n, .item_stride = stride, .number_type = INSELBERG_I32},
      {.name = "position", .data = leaves->position, .items = n, .item_stride = stride, .number_type = INSELBERG_I32},
      {.name = "density", .data = &leaves->rho, .items = n, .item_stride = stride, .number_type = INSELBERG_F64},
  };
  inselberg_output into = {.data = labels, .items = n, .number_type = INSELBERG_I64};
  require(inselberg_open_mpi(comm, threads, &engine) == INSELBERG_DONE, "open");
  require(inselberg_set_box(engine, &box) == INSELBERG_DONE, "a box");
  require(inselberg_set(engine, "density_threshold", "2") == INSELBERG_DONE, "an option");
  require(inselberg_set(engine, "relevance_threshold", "1.2") == INSELBERG_DONE, "an option");
  require(inselberg_set_leaves(engine, columns, 2) == INSELBERG_DONE, "leaves");
  require(inselberg_phew(engine, &columns[2], 1) == INSELBERG_DONE, "clumps");
  require(inselberg_labels(engine, INSELBERG_CLUMP_LABELS, &into, 1) == INSELBERG_DONE, "labels");
  require(inselberg_free(&engine) == INSELBERG_DONE, "free");
}

int main(int argc, char **argv) {
  int rank_of_host, rank_of_domain, n_of_domain;
  MPI_Comm host, domain, leaders;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &rank_of_host);
  MPI_Comm_split(host, rank_of_host / RANKS_OF_DOMAIN, rank_of_host, &domain);
  MPI_Comm_rank(domain, &rank_of_domain);
  MPI_Comm_size(domain, &n_of_domain);
  int is_leader = rank_of_domain == 0;
  MPI_Comm_split(MPI_COMM_WORLD, is_leader ? 0 : MPI_UNDEFINED, rank, &leaders);

  struct leaf *own = memory(SIDE * SIDE * SIDE, sizeof *own);
  int n = own_leaves(own), all = 0;

  /* To the leader: leaves, rank after rank. */
  int *counts = memory(n_of_domain, sizeof *counts), *bytes = memory(n_of_domain, sizeof *bytes);
  int *first = memory(n_of_domain, sizeof *first), *first_byte = memory(n_of_domain, sizeof *first_byte);
  MPI_Gather(&n, 1, MPI_INT, counts, 1, MPI_INT, 0, domain);
  for (int i = 0; is_leader && i < n_of_domain; i++) {
    first[i] = all;
    first_byte[i] = all * (int)sizeof(struct leaf);
    bytes[i] = counts[i] * (int)sizeof(struct leaf);
    all += counts[i];
  }
  struct leaf *gathered = memory(all, sizeof *gathered);
  long long *of_gathered = memory(all, sizeof *of_gathered), *labels = memory(n, sizeof *labels);
  MPI_Gatherv(own, n * (int)sizeof(struct leaf), MPI_BYTE, gathered, bytes, first_byte, MPI_BYTE, 0, domain);
  if (is_leader) {
    find_labels(leaders, n_of_domain, gathered, all, of_gathered);
  }
  /* Back: labels in the same order. */
  MPI_Scatterv(of_gathered, counts, first, MPI_LONG_LONG, labels, n, MPI_LONG_LONG, 0, domain);

  /* An engine with every rank finds the same. */
  long long *expected = memory(n, sizeof *expected);
  int n_labelled = 0, most = 0;
  find_labels(MPI_COMM_WORLD, 1, own, n, expected);
  for (int i = 0; i < n; i++) {
    require(labels[i] == expected[i], "the labels of an engine with every rank");
    n_labelled += labels[i] > 0;
    most = labels[i] > most ? (int)labels[i] : most;
  }
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  require(n_labelled > 0 && most == 2, "two clumps");
  printf("all good\n");

  if (is_leader) {
    MPI_Comm_free(&leaders);
  }
  MPI_Comm_free(&domain);
  MPI_Comm_free(&host);
  MPI_Finalize();
  free(own), free(counts), free(bytes), free(first), free(first_byte), free(gathered), free(of_gathered), free(labels), free(expected);
  return 0;
}
