/* The structs of DLPack 1.1, read and written as another library would. Compiled by
 * helper-address.R. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <R.h>
#include <Rinternals.h>

struct dl_tensor {
  void *data;
  int32_t device[2], rank, dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

struct versioned {
  uint32_t version[2];
  void *context;
  void (*deleter)(struct versioned *self);
  uint64_t flags;
  struct dl_tensor tensor;
};

/* The address of the elements that nv_to_dlpack() lends, as text of hexadecimal digits. */
SEXP address_of(SEXP pointer) {
  const void *const lent = R_ExternalPtrAddr(pointer);
  const char *const name = CHAR(PRINTNAME(R_ExternalPtrTag(pointer)));
  if (lent == NULL) Rf_error("the tensor was taken over before");
  const struct dl_tensor *const tensor = strcmp(name, "dltensor_versioned") == 0
                                             ? &((const struct versioned *)lent)->tensor
                                             : (const struct dl_tensor *)lent;
  char text[32];
  snprintf(text, sizeof text, "%llx",
           (unsigned long long)((uintptr_t)tensor->data + tensor->byte_offset));
  return Rf_mkString(text);
}

/* The flags of a struct of version 1. */
SEXP flags_of(SEXP pointer) {
  return Rf_ScalarReal((double)((const struct versioned *)R_ExternalPtrAddr(pointer))->flags);
}

static int freed = 0;

static void drop(struct versioned *self) {
  freed++;
  free(self->tensor.data);
  free(self->tensor.shape);
  free(self);
}

struct plain {
  struct dl_tensor tensor;
  void *context;
  void (*deleter)(struct plain *self);
};

static void drop_plain(struct plain *self) {
  freed++;
  free(self->tensor.data);
  free(self->tensor.shape);
  free(self);
}

/* The number of tensors of lend() whose deleters were called. */
SEXP freed_so_far(void) { return Rf_ScalarInteger(freed); }

/* Lends a copy of bytes, the last dimension first. `type` is code, bits and lanes; `flags` is NULL
 * for a struct before version 1. */
SEXP lend(SEXP bytes, SEXP type, SEXP shape, SEXP flags) {
  const int rank = LENGTH(shape);
  struct dl_tensor tensor = {.device = {1, 0}, .rank = rank};
  const int *const parts = INTEGER(type);
  const struct {
    uint8_t code, bits;
    uint16_t lanes;
  } published = {(uint8_t)parts[0], (uint8_t)parts[1], (uint16_t)parts[2]};
  memcpy(&tensor.dtype, &published, sizeof tensor.dtype);
  tensor.data = malloc((size_t)LENGTH(bytes) + 1);
  tensor.shape = malloc(sizeof(int64_t) * (size_t)(rank + 1));
  memcpy(tensor.data, RAW(bytes), (size_t)LENGTH(bytes));
  for (int d = 0; d < rank; d++) tensor.shape[d] = INTEGER(shape)[d];
  const int is_plain = flags == R_NilValue;
  void *lent;
  if (is_plain) {
    struct plain *const own = calloc(1, sizeof *own);
    own->tensor = tensor;
    own->deleter = drop_plain;
    lent = own;
  } else {
    struct versioned *const own = calloc(1, sizeof *own);
    own->version[0] = own->version[1] = 1;
    own->flags = (uint64_t)Rf_asReal(flags);
    own->tensor = tensor;
    own->deleter = drop;
    lent = own;
  }
  return R_MakeExternalPtr(lent, Rf_install(is_plain ? "dltensor" : "dltensor_versioned"),
                           R_NilValue);
}
