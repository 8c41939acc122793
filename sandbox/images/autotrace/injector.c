/*
 * Preloaded into every program of an instrumented container; only in those that are Node.js or Python does it do anything:
 * it names them the tracer, by the variables that they read when they start. It uses three functions that every C library
 * has, so that one file serves glibc and musl; what it cannot find out, it leaves alone.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODE_HOOK "/opt/lumigo/nodejs/node_modules/@lumigo/opentelemetry/dist/src/distro.js"
#define PYTHON_HOOK "/opt/lumigo/python"
#define MOST 8192

/* Joins what is there with what is ours, unless a parent process has done so already. */
static void join(const char *name, const char *ours, const char *separator, int ours_first) {
  static char joined[MOST];
  const char *there = getenv(name);
  if (there == 0 || *there == 0) {
    setenv(name, ours, 1);
    return;
  }
  if (strstr(there, ours) != 0) return;
  if (strlen(ours) + strlen(separator) + strlen(there) >= MOST) return;
  strcpy(joined, ours_first ? ours : there);
  strcat(joined, separator);
  strcat(joined, ours_first ? there : ours);
  setenv(name, joined, 1);
}

static int begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

__attribute__((constructor)) static void lumigo_injector(void) {
  char path[4096];
  long length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  const char *name = strrchr(path, '/');
  name = name == 0 ? path : name + 1;
  if (strcmp(name, "node") == 0 || strcmp(name, "nodejs") == 0) {
    if (access(NODE_HOOK, R_OK) == 0) join("NODE_OPTIONS", "--require " NODE_HOOK, " ", 0);
  } else if (begins(name, "python")) {
    if (access(PYTHON_HOOK, R_OK) == 0) join("PYTHONPATH", PYTHON_HOOK, ":", 1);
  }
}
