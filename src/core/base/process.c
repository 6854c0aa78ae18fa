/* Processes by POSIX. On other systems none can be started. */
#include "core/base/process.h"

#include <stddef.h>

#ifdef _WIN32

joist_process joist_process_start(const char *script, const char *const given[4]) {
  (void)script, (void)given;
  return 0;
}
joist_process_state joist_process_look(joist_process process) {
  (void)process;
  return JOIST_PROCESS_FAILED;
}
void joist_process_stop(joist_process process) { (void)process; }
void *joist_library_function(const char *path, const char *name, const char **why) {
  (void)path, (void)name;
  *why = "not on this system";
  return NULL;
}
long joist_process_self(void) { return 0; }

#else

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

joist_process joist_process_start(const char *script, const char *const given[4]) {
  /* posix_spawn() takes what it does not write as char *. */
  union {
    const char *own[9];
    char *taken[9];
  } arguments = {{"sh", "-c", script, "sh", given[0], given[1], given[2], given[3], NULL}};
  posix_spawnattr_t attributes;
  pid_t made = 0;
  if (posix_spawnattr_init(&attributes) != 0) return 0;
  if (posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP) != 0 ||
      posix_spawnattr_setpgroup(&attributes, 0) != 0 ||
      posix_spawn(&made, "/bin/sh", NULL, &attributes, arguments.taken, environ) != 0)
    made = 0;
  posix_spawnattr_destroy(&attributes);
  return made;
}

joist_process_state joist_process_look(joist_process process) {
  int status = 0;
  pid_t ended;
  do ended = waitpid((pid_t)process, &status, WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended == 0) return JOIST_PROCESS_RUNNING;
  return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? JOIST_PROCESS_DONE
                                                                    : JOIST_PROCESS_FAILED;
}

void joist_process_stop(joist_process process) {
  int status;
  kill((pid_t)-process, SIGKILL);
  while (waitpid((pid_t)process, &status, 0) < 0 && errno == EINTR) continue;
}

void *joist_library_function(const char *path, const char *name, const char **why) {
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *const function = library == NULL ? NULL : dlsym(library, name);
  if (function == NULL) *why = dlerror();
  return function;
}

long joist_process_self(void) { return (long)getpid(); }

#endif
