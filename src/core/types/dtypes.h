/* The facts about dtypes: kinds, sizes, ranges and names. Knows no promotion and no memory. */
#ifndef JOIST_CORE_TYPES_DTYPES_H
#define JOIST_CORE_TYPES_DTYPES_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/types/dtypes.def"

typedef float _Complex joist_c64;
typedef double _Complex joist_c128;

typedef enum {
#define X(ID, KIND, CTYPE, FACTS, A, B) JOIST_##ID,
  JOIST_DTYPES(X, , )
#undef X
      JOIST_DTYPE_COUNT,
  JOIST_DTYPE_NONE = 255
} joist_dtype;

/* The dtypes that have kernels; the others come after them. */
enum {
#define X(ID, KIND, CTYPE, FACTS, A, B) JOIST_WORD_##ID,
  JOIST_DTYPES_WORD(X, , )
#undef X
      JOIST_WORD_COUNT
};

static inline bool joist_dtype_is_word(joist_dtype dtype) { return (int)dtype < JOIST_WORD_COUNT; }

typedef enum {
  JOIST_KIND_BOOL,
  JOIST_KIND_INT,
  JOIST_KIND_UINT,
  JOIST_KIND_FLOAT,
  JOIST_KIND_COMPLEX
} joist_kind;

/* Promotion systems speak of four categories: signed and unsigned are one. */
typedef enum {
  JOIST_CATEGORY_BOOL,
  JOIST_CATEGORY_INTEGER,
  JOIST_CATEGORY_FLOAT,
  JOIST_CATEGORY_COMPLEX,
  JOIST_CATEGORY_COUNT
} joist_category;

/* A dtype and whether it is ambiguous (`f32?`). */
struct joist_type {
  joist_dtype dtype;
  bool ambiguous;
};

typedef enum {
  JOIST_STYLE_ANVIL,     /* f32, ui8, bool: the project's own names */
  JOIST_STYLE_JAX,       /* float32, uint8, bool */
  JOIST_STYLE_JEP,       /* f4, u1, b1, bf: bytes */
  JOIST_STYLE_NUMPY,     /* f4, u1, b1: bytes */
  JOIST_STYLE_TORCH,     /* float32, uint8, bool */
  JOIST_STYLE_STABLEHLO, /* f32, ui8, i1, complex<f32> */
  JOIST_STYLE_COUNT
} joist_style;

/* File formats that name dtypes. */
typedef enum {
  JOIST_FORMAT_NPY,
  JOIST_FORMAT_SAFETENSORS,
  JOIST_FORMAT_ARROW,
  JOIST_FORMAT_COUNT
} joist_format;

const char *joist_dtype_name(joist_dtype dtype);
const char *joist_dtype_format(joist_dtype dtype, joist_style style);
/* Name of a style, and the style of a name (JOIST_STYLE_COUNT when unknown). */
const char *joist_style_name(joist_style style);
joist_style joist_style_parse(const char *name);

/* The code of a dtype in a file format, or NULL if the format lacks it; and the dtype of a code, or
 * JOIST_DTYPE_NONE. */
const char *joist_dtype_code(joist_dtype dtype, joist_format format);
joist_dtype joist_dtype_of_code(const char *code, joist_format format);

joist_kind joist_dtype_kind(joist_dtype dtype);
/* "bool", "int", "uint", "float" or "complex". */
const char *joist_kind_name(joist_kind kind);
joist_category joist_dtype_category(joist_dtype dtype);
size_t joist_dtype_size(joist_dtype dtype); /* bytes per element */
unsigned joist_dtype_bits(joist_dtype dtype);
/* The first dtype of a kind with so many bits, or JOIST_DTYPE_NONE. */
joist_dtype joist_dtype_with(joist_kind kind, unsigned bits);

/* Parses a name or alias, or the name that safetensors has; returns JOIST_DTYPE_NONE if it is
 * unknown. Byte-count codes
 * ("f4", "u1") are read in the styles jep and numpy only, because `i8` counts
 * bits everywhere else. */
joist_dtype joist_dtype_parse(const char *text, joist_style style);

/* The dtype that kernels compute in: f32 for narrower floats, i8 and ui8 for narrower integers, c64
 * for narrower complex numbers, itself otherwise. */
joist_dtype joist_dtype_compute(joist_dtype dtype);
/* The float dtype of a complex dtype's parts; itself otherwise. */
joist_dtype joist_dtype_real(joist_dtype dtype);
/* A complex dtype of at least 64 bits whose parts hold the values of a dtype. */
joist_dtype joist_dtype_complex(joist_dtype dtype);

/* Smallest and largest value of a bool or integer dtype, as exact long doubles
 * are not portable: as int64_t and uint64_t. */
int64_t joist_dtype_min_int(joist_dtype dtype);
uint64_t joist_dtype_max_int(joist_dtype dtype);
/* Binary digits of a value: of an integer without its sign, of a float's significand, of a
 * complex number's parts; 1 for bool. */
int joist_dtype_digits(joist_dtype dtype);
/* Of a float dtype or a complex dtype's parts: the exponent of the smallest positive value, which
 * is a power of 2; the largest finite value; the smallest magnitude that rounds beyond it, which
 * is infinite for f64. */
int joist_dtype_least_exponent(joist_dtype dtype);
double joist_dtype_max_float(joist_dtype dtype);
/* The least value of such a dtype: less the largest, or of a dtype without a sign the smallest. */
double joist_dtype_min_float(joist_dtype dtype);
double joist_dtype_overflow(joist_dtype dtype);
/* Whether a float dtype has infinities, NaN, zero and negative values; true for other dtypes that
 * are computed with. */
bool joist_dtype_has_infinity(joist_dtype dtype);
bool joist_dtype_has_nan(joist_dtype dtype);
bool joist_dtype_has_zero(joist_dtype dtype);
bool joist_dtype_has_sign(joist_dtype dtype);
/* The bits of the greatest value that a float dtype has, which is infinity unless it lacks one:
 * larger magnitudes are NaN. 0 for other dtypes. */
uint64_t joist_dtype_greatest_bits(joist_dtype dtype);
/* The bits of a NaN, the only one of the dtypes that have just one; of dtypes without, bits that no
 * element has. */
uint64_t joist_dtype_nan_bits(joist_dtype dtype);

#endif
