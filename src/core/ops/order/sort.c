/* sort and order: lines of an array along a dim, by keys that sort as the elements
 * do. NaN comes last in either direction; equal elements keep their order. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/ops/order/argsort_packed.h"
#include "core/ops/order/keys.h"
#include "core/ops/order/sort_parallel.h"
#include "core/ops/order/sort_radix.h"
#include "core/program/call.h"
#include "core/types/error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/base/vectorize.h"

JOIST_VECTORIZE_FILE

enum {
  GROUP = 16,         /* neighbouring lines that a thread reads at once */
  GROUP_ITEMS = 4096, /* elements of such a group at most, or one line */
  SHARED = 1 << 17,   /* elements of a long line, which all threads share */
  BLOCK = 1 << 24,    /* elements between two calls of poll */
  WORK = 16           /* additions' worth of work per element */
};

/* How many elements equal others of other bits. */
struct special {
  size_t nan, minus_zero;
};

/* Scratch of one thread. */
struct room {
  char *items;          /* what is sorted of a line, and scratch */
  char *lines, *sorted; /* a group of lines: elements and results */
  uint32_t *counts;
};

typedef void sort_line(size_t n, const void *in, struct joist_order order, struct room room,
                       void *out);
typedef joist_status sort_shared(size_t n, const void *in, struct joist_order order, int threads,
                                 const struct joist_run *run, void *out, struct joist_error *error);
typedef void make_wide_keys(size_t n, const void *in, struct joist_order order, uint64_t *keys);
typedef void move_lines(size_t n, size_t stride, size_t group, const void *in, void *out);

struct functions {
  sort_line *sort;
  sort_shared *sort_all;
  move_lines *gather, *scatter;
  make_wide_keys *keys;
};

#define ELEMENT uint8_t
#define KEY uint32_t
#define KEYS(function) function##_key32
#define NAME(function) function##_8
#include "core/ops/order/sort_lines.inc"

#define ELEMENT uint16_t
#define KEY uint32_t
#define KEYS(function) function##_key32
#define NAME(function) function##_16
#include "core/ops/order/sort_lines.inc"

#define ELEMENT uint32_t
#define KEY uint32_t
#define KEYS(function) function##_key32
#define NAME(function) function##_32
#include "core/ops/order/sort_lines.inc"

#define ELEMENT uint64_t
#define KEY uint64_t
#define KEYS(function) function##_key64
#define NAME(function) function##_64
#include "core/ops/order/sort_lines.inc"

static const struct functions *functions_of(size_t size) {
  switch (size) {
    case 1:
      return &functions_8;
    case 2:
      return &functions_16;
    case 4:
      return &functions_32;
    default:
      return &functions_64;
  }
}

static struct joist_order order_of(joist_dtype dtype, bool decreasing) {
  const unsigned bits = (unsigned)(8 * joist_dtype_size(dtype));
  const uint64_t sign = UINT64_C(1) << (bits - 1);
  struct joist_order order = {0, 0, decreasing ? sign | (sign - 1) : 0};
  const joist_kind kind = joist_dtype_kind(dtype);
  if (kind == JOIST_KIND_INT || kind == JOIST_KIND_FLOAT) order.sign = sign;
  if (dtype == JOIST_F16) order.infinity = 0x7c00;
  if (dtype == JOIST_BF16) order.infinity = 0x7f80;
  if (dtype == JOIST_F32) order.infinity = 0x7f800000;
  if (dtype == JOIST_F64) order.infinity = UINT64_C(0x7ff0000000000000);
  return order;
}

void joist_order_keys(joist_dtype dtype, bool decreasing, size_t n, const void *in,
                      uint64_t *keys) {
  functions_of(joist_dtype_size(dtype))->keys(n, in, order_of(dtype, decreasing), keys);
}

struct lines {
  const struct functions *functions;
  struct joist_order order;
  bool positions; /* what comes out: positions, or the elements */
  size_t n;       /* elements per line */
  size_t count;   /* lines */
  size_t stride;  /* elements from one of a line to the next; as many lines are neighbours */
  size_t group;   /* lines of a task; its lines are neighbours */
  size_t in_size, out_size;
  size_t item_size; /* bytes of items per element */
};

/* Tasks cover the neighbouring lines of one outer index after the other. */
static size_t tasks_of(const struct lines *lines) {
  const size_t per_outer = (lines->stride + lines->group - 1) / lines->group;
  return lines->count / lines->stride * per_outer;
}

/* The positions that sort one line, from and to contiguous memory. */
static void order_line(const struct lines *lines, const void *in, struct room room, int32_t *out) {
  const size_t n = lines->n;
  uint64_t *const keys = (uint64_t *)(void *)room.items, *const words = keys + n;
  uint64_t mask;
  lines->functions->keys(n, in, lines->order, keys);
  /* One thread does not fail. */
  (void)joist_order_words(n, keys, words, words + n, room.counts, 1, NULL, &mask, NULL);
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) out[i] = (int32_t)(words[i] & mask) + 1;
}

static void sort_one(const struct lines *lines, const void *in, struct room room, void *out) {
  if (lines->positions)
    order_line(lines, in, room, out);
  else
    lines->functions->sort(lines->n, in, lines->order, room, out);
}

static void run_task(const struct lines *lines, size_t task, const char *in, char *out,
                     struct room room) {
  const size_t n = lines->n, stride = lines->stride;
  const size_t per_outer = (stride + lines->group - 1) / lines->group;
  const size_t inner = task % per_outer * lines->group, outer = task / per_outer;
  const size_t group = stride - inner < lines->group ? stride - inner : lines->group;
  const size_t first = outer * n * stride + inner;
  in += first * lines->in_size;
  out += first * lines->out_size;
  if (stride == 1) {
    sort_one(lines, in, room, out);
    return;
  }
  char *const results = room.sorted;
  lines->functions->gather(n, stride, group, in, room.lines);
  for (size_t g = 0; g < group; g++)
    sort_one(lines, room.lines + g * n * lines->in_size, room, results + g * n * lines->out_size);
  (lines->positions ? functions_32.scatter : lines->functions->scatter)(n, stride, group, results,
                                                                        out);
}

/* One line after the other, each by all threads. */
static joist_status share_lines(const struct lines *lines, const char *in, char *out,
                                struct room room, int threads, const struct joist_run *run,
                                struct joist_error *error) {
  move_lines *const scatter = lines->positions ? functions_32.scatter : lines->functions->scatter;
  const size_t n = lines->n, stride = lines->stride;
  joist_status status = JOIST_OK;
  for (size_t k = 0; k < lines->count && status == JOIST_OK; k++) {
    const size_t first = k / stride * n * stride + k % stride;
    const void *from = in + first * lines->in_size;
    void *to = out + first * lines->out_size;
    if (stride > 1) {
      lines->functions->gather(n, stride, 1, from, room.lines);
      from = room.lines;
      to = room.sorted;
    }
    status = lines->positions
                 ? joist_order_long(lines->in_size, n, from, lines->order, threads, run, to, error)
                 : lines->functions->sort_all(n, from, lines->order, threads, run, to, error);
    if (stride > 1) scatter(n, stride, 1, to, out + first * lines->out_size);
  }
  return status;
}

/* Lines shared among threads. */
static joist_status run_tasks(const struct lines *lines, const char *in, char *out,
                              const struct room *rooms, int threads, const struct joist_run *run,
                              struct joist_error *error) {
  const size_t tasks = tasks_of(lines), per_task = lines->n * lines->group;
  const size_t block = 1 + BLOCK / (per_task == 0 ? 1 : per_task);
  joist_status status = JOIST_OK;
  (void)threads;
  for (size_t begin = 0; begin < tasks && status == JOIST_OK; begin += block) {
    const size_t end = tasks - begin < block ? tasks : begin + block;
    if (begin > 0) status = joist_run_poll(run, error);
    if (status != JOIST_OK) break;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 8)
#endif
    for (size_t task = begin; task < end; task++) {
      const struct room *room = rooms;
#ifdef _OPENMP
      room += omp_get_thread_num();
#endif
      run_task(lines, task, in, out, *room);
    }
  }
  return status;
}

static struct lines lines_of(const struct joist_call *call, bool positions) {
  const struct joist_shape *const shape = &call->operand[0]->shape;
  const int dim = joist_attribute_dim(joist_call_attributes(call));
  const joist_dtype dtype = call->instruction->signature.operand[0];
  const size_t in_size = joist_dtype_size(dtype);
  const size_t key = in_size > sizeof(uint32_t) ? sizeof(uint64_t) : sizeof(uint32_t);
  struct lines lines = {
      .functions = functions_of(in_size),
      .order = order_of(
          dtype, joist_attribute_flag(joist_call_attributes(call), JOIST_ATTRIBUTE_DECREASING)),
      .positions = positions,
      .n = shape->extent[dim],
      .count = 1,
      .stride = 1,
      .in_size = in_size,
      .out_size = positions ? sizeof(int32_t) : in_size,
      .item_size = positions ? 3 * sizeof(uint64_t) : 2 * key,
  };
  for (int d = 0; d < shape->rank; d++) {
    if (d != dim) lines.count *= shape->extent[d];
    if (d < dim) lines.stride *= shape->extent[d];
  }
  lines.group = lines.n == 0 || lines.n > GROUP_ITEMS ? 1 : GROUP_ITEMS / lines.n;
  if (lines.group > GROUP) lines.group = GROUP;
  if (lines.group > lines.stride) lines.group = lines.stride;
  return lines;
}

static joist_status run(const struct joist_call *call, bool positions, struct joist_error *error) {
  const struct lines lines = lines_of(call, positions);
  if (lines.n == 0 || lines.count == 0) return JOIST_OK;
  int threads = joist_threads_for(call->run, lines.n * lines.count * WORK, SIZE_MAX);
  const bool shared = lines.n >= SHARED && (threads == 1 || lines.count < 4 * (size_t)threads);
  if (!shared && (size_t)threads > tasks_of(&lines)) threads = (int)tasks_of(&lines);
  const size_t rooms = shared ? 1 : (size_t)threads;
  /* Counts, items and lines of a room, each on a multiple of 64 bytes. */
  const size_t count_bytes = shared ? 0 : sizeof(uint32_t) * JOIST_SORT_COUNTS;
  const size_t item_bytes = shared ? 0 : (lines.n * lines.item_size + 63) / 64 * 64;
  const size_t grouped = lines.stride > 1 ? lines.n * lines.group : 0;
  const size_t line_bytes = (grouped * lines.in_size + 63) / 64 * 64;
  const size_t sorted_bytes = (grouped * lines.out_size + 63) / 64 * 64;
  const size_t room_bytes = count_bytes + item_bytes + line_bytes + sorted_bytes;
  struct room *const room = malloc(rooms * sizeof *room);
  char *const memory = room == NULL ? NULL : joist_pool_allocate(rooms * room_bytes);
  if (memory == NULL) {
    free(room);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = rooms * room_bytes);
  }
  for (size_t k = 0; k < rooms; k++) {
    char *const at = memory + k * room_bytes;
    char *const group = at + count_bytes + item_bytes;
    room[k] = (struct room){at + count_bytes, group, group + line_bytes, (uint32_t *)(void *)at};
  }
  const joist_status status =
      shared ? share_lines(&lines, call->in[0], call->out[0], room[0], threads, call->run, error)
             : run_tasks(&lines, call->in[0], call->out[0], room, threads, call->run, error);
  joist_pool_free(memory);
  free(room);
  return status;
}

joist_status joist_sort_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  *result = *shapes[0];
  if (dim >= 0 && dim < result->rank) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_NO_DIMENSION, .number = {dim + 1}, .shape = {*result});
}

joist_status joist_sort_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, false, error);
}

joist_status joist_argsort_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  return joist_sort_shape(shapes, attributes, result, error);
}

joist_status joist_argsort_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, true, error);
}
