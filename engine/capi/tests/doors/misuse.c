/* A program that calls the library wrongly on one of its ranks: host
 *
 * Every fault must be one error on all ranks, whose message says what and where, and the next right call must work. WITH_MPI: it
 * runs under mpirun. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "inselberg.h"
#include "require.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

static int is_last;

/* Requires this code on all ranks, and a message with this word. */
static void refused(int code, int expected, const char *word) {
  char message[600], what[900];
  int all = code == expected;
  inselberg_message(message, sizeof message);
  snprintf(what, sizeof what, "code %d, expected %d with \"%s\"", code, expected, word);
  require(all && strstr(message, word) != NULL, what);
#ifdef WITH_MPI
  MPI_Barrier(MPI_COMM_WORLD);
#endif
}

/* "rank 3: " for the last rank of several. */
static const char *at_last(const char *word) {
  static char text[200];
  snprintf(text, sizeof text, "rank %d: %s", n_ranks - 1, word);
  return n_ranks > 1 ? text : word;
}

static int open_handle(int threads, inselberg **handle) {
#ifdef WITH_MPI
  return inselberg_open_mpi(MPI_COMM_WORLD, threads, handle);
#else
  return inselberg_open_serial(threads, handle);
#endif
}

static int set_leaves(inselberg *handle) {
  static signed char level[2] = {3, 3};
  int position[6] = {rank, 1, 2, rank, 2, 2};
  inselberg_column columns[] = {
      {.name = "level", .data = level, .items = 2, .number_type = INSELBERG_I8},
      {.name = "position", .data = position, .items = 2, .number_type = INSELBERG_I32},
  };
  return inselberg_set_leaves(handle, columns, 2);
}

static double rho[2] = {3, 4};

static int phew(inselberg *handle) {
  inselberg_column density = {.name = "density", .data = rho, .items = 2, .number_type = INSELBERG_F64, .index_base = 1};
  return inselberg_phew(handle, &density, 1);
}

static inselberg *ready(void) {
  inselberg *handle = NULL;
  inselberg_box box = {.size = sizeof box, .side = 1.0, .coarse = {1, 1, 1}, .periodic = {1, 1, 1}};
  require(open_handle(1, &handle) == INSELBERG_DONE, "open");
  require(inselberg_set_box(handle, &box) == INSELBERG_DONE, "a box");
  inselberg_set(handle, "density_threshold", "1");
  require(set_leaves(handle) == INSELBERG_DONE && phew(handle) == INSELBERG_DONE, "leaves and clumps");
  return handle;
}

/* An open handle would be lost. */
static void open_twice(inselberg *handle) {
  inselberg *other = is_last ? handle : NULL;
  refused(open_handle(1, &other), INSELBERG_INVALID_ARGUMENT, at_last("the handle is open already"));
  require(other == (is_last ? handle : NULL), "the handle as it was");
  other = NULL;
  refused(open_handle(is_last ? -3 : 1, &other), INSELBERG_INVALID_ARGUMENT, at_last("-3 threads"));
  require(open_handle(1, &other) == INSELBERG_DONE && inselberg_free(&other) == INSELBERG_DONE, "another handle");
  inselberg_tree *tree = NULL;
  require(inselberg_tree_begin(handle, &tree) == INSELBERG_DONE, "a tree");
  inselberg_tree *second = is_last ? tree : NULL;
  refused(inselberg_tree_begin(handle, &second), INSELBERG_INVALID_ARGUMENT, at_last("the tree is open already"));
  inselberg_tree_free(&tree);
  require(phew(handle) == INSELBERG_DONE, "clumps after it");
}

/* Messages name the rank, and the index as this program counts. */
static void bad_value(inselberg *handle) {
  rho[1] = is_last ? NAN : 4;
  refused(phew(handle), INSELBERG_INVALID_VALUE, at_last("density of cell 2, "));
  rho[1] = 4;
  double position[6] = {0.1, 0.1, 0.1, 0.2, 0.2, is_last ? 7 : 0.2};
  int list[1] = {2};
  inselberg_column of_list = {.name = "position", .data = position, .items = 2, .number_type = INSELBERG_F64, .index = list,
                              .index_count = 1, .index_base = 1, .index_type = INSELBERG_I32};
  refused(inselberg_fof(handle, &of_list, 1), INSELBERG_INVALID_VALUE, at_last("the position of particle 2 is"));
  list[0] = is_last ? 3 : 1;
  refused(inselberg_fof(handle, &of_list, 1), INSELBERG_INVALID_ARGUMENT, at_last("column position: index 1 of the list is 3"));
  require(phew(handle) == INSELBERG_DONE, "clumps after it");
}

/* After a call that one rank refused alone, the next one is an error on all ranks, and the one after it works. */
static void noticed(inselberg *handle) {
  if (n_ranks > 1) {
    char word[200];
    refused(phew(handle), INSELBERG_COMMUNICATION, "(phew), rank 0 its call ");
    snprintf(word, sizeof word, "rank %d makes its call ", n_ranks - 1);
    char message[600];
    inselberg_message(message, sizeof message);
    int ahead = 0, first = 0;
    const char *begin = strstr(message, word);
    require(begin != NULL && sscanf(begin + strlen(word), "%d (phew), rank 0 its call %d", &ahead, &first) == 2, message);
    require(ahead == first + 1, message);
  }
  require(phew(handle) == INSELBERG_DONE, "clumps after it");
}

struct work {
  inselberg *handle;
  int code;
};

static void *in_thread(void *of) {
  struct work *work = of;
  work->code = phew(work->handle);
  return NULL;
}

static int32_t phew_within(void *of, const char *stage, uint64_t done, uint64_t n) {
  struct work *work = of;
  (void)done, (void)n;
  if (work->code == INSELBERG_DONE && strcmp(stage, "saddles") == 0) {
    work->code = phew(work->handle);
  }
  return 0;
}

/* Calls that the last rank refuses alone. */
static void missed_calls(inselberg *handle) {
  require(!is_last || phew(NULL) == INSELBERG_INVALID_ARGUMENT, "the code for no handle");
  noticed(handle);
  if (is_last) {
    struct work work = {.handle = handle};
    require(inselberg_on_progress(handle, phew_within, &work) == INSELBERG_DONE, "a function for progress");
    require(phew(handle) == INSELBERG_DONE && work.code == INSELBERG_INVALID_ARGUMENT, "the code for a busy handle");
    inselberg_on_progress(handle, NULL, NULL);
  } else {
    require(phew(handle) == INSELBERG_DONE, "clumps beside it");
  }
  noticed(handle);
#ifdef WITH_MPI
  if (is_last) {
    pthread_t thread;
    struct work work = {.handle = handle};
    require(pthread_create(&thread, NULL, in_thread, &work) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    require(work.code == INSELBERG_INVALID_ARGUMENT, "the code for the wrong thread");
  }
  noticed(handle);
#else
  (void)in_thread;
#endif
  inselberg_tree *tree = NULL;
  require(!is_last || inselberg_tree_write(NULL, "tree.csv") == INSELBERG_INVALID_ARGUMENT, "the code for no tree");
  int code = inselberg_tree_begin(handle, &tree);
  if (n_ranks > 1) {
    refused(code, INSELBERG_COMMUNICATION, "(tree_begin)");
    require(tree == NULL && inselberg_tree_begin(handle, &tree) == INSELBERG_DONE, "a tree after it");
  }
  inselberg_tree_free(&tree);
}

/* Other calls or options on the last rank. */
static void other_calls(inselberg *handle) {
  if (n_ranks == 1) {
    return;
  }
  char word[200];
  snprintf(word, sizeof word, "(recut), rank 0 its call ");
  refused(is_last ? inselberg_recut(handle) : phew(handle), INSELBERG_COMMUNICATION, word);
  require(phew(handle) == INSELBERG_DONE, "clumps after another call");
  inselberg_set(handle, "saddle_threshold", is_last ? "7" : "6");
  snprintf(word, sizeof word, "saddle_threshold of rank %d is 7, that of rank 0 is 6", n_ranks - 1);
  refused(phew(handle), INSELBERG_INVALID_ARGUMENT, word);
  inselberg_set(handle, "saddle_threshold", "none");
  inselberg_box box = {.size = sizeof box, .side = 1.0, .coarse = {1, 1, 1}, .periodic = {1, 1, 1}, .time = is_last};
  inselberg_set_box(handle, &box);
  snprintf(word, sizeof word, "time of rank %d is 1.0, that of rank 0 is 0.0", n_ranks - 1);
  refused(phew(handle), INSELBERG_INVALID_ARGUMENT, word);
  box.time = 0;
  inselberg_set_box(handle, &box);
  require(phew(handle) == INSELBERG_DONE, "clumps after other options");

  inselberg *other = ready();
  refused(is_last ? inselberg_free(&other) : phew(other), INSELBERG_COMMUNICATION, "(free), rank 0 its call ");
  if (!is_last) {
    require(phew(other) == INSELBERG_INVALID_ARGUMENT, "the code for an engine that another rank has freed");
  }
  require(inselberg_free(&other) == INSELBERG_DONE && other == NULL, "free what another rank has freed");
}

/* Two engines in crossed order: each rank waits for the others, until its limit. */
static void crossed(void) {
  inselberg *handles[2] = {ready(), ready()};
  for (int i = 0; i < 2; i++) {
    require(inselberg_set(handles[i], "stall_timeout", "0.1") == INSELBERG_DONE, "a limit");
    refused(inselberg_set(handles[i], "stall_timeout", "-1"), INSELBERG_INVALID_ARGUMENT, "stall_timeout is -1");
  }
  if (n_ranks > 1) {
    int code = phew(handles[is_last]);
    refused(code, INSELBERG_TIMED_OUT, "expected the same calls of the same engines on all ranks");
    refused(code, INSELBERG_TIMED_OUT, "nothing moved for");
    refused(phew(handles[is_last]), INSELBERG_TIMED_OUT, "");
  }
  int expected = n_ranks > 1 ? INSELBERG_TIMED_OUT : INSELBERG_DONE;
  require(inselberg_free(&handles[is_last]) == expected && handles[is_last] == NULL, "free what is lost");
  inselberg_set(handles[!is_last], "recover_timeout", "0.3");
  inselberg_free(&handles[!is_last]);
}

/* Labels need a table of cells and a known ending. A cell of the image of level 3 has its label. */
static void labels(inselberg *handle, const char *folder) {
  char path[500], header[2880];
  signed char image[8 * 8 * 8 * 4];
  snprintf(path, sizeof path, "%s/labels.fits", folder);
  refused(inselberg_write_labels(handle, INSELBERG_CLUMP_LABELS, path), INSELBERG_INVALID_ARGUMENT, "with_cells");
  require(inselberg_set(handle, "with_cells", "true") == INSELBERG_DONE, "the table of cells");
  require(phew(handle) == INSELBERG_DONE, "clumps with cells");
  refused(inselberg_write_labels(handle, is_last ? 9 : INSELBERG_CLUMP_LABELS, path), INSELBERG_INVALID_ARGUMENT, "labels 9 to a file");
  refused(inselberg_write_labels(handle, INSELBERG_HALO_LABELS, "labels.txt"), INSELBERG_INVALID_ARGUMENT, ".fits, .reg or .crtf");
  refused(inselberg_write_labels(handle, INSELBERG_CLUMP_LABELS, "labels.reg"), INSELBERG_INVALID_ARGUMENT, "expected a FITS image");
  require(inselberg_write_labels(handle, INSELBERG_CLUMP_LABELS, path) == INSELBERG_DONE, "an image of labels");
  FILE *file = rank == 0 ? fopen(path, "rb") : NULL;
  if (rank == 0) {
    require(file != NULL && fread(header, 1, sizeof header, file) == sizeof header, "a header");
    require(fread(image, 1, sizeof image, file) == sizeof image && fclose(file) == 0, "the labels");
    /* Numbers of four bytes, the last one least. The cell of rank 0 with density 4 is at 0, 2, 2. */
    require(image[4 * (2 * 64 + 2 * 8) + 3] > 0, "the label of a cell");
    require(image[4 * (7 * 64 + 7 * 8 + 7) + 3] == 0, "no label");
  }
  require(inselberg_set(handle, "with_cells", "false") == INSELBERG_DONE, "no table of cells");
}

int main(int argc, char **argv) {
#ifdef WITH_MPI
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
#endif
  is_last = rank == n_ranks - 1;
  inselberg *handle = ready();
  require(argc == 2, "a folder");
  labels(handle, argv[1]);
  open_twice(handle);
  bad_value(handle);
  missed_calls(handle);
  other_calls(handle);
  crossed();
  require(inselberg_free(&handle) == INSELBERG_DONE, "free");
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  printf("all good\n");
  return 0;
}
