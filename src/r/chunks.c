/* Makes tensors of chunks, and chunks of tensors. */
#include "r/chunks.h"

#include <string.h>

#include "core/files/checksum.h"
#include "core/files/compression.h"
#include "r/arguments.h"
#include "r/conditions.h"
#include "r/dtypes.h"
#include "r/files.h"

SEXP joist_r_from_chunk(SEXP bytes, SEXP dtype, SEXP shape, SEXP c_order, SEXP swapped) {
  struct joist_r_input input;
  struct joist_elements elements = {.dtype = joist_r_dtype(dtype),
                                    .swapped = joist_r_flag(swapped, "swapped"),
                                    .c_order = joist_r_flag(c_order, "c_order")};
  joist_r_shape(shape, &elements.shape);
  PROTECT(joist_r_open_input(R_NilValue, bytes, &input));
  struct joist_error error;
  joist_r_raise_if(joist_elements_check("Zarr", &elements, input.size, true, &error), &error);
  SEXP tensor = joist_r_read_elements(&elements, &input, false);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_to_chunk(SEXP x, SEXP c_order, SEXP swapped) {
  struct joist_r_value value;
  SEXP kept = PROTECT(joist_r_read_to_write(x, &value));
  const struct joist_elements elements = joist_r_elements_of(&value, c_order, swapped);
  SEXP result = joist_r_write(R_NilValue, NULL, 0, &elements, &value.data, 1);
  (void)kept;
  UNPROTECT(1);
  return result;
}

SEXP joist_r_codecs(void) {
  R_xlen_t n = 0;
  while (joist_compression_at((size_t)n) != NULL) n++;
  SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++)
    SET_STRING_ELT(names, k, Rf_mkChar(joist_compression_at((size_t)k)->name));
  UNPROTECT(1);
  return names;
}

static const struct joist_compression *codec_of(SEXP codec, SEXP bytes) {
  const char *const name = joist_r_string(codec, "codec");
  if (TYPEOF(bytes) != RAWSXP) joist_r_stop(JOIST_ERROR_VALUE, "`bytes` must be a raw vector");
  const struct joist_compression *found = NULL;
  for (size_t k = 0; (found = joist_compression_at(k)) != NULL; k++)
    if (strcmp(found->name, name) == 0) return found;
  joist_r_stop(JOIST_ERROR_VALUE, "this build of joist has no codec %s", name);
}

/* A whole number of bytes, `least` to `most`. */
static size_t byte_count(SEXP x, double least, double most) {
  const double n = joist_r_number(x);
  if (!(n >= least && n <= most))
    joist_r_stop(JOIST_ERROR_VALUE, "a number of bytes must be from %.0f to %.0f", least, most);
  return (size_t)n;
}

SEXP joist_r_unpack(SEXP codec, SEXP bytes, SEXP most) {
  const struct joist_compression *const found = codec_of(codec, bytes);
  const size_t room = byte_count(most, 0, (double)R_XLEN_T_MAX);
  size_t length = 0;
  SEXP to = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)room));
  const bool good = found->unpack(RAW(bytes), (size_t)XLENGTH(bytes), RAW(to), room, &length);
  SEXP result = !good ? R_NilValue : length == room ? to : Rf_xlengthgets(to, (R_xlen_t)length);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_pack(SEXP codec, SEXP bytes, SEXP size) {
  const struct joist_compression *const found = codec_of(codec, bytes);
  const size_t n = (size_t)XLENGTH(bytes), room = found->bound(n);
  const size_t element = byte_count(size, 1, 16);
  size_t length = 0;
  SEXP to = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)room));
  if (!found->pack(RAW(bytes), n, element, RAW(to), room, &length))
    joist_r_stop(JOIST_ERROR_VALUE, "%s cannot pack %.0f bytes", found->name, (double)n);
  SEXP result = Rf_xlengthgets(to, (R_xlen_t)length);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_checksum(SEXP name, SEXP bytes) {
  const char *const which = joist_r_string(name, "name");
  if (TYPEOF(bytes) != RAWSXP) joist_r_stop(JOIST_ERROR_VALUE, "`bytes` must be a raw vector");
  uint32_t (*const sum)(const void *, size_t) = strcmp(which, "crc32") == 0    ? joist_crc32
                                                : strcmp(which, "crc32c") == 0 ? joist_crc32c
                                                                               : joist_adler32;
  const uint32_t number = sum(RAW(bytes), (size_t)XLENGTH(bytes));
  SEXP result = Rf_allocVector(RAWSXP, 4);
  for (int k = 0; k < 4; k++) RAW(result)[k] = (Rbyte)(number >> (8 * k) & 0xff);
  return result;
}
