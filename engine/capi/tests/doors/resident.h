/* Memory of this process that is in RAM. */
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
