/* Reads and writes safetensors files. */
#include "r/exchange/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "core/files/safetensors.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/exchange/files.h"

/* ---- reading ---- */

static void free_header(SEXP pointer) {
  struct joist_safetensors *header = R_ExternalPtrAddr(pointer);
  if (header == NULL) return;
  R_ClearExternalPtr(pointer);
  joist_safetensors_free(header);
  R_Free(header);
}

/* A header that R owns from the start: reading it may fail at any place. */
static SEXP new_header(struct joist_safetensors **header) {
  SEXP pointer = PROTECT(joist_r_owner(free_header));
  *header = R_Calloc(1, struct joist_safetensors);
  R_SetExternalPtrAddr(pointer, *header);
  UNPROTECT(1);
  return pointer;
}

static SEXP utf8(const char *text) { return Rf_mkCharCE(text, CE_UTF8); }

static SEXP metadata_of(const struct joist_safetensors *header) {
  const R_xlen_t n = (R_xlen_t)header->metadata_count;
  SEXP values = PROTECT(Rf_allocVector(STRSXP, n));
  SEXP keys = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    SET_STRING_ELT(keys, k, utf8(header->metadata[k].key));
    SET_STRING_ELT(values, k, utf8(header->metadata[k].value));
  }
  Rf_setAttrib(values, R_NamesSymbol, keys);
  UNPROTECT(2);
  return values;
}

static const struct joist_safetensor *find_tensor(const struct joist_safetensors *header,
                                                  const char *name) {
  for (size_t k = 0; k < header->count; k++)
    if (strcmp(header->tensors[k].name, name) == 0) return &header->tensors[k];
  joist_r_stop(JOIST_ERROR_VALUE, "there is no tensor \"%s\" in the file, which has %.0f%s%s%s",
               name, (double)header->count, header->count > 0 ? ": the first is \"" : "",
               header->count > 0 ? header->tensors[0].name : "", header->count > 0 ? "\"" : "");
}

static SEXP read_one(const struct joist_safetensor *tensor, bool raw, bool reversed,
                     const struct joist_r_input *input, bool map) {
  struct joist_elements elements = tensor->elements;
  if (elements.dtype == JOIST_DTYPE_NONE) {
    if (!raw)
      joist_r_stop(
          JOIST_ERROR_DTYPE,
          "tensor \"%s\" is of type %s, which is unknown; read its bytes with raw = TRUE, or "
          "the others by `names`",
          tensor->name, tensor->type);
    if (elements.unit == 0)
      joist_r_stop(
          JOIST_ERROR_DTYPE,
          "tensor \"%s\" of type %s has %.0f bytes for %.0f elements, so that an element does "
          "not have a number of bytes of its own; read the others by `names`",
          tensor->name, tensor->type, (double)tensor->bytes, (double)elements.count);
    elements.dtype = JOIST_UI8;
  }
  if (reversed) joist_elements_reverse(&elements);
  return joist_r_read_elements(&elements, input, map);
}

SEXP joist_r_read_safetensors(SEXP path, SEXP bytes, SEXP names, SEXP raw, SEXP reversed,
                              SEXP map) {
  const bool with_bytes = joist_r_flag(raw, "raw");
  const bool turned = joist_r_flag(reversed, "reversed"), mmap = joist_r_flag(map, "mmap");
  struct joist_r_input input;
  struct joist_error error;
  size_t length;
  PROTECT(joist_r_open_input(path, bytes, &input));
  SEXP head = PROTECT(joist_r_read_head(&input, JOIST_SAFETENSORS_PREFIX));
  joist_r_raise_if(
      joist_safetensors_length(RAW(head), (size_t)XLENGTH(head), input.size, &length, &error),
      &error);
  head = PROTECT(joist_r_read_head(&input, length));
  struct joist_safetensors *header;
  SEXP owner = PROTECT(new_header(&header));
  joist_r_raise_if(joist_safetensors_parse(RAW(head), length, input.size, header, &error), &error);
  const bool all = names == R_NilValue;
  const R_xlen_t n = all ? (R_xlen_t)header->count : XLENGTH(names);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, n));
  SEXP found = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    const struct joist_safetensor *const tensor =
        all ? &header->tensors[k] : find_tensor(header, Rf_translateCharUTF8(STRING_ELT(names, k)));
    SET_STRING_ELT(found, k, utf8(tensor->name));
    SET_VECTOR_ELT(result, k, read_one(tensor, with_bytes, turned, &input, mmap));
  }
  Rf_setAttrib(result, R_NamesSymbol, found);
  if (header->metadata_count > 0)
    Rf_setAttrib(result, Rf_install("metadata"), PROTECT(metadata_of(header)));
  else
    PROTECT(R_NilValue);
  free_header(owner);
  joist_r_close_input(&input);
  UNPROTECT(7);
  return result;
}

/* ---- writing ---- */

static const char *text_at(SEXP strings, R_xlen_t k) {
  return Rf_translateCharUTF8(STRING_ELT(strings, k));
}

/* What is to be written: all of it is transient memory. */
struct writing {
  size_t count, metadata_count;
  struct joist_safetensor *tensors;
  struct joist_safetensors_pair *metadata;
  const void **data; /* as the tensors */
  size_t *order;
};

/* The result protects the data. */
static SEXP read_tensors(SEXP tensors, SEXP metadata, struct writing *writing) {
  const size_t n = (size_t)XLENGTH(tensors);
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
  SEXP names = PROTECT(Rf_getAttrib(tensors, R_NamesSymbol));
  writing->count = n;
  writing->tensors = (void *)R_alloc(n + 1, sizeof *writing->tensors);
  writing->data = (void *)R_alloc(n + 1, sizeof *writing->data);
  writing->order = (void *)R_alloc(n + 1, sizeof *writing->order);
  for (size_t k = 0; k < n; k++) {
    struct joist_r_value value;
    SET_VECTOR_ELT(kept, (R_xlen_t)k,
                   joist_r_read_to_write(VECTOR_ELT(tensors, (R_xlen_t)k), &value));
    writing->data[k] = value.data;
    writing->tensors[k] = (struct joist_safetensor){
        .name = text_at(names, (R_xlen_t)k),
        .elements = {.dtype = value.argument.operand.type.dtype, .shape = value.argument.shape}};
  }
  const size_t pairs = (size_t)Rf_xlength(metadata);
  SEXP keys = PROTECT(Rf_getAttrib(metadata, R_NamesSymbol));
  writing->metadata_count = pairs;
  writing->metadata = (void *)R_alloc(pairs + 1, sizeof *writing->metadata);
  for (size_t k = 0; k < pairs; k++)
    writing->metadata[k] =
        (struct joist_safetensors_pair){text_at(keys, (R_xlen_t)k), text_at(metadata, (R_xlen_t)k)};
  UNPROTECT(3);
  return kept;
}

static void free_text(SEXP pointer) {
  free(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

/* The result owns the header. */
static SEXP format_header(const struct writing *writing, char **header, size_t *length) {
  struct joist_error error;
  SEXP owner = PROTECT(joist_r_owner(free_text));
  joist_r_raise_if(
      joist_safetensors_format(writing->tensors, writing->count, writing->metadata,
                               writing->metadata_count, writing->order, header, length, &error),
      &error);
  R_SetExternalPtrAddr(owner, *header);
  UNPROTECT(1);
  return owner;
}

SEXP joist_r_write_safetensors(SEXP tensors, SEXP metadata, SEXP path) {
  struct writing writing;
  SEXP kept = PROTECT(read_tensors(tensors, metadata, &writing));
  char *header;
  size_t length;
  SEXP owner = PROTECT(format_header(&writing, &header, &length));
  const size_t n = writing.count;
  struct joist_elements *const elements = (void *)R_alloc(n + 1, sizeof *elements);
  const void **const data = (void *)R_alloc(n + 1, sizeof *data);
  for (size_t k = 0; k < n; k++) {
    elements[k] = writing.tensors[writing.order[k]].elements;
    data[k] = writing.data[writing.order[k]];
  }
  SEXP result = joist_r_write(path, header, length, elements, data, n);
  free_text(owner);
  (void)kept;
  UNPROTECT(2);
  return result;
}
