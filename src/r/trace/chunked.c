#include "r/trace/chunked.h"

#include <string.h>

#include "r/base/conditions.h"
#include "r/tensor/operands.h"
#include "r/trace/recorded.h"

SEXP joist_r_list_element(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t k = 0; names != R_NilValue && k < XLENGTH(names); k++)
    if (strcmp(CHAR(STRING_ELT(names, k)), name) == 0) return VECTOR_ELT(list, k);
  return R_NilValue;
}

const uint32_t *joist_r_chunks(SEXP x, int rank) {
  SEXP chunks = TYPEOF(x) == VECSXP ? joist_r_list_element(x, "chunks")
                                    : Rf_getAttrib(x, Rf_install("chunks"));
  if (chunks == R_NilValue && TYPEOF(x) == VECSXP) return NULL;
  if (TYPEOF(chunks) != INTSXP || XLENGTH(chunks) < rank)
    joist_r_stop(JOIST_ERROR_SHAPE, "chunks must have an extent for each dimension");
  return (const uint32_t *)INTEGER(chunks);
}

SEXP joist_r_integers(const uint32_t *from, int n) {
  SEXP made = Rf_allocVector(INTSXP, n);
  for (int k = 0; k < n; k++) INTEGER(made)[k] = (int)from[k];
  return made;
}

/* ---- chunked tensors ---- */

enum { OWNER, LEAVES, PARTS };

static struct joist_r_chunked begin(SEXP owner, SEXP leaves) {
  PROTECT(owner);
  PROTECT(leaves);
  struct joist_r_chunked chunked = {Rf_allocVector(VECSXP, PARTS), R_ExternalPtrAddr(owner)};
  SET_VECTOR_ELT(chunked.owner, OWNER, owner);
  SET_VECTOR_ELT(chunked.owner, LEAVES, leaves);
  UNPROTECT(2);
  return chunked;
}

struct joist_r_chunked joist_r_chunked_begin(void) {
  struct joist_program *program;
  SEXP owner = PROTECT(joist_r_program_new(&program));
  const struct joist_r_chunked chunked = begin(owner, Rf_allocVector(VECSXP, 4));
  UNPROTECT(1);
  return chunked;
}

SEXP joist_r_chunked_leaves(const struct joist_r_chunked *chunked) {
  return VECTOR_ELT(chunked->owner, LEAVES);
}

static SEXP program_in(SEXP x) { return Rf_getAttrib(x, Rf_install("program")); }
static SEXP leaves_in(SEXP x) { return Rf_getAttrib(x, Rf_install("leaves")); }

bool joist_r_chunked_is_leaf(SEXP x) { return program_in(x) == R_NilValue; }

struct joist_r_chunked joist_r_chunked_continue(SEXP x, joist_value_id *value) {
  struct joist_program recorded;
  SEXP owner = joist_r_recorded_program(program_in(x), &recorded), leaves = leaves_in(x);
  const struct joist_program *const program = owner == R_NilValue ? NULL : R_ExternalPtrAddr(owner);
  if (program == NULL || program->value_count > recorded.value_count || TYPEOF(leaves) != VECSXP ||
      XLENGTH(leaves) != (R_xlen_t)program->input_count) {
    const struct joist_r_chunked chunked = joist_r_chunked_begin();
    PROTECT(chunked.owner);
    *value = joist_r_chunked_add(&chunked, x);
    UNPROTECT(1);
    return chunked;
  }
  *value = recorded.outputs[0];
  return begin(owner, Rf_xlengthgets(leaves, XLENGTH(leaves) + 4));
}

/* The identity of a leaf besides its address: a string, or R_NilValue. */
static SEXP id_of(SEXP leaf) {
  SEXP id = joist_r_list_element(leaf, "id");
  return TYPEOF(id) == STRSXP && XLENGTH(id) == 1 ? STRING_ELT(id, 0) : R_NilValue;
}

joist_value_id joist_r_chunked_leaf(const struct joist_r_chunked *chunked, SEXP leaf,
                                    struct joist_type type, const struct joist_shape *shape) {
  struct joist_program *const program = chunked->program;
  SEXP leaves = joist_r_chunked_leaves(chunked);
  if (TYPEOF(leaf) != VECSXP) joist_r_chunked_damaged();
  SEXP id = id_of(leaf);
  for (joist_value_id v = 0; v < program->value_count; v++) {
    const uint32_t input = program->values[v].input;
    if (input == JOIST_NO_INPUT || !joist_shape_equal(&program->values[v].shape, shape)) continue;
    SEXP other = VECTOR_ELT(leaves, input);
    if (other == leaf || (id != R_NilValue && id_of(other) == id)) return v;
  }
  const R_xlen_t used = program->input_count;
  if (used == XLENGTH(leaves)) {
    leaves = Rf_xlengthgets(leaves, 2 * used);
    SET_VECTOR_ELT(chunked->owner, LEAVES, leaves);
  }
  SET_VECTOR_ELT(leaves, used, leaf);
  joist_value_id value;
  struct joist_error error;
  joist_r_raise_if(joist_program_add_input(program, type, shape, &value, &error), &error);
  return value;
}

/* The value of the output of `from`, a program of these leaves. */
static joist_value_id add_program(const struct joist_r_chunked *chunked,
                                  const struct joist_program *from, SEXP leaves) {
  if (TYPEOF(leaves) != VECSXP || XLENGTH(leaves) < (R_xlen_t)from->input_count ||
      from->output_count != 1)
    joist_r_chunked_damaged();
  joist_value_id *const ids =
      (joist_value_id *)R_alloc(from->value_count + (size_t)1, (int)sizeof *ids);
  joist_value_id operands[JOIST_ELEMENT_OPERANDS];
  for (joist_value_id v = 0; v < from->value_count; v++) {
    const struct joist_value *const value = &from->values[v];
    if (value->input != JOIST_NO_INPUT) {
      ids[v] = joist_r_chunked_leaf(chunked, VECTOR_ELT(leaves, value->input), value->type,
                                    &value->shape);
      continue;
    }
    struct joist_instruction i = from->instructions[value->instruction];
    if (i.result_count != 1 || i.region_count > 0 || i.operand_count > JOIST_ELEMENT_OPERANDS)
      joist_r_chunked_damaged();
    const struct joist_inference inference = {.signature = i.signature, .shape = {value->shape}};
    for (uint32_t k = 0; k < i.operand_count; k++) operands[k] = ids[i.operand[k]];
    i.operand = operands;
    i.held = 0;
    i.missing = 0;
    struct joist_error error;
    joist_r_raise_if(joist_program_add(chunked->program, &i, &inference, &error), &error);
    ids[v] = i.result;
  }
  return ids[from->outputs[0]];
}

joist_value_id joist_r_chunked_add(const struct joist_r_chunked *chunked, SEXP x) {
  SEXP text = program_in(x), leaves = leaves_in(x);
  struct joist_program recorded;
  if (joist_r_recorded_program(text, &recorded) != R_NilValue)
    return add_program(chunked, &recorded, leaves);
  if (text != R_NilValue) {
    struct joist_program *program;
    SEXP owner = PROTECT(joist_r_program_owner(text, &program));
    const joist_value_id value = add_program(chunked, program, leaves);
    joist_r_program_free(owner);
    UNPROTECT(1);
    return value;
  }
  struct joist_type type;
  struct joist_shape shape;
  if (TYPEOF(leaves) != VECSXP || XLENGTH(leaves) != 1 || !joist_r_describe(x, &type, &shape))
    joist_r_chunked_damaged();
  return joist_r_chunked_leaf(chunked, VECTOR_ELT(leaves, 0), type, &shape);
}

SEXP joist_r_chunked_tensor(const struct joist_r_chunked *chunked, joist_value_id value,
                            const uint32_t *chunks) {
  static const char *const classes[] = {"nv_chunked", "nv_tensor"};
  const struct joist_program *const program = chunked->program;
  const struct joist_value made = program->values[value];
  SEXP x = PROTECT(joist_r_object(made.type, &made.shape));
  Rf_setAttrib(x, Rf_install("chunks"), PROTECT(joist_r_integers(chunks, made.shape.rank)));
  Rf_setAttrib(x, Rf_install("program"),
               PROTECT(joist_r_recorded_string(VECTOR_ELT(chunked->owner, OWNER), value)));
  Rf_setAttrib(x, Rf_install("leaves"),
               PROTECT(Rf_xlengthgets(joist_r_chunked_leaves(chunked), program->input_count)));
  SEXP class = PROTECT(Rf_allocVector(STRSXP, 2));
  for (int k = 0; k < 2; k++) SET_STRING_ELT(class, k, Rf_mkChar(classes[k]));
  Rf_setAttrib(x, R_ClassSymbol, class);
  UNPROTECT(5);
  return x;
}
