/* The structures by which libraries of one process hand Arrow arrays to each other, as the Arrow
 * project has published them: https://arrow.apache.org/docs/format/CDataInterface.html. Whoever
 * holds one calls its release(), which then is NULL; a copy whose original says NULL is a move. */
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
