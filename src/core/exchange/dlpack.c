/* Tensors out and in by DLPack's structs. */
#include "core/exchange/dlpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/files/packed.h"
#include "core/ops/move/permute.h"
#include "core/types/error.h"
#include "core/types/host.h"

_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(struct joist_dl_tensor) == 48 && sizeof(struct joist_dl_managed) == 64 &&
                    sizeof(struct joist_dl_versioned) == 80),
               "the structs have the published layout");

enum { POLL = 1 << 20 }; /* packed elements between two looks for an interrupt */

struct joist_dl_dtype joist_dlpack_dtype(joist_dtype dtype) {
#define DLPACK(NPY, SAFETENSORS, ARROW, CODE) JOIST_DL_##CODE
#define APPLIED(MACRO, ARGUMENTS) MACRO ARGUMENTS
  static const uint8_t codes[JOIST_DTYPE_COUNT] = {
#define X(ID, KIND, T, FACTS, A, B) [JOIST_##ID] = APPLIED(DLPACK, JOIST_CODES_IN FACTS),
      JOIST_DTYPES(X, , )
#undef X
  };
  const unsigned bits = dtype == JOIST_BOOL ? 8 : joist_dtype_bits(dtype);
  return (struct joist_dl_dtype){.code = codes[dtype], .bits = (uint8_t)bits, .lanes = 1};
}

/* Elements of fewer bits than a byte may come several in one, as PyTorch's float4_e2m1fn_x2. */
static joist_dtype dtype_of(struct joist_dl_dtype published) {
  for (int k = 0; k < JOIST_DTYPE_COUNT; k++) {
    const struct joist_dl_dtype own = joist_dlpack_dtype((joist_dtype)k);
    const bool in_lanes = published.lanes > 1 && joist_has_unused_bits((joist_dtype)k);
    if (own.code != JOIST_DL_NONE && own.code == published.code && own.bits == published.bits &&
        (own.lanes == published.lanes || in_lanes))
      return (joist_dtype)k;
  }
  return JOIST_DTYPE_NONE;
}

/* ---- out ---- */

/* What a struct of ours and its arrays lie in. `keep` is NULL for a copy, which is `own`. */
struct lent {
  union {
    struct joist_dl_managed managed;
    struct joist_dl_versioned versioned;
  } as;
  struct joist_keep_alive *keep;
  void *own;
  int64_t extents[JOIST_RANK_MAX], strides[JOIST_RANK_MAX];
};

static void end(struct lent *lent) {
  if (lent->keep != NULL) joist_keep_alive_release(lent->keep);
  free(lent->own);
  free(lent);
}

static void end_managed(struct joist_dl_managed *self) { end(self->context); }
static void end_versioned(struct joist_dl_versioned *self) { end(self->context); }

/* Holds copies of the extents and strides of `tensor`; `given` is the tensor with these. */
static struct lent *new_lent(const struct joist_dl_tensor *tensor, struct joist_keep_alive *keep,
                             struct joist_dl_tensor *given) {
  struct lent *const lent = malloc(sizeof *lent);
  if (lent == NULL) return NULL;
  lent->keep = keep;
  lent->own = NULL;
  memcpy(lent->extents, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape);
  memcpy(lent->strides, tensor->strides, (size_t)tensor->rank * sizeof *tensor->strides);
  *given = *tensor;
  given->shape = lent->extents;
  given->strides = lent->strides;
  if (keep != NULL) joist_keep_alive_hold(keep);
  return lent;
}

static struct joist_dl_versioned *versioned(const struct joist_dl_tensor *tensor,
                                            struct joist_keep_alive *keep) {
  struct joist_dl_tensor given;
  struct lent *const lent = new_lent(tensor, keep, &given);
  if (lent == NULL) return NULL;
  const uint64_t padded = tensor->dtype.bits < 8 ? JOIST_DL_PADDED : 0;
  lent->as.versioned = (struct joist_dl_versioned){.version = {JOIST_DL_MAJOR, JOIST_DL_MINOR},
                                                   .context = lent,
                                                   .deleter = end_versioned,
                                                   .flags = JOIST_DL_READ_ONLY | padded,
                                                   .tensor = given};
  return &lent->as.versioned;
}

static struct lent *managed(const struct joist_dl_tensor *tensor, struct joist_keep_alive *keep) {
  struct joist_dl_tensor given;
  struct lent *const lent = new_lent(tensor, keep, &given);
  if (lent != NULL)
    lent->as.managed =
        (struct joist_dl_managed){.tensor = given, .context = lent, .deleter = end_managed};
  return lent;
}

/* Where arrays of a shape begin and how they go on, for a tensor that points to them. */
struct arrays {
  int64_t extents[JOIST_RANK_MAX], strides[JOIST_RANK_MAX];
};

static struct joist_dl_tensor in_order(void *elements, struct joist_dl_device device,
                                       joist_dtype dtype, const struct joist_shape *shape,
                                       struct arrays *arrays) {
  int64_t stride = 1;
  for (int d = 0; d < shape->rank; d++) {
    arrays->extents[d] = shape->extent[d];
    arrays->strides[d] = stride;
    stride *= shape->extent[d] > 0 ? shape->extent[d] : 1;
  }
  return (struct joist_dl_tensor){.data = elements,
                                  .device = device,
                                  .rank = shape->rank,
                                  .dtype = joist_dlpack_dtype(dtype),
                                  .shape = arrays->extents,
                                  .strides = arrays->strides};
}

struct joist_dl_versioned *joist_dlpack_lend(void *elements, struct joist_dl_device device,
                                             joist_dtype dtype, const struct joist_shape *shape,
                                             struct joist_keep_alive *keep) {
  struct arrays arrays;
  const struct joist_dl_tensor tensor = in_order(elements, device, dtype, shape, &arrays);
  return versioned(&tensor, keep);
}

joist_status joist_dlpack_check(joist_dtype dtype, bool given, struct joist_error *error) {
  if (joist_dlpack_dtype(dtype).code == JOIST_DL_NONE)
    return JOIST_FAIL(error, JOIST_E_DLPACK_CODE, .type = {{dtype, false}});
  if (!given || !joist_has_unused_bits(dtype)) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_DLPACK_PACKED, .type = {{dtype, false}});
}

struct joist_dl_managed *joist_dlpack_give(void *elements, struct joist_dl_device device,
                                           joist_dtype dtype, const struct joist_shape *shape,
                                           struct joist_keep_alive *keep) {
  struct arrays arrays;
  const struct joist_dl_tensor tensor = in_order(elements, device, dtype, shape, &arrays);
  struct lent *const given = managed(&tensor, keep);
  return given == NULL ? NULL : &given->as.managed;
}

struct joist_dl_versioned *joist_dlpack_again(const struct joist_dl_versioned *lent) {
  return versioned(&lent->tensor, ((const struct lent *)lent->context)->keep);
}

struct joist_dl_managed *joist_dlpack_copied(const struct joist_dl_versioned *lent) {
  const struct joist_dl_tensor *const tensor = &lent->tensor;
  size_t bytes = tensor->dtype.bits / 8;
  for (int d = 0; d < tensor->rank; d++) bytes *= (size_t)tensor->shape[d];
  struct lent *const copy = managed(tensor, NULL);
  if (copy == NULL) return NULL;
  copy->own = malloc(bytes + 1);
  if (copy->own == NULL) {
    end(copy);
    return NULL;
  }
  if (bytes > 0) memcpy(copy->own, tensor->data, bytes);
  copy->as.managed.tensor.data = copy->own;
  return &copy->as.managed;
}

void joist_dlpack_end(struct joist_dl_versioned *lent) { lent->deleter(lent); }
void joist_dlpack_end_managed(struct joist_dl_managed *given) { given->deleter(given); }

static joist_capsule_valid *capsule_valid = NULL;
static joist_capsule_pointer *capsule_pointer = NULL;

void joist_dlpack_connect(joist_capsule_valid *valid, joist_capsule_pointer *pointer) {
  capsule_valid = valid;
  capsule_pointer = pointer;
}

void joist_dlpack_drop(void *capsule) {
  static const char versioned[] = "dltensor_versioned", plain[] = "dltensor";
  if (capsule_valid(capsule, versioned))
    joist_dlpack_end(capsule_pointer(capsule, versioned));
  else if (capsule_valid(capsule, plain))
    joist_dlpack_end_managed(capsule_pointer(capsule, plain));
}

/* ---- in ---- */

static joist_status damaged(struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_DLPACK_DAMAGED);
}

static joist_status read_shape(const struct joist_dl_tensor *tensor, struct joist_dl_view *view,
                               struct joist_error *error) {
  if (tensor->rank < 0 || (tensor->rank > 0 && tensor->shape == NULL)) return damaged(error);
  if (tensor->rank > JOIST_RANK_MAX)
    return JOIST_FAIL(error, JOIST_E_RANK_LIMIT, .count = {(size_t)tensor->rank, JOIST_RANK_MAX});
  view->shape.rank = tensor->rank;
  for (int d = 0; d < tensor->rank; d++) {
    if (tensor->shape[d] < 0) return damaged(error);
    if (tensor->shape[d] > INT32_MAX)
      return JOIST_FAIL(error, JOIST_E_EXTENT_LIMIT, .dim = d + 1,
                        .number = {(double)tensor->shape[d]});
    view->shape.extent[d] = (uint32_t)tensor->shape[d];
  }
  if (!joist_shape_count(&view->shape, &view->count))
    return JOIST_FAIL(error, JOIST_E_ELEMENT_LIMIT, .shape = {view->shape});
  return JOIST_OK;
}

/* Whether the strides, but for strides of dims of one element, are the strides of elements in a
 * row. */
static bool is_dense(const struct joist_dl_view *view, bool from_last) {
  int64_t stride = 1;
  if (view->count == 0) return true;
  for (int k = 0; k < view->shape.rank; k++) {
    const int d = from_last ? view->shape.rank - 1 - k : k;
    if (view->shape.extent[d] != 1 && view->stride[d] != stride) return false;
    stride *= view->shape.extent[d];
  }
  return true;
}

/* No place of an element may be beyond what an address can be. */
static bool are_strides(const struct joist_dl_view *view, int64_t size) {
  int64_t reach = 0;
  for (int d = 0; d < view->shape.rank; d++) {
    const int64_t stride = view->stride[d], steps = (int64_t)view->shape.extent[d] - 1;
    if (steps <= 0) continue;
    const int64_t most = (INT64_MAX / 2 / size - reach) / steps;
    if (stride > most || stride < -most) return false;
    reach += steps * (stride < 0 ? -stride : stride);
  }
  return true;
}

/* `plain` is the tensor of all lanes. They lie side by side, so they belong to the dim whose
 * elements do; false if there is none. The shape must be valid. */
static bool without_lanes(const struct joist_dl_tensor *tensor, struct arrays *arrays,
                          struct joist_dl_tensor *plain) {
  const int64_t lanes = tensor->dtype.lanes;
  int64_t dense = 1;
  int along = -1;
  for (int d = tensor->rank; d-- > 0;) {
    const int64_t stride = tensor->strides == NULL ? dense : tensor->strides[d];
    if (stride > INT64_MAX / lanes || stride < -INT64_MAX / lanes) return false;
    if (stride == 1 && along < 0) along = d;
    arrays->extents[d] = tensor->shape[d];
    arrays->strides[d] = stride * lanes;
    dense *= tensor->shape[d];
  }
  if (along < 0) return false;
  arrays->extents[along] *= lanes;
  arrays->strides[along] = 1;
  *plain = *tensor;
  plain->shape = arrays->extents;
  plain->strides = arrays->strides;
  return true;
}

static joist_status unknown_type(struct joist_dl_dtype published, struct joist_error *error) {
  char text[64];
  snprintf(text, sizeof text, "code %u, %u bits, %u in one", published.code, published.bits,
           published.lanes);
  return JOIST_FAIL(error, JOIST_E_DLPACK_DTYPE, .text = {joist_quote(text)});
}

joist_status joist_dlpack_read(const struct joist_dl_tensor *tensor, const uint64_t *flags,
                               struct joist_dl_view *view, struct joist_error *error) {
  const struct joist_dl_dtype published = tensor->dtype;
  const joist_dtype dtype = dtype_of(published);
  if (dtype == JOIST_DTYPE_NONE) return unknown_type(published, error);
  /* Integers of few bits are older than the rule that they are packed unless a flag says
   * otherwise; TVM's bool was an unpacked uint1. */
  const bool is_packed = joist_has_unused_bits(dtype);
  if (is_packed && flags == NULL && joist_dtype_kind(dtype) != JOIST_KIND_FLOAT)
    return JOIST_FAIL(error, JOIST_E_DLPACK_UNPACKED, .type = {{dtype, false}});
  struct joist_dl_tensor plain;
  struct arrays arrays;
  joist_status status = joist_dlpack_read_as(tensor, dtype, view, error);
  if (status == JOIST_OK && published.lanes > 1)
    status = without_lanes(tensor, &arrays, &plain)
                 ? joist_dlpack_read_as(&plain, dtype, view, error)
                 : unknown_type(published, error);
  if (is_packed && (flags == NULL || (*flags & JOIST_DL_PADDED) == 0))
    view->packed = joist_dtype_bits(dtype);
  return status;
}

joist_status joist_dlpack_read_as(const struct joist_dl_tensor *tensor, joist_dtype dtype,
                                  struct joist_dl_view *view, struct joist_error *error) {
  view->dtype = dtype;
  view->packed = 0;
  const joist_status status = read_shape(tensor, view, error);
  if (status != JOIST_OK) return status;
  const size_t size = joist_dtype_size(view->dtype);
  int64_t stride = 1;
  for (int d = tensor->rank; d-- > 0;) {
    view->stride[d] = tensor->strides == NULL ? stride : tensor->strides[d];
    stride *= view->count > 0 ? (int64_t)view->shape.extent[d] : 0;
  }
  if (view->count > 0 && (tensor->data == NULL || !are_strides(view, (int64_t)size)))
    return damaged(error);
  view->elements = view->count > 0 ? (const char *)tensor->data + tensor->byte_offset : NULL;
  const size_t unit = joist_dtype_size(joist_dtype_real(view->dtype));
  const bool aligned = (uintptr_t)view->elements % unit == 0;
  view->in_order = aligned && is_dense(view, false);
  view->in_rows = aligned && !view->in_order && is_dense(view, true);
  return aligned || is_dense(view, false) ? JOIST_OK : damaged(error);
}

size_t joist_dlpack_bytes(const struct joist_dl_view *view) {
  if (view->packed == 0) return view->count * joist_dtype_size(view->dtype);
  return view->count / 8 * view->packed + (view->count % 8 * view->packed + 7) / 8;
}

/* The bits from `at` elements behind the first, which may lie before it. */
static unsigned char packed_element(const struct joist_dl_view *view, int64_t at) {
  const int64_t bits = view->packed, eights = (at - (at & 7)) / 8;
  const unsigned skip = (unsigned)(at & 7) * view->packed;
  unsigned char element;
  joist_unpack(view->packed, (const unsigned char *)view->elements + eights * bits + skip / 8,
               skip % 8, 1, &element);
  return element;
}

static joist_status gather_packed(const struct joist_dl_view *view, unsigned char *out,
                                  const struct joist_run *run, struct joist_error *error) {
  if (is_dense(view, false)) {
    joist_unpack(view->packed, view->elements, 0, view->count, out);
    return JOIST_OK;
  }
  uint32_t index[JOIST_RANK_MAX] = {0};
  int64_t at = 0;
  for (size_t k = 0; k < view->count; k++) {
    if (k % POLL == POLL - 1 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
    out[k] = packed_element(view, at);
    for (int d = 0; d < view->shape.rank; d++) {
      at += view->stride[d];
      if (++index[d] < view->shape.extent[d]) break;
      at -= view->stride[d] * (int64_t)index[d];
      index[d] = 0;
    }
  }
  return JOIST_OK;
}

joist_status joist_dlpack_gather(const struct joist_dl_view *view, void *out,
                                 const struct joist_run *run, struct joist_error *error) {
  const size_t size = joist_dtype_size(view->dtype);
  if (view->packed > 0) return gather_packed(view, out, run, error);
  if (is_dense(view, false))
    return joist_copy_elements(size, view->count, view->elements, out, run, error);
  struct joist_walk walk;
  joist_walk_init(&walk, false);
  int64_t to = 1;
  bool forwards = true;
  for (int d = 0; d < view->shape.rank; d++) {
    joist_walk_add(&walk, view->shape.extent[d], view->stride[d], to, NULL);
    to *= (int64_t)view->shape.extent[d];
    forwards &= view->stride[d] >= 0;
  }
  return forwards ? joist_walk_transpose(size, &walk, view->elements, out, run, error)
                  : joist_move(size, &walk, view->elements, out, run, error);
}
