/* A program that owns octs and particles: host CELLS PARTICLES FOLDER STEPS
 *
 * Reads them from text files, gives each rank its own, and calls the library as a simulation would. Labels of five steps and
 * the catalogue of the first go into FOLDER, where the test compares them with those of the Rust library. Then come calls that
 * must fail, and STEPS more steps whose memory is watched. WITH_MPI: it runs under mpirun. WITH_HDF5: it writes HDF5 as well. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "inselberg.h"
#include "require.h"
#include "resident.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { STEPS = 5, LEVELS = 8 };

/* An oct as this program keeps it. */
struct oct {
  long number;
  char level;
  unsigned char split;
  int position[3];
  struct {
    float pressure;
    double rho;
  } cell[8];
};

/* A particle as this program keeps it: 72 bytes. */
struct particle {
  long long id;
  double x[3];
  float v[3], mass;
  char unused[24];
};

static int part = 0, deepest = 0;
static const char *folder;
/* The oct of level 1, which is that of rank 0. */
static struct oct root;
#ifdef WITH_HDF5
static const char *const endings[] = {".csv", ".hdf5", NULL};
#else
static const char *const endings[] = {".csv", NULL};
#endif

/* The octs of this rank, one in n_ranks. */
static long read_octs(const char *path, struct oct **octs) {
  FILE *file = fopen(path, "r");
  require(file != NULL, path);
  long n = 0, own = 0;
  require(fscanf(file, "%ld", &n) == 1, "the number of octs");
  *octs = memory(n, sizeof **octs);
  for (long i = 0; i < n; i++) {
    struct oct oct = {.number = i};
    int level, split;
    int good = fscanf(file, "%d %d %d %d %d", &level, &oct.position[0], &oct.position[1], &oct.position[2], &split);
    oct.level = (char)level;
    oct.split = (unsigned char)split;
    for (int c = 0; c < 8; c++) {
      good += fscanf(file, "%lf", &oct.cell[c].rho);
    }
    require(good == 13, "an oct");
    root = i == 0 ? oct : root;
    deepest = level > deepest ? level : deepest;
    if (i % n_ranks == rank) {
      (*octs)[own++] = oct;
    }
  }
  fclose(file);
  return own;
}

static long read_particles(const char *path, struct particle **particles) {
  FILE *file = fopen(path, "r");
  require(file != NULL, path);
  long n = 0, own = 0;
  require(fscanf(file, "%ld", &n) == 1, "the number of particles");
  *particles = memory(n, sizeof **particles);
  for (long i = 0; i < n; i++) {
    struct particle p = {.id = i};
    require(fscanf(file, "%lf %lf %lf %f", &p.x[0], &p.x[1], &p.x[2], &p.mass) == 4, "a particle");
    if (i % n_ranks == rank) {
      (*particles)[own++] = p;
    }
  }
  fclose(file);
  return own;
}

static inselberg *open_handle(void) {
  inselberg *handle = NULL;
#ifdef WITH_MPI
  MPI_Comm comm;
  int world_rank, world_size;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  /* Two parts of the program, from four ranks on, with the ranks of each in reverse. */
  part = world_size >= 4 ? world_rank % 2 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, part, -world_rank, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n_ranks);
  require(inselberg_open_mpi(comm, 2, &handle) == INSELBERG_DONE, "open");
  MPI_Comm_free(&comm);
#else
  require(inselberg_open_serial(2, &handle) == INSELBERG_DONE, "open");
#endif
  return handle;
}

/* Whether all ranks of the program have this code, under mpirun less than ten seconds after the last time. */
static int all_have(int code, int expected) {
  int here = code == expected, all = here;
#ifdef WITH_MPI
  static double last = 0;
  here = here && (last == 0 || MPI_Wtime() - last < 10);
  MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  last = MPI_Wtime();
#endif
  return all;
}

/* The columns of octs, read where they lie. */
static int give_octs(inselberg *handle, const struct oct *octs, long n) {
  const int64_t stride = sizeof *octs;
  inselberg_column columns[] = {
      {.name = "level", .data = &octs->level, .items = n, .item_stride = stride, .number_type = INSELBERG_I8},
      {.name = "position", .data = octs->position, .items = n, .item_stride = stride, .number_type = INSELBERG_I32},
      {.name = "split", .data = &octs->split, .items = n, .item_stride = stride, .number_type = INSELBERG_U8},
  };
  return inselberg_set_octs(handle, columns, 3);
}

static void set_octs(inselberg *handle, const struct oct *octs, long n) {
  require(give_octs(handle, octs, n) == INSELBERG_DONE, "octs");
}

static int phew(inselberg *handle, const struct oct *octs, long n) {
  inselberg_column rho = {.name = "density", .data = &octs->cell[0].rho, .items = n, .item_stride = sizeof *octs,
                          .part_stride = sizeof octs->cell[0], .number_type = INSELBERG_F64};
  return inselberg_phew(handle, &rho, 1);
}

static int *labels_of_octs(inselberg *handle, long n, int which) {
  int *labels = memory(8 * n, sizeof *labels);
  inselberg_output into = {.data = labels, .items = n, .number_type = INSELBERG_I32};
  require(inselberg_labels(handle, which, &into, 1) == INSELBERG_DONE, "labels");
  return labels;
}

/* Writes lines: the number of an item, and its labels. */
static FILE *create(const char *name) {
  char path[4000];
  snprintf(path, sizeof path, "%s/%s.%d.%d", folder, name, part, rank);
  FILE *file = fopen(path, "w");
  require(file != NULL, path);
  return file;
}

static void save_labels(inselberg *handle, const struct oct *octs, long n, const char *name) {
  int *clump = labels_of_octs(handle, n, INSELBERG_CLUMP_LABELS), *halo = labels_of_octs(handle, n, INSELBERG_HALO_LABELS);
  FILE *file = create(name);
  for (long i = 0; i < 8 * n; i++) {
    fprintf(file, "%ld %d %d\n", 8 * octs[i / 8].number + i % 8, clump[i], halo[i]);
  }
  fclose(file);
  free(clump);
  free(halo);
}

/* The same cells as arrays of ngridmax octs, cell after cell, and lists of octs per level that count from 1. */
static void as_linked_levels(inselberg *handle, const struct oct *octs, long n) {
  long ngridmax = n + 10;
  double *uold = memory(8 * ngridmax, sizeof *uold);
  int *xg = memory(3 * ngridmax, sizeof *xg), *split = memory(ngridmax, sizeof *split);
  long long *labels = memory(8 * ngridmax, sizeof *labels);
  int *list[LEVELS] = {0}, *level[LEVELS] = {0};
  long count[LEVELS] = {0};
  for (int l = 0; l < LEVELS; l++) {
    list[l] = memory(n, sizeof *list[l]);
    level[l] = memory(n, sizeof *level[l]);
  }
  for (long i = 0; i < n; i++) {
    long igrid = ngridmax - i;
    int l = octs[i].level;
    list[l][count[l]] = (int)igrid;
    level[l][count[l]++] = l;
    split[igrid - 1] = octs[i].split;
    for (int a = 0; a < 3; a++) {
      xg[a * ngridmax + igrid - 1] = octs[i].position[a];
    }
    for (int c = 0; c < 8; c++) {
      uold[c * ngridmax + igrid - 1] = octs[i].cell[c].rho;
    }
  }
  inselberg_column cells[3 * LEVELS], rho[LEVELS];
  inselberg_output into[LEVELS];
  for (int l = 0; l < LEVELS; l++) {
    inselberg_column of_level = {.items = ngridmax, .item_stride = sizeof(int), .part_stride = ngridmax * sizeof(int),
                                 .index = list[l], .index_count = count[l], .index_base = 1,
                                 .index_type = INSELBERG_I32, .number_type = INSELBERG_I32};
    cells[3 * l] = (inselberg_column){.name = "level", .data = level[l], .items = count[l], .number_type = INSELBERG_I32};
    cells[3 * l + 1] = of_level;
    cells[3 * l + 1].name = "position";
    cells[3 * l + 1].data = xg;
    cells[3 * l + 2] = of_level;
    cells[3 * l + 2].name = "split";
    cells[3 * l + 2].data = split;
    rho[l] = of_level;
    rho[l].name = "density";
    rho[l].data = uold;
    rho[l].item_stride = sizeof *uold;
    rho[l].part_stride = ngridmax * sizeof *uold;
    rho[l].number_type = INSELBERG_F64;
    into[l] = (inselberg_output){.data = labels, .items = ngridmax, .item_stride = sizeof *labels,
                                 .part_stride = ngridmax * sizeof *labels, .index = list[l], .index_count = count[l],
                                 .index_base = 1, .index_type = INSELBERG_I32, .number_type = INSELBERG_I64};
  }
  require(inselberg_set_octs(handle, cells, 3 * LEVELS) == INSELBERG_DONE, "octs by level");
  require(inselberg_phew(handle, rho, LEVELS) == INSELBERG_DONE, "clumps by level");
  require(inselberg_labels(handle, INSELBERG_CLUMP_LABELS, into, LEVELS) == INSELBERG_DONE, "labels by level");
  FILE *file = create("linked");
  for (long i = 0; i < 8 * n; i++) {
    fprintf(file, "%ld %lld\n", 8 * octs[i / 8].number + i % 8, labels[i % 8 * ngridmax + ngridmax - i / 8 - 1]);
  }
  fclose(file);
  for (int l = 0; l < LEVELS; l++) {
    free(list[l]);
    free(level[l]);
  }
  free(uold), free(xg), free(split), free(labels);
}

/* The same cells as leaves, last first. */
static void as_leaves(inselberg *handle, const struct oct *octs, long n) {
  struct leaf {
    int level, position[3];
    double rho;
    long number;
    unsigned long long label;
  } *leaves = memory(8 * n, sizeof *leaves);
  long m = 0;
  for (long i = 8 * n - 1; i >= 0; i--) {
    const struct oct *oct = &octs[i / 8];
    int c = (int)(i % 8);
    if (oct->split >> c & 1) {
      continue;
    }
    struct leaf leaf = {.level = oct->level, .rho = oct->cell[c].rho, .number = 8 * oct->number + c};
    for (int a = 0; a < 3; a++) {
      leaf.position[a] = 2 * oct->position[a] + (c >> a & 1);
    }
    leaves[m++] = leaf;
  }
  const int64_t stride = sizeof *leaves;
  inselberg_column columns[] = {
      {.name = "level", .data = &leaves->level, .items = m, .item_stride = stride, .number_type = INSELBERG_I32},
      {.name = "position", .data = leaves->position, .items = m, .item_stride = stride, .number_type = INSELBERG_I32},
      {.name = "density", .data = &leaves->rho, .items = m, .item_stride = stride, .number_type = INSELBERG_F64},
  };
  inselberg_output into = {.data = &leaves->label, .items = m, .item_stride = stride, .number_type = INSELBERG_U64};
  require(inselberg_set_leaves(handle, columns, 2) == INSELBERG_DONE, "leaves");
  require(inselberg_phew(handle, &columns[2], 1) == INSELBERG_DONE, "clumps of leaves");
  require(inselberg_labels(handle, INSELBERG_CLUMP_LABELS, &into, 1) == INSELBERG_DONE, "labels of leaves");
  FILE *file = create("leaves");
  for (long i = 0; i < m; i++) {
    fprintf(file, "%ld %llu\n", leaves[i].number, leaves[i].label);
  }
  fclose(file);
  free(leaves);
}

/* The last rank hands over the oct of level 1 as well, which rank 0 has. */
static void fail_with_overlaps(inselberg *handle, const struct oct *octs, long n) {
  struct oct *more = memory(n + 1, sizeof *more);
  memcpy(more, octs, n * sizeof *more);
  more[n] = root;
  n += rank == n_ranks - 1;
  int code = give_octs(handle, more, n);
  code = code == INSELBERG_DONE ? phew(handle, more, n) : code;
  require(all_have(code, INSELBERG_INVALID_CELLS), "the code for cells that overlap");
  free(more);
}

/* As on a full disk: no file of rank 0, which writes, takes more than a few bytes. HDF5 itself keeps memory of a file that it
 * could not flush, so under valgrind only the first format is tried. */
static void fail_to_write(inselberg *handle) {
#ifdef WITH_VALGRIND
  const int n = 1;
#else
  const int n = (int)(sizeof endings / sizeof endings[0]) - 1;
#endif
  for (int i = 0; i < n; i++) {
    char path[4000];
    struct rlimit kept, small;
    snprintf(path, sizeof path, "%s/full.%d%s", folder, part, endings[i]);
    remove(path); /* of an earlier run */
    require(all_have(0, 0), "an empty place");
    require(getrlimit(RLIMIT_FSIZE, &kept) == 0, "the limit of files");
    small = (struct rlimit){.rlim_cur = rank == 0 ? 600 : kept.rlim_cur, .rlim_max = kept.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    require(setrlimit(RLIMIT_FSIZE, &small) == 0, "a small limit of files");
    int code = inselberg_write(handle, path);
    require(setrlimit(RLIMIT_FSIZE, &kept) == 0, "the old limit of files");
    signal(SIGXFSZ, SIG_DFL);
    require(all_have(code, INSELBERG_WRITE), "the code for a full disk");
    require(fopen(path, "r") == NULL, "no file on a full disk");
    require(all_have(inselberg_write(handle, path), INSELBERG_DONE), "the catalogue after it");
  }
}

/* Failures, each with a call after it that must be right. */
static void fail(inselberg *handle, struct oct *octs, long n) {
  int is_last = rank == n_ranks - 1;
  char message[200];
  require(all_have(phew(handle, octs, n), INSELBERG_DONE), "the call before all of them");
  double kept = octs[0].cell[0].rho;
  octs[0].cell[0].rho = is_last ? NAN : kept;
  require(all_have(phew(handle, octs, n), INSELBERG_INVALID_VALUE), "the code for a density that is not a number");
  inselberg_message(message, sizeof message);
  require(strstr(message, "NaN") != NULL, "the message for a density that is not a number");
  octs[0].cell[0].rho = kept;
  require(phew(handle, octs, n) == INSELBERG_DONE, "the call after it");

  inselberg_column nowhere = {.name = "density", .data = is_last ? NULL : octs, .items = n, .item_stride = sizeof *octs,
                              .part_stride = 8, .number_type = INSELBERG_F64};
  require(all_have(inselberg_phew(handle, &nowhere, 1), INSELBERG_INVALID_ARGUMENT), "the code for no memory");
  nowhere.data = octs;
  nowhere.number_type = is_last ? 77 : INSELBERG_F64;
  require(all_have(inselberg_phew(handle, &nowhere, 1), INSELBERG_INVALID_ARGUMENT), "the code for an unknown type");
  if (n_ranks > 1) {
    inselberg_set(handle, "mass_threshold", is_last ? "1e-3" : "0");
    require(all_have(phew(handle, octs, n), INSELBERG_INVALID_ARGUMENT), "the code for other options on one rank");
    inselberg_set(handle, "mass_threshold", "0");
  }
  require(inselberg_set(handle, "density", "3") == INSELBERG_INVALID_ARGUMENT, "an unknown option");
  inselberg_message(message, sizeof message);
  require(strstr(message, "\"density\"") != NULL, "a message that names it");
  require(inselberg_phew(NULL, &nowhere, 1) == INSELBERG_INVALID_ARGUMENT, "no handle");
  fail_with_overlaps(handle, octs, n);
  set_octs(handle, octs, n);
  require(phew(handle, octs, n) == INSELBERG_DONE, "the call after all of them");
  char place[4000];
  snprintf(place, sizeof place, "%s/other%d.%d.csv", folder, part, rank);
  int expected = n_ranks > 1 ? INSELBERG_INVALID_ARGUMENT : INSELBERG_DONE;
  require(all_have(inselberg_write(handle, place), expected), "the code for other names on other ranks");
  require(all_have(inselberg_write(handle, "/dev/null/clumps.csv"), INSELBERG_WRITE), "the code for no folder");
  fail_to_write(handle);
  require(inselberg_recut(handle) == INSELBERG_DONE, "another cut");
}

/* Counts warnings, and keeps the last one. */
struct heard {
  int n;
  char last[300];
};

static void hear(void *user, const char *message) {
  struct heard *heard = user;
  heard->n++;
  snprintf(heard->last, sizeof heard->last, "%s", message);
}

/* One leaf in a large box leaves gaps; a whole octree does not. */
static void warnings(inselberg *handle, const struct oct *octs, long n) {
  struct heard heard = {0};
  signed char level = 3;
  int position[3] = {rank, 1, 2};
  double rho = 1;
  inselberg_column columns[] = {
      {.name = "level", .data = &level, .items = 1, .number_type = INSELBERG_I8},
      {.name = "position", .data = position, .items = 1, .number_type = INSELBERG_I32},
      {.name = "density", .data = &rho, .items = 1, .number_type = INSELBERG_F64},
  };
  require(inselberg_on_warning(handle, hear, &heard) == INSELBERG_DONE, "a function for warnings");
  require(inselberg_set_leaves(handle, columns, 2) == INSELBERG_DONE, "a leaf per rank");
  require(inselberg_phew(handle, &columns[2], 1) == INSELBERG_DONE, "clumps of single leaves");
  require(heard.n == 2 && strstr(heard.last, "no cell is denser") != NULL, "gaps, and a threshold that is too high");
  heard.n = 0;
  set_octs(handle, octs, n);
  require(phew(handle, octs, n) == INSELBERG_DONE && heard.n == 0, "no warning for a whole octree");
  inselberg_on_warning(handle, NULL, NULL);
}

static int32_t cancel(void *user, const char *stage, uint64_t done, uint64_t work) {
  (void)done, (void)work;
  return user != NULL && strcmp(stage, "saddles") == 0;
}

/* Tables by columns, and a catalogue. */
static void results(inselberg *handle) {
  inselberg_table_view table;
  long n_columns = 0;
  for (int64_t t = 0; inselberg_table(handle, t, &table) == INSELBERG_DONE && table.name != NULL; t++) {
    inselberg_view view;
    for (int64_t c = 0; c < table.columns; c++, n_columns++) {
      require(inselberg_table_column(handle, table.name, c, &view) == INSELBERG_DONE, "a column");
      require(view.rows == table.rows && strlen(view.name) > 0 && strlen(view.description) > 0, "its rows and words");
    }
  }
  require(n_columns > 20, "columns");
  inselberg_view mass;
  require(inselberg_find_column(handle, "clumps", "mass", &mass) == INSELBERG_DONE, "masses");
  require(mass.name != NULL && mass.number_type == INSELBERG_F64 && mass.mass == 1 && mass.length == 0, "their unit");
  inselberg_find_column(handle, "clumps", "none", &mass);
  require(mass.name == NULL, "a column that is not there");
  for (int i = 0; endings[i] != NULL; i++) {
    char path[4000];
    snprintf(path, sizeof path, "%s/clumps.%d%s", folder, part, endings[i]);
    require(inselberg_write(handle, path) == INSELBERG_DONE, "a catalogue");
  }
}

/* Steps on a mesh that changes: every other one lacks the deepest level. Their memory stays the same. */
static void many_steps(inselberg *handle, const struct oct *octs, long n, long n_steps) {
  struct oct *coarse = memory(n, sizeof *coarse);
  long n_coarse = 0;
  struct growth growth = {0};
  for (long i = 0; i < n; i++) {
    if (octs[i].level < deepest) {
      coarse[n_coarse] = octs[i];
      coarse[n_coarse++].split = octs[i].level == deepest - 1 ? 0 : octs[i].split;
    }
  }
  for (long step = 0; step < n_steps; step++) {
    const struct oct *mesh = step % 2 ? coarse : octs;
    long n_mesh = step % 2 ? n_coarse : n;
    set_octs(handle, mesh, n_mesh);
    require(phew(handle, mesh, n_mesh) == INSELBERG_DONE, "clumps of one of many steps");
    free(labels_of_octs(handle, n_mesh, INSELBERG_CLUMP_LABELS));
    watch_growth(&growth, step, n_steps);
  }
  tell_growth(&growth);
  free(coarse);
}

static void groups(inselberg *handle, const struct particle *p, long n) {
  const int64_t stride = sizeof *p;
  inselberg_column columns[] = {
      {.name = "position", .data = p->x, .items = n, .item_stride = stride, .number_type = INSELBERG_F64},
      {.name = "id", .data = &p->id, .items = n, .item_stride = stride, .number_type = INSELBERG_I64},
      {.name = "mass", .data = &p->mass, .items = n, .item_stride = stride, .number_type = INSELBERG_F32},
      {.name = "velocity", .data = p->v, .items = n, .item_stride = stride, .number_type = INSELBERG_F32},
  };
  /* Three columns that do not say whether they are axes or further vectors. */
  inselberg_column mute[3] = {columns[0], columns[0], columns[0]};
  for (int a = 0; a < 3; a++) {
    mute[a].data = &p->x[a], mute[a].item_stride = 0;
  }
  require(all_have(inselberg_fof(handle, mute, 3), INSELBERG_INVALID_ARGUMENT), "the code for axes that do not say so");
  /* The same positions as x, y and z. */
  inselberg_column axes[6] = {columns[1], columns[2], columns[3], columns[0], columns[0], columns[0]};
  for (int a = 0; a < 3; a++) {
    axes[3 + a].data = &p->x[a], axes[3 + a].parts = 1;
  }
  require(all_have(inselberg_fof(handle, axes, 5), INSELBERG_INVALID_ARGUMENT), "the code for a missing axis");
  require(inselberg_fof(handle, axes, 6) == INSELBERG_DONE, "groups");
  unsigned *labels = memory(n, sizeof *labels);
  inselberg_output into = {.data = labels, .items = n, .number_type = INSELBERG_U32};
  require(inselberg_labels(handle, INSELBERG_GROUP_LABELS, &into, 1) == INSELBERG_DONE, "labels of particles");
  require(inselberg_labels(handle, INSELBERG_CLUMP_LABELS, &into, 1) == INSELBERG_INVALID_ARGUMENT, "labels of cells");
  into.items = n + 1;
  require(inselberg_labels(handle, INSELBERG_GROUP_LABELS, &into, 1) == INSELBERG_INVALID_ARGUMENT, "too many labels");
  FILE *file = create("groups");
  for (long i = 0; i < n; i++) {
    fprintf(file, "%lld %u\n", p[i].id, labels[i]);
  }
  fclose(file);
  free(labels);
}

int main(int argc, char **argv) {
  require(argc == 5, "expected CELLS PARTICLES FOLDER STEPS");
  folder = argv[3];
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
#endif
  inselberg *handle = open_handle();
  struct oct *octs;
  struct particle *particles;
  long n_octs = read_octs(argv[1], &octs), n_particles = read_particles(argv[2], &particles);

  inselberg_box box = {.size = sizeof box, .side = 1.0, .coarse = {1, 1, 1}, .periodic = {1, 1, 1}, .time = 0.5};
  require(inselberg_set_box(handle, &box) == INSELBERG_DONE, "a box");
  inselberg_set(handle, "density_threshold", "4");
  inselberg_set(handle, "relevance_threshold", "1.5");
  inselberg_set(handle, "saddle_threshold", "6");
  inselberg_set(handle, "linking_length", "0.05");
  inselberg_set(handle, "min_size", "5");

  set_octs(handle, octs, n_octs);
  /* The catalogue of the first step states this box, not that of the cells. */
  box.side = 2.0, box.time = 0.75;
  require(inselberg_set_box(handle, &box) == INSELBERG_DONE, "the box of a later time");
  for (int step = 0; step < STEPS; step++) {
    require(phew(handle, octs, n_octs) == INSELBERG_DONE, "clumps");
    char name[20];
    snprintf(name, sizeof name, "step%d", step);
    save_labels(handle, octs, n_octs, name);
    if (step == 0) {
      results(handle);
    }
    if (step == 2) {
      as_leaves(handle, octs, n_octs);
      as_linked_levels(handle, octs, n_octs);
      set_octs(handle, octs, n_octs);
    }
    for (long i = 0; i < 8 * n_octs; i++) {
      octs[i / 8].cell[i % 8].rho *= 1.0 + (double)((8 * octs[i / 8].number + i % 8) * 7919 % 13) / 64.0;
    }
  }
  fail(handle, octs, n_octs);
  groups(handle, particles, n_particles);
  warnings(handle, octs, n_octs);

  inselberg_on_progress(handle, cancel, rank == 0 ? &n_octs : NULL);
  require(all_have(phew(handle, octs, n_octs), INSELBERG_CANCELLED), "the code for a call that was ended");
  inselberg_on_progress(handle, NULL, NULL);
  require(phew(handle, octs, n_octs) == INSELBERG_DONE, "the call after it");
  many_steps(handle, octs, n_octs, atol(argv[4]));

  require(inselberg_free(&handle) == INSELBERG_DONE && handle == NULL, "free");
  free(octs);
  free(particles);
#ifdef WITH_MPI
  require(inselberg_open_mpi(MPI_COMM_WORLD, 1, &handle) == INSELBERG_DONE, "another handle");
  MPI_Finalize();
  static const struct oct none;
  require(phew(handle, &none, 0) == INSELBERG_COMMUNICATION, "the code for clumps after MPI_Finalize");
  require(inselberg_free(&handle) == INSELBERG_COMMUNICATION && handle == NULL, "the code after MPI_Finalize");
#endif
  printf("all good\n");
  return 0;
}
