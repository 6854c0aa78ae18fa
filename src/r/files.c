/* Reads tensors out of files and writes them. */
#include "r/files.h"

#include <string.h>

#include "r/conditions.h"
#include "r/mapped.h"
#include "r/payload.h"
#include "r/rules.h"
#include "r/run.h"
#include "r/transfer.h"

/* ---- reading ---- */

static SEXP path_of(SEXP pointer) { return R_ExternalPtrTag(pointer); }

SEXP joist_r_read_head(SEXP pointer, size_t bytes) {
  const struct joist_file *const file = &joist_r_file_of(pointer)->file;
  if (bytes > file->size) bytes = (size_t)file->size;
  SEXP head = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)bytes));
  const int code = joist_file_read(file, 0, RAW(head), bytes);
  if (code != 0) joist_r_file_stop("read", path_of(pointer), code);
  UNPROTECT(1);
  return head;
}

static SEXP mapped(const struct joist_elements *elements, SEXP pointer) {
  const size_t size = joist_dtype_size(elements->dtype);
  if (elements->count == 0 || !joist_elements_are_memory(elements) || elements->start % size != 0)
    return R_NilValue;
  const SEXPTYPE type = joist_r_payload_type(elements->dtype);
  const size_t n = type == RAWSXP ? elements->count * size : elements->count;
  return joist_r_map(pointer, type, elements->start, n);
}

SEXP joist_r_read_elements(const struct joist_elements *elements, SEXP pointer,
                           const unsigned char *bytes, bool map) {
  const struct joist_type type = {elements->dtype, false};
  SEXP payload = PROTECT(map && pointer != R_NilValue ? mapped(elements, pointer) : R_NilValue);
  if (payload == R_NilValue) {
    UNPROTECT(1);
    payload = PROTECT(joist_r_payload(elements->dtype, elements->count));
    const struct joist_file *const file =
        pointer == R_NilValue ? NULL : &joist_r_file_of(pointer)->file;
    const struct joist_run run = joist_r_run();
    struct joist_error error;
    const joist_status status =
        joist_elements_read(elements, file, bytes, joist_r_elements(payload), &run, &error);
    if (status == JOIST_ERROR_VALUE && error.code == JOIST_E_FILE)
      error.text[0] = joist_quote(Rf_translateCharUTF8(STRING_ELT(path_of(pointer), 0)));
    if (status != JOIST_OK) joist_r_raise(status, &error);
  }
  SEXP tensor = joist_r_tensor(payload, type, &elements->shape);
  UNPROTECT(1);
  return tensor;
}

/* ---- writing ---- */

SEXP joist_r_read_to_write(SEXP x, struct joist_r_value *value) {
  joist_r_read_any(joist_r_rules(R_NilValue), x, value);
  joist_r_needs_data(value);
  return value->form == JOIST_R_REMOTE ? joist_r_fetch(value, value->count) : x;
}

void joist_r_write_file(SEXP path, const char *header, size_t length,
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
  if (status != JOIST_OK) joist_r_raise(status, &error);
}
