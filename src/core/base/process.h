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

/* Runs a shell script with the arguments `given` ($1 to $4) in a new process group. Returns 0 if it
 * cannot be started, or if the system has no shell. */
joist_process joist_process_start(const char *script, const char *const given[4]);

/* Does not wait. The exit status of a process can be read once: FAILED also when other code of this
 * process has read it. */
joist_process_state joist_process_look(joist_process process);

/* Kills the process and its children. */
void joist_process_stop(joist_process process);

/* Loads a shared object for good and finds a function in it. NULL on failure, with the reason. */
void *joist_library_function(const char *path, const char *name, const char **why);

/* The number of this process, which is another number after a fork. */
long joist_process_self(void);

#endif
