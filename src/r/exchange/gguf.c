/* Reads GGUF files. */
#include "r/exchange/gguf.h"

#include <string.h>

#include "core/files/gguf.h"
#include "core/files/json.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/exchange/files.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/dtypes.h"

enum { HEAD = 1 << 16 /* bytes that most headers without a vocabulary have */ };

static void free_header(SEXP pointer) {
  struct joist_gguf *header = R_ExternalPtrAddr(pointer);
  if (header == NULL) return;
  R_ClearExternalPtr(pointer);
  joist_gguf_free(header);
  R_Free(header);
}

/* The header of an open file, which the result owns, and its bytes. */
static SEXP read_header(const struct joist_r_input *input, struct joist_gguf **header, SEXP *head) {
  SEXP pointer = PROTECT(joist_r_owner(free_header));
  *header = R_Calloc(1, struct joist_gguf);
  R_SetExternalPtrAddr(pointer, *header);
  size_t wanted = HEAD;
  do {
    struct joist_error error;
    *head = PROTECT(joist_r_read_head(input, wanted));
    joist_gguf_free(*header);
    joist_r_raise_if(
        joist_gguf_parse(RAW(*head), (size_t)XLENGTH(*head), input->size, *header, &error), &error);
    wanted = (*header)->needed;
    UNPROTECT(1);
  } while (wanted > 0);
  UNPROTECT(1);
  return pointer;
}

/* ---- metadata ---- */

/* What cannot be UTF-8 is marked as bytes. */
static SEXP string_of(const char *text, size_t length) {
  const cetype_t encoding = joist_is_utf8(text, length) ? CE_UTF8 : CE_BYTES;
  return Rf_mkCharLenCE(text, (int)length, encoding);
}

static SEXP value_of(const struct joist_gguf *header, SEXP head,
                     const struct joist_gguf_value *value);

static SEXP items_of(const struct joist_gguf *header, SEXP head,
                     const struct joist_gguf_value *value) {
  const R_xlen_t n = (R_xlen_t)value->count;
  size_t at = value->at, length;
  SEXP items = PROTECT(Rf_allocVector(value->type == JOIST_GGUF_BOOL     ? LGLSXP
                                      : value->type == JOIST_GGUF_STRING ? STRSXP
                                                                         : VECSXP,
                                      n));
  for (R_xlen_t k = 0; k < n; k++) {
    if (value->type == JOIST_GGUF_BOOL) {
      LOGICAL(items)[k] = RAW(head)[at++];
    } else if (value->type == JOIST_GGUF_STRING) {
      const char *const text = joist_gguf_string(header, RAW(head), &at, &length);
      if (length > INT32_MAX) joist_r_stop(JOIST_ERROR_VALUE, "a string is beyond 2^31 - 1 bytes");
      SET_STRING_ELT(items, k, string_of(text, length));
    } else {
      const struct joist_gguf_value item = joist_gguf_array(header, RAW(head), &at);
      SET_VECTOR_ELT(items, k, value_of(header, head, &item));
    }
  }
  UNPROTECT(1);
  return items;
}

/* Numbers are tensors of their dtype. */
static SEXP value_of(const struct joist_gguf *header, SEXP head,
                     const struct joist_gguf_value *value) {
  const joist_dtype dtype = joist_gguf_dtype(value->type);
  if (dtype == JOIST_DTYPE_NONE) return items_of(header, head, value);
  if (value->count > INT32_MAX) joist_r_stop(JOIST_ERROR_VALUE, "an array is beyond 2^31 - 1");
  const struct joist_r_input input = {R_NilValue, head, (uint64_t)XLENGTH(head)};
  const struct joist_elements elements = {.dtype = dtype,
                                          .swapped = header->swapped,
                                          .shape = {value->is_array, {(uint32_t)value->count}},
                                          .count = (size_t)value->count,
                                          .start = value->at};
  return joist_r_read_elements(&elements, &input, false);
}

static SEXP metadata_of(const struct joist_gguf *header, SEXP head) {
  const R_xlen_t n = (R_xlen_t)header->pair_count;
  SEXP values = PROTECT(Rf_allocVector(VECSXP, n)), keys = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    const struct joist_gguf_pair *const pair = &header->pairs[k];
    SET_STRING_ELT(keys, k, string_of(pair->key, strlen(pair->key)));
    SET_VECTOR_ELT(values, k, value_of(header, head, &pair->value));
  }
  Rf_setAttrib(values, R_NamesSymbol, keys);
  UNPROTECT(2);
  return values;
}

/* ---- tensors ---- */

SEXP joist_r_gguf(SEXP path) {
  static const char *const names[] = {"version", "big_endian", "names", "types",
                                      "codes",   "shapes",     "bytes", "bits",
                                      "offsets", "metadata",   ""};
  struct joist_r_input input;
  struct joist_gguf *header;
  SEXP head;
  PROTECT(joist_r_open_input(path, R_NilValue, &input));
  SEXP owner = PROTECT(read_header(&input, &header, &head));
  PROTECT(head);
  const R_xlen_t n = (R_xlen_t)header->count;
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
  SET_VECTOR_ELT(result, 0, Rf_ScalarInteger((int)header->version));
  SET_VECTOR_ELT(result, 1, Rf_ScalarLogical(header->big));
  static const SEXPTYPE columns[] = {STRSXP, STRSXP, REALSXP, VECSXP, REALSXP, REALSXP, REALSXP};
  for (int c = 0; c < 7; c++) SET_VECTOR_ELT(result, 2 + c, Rf_allocVector(columns[c], n));
  for (R_xlen_t k = 0; k < n; k++) {
    const struct joist_gguf_tensor *const tensor = &header->tensors[k];
    const char *const type = joist_gguf_type(tensor);
    SET_STRING_ELT(VECTOR_ELT(result, 2), k, string_of(tensor->name, strlen(tensor->name)));
    SET_STRING_ELT(VECTOR_ELT(result, 3), k, type == NULL ? NA_STRING : Rf_mkChar(type));
    REAL(VECTOR_ELT(result, 4))[k] = tensor->code;
    SET_VECTOR_ELT(VECTOR_ELT(result, 5), k, joist_r_shape_object(&tensor->shape));
    REAL(VECTOR_ELT(result, 6))[k] = (double)tensor->bytes;
    REAL(VECTOR_ELT(result, 7))[k] = joist_gguf_bits(tensor);
    REAL(VECTOR_ELT(result, 8))[k] = (double)tensor->start;
  }
  SET_VECTOR_ELT(result, 9, metadata_of(header, head));
  free_header(owner);
  joist_r_close_input(&input);
  UNPROTECT(4);
  return result;
}

/* Blocks whose numbers have their big end first, turned round. */
static SEXP read_turned(const struct joist_elements *elements, joist_block block,
                        const struct joist_r_input *input) {
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  SEXP payload = PROTECT(joist_r_payload(JOIST_UI8, elements->count));
  const joist_status status = joist_elements_read(elements, &joist_r_file_of(input->file)->file,
                                                  NULL, joist_r_elements(payload), &run, &error);
  if (status == JOIST_ERROR_VALUE && error.code == JOIST_E_FILE)
    error.text[0] = joist_quote(joist_r_path_text(joist_r_path_of(input->file)));
  joist_r_raise_if(status, &error);
  joist_block_swap(block, elements->count / joist_block_facts(block)->bytes,
                   joist_r_elements(payload));
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){JOIST_UI8, false}, &elements->shape);
  UNPROTECT(1);
  return tensor;
}

/* Bytes have the shape of the elements but for the first extent, or one dim where the type is not
 * known. */
static SEXP read_bytes(const struct joist_gguf *header, const struct joist_gguf_tensor *tensor,
                       bool raw, const struct joist_r_input *input, bool map) {
  struct joist_elements elements = {.dtype = JOIST_UI8,
                                    .shape = tensor->shape,
                                    .count = (size_t)tensor->bytes,
                                    .start = tensor->start};
  const bool known = joist_gguf_type(tensor) != NULL && tensor->shape.rank > 0;
  const uint64_t lines = known && tensor->count > 0 ? tensor->count / tensor->shape.extent[0] : 1;
  if (tensor->bytes / lines > INT32_MAX)
    joist_r_stop(JOIST_ERROR_VALUE, "tensor \"%s\" has more than 2^31 - 1 bytes in a row",
                 tensor->name);
  if (!known) elements.shape.rank = 1;
  elements.shape.extent[0] = (uint32_t)(tensor->bytes / lines);
  if (!header->big || tensor->block == JOIST_BLOCK_COUNT || raw)
    return joist_r_read_elements(&elements, input, map);
  if (!joist_block_facts(tensor->block)->swaps)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "tensor \"%s\" of type %s is not read from big-endian files; use raw = TRUE",
                 tensor->name, joist_gguf_type(tensor));
  return read_turned(&elements, tensor->block, input);
}

static SEXP read_tensor(const struct joist_gguf *header, const struct joist_gguf_tensor *tensor,
                        bool raw, const struct joist_r_input *input, bool map) {
  if (joist_gguf_type(tensor) == NULL && !raw)
    joist_r_stop(JOIST_ERROR_DTYPE,
                 "tensor \"%s\" is of type %u, which is unknown; read its bytes with raw = TRUE, "
                 "or the others by `names`",
                 tensor->name, (unsigned)tensor->code);
  if (raw || tensor->dtype == JOIST_DTYPE_NONE) return read_bytes(header, tensor, raw, input, map);
  const struct joist_elements elements = {.dtype = tensor->dtype,
                                          .swapped = header->swapped,
                                          .shape = tensor->shape,
                                          .count = tensor->count,
                                          .start = tensor->start};
  return joist_r_read_elements(&elements, input, map);
}

SEXP joist_r_read_gguf(SEXP path, SEXP positions, SEXP raw, SEXP map) {
  const bool with_bytes = joist_r_flag(raw, "raw"), mmap = joist_r_flag(map, "mmap");
  struct joist_r_input input;
  struct joist_gguf *header;
  SEXP head;
  PROTECT(joist_r_open_input(path, R_NilValue, &input));
  SEXP owner = PROTECT(read_header(&input, &header, &head));
  const R_xlen_t n = XLENGTH(positions);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    const int at = INTEGER(positions)[k];
    if (at < 1 || (size_t)at > header->count) /* the file was replaced since its header was read */
      joist_r_stop(JOIST_ERROR_VALUE, "there is no tensor %d in the file", at);
    SET_VECTOR_ELT(result, k,
                   read_tensor(header, &header->tensors[at - 1], with_bytes, &input, mmap));
  }
  free_header(owner);
  joist_r_close_input(&input);
  UNPROTECT(3);
  return result;
}

SEXP joist_r_block_types(void) {
  static const char *const names[] = {"name", "code", "elements", "bytes", ""};
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
  SET_VECTOR_ELT(result, 0, Rf_allocVector(STRSXP, JOIST_BLOCK_COUNT));
  for (int c = 1; c < 4; c++) SET_VECTOR_ELT(result, c, Rf_allocVector(INTSXP, JOIST_BLOCK_COUNT));
  for (int k = 0; k < JOIST_BLOCK_COUNT; k++) {
    const struct joist_block_facts *const facts = joist_block_facts((joist_block)k);
    SET_STRING_ELT(VECTOR_ELT(result, 0), k, Rf_mkChar(facts->name));
    INTEGER(VECTOR_ELT(result, 1))[k] = (int)facts->code;
    INTEGER(VECTOR_ELT(result, 2))[k] = (int)facts->elements;
    INTEGER(VECTOR_ELT(result, 3))[k] = (int)facts->bytes;
  }
  UNPROTECT(1);
  return result;
}

SEXP joist_r_gguf_code(SEXP dtype) {
  const int code = joist_gguf_code(joist_r_dtype(dtype));
  return code < 0 ? R_NilValue : Rf_ScalarInteger(code);
}

/* ---- writing ---- */

/* A tensor and as many zeros as the next one needs to be aligned. */
SEXP joist_r_write_gguf(SEXP path, SEXP header, SEXP tensors, SEXP alignment, SEXP swapped) {
  const size_t aligned = (size_t)Rf_asReal(alignment);
  const void *const zeros = memset(R_alloc(aligned, 1), 0, aligned);
  const R_xlen_t n = XLENGTH(tensors);
  struct joist_elements *const elements = (void *)R_alloc(2 * (size_t)n + 1, sizeof *elements);
  const void **const data = (void *)R_alloc(2 * (size_t)n + 1, sizeof *data);
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    struct joist_r_value value;
    SET_VECTOR_ELT(kept, k, joist_r_read_to_write(VECTOR_ELT(tensors, k), &value));
    elements[2 * k] = joist_r_elements_of(&value, Rf_ScalarLogical(FALSE), swapped);
    data[2 * k] = value.data;
    const uint64_t bytes = joist_elements_bytes(&elements[2 * k]);
    const size_t gap = (size_t)((uint64_t)-bytes % aligned);
    elements[2 * k + 1] =
        (struct joist_elements){.dtype = JOIST_UI8, .shape = {1, {(uint32_t)gap}}, .count = gap};
    data[2 * k + 1] = zeros;
  }
  SEXP result = joist_r_write(path, (const char *)RAW(header), (size_t)XLENGTH(header), elements,
                              data, 2 * (size_t)n);
  UNPROTECT(1);
  return result;
}
