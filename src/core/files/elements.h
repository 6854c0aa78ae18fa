/* The elements of an array as they lie in a file: in the order of the machine or the other one,
 * with the first extent the fastest, as in memory, or the last one, as in C. */
#ifndef JOIST_CORE_FILES_ELEMENTS_H
#define JOIST_CORE_FILES_ELEMENTS_H

#include "core/base/file.h"
#include "core/base/run.h"
#include "core/types/error.h"

struct joist_elements {
  joist_dtype dtype;
  bool swapped; /* bytes in the other order than this machine's */
  bool c_order; /* the last extent is the fastest */
  /* Bits of an element where elements follow each other without gaps, see core/files/packed.h; 0
   * where each has its own bytes. All of them together fill whole bytes. */
  unsigned packed;
  /* Bytes of an element of a type without a dtype: `dtype` is ui8, `shape` and `count` are of the
   * elements. 0 for others. */
  size_t unit;
  struct joist_shape shape;
  size_t count;
  uint64_t start; /* where they begin, in bytes */
  size_t slab;    /* bytes that are transposed at a time, 16 or more; 0 for what is fast */
};

/* Fills the count and checks it: of what a file of so many bytes can hold from `start` on, or
 * exactly fills if it must be `whole`. `format` is a constant, as "npy". */
joist_status joist_elements_check(const char *format, struct joist_elements *elements,
                                  uint64_t size, bool whole,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* The bytes that the elements take in a file. */
uint64_t joist_elements_bytes(const struct joist_elements *elements);

/* The same bytes seen with the extents and the order turned around. */
void joist_elements_reverse(struct joist_elements *elements);

/* Whether the bytes can be used as elements in memory without any change. False for bool, whose
 * bytes have to be checked, and for dtypes with unused bits, which may be anything in a file. */
bool joist_elements_are_memory(const struct joist_elements *elements);
/* Whether reading or writing them takes memory of the pool, to turn bytes or dims around or to
 * clear unused bits. */
bool joist_elements_move(const struct joist_elements *elements);

/* Reads them out of a file or, where that is NULL, of bytes in memory. */
joist_status joist_elements_read(const struct joist_elements *elements,
                                 const struct joist_file *file, const unsigned char *bytes,
                                 void *to, const struct joist_run *run,
                                 struct joist_error *error) JOIST_MUST_CHECK;

/* Writes them at the end of a file or, where that is NULL, to memory. `start` is not looked at. */
joist_status joist_elements_write(const struct joist_elements *elements, const void *from,
                                  const struct joist_output *output, unsigned char *bytes,
                                  const struct joist_run *run,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* Moves `unit` bytes per element, which lie in the order of C, to the order of memory. */
joist_status joist_elements_turn(size_t unit, const struct joist_shape *shape, const void *from,
                                 void *to, const struct joist_run *run,
                                 struct joist_error *error) JOIST_MUST_CHECK;

/* An error of the operating system: what failed ("read", "write"), and joist_file_message(). */
joist_status joist_file_fail(const char *verb, const char *path, int code,
                             struct joist_error *error);

#endif
