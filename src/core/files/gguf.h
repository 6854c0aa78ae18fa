/* The headers of GGUF files: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. */
#ifndef JOIST_CORE_FILES_GGUF_H
#define JOIST_CORE_FILES_GGUF_H

#include "core/files/elements.h"
#include "core/kernels/blocks.h"

enum { JOIST_GGUF_ALIGNMENT = 32 /* of tensors, in bytes, if a file does not say another one */ };

/* What a value of the metadata is: a number of a dtype, a bool, a string, or an array of these. */
enum { JOIST_GGUF_BOOL = 7, JOIST_GGUF_STRING = 8, JOIST_GGUF_ARRAY = 9 };

/* Where a value lies in the header: `count` items of a type, one unless it is an array. */
struct joist_gguf_value {
  uint32_t type;
  bool is_array;
  uint64_t count;
  size_t at;
};

struct joist_gguf_pair {
  const char *key;
  struct joist_gguf_value value;
};

struct joist_gguf_tensor {
  const char *name;  /* UTF-8, without NUL inside */
  uint32_t code;     /* of its type */
  joist_dtype dtype; /* JOIST_DTYPE_NONE for blocks and where the type is not known */
  joist_block block; /* JOIST_BLOCK_COUNT for others */
  struct joist_shape shape;
  size_t count;
  uint64_t start, bytes; /* of a type that is not known, up to the next tensor */
};

/* The contents of a header; all zero is empty. Owns everything that it points to. */
struct joist_gguf {
  uint32_t version;
  bool swapped;  /* numbers have their bytes in the other order than this machine's */
  bool big;      /* and their big end first */
  size_t needed; /* 0, or more bytes are needed than were there */
  size_t count, pair_count;
  struct joist_gguf_tensor *tensors; /* in the order of the header */
  struct joist_gguf_pair *pairs;
  char *text;
};

/* Reads a header by the first `length` bytes of a file of `size` bytes. If the header is longer,
 * only `needed` is set. Otherwise names and keys are unique, values are within the header, and
 * tensors within the file, where they are aligned and do not overlap. Free the result also if it
 * fails. */
joist_status joist_gguf_parse(const unsigned char *header, size_t length, uint64_t size,
                              struct joist_gguf *result,
                              struct joist_error *error) JOIST_MUST_CHECK;
void joist_gguf_free(struct joist_gguf *result);

/* Steps through the items of an array, or the one of another value, that are strings or arrays:
 * moves `at` behind the item. */
const char *joist_gguf_string(const struct joist_gguf *file, const unsigned char *header,
                              size_t *at, size_t *length);
struct joist_gguf_value joist_gguf_array(const struct joist_gguf *file, const unsigned char *header,
                                         size_t *at);
/* The dtype of items that are numbers. */
joist_dtype joist_gguf_dtype(uint32_t type);

/* The code of tensors of a dtype, or -1. */
int joist_gguf_code(joist_dtype dtype);

/* Bits of an element and the name of the type, in upper case; 0 and NULL if it is not known. */
double joist_gguf_bits(const struct joist_gguf_tensor *tensor);
const char *joist_gguf_type(const struct joist_gguf_tensor *tensor);

#endif
