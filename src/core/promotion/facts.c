/* One table per library: rows are facts, columns bool, i8 to i64, ui8 to ui64. */
#include "core/promotion/facts.h"

#define D(DTYPE) JOIST_##DTYPE
#define ALL_BUT(SET) JOIST_DTYPES_DOCUMENTED & ~(SET)
#define BIT(DTYPE) JOIST_DTYPE_BIT(DTYPE)
#define KEEPS JOIST_GUESSES_STAY
#define KNOWN JOIST_GUESSES_END
#define FLOATS JOIST_GUESSED_FLOATS_STAY
#define ERROR JOIST_NODE_NONE

/* clang-format off */
#define ROW(FACT, GUESSES, ...) [JOIST_FACT_##FACT] = {GUESSES, {RESULTS(__VA_ARGS__)}}
#define RESULTS(...) RESULTS_OF(__VA_ARGS__)
#define RESULTS_OF(OF_BOOL, OF_I8, OF_I16, OF_I32, OF_I64, OF_UI8, OF_UI16, OF_UI32, OF_UI64) \
  [JOIST_BOOL] = OF_BOOL, \
  [JOIST_I8] = OF_I8, [JOIST_I16] = OF_I16, [JOIST_I32] = OF_I32, [JOIST_I64] = OF_I64, \
  [JOIST_UI8] = OF_UI8, [JOIST_UI16] = OF_UI16, [JOIST_UI32] = OF_UI32, [JOIST_UI64] = OF_UI64

#define NUMBERS_STAY D(I8), D(I16), D(I32), D(I64), D(UI8), D(UI16), D(UI32), D(UI64)
#define ALL(DTYPE) \
  D(DTYPE), D(DTYPE), D(DTYPE), D(DTYPE), D(DTYPE), D(DTYPE), D(DTYPE), D(DTYPE), D(DTYPE)
#define UNDEFINED ERROR, ERROR, ERROR, ERROR, ERROR, ERROR, ERROR, ERROR, ERROR
/* Signed in i64, unsigned in ui64. */
#define NUMBERS_WIDEN D(I64), D(I64), D(I64), D(I64), D(UI64), D(UI64), D(UI64), D(UI64)

/* Columns: integers of 1, 2 and 4 bits. */
#define SMALL(FACT, OF_1, OF_2, OF_4) [JOIST_FACT_##FACT] = {OF_1, OF_2, OF_4}
#define SAME JOIST_SMALL_SAME

/* JAX takes integers of 1 bit for bool. Those of 2 bits it divides as integers in `/`, mean() and
 * linear algebra: an error here, instead of a wrong number. */
#define JAX_SMALL(WHOLE, WIDE_FLOAT) { \
  SMALL(INEXACT, D(F32), ERROR, D(F32)), \
  SMALL(DIVIDE,  D(F32), ERROR, D(F32)), \
  SMALL(ANGLE,   D(WIDE_FLOAT), D(WIDE_FLOAT), D(WIDE_FLOAT)), \
  SMALL(LINALG,  D(F32), ERROR, D(F32)), \
  SMALL(MEAN,    D(F32), ERROR, D(F32)), \
  SMALL(SUM,     D(WHOLE), ERROR, ERROR), \
  SMALL(CUMSUM,  D(WHOLE), SAME, SAME), \
  SMALL(POWER,   D(I32), ERROR, ERROR), \
}
static const struct joist_small_integers jax_small = {JAX_SMALL(I64, F64)},
                                         jax_x32_small = {JAX_SMALL(I32, F32)};

/* The mean of ml_dtypes' integers is an integer: an error here. */
#define ML_DTYPES_SMALL(FACT, RESULT) SMALL(FACT, RESULT, RESULT, RESULT)
static const struct joist_small_integers ml_dtypes_small = {{
  ML_DTYPES_SMALL(INEXACT, D(F16)),
  ML_DTYPES_SMALL(DIVIDE,  D(F16)),
  ML_DTYPES_SMALL(ANGLE,   D(F16)),
  ML_DTYPES_SMALL(LINALG,  D(F64)),
  ML_DTYPES_SMALL(MEAN,    ERROR),
  ML_DTYPES_SMALL(SUM,     SAME),
  ML_DTYPES_SMALL(CUMSUM,  SAME),
  ML_DTYPES_SMALL(POWER,   D(I8)),
}};

/* XLA has no floats of 6 bits. */
#define JAX_DTYPES (JOIST_DTYPES_ALL & ~(BIT(F6E2M3FN) | BIT(F6E3M2FN)))

#define JAX_FLOAT D(F32), D(F32), D(F32), D(F32), D(F64), D(F32), D(F32), D(F32), D(F64)

const struct joist_library joist_library_jax = {.has_guesses = true,
  .dtypes = JAX_DTYPES, .small = &jax_small, .fact = {
  ROW(INEXACT, KEEPS, JAX_FLOAT),
  ROW(DIVIDE,  KEEPS, JAX_FLOAT),
  ROW(ANGLE,   FLOATS, ALL(F64)),
  ROW(LINALG,  KEEPS, JAX_FLOAT),
  ROW(MEAN,    KNOWN, JAX_FLOAT),
  ROW(SUM,     KNOWN, D(I64), NUMBERS_WIDEN),
  ROW(CUMSUM,  KNOWN, D(I64), NUMBERS_STAY),
  ROW(POWER,   KEEPS, D(I32), NUMBERS_STAY),
}};

/* It lacks i64 and ui64; their columns are extrapolated from the other dtypes. */
const struct joist_library joist_library_jax_x32 = {.has_guesses = true,
  .dtypes = JAX_DTYPES & ~(BIT(I64) | BIT(UI64) | BIT(F64) | BIT(C128)),
  .small = &jax_x32_small, .fact = {
  ROW(INEXACT, KEEPS, ALL(F32)),
  ROW(DIVIDE,  KEEPS, ALL(F32)),
  ROW(ANGLE,   FLOATS, ALL(F32)),
  ROW(LINALG,  KEEPS, ALL(F32)),
  ROW(MEAN,    KNOWN, ALL(F32)),
  ROW(SUM,     KNOWN, D(I32), D(I32), D(I32), D(I32), D(I64), D(UI32), D(UI32), D(UI32), D(UI64)),
  ROW(CUMSUM,  KNOWN, D(I32), NUMBERS_STAY),
  ROW(POWER,   KEEPS, D(I32), NUMBERS_STAY),
}};

const struct joist_library joist_library_jax_lax = {.has_guesses = true,
  .dtypes = JOIST_DTYPES_DOCUMENTED, .fact = {
  ROW(INEXACT, KEEPS, UNDEFINED),
  ROW(DIVIDE,  KEEPS, ERROR, NUMBERS_STAY),
  ROW(ANGLE,   KEEPS, UNDEFINED),
  ROW(LINALG,  KEEPS, UNDEFINED),
  ROW(MEAN,    KEEPS, UNDEFINED),
  ROW(SUM,     KEEPS, ERROR, NUMBERS_STAY),
  ROW(CUMSUM,  KEEPS, ERROR, NUMBERS_STAY),
  ROW(POWER,   KEEPS, ERROR, NUMBERS_STAY),
}};

#define NUMPY_FLOAT D(F16), D(F32), D(F64), D(F64), D(F16), D(F32), D(F64), D(F64)

#define NUMPY_FACTS .fact = { \
  ROW(INEXACT, KNOWN, D(F16), NUMPY_FLOAT), \
  ROW(DIVIDE,  KNOWN, ALL(F64)), \
  ROW(ANGLE,   KNOWN, D(F64), NUMPY_FLOAT), \
  ROW(LINALG,  KNOWN, ALL(F64)), \
  ROW(MEAN,    KNOWN, ALL(F64)), \
  ROW(SUM,     KNOWN, D(I64), NUMBERS_WIDEN), \
  ROW(CUMSUM,  KNOWN, D(I64), NUMBERS_WIDEN), \
  ROW(POWER,   KNOWN, D(I8), NUMBERS_STAY), \
}
const struct joist_library joist_library_numpy = {.dtypes = ALL_BUT(BIT(BF16)), NUMPY_FACTS};
const struct joist_library joist_library_ml_dtypes = {
  .dtypes = JOIST_DTYPES_ALL, .small = &ml_dtypes_small, NUMPY_FACTS};

const struct joist_library joist_library_torch = {.dtypes = JOIST_DTYPES_DOCUMENTED, .fact = {
  ROW(INEXACT, KNOWN, ALL(F32)),
  ROW(DIVIDE,  KNOWN, ALL(F32)),
  ROW(ANGLE,   KNOWN, ALL(F32)),
  ROW(LINALG,  KNOWN, UNDEFINED),
  ROW(MEAN,    KNOWN, UNDEFINED),
  ROW(SUM,     KNOWN, ALL(I64)),
  ROW(CUMSUM,  KNOWN, ALL(I64)),
  ROW(POWER,   KNOWN, ERROR, NUMBERS_STAY),
}};

const struct joist_library joist_library_array_api_2024 = {
  .dtypes = ALL_BUT(BIT(F16) | BIT(BF16)), .fact = {
  ROW(INEXACT, KEEPS, UNDEFINED),
  ROW(DIVIDE,  KEEPS, UNDEFINED),
  ROW(ANGLE,   KEEPS, UNDEFINED),
  ROW(LINALG,  KEEPS, UNDEFINED),
  ROW(MEAN,    KEEPS, UNDEFINED),
  ROW(SUM,     KEEPS, ERROR, NUMBERS_WIDEN),
  ROW(CUMSUM,  KEEPS, ERROR, NUMBERS_WIDEN),
  ROW(POWER,   KEEPS, ERROR, NUMBERS_STAY),
}};
/* clang-format on */

/* What becomes of bool and integers. */
static int whole_result(const struct joist_library *library, int fact, int dtype) {
  const unsigned bits = joist_dtype_bits((joist_dtype)dtype);
  if (dtype == JOIST_BOOL || bits >= 8) return library->fact[fact].result[dtype];
  if (library->small == NULL) return JOIST_NODE_NONE;
  const int result = library->small->result[fact][bits / 2];
  return result == JOIST_SMALL_SAME ? dtype : result;
}

static int result_of(const struct joist_library *library, int fact, int type) {
  const int dtype = type % JOIST_DTYPE_COUNT;
  const bool is_float = joist_dtype_category((joist_dtype)dtype) >= JOIST_CATEGORY_FLOAT;
  const bool parts = is_float && fact == JOIST_FACT_ANGLE;
  const int own = parts ? (int)joist_dtype_real((joist_dtype)dtype) : dtype;
  const int result = is_float ? own : whole_result(library, fact, dtype);
  const joist_guesses guesses = library->fact[fact].guesses;
  const bool stays =
      guesses == JOIST_GUESSES_STAY || (is_float && guesses == JOIST_GUESSED_FLOATS_STAY);
  if (type < JOIST_NODE_AMBIGUOUS || !stays || result == JOIST_NODE_NONE) return result;
  return JOIST_NODE_AMBIGUOUS + result;
}

void joist_library_apply(const struct joist_library *library, struct joist_rules *rules) {
  for (int f = 0; f < JOIST_FACT_COUNT; f++) {
    rules->has_facts[f] = true;
    /* In all of them, products end in the dtype of sums. */
    const int row = f == JOIST_FACT_PROD ? JOIST_FACT_SUM : f;
    for (int type = 0; type < JOIST_TYPE_COUNT; type++)
      rules->facts[f][type] = (uint8_t)result_of(library, row, type);
  }
}
