/* Friends-of-friends for SWIFT: this file calls the library Inselberg in place of SWIFT's own search. See README.md.
 *
 * The linker sends all calls of engine_fof here (-Wl,--wrap=engine_fof), and __real_engine_fof is SWIFT's function. Searches that
 * seed black holes stay with SWIFT. With INSELBERG_FOF=both in the environment SWIFT's search runs too, its groups are kept, and
 * the two are compared. */
#include <config.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "engine.h"
#include "fof.h"
#include "inselberg.h"
#include <math.h>
#include <string.h>

void __real_engine_fof(struct engine *e, const int dump_results, const int dump_debug_results, const int seed_black_holes,
                       const int foreign_buffers_allocated);
void __wrap_engine_fof(struct engine *e, const int dump_results, const int dump_debug_results, const int seed_black_holes,
                       const int foreign_buffers_allocated);

/* One handle for the whole run. */
static inselberg *handle = NULL;

/* The particles of this rank that link or attach: where they are among SWIFT's, and what is not in struct gpart. */
struct particles {
  int64_t n;
  long long *place, *id;
  char *attached;
  float (*velocity)[3];
};

static void check(int code) {
  if (code != INSELBERG_DONE) {
    char text[1000];
    inselberg_message(text, sizeof text);
    error("Inselberg: %s", text);
  }
}

static void set(const char *key, const char *value) { check(inselberg_set(handle, key, value)); }

static void set_real(const char *key, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value);
  set(key, text);
}

static void set_count(const char *key, size_t value) {
  char text[32];
  snprintf(text, sizeof text, "%zu", value);
  set(key, text);
}

static void *memory(int64_t n, size_t size) {
  void *found = malloc(n > 0 ? (size_t)n * size : 1);
  if (found == NULL) {
    error("no memory for %lld particles", (long long)n);
  }
  return found;
}

static int exists(const struct gpart *gp) { return gp->time_bin != time_bin_inhibited && gp->time_bin != time_bin_not_created; }

/* The ID of a particle. That of gas, stars, sinks and black holes is in their own arrays. */
static long long id_of(const struct space *s, const struct gpart *gp) {
  const long long place = -gp->id_or_neg_offset;
  switch (gp->type) {
    case swift_type_gas: return s->parts[place].id;
    case swift_type_stars: return s->sparts[place].id;
    case swift_type_sink: return s->sinks[place].id;
    case swift_type_black_hole: return s->bparts[place].id;
    default: return gp->id_or_neg_offset;
  }
}

static struct particles list_particles(const struct engine *e) {
  const struct space *s = e->s;
  const struct fof_props *props = e->fof_properties;
  struct particles p = {.n = 0};
  const int64_t most = (int64_t)s->nr_gparts;
  p.place = memory(most, sizeof *p.place), p.id = memory(most, sizeof *p.id);
  p.attached = memory(most, sizeof *p.attached), p.velocity = memory(most, sizeof *p.velocity);
  for (int64_t i = 0; i < most; i++) {
    const struct gpart *gp = &s->gparts[i];
    const int links = props->fof_linking_types[gp->type], attaches = props->fof_attach_types[gp->type];
    if (!exists(gp) || !(links || attaches)) {
      continue;
    }
    p.place[p.n] = i, p.id[p.n] = id_of(s, gp), p.attached[p.n] = !links;
    for (int axis = 0; axis < 3; axis++) {
      /* v_full is a^2 dx/dt. */
      p.velocity[p.n][axis] = (float)(gp->v_full[axis] / e->cosmology->a);
    }
    p.n++;
  }
  return p;
}

static void free_particles(struct particles *p) { free(p->place), free(p->id), free(p->attached), free(p->velocity); }

/* Collective: the linking length as SWIFT has it, by the mean mass of dark matter without that of zoom regions' backgrounds. */
static double linking_length(const struct engine *e) {
  const struct fof_props *props = e->fof_properties;
  if (props->l_x_absolute != -1.) {
    return props->l_x_absolute;
  }
  double sums[2] = {0.0, 0.0};
  for (size_t i = 0; i < e->s->nr_gparts; i++) {
    const struct gpart *gp = &e->s->gparts[i];
    if (gp->type == swift_type_dark_matter && exists(gp)) {
      sums[0] += gp->mass, sums[1] += 1.0;
    }
  }
#ifdef WITH_MPI
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
  const struct cosmology *c = e->cosmology;
  const double omega = c->Omega_cdm + (e->s->with_hydro ? 0.0 : c->Omega_b);
  return props->l_x_ratio * cbrt(sums[0] / sums[1] / (omega * c->critical_density_0));
}

/* The box. Lengths are comoving, as positions are. */
static void set_box(const struct engine *e) {
  const struct space *s = e->s;
  if (s->dim[0] != s->dim[1] || s->dim[0] != s->dim[2]) {
    error("Inselberg: a box with three sides of other lengths; expected a cube");
  }
  const struct unit_system *us = e->internal_units;
  inselberg_box box = {.size = sizeof box, .side = s->dim[0], .coarse = {1, 1, 1}, .time = e->time};
  const double a = (e->policy & engine_policy_cosmology) ? e->cosmology->a : 1.0;
  box.periodic[0] = box.periodic[1] = box.periodic[2] = s->periodic != 0;
  box.unit_length = us->UnitLength_in_cgs * a;
  box.unit_density = us->UnitMass_in_cgs / (box.unit_length * box.unit_length * box.unit_length);
  box.unit_time = us->UnitTime_in_cgs * a;
  if (e->policy & engine_policy_cosmology) {
    const struct cosmology *c = e->cosmology;
    box.aexp = a, box.h0 = 100.0 * c->h;
    box.omega_m = c->Omega_cdm + c->Omega_b, box.omega_b = c->Omega_b, box.omega_l = c->Omega_lambda;
    box.omega_k = c->Omega_k, box.omega_r = c->Omega_r, box.omega_nu = c->Omega_nu_0;
    box.w0 = c->w_0, box.wa = c->w_a;
  }
  check(inselberg_set_box(handle, &box));
}

static void open_handle(const struct engine *e) {
  if (handle != NULL) {
    return;
  }
#ifdef WITH_MPI
  check(inselberg_open_mpi(MPI_COMM_WORLD, e->nr_threads, &handle));
#else
  check(inselberg_open_serial(e->nr_threads, &handle));
#endif
}

/* Collective: the groups of all particles. The label of each listed particle goes to `labels`: 1 for the largest group, 0 for none.
 * Positions and masses are read where they lie. */
static void find_groups(const struct engine *e, const struct particles *p, unsigned long long *labels) {
  const struct fof_props *props = e->fof_properties;
  const struct gpart *gparts = e->s->gparts;
  open_handle(e);
  set_box(e);
  set_real("linking_length", linking_length(e));
  set_count("fof.min_size", props->min_group_size);
  set_count("group_id_default", props->group_id_default);
  set_count("group_id_offset", props->group_id_offset);
  const inselberg_column of_list = {.items = (int64_t)e->s->nr_gparts, .item_stride = sizeof *gparts, .index = p->place,
                                    .index_count = p->n, .index_type = INSELBERG_I64};
  inselberg_column columns[5] = {of_list, of_list};
  columns[0].name = "position", columns[0].data = gparts->x, columns[0].number_type = INSELBERG_F64;
  columns[1].name = "mass", columns[1].data = &gparts->mass, columns[1].number_type = INSELBERG_F32;
  columns[2] = (inselberg_column){.name = "id", .data = p->id, .items = p->n, .number_type = INSELBERG_I64};
  columns[3] = (inselberg_column){.name = "velocity", .data = p->velocity, .items = p->n, .number_type = INSELBERG_F32};
  columns[4] = (inselberg_column){.name = "attached", .data = p->attached, .items = p->n, .number_type = INSELBERG_I8};
  check(inselberg_fof(handle, columns, 5));
  const inselberg_output into = {.data = labels, .items = p->n, .number_type = INSELBERG_U64};
  check(inselberg_labels(handle, INSELBERG_GROUP_LABELS, &into, 1));
}

/* The ID that SWIFT's outputs have for a label. */
static size_t id_of_label(const struct fof_props *props, unsigned long long label) {
  return label == 0 ? props->group_id_default : props->group_id_offset + (size_t)label - 1;
}

static void put_ids(struct engine *e, const struct particles *p, const unsigned long long *labels) {
  for (size_t i = 0; i < e->s->nr_gparts; i++) {
    e->s->gparts[i].fof_data.group_id = e->fof_properties->group_id_default;
  }
  for (int64_t i = 0; i < p->n; i++) {
    e->s->gparts[p->place[i]].fof_data.group_id = id_of_label(e->fof_properties, labels[i]);
  }
}

/* Collective: the catalogue, with the name of SWIFT's or, beside that, another one. */
static void write_catalogue(const struct engine *e, const char *more) {
  char path[PARSER_MAX_LINE_SIZE + 64];
  snprintf(path, sizeof path, "%s%s_%04i.hdf5", e->fof_properties->base_name, more, e->snapshot_output_count);
  check(inselberg_write(handle, path));
}

static long long number_of_groups(void) {
  inselberg_table_view groups;
  check(inselberg_table(handle, 0, &groups));
  return groups.total_rows;
}

/* Collective: for each group of one search, whether all its particles are in one group of the other. Returns how many are not. */
static long long count_split(const size_t *of, const size_t *other, int64_t n, size_t n_groups) {
  long long *least = memory((int64_t)n_groups, sizeof *least), *greatest = memory((int64_t)n_groups, sizeof *greatest);
  for (size_t g = 0; g < n_groups; g++) {
    least[g] = INT64_MAX, greatest[g] = -1;
  }
  for (int64_t i = 0; i < n; i++) {
    if (of[i] > 0) {
      const long long in = (long long)other[i];
      least[of[i] - 1] = in < least[of[i] - 1] ? in : least[of[i] - 1];
      greatest[of[i] - 1] = in > greatest[of[i] - 1] ? in : greatest[of[i] - 1];
    }
  }
#ifdef WITH_MPI
  MPI_Allreduce(MPI_IN_PLACE, least, (int)n_groups, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, greatest, (int)n_groups, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
#endif
  long long n_split = 0;
  for (size_t g = 0; g < n_groups; g++) {
    n_split += least[g] != greatest[g] || least[g] == 0;
  }
  free(least), free(greatest);
  return n_split;
}

/* Collective: compares with the groups that SWIFT has left in its particles. */
static void compare(const struct engine *e, const struct particles *p, const unsigned long long *labels) {
  const struct fof_props *props = e->fof_properties;
  size_t *here = memory(p->n, sizeof *here), *swift = memory(p->n, sizeof *swift);
  long long n_swift = 0;
  for (int64_t i = 0; i < p->n; i++) {
    const size_t id = e->s->gparts[p->place[i]].fof_data.group_id;
    here[i] = (size_t)labels[i];
    swift[i] = id == props->group_id_default ? 0 : id - props->group_id_offset + 1;
    n_swift = (long long)swift[i] > n_swift ? (long long)swift[i] : n_swift;
  }
#ifdef WITH_MPI
  MPI_Allreduce(MPI_IN_PLACE, &n_swift, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
#endif
  const long long n = number_of_groups();
  const long long split = count_split(here, swift, p->n, (size_t)n);
  const long long swift_split = count_split(swift, here, p->n, (size_t)n_swift);
  if (e->nodeID == 0) {
    message("Inselberg: %lld groups, SWIFT: %lld groups; %lld and %lld of them are not the same set of particles", n, n_swift, split,
            swift_split);
  }
  free(here), free(swift);
}

void __wrap_engine_fof(struct engine *e, const int dump_results, const int dump_debug_results, const int seed_black_holes,
                       const int foreign_buffers_allocated) {
  const char *wish = getenv("INSELBERG_FOF");
  const int is_both = wish != NULL && strcmp(wish, "both") == 0;
  const int is_of_swift = !dump_results || dump_debug_results || seed_black_holes;
  if (is_of_swift || is_both) {
    __real_engine_fof(e, dump_results, dump_debug_results, seed_black_holes, foreign_buffers_allocated);
  }
  if (is_of_swift) {
    return;
  }
  const ticks tic = getticks();
  struct particles p = list_particles(e);
  unsigned long long *labels = memory(p.n, sizeof *labels);
  find_groups(e, &p, labels);
  const ticks found = getticks();
  if (is_both) {
    compare(e, &p, labels);
  } else {
    put_ids(e, &p, labels);
    e->run_fof = 0;
    e->step_props |= engine_step_prop_fof;
  }
  const ticks compared = getticks();
  write_catalogue(e, is_both ? "_inselberg" : "");
  const long long n_groups = number_of_groups();
  if (e->nodeID == 0) {
    message("Inselberg: %lld groups in %.3f %s, catalogue in %.3f %s.", n_groups, clocks_from_ticks(found - tic), clocks_getunit(),
            clocks_from_ticks(getticks() - compared), clocks_getunit());
  }
  free(labels);
  free_particles(&p);
}
