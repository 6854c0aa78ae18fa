/* The address of the elements that nv_to_dlpack() lends, read from the structs of DLPack 1.1 as a
 * library that uses them would. Compiled by helper-address.R. */
#include <stdint.h>
#include <stdio.h>
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

/* Returns it as text of hexadecimal digits. */
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
