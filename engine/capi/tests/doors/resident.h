/* Memory of this process that is in RAM, and whether it grows. */
#include <stdio.h>

/* VmRSS in kilobytes; 0 where the system does not say. */
static long resident_kilobytes(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[200];
  long kilobytes = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) {
      break;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return kilobytes;
}

/* The second half of the steps is divided into this number of windows. In the first half a leak may fill memory that the heap
   has already. */
enum { WINDOWS = 4 };

/* Growth of memory. A leak grows in every window. Threads and MPI touch some pages late, for 200 steps on a busy machine,
   but not in every window. */
struct growth {
  long kilobytes, windows, least;
};

/* After each step of many. */
static void watch_growth(struct growth *growth, long step, long n_steps) {
  long first = n_steps / 2, length = (n_steps - 1 - first) / WINDOWS;
  if (length < 1 || step < first || (step - first) % length != 0) {
    return;
  }
  long now = resident_kilobytes(), grown = now - growth->kilobytes;
  if (step > first && (growth->windows == 0 || grown < growth->least)) {
    growth->least = grown;
  }
  growth->windows += step > first;
  growth->kilobytes = now;
}

/* After the last step. */
static void tell_growth(const struct growth *growth) {
  if (growth->windows > 0) {
    printf("grown by %ld kB\n", growth->least);
  }
}
