/* Moves elements between files and memory: straight where they lie alike, otherwise in slabs that
 * stay in cache. */
#include "core/files/elements.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/files/packed.h"
#include "core/ops/move/permute.h"
#include "core/types/host.h"

/* Bytes: of a piece that one thread reads or turns round, which has a whole number of bytes of
 * packed elements, too; of packed elements that are read at a time; of one that is written as it
 * lies, fewer than slow disks take in a second; of a slab that is transposed, least and most; of a
 * line of the caches, which a slab fills if it has so many rows, and the fewest rows. What reading
 * a byte costs, in additions: a file may lie on a slow disk. */
enum {
  PIECE = 2 << 20,
  PACKED = 12 << 10,
  AS_IT_LIES = 64 << 20,
  SLAB_LEAST = 1 << 20,
  SLAB_MOST = 256 << 20,
  LINE = 64,
  ROWS_LEAST = 8,
  WORK = 8
};

joist_status joist_file_fail(const char *verb, const char *path, int code,
                             struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE, .name = {verb},
                    .text = {joist_quote(path), joist_quote(joist_file_message(code))});
}

uint64_t joist_elements_bytes(const struct joist_elements *elements) {
  const uint64_t count = elements->count;
  if (elements->unit > 0) return count * elements->unit;
  if (elements->packed == 0) return count * joist_dtype_size(elements->dtype);
  return count / 8 * elements->packed + count % 8 * elements->packed / 8;
}

joist_status joist_elements_check(const char *format, struct joist_elements *elements,
                                  uint64_t size, bool whole, struct joist_error *error) {
  if (!joist_shape_count(&elements->shape, &elements->count))
    return JOIST_FAIL(error, JOIST_E_FILE_FIELD,
                      .name = {format, "shape", "has more elements than memory can hold"});
  const uint64_t needed = joist_elements_bytes(elements);
  const uint64_t there = size < elements->start ? 0 : size - elements->start;
  if (needed > there || (whole && needed != there))
    return JOIST_FAIL(error, JOIST_E_FILE_SIZE, .name = {format}, .shape = {elements->shape},
                      .type = {{elements->dtype, false}},
                      .number = {(double)needed, (double)there});
  return JOIST_OK;
}

void joist_elements_reverse(struct joist_elements *elements) {
  struct joist_shape *const shape = &elements->shape;
  for (int d = 0; d < shape->rank / 2; d++) {
    const uint32_t extent = shape->extent[d];
    shape->extent[d] = shape->extent[shape->rank - 1 - d];
    shape->extent[shape->rank - 1 - d] = extent;
  }
  elements->c_order = !elements->c_order;
}

/* Whether the order of the dims makes a difference. */
static bool is_transposed(const struct joist_elements *elements) {
  int dims = 0;
  for (int d = 0; d < elements->shape.rank; d++) dims += elements->shape.extent[d] > 1;
  return elements->c_order && dims > 1 && elements->count > 0;
}

static bool is_swapped(const struct joist_elements *elements) {
  return elements->swapped && joist_dtype_size(elements->dtype) > 1;
}

/* Whether bytes have to be looked at, or changed, to be elements. */
static bool is_checked(const struct joist_elements *elements) {
  return elements->dtype == JOIST_BOOL || joist_has_unused_bits(elements->dtype);
}

bool joist_elements_are_memory(const struct joist_elements *elements) {
  return !is_checked(elements) && !is_transposed(elements) && !is_swapped(elements);
}

/* Whether elements in memory have other bits than in a file. */
static bool is_changed(const struct joist_elements *elements) {
  const bool is_signed = joist_dtype_kind(elements->dtype) == JOIST_KIND_INT;
  return is_swapped(elements) || (is_signed && joist_has_unused_bits(elements->dtype));
}

bool joist_elements_move(const struct joist_elements *elements) {
  return is_transposed(elements) || is_changed(elements) || elements->packed > 0;
}

/* ---- reading: parts, by all threads ---- */

struct reading {
  const struct joist_elements *elements;
  const struct joist_file *file;
  const unsigned char *bytes;
  unsigned char *to;
  _Atomic size_t *misfit; /* the first part that went wrong */
};

static int read_at(const struct reading *reading, uint64_t from, void *to, size_t bytes) {
  if (reading->file != NULL) return joist_file_read(reading->file, from, to, bytes);
  memcpy(to, reading->bytes + from, bytes);
  return 0;
}

static int read_packed(const struct reading *reading, size_t first, size_t n, unsigned char *to) {
  const unsigned bits = reading->elements->packed;
  unsigned char packed[PACKED];
  while (n > 0) {
    const size_t some = joist_smaller(n, (PACKED - 2) / bits * 8);
    const uint64_t from = first / 8 * bits + first % 8 * bits / 8;
    const unsigned skip = (unsigned)(first % 8 * bits % 8);
    const size_t bytes = joist_divide_up(skip + some * bits, 8);
    const int code = read_at(reading, reading->elements->start + from, packed, bytes);
    if (code != 0) return code;
    joist_unpack(bits, packed, skip, some, to);
    first += some;
    to += some;
    n -= some;
  }
  return 0;
}

/* Reads n elements from `first` on, in the machine's byte order. Returns 0 or an error code. A part
 * that could be read but has an invalid bool sets `status`. */
static int read_part(const struct reading *reading, size_t first, size_t n, unsigned char *to,
                     joist_status *status, struct joist_error *error) {
  const struct joist_elements *const elements = reading->elements;
  const size_t size = joist_dtype_size(elements->dtype);
  *status = JOIST_OK;
  const int code = elements->packed > 0
                       ? read_packed(reading, first, n, to)
                       : read_at(reading, elements->start + (uint64_t)first * size, to, n * size);
  if (code == 0 && (is_swapped(elements) || is_checked(elements)))
    *status = joist_read_bytes(elements->dtype, to, n, elements->swapped, to, NULL, error);
  return code;
}

/* Reads a part that went wrong once more, to say what is wrong. */
static joist_status explain(const struct reading *reading, size_t first, size_t n,
                            unsigned char *to, struct joist_error *error) {
  joist_status status;
  const int code = read_part(reading, first, n, to, &status, error);
  if (code != 0) return joist_file_fail("read", "", code, error);
  if (status == JOIST_OK) /* it changed meanwhile */
    return joist_file_fail("read", "", JOIST_FILE_SHORT, error);
  if (error != NULL) error->position += first;
  return status;
}

static void read_piece(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct reading *const reading = context;
  const size_t size = joist_dtype_size(reading->elements->dtype), each = PIECE / size;
  const size_t first = task * each, n = joist_smaller(reading->elements->count - first, each);
  joist_status status;
  if (read_part(reading, first, n, reading->to + first * size, &status, NULL) != 0 ||
      status != JOIST_OK)
    joist_lower(reading->misfit, task);
}

static joist_status read_pieces(struct reading *reading, const struct joist_run *run,
                                struct joist_error *error) {
  const size_t count = reading->elements->count;
  const size_t size = joist_dtype_size(reading->elements->dtype), each = PIECE / size;
  if (count == 0) return JOIST_OK;
  _Atomic size_t lowest = SIZE_MAX;
  reading->misfit = &lowest;
  const joist_status status =
      joist_tasks_run(run, joist_divide_up(count, each), WORK * PIECE, read_piece, reading, error);
  const size_t misfit = atomic_load(&lowest);
  if (status != JOIST_OK || misfit == SIZE_MAX) return status;
  const size_t first = misfit * each;
  return explain(reading, first, joist_smaller(count - first, each), reading->to + first * size,
                 error);
}

/* ---- slabs of an array that is transposed on the way ---- */

/* A slab is a part of dim `dim`, all of those behind it, and one place in those before. */
struct slabs {
  const struct joist_shape *shape;
  int dim;
  size_t each;    /* places along dim in a slab */
  size_t row;     /* elements of one place along dim */
  size_t along;   /* slabs along dim */
  size_t count;   /* slabs in all */
  size_t largest; /* elements of a slab */
};

static struct slabs slabs_of(const struct joist_elements *elements) {
  const struct joist_shape *const shape = &elements->shape;
  const size_t size = joist_dtype_size(elements->dtype);
  const size_t least = elements->slab > 0 ? elements->slab : SLAB_LEAST;
  const size_t most = elements->slab > 0 ? elements->slab : SLAB_MOST;
  struct slabs slabs = {.shape = shape, .row = elements->count};
  size_t before = 1;
  for (int d = 0; d < shape->rank; d++) {
    slabs.dim = d;
    slabs.row /= shape->extent[d];
    if (slabs.row * size <= most) break;
    before *= shape->extent[d];
  }
  const size_t rows = size < LINE / ROWS_LEAST ? LINE / size : ROWS_LEAST;
  size_t bytes = slabs.row * size * rows;
  bytes = bytes < least ? least : bytes > most ? most : bytes;
  slabs.each = joist_smaller(bytes / (slabs.row * size), shape->extent[slabs.dim]);
  slabs.along = joist_divide_up(shape->extent[slabs.dim], slabs.each);
  slabs.count = before * slabs.along;
  slabs.largest = slabs.each * slabs.row;
  return slabs;
}

/* A slab, as a walk from the file's order to memory's or back. */
struct slab {
  size_t count, first, place; /* elements; where they begin in the file and in memory */
  struct joist_walk walk;
};

static void find_slab(const struct slabs *slabs, size_t k, bool to_memory, struct slab *slab) {
  const struct joist_shape *const shape = slabs->shape;
  int64_t memory[JOIST_RANK_MAX], file[JOIST_RANK_MAX], stride = 1;
  for (int d = 0; d < shape->rank; d++) {
    memory[d] = stride;
    stride *= (int64_t)shape->extent[d];
  }
  stride = 1;
  for (int d = shape->rank - 1; d >= slabs->dim; d--) {
    file[d] = stride;
    stride *= (int64_t)shape->extent[d];
  }
  const size_t first = k % slabs->along * slabs->each;
  const size_t places = joist_smaller(shape->extent[slabs->dim] - first, slabs->each);
  slab->count = places * slabs->row;
  slab->first = (k / slabs->along * shape->extent[slabs->dim] + first) * slabs->row;
  slab->place = first * (size_t)memory[slabs->dim];
  size_t rest = k / slabs->along;
  for (int d = slabs->dim - 1; d >= 0; d--) {
    slab->place += rest % shape->extent[d] * (size_t)memory[d];
    rest /= shape->extent[d];
  }
  joist_walk_init(&slab->walk, false);
  for (int i = slabs->dim; i < shape->rank; i++) {
    const int d = to_memory ? i : slabs->dim + shape->rank - 1 - i;
    const size_t extent = d == slabs->dim ? places : shape->extent[d];
    joist_walk_add(&slab->walk, extent, to_memory ? file[d] : memory[d],
                   to_memory ? memory[d] : file[d], NULL);
  }
}

struct transposing {
  const struct reading *reading;
  const struct slabs *slabs;
  unsigned char *scratch; /* a slab for each worker */
  char *to;
};

static void read_slab(const void *context, size_t task, size_t worker) {
  const struct transposing *const t = context;
  const struct joist_run alone = {.threads = 1};
  const size_t size = joist_dtype_size(t->reading->elements->dtype);
  unsigned char *const scratch = t->scratch + worker * t->slabs->largest * size;
  struct slab slab;
  joist_status status;
  find_slab(t->slabs, task, true, &slab);
  if (read_part(t->reading, slab.first, slab.count, scratch, &status, NULL) != 0 ||
      status != JOIST_OK ||
      joist_walk_transpose(size, &slab.walk, scratch, t->to + slab.place * size, &alone, NULL) !=
          JOIST_OK)
    joist_lower(t->reading->misfit, task);
}

static joist_status read_slabs(struct reading *reading, const struct joist_run *run,
                               struct joist_error *error) {
  const size_t size = joist_dtype_size(reading->elements->dtype);
  const struct slabs slabs = slabs_of(reading->elements);
  const int threads = joist_threads_for(run, reading->elements->count, slabs.count);
  const size_t bytes = slabs.largest * size * (size_t)threads;
  unsigned char *const scratch = joist_scratch_allocate(bytes);
  if (scratch == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  _Atomic size_t lowest = SIZE_MAX;
  reading->misfit = &lowest;
  const struct transposing transposing = {reading, &slabs, scratch, (char *)reading->to};
  joist_status status = joist_tasks_run_on(run, threads, slabs.count, WORK * size * slabs.largest,
                                           read_slab, &transposing, error);
  const size_t misfit = atomic_load(&lowest);
  if (status == JOIST_OK && misfit != SIZE_MAX) {
    struct slab slab;
    find_slab(&slabs, misfit, true, &slab);
    status = explain(reading, slab.first, slab.count, scratch, error);
  }
  joist_scratch_free(scratch);
  return status;
}

joist_status joist_elements_read(const struct joist_elements *elements,
                                 const struct joist_file *file, const unsigned char *bytes,
                                 void *to, const struct joist_run *run, struct joist_error *error) {
  struct reading reading = {.elements = elements, .file = file, .bytes = bytes, .to = to};
  return is_transposed(elements) ? read_slabs(&reading, run, error)
                                 : read_pieces(&reading, run, error);
}

/* ---- writing ---- */

struct writing {
  const struct joist_output *output;
  unsigned char *bytes;
};

static joist_status put(struct writing *writing, const void *from, size_t bytes,
                        struct joist_error *error) {
  if (writing->output == NULL) {
    if (from != writing->bytes && bytes > 0) memcpy(writing->bytes, from, bytes);
    writing->bytes += bytes;
    return JOIST_OK;
  }
  const int code = joist_output_write(writing->output, from, bytes);
  return code == 0 ? JOIST_OK : joist_file_fail("write", writing->output->path, code, error);
}

static joist_status write_slabs(const struct joist_elements *elements, const void *from,
                                struct writing *writing, const struct joist_run *run,
                                struct joist_error *error) {
  const size_t size = joist_dtype_size(elements->dtype);
  const bool changed = is_changed(elements), transposed = is_transposed(elements);
  const bool scratched = joist_elements_move(elements);
  struct slabs slabs = {.each = (scratched ? PIECE : AS_IT_LIES) / size, .row = 1};
  struct joist_packing packing = {0};
  if (transposed) {
    slabs = slabs_of(elements);
  } else {
    slabs.count = joist_divide_up(elements->count, slabs.each);
    slabs.largest = slabs.each;
  }
  char *scratch = NULL;
  if (scratched) {
    scratch = joist_scratch_allocate(slabs.largest * size);
    if (scratch == NULL)
      return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = slabs.largest * size);
  }
  joist_status status = JOIST_OK;
  for (size_t k = 0; k < slabs.count && status == JOIST_OK; k++) {
    struct slab slab = {.place = k * slabs.each};
    slab.count = joist_smaller(elements->count - slab.place, slabs.each);
    if (transposed) find_slab(&slabs, k, false, &slab);
    const void *part = (const char *)from + slab.place * size;
    size_t bytes = slab.count * size;
    if (transposed) {
      status = joist_walk_transpose(size, &slab.walk, part, scratch, run, error);
      part = scratch;
    }
    if (changed && status == JOIST_OK) {
      status = joist_write_bytes(elements->dtype, part, slab.count, elements->swapped, scratch,
                                 NULL, error);
      part = scratch;
    }
    if (elements->packed > 0 && status == JOIST_OK) {
      bytes = joist_pack(&packing, elements->packed, part, slab.count, (unsigned char *)scratch);
      part = scratch;
    }
    if (status == JOIST_OK) status = put(writing, part, bytes, error);
    if (status == JOIST_OK) status = joist_run_poll(run, error);
  }
  if (scratch != NULL) joist_scratch_free(scratch);
  return status;
}

joist_status joist_elements_write(const struct joist_elements *elements, const void *from,
                                  const struct joist_output *output, unsigned char *bytes,
                                  const struct joist_run *run, struct joist_error *error) {
  struct writing writing = {output, bytes};
  return write_slabs(elements, from, &writing, run, error);
}

joist_status joist_elements_turn(size_t unit, const struct joist_shape *shape, const void *from,
                                 void *to, const struct joist_run *run, struct joist_error *error) {
  int64_t place[JOIST_RANK_MAX], stride = (int64_t)unit;
  struct joist_walk walk;
  for (int d = shape->rank - 1; d >= 0; d--) {
    place[d] = stride;
    stride *= (int64_t)shape->extent[d];
  }
  joist_walk_init(&walk, false);
  joist_walk_add(&walk, unit, 1, 1, NULL);
  stride = (int64_t)unit;
  for (int d = 0; d < shape->rank; d++) {
    joist_walk_add(&walk, shape->extent[d], place[d], stride, NULL);
    stride *= (int64_t)shape->extent[d];
  }
  return joist_walk_transpose(1, &walk, from, to, run, error);
}
