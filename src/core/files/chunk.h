/* Chunks of an array, packed or not, in files of their own or as parts of files: read, written and
 * packed several at a time. */
#ifndef JOIST_CORE_FILES_CHUNK_H
#define JOIST_CORE_FILES_CHUNK_H

#include "core/files/compression.h"
#include "core/files/elements.h"

enum { JOIST_CHUNK_CODECS = 8 };

/* What chunks of an array have in common. */
struct joist_chunk_format {
  struct joist_elements elements;
  size_t codecs; /* in the order in which they pack */
  const struct joist_compression *codec[JOIST_CHUNK_CODECS];
};

typedef enum {
  JOIST_CHUNK_DONE,
  JOIST_CHUNK_ABSENT, /* there is no such file */
  JOIST_CHUNK_ODD     /* it cannot be read, or does not fit the format */
} joist_chunk_state;

struct joist_chunk {
  const char *path;
  void *data; /* the elements, in memory's order */
  /* Of reading: where the elements that are wanted begin, from 0 on for each dim, and their
   * extents; NULL for all of them. */
  const uint32_t *low;
  struct joist_shape box;
  /* Where it is in the file that it shares with others; a size of SIZE_MAX for all of the file.
   * joist_chunks_pack() sets the size. */
  uint64_t from;
  size_t size;
  void *packed; /* where joist_chunks_pack() puts its bytes */
  joist_chunk_state state;
  int code; /* of a file that cannot be written: see core/base/file.h */
};

/* The elements that are wanted of a chunk. */
struct joist_elements joist_chunk_box(const struct joist_chunk_format *format,
                                      const struct joist_chunk *chunk);

/* Reads chunks, side by side, and says for each how it went. Fails with JOIST_INTERRUPTED, and
 * where memory is out. */
joist_status joist_chunks_read(const struct joist_chunk_format *format, struct joist_chunk *chunks,
                               size_t count, const struct joist_run *run,
                               struct joist_error *error) JOIST_MUST_CHECK;

/* The index of a shard of so many chunks: the offset and the size of each, which need not be within
 * the file, NaN for one that is not there. */
joist_status joist_shard_index(const unsigned char *bytes, size_t count, bool swapped,
                               double *index, struct joist_error *error) JOIST_MUST_CHECK;

/* Writes chunks, side by side, each with its name only when it is whole. A codec that fails is
 * JOIST_CHUNK_ODD with the code 0. */
joist_status joist_chunks_write(const struct joist_chunk_format *format, struct joist_chunk *chunks,
                                size_t count, const struct joist_run *run,
                                struct joist_error *error) JOIST_MUST_CHECK;

/* The most bytes that a chunk may take when it is packed. */
size_t joist_chunk_room(const struct joist_chunk_format *format);

/* Packs chunks, side by side, each to joist_chunk_room() bytes of its own. One that fails is
 * JOIST_CHUNK_ODD. */
joist_status joist_chunks_pack(const struct joist_chunk_format *format, struct joist_chunk *chunks,
                               size_t count, const struct joist_run *run,
                               struct joist_error *error) JOIST_MUST_CHECK;

#endif
