/* Reads tensors out of files and writes them. */
#include "r/exchange/files.h"

#include <string.h>

#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/call/transfer.h"
#include "r/memory/mapped.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/rules.h"

/* ---- reading ---- */

SEXP joist_r_open_input(SEXP path, SEXP bytes, struct joist_r_input *input) {
  *input = (struct joist_r_input){.file = R_NilValue, .bytes = bytes};
  if (path == R_NilValue) {
    joist_r_check_raw(bytes);
    input->size = (uint64_t)XLENGTH(bytes);
  } else {
    input->file = joist_r_open_file(path);
    if (input->file == R_NilValue) joist_r_no_file(path);
    input->size = joist_r_file_of(input->file)->file.size;
  }
  return input->file;
}

void joist_r_close_input(const struct joist_r_input *input) {
  if (input->file != R_NilValue) joist_r_close_file(input->file);
}

SEXP joist_r_read_head(const struct joist_r_input *input, size_t bytes) {
  if (input->file == R_NilValue) return input->bytes;
  const struct joist_file *const file = &joist_r_file_of(input->file)->file;
  if (bytes > file->size) bytes = (size_t)file->size;
  SEXP head = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)bytes));
  const int code = joist_file_read(file, 0, RAW(head), bytes);
  if (code != 0) joist_r_file_stop("read", joist_r_path_of(input->file), code);
  UNPROTECT(1);
  return head;
}

static joist_status read_into(const struct joist_elements *elements,
                              const struct joist_r_input *input, void *to,
                              struct joist_error *error) {
  const bool is_file = input->file != R_NilValue;
  const struct joist_file *const file = is_file ? &joist_r_file_of(input->file)->file : NULL;
  const struct joist_run run = joist_r_run();
  return joist_elements_read(elements, file, is_file ? NULL : RAW(input->bytes), to, &run, error);
}

/* The bytes of elements of a type without a dtype, with a dimension more, the first. */
static SEXP read_units(const struct joist_elements *elements, const struct joist_r_input *input) {
  struct joist_shape shape = {.rank = elements->shape.rank + 1,
                              .extent = {(uint32_t)elements->unit}};
  struct joist_error error;
  if (shape.rank > JOIST_RANK_MAX)
    JOIST_R_FAIL(JOIST_E_RANK_LIMIT, .count = {(size_t)shape.rank, JOIST_RANK_MAX});
  memcpy(shape.extent + 1, elements->shape.extent,
         (size_t)elements->shape.rank * sizeof *shape.extent);
  const size_t bytes = elements->count * elements->unit;
  const struct joist_elements flat = {
      .dtype = JOIST_UI8, .shape = {1, {0}}, .count = bytes, .start = elements->start};
  SEXP payload = PROTECT(joist_r_payload(JOIST_UI8, bytes));
  joist_status status = read_into(&flat, input, joist_r_elements(payload), &error);
  if (elements->c_order && elements->shape.rank > 1 && status == JOIST_OK) {
    const struct joist_run run = joist_r_run();
    SEXP turned = PROTECT(joist_r_payload(JOIST_UI8, bytes));
    status = joist_elements_turn(elements->unit, &elements->shape, joist_r_elements(payload),
                                 joist_r_elements(turned), &run, &error);
    UNPROTECT(2);
    payload = PROTECT(turned);
  }
  if (status == JOIST_ERROR_VALUE && error.code == JOIST_E_FILE)
    error.text[0] = joist_quote(joist_r_path_text(joist_r_path_of(input->file)));
  joist_r_raise_if(status, &error);
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){JOIST_UI8, false}, &shape);
  UNPROTECT(1);
  return tensor;
}

static SEXP mapped(const struct joist_elements *elements, SEXP pointer) {
  const size_t size = joist_dtype_size(elements->dtype);
  if (elements->count == 0 || !joist_elements_are_memory(elements) || elements->start % size != 0)
    return R_NilValue;
  const SEXPTYPE type = joist_r_payload_type(elements->dtype);
  const size_t n = type == RAWSXP ? elements->count * size : elements->count;
  return joist_r_map(pointer, type, elements->start, n);
}

SEXP joist_r_read_elements(const struct joist_elements *elements, const struct joist_r_input *input,
                           bool map) {
  const struct joist_type type = {elements->dtype, false};
  const bool is_file = input->file != R_NilValue;
  if (elements->unit > 0) return read_units(elements, input);
  SEXP payload = PROTECT(map && is_file ? mapped(elements, input->file) : R_NilValue);
  if (payload == R_NilValue) {
    UNPROTECT(1);
    payload = PROTECT(joist_r_payload(elements->dtype, elements->count));
    struct joist_error error;
    const joist_status status = read_into(elements, input, joist_r_elements(payload), &error);
    if (status == JOIST_ERROR_VALUE && error.code == JOIST_E_FILE)
      error.text[0] = joist_quote(joist_r_path_text(joist_r_path_of(input->file)));
    joist_r_raise_if(status, &error);
  }
  SEXP tensor = joist_r_tensor(payload, type, &elements->shape);
  UNPROTECT(1);
  return tensor;
}

/* ---- writing ---- */

SEXP joist_r_read_here(SEXP x, struct joist_r_value *value) {
  joist_r_read_missing(joist_r_rules(R_NilValue), x, value);
  joist_r_needs_data(value);
  return value->form == JOIST_R_REMOTE ? joist_r_fetch(value, value->count) : x;
}

SEXP joist_r_read_to_write(SEXP x, struct joist_r_value *value) {
  SEXP kept = PROTECT(joist_r_read_here(x, value));
  joist_r_needs_present(value);
  UNPROTECT(1);
  return kept;
}

static SEXP write_bytes(const char *header, size_t length, const struct joist_elements *elements,
                        const void *const *data, size_t count) {
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  uint64_t bytes = length;
  for (size_t k = 0; k < count; k++) bytes += joist_elements_bytes(&elements[k]);
  SEXP result = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)bytes));
  unsigned char *to = RAW(result);
  if (length > 0) memcpy(to, header, length);
  to += length;
  for (size_t k = 0; k < count; k++) {
    joist_r_raise_if(joist_elements_write(&elements[k], data[k], NULL, to, &run, &error), &error);
    to += joist_elements_bytes(&elements[k]);
  }
  UNPROTECT(1);
  return result;
}

static void write_file(SEXP path, const char *header, size_t length,
                       const struct joist_elements *elements, const void *const *data,
                       size_t count) {
  const char *const name = joist_r_path(path);
  const struct joist_run run = joist_r_run();
  struct joist_output output;
  struct joist_error error;
  int code = joist_output_open(name, &output);
  if (code != 0) joist_r_file_stop("write", path, code);
  code = joist_output_write(&output, header, length);
  joist_status status = JOIST_OK;
  for (size_t k = 0; k < count && code == 0 && status == JOIST_OK; k++)
    status = joist_elements_write(&elements[k], data[k], &output, NULL, &run, &error);
  if (code == 0 && status == JOIST_OK)
    code = joist_output_finish(&output);
  else
    joist_output_discard(&output);
  if (code != 0) joist_r_file_stop("write", path, code);
  joist_r_raise_if(status, &error);
}

struct joist_elements joist_r_elements_of(const struct joist_r_value *value, SEXP c_order,
                                          SEXP swapped) {
  return (struct joist_elements){.dtype = value->argument.operand.type.dtype,
                                 .swapped = joist_r_flag(swapped, "swapped"),
                                 .c_order = joist_r_flag(c_order, "c_order"),
                                 .shape = value->argument.shape,
                                 .count = value->count};
}

SEXP joist_r_write(SEXP path, const char *header, size_t length,
                   const struct joist_elements *elements, const void *const *data, size_t count) {
  if (path == R_NilValue) return write_bytes(header, length, elements, data, count);
  write_file(path, header, length, elements, data, count);
  return R_NilValue;
}
