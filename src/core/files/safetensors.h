/* The headers of safetensors files: <https://github.com/huggingface/safetensors>, "Format". */
#ifndef JOIST_CORE_FILES_SAFETENSORS_H
#define JOIST_CORE_FILES_SAFETENSORS_H

#include "core/files/elements.h"

enum { JOIST_SAFETENSORS_PREFIX = 8 /* bytes that tell how long the header is */ };

struct joist_safetensor {
  const char *name; /* UTF-8, without NUL inside */
  /* The dtype is JOIST_DTYPE_NONE where `type` has none here: of a later version of the format.
   * Then `unit` is 0 if the elements do not have the same number of bytes. */
  struct joist_elements elements;
  const char *type; /* as the file spells it */
  uint64_t bytes;
};

struct joist_safetensors_pair {
  const char *key, *value;
};

/* The contents of a header; all zero is empty. Owns everything that it points to. */
struct joist_safetensors {
  size_t count, metadata_count;
  struct joist_safetensor *tensors; /* in the order of the header */
  struct joist_safetensors_pair *metadata;
  char *text; /* names and the like */
};

/* How long the header is, the prefix included, by the first bytes of a file of `size` bytes. */
joist_status joist_safetensors_length(const unsigned char *bytes, size_t count, uint64_t size,
                                      size_t *length, struct joist_error *error) JOIST_MUST_CHECK;

/* Reads a header of that length. Where it succeeds, the tensors lie side by side, fill the rest of
 * a file of `size` bytes and have different names. Free the result also where it fails. */
joist_status joist_safetensors_parse(const unsigned char *header, size_t length, uint64_t size,
                                     struct joist_safetensors *result,
                                     struct joist_error *error) JOIST_MUST_CHECK;
void joist_safetensors_free(struct joist_safetensors *result);

/* Makes a header of tensors, of which only names, dtypes and shapes are looked at, and sets the
 * rest: larger elements come first, so that all are aligned. `order` gets which tensor comes when,
 * `header` memory that the caller frees. */
joist_status joist_safetensors_format(struct joist_safetensor *tensors, size_t count,
                                      const struct joist_safetensors_pair *metadata,
                                      size_t metadata_count, size_t *order, char **header,
                                      size_t *length, struct joist_error *error) JOIST_MUST_CHECK;

#endif
