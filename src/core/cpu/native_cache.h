/* Compiled source texts: each is compiled once, by a process of its own, while callers go on with
 * the interpreter. What fails is remembered and not tried again. Only R's thread calls this. */
#ifndef JOIST_CORE_CPU_NATIVE_CACHE_H
#define JOIST_CORE_CPU_NATIVE_CACHE_H

#include "core/base/run.h"
#include "core/base/status.h"

/* Sets how texts are compiled: `script` is one of the shell, with the source file as $1 and the
 * object as $2; both are in `folder`. Where `kept`, objects of earlier sessions in it are used
 * again. The strings are copied. NULL for a script: nothing is compiled, for the reason `why`. */
void joist_native_configure(const char *script, const char *folder, bool kept, const char *why);
bool joist_native_is_configured(void);

struct joist_native_entry;

/* The entry of a text, which is copied; NULL when memory is out. Entries stay. Where `wide`, code
 * is of no use unless the compiler says that it made vector code of all loops that it was asked to.
 */
struct joist_native_entry *joist_native_entry_of(const char *text, bool wide);

/* The function that the text defines, once it is compiled; NULL: not yet, or never. Starts a
 * process for it where there is none, and, for JOIST_NATIVE_WAIT, waits until it ends. Fails with
 * JOIST_INTERRUPTED. */
joist_status joist_native_function(struct joist_native_entry *entry, const struct joist_run *run,
                                   void **function, struct joist_error *error) JOIST_MUST_CHECK;

/* Whether it makes sense to ask again. */
bool joist_native_may_come(const struct joist_native_entry *entry);

/* Ends the processes that run. */
void joist_native_stop(void);

struct joist_native_figures {
  long compiled, compiling, failed;
  const char *why; /* the latest failure, "" for none */
};
struct joist_native_figures joist_native_figures(void);

#endif
