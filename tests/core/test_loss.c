/* What conversions may lose, against exact arithmetic made here: each value is digits times a power
 * of two. Every loss that is named is shown by a value, of every other kind there is none among
 * all values of 8 and 16 bits, and of wider ones among powers of two, their neighbours, extremes,
 * fractions, subnormals and special values. */
#include "core/types/convert.h"
#include "core/types/loss.h"

#include "check.h"

/* ---- the dtypes, from their definitions ---- */

/* Of integers: bits without the sign. Of floats, IEEE 754 and bfloat16: digits, the exponents of
 * the least positive value and of the power of two beyond the largest. Of small floats what is
 * special, as their names say: f for finite, n for FN, z for FNUZ, u for FNU. */
struct format {
  const char *name;
  char kind; /* b, i, u, f, c */
  int digits, least, beyond;
  char special;
};
/* clang-format off */
static const struct format formats[JOIST_DTYPE_COUNT] = {
    {"bool", 'b', 1, 0, 0, 0}, {"i8", 'i', 7, 0, 0, 0}, {"i16", 'i', 15, 0, 0, 0},
    {"i32", 'i', 31, 0, 0, 0}, {"i64", 'i', 63, 0, 0, 0}, {"ui8", 'u', 8, 0, 0, 0},
    {"ui16", 'u', 16, 0, 0, 0}, {"ui32", 'u', 32, 0, 0, 0}, {"ui64", 'u', 64, 0, 0, 0},
    {"f16", 'f', 11, -24, 16, 0}, {"bf16", 'f', 8, -133, 128, 0}, {"f32", 'f', 24, -149, 128, 0},
    {"f64", 'f', 53, -1074, 1024, 0}, {"c64", 'c', 24, -149, 128, 0},
    {"c128", 'c', 53, -1074, 1024, 0}, {"int1", 'i', 0, 0, 0, 0}, {"i2", 'i', 1, 0, 0, 0},
    {"i4", 'i', 3, 0, 0, 0}, {"uint1", 'u', 1, 0, 0, 0}, {"ui2", 'u', 2, 0, 0, 0},
    {"ui4", 'u', 4, 0, 0, 0}, {"f4E2M1FN", 'f', 2, -1, 3, 'f'}, {"f6E2M3FN", 'f', 4, -3, 3, 'f'},
    {"f6E3M2FN", 'f', 3, -4, 5, 'f'}, {"f8E3M4", 'f', 5, -6, 4, 0}, {"f8E4M3", 'f', 4, -9, 8, 0},
    {"f8E4M3B11FNUZ", 'f', 4, -13, 5, 'z'}, {"f8E4M3FN", 'f', 4, -9, 9, 'n'},
    {"f8E4M3FNUZ", 'f', 4, -10, 8, 'z'}, {"f8E5M2", 'f', 3, -16, 16, 0},
    {"f8E5M2FNUZ", 'f', 3, -17, 16, 'z'}, {"f8E8M0FNU", 'f', 1, -127, 128, 'u'},
    {"c32", 'c', 11, -24, 16, 0}, {"bc32", 'c', 8, -133, 128, 0}};
/* clang-format on */

static bool is_byte(const struct format *format) {
  return format - formats > JOIST_C128 && format->kind == 'f';
}

/* Significand of the largest value. */
static uint64_t largest_digits(const struct format *format) {
  return (UINT64_MAX >> (64 - format->digits)) - (format->special == 'n');
}

/* ---- exact values ---- */

struct exact {
  enum { FINITE, INFINITE, NOT_A_NUMBER } is;
  bool negative;
  uint64_t digits; /* odd, or 0 for zero */
  int exponent;
};

static struct exact exact(bool negative, uint64_t digits, int exponent) {
  for (; digits != 0 && digits % 2 == 0; digits /= 2) exponent++;
  return (struct exact){FINITE, negative && digits != 0, digits, digits == 0 ? 0 : exponent};
}

static int bits_of(uint64_t digits) {
  int bits = 0;
  for (; digits != 0; digits /= 2) bits++;
  return bits;
}

/* Exponent of the power of two just beyond the magnitude. */
static int beyond(struct exact x) { return bits_of(x.digits) + x.exponent; }

/* Whether a whole number is beyond the 2^bits - 1 that the sign allows, or -2^bits. */
static bool beyond_whole(struct exact x, int bits, bool least) {
  if (x.exponent < 0) return beyond(x) > bits; /* its whole part counts */
  return beyond(x) > bits && !(least && x.negative && x.digits == 1 && x.exponent == bits);
}

/* The losses of one value in any real dtype but bool. */
static unsigned lost_in(struct exact x, const struct format *to) {
  if (to->kind == 'f' || to->kind == 'c') {
    const bool ieee = to->special == 0;
    if (x.is == INFINITE) return ieee ? 0 : JOIST_LOSS_SPECIAL;
    if (x.is == NOT_A_NUMBER) return to->special == 'f' ? JOIST_LOSS_SPECIAL : 0;
    if (x.digits == 0) return to->special == 'u' ? JOIST_LOSS_ZERO : 0;
    if (to->special == 'u' && x.negative) return JOIST_LOSS_SIGN;
    const int top = beyond(x), digits = bits_of(x.digits);
    if (top > to->beyond) return JOIST_LOSS_RANGE;
    /* Between the largest value and the next power of two; the digits decide. */
    if (top == to->beyond) {
      const uint64_t whole = digits > to->digits ? x.digits >> (digits - to->digits)
                                                 : x.digits << (to->digits - digits);
      const uint64_t largest = largest_digits(to);
      if (whole > largest || (whole == largest && digits > to->digits)) return JOIST_LOSS_RANGE;
    }
    const bool subnormal = top <= to->least + to->digits - 1;
    if (subnormal) return x.exponent < to->least ? JOIST_LOSS_SMALL : 0;
    return digits > to->digits ? JOIST_LOSS_DIGITS : 0;
  }
  if (x.is != FINITE) return JOIST_LOSS_SPECIAL;
  unsigned losses = 0;
  if (x.exponent < 0) losses |= JOIST_LOSS_FRACTION;
  if (x.negative && to->kind == 'u') return losses | JOIST_LOSS_SIGN;
  if (beyond_whole(x, to->digits, to->kind == 'i')) losses |= JOIST_LOSS_RANGE;
  return losses;
}

/* ---- values to try ---- */

enum { MAX_VALUES = 1 << 16 };

struct values {
  size_t count;
  struct exact exact[MAX_VALUES];
  uint64_t bits[MAX_VALUES];
};

static void add(struct values *values, struct exact x, uint64_t bits) {
  if (values->count == MAX_VALUES) return;
  values->exact[values->count] = x;
  values->bits[values->count++] = bits;
}

/* An element of few bits is stored as the integer of 8 that has its value. */
static uint64_t stored(uint64_t bits, int width, bool negative) {
  return width < 8 && negative ? (bits | UINT64_MAX << width) & 255 : bits;
}

static void add_whole(struct values *values, const struct format *format, uint64_t bits) {
  const int width = format->kind == 'i' ? format->digits + 1 : format->digits;
  bits &= UINT64_MAX >> (64 - width);
  const bool negative = format->kind == 'i' && bits >> (width - 1) != 0;
  const uint64_t magnitude = negative ? (UINT64_MAX >> (64 - width)) - bits + 1 : bits;
  add(values, exact(negative, magnitude, 0), stored(bits, width, negative));
}

/* All bit patterns of a float of up to a byte. */
static void add_bytes(struct values *values, const struct format *format) {
  const int stored = format->digits - 1;
  const int exponents =
      format->beyond - (format->least + format->digits - 1) + 1 + (format->special == 0);
  const int codes = format->special == 'u' ? 255 : exponents << stored;
  for (int code = 0; code < codes; code++) {
    const uint64_t fraction = (uint64_t)code & ((UINT64_C(1) << stored) - 1);
    const int exponent = code >> stored;
    struct exact x = exact(false, fraction, format->least);
    if (format->special == 'u')
      x = exact(false, 1, format->least + code);
    else if (format->special == 0 && exponent == exponents - 1)
      x = (struct exact){fraction == 0 ? INFINITE : NOT_A_NUMBER, false, 0, 0};
    else if (format->special == 'n' && code == codes - 1)
      x = (struct exact){NOT_A_NUMBER, false, 0, 0};
    else if (exponent > 0)
      x = exact(false, fraction | UINT64_C(1) << stored, format->least + exponent - 1);
    add(values, x, (uint64_t)code);
    if (format->special == 'u') continue;
    if (format->special == 'z' && code == 0) x = (struct exact){NOT_A_NUMBER, false, 0, 0};
    x.negative = x.is != FINITE || x.digits != 0;
    add(values, x, (uint64_t)(code + codes));
  }
  if (format->special == 'u') add(values, (struct exact){NOT_A_NUMBER, false, 0, 0}, 255);
  CHECK_INT(values->count, 1 << joist_dtype_bits((joist_dtype)(format - formats)));
}

static void add_float(struct values *values, const struct format *format, uint64_t bits) {
  const int stored = format->digits - 1, width = format->beyond == 1024                ? 64
                                                 : format->beyond == 128 && stored > 7 ? 32
                                                                                       : 16;
  const uint64_t fraction = bits & ((UINT64_C(1) << stored) - 1);
  const bool negative = bits >> (width - 1) & 1;
  const int exponent = (int)(bits >> stored & ((UINT64_C(1) << (width - 1 - stored)) - 1));
  const int highest = (1 << (width - 1 - stored)) - 1;
  struct exact x = exact(negative, fraction, format->least);
  if (exponent == highest) {
    x = (struct exact){fraction == 0 ? INFINITE : NOT_A_NUMBER, negative, 0, 0};
  } else if (exponent > 0) {
    x = exact(negative, fraction | UINT64_C(1) << stored, format->least + exponent - 1);
  }
  add(values, x, bits);
}

static void fill(struct values *values, const struct format *format) {
  values->count = 0;
  const bool whole = format->kind != 'f' && format->kind != 'c';
  if (format->kind == 'b') {
    for (uint64_t b = 0; b < 2; b++) add(values, exact(false, b, 0), b);
  } else if (is_byte(format)) {
    add_bytes(values, format);
  } else if (whole && format->digits <= 16) {
    for (uint64_t b = 0; b <= (format->digits <= 8 ? 255 : 65535); b++)
      add_whole(values, format, b);
  } else if (whole) {
    for (int k = 0; k < 64; k++)
      for (uint64_t near = 0; near < 3; near++)
        for (int sign = 0; sign < 2; sign++) {
          const uint64_t x = (UINT64_C(1) << k) + near - 1;
          add_whole(values, format, sign ? 0 - x : x);
        }
    add_whole(values, format, UINT64_MAX);
  } else if (format->beyond == 16 || format->digits == 8) {
    for (uint64_t b = 0; b <= 65535; b++) add_float(values, format, b);
  } else {
    const int stored = format->digits - 1, exponents = format->beyond == 1024 ? 2048 : 256;
    const uint64_t all = (UINT64_C(1) << stored) - 1;
    const uint64_t fractions[] = {0, 1, all, all - 1, all / 2 + 1, all / 2, all ^ 1 << 3};
    for (uint64_t e = 0; e < (uint64_t)exponents; e++)
      for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++)
        for (uint64_t sign = 0; sign < 2; sign++)
          add_float(values, format, (sign * (uint64_t)exponents + e) << stored | fractions[f]);
    for (uint64_t k = 0; k < (uint64_t)stored; k++) { /* subnormals, and 1 + 2^-k */
      add_float(values, format, UINT64_C(1) << k);
      add_float(values, format, ((uint64_t)(exponents / 2 - 1) << stored) | UINT64_C(1) << k);
    }
  }
}

/* ---- pairs ---- */

static const char *const words[] = {"digits",  "range",     "sign",  "small", "fraction",
                                    "special", "imaginary", "value", "zero"};

/* A value that loses nothing is the same after it went there and back. */
static void check_way_back(joist_dtype from, joist_dtype to, struct exact x, uint64_t bits) {
  if (x.is == NOT_A_NUMBER) return; /* its bits are not guaranteed */
  uint64_t in[2] = {0}, there[2] = {0}, back[2] = {0};
  memcpy(in, &bits, joist_dtype_size(joist_dtype_real(from)));
  joist_convert_find(from, to)(1, in, there);
  joist_convert_find(to, from)(1, there, back);
  const bool zero = x.is == FINITE && x.digits == 0; /* integers and FNUZ have one zero */
  const bool same = zero ? joist_dtype_kind(to) != JOIST_KIND_FLOAT || formats[to].special == 'z' ||
                               memcmp(in, back, joist_dtype_size(from)) == 0
                         : memcmp(in, back, joist_dtype_size(from)) == 0;
  CHECK_MSG(same, "%s 0x%llx is not itself again after %s", formats[from].name,
            (unsigned long long)bits, formats[to].name);
}

static unsigned losses_of(joist_dtype from, joist_dtype to, const struct values *values) {
  const struct format *source = &formats[from], *target = &formats[to];
  unsigned losses = 0;
  for (size_t k = 0; k < values->count; k++) {
    const struct exact x = values->exact[k];
    unsigned lost = 0;
    if (target->kind != 'b') {
      lost = lost_in(x, target);
      /* The same value as an imaginary part. */
      const bool drops = source->kind == 'c' && target->kind != 'c';
      if (drops && (x.is != FINITE || x.digits != 0)) losses |= JOIST_LOSS_IMAGINARY;
    } else if (source->kind != 'b' &&
               !(x.is == FINITE && x.digits <= 1 && x.exponent == 0 && !x.negative)) {
      lost = JOIST_LOSS_VALUE;
    }
    losses |= lost;
    if (lost == 0) check_way_back(from, to, x, values->bits[k]);
  }
  return losses;
}

static void test_pairs(void) {
  static struct values values;
  for (int from = 0; from < JOIST_DTYPE_COUNT; from++) {
    CHECK_STR(joist_dtype_name((joist_dtype)from), formats[from].name);
    CHECK_INT(joist_dtype_digits((joist_dtype)from), formats[from].digits);
    if (formats[from].kind == 'f' || formats[from].kind == 'c')
      CHECK_INT(joist_dtype_least_exponent((joist_dtype)from), formats[from].least);
    fill(&values, &formats[from]);
    for (int to = 0; to < JOIST_DTYPE_COUNT; to++) {
      const unsigned shown = losses_of((joist_dtype)from, (joist_dtype)to, &values);
      const unsigned named = joist_conversion_loss((joist_dtype)from, (joist_dtype)to).losses;
      for (size_t bit = 0; bit < sizeof words / sizeof *words; bit++)
        CHECK_MSG((shown >> bit & 1) == (named >> bit & 1), "%s to %s: %s is %s, %s",
                  formats[from].name, formats[to].name, words[bit],
                  named >> bit & 1 ? "named" : "not named",
                  shown >> bit & 1 ? "but a value loses it" : "but no value loses it");
    }
  }
}

/* Up to 2^whole_digits every whole number is exact, and the next one is not. */
static void test_whole_digits(void) {
  for (int from = 0; from < JOIST_DTYPE_COUNT; from++) {
    for (int to = 0; to < JOIST_DTYPE_COUNT; to++) {
      const struct joist_loss_facts facts =
          joist_conversion_loss((joist_dtype)from, (joist_dtype)to);
      const bool whole = formats[from].kind == 'i' || formats[from].kind == 'u';
      const char *const name = formats[from].name;
      if (!whole || !(facts.losses & JOIST_LOSS_DIGITS)) {
        CHECK_INT(facts.whole_digits, 0);
        continue;
      }
      const uint64_t last = UINT64_C(1) << facts.whole_digits;
      CHECK_INT(lost_in(exact(false, last + 1, 0), &formats[to]), JOIST_LOSS_DIGITS);
      const bool has_sign = formats[to].special != 'u';
      CHECK_INT(lost_in(exact(true, last + 1, 0), &formats[to]),
                has_sign ? JOIST_LOSS_DIGITS : JOIST_LOSS_SIGN);
      CHECK_MSG(bits_of(last + 1) <= formats[from].digits, "%s has no 2^%d + 1", name,
                facts.whole_digits);
      for (uint64_t x = last; x + 70000 > last && x > 0; x--)
        if (lost_in(exact(false, x, 0), &formats[to]) != 0) CHECK_INT(x, -1);
      for (int k = 0; k < facts.whole_digits; k++) {
        CHECK_INT(lost_in(exact(false, last - (UINT64_C(1) << k), 0), &formats[to]), 0);
        CHECK_INT(lost_in(exact(has_sign, (UINT64_C(2) << k) - 1, 0), &formats[to]), 0);
      }
    }
  }
}

int main(void) {
  test_pairs();
  test_whole_digits();
  return check_report("loss");
}
