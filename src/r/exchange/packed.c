/* Packs tensors as blocks of model files, and multiplies such with another. */
#include "r/exchange/packed.h"

#include <ctype.h>

#include "core/files/gguf.h"
#include "r/base/arguments.h"
#include "r/call/apply.h"
#include "r/tensor/delayed.h"
#include "r/tensor/rules.h"

static struct joist_attributes block_attributes(joist_block block, joist_dtype result) {
  struct joist_attributes attributes = {.count = 0};
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_K, joist_block_facts(block)->code);
  joist_attributes_set_type(&attributes, (struct joist_type){result, false});
  return attributes;
}

SEXP joist_r_pack_blocks(SEXP x, SEXP type) {
  if (!Rf_inherits(x, "nv_tensor") || TYPEOF(type) != STRSXP || XLENGTH(type) != 1)
    return R_NilValue;
  char name[16];
  size_t n = 0;
  for (const char *c = CHAR(STRING_ELT(type, 0)); *c != '\0' && n + 1 < sizeof name; c++)
    name[n++] = (char)toupper((unsigned char)*c);
  name[n] = '\0';
  const joist_block block = joist_block_named(name);
  if (block == JOIST_BLOCK_COUNT) return R_NilValue;
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_operand(rules, x, &value);
  const struct joist_type own = value.argument.operand.type;
  if (own.dtype != JOIST_F32 || own.ambiguous || value.argument.shape.rank == 0) return R_NilValue;
  const struct joist_attributes attributes = block_attributes(block, JOIST_UI8);
  SEXP packed = PROTECT(Rf_allocVector(VECSXP, 1));
  SET_VECTOR_ELT(packed, 0, joist_r_apply(rules, JOIST_OP_PACK, &value, 1, &attributes));
  Rf_setAttrib(packed, R_NamesSymbol, PROTECT(Rf_mkString(joist_block_facts(block)->name)));
  Rf_setAttrib(packed, R_ClassSymbol, PROTECT(Rf_mkString("nv_packed")));
  UNPROTECT(3);
  return packed;
}

/* A packed matrix. */
struct packed {
  joist_block block;
  bool turned, of_bytes;
  struct joist_r_value value;
};

static bool read_packed(const struct joist_rules *rules, SEXP x, struct packed *packed) {
  if (TYPEOF(x) != VECSXP || XLENGTH(x) != 1 || !Rf_inherits(x, "nv_packed")) return false;
  SEXP names = Rf_getAttrib(x, R_NamesSymbol);
  if (TYPEOF(names) != STRSXP) return false;
  const char *const name = CHAR(STRING_ELT(names, 0));
  packed->turned = name[0] == 't';
  packed->block = joist_block_named(name + packed->turned);
  packed->of_bytes = packed->block == JOIST_BLOCK_Q8_0 || packed->block == JOIST_BLOCK_Q8_K;
  if (packed->block == JOIST_BLOCK_COUNT) return false;
  joist_r_read_operand(rules, VECTOR_ELT(x, 0), &packed->value);
  return packed->value.argument.shape.rank == 2;
}

static uint64_t packed_depth(const struct packed *packed) {
  const struct joist_block_facts *const facts = joist_block_facts(packed->block);
  return (uint64_t)packed->value.argument.shape.extent[0] / facts->bytes * facts->elements;
}

static uint64_t packed_bytes(const struct packed *packed) {
  const uint32_t *const extent = packed->value.argument.shape.extent;
  return (uint64_t)extent[0] * extent[1];
}

SEXP joist_r_packed_product(SEXP lhs, SEXP rhs, SEXP lhs_transposed, SEXP rhs_transposed) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct packed w, x;
  if (!read_packed(rules, lhs, &w) || !read_packed(rules, rhs, &x)) return R_NilValue;
  const bool along = joist_r_flag(lhs_transposed, "lhs_transposed") != w.turned &&
                     joist_r_flag(rhs_transposed, "rhs_transposed") == x.turned;
  if (!along || !x.of_bytes || packed_depth(&w) != packed_depth(&x)) return R_NilValue;
  if (w.of_bytes && packed_bytes(&w) < packed_bytes(&x)) return R_NilValue; /* the other way */
  const struct joist_attributes attributes = block_attributes(w.block, JOIST_F32);
  struct joist_r_value values[2] = {w.value, x.value};
  return joist_r_apply(rules, JOIST_OP_PACKED_PRODUCT, values, 2, &attributes);
}
