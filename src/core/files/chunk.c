/* Chunks in files: by as many threads as there are chunks where one does not need them all. */
#include "core/files/chunk.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/ops/move/walk.h"
#include "core/types/host.h"

/* Additions' worth of a byte: of a file, and packed. */
enum { FILE_WORK = 2, PACKED_WORK = 16 };

struct working {
  const struct joist_chunk_format *format;
  struct joist_chunk *chunks;
  const struct joist_run *run; /* of what is done within a chunk */
  size_t bytes, room;          /* of the elements; of each of two scratch areas of a worker */
  char *scratch;
};

static char *scratch_of(const struct working *w, size_t worker, size_t k) {
  return w->scratch + (2 * worker + k % 2) * w->room;
}

/* Unpacks the first scratch area, at least its first `wanted` bytes: into `data`, unless that is
 * NULL or the elements must be converted afterwards. Returns where the elements are, or NULL if the
 * bytes are invalid. */
static const char *unpacked(const struct working *w, size_t worker, size_t n, void *data,
                            size_t wanted) {
  const struct joist_chunk_format *const format = w->format;
  const bool straight = data != NULL && joist_elements_are_memory(&format->elements);
  const char *from = scratch_of(w, worker, 0);
  for (size_t k = format->codecs, turn = 1; k-- > 0; turn++) {
    const bool last = k == 0 && straight;
    char *const to = last ? data : scratch_of(w, worker, turn);
    if (k == 0 && wanted < w->bytes && format->codec[0]->unpack_first != NULL &&
        format->codec[0]->unpack_first(from, n, to, wanted, w->bytes))
      return to;
    if (!format->codec[k]->unpack(from, n, to, last ? w->bytes : w->room, &n)) return NULL;
    from = to;
  }
  return n == w->bytes ? from : NULL;
}

struct joist_elements joist_chunk_box(const struct joist_chunk_format *format,
                                      const struct joist_chunk *chunk) {
  struct joist_elements elements = format->elements;
  if (chunk->low == NULL) return elements;
  elements.shape = chunk->box;
  elements.count = 1;
  for (int d = 0; d < chunk->box.rank; d++) elements.count *= chunk->box.extent[d];
  return elements;
}

/* A box of a chunk in the order in which its elements are stored: it lies within the `span`
 * elements that begin at `first`. */
struct box {
  struct joist_elements elements;
  struct joist_walk walk; /* from the first of them, to the box in the same order */
  size_t first, span;
};

static void find_box(const struct joist_chunk_format *format, const struct joist_chunk *chunk,
                     struct box *box) {
  int64_t in = 1, out = 1;
  *box = (struct box){.elements = joist_chunk_box(format, chunk), .span = 1};
  joist_walk_init(&box->walk, false);
  for (int k = 0; k < chunk->box.rank; k++) {
    const int d = format->elements.c_order ? chunk->box.rank - 1 - k : k;
    joist_walk_add(&box->walk, chunk->box.extent[d], in, out, NULL);
    box->first += chunk->low[d] * (size_t)in;
    box->span += (chunk->box.extent[d] - 1) * (size_t)in;
    in *= (int64_t)format->elements.shape.extent[d];
    out *= (int64_t)chunk->box.extent[d];
  }
}

/* Reads a box of the n bytes that a chunk has in a file. */
static bool read_box(const struct working *w, size_t worker, const struct joist_file *file,
                     uint64_t from, size_t n, const struct joist_chunk *chunk) {
  struct box box;
  find_box(w->format, chunk, &box);
  const size_t size = joist_dtype_size(box.elements.dtype);
  char *const scratch = scratch_of(w, worker, 0);
  const char *start = scratch;
  if (w->format->codecs == 0) {
    from += box.first * size;
    if (n != w->bytes || joist_file_read(file, from, scratch, box.span * size) != 0) return false;
  } else {
    if (joist_file_read(file, from, scratch, n) != 0) return false;
    start = unpacked(w, worker, n, NULL, (box.first + box.span) * size);
    if (start == NULL) return false;
  }
  const bool straight = joist_elements_are_memory(&box.elements);
  char *const to = straight ? chunk->data : scratch_of(w, worker, start == scratch);
  if (w->format->codecs > 0) start += box.first * size;
  return joist_move(size, &box.walk, start, to, w->run, NULL) == JOIST_OK &&
         (straight || joist_elements_read(&box.elements, NULL, (const unsigned char *)to,
                                          chunk->data, w->run, NULL) == JOIST_OK);
}

static bool read_file(const struct working *w, size_t worker, const struct joist_file *file,
                      const struct joist_chunk *chunk) {
  const struct joist_chunk_format *const format = w->format;
  const bool whole = chunk->size == SIZE_MAX;
  const uint64_t from = whole ? 0 : chunk->from, size = whole ? file->size : chunk->size;
  if (from > file->size || size > file->size - from) return false;
  const size_t n = (size_t)size;
  if (format->codecs > 0 && size > w->room) return false;
  if (chunk->low != NULL) return read_box(w, worker, file, from, n, chunk);
  if (format->codecs == 0) {
    struct joist_elements elements = format->elements;
    elements.start = from;
    return size == w->bytes &&
           joist_elements_read(&elements, file, NULL, chunk->data, w->run, NULL) == JOIST_OK;
  }
  if (joist_file_read(file, from, scratch_of(w, worker, 0), n) != 0) return false;
  const char *const bytes = unpacked(w, worker, n, chunk->data, w->bytes);
  return bytes == chunk->data ||
         (bytes != NULL &&
          joist_elements_read(&format->elements, NULL, (const unsigned char *)bytes, chunk->data,
                              w->run, NULL) == JOIST_OK);
}

static void read_chunk(const void *context, size_t task, size_t worker) {
  const struct working *const w = context;
  struct joist_chunk *const chunk = &w->chunks[task];
  struct joist_file file;
  const int code = joist_file_open(chunk->path, &file);
  chunk->state = code == ENOENT ? JOIST_CHUNK_ABSENT : JOIST_CHUNK_ODD;
  if (code != 0) return;
  if (read_file(w, worker, &file, chunk)) chunk->state = JOIST_CHUNK_DONE;
  joist_file_close(&file);
}

/* The bytes of a chunk; NULL where a codec fails. */
static const void *packed(const struct working *w, size_t worker, const void *data, size_t *n) {
  const struct joist_chunk_format *const format = w->format;
  const struct joist_elements *const elements = &format->elements;
  const void *from = data;
  size_t turn = 0;
  *n = w->bytes;
  if (joist_elements_move(elements)) {
    char *const to = scratch_of(w, worker, turn++);
    if (joist_elements_write(elements, data, NULL, (unsigned char *)to, w->run, NULL) != JOIST_OK)
      return NULL;
    from = to;
  }
  for (size_t k = 0; k < format->codecs; k++, turn++) {
    char *const to = scratch_of(w, worker, turn);
    if (!format->codec[k]->pack(from, *n, joist_dtype_size(elements->dtype), to, w->room, n))
      return NULL;
    from = to;
  }
  return from;
}

static void write_chunk(const void *context, size_t task, size_t worker) {
  const struct working *const w = context;
  struct joist_chunk *const chunk = &w->chunks[task];
  struct joist_output output;
  size_t n;
  chunk->state = JOIST_CHUNK_ODD;
  chunk->code = 0;
  const void *const bytes = packed(w, worker, chunk->data, &n);
  if (bytes == NULL) return;
  chunk->code = joist_output_open(chunk->path, &output);
  if (chunk->code != 0) return;
  chunk->code = joist_output_write(&output, bytes, n);
  if (chunk->code == 0)
    chunk->code = joist_output_finish(&output);
  else
    joist_output_discard(&output);
  if (chunk->code == 0) chunk->state = JOIST_CHUNK_DONE;
}

static void pack_chunk(const void *context, size_t task, size_t worker) {
  const struct working *const w = context;
  struct joist_chunk *const chunk = &w->chunks[task];
  const void *const bytes = packed(w, worker, chunk->data, &chunk->size);
  chunk->state = bytes != NULL ? JOIST_CHUNK_DONE : JOIST_CHUNK_ODD;
  if (bytes != NULL && chunk->size > 0) memcpy(chunk->packed, bytes, chunk->size);
}

/* What packing takes at most, step by step; another library's packing may take a little more. */
static size_t room_for(const struct joist_chunk_format *format, size_t bytes) {
  size_t room = bytes;
  for (size_t k = 0; k < format->codecs; k++) room = format->codec[k]->bound(room);
  return joist_round_up(room + room / 8 + 4096, JOIST_POOL_ALIGNMENT);
}

static size_t bytes_of(const struct joist_chunk_format *format) {
  return format->elements.count * joist_dtype_size(format->elements.dtype);
}

size_t joist_chunk_room(const struct joist_chunk_format *format) {
  return room_for(format, bytes_of(format));
}

static joist_status work(const struct joist_chunk_format *format, struct joist_chunk *chunks,
                         size_t count, joist_task *task, const struct joist_run *run,
                         struct joist_error *error) {
  const struct joist_run alone = {.threads = 1};
  struct working w = {.format = format, .chunks = chunks, .run = &alone};
  w.bytes = bytes_of(format);
  /* What moves bytes within a chunk takes memory of the pool, which has one owner. */
  bool moves = false, boxes = false;
  size_t most = 0;
  for (size_t k = 0; k < count; k++) {
    const struct joist_elements elements = joist_chunk_box(format, &chunks[k]);
    moves |= joist_elements_move(&elements);
    boxes |= chunks[k].low != NULL;
    if (elements.count > most) most = elements.count;
  }
  const size_t each = format->codecs > 0
                          ? w.bytes * PACKED_WORK
                          : most * joist_dtype_size(format->elements.dtype) * FILE_WORK;
  const int threads = moves ? 1 : joist_threads_for(run, each * count, count);
  if (moves) w.run = run;
  const bool packs = format->codecs > 0 || moves || boxes;
  if (packs) {
    w.room = room_for(format, w.bytes);
    w.scratch = joist_scratch_allocate(2 * w.room * (size_t)threads);
    if (w.scratch == NULL)
      return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = 2 * w.room * (size_t)threads);
  }
  const joist_status status = joist_tasks_run_on(run, threads, count, each, task, &w, error);
  if (packs) joist_scratch_free(w.scratch);
  return status;
}

joist_status joist_chunks_read(const struct joist_chunk_format *format, struct joist_chunk *chunks,
                               size_t count, const struct joist_run *run,
                               struct joist_error *error) {
  return work(format, chunks, count, read_chunk, run, error);
}

joist_status joist_chunks_write(const struct joist_chunk_format *format, struct joist_chunk *chunks,
                                size_t count, const struct joist_run *run,
                                struct joist_error *error) {
  return work(format, chunks, count, write_chunk, run, error);
}

joist_status joist_chunks_pack(const struct joist_chunk_format *format, struct joist_chunk *chunks,
                               size_t count, const struct joist_run *run,
                               struct joist_error *error) {
  return work(format, chunks, count, pack_chunk, run, error);
}

joist_status joist_shard_index(const unsigned char *bytes, size_t count, bool swapped,
                               double *index, struct joist_error *error) {
  const joist_status status =
      joist_read_bytes(JOIST_UI64, bytes, 2 * count, swapped, index, NULL, error);
  for (size_t k = 0; k < count && status == JOIST_OK; k++, index += 2) {
    uint64_t word[2];
    memcpy(word, index, sizeof word);
    const bool none = word[0] == UINT64_MAX && word[1] == UINT64_MAX;
    for (int end = 0; end < 2; end++) index[end] = none ? NAN : (double)word[end];
  }
  return status;
}
