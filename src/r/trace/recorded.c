#include "r/trace/recorded.h"

#include <stdlib.h>

#include "core/program/print.h"
#include "core/program/read.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
/* Behind R's other headers, which it does not include. */
#include <R_ext/Altrep.h>

/* ---- programs and text ---- */

void joist_r_program_free(SEXP owner) {
  struct joist_program *const program = R_ExternalPtrAddr(owner);
  if (program == NULL) return;
  R_ClearExternalPtr(owner);
  joist_program_clear(program);
  free(program);
}

SEXP joist_r_program_new(struct joist_program **program) {
  SEXP owner = PROTECT(joist_r_owner(joist_r_program_free));
  *program = calloc(1, sizeof **program);
  if (*program == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  R_SetExternalPtrAddr(owner, *program);
  UNPROTECT(1);
  return owner;
}

_Noreturn void joist_r_chunked_damaged(void) {
  joist_r_stop(JOIST_ERROR_VALUE, "this chunked tensor is damaged");
}

SEXP joist_r_program_owner(SEXP text, struct joist_program **program) {
  if (TYPEOF(text) != STRSXP || XLENGTH(text) != 1) joist_r_chunked_damaged();
  SEXP owner = PROTECT(joist_r_program_new(program));
  struct joist_error error;
  joist_r_raise_if(joist_program_read(CHAR(STRING_ELT(text, 0)), *program, &error), &error);
  UNPROTECT(1);
  return owner;
}

static void free_text(SEXP pointer) {
  free(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

SEXP joist_r_program_string(const struct joist_program *program) {
  static const struct joist_print_words words = {.exact = true};
  SEXP owner = PROTECT(joist_r_owner(free_text));
  struct joist_text text = {NULL, 0, 0, false};
  joist_print_program(program, &words, &text);
  R_SetExternalPtrAddr(owner, text.data);
  if (text.failed) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  SEXP string = PROTECT(Rf_mkCharLenCE(text.data, (int)text.length, CE_UTF8));
  SEXP made = Rf_ScalarString(string);
  free_text(owner);
  UNPROTECT(2);
  return made;
}

/* ---- text on demand ---- */

/* The first datum is a list: the owner of the program, and numbers. The second is the text, once
 * it is written. R saves the string as an ordinary one. */
static R_altrep_class_t class;
enum { OWNER, NUMBERS, PARTS };                        /* of the list */
enum { OUTPUT, VALUES, INSTRUCTIONS, INPUTS, COUNTS }; /* of the numbers */

SEXP joist_r_recorded_string(SEXP owner, joist_value_id value) {
  const struct joist_program *const program = R_ExternalPtrAddr(owner);
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, PARTS));
  SEXP numbers = Rf_allocVector(INTSXP, COUNTS);
  SET_VECTOR_ELT(parts, OWNER, owner);
  SET_VECTOR_ELT(parts, NUMBERS, numbers);
  INTEGER(numbers)[OUTPUT] = (int)value;
  INTEGER(numbers)[VALUES] = (int)program->value_count;
  INTEGER(numbers)[INSTRUCTIONS] = (int)program->instruction_count;
  INTEGER(numbers)[INPUTS] = (int)program->input_count;
  SEXP made = R_new_altrep(class, parts, R_NilValue);
  UNPROTECT(1);
  return made;
}

SEXP joist_r_recorded_program(SEXP text, struct joist_program *recorded) {
  if (TYPEOF(text) != STRSXP || !ALTREP(text) || !R_altrep_inherits(text, class)) return R_NilValue;
  SEXP parts = R_altrep_data1(text), owner = VECTOR_ELT(parts, OWNER);
  int *const numbers = INTEGER(VECTOR_ELT(parts, NUMBERS));
  *recorded = *(const struct joist_program *)R_ExternalPtrAddr(owner);
  recorded->value_count = (uint32_t)numbers[VALUES];
  recorded->instruction_count = (uint32_t)numbers[INSTRUCTIONS];
  recorded->input_count = (uint32_t)numbers[INPUTS];
  recorded->outputs = (joist_value_id *)&numbers[OUTPUT];
  recorded->output_count = 1;
  return owner;
}

static SEXP written(SEXP x) {
  struct joist_program recorded;
  if (R_altrep_data2(x) == R_NilValue) {
    (void)joist_r_recorded_program(x, &recorded);
    R_set_altrep_data2(x, joist_r_program_string(&recorded));
  }
  return R_altrep_data2(x);
}

static R_xlen_t length(SEXP x) {
  (void)x;
  return 1;
}

static SEXP string_element(SEXP x, R_xlen_t k) { return STRING_ELT(written(x), k); }

static void *data(SEXP x, Rboolean writable) {
  (void)writable;
  return (void *)(uintptr_t)STRING_PTR_RO(written(x));
}

static const void *data_or_null(SEXP x) {
  (void)x;
  return NULL;
}

void joist_r_recorded_init(void) {
  class = R_make_altstring_class("program", "joist", NULL);
  R_set_altrep_Length_method(class, length);
  R_set_altvec_Dataptr_method(class, data);
  R_set_altvec_Dataptr_or_null_method(class, data_or_null);
  R_set_altstring_Elt_method(class, string_element);
}
