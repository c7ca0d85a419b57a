/* A small program with the particles and the domains of SWIFT: mini_swift FOLDER ENDING STEPS
 *
 * Particles drift, and at each step friends-of-friends labels them. Particles, labels and catalogues of the first five steps go
 * into FOLDER, where the test compares them with those of the Rust library. ENDING chooses the format of catalogues. WITH_MPI: it
 * runs under mpirun.
 *
 *   here               in SWIFT
 *   struct gpart       the same, an array of structs; SWIFT's has more fields
 *   node_of            nodeID of the top-level cells, which METIS distributes
 *   rebuild            space_rebuild and engine_redistribute: folds positions into the box, sends particles to their ranks
 *   drift              drift_gpart; positions leave the box and the domain of their rank until the next rebuild
 *   find_groups        what a program adds to call the library */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "inselberg.h"
#include "require.h"
#include "resident.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAVED_STEPS = 5, CLUSTERS = 12, PARTICLES = 12000, CDIM = 4 };
enum { time_bin_inhibited = 58 };
enum part_type { type_gas = 0, type_dark_matter = 1, type_stars = 4 };

static const double SIDE = 20.0, DRIFT = 0.05;

/* A particle of any type: 88 bytes. */
struct gpart {
  long long id; /* SWIFT: id_or_neg_offset. That of gas and stars points into other arrays, where the IDs are. */
  double x[3];  /* comoving */
  float v_full[3]; /* a^2 dx/dt at the time of the last kick */
  float a_grav[3];
  float potential, mass;
  struct {
    size_t group_id, group_size;
  } fof_data;
  signed char time_bin; /* time_bin_inhibited: the particle does not exist any more */
  enum part_type type;
};
_Static_assert(sizeof(struct gpart) >= 72, "as large as SWIFT's");

static const char *folder, *ending;

static double random_number(unsigned long long *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*state >> 40) / (double)(1 << 24);
}

/* The rank of a particle inside the box: that of its top-level cell. */
static int node_of(const double x[3]) {
  long cell = 0;
  for (int a = 0; a < 3; a++) {
    cell = cell * CDIM + (long)(x[a] / SIDE * CDIM);
  }
  return (int)(cell * n_ranks / (CDIM * CDIM * CDIM));
}

/* The particles of this rank: clusters that move, and others in between. */
static struct gpart *make_particles(long *n) {
  struct gpart *gparts = memory(PARTICLES, sizeof *gparts);
  double centre[CLUSTERS][3], velocity[CLUSTERS][3];
  unsigned long long state = 2026;
  for (int i = 0; i < CLUSTERS * 3; i++) {
    centre[i / 3][i % 3] = SIDE * random_number(&state);
    velocity[i / 3][i % 3] = 6.0 * (random_number(&state) - 0.5);
  }
  *n = 0;
  for (int i = 0; i < PARTICLES; i++) {
    struct gpart p = {.id = i + 1, .mass = i % 5 == 1 ? 0.2f : 1.0f, .time_bin = (signed char)(10 + i % 7)};
    int cluster = i % (CLUSTERS + 4);
    p.type = i % 5 == 1 ? type_gas : i % 5 == 2 ? type_stars : type_dark_matter;
    for (int a = 0; a < 3; a++) {
      double u = random_number(&state), w = random_number(&state) - 0.5;
      p.x[a] = cluster < CLUSTERS ? centre[cluster][a] + 1.5 * w * u : SIDE * u;
      p.x[a] -= SIDE * floor(p.x[a] / SIDE);
      p.v_full[a] = (float)((cluster < CLUSTERS ? velocity[cluster][a] : 4.0 * w) + 0.2 * w);
    }
    if (node_of(p.x) == rank) {
      gparts[(*n)++] = p;
    }
  }
  return gparts;
}

/* Folds positions into the box and gives each particle to the rank of its domain. Returns the particles of this rank and sets how
 * many of them came from other ranks. Inhibited particles are left out, as in SWIFT. */
static struct gpart *rebuild(struct gpart *gparts, long *n, long *n_came) {
  int *count = memory(n_ranks, sizeof *count), *from = memory(n_ranks, sizeof *from);
  int *begin = memory(n_ranks + 1, sizeof *begin), *from_begin = memory(n_ranks + 1, sizeof *from_begin);
  struct gpart *sent = memory(*n, sizeof *sent);
  long n_kept = 0;
  for (long i = 0; i < *n; i++) {
    for (int a = 0; a < 3; a++) {
      gparts[i].x[a] -= SIDE * floor(gparts[i].x[a] / SIDE);
      /* SIDE less a rounding error is SIDE. */
      gparts[i].x[a] = gparts[i].x[a] < SIDE ? gparts[i].x[a] : 0.0;
    }
  }
  for (int to = 0; to < n_ranks; to++) {
    begin[to] = (int)(n_kept * sizeof *sent);
    for (long i = 0; i < *n; i++) {
      if (gparts[i].time_bin != time_bin_inhibited && node_of(gparts[i].x) == to) {
        sent[n_kept++] = gparts[i];
      }
    }
    count[to] = (int)(n_kept * sizeof *sent) - begin[to];
  }
  struct gpart *received = sent;
  *n_came = 0;
  *n = n_kept;
#ifdef WITH_MPI
  MPI_Alltoall(count, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < n_ranks; r++) {
    from_begin[r + 1] = from_begin[r] + from[r];
  }
  *n = from_begin[n_ranks] / (long)sizeof *sent;
  *n_came = *n - from[rank] / (long)sizeof *sent;
  received = memory(*n, sizeof *received);
  MPI_Alltoallv(sent, count, begin, MPI_BYTE, received, from, from_begin, MPI_BYTE, MPI_COMM_WORLD);
  free(sent);
#endif
  free(count), free(from), free(begin), free(from_begin), free(gparts);
  return received;
}

/* v_full is a^2 dx/dt. Some gas turns into black holes in between, and is inhibited until the next rebuild. */
static void drift(struct gpart *gparts, long n, double a, int step) {
  for (long i = 0; i < n; i++) {
    for (int axis = 0; axis < 3; axis++) {
      gparts[i].x[axis] += gparts[i].v_full[axis] * DRIFT / (a * a);
    }
    if (gparts[i].type == type_gas && gparts[i].id % 1000 == 2 + 5 * step) {
      gparts[i].time_bin = time_bin_inhibited;
    }
  }
}

static FILE *create(int step) {
  char path[4000];
  snprintf(path, sizeof path, "%s/gparts.%d.%d", folder, step, rank);
  FILE *file = fopen(path, "w");
  require(file != NULL, path);
  return file;
}

/* Collective: the groups of the particles of all ranks, into their field group_id.
 *
 * Positions, IDs and masses are read where they lie; positions may be up to one side outside the box. A list names the
 * particles that exist. Two things are not in struct gpart, and are made for each particle of the list:
 *
 *   velocity   peculiar, a dx/dt = v_full / a
 *   attached   1 for gas and stars: they do not link, but join the group of the nearest dark matter. A field of types would not
 *              do, since type 0, gas, would link. */
static void find_groups(inselberg *handle, struct gpart *gparts, long n, double a, int step, long n_came) {
  float(*velocity)[3] = memory(n, sizeof *velocity);
  char *attached = memory(n, sizeof *attached);
  long long *list = memory(n, sizeof *list);
  long m = 0;
  for (long i = 0; i < n; i++) {
    gparts[i].fof_data.group_id = 999;
    if (gparts[i].time_bin == time_bin_inhibited) {
      continue;
    }
    for (int axis = 0; axis < 3; axis++) {
      velocity[m][axis] = (float)(gparts[i].v_full[axis] / a);
    }
    attached[m] = gparts[i].type != type_dark_matter;
    list[m++] = i;
  }

  inselberg_box box = {.size = sizeof box, .side = SIDE, .coarse = {1, 1, 1}, .periodic = {1, 1, 1},
                       .aexp = a, .h0 = 70.0, .omega_m = 0.3, .omega_l = 0.7};
  require(inselberg_set_box(handle, &box) == INSELBERG_DONE, "a box");
  inselberg_column of_list = {.items = n, .item_stride = sizeof *gparts, .index = list, .index_count = m,
                              .index_type = INSELBERG_I64};
  inselberg_column columns[5] = {of_list, of_list, of_list};
  columns[0].name = "position", columns[0].data = gparts->x, columns[0].number_type = INSELBERG_F64;
  columns[1].name = "id", columns[1].data = &gparts->id, columns[1].number_type = INSELBERG_I64;
  columns[2].name = "mass", columns[2].data = &gparts->mass, columns[2].number_type = INSELBERG_F32;
  columns[3] = (inselberg_column){.name = "velocity", .data = velocity, .items = m, .number_type = INSELBERG_F32};
  columns[4] = (inselberg_column){.name = "attached", .data = attached, .items = m, .number_type = INSELBERG_I8};
  require(inselberg_fof(handle, columns, 5) == INSELBERG_DONE, "groups");

  inselberg_output into = {.data = &gparts->fof_data.group_id, .items = n, .item_stride = sizeof *gparts, .index = list,
                           .index_count = m, .index_type = INSELBERG_I64, .number_type = INSELBERG_U64};
  require(inselberg_labels(handle, INSELBERG_GROUP_LABELS, &into, 1) == INSELBERG_DONE, "labels");

  if (step < SAVED_STEPS) {
    char path[4000];
    snprintf(path, sizeof path, "%s/groups.%d%s", folder, step, ending);
    require(inselberg_write(handle, path) == INSELBERG_DONE, "a catalogue");
    FILE *file = create(step);
    fprintf(file, "%.17g %ld %ld\n", a, n_came, n - m);
    for (long i = 0, j = 0; i < n; i++) {
      const struct gpart *p = &gparts[i];
      require((p->time_bin == time_bin_inhibited) == (p->fof_data.group_id == 999), "labels of listed particles only");
      if (p->time_bin != time_bin_inhibited) {
        const float *v = velocity[j];
        fprintf(file, "%lld %.17g %.17g %.17g %.9g %.9g %.9g %.9g %d %zu\n", p->id, p->x[0], p->x[1], p->x[2], v[0], v[1], v[2],
                p->mass, attached[j], p->fof_data.group_id);
        j++;
      }
    }
    fclose(file);
  }
  free(velocity), free(attached), free(list);
}

int main(int argc, char **argv) {
  require(argc == 4, "expected FOLDER ENDING STEPS");
  folder = argv[1];
  ending = argv[2];
  inselberg *handle = NULL;
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  require(inselberg_open_mpi(MPI_COMM_WORLD, 2, &handle) == INSELBERG_DONE, "open");
#else
  require(inselberg_open_serial(2, &handle) == INSELBERG_DONE, "open");
#endif
  inselberg_set(handle, "linking_length", "0.12");
  inselberg_set(handle, "min_size", "10");

  long n, n_came, n_steps = atol(argv[3]);
  struct growth growth = {0};
  struct gpart *gparts = make_particles(&n);
  for (int step = 0; step < n_steps; step++) {
    double a = 0.5 + 0.01 * step;
    gparts = rebuild(gparts, &n, &n_came);
    drift(gparts, n, a, step);
    find_groups(handle, gparts, n, a, step, n_came);
    watch_growth(&growth, step, n_steps);
  }
  tell_growth(&growth);

  require(inselberg_free(&handle) == INSELBERG_DONE && handle == NULL, "free");
  free(gparts);
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  printf("all good\n");
  return 0;
}
