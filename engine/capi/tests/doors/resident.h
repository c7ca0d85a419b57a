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

/* The steps after the first WARM_STEPS are divided into so many windows. */
enum { WARM_STEPS = 10, WINDOWS = 4 };

/* Growth of memory. A leak grows in every window; a page that some thread touches late grows in one. */
struct growth {
  long kilobytes, windows, least;
};

/* After each step of many. */
static void watch_growth(struct growth *growth, long step, long n_steps) {
  long length = (n_steps - 1 - WARM_STEPS) / WINDOWS;
  if (length < 1 || step < WARM_STEPS || (step - WARM_STEPS) % length != 0) {
    return;
  }
  long now = resident_kilobytes(), grown = now - growth->kilobytes;
  if (step > WARM_STEPS && (growth->windows == 0 || grown < growth->least)) {
    growth->least = grown;
  }
  growth->windows += step > WARM_STEPS;
  growth->kilobytes = now;
}

/* After the last step. */
static void tell_growth(const struct growth *growth) {
  if (growth->windows > 0) {
    printf("grown by %ld kB\n", growth->least);
  }
}
