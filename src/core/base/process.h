/* Programs that run beside this one, and shared objects that they make. */
#ifndef JOIST_CORE_BASE_PROCESS_H
#define JOIST_CORE_BASE_PROCESS_H

#include <stdbool.h>

/* 0 where there is none. */
typedef long joist_process;

typedef enum {
  JOIST_PROCESS_RUNNING,
  JOIST_PROCESS_DONE,
  JOIST_PROCESS_FAILED
} joist_process_state;

/* Runs a script of the shell, whose $1, $2 and $3 are `given`, in a process group of its own. 0
 * when it cannot be started, or where the system has no shell. */
joist_process joist_process_start(const char *script, const char *const given[3]);

/* Never waits, but once the process has ended: the state is told once. FAILED, too, when somebody
 * else asked first. */
joist_process_state joist_process_look(joist_process process);

/* Ends it, and what it has started. */
void joist_process_stop(joist_process process);

/* The function of a shared object, which stays loaded; NULL, and why, when there is none. */
void *joist_library_function(const char *path, const char *name, const char **why);

/* The process that this code runs in: another one after a fork. */
long joist_process_self(void);

#endif
