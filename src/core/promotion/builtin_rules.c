/* The built-in promotion rule sets. What they say is in their files, inst/promotion/ID.csv. */
#include "core/promotion/builtin_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/promotion/rules_text.h"
#include "core/types/error.h"

static const char *const ids[] = {"anvil",
                                  "anvl",
                                  "jax",
                                  "jax_x32",
                                  "jax_strict",
                                  "jax_strict_x32",
                                  "jax_lax",
                                  "numpy",
                                  "numpy_legacy",
                                  "cupy",
                                  "dask_legacy",
                                  "torch",
                                  "tensorflow",
                                  "array_api",
                                  "array_api_2024",
                                  "python",
                                  "option0",
                                  "option1",
                                  "option2",
                                  "option3",
                                  "option3_bf16",
                                  "anvl_2026_09",
                                  "array_api_2025",
                                  "arrow",
                                  "base_r",
                                  "c",
                                  "duckdb",
                                  "jax_default",
                                  "julia",
                                  "keras",
                                  "mlx",
                                  "octave",
                                  "paddle",
                                  "polars",
                                  "tensorflow_2",
                                  "tf_numpy_all",
                                  "tf_numpy_legacy",
                                  "tf_numpy_prefer32",
                                  "tf_numpy_safe",
                                  "tinygrad",
                                  "triton",
                                  "numba",
                                  "numba_scalar",
                                  "numexpr",
                                  "pandas",
                                  "pandas_nullable",
                                  "pandas_arrow",
                                  "clickhouse",
                                  "datafusion",
                                  "pytensor",
                                  "taichi",
                                  "halide",
                                  "blosc2",
                                  "postgresql",
                                  "onnxscript",
                                  "ndonnx",
                                  "onnx",
                                  "openvino",
                                  "awkward",
                                  "sparse",
                                  "dask",
                                  "sqlite"};

enum { COUNT = sizeof ids / sizeof *ids };

static char *folder;
static struct joist_rules *sets[COUNT]; /* NULL until they are used */

joist_status joist_rules_init(const char *path, struct joist_error *error) {
  const struct joist_rules *first;
  char *const copy = malloc(strlen(path) + 1);
  if (copy == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  memcpy(copy, path, strlen(path) + 1);
  free(folder);
  folder = copy;
  return joist_rules_get(0, &first, error);
}

size_t joist_rules_count(void) { return COUNT; }

const char *joist_rules_id(size_t index) { return ids[index]; }

/* Reads a file into memory, which the caller frees; returns a code of core/base/file.h. */
static int read_file(const char *path, char **text, size_t *size) {
  struct joist_file file;
  const int failed = joist_file_open(path, &file);
  if (failed != 0) return failed;
  *size = (size_t)file.size;
  *text = malloc(*size + 1);
  const int code = *text == NULL ? ENOMEM : joist_file_read(&file, 0, *text, *size);
  joist_file_close(&file);
  return code;
}

joist_status joist_rules_get(size_t index, const struct joist_rules **rules,
                             struct joist_error *error) {
  *rules = sets[index];
  if (*rules != NULL) return JOIST_OK;
  const size_t length = strlen(folder) + JOIST_NODE_NAME_SIZE + sizeof "/.csv";
  char *const path = malloc(length), *text = NULL;
  struct joist_rules *const made = malloc(sizeof *made);
  size_t size = 0;
  joist_status status = JOIST_OK;
  if (path == NULL || made == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  } else {
    snprintf(path, length, "%s/%s.csv", folder, ids[index]);
    const int code = read_file(path, &text, &size);
    status = code == 0
                 ? joist_rules_read(made, text, size, error)
                 : JOIST_FAIL(error, JOIST_E_RULES_FILE,
                              .text = {joist_quote(path), joist_quote(joist_file_message(code))});
  }
  free(text);
  free(path);
  if (status == JOIST_OK)
    *rules = sets[index] = made;
  else
    free(made);
  return status;
}

const struct joist_rules *joist_rules_at(size_t index) {
  const struct joist_rules *rules;
  return joist_rules_get(index, &rules, NULL) == JOIST_OK ? rules : NULL;
}

const struct joist_rules *joist_rules_find(const char *id) {
  for (size_t k = 0; k < COUNT; k++)
    if (strcmp(id, ids[k]) == 0) return joist_rules_at(k);
  return NULL;
}

bool joist_rules_are_built_in(const struct joist_rules *rules) {
  for (size_t k = 0; k < COUNT; k++)
    if (sets[k] == rules) return true;
  return false;
}
