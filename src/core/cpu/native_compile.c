/* Entries, files and processes. */
#include "core/cpu/native_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/bits.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/parallel.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/codegen/native.h"
#include "core/kernels/kernels.h"

enum {
  BUCKETS = 256,
  AT_ONCE = 2,       /* processes */
  SECONDS_MOST = 60, /* that a compiler may take */
  FAILURES_MOST = 8, /* without a success: then no more is tried */
  WHY_BYTES = 512
};
#define LOG ".so.log" /* output of the compiler */

typedef enum { NEW, COMPILING, READY, FAILED } state;

struct joist_native_entry {
  struct joist_native_entry *next;
  uint64_t hash;
  size_t kernels; /* number of the instruction set */
  state state;
  bool wide;   /* see joist_native_entry_of() */
  bool sought; /* among the objects of others */
  joist_process process;
  time_t started; /* or when another process was first seen to be at work on it, 0 for never */
  time_t looked;  /* when that process was last looked for */
  void *function;
  char text[];
};

static struct joist_native_entry *buckets[BUCKETS];
static struct {
  char *script, *folder;
  long owner; /* the process that may start others: not a fork of it */
  long compiled, compiling, failed, since_success;
  char why[WHY_BYTES];
} cache;

static void say_why(const char *what, const char *detail) {
  snprintf(cache.why, sizeof cache.why, "%s%s%s", what, *detail == '\0' ? "" : ": ", detail);
  for (char *c = cache.why; *c != '\0'; c++)
    if (*c == '\n') *c = ' ';
}

static char *copied(const char *text) {
  const size_t bytes = text == NULL ? 0 : strlen(text) + 1;
  char *const copy = text == NULL ? NULL : malloc(bytes);
  if (copy != NULL) memcpy(copy, text, bytes);
  return copy;
}

void joist_native_configure(const char *script, const char *folder, const char *why) {
  free(cache.script);
  free(cache.folder);
  cache.script = copied(script);
  cache.folder = copied(folder);
  cache.owner = joist_process_self();
  cache.since_success = 0;
  if (why != NULL) say_why(why, "");
}

bool joist_native_is_configured(void) {
  return cache.script != NULL && cache.folder != NULL && cache.owner == joist_process_self() &&
         cache.since_success < FAILURES_MOST;
}

static uint64_t hash_of(const char *text, uint64_t hash) {
  for (; *text != '\0'; text++) hash = joist_hash_word(hash, (unsigned char)*text);
  return hash;
}

struct joist_native_entry *joist_native_entry_of(const char *text, bool wide) {
  const size_t kernels = joist_kernels_number();
  const uint64_t hash = hash_of(text, kernels);
  struct joist_native_entry **const bucket = &buckets[hash % BUCKETS];
  for (struct joist_native_entry *e = *bucket; e != NULL; e = e->next)
    if (e->hash == hash && e->kernels == kernels && strcmp(e->text, text) == 0) return e;
  const size_t bytes = strlen(text) + 1;
  struct joist_native_entry *const made = calloc(1, sizeof *made + bytes);
  if (made == NULL) return NULL;
  memcpy(made->text, text, bytes);
  made->wide = wide;
  made->hash = hash;
  made->kernels = kernels;
  made->next = *bucket;
  return *bucket = made;
}

/* ---- files ---- */

/* The name of a file of the entry. Objects of another script have another name. */
static char *path_of(const struct joist_native_entry *entry, const char *ending) {
  struct joist_text path = {0};
  joist_text_add(&path, "%s/joist-%016llx%016llx%s", cache.folder, (unsigned long long)entry->hash,
                 (unsigned long long)hash_of(
                     entry->text, hash_of(cache.script, hash_of(joist_kernels_flags(), 1))),
                 ending);
  return path.data;
}

static int write_source(const struct joist_native_entry *entry, const char *path) {
  struct joist_output file;
  int code = joist_output_open(path, &file);
  if (code != 0) return code;
  code = joist_output_write(&file, entry->text, strlen(entry->text));
  if (code == 0) return joist_output_finish(&file);
  joist_output_discard(&file);
  return code;
}

/* The contents of a file of the entry, for the caller to free; NULL without one. */
static char *contents_of(const struct joist_native_entry *entry, const char *ending) {
  char *const path = path_of(entry, ending), *contents = NULL;
  struct joist_file file;
  if (path != NULL && joist_file_open(path, &file) == 0) {
    const size_t bytes = (size_t)file.size;
    contents = malloc(bytes + 1);
    if (contents != NULL && joist_file_read(&file, 0, contents, bytes) == 0) {
      contents[bytes] = '\0';
    } else {
      free(contents);
      contents = NULL;
    }
    joist_file_close(&file);
  }
  free(path);
  return contents;
}

static bool has_object(const struct joist_native_entry *entry) {
  char *const path = path_of(entry, ".so");
  struct joist_file file;
  const bool found = path != NULL && joist_file_open(path, &file) == 0;
  if (found) joist_file_close(&file);
  free(path);
  return found;
}

/* Whether the source is there: its object is, too, or a process is making it. */
static bool has_source(const struct joist_native_entry *entry) {
  char *const source = contents_of(entry, ".c");
  const bool same = source != NULL && strcmp(source, entry->text) == 0;
  free(source);
  return same;
}

static void remove_source(const struct joist_native_entry *entry) {
  char *const path = path_of(entry, ".c");
  if (path != NULL) remove(path);
  free(path);
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

/* Whether the compiler was asked to say which loops it made vector code of, and left one out. It
 * names the line of each, some of them several times, one after the other. */
static bool is_scalar_code(const struct joist_native_entry *entry) {
  if (strstr(cache.script, "-fopt-info-vec") == NULL) return false;
  char *const log = contents_of(entry, LOG);
  size_t lines = 0, latest = 0;
  for (const char *at = log; at != NULL; at = strchr(at, '\n')) {
    if (*at == '\n') at++;
    const char *const name = strstr(at, ".c:"), *const said = strstr(at, "loop vectorized");
    const char *const end = strchr(at, '\n');
    if (name == NULL || said == NULL || (end != NULL && (said > end || name > end))) continue;
    const size_t line = strtoul(name + 3, NULL, 10);
    lines += line != latest;
    latest = line;
  }
  free(log);
  return lines < count_of(entry->text, "JOIST_VECTORIZE_LOOP");
}

/* ---- states ---- */

static void fail(struct joist_native_entry *entry) {
  entry->state = FAILED;
  cache.failed++;
  cache.since_success++;
  remove_source(entry); /* no other process is to wait for its object */
}

static bool load(struct joist_native_entry *entry) {
  char *const path = path_of(entry, ".so");
  const char *why = "memory is out";
  if (path != NULL) entry->function = joist_library_function(path, JOIST_NATIVE_NAME, &why);
  free(path);
  if (entry->function == NULL) {
    say_why("the compiled code cannot be loaded", why == NULL ? "" : why);
    return false;
  }
  entry->state = READY;
  cache.compiled++;
  cache.since_success = 0;
  return true;
}

/* Takes an object, unless it is of no use. False if it cannot be loaded. */
static bool accept(struct joist_native_entry *entry) {
  if (!entry->wide || !is_scalar_code(entry)) return load(entry);
  entry->state = FAILED; /* not counted: nothing is wrong */
  return true;
}

static void compile(struct joist_native_entry *entry, const char *source, const char *object) {
  const int code = write_source(entry, source);
  if (code != 0) {
    say_why("the source of compiled code cannot be written", joist_file_message(code));
    fail(entry);
    return;
  }
  entry->process = joist_process_start(
      cache.script,
      (const char *const[]){source, object, joist_kernels_flags(), entry->wide ? "wide" : ""});
  entry->started = time(NULL);
  if (entry->process == 0) {
    say_why("no process can be started", "");
    fail(entry);
    return;
  }
  entry->state = COMPILING;
  cache.compiling++;
}

/* Takes the object that another process has made, or else starts the compiler, if `compiles`.
 * Unless the caller `waits`, one that another process has started gets a minute. */
static void start(struct joist_native_entry *entry, bool compiles, bool waits) {
  const time_t now = time(NULL);
  if (entry->sought && (!compiles || entry->looked == now)) return;
  const bool same = has_source(entry), made = same && has_object(entry);
  if (made && accept(entry)) return;
  entry->sought = true;
  if (!compiles) return;
  if (same && !made && !waits) {
    if (entry->started == 0) entry->started = now;
    entry->looked = now;
    if (now - entry->started <= SECONDS_MOST) return;
  }
  char *const source = path_of(entry, ".c"), *const object = path_of(entry, ".so");
  if (source != NULL && object != NULL) compile(entry, source, object);
  free(source);
  free(object);
}

/* Somebody else in this process may have asked how the compiler ended; the object is there only
 * where it did well. */
static void end(struct joist_native_entry *entry, joist_process_state how) {
  cache.compiling--;
  if (how == JOIST_PROCESS_DONE || has_object(entry)) {
    if (accept(entry)) return;
    fail(entry);
    /* As will be all of a folder that may not hold programs. */
    if (cache.compiled == 0) cache.since_success = FAILURES_MOST;
    return;
  }
  char *const log = contents_of(entry, LOG);
  say_why("the compiler failed", log == NULL ? "" : log);
  free(log);
  fail(entry);
}

static void look(struct joist_native_entry *entry) {
  const joist_process_state how = joist_process_look(entry->process);
  if (how != JOIST_PROCESS_RUNNING) {
    end(entry, how);
  } else if (time(NULL) - entry->started > SECONDS_MOST) {
    joist_process_stop(entry->process);
    cache.compiling--;
    say_why("the compiler took more than a minute", "");
    fail(entry);
  }
}

/* What has ended makes room for others. */
static void look_at_all(void) {
  for (size_t k = 0; k < BUCKETS && cache.compiling > 0; k++)
    for (struct joist_native_entry *e = buckets[k]; e != NULL; e = e->next)
      if (e->state == COMPILING) look(e);
}

joist_status joist_native_function(struct joist_native_entry *entry, bool compiles,
                                   const struct joist_run *run, void **function,
                                   struct joist_error *error) {
  joist_status status = JOIST_OK;
  if (entry->state == NEW && cache.compiling >= AT_ONCE && joist_native_is_configured())
    look_at_all();
  if (entry->state == NEW && joist_native_is_configured() &&
      (cache.compiling < AT_ONCE || run->native == JOIST_NATIVE_WAIT))
    start(entry, compiles, run->native == JOIST_NATIVE_WAIT);
  else if (entry->state == COMPILING && joist_native_is_configured())
    look(entry);
  while (run->native == JOIST_NATIVE_WAIT && entry->state == COMPILING && status == JOIST_OK) {
    joist_sleep_millisecond();
    look(entry);
    status = joist_run_poll(run, error);
  }
  *function = entry->function;
  return status;
}

bool joist_native_may_come(const struct joist_native_entry *entry) {
  return entry->state != FAILED && (entry->state == READY || joist_native_is_configured());
}

void joist_native_stop(void) {
  if (cache.owner != joist_process_self()) return;
  for (size_t k = 0; k < BUCKETS; k++)
    for (struct joist_native_entry *e = buckets[k]; e != NULL; e = e->next)
      if (e->state == COMPILING) {
        joist_process_stop(e->process);
        remove_source(e);
        cache.compiling--;
        e->state = NEW;
      }
}

struct joist_native_figures joist_native_figures(void) {
  return (struct joist_native_figures){cache.compiled, cache.compiling, cache.failed, cache.why};
}
