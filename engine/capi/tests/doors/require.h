/* How a host ends when something is not as it should be. Included after inselberg.h, and mpi.h where there is MPI. */
#include <stdio.h>
#include <stdlib.h>

static int rank = 0, n_ranks = 1;

static void require(int is_good, const char *what) {
  char message[400];
  if (!is_good) {
    inselberg_message(message, sizeof message);
    fprintf(stderr, "rank %d: %s; last message: %s\n", rank, what, message);
#ifdef MPI_VERSION
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    exit(1);
  }
}

static inline void *memory(size_t n, size_t size) {
  void *found = calloc(n + 1, size);
  require(found != NULL, "memory");
  return found;
}
