/* Tensors in memory as libraries of arrays exchange them: the structs of DLPack, and what they say
 * in terms of dtypes and shapes.
 *
 * The layout of the structs and their constants are those of the published binary interface,
 * version 1.1: https://dmlc.github.io/dlpack/latest/c_api.html. Versions of one major number have
 * the same layout. */
#ifndef JOIST_CORE_EXCHANGE_DLPACK_H
#define JOIST_CORE_EXCHANGE_DLPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/exchange/keep_alive.h"
#include "core/types/dtypes.h"
#include "core/types/shape.h"

enum { JOIST_DL_MAJOR = 1, JOIST_DL_MINOR = 1 };
enum { JOIST_DL_CPU = 1, JOIST_DL_CUDA = 2, JOIST_DL_CUDA_HOST = 3 };
enum {
  JOIST_DL_INT = 0,
  JOIST_DL_UINT = 1,
  JOIST_DL_FLOAT = 2,
  JOIST_DL_BFLOAT = 4,
  JOIST_DL_COMPLEX = 5,
  JOIST_DL_BOOL = 6,
  JOIST_DL_FLOAT8_E3M4 = 7,
  JOIST_DL_FLOAT8_E4M3 = 8,
  JOIST_DL_FLOAT8_E4M3B11FNUZ = 9,
  JOIST_DL_FLOAT8_E4M3FN = 10,
  JOIST_DL_FLOAT8_E4M3FNUZ = 11,
  JOIST_DL_FLOAT8_E5M2 = 12,
  JOIST_DL_FLOAT8_E5M2FNUZ = 13,
  JOIST_DL_FLOAT8_E8M0FNU = 14,
  JOIST_DL_FLOAT6_E2M3FN = 15,
  JOIST_DL_FLOAT6_E3M2FN = 16,
  JOIST_DL_FLOAT4_E2M1FN = 17,
  JOIST_DL_NONE = 255 /* none yet */
};
/* Flags: the memory must not be written; it was copied for whom it is given to; elements of fewer
 * than 8 bits have a byte each, and are not packed. */
#define JOIST_DL_READ_ONLY UINT64_C(1)
#define JOIST_DL_COPIED UINT64_C(2)
#define JOIST_DL_PADDED UINT64_C(4)

struct joist_dl_device {
  int32_t type, id;
};

struct joist_dl_dtype {
  uint8_t code, bits;
  uint16_t lanes;
};

struct joist_dl_tensor {
  void *data;
  struct joist_dl_device device;
  int32_t rank;
  struct joist_dl_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL for rows in a row, the last dim first */
  uint64_t byte_offset;
};

/* Before version 1. The consumer calls the deleter, unless it is NULL, when it is done. */
struct joist_dl_managed {
  struct joist_dl_tensor tensor;
  void *context;
  void (*deleter)(struct joist_dl_managed *self);
};

struct joist_dl_versioned {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*deleter)(struct joist_dl_versioned *self);
  uint64_t flags;
  struct joist_dl_tensor tensor;
};

struct joist_dl_dtype joist_dlpack_dtype(joist_dtype dtype);

/* ---- out ---- */

/* Column-major elements on a device, to be read by others, who become one more holder; and for
 * those who may write to them, of a dtype of at least 8 bits: see joist_dlpack_check().
 * NULL if allocation fails. */
struct joist_dl_versioned *joist_dlpack_lend(void *elements, struct joist_dl_device device,
                                             joist_dtype dtype, const struct joist_shape *shape,
                                             struct joist_keep_alive *keep);
struct joist_dl_managed *joist_dlpack_give(void *elements, struct joist_dl_device device,
                                           joist_dtype dtype, const struct joist_shape *shape,
                                           struct joist_keep_alive *keep);
/* Fails for dtypes without a code, and where `given` for those whose elements are packed in DLPack
 * before version 1.1. */
joist_status joist_dlpack_check(joist_dtype dtype, bool given,
                                struct joist_error *error) JOIST_MUST_CHECK;
/* From any thread, for what joist_dlpack_lend() made: one more for the same memory; one whose
 * elements are a copy that may be written, of what is on the CPU. NULL when memory is out. */
struct joist_dl_versioned *joist_dlpack_again(const struct joist_dl_versioned *lent);
struct joist_dl_managed *joist_dlpack_copied(const struct joist_dl_versioned *lent);
/* Calls of their deleters, from any thread. */
void joist_dlpack_end(struct joist_dl_versioned *lent);
void joist_dlpack_end_managed(struct joist_dl_managed *given);

/* What a capsule of Python has, and whether it has a name: functions of Python that run none of its
 * code. */
typedef void *joist_capsule_pointer(void *capsule, const char *name);
typedef int joist_capsule_valid(void *capsule, const char *name);
void joist_dlpack_connect(joist_capsule_valid *valid, joist_capsule_pointer *pointer);
/* The destructor of capsules: ends a capsule that was not consumed. A consumer that refuses a dtype
 * destroys the capsule with its exception pending, when no code of Python may run. */
void joist_dlpack_drop(void *capsule);

/* ---- in ---- */

struct joist_dl_view {
  joist_dtype dtype;
  struct joist_shape shape;
  size_t count;
  const void *elements; /* the one at the first position of every dim */
  int64_t stride[JOIST_RANK_MAX];
  unsigned packed; /* bits of an element if elements are packed as core/files/packed.h says; or 0 */
  bool in_order;   /* aligned and column-major without gaps */
  bool in_rows;    /* aligned and row-major without gaps, which is not the same */
};

/* What a tensor of another library is; `flags` is NULL before version 1. Fails for elements that no
 * dtype has, and for invalid ranks, extents and strides. */
joist_status joist_dlpack_read(const struct joist_dl_tensor *tensor, const uint64_t *flags,
                               struct joist_dl_view *view,
                               struct joist_error *error) JOIST_MUST_CHECK;
/* The same for elements of a dtype that is known otherwise, at least a byte each. */
joist_status joist_dlpack_read_as(const struct joist_dl_tensor *tensor, joist_dtype dtype,
                                  struct joist_dl_view *view,
                                  struct joist_error *error) JOIST_MUST_CHECK;
/* The bytes from the first element of a view without gaps to its last. */
size_t joist_dlpack_bytes(const struct joist_dl_view *view);
/* The elements of a view in this process's memory, to `out` in column-major order. */
joist_status joist_dlpack_gather(const struct joist_dl_view *view, void *out,
                                 const struct joist_run *run,
                                 struct joist_error *error) JOIST_MUST_CHECK;

#endif
