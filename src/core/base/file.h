/* Files of the operating system: read at any offset, mapped, and written under another name until
 * they are complete. Only this file knows how; it knows nothing of the contents.
 *
 * Functions give 0, an error number of the C library, or one of the codes below. */
#ifndef JOIST_CORE_BASE_FILE_H
#define JOIST_CORE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  JOIST_FILE_SPECIAL = -1, /* not a file of known size: a device, a pipe */
  JOIST_FILE_SHORT = -2,   /* it ended too early */
  JOIST_FILE_NO_MAP = -3   /* this system has no maps */
};

/* A file that is open for reading. */
struct joist_file {
  intptr_t handle;
  uint64_t size;    /* when it was opened, as all that follows */
  int64_t modified; /* nanoseconds since 1970, as exact as the system has them */
  uint64_t device, number;
};

/* Paths are in the encoding of the system, on Windows in UTF-8. */
int joist_file_open(const char *path, struct joist_file *file);
void joist_file_close(struct joist_file *file);
/* So many bytes from a place; several threads may read at once. */
int joist_file_read(const struct joist_file *file, uint64_t from, void *to, size_t bytes);
/* Whether it still has the bytes that it had. */
bool joist_file_is_whole(const struct joist_file *file);

/* All of the file as memory, which can be written to: the file is never changed. Where the file
 * becomes shorter, reading what is gone ends the process. */
int joist_file_map(const struct joist_file *file, void **memory);
void joist_file_unmap(const struct joist_file *file, void *memory);

/* A file that is being written. It has another name, in the same folder, until it is finished; a
 * device or a pipe is written straight. */
struct joist_output {
  intptr_t handle;
  char *path, *temporary; /* the latter is NULL for what is written straight */
};
int joist_output_open(const char *path, struct joist_output *output);
int joist_output_write(const struct joist_output *output, const void *from, size_t bytes);
/* Gives the file its name, in place of one that is there. Closes it in any case. */
int joist_output_finish(struct joist_output *output);
/* Closes and removes what was written. */
void joist_output_discard(struct joist_output *output);

/* What a code means, in words. */
const char *joist_file_message(int code);

#endif
