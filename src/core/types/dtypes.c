/* Facts about dtypes, all derived from dtypes.def. */
#include "core/types/dtypes.h"

#include <float.h>
#include <string.h>

struct dtype_facts {
  const char *name;
  const char *code;
  const char *long_name;
  const char *stablehlo;
  joist_kind kind;
  size_t size;
};

static const struct dtype_facts facts[JOIST_DTYPE_COUNT] = {
#define X(ID, NAME, KIND, CTYPE, CODE, LONG, STABLEHLO, A, B) \
  {NAME, CODE, LONG, STABLEHLO, JOIST_KIND_##KIND, sizeof(CTYPE)},
    JOIST_DTYPES(X, , )
#undef X
};

/* Further names, read in every style that counts bits. */
static const struct {
  const char *alias;
  joist_dtype dtype;
} aliases[] = {
    {"i1", JOIST_BOOL},   {"pred", JOIST_BOOL},  {"logical", JOIST_BOOL}, {"u8", JOIST_UI8},
    {"u16", JOIST_UI16},  {"u32", JOIST_UI32},   {"u64", JOIST_UI64},     {"half", JOIST_F16},
    {"float", JOIST_F32}, {"single", JOIST_F32}, {"double", JOIST_F64},
};

static const char *const style_names[JOIST_STYLE_COUNT] = {
    [JOIST_STYLE_ANVIL] = "anvil", [JOIST_STYLE_JAX] = "jax",
    [JOIST_STYLE_JEP] = "jep",     [JOIST_STYLE_NUMPY] = "numpy",
    [JOIST_STYLE_TORCH] = "torch", [JOIST_STYLE_STABLEHLO] = "stablehlo",
};

const char *joist_dtype_name(joist_dtype dtype) { return facts[dtype].name; }

const char *joist_dtype_format(joist_dtype dtype, joist_style style) {
  switch (style) {
    case JOIST_STYLE_JAX:
    case JOIST_STYLE_TORCH:
      return facts[dtype].long_name;
    case JOIST_STYLE_JEP:
      return facts[dtype].code;
    case JOIST_STYLE_NUMPY:
      /* NumPy has no code for it; ml_dtypes registers this name. */
      return dtype == JOIST_BF16 ? facts[dtype].long_name : facts[dtype].code;
    case JOIST_STYLE_STABLEHLO:
      return facts[dtype].stablehlo;
    case JOIST_STYLE_ANVIL:
    case JOIST_STYLE_COUNT:
      break;
  }
  return facts[dtype].name;
}

const char *joist_style_name(joist_style style) { return style_names[style]; }

joist_style joist_style_parse(const char *name) {
  int style = 0;
  while (style < JOIST_STYLE_COUNT && strcmp(name, style_names[style]) != 0) style++;
  return (joist_style)style;
}

joist_kind joist_dtype_kind(joist_dtype dtype) { return facts[dtype].kind; }

const char *joist_kind_name(joist_kind kind) {
  static const char *const names[] = {[JOIST_KIND_BOOL] = "bool",
                                      [JOIST_KIND_INT] = "int",
                                      [JOIST_KIND_UINT] = "uint",
                                      [JOIST_KIND_FLOAT] = "float",
                                      [JOIST_KIND_COMPLEX] = "complex"};
  return names[kind];
}

joist_category joist_dtype_category(joist_dtype dtype) {
  switch (facts[dtype].kind) {
    case JOIST_KIND_BOOL:
      return JOIST_CATEGORY_BOOL;
    case JOIST_KIND_INT:
    case JOIST_KIND_UINT:
      return JOIST_CATEGORY_INTEGER;
    case JOIST_KIND_FLOAT:
      return JOIST_CATEGORY_FLOAT;
    case JOIST_KIND_COMPLEX:
      break;
  }
  return JOIST_CATEGORY_COMPLEX;
}

size_t joist_dtype_size(joist_dtype dtype) { return facts[dtype].size; }

joist_dtype joist_dtype_parse(const char *text, joist_style style) {
  const bool bytes = style == JOIST_STYLE_JEP || style == JOIST_STYLE_NUMPY;
  for (int i = 0; i < JOIST_DTYPE_COUNT; i++) {
    if (strcmp(text, bytes ? facts[i].code : facts[i].name) == 0) return (joist_dtype)i;
    if (style == JOIST_STYLE_STABLEHLO && strcmp(text, facts[i].stablehlo) == 0)
      return (joist_dtype)i;
  }
  for (int i = 0; i < JOIST_DTYPE_COUNT; i++)
    if (strcmp(text, facts[i].long_name) == 0) return (joist_dtype)i;
  if (bytes) return JOIST_DTYPE_NONE;
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (strcmp(text, aliases[i].alias) == 0) return aliases[i].dtype;
  return JOIST_DTYPE_NONE;
}

joist_dtype joist_dtype_compute(joist_dtype dtype) {
  return dtype == JOIST_F16 || dtype == JOIST_BF16 ? JOIST_F32 : dtype;
}

joist_dtype joist_dtype_real(joist_dtype dtype) {
  if (dtype == JOIST_C64) return JOIST_F32;
  return dtype == JOIST_C128 ? JOIST_F64 : dtype;
}

joist_dtype joist_dtype_complex(joist_dtype dtype) {
  const joist_dtype real = joist_dtype_real(dtype);
  return real == JOIST_F64 ? JOIST_C128 : JOIST_C64;
}

int64_t joist_dtype_min_int(joist_dtype dtype) {
  if (facts[dtype].kind != JOIST_KIND_INT) return 0;
  return -(INT64_C(1) << (8 * facts[dtype].size - 2)) * 2;
}

uint64_t joist_dtype_max_int(joist_dtype dtype) {
  if (facts[dtype].kind == JOIST_KIND_BOOL) return 1;
  return UINT64_MAX >> (64 - 8 * facts[dtype].size + (facts[dtype].kind == JOIST_KIND_INT));
}

double joist_dtype_max_float(joist_dtype dtype) {
  switch (joist_dtype_real(dtype)) {
    case JOIST_F16:
      return 65504.0;
    case JOIST_BF16:
      return 0x1.fep127;
    case JOIST_F32:
      return FLT_MAX;
    default:
      return DBL_MAX;
  }
}
