/* Particles beside cells: bound members of clumps and groups, voids and graphs, as the library finds them.
   members PARTICLES FOLDER ENDING; each rank takes every n-th particle and every n-th cell of a grid of level 5. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <inselberg.h>
#include "require.h"
#include <string.h>

#define DONE(call) require((call) == INSELBERG_DONE, #call)

struct particle {
  double x[3], v[3], mass;
  long long id;
};

struct cell {
  int level, at[3];
  double rho;
};

static void write_result(inselberg *engine, const char *folder, const char *name, const char *ending) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
  DONE(inselberg_write(engine, path));
}

/* A tree after a restart: the first output is in a file, the second one in memory. */
static void write_restarted(inselberg *engine, const char *folder) {
  inselberg_tree *tree = NULL;
  char path[4096];
  DONE(inselberg_tree_begin(engine, &tree));
  snprintf(path, sizeof path, "%s/nothing.hdf5", folder);
  require(inselberg_tree_add_file(tree, path) == INSELBERG_READ, "no file");
  snprintf(path, sizeof path, "%s/groups.hdf5", folder);
  DONE(inselberg_tree_add_file(tree, path));
  DONE(inselberg_tree_add_found(tree, engine, 4));
  snprintf(path, sizeof path, "%s/restarted.hdf5", folder);
  DONE(inselberg_tree_write(tree, path));
  DONE(inselberg_tree_free(&tree));
}

int main(int argc, char **argv) {
  inselberg *engine = NULL;
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  DONE(inselberg_open(MPI_Comm_c2f(MPI_COMM_WORLD), 1, &engine));
#else
  DONE(inselberg_open_serial(2, &engine));
#endif
  require(argc == 4, "three arguments");
  FILE *file = fopen(argv[1], "r");
  int n = 0, n_own = 0, n_cells = 0;
  require(file && fscanf(file, "%d", &n) == 1, "particles");
  struct particle *all = memory(n, sizeof *all);
  for (int i = 0; i < n; i++) {
    struct particle p;
    require(fscanf(file, "%lf %lf %lf %lf", &p.x[0], &p.x[1], &p.x[2], &p.mass) == 4, "a particle");
    for (int a = 0; a < 3; a++) p.v[a] = ((i * 7 + a * 5) % 13 - 6) * 0.125;
    p.id = i;
    if (i % n_ranks == rank) all[n_own++] = p;
  }
  fclose(file);
  struct cell *cells = memory(32 * 32 * 32, sizeof *cells);
  for (int i = rank; i < 32 * 32 * 32; i += n_ranks) {
    struct cell c = {.level = 5, .at = {i % 32, i / 32 % 32, i / 1024}};
    c.rho = 1 + (double)((long long)i * 2654435761LL % 1000003) / 1000003;
    if (c.at[0] < 3 && abs(c.at[1] - 16) < 3 && abs(c.at[2] - 16) < 3) c.rho += 50 - c.at[0];
    cells[n_cells++] = c;
  }

  inselberg_box box = {.size = sizeof box, .side = 2.0, .coarse = {1, 1, 1}, .periodic = {1, 1, 1}, .time = 1.0,
                       .unit_length = 3e24, .unit_density = 1e-26, .unit_time = 3e17,
                       .aexp = 1.0, .h0 = 70, .omega_m = 0.3, .omega_l = 0.7};
  DONE(inselberg_set_box(engine, &box));
  int64_t stride = sizeof *all;
  inselberg_column particles[] = {
      {.name = "position", .data = all->x, .items = n_own, .item_stride = stride, .number_type = INSELBERG_F64},
      {.name = "velocity", .data = all->v, .items = n_own, .item_stride = stride, .number_type = INSELBERG_F64},
      {.name = "mass", .data = &all->mass, .items = n_own, .item_stride = stride, .number_type = INSELBERG_F64},
      {.name = "id", .data = &all->id, .items = n_own, .item_stride = stride, .number_type = INSELBERG_I64},
  };
  DONE(inselberg_set_particles(engine, particles, 4));
  DONE(inselberg_set(engine, "linking_length", "0.05"));
  DONE(inselberg_set(engine, "min_size", "5"));
  DONE(inselberg_set(engine, "fof.properties", "so,bound"));
  DONE(inselberg_set(engine, "with_members", "true"));
  DONE(inselberg_find(engine, "groups"));
  int64_t *labels = memory(n_own, sizeof *labels);
  inselberg_output output = {.data = labels, .items = n_own, .number_type = INSELBERG_I64};
  DONE(inselberg_labels(engine, INSELBERG_GROUP_LABELS, &output, 1));
  long long in_groups = 0;
  for (int i = 0; i < n_own; i++) in_groups += labels[i] > 0;
  require(in_groups * 2 > n_own, "most particles are in groups");
  write_result(engine, argv[2], "groups", argv[3]);

  /* Tracks go on from call to call, and from a catalogue. */
  char path[4096];
  DONE(inselberg_set(engine, "fof.tracks", "true"));
  DONE(inselberg_find(engine, "groups"));
  write_result(engine, argv[2], "first", argv[3]);
  DONE(inselberg_find(engine, "groups"));
  write_result(engine, argv[2], "kept", argv[3]);
  snprintf(path, sizeof path, "%s/first%s", argv[2], argv[3]);
  DONE(inselberg_set(engine, "fof.tracks_from", path));
  DONE(inselberg_find(engine, "groups"));
  write_result(engine, argv[2], "read", argv[3]);
  DONE(inselberg_set(engine, "fof.tracks_from", "none"));
  DONE(inselberg_set(engine, "fof.tracks", "false"));
  DONE(inselberg_find(engine, "groups"));

  /* A tree of the groups now and later. */
  inselberg_tree *tree = NULL;
  DONE(inselberg_tree_begin(engine, &tree));
  require(inselberg_tree_add_found(tree, rank == 0 ? NULL : engine, 3) == INSELBERG_INVALID_ARGUMENT, "no handle on a rank");
  DONE(inselberg_tree_add_found(tree, engine, 3));
  box.aexp = 1.25, box.unit_length = 3.75e24;
  DONE(inselberg_set_box(engine, &box));
  DONE(inselberg_set_particles(engine, particles, 4));
  memset(all, 0, (size_t)n_own * sizeof *all); /* they were copied */
  DONE(inselberg_find(engine, "groups"));
  DONE(inselberg_tree_add_found(tree, engine, 4));
  snprintf(path, sizeof path, "%s/tree%s", argv[2], argv[3]);
  DONE(inselberg_tree_write(tree, path));
  DONE(inselberg_tree_free(&tree));
  if (strcmp(argv[3], ".hdf5") == 0) write_restarted(engine, argv[2]);

  /* Sums over particles: their number is known. */
  double *ones = memory(n_own, sizeof *ones);
  for (int i = 0; i < n_own; i++) ones[i] = 1;
  inselberg_column of_each = {.name = "ones", .data = ones, .items = n_own, .number_type = INSELBERG_F64};
  DONE(inselberg_add_sums(engine, INSELBERG_GROUP_LABELS, &of_each, 1));
  inselberg_view sums, sizes;
  DONE(inselberg_find_column(engine, "Groups", "ones", &sums));
  DONE(inselberg_find_column(engine, "Groups", "Sizes", &sizes));
  require(sums.name && sizes.name && sums.rows == sizes.rows && sizes.number_type == INSELBERG_I64, "sums and sizes");
  for (int64_t i = 0; i < sums.rows; i++)
    require(((const double *)sums.data)[i] == (double)((const int64_t *)sizes.data)[i], "the size of a group");
  require(inselberg_add_sums(engine, INSELBERG_GROUP_LABELS, &of_each, 1) == INSELBERG_INVALID_ARGUMENT, "the same name");
  require(inselberg_add_sums(engine, INSELBERG_CLUMP_LABELS, &of_each, 1) == INSELBERG_INVALID_ARGUMENT, "no such labels");
  of_each.name = rank == 0 ? "twos" : "threes";
  require(n_ranks == 1 || inselberg_add_sums(engine, INSELBERG_GROUP_LABELS, &of_each, 1) == INSELBERG_INVALID_ARGUMENT, "other names");
  of_each.name = "bad", ones[0] = 0.0 / 0.0;
  if (n_ranks == 1) require(inselberg_add_sums(engine, INSELBERG_GROUP_LABELS, &of_each, 1) == (labels[0] ? INSELBERG_INVALID_VALUE : INSELBERG_DONE), "no number");

  DONE(inselberg_set(engine, "voids.min_particles", "3"));
  DONE(inselberg_find(engine, "voids"));
  write_result(engine, argv[2], "voids", argv[3]);

  DONE(inselberg_set(engine, "neighbours", "12"));
  DONE(inselberg_set(engine, "phew.density_threshold", "4"));
  DONE(inselberg_set(engine, "phew.relevance_threshold", "1.5"));
  DONE(inselberg_set(engine, "unbind", "true"));
  DONE(inselberg_set(engine, "subsamples", "2"));
  DONE(inselberg_find(engine, "graph"));
  write_result(engine, argv[2], "graph", argv[3]);
  DONE(inselberg_set(engine, "subsamples", "0"));

  inselberg_column where[] = {
      {.name = "level", .data = &cells->level, .items = n_cells, .item_stride = sizeof *cells, .number_type = INSELBERG_I32},
      {.name = "position", .data = cells->at, .items = n_cells, .item_stride = sizeof *cells, .number_type = INSELBERG_I32},
  };
  inselberg_column rho = {.name = "density", .data = &cells->rho, .items = n_cells, .item_stride = sizeof *cells,
                          .number_type = INSELBERG_F64};
  DONE(inselberg_set_leaves(engine, where, 2));
  DONE(inselberg_phew(engine, &rho, 1));
  write_result(engine, argv[2], "cells", argv[3]);

  /* Without particles clumps have no members, and nothing is found among them. */
  DONE(inselberg_set_particles(engine, NULL, 0));
  require(inselberg_phew(engine, &rho, 1) == INSELBERG_INVALID_ARGUMENT, "unbinding without particles is refused");
  require(inselberg_find(engine, "voids") == INSELBERG_INVALID_ARGUMENT, "voids without particles are refused");
  DONE(inselberg_free(&engine));
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  free(all), free(cells), free(labels);
  puts("all good");
  return 0;
}
