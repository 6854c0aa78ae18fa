/* The structures by which libraries in one process pass Arrow arrays to each other, as published by
 * the Arrow project: https://arrow.apache.org/docs/format/CDataInterface.html. The holder of a
 * structure calls its release(), which is NULL from then on. To move a structure, copy it and set
 * release to NULL in the original. */
#ifndef JOIST_CORE_EXCHANGE_ARROW_ABI_H
#define JOIST_CORE_EXCHANGE_ARROW_ABI_H

#include <stdint.h>

/* Other headers that define them have the same guard. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif
#endif
