/* The cache of compiled kernels, whose keys are what the kernels are compiled from. */
#include "cuda/codegen/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/codegen/generate.h"

/* Element steps after which compiling is worth it (about a tenth of a second, in which the
 * interpreter should do some 1e9), and how many a launch counts for: what is small is compiled
 * when it comes often. */
#define WORTH 256e6
#define LAUNCH 1e6

/* Programs that are remembered: where there are more, most have come once. */
enum { ENTRIES_MAX = 1 << 14 };

struct entry {
  struct entry *next;
  uint64_t hash;
  size_t length;
  double work; /* done so far */
  bool tried;
  struct joist_cuda_compiled *compiled; /* NULL: not yet, or it cannot be */
  unsigned char key[];
};

enum { BUCKETS = 1024 };
static struct entry *buckets[BUCKETS];
static size_t entry_count;
static joist_cuda_policy policy;
static bool policy_known;
static struct joist_cuda_compilation compilation;

void joist_cuda_set_policy(joist_cuda_policy wanted) {
  policy = wanted;
  policy_known = true;
}

static joist_cuda_policy current_policy(void) {
  if (!policy_known) {
    const char *const text = getenv("JOIST_CUDA_COMPILE");
    const bool set = text != NULL;
    joist_cuda_set_policy(set && strcmp(text, "always") == 0  ? JOIST_CUDA_COMPILE_ALWAYS
                          : set && strcmp(text, "never") == 0 ? JOIST_CUDA_COMPILE_NEVER
                                                              : JOIST_CUDA_COMPILE_AUTO);
  }
  return policy;
}

const struct joist_cuda_compilation *joist_cuda_compilation(void) { return &compilation; }

void joist_cuda_describe_compiled(char *text, size_t size) {
  const size_t length = strlen(text);
  if (compilation.failed == 0) return;
  snprintf(text + length, size - length, "; %ld of %ld kernels could not be compiled: %s",
           compilation.failed, compilation.compiled + compilation.failed, compilation.log);
  for (char *c = text + length; *c != '\0'; c++)
    if (*c == '\n') *c = ' ';
}

/* Compiled ones stay: their kernels are not given back. */
static void forget_uncompiled(void) {
  for (size_t k = 0; k < BUCKETS; k++)
    for (struct entry **at = &buckets[k]; *at != NULL;) {
      struct entry *const entry = *at;
      if (entry->compiled != NULL) {
        at = &entry->next;
        continue;
      }
      *at = entry->next;
      free(entry);
      entry_count--;
    }
}

/* As FNV-1a, but by words: keys consist of whole ones. */
static uint64_t hash_of(const void *key, size_t length) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
  for (size_t k = 0; k < length; k += sizeof word) {
    memcpy(&word, (const char *)key + k, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

static struct entry *entry_of(const void *key, size_t length) {
  const uint64_t hash = hash_of(key, length);
  struct entry **const bucket = &buckets[hash % BUCKETS];
  for (struct entry *e = *bucket; e != NULL; e = e->next)
    if (e->hash == hash && e->length == length && memcmp(e->key, key, length) == 0) return e;
  if (entry_count >= ENTRIES_MAX) forget_uncompiled();
  struct entry *const made = calloc(1, sizeof *made + length);
  if (made == NULL) return NULL;
  entry_count++;
  made->hash = hash;
  made->length = length;
  memcpy(made->key, key, length);
  made->next = *bucket;
  return *bucket = made;
}

void joist_cuda_forget(void) {
  for (size_t k = 0; k < BUCKETS; k++)
    while (buckets[k] != NULL) {
      struct entry *const first = buckets[k];
      buckets[k] = first->next;
      free(first);
    }
  entry_count = 0;
}

size_t joist_cuda_remembered(void) { return entry_count; }

static bool should_compile(struct entry *entry, double work) {
  if (current_policy() == JOIST_CUDA_COMPILE_NEVER || entry == NULL || entry->tried) return false;
  entry->work += work + LAUNCH;
  return current_policy() == JOIST_CUDA_COMPILE_ALWAYS || entry->work >= WORTH;
}

/* Compiles `kernel` (freed here) behind the prelude. Once, but for want of memory. */
static void compile(const struct joist_cuda_state *state, struct entry *entry, char *kernel) {
  const char *const prelude = joist_cuda_prelude();
  const size_t length = kernel == NULL ? 0 : strlen(prelude) + strlen(kernel) + 1;
  char *const source = kernel == NULL ? NULL : malloc(length);
  joist_status status = JOIST_ERROR_MEMORY;
  if (source != NULL) {
    snprintf(source, length, "%s%s", prelude, kernel);
    status = joist_cuda_load(source, state->architecture, &entry->compiled, compilation.log,
                             sizeof compilation.log);
  }
  entry->tried = status != JOIST_ERROR_MEMORY;
  entry->work = 0;
  compilation.compiled += status == JOIST_OK;
  compilation.failed += status != JOIST_OK && status != JOIST_ERROR_MEMORY;
  free(source);
  free(kernel);
}

struct joist_cuda_compiled *joist_cuda_kernel_of(const struct joist_cuda_state *state,
                                                 const struct joist_code *code, double work) {
  struct {
    int32_t counts[6];
    struct joist_code_step step[JOIST_CODE_STEPS];
  } key;
  const size_t bytes = code->step_count * sizeof *code->steps;
  if (current_policy() == JOIST_CUDA_COMPILE_NEVER) return NULL;
  key.counts[0] = state->ordinal;
  key.counts[1] = (int32_t)code->array_count;
  key.counts[2] = (int32_t)code->gather_count;
  key.counts[3] = (int32_t)code->rank;
  key.counts[4] = code->rows ? -(int32_t)code->sink_count : (int32_t)code->sink_count;
  key.counts[5] = (int32_t)code->step_count;
  memcpy(key.step, code->steps, bytes);
  struct entry *const entry = entry_of(&key, sizeof key.counts + bytes);
  if (should_compile(entry, work))
    compile(state, entry, joist_cuda_generate(code, JOIST_CUDA_GENERATED));
  return entry == NULL ? NULL : entry->compiled;
}

struct joist_cuda_compiled *joist_cuda_pass_of(const struct joist_cuda_state *state,
                                               joist_op combine, joist_dtype from,
                                               joist_dtype accumulator, double work) {
  const int key[] = {-1 - state->ordinal, (int)combine, (int)from, (int)accumulator};
  if (current_policy() == JOIST_CUDA_COMPILE_NEVER) return NULL;
  struct entry *const entry = entry_of(key, sizeof key);
  if (should_compile(entry, work))
    compile(state, entry,
            joist_cuda_generate_pass(combine, from, accumulator, JOIST_CUDA_GENERATED));
  return entry == NULL ? NULL : entry->compiled;
}
