/* Compiled source texts. Each is compiled once, by a separate process, while the interpreter runs.
 * A text that fails to compile is not tried again. Only R's thread calls this. */
#ifndef JOIST_CORE_CPU_NATIVE_COMPILE_H
#define JOIST_CORE_CPU_NATIVE_COMPILE_H

#include "core/base/run.h"
#include "core/base/status.h"

/* Sets how texts are compiled: by a shell script whose arguments are the source file and the
 * object, both in `folder`, and the compiler's flags for the instruction set. Objects that other
 * processes left there for the same script are used. The strings are copied. If `script` is NULL,
 * nothing is compiled, for the reason `why`. */
void joist_native_configure(const char *script, const char *folder, const char *why);
bool joist_native_is_configured(void);

struct joist_native_entry;

/* The entry of a text, which is copied and never freed; NULL when memory is out. If `wide`, code is
 * used only if the compiler reports that it vectorized all loops marked for it. */
struct joist_native_entry *joist_native_entry_of(const char *text, bool wide);

/* The function that the text defines, NULL until it is compiled. If `compiles`, starts the compiler
 * unless it was started before; the policy JOIST_NATIVE_WAIT then waits until it ends. Fails with
 * JOIST_INTERRUPTED. */
joist_status joist_native_function(struct joist_native_entry *entry, bool compiles,
                                   const struct joist_run *run, void **function,
                                   struct joist_error *error) JOIST_MUST_CHECK;

/* Whether the function may still come. */
bool joist_native_may_come(const struct joist_native_entry *entry);

/* Kills the compilers that run. */
void joist_native_stop(void);

struct joist_native_figures {
  long compiled, compiling, failed;
  const char *why; /* the latest failure, "" for none */
};
struct joist_native_figures joist_native_figures(void);

#endif
