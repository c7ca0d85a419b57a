/* A program that finds objects itself and grows a merger tree of them: trees SERIES FOLDER ENDING
 *
 * SERIES has the objects of all outputs with their members. The program deals the objects out to its ranks and hands them over
 * output by output, to two trees with other options. It writes the first tree half-way and at the end, the second one at the
 * end. Between come calls that must fail and change nothing. WITH_MPI: it runs under mpirun. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "inselberg.h"
#include "require.h"
#include <string.h>

/* An object as this program keeps it. */
struct object {
  float unused;
  int id, parent;
  double mass, x[3], v[3];
  long first, n;
};

struct member {
  long long id;
  char type;
};

/* An output. The members of all objects are on all ranks, the objects are dealt out. */
struct output {
  long number, n_objects, n_members;
  double aexp;
  struct object *objects;
  struct member *members;
};

static const char *folder, *ending;

static struct output read_output(FILE *file) {
  struct output output = {0};
  long n = 0, first = 0;
  int good = fscanf(file, "%ld %lf %ld %ld", &output.number, &output.aexp, &n, &output.n_members);
  require(good == 4, "an output");
  output.objects = memory(n, sizeof *output.objects);
  output.members = memory(output.n_members, sizeof *output.members);
  for (long i = 0; i < n; i++) {
    struct object o = {0};
    good = fscanf(file, "%d %d %lf %lf %lf %lf %lf %lf %lf %ld", &o.id, &o.parent, &o.mass, &o.x[0], &o.x[1], &o.x[2],
                  &o.v[0], &o.v[1], &o.v[2], &o.n);
    require(good == 10, "an object");
    o.first = first;
    first += o.n;
    if (i % n_ranks == rank) {
      output.objects[output.n_objects++] = o;
    }
  }
  for (long i = 0; i < output.n_members; i++) {
    int type;
    require(fscanf(file, "%lld %d", &output.members[i].id, &type) == 2, "a member");
    output.members[i].type = (char)type;
  }
  return output;
}

static int add(inselberg_tree *tree, const struct output *output, long number) {
  const struct object *o = output->objects;
  const int64_t n = output->n_objects, m = output->n_members, of_object = sizeof *o, of_member = sizeof *output->members;
  inselberg_column columns[] = {
      {.name = "id", .data = &o->id, .items = n, .item_stride = of_object, .number_type = INSELBERG_I32},
      {.name = "parent", .data = &o->parent, .items = n, .item_stride = of_object, .number_type = INSELBERG_I32},
      {.name = "mass", .data = &o->mass, .items = n, .item_stride = of_object, .number_type = INSELBERG_F64},
      {.name = "position", .data = o->x, .items = n, .item_stride = of_object, .number_type = INSELBERG_F64},
      {.name = "velocity", .data = o->v, .items = n, .item_stride = of_object, .number_type = INSELBERG_F64},
      {.name = "n_members", .data = &o->n, .items = n, .item_stride = of_object, .number_type = INSELBERG_I64},
      {.name = "first_member", .data = &o->first, .items = n, .item_stride = of_object, .number_type = INSELBERG_I64},
      {.name = "member", .data = &output->members->id, .items = m, .item_stride = of_member, .number_type = INSELBERG_I64},
      {.name = "member_type", .data = &output->members->type, .items = m, .item_stride = of_member, .number_type = INSELBERG_I8},
  };
  inselberg_box box = {.size = sizeof box, .side = 2.0, .coarse = {1, 1, 1}, .periodic = {1, 1, 1}};
  box.unit_length = 3e24 * output->aexp, box.unit_density = 1e-28, box.unit_time = 1e17;
  box.aexp = output->aexp, box.h0 = 70, box.omega_m = 0.3, box.omega_l = 0.7;
  return inselberg_tree_add(tree, number, &box, columns, sizeof columns / sizeof *columns);
}

static void write_tree(inselberg_tree *tree, const char *name) {
  char path[4000];
  snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
  require(inselberg_tree_write(tree, path) == INSELBERG_DONE, "a tree in a file");
}

static void refused(int code, const char *word) {
  char message[400];
  inselberg_message(message, sizeof message);
  require(code == INSELBERG_INVALID_ARGUMENT && strstr(message, word) != NULL, word);
}

/* Calls that fail on one rank or on all. The tree stays as it is. */
static void fail(inselberg *handle, inselberg_tree *tree, struct output *output) {
  int is_last = rank == n_ranks - 1;
  refused(add(tree, output, output->number), "the same output");
  refused(add(tree, output, is_last ? -1 : output->number + 1), "expected 0 or more");
  /* The last object of the last rank has one member more than there are. */
  struct output wrong = *output;
  struct object *last = &wrong.objects[wrong.n_objects - 1], kept = *last;
  last->n = is_last ? wrong.n_members - last->first + 1 : last->n;
  wrong.aexp += 0.001;
  refused(add(tree, &wrong, output->number + 1), "members from");
  *last = kept;
  inselberg_box box = {.size = sizeof box, .side = 2.0, .coarse = {1, 1, 1}};
  refused(inselberg_tree_add(tree, output->number + 1, &box, NULL, 0), "no column id");
  refused(inselberg_tree_add(NULL, 1, &box, NULL, 0), "NULL");
  refused(inselberg_tree_begin(handle, NULL), "the address of the tree is NULL");
  refused(inselberg_set(handle, "tree_orphans", "never"), "orphans is never");
  refused(inselberg_set(handle, "tree_tracers", "0"), "tracers is 0");
}

int main(int argc, char **argv) {
  require(argc == 4, "expected SERIES FOLDER ENDING");
  folder = argv[2];
  ending = argv[3];
  inselberg *handle = NULL;
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  require(inselberg_open_mpi(MPI_COMM_WORLD, 1, &handle) == INSELBERG_DONE, "open");
#else
  require(inselberg_open_serial(1, &handle) == INSELBERG_DONE, "open");
#endif
  FILE *file = fopen(argv[1], "r");
  long n_outputs;
  require(file != NULL && fscanf(file, "%ld", &n_outputs) == 1, argv[1]);

  inselberg_tree *tree = NULL, *other = NULL;
  inselberg_set(handle, "tree_gap", "2");
  require(inselberg_tree_begin(handle, &tree) == INSELBERG_DONE, "a tree");
  inselberg_set(handle, "tree_gap", "0");
  inselberg_set(handle, "tree_tracers", "7");
  inselberg_set(handle, "tree_orphans", "false");
  require(inselberg_tree_begin(handle, &other) == INSELBERG_DONE, "another tree");
  for (long k = 0; k < n_outputs; k++) {
    int64_t n = -1;
    struct output output = read_output(file);
    require(add(tree, &output, output.number) == INSELBERG_DONE, "an output");
    require(add(other, &output, output.number) == INSELBERG_DONE, "an output of the other tree");
    fail(handle, tree, &output);
    require(inselberg_tree_outputs(tree, &n) == INSELBERG_DONE && n == k + 1, "the number of outputs");
    if (k == 4) {
      write_tree(tree, "half");
    }
    free(output.objects);
    free(output.members);
  }
  fclose(file);
  write_tree(tree, "whole");
  write_tree(other, "other");

  require(inselberg_tree_free(&tree) == INSELBERG_DONE && tree == NULL, "free");
  require(inselberg_tree_free(&tree) == INSELBERG_DONE && inselberg_tree_free(NULL) == INSELBERG_DONE, "free nothing");
  require(inselberg_free(&handle) == INSELBERG_DONE, "free the handle");
  refused(inselberg_tree_write(other, "none.csv"), "closed");
  require(inselberg_tree_free(&other) == INSELBERG_DONE && other == NULL, "free after the handle");
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  printf("all good\n");
  return 0;
}
