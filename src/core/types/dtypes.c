/* Facts about dtypes, all derived from dtypes.def. */
#include "core/types/dtypes.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct dtype_facts {
  size_t size;
  double largest; /* of a float, as digits, least_exponent and special */
  const char *code[JOIST_FORMAT_COUNT];
  const char *aliases[4]; /* and NULL */
  const char *style[JOIST_STYLE_COUNT];
  joist_kind kind;
  unsigned bits;
  joist_dtype compute, real, complex_dtype;
  int digits, least_exponent;
  joist_special special;
};

#define FLOAT_VALUES(DIGITS, LEAST, LARGEST, SPECIAL) \
  .digits = DIGITS, .least_exponent = LEAST, .largest = LARGEST, .special = JOIST_SPECIAL_##SPECIAL
#define NO_VALUES(WHOLE) .digits = 0
#define VALUES_BOOL NO_VALUES
#define VALUES_INT NO_VALUES
#define VALUES_UINT NO_VALUES
#define VALUES_FLOAT FLOAT_VALUES
#define VALUES_COMPLEX NO_VALUES
#define PARTNERS(COMPUTE, REAL, COMPLEX) \
  .compute = JOIST_##COMPUTE, .real = JOIST_##REAL, .complex_dtype = JOIST_##COMPLEX
#define NAMES(OWN, LONG, BYTES, NUMPY, STABLEHLO, ...)                        \
  .style = {[JOIST_STYLE_ANVIL] = OWN,  [JOIST_STYLE_JAX] = LONG,             \
            [JOIST_STYLE_JEP] = BYTES,  [JOIST_STYLE_NUMPY] = NUMPY,          \
            [JOIST_STYLE_TORCH] = LONG, [JOIST_STYLE_STABLEHLO] = STABLEHLO}, \
  .aliases = {__VA_ARGS__}
#define CODES(NPY, SAFETENSORS, ARROW, DLPACK)       \
  .code = {[JOIST_FORMAT_NPY] = NPY,                 \
           [JOIST_FORMAT_SAFETENSORS] = SAFETENSORS, \
           [JOIST_FORMAT_ARROW] = ARROW}

static const struct dtype_facts facts[JOIST_DTYPE_COUNT] = {
#define ROW(KIND, BITS, VALUES, ITS_PARTNERS, ITS_NAMES, ITS_CODES) \
  .bits = BITS, VALUES_##KIND VALUES, PARTNERS ITS_PARTNERS, NAMES ITS_NAMES, CODES ITS_CODES
#define UNPACKED(...) __VA_ARGS__
#define ROW_OF(...) ROW(__VA_ARGS__)
#define X(ID, KIND, T, FACTS, A, B) \
  [JOIST_##ID] = {.kind = JOIST_KIND_##KIND, .size = sizeof(T), ROW_OF(KIND, UNPACKED FACTS)},
    JOIST_DTYPES(X, , )
#undef X
};

#define X(ID, KIND, T, FACTS, A, B)                                                \
  _Static_assert((JOIST_BITS_IN FACTS) <= 8 * sizeof(T), #ID " fits its storage"); \
  _Static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, #ID " moves as a word");
JOIST_DTYPES(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B)                       \
  _Static_assert((int)JOIST_WORD_##ID == (int)JOIST_##ID, \
                 #ID " comes before dtypes without kernels");
JOIST_DTYPES_WORD(X, , )
#undef X

static const char *const style_names[JOIST_STYLE_COUNT] = {
    [JOIST_STYLE_ANVIL] = "anvil", [JOIST_STYLE_JAX] = "jax",
    [JOIST_STYLE_JEP] = "jep",     [JOIST_STYLE_NUMPY] = "numpy",
    [JOIST_STYLE_TORCH] = "torch", [JOIST_STYLE_STABLEHLO] = "stablehlo",
};

const char *joist_dtype_name(joist_dtype dtype) { return facts[dtype].style[JOIST_STYLE_ANVIL]; }

const char *joist_dtype_format(joist_dtype dtype, joist_style style) {
  return facts[dtype].style[style];
}

const char *joist_dtype_code(joist_dtype dtype, joist_format format) {
  return facts[dtype].code[format];
}

joist_dtype joist_dtype_of_code(const char *code, joist_format format) {
  for (int i = 0; i < JOIST_DTYPE_COUNT; i++)
    if (facts[i].code[format] != NULL && strcmp(code, facts[i].code[format]) == 0)
      return (joist_dtype)i;
  return JOIST_DTYPE_NONE;
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

unsigned joist_dtype_bits(joist_dtype dtype) { return facts[dtype].bits; }

joist_dtype joist_dtype_with(joist_kind kind, unsigned bits) {
  for (int i = 0; i < JOIST_DTYPE_COUNT; i++)
    if (facts[i].kind == kind && facts[i].bits == bits) return (joist_dtype)i;
  return JOIST_DTYPE_NONE;
}

static bool is_named(const struct dtype_facts *dtype, const char *text, joist_style style) {
  return strcmp(text, dtype->style[style]) == 0;
}

/* The dtype of a name as PyTorch prints it, `torch.float32`. */
static joist_dtype parse_printed_by_torch(const char *name) {
  for (int i = 0; i < JOIST_DTYPE_COUNT; i++)
    if (is_named(&facts[i], name, JOIST_STYLE_TORCH)) return (joist_dtype)i;
  return JOIST_DTYPE_NONE;
}

joist_dtype joist_dtype_parse(const char *text, joist_style style) {
  static const char module[] = "torch.";
  if (strncmp(text, module, strlen(module)) == 0)
    return parse_printed_by_torch(text + strlen(module));
  const bool bytes = style == JOIST_STYLE_JEP || style == JOIST_STYLE_NUMPY;
  const joist_style first = bytes ? JOIST_STYLE_JEP : JOIST_STYLE_ANVIL;
  for (int i = 0; i < JOIST_DTYPE_COUNT; i++)
    if (is_named(&facts[i], text, first) || is_named(&facts[i], text, style)) return (joist_dtype)i;
  for (int i = 0; i < JOIST_DTYPE_COUNT; i++)
    if (is_named(&facts[i], text, JOIST_STYLE_JAX)) return (joist_dtype)i;
  for (int i = 0; i < JOIST_DTYPE_COUNT && !bytes; i++)
    for (const char *const *alias = facts[i].aliases; *alias != NULL; alias++)
      if (strcmp(text, *alias) == 0) return (joist_dtype)i;
  return joist_dtype_of_code(text, JOIST_FORMAT_SAFETENSORS);
}

joist_dtype joist_dtype_compute(joist_dtype dtype) { return facts[dtype].compute; }

joist_dtype joist_dtype_real(joist_dtype dtype) { return facts[dtype].real; }

joist_dtype joist_dtype_complex(joist_dtype dtype) { return facts[dtype].complex_dtype; }

int64_t joist_dtype_min_int(joist_dtype dtype) {
  if (facts[dtype].kind != JOIST_KIND_INT) return 0;
  return -(int64_t)joist_dtype_max_int(dtype) - 1;
}

uint64_t joist_dtype_max_int(joist_dtype dtype) {
  return UINT64_MAX >> (64 - facts[dtype].bits) >> (facts[dtype].kind == JOIST_KIND_INT);
}

static const struct dtype_facts *real_facts(joist_dtype dtype) { return &facts[facts[dtype].real]; }

int joist_dtype_digits(joist_dtype dtype) {
  const struct dtype_facts *const real = real_facts(dtype);
  if (real->kind == JOIST_KIND_FLOAT) return real->digits;
  return (int)real->bits - (real->kind == JOIST_KIND_INT);
}

int joist_dtype_least_exponent(joist_dtype dtype) { return real_facts(dtype)->least_exponent; }

double joist_dtype_max_float(joist_dtype dtype) { return real_facts(dtype)->largest; }

double joist_dtype_min_float(joist_dtype dtype) {
  if (joist_dtype_has_sign(dtype)) return -joist_dtype_max_float(dtype);
  return ldexp(1, joist_dtype_least_exponent(dtype));
}

/* Half a unit in the last place above the largest value. A tie goes to an even significand: beyond
 * the largest value, unless that has one. One without a fraction is always odd. */
double joist_dtype_overflow(joist_dtype dtype) {
  const struct dtype_facts *const real = real_facts(dtype);
  if (real->digits >= DBL_MANT_DIG) return INFINITY;
  double overflow = real->largest;
  uint64_t bits;
  memcpy(&bits, &overflow, sizeof bits);
  const uint64_t unit = UINT64_C(1) << (DBL_MANT_DIG - real->digits);
  bits += unit / 2 + (real->digits > 1 && (bits & unit) == 0);
  memcpy(&overflow, &bits, sizeof bits);
  return overflow;
}

static bool is_special(joist_dtype dtype, joist_special special) {
  const struct dtype_facts *const real = real_facts(dtype);
  return real->kind == JOIST_KIND_FLOAT && real->special == special;
}

bool joist_dtype_has_infinity(joist_dtype dtype) {
  return real_facts(dtype)->kind != JOIST_KIND_FLOAT || is_special(dtype, JOIST_SPECIAL_IEEE);
}

bool joist_dtype_has_nan(joist_dtype dtype) { return !is_special(dtype, JOIST_SPECIAL_FINITE); }

bool joist_dtype_has_zero(joist_dtype dtype) { return !is_special(dtype, JOIST_SPECIAL_FNU); }

bool joist_dtype_has_sign(joist_dtype dtype) { return !is_special(dtype, JOIST_SPECIAL_FNU); }

uint64_t joist_dtype_greatest_bits(joist_dtype dtype) {
  if (facts[dtype].kind != JOIST_KIND_FLOAT) return 0;
  const uint64_t magnitudes = UINT64_C(1) << (facts[dtype].bits - 1);
  switch (facts[dtype].special) {
    case JOIST_SPECIAL_IEEE:
      return magnitudes - (UINT64_C(1) << (facts[dtype].digits - 1));
    case JOIST_SPECIAL_FN:
      return magnitudes - 2;
    case JOIST_SPECIAL_FNU:
      return 2 * magnitudes - 2;
    case JOIST_SPECIAL_FNUZ:
    case JOIST_SPECIAL_FINITE:
      break;
  }
  return magnitudes - 1;
}

uint64_t joist_dtype_nan_bits(joist_dtype dtype) {
  return is_special(dtype, JOIST_SPECIAL_FNUZ) ? UINT64_C(1) << (facts[dtype].bits - 1)
                                               : UINT64_MAX >> (64 - 8 * facts[dtype].size);
}
