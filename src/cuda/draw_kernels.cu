/* Random numbers: every thread makes those of one block of random bits, which is a function of
 * the key and of the elements' positions. The arithmetic is core's, so the bits are the CPU's. */
#include <cuda_runtime.h>

#include "cuda/target.cuh"

#define JOIST_INLINE JOIST_DEVICE static inline
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "core/binomial.h"
#include "core/philox.h"
#include "core/random_element.h"
#include "cuda/draws.h"
#include "cuda/loops.cuh"

/* ---- parameters ---- */

JOIST_DEVICE static inline bool is_single(const joist_cuda_parameter &parameter) {
  return parameter.elements == nullptr;
}
JOIST_DEVICE static inline bool are_single(const joist_cuda_draw &draw) {
  return is_single(draw.lhs) && is_single(draw.rhs);
}

template <class T>
JOIST_DEVICE static inline T parameter_at(const joist_cuda_parameter &parameter, uint64_t at) {
  return is_single(parameter) ? *(const T *)parameter.one : ((const T *)parameter.elements)[at];
}

/* Those of E elements, of which the first n <= E are there. */
template <class T, int E>
JOIST_DEVICE static inline void load_parameter(const joist_cuda_parameter &parameter,
                                               uint64_t first, uint32_t n, joist_pack<T, E> &out) {
  if (!is_single(parameter) && n == (uint32_t)E) {
    load_whole(parameter.elements, first, out);
    return;
  }
  JOIST_UNROLL for (int k = 0; k < E; k++) {
    out.x[k] = parameter_at<T>(parameter, first + ((uint32_t)k < n ? (uint32_t)k : n - 1));
  }
}

/* ---- what becomes of a block of random bits: E elements of `type` ---- */

struct joist_bits {
  typedef uint8_t type;
  enum { E = 16 };
  JOIST_DEVICE static void make(const joist_cuda_draw &, const joist_stream &,
                                const joist_block &bits, uint64_t, uint32_t,
                                joist_pack<type, E> &out) {
    memcpy(&out, &bits, sizeof out);
  }
};

struct unit_f16 {
  typedef uint16_t type;
  JOIST_DEVICE static float make(const joist_block &bits, int k) {
    return unit_of_half(bits.word[k / 2] >> 16 * (k % 2) & 0xffff, 11);
  }
  JOIST_DEVICE static double widen(type x) { return (double)from_F16(x); }
  template <class V>
  JOIST_DEVICE static type round(V x) {
    return to_F16(x);
  }
};
struct unit_bf16 {
  typedef uint16_t type;
  JOIST_DEVICE static float make(const joist_block &bits, int k) {
    return unit_of_half(bits.word[k / 2] >> 16 * (k % 2) & 0xffff, 8);
  }
  JOIST_DEVICE static double widen(type x) { return (double)from_BF16(x); }
  template <class V>
  JOIST_DEVICE static type round(V x) {
    return to_BF16(x);
  }
};
struct unit_f32 {
  typedef float type;
  JOIST_DEVICE static float make(const joist_block &bits, int k) {
    return unit_of_word(bits.word[k]);
  }
  JOIST_DEVICE static double widen(type x) { return (double)x; }
  template <class V>
  JOIST_DEVICE static type round(V x) {
    return (float)x;
  }
};
struct unit_f64 {
  typedef double type;
  JOIST_DEVICE static double make(const joist_block &bits, int k) {
    return unit_of_words(bits.word[2 * k], bits.word[2 * k + 1]);
  }
  JOIST_DEVICE static double widen(type x) { return x; }
  JOIST_DEVICE static type round(double x) { return x; }
};

/* The number before `high`, or `low` if there is none in between. */
template <class Unit>
JOIST_DEVICE static inline double top_of(typename Unit::type low, typename Unit::type high) {
  typename Unit::type below;
  uint64_t bits = 0;
  memcpy(&bits, &high, sizeof high);
  bits = next_below(bits, sizeof high);
  memcpy(&below, &bits, sizeof below);
  const double top = Unit::widen(below), least = Unit::widen(low);
  return top < least ? least : top;
}

template <class Unit>
struct joist_uniform {
  typedef typename Unit::type type;
  enum { E = 16 / sizeof(type) };
  JOIST_DEVICE static void make(const joist_cuda_draw &draw, const joist_stream &,
                                const joist_block &bits, uint64_t first, uint32_t n,
                                joist_pack<type, E> &out) {
    if (draw.standard) {
      JOIST_UNROLL for (int k = 0; k < E; k++) { out.x[k] = Unit::round(Unit::make(bits, k)); }
      return;
    }
    joist_pack<type, E> low, high;
    double top = 0;
    load_parameter(draw.lhs, first, n, low);
    load_parameter(draw.rhs, first, n, high);
    const bool same = are_single(draw);
    JOIST_UNROLL for (int k = 0; k < E; k++) {
      if (k == 0 || !same) top = top_of<Unit>(low.x[k], high.x[k]);
      out.x[k] = Unit::round(
          between(Unit::widen(low.x[k]), Unit::widen(high.x[k]), top, (double)Unit::make(bits, k)));
    }
  }
};

/* Standard normal numbers: two pairs from a block, or one. */
struct parts_narrow {
  enum { COUNT = 4 };
  double x[COUNT];
  JOIST_DEVICE explicit parts_narrow(const joist_block &bits) {
    for (int k = 0; k < COUNT; k += 2) {
      const joist_pair pair = normal_narrow(bits.word[k], bits.word[k + 1]);
      x[k] = pair.first;
      x[k + 1] = pair.second;
    }
  }
};
struct parts_wide {
  enum { COUNT = 2 };
  double x[COUNT];
  JOIST_DEVICE explicit parts_wide(const joist_block &bits) {
    const joist_pair pair = normal_wide(bits.word[0], bits.word[1], bits.word[2], bits.word[3]);
    x[0] = pair.first;
    x[1] = pair.second;
  }
};

template <class Parts, class T, T round(double)>
struct joist_normal {
  typedef T type;
  enum { E = Parts::COUNT };
  JOIST_DEVICE static void make(const joist_cuda_draw &draw, const joist_stream &,
                                const joist_block &bits, uint64_t first, uint32_t n,
                                joist_pack<type, E> &out) {
    Parts parts(bits);
    if (!draw.standard) {
      joist_pack<double, E> mean, sd;
      load_parameter(draw.lhs, first, n, mean);
      load_parameter(draw.rhs, first, n, sd);
      JOIST_UNROLL for (int k = 0; k < E; k++) { parts.x[k] = mean.x[k] + sd.x[k] * parts.x[k]; }
    }
    JOIST_UNROLL for (int k = 0; k < E; k++) { out.x[k] = round(parts.x[k]); }
  }
};

template <class Parts, class R>
struct joist_normal_complex {
  typedef joist_complex<R> type;
  enum { E = Parts::COUNT / 2 };
  JOIST_DEVICE static void make(const joist_cuda_draw &draw, const joist_stream &,
                                const joist_block &bits, uint64_t first, uint32_t n,
                                joist_pack<type, E> &out) {
    const Parts parts(bits);
    joist_pack<joist_c128, E> mean;
    joist_pack<double, E> sd;
    load_parameter(draw.lhs, first, n, mean);
    load_parameter(draw.rhs, first, n, sd);
    JOIST_UNROLL for (int k = 0; k < E; k++) {
      const double part_sd = sd.x[k] * PART_SD;
      out.x[k] = type((R)(mean.x[k].re + part_sd * parts.x[2 * k]),
                      (R)(mean.x[k].im + part_sd * parts.x[2 * k + 1]));
    }
  }
};

JOIST_DEVICE static inline uint16_t round_f16(double x) { return to_F16(x); }
JOIST_DEVICE static inline uint16_t round_bf16(double x) { return to_BF16(x); }
JOIST_DEVICE static inline float round_f32(double x) { return (float)x; }
JOIST_DEVICE static inline double round_f64(double x) { return x; }

/* ---- a whole result ---- */

JOIST_DEVICE static inline joist_stream dense_stream(const joist_cuda_draw &draw) {
  const joist_stream stream = {{draw.key[0], draw.key[1]}, 0, JOIST_STREAM_DENSE};
  return stream;
}

template <class Maker>
JOIST_DEVICE static inline void draw_all(const joist_cuda_draw &draw) {
  typedef typename Maker::type T;
  constexpr uint32_t E = Maker::E;
  const joist_stream stream = dense_stream(draw);
  for (uint64_t block = thread_number(); block * E < draw.count; block += thread_count()) {
    const uint64_t first = block * E, rest = draw.count - first;
    const uint32_t n = rest < E ? (uint32_t)rest : E;
    joist_pack<T, (int)E> out;
    Maker::make(draw, stream, stream_block(&stream, block), first, n, out);
    if (n == E)
      store_whole(draw.out, first, out);
    else
      store_row(draw.out, first, 1, n, out);
  }
}

/* ---- integers ---- */

JOIST_DEVICE static inline bool limit_at(const joist_cuda_draw &draw,
                                         const joist_cuda_parameter &parameter, uint64_t at,
                                         uint64_t *limit) {
  const joist_whole whole = {draw.smallest, draw.largest};
  switch (parameter.dtype) {
    case JOIST_UI64:
      return whole_of_unsigned(parameter_at<uint64_t>(parameter, at), whole, limit);
    case JOIST_I64:
      return whole_of_signed(parameter_at<int64_t>(parameter, at), whole, limit);
    default:
      return whole_of_double(parameter_at<double>(parameter, at), whole, limit);
  }
}

JOIST_DEVICE static inline bool range_at(const joist_cuda_draw &draw, uint64_t at,
                                         joist_range &range) {
  uint64_t high;
  const bool low_fits = limit_at(draw, draw.lhs, at, &range.low);
  const bool high_fits = limit_at(draw, draw.rhs, at, &high);
  range.span = high - range.low;
  const bool ordered =
      draw.dtype == JOIST_UI64 ? range.low <= high : (int64_t)range.low <= (int64_t)high;
  return low_fits && high_fits && ordered;
}

/* What integers become; none is outside of the dtype. */
#define STORE(ID, T)                                                                      \
  {                                                                                       \
    joist_pack<T, E> out;                                                                 \
    JOIST_UNROLL for (int k = 0; k < E; k++) { out.x[k] = to_##ID((int64_t)numbers[k]); } \
    if (n == (uint32_t)E)                                                                 \
      store_whole(draw.out, first, out);                                                  \
    else                                                                                  \
      store_row(draw.out, first, 1, n, out);                                              \
  }                                                                                       \
  break;

template <int E>
JOIST_DEVICE static inline void store_narrow(const joist_cuda_draw &draw, uint64_t first,
                                             uint32_t n, const uint64_t *numbers) {
  switch (draw.dtype) {
    case JOIST_F16:
      STORE(F16, uint16_t)
    case JOIST_BF16:
      STORE(BF16, uint16_t)
    case JOIST_F32:
      STORE(F32, float)
    case JOIST_C64:
      STORE(C64, joist_c64)
    case JOIST_BOOL:
    case JOIST_I8:
    case JOIST_UI8:
      STORE(UI8, uint8_t)
    case JOIST_I16:
    case JOIST_UI16:
      STORE(UI16, uint16_t)
    default:
      STORE(UI32, uint32_t)
  }
}
template <int E>
JOIST_DEVICE static inline void store_wide(const joist_cuda_draw &draw, uint64_t first, uint32_t n,
                                           const uint64_t *numbers) {
  switch (draw.dtype) {
    case JOIST_F64:
      STORE(F64, double)
    case JOIST_C128:
      STORE(C128, joist_c128)
    default:
      STORE(UI64, uint64_t)
  }
}
#undef STORE

template <bool WIDE>
JOIST_DEVICE static inline void draw_integers(const joist_cuda_draw &draw) {
  constexpr int E = WIDE ? 2 : 4;
  const joist_stream stream = dense_stream(draw);
  const bool same = are_single(draw);
  for (uint64_t block = thread_number(); block * E < draw.count; block += thread_count()) {
    const uint64_t first = block * E, rest = draw.count - first;
    const uint32_t n = rest < (uint64_t)E ? (uint32_t)rest : (uint32_t)E;
    const joist_block bits = stream_block(&stream, block);
    joist_range range = {0, 0};
    uint64_t numbers[E] = {0};
    JOIST_UNROLL for (int k = 0; k < E; k++) {
      if ((uint32_t)k >= n) break;
      if (k == 0 || !same) (void)range_at(draw, first + (uint64_t)k, range);
      numbers[k] = range.low +
                   (WIDE ? below_wide(&stream, first + (uint64_t)k,
                                      wide_word(bits.word[2 * k % 4], bits.word[(2 * k + 1) % 4]),
                                      range.span)
                         : below_narrow(&stream, first + (uint64_t)k, bits.word[k], range.span));
    }
    if (WIDE)
      store_wide<E>(draw, first, n, numbers);
    else
      store_narrow<E>(draw, first, n, numbers);
  }
}

JOIST_DEVICE static inline bool is_wide(uint32_t dtype) {
  return dtype == JOIST_I64 || dtype == JOIST_UI64 || dtype == JOIST_F64 || dtype == JOIST_C128;
}

/* ---- binomial numbers ---- */

/* Of a single trial, from dense bits. */
JOIST_DEVICE static inline double trial(const joist_stream &stream, uint64_t element, double prob) {
  const joist_block bits = stream_block(&stream, element / 2);
  const bool second = element % 2 != 0;
  const double unit =
      unit_of_words(second ? bits.word[2] : bits.word[0], second ? bits.word[3] : bits.word[1]);
  return unit < prob ? 1 : 0;
}

JOIST_DEVICE static inline double trials(const joist_stream &stream, uint64_t element,
                                         const joist_binomial &known) {
  double number = 0;
  for (uint32_t attempt = 0;
       !binomial_attempt(&known, element_block(&stream, element, attempt), &number);)
    attempt++;
  return number;
}

JOIST_DEVICE static inline void draw_binomial(const joist_cuda_draw &draw) {
  constexpr int E = 4;
  const joist_stream stream = dense_stream(draw);
  for (uint64_t part = thread_number(); part * E < draw.count; part += thread_count()) {
    const uint64_t first = part * E, rest = draw.count - first;
    const uint32_t n = rest < (uint64_t)E ? (uint32_t)rest : (uint32_t)E;
    joist_binomial known;
    uint64_t numbers[E] = {0};
    known.size = known.prob = -1; /* none */
    JOIST_ROLLED for (uint32_t k = 0; k < n; k++) {
      const double size = parameter_at<double>(draw.lhs, first + k);
      const double prob = parameter_at<double>(draw.rhs, first + k);
      const bool one = size == 1;
      if (!one && (size != known.size || prob != known.prob)) known = binomial_setup(size, prob);
      const double number = one ? trial(stream, first + k, prob) : trials(stream, first + k, known);
      JOIST_UNROLL for (int e = 0; e < E; e++) {
        if ((uint32_t)e == k) numbers[e] = (uint64_t)number;
      }
    }
    if (is_wide(draw.dtype))
      store_wide<E>(draw, first, n, numbers);
    else
      store_narrow<E>(draw, first, n, numbers);
  }
}

/* ---- checking parameters ---- */

template <class Unit>
JOIST_DEVICE static inline bool limits_fit(const joist_cuda_draw &draw, uint64_t at) {
  typedef typename Unit::type T;
  return are_limits(Unit::widen(parameter_at<T>(draw.lhs, at)),
                    Unit::widen(parameter_at<T>(draw.rhs, at)));
}

JOIST_DEVICE static inline bool parameters_fit(const joist_cuda_draw &draw, uint64_t at) {
  joist_range range;
  if (draw.op == JOIST_OP_RANDINT) return range_at(draw, at, range);
  if (draw.op == JOIST_OP_RBINOM)
    return is_size(parameter_at<double>(draw.lhs, at), draw.most) &&
           is_probability(parameter_at<double>(draw.rhs, at));
  if (draw.op == JOIST_OP_RNORM) return is_deviation(parameter_at<double>(draw.rhs, at));
  switch (draw.dtype) {
    case JOIST_F16:
      return limits_fit<unit_f16>(draw, at);
    case JOIST_BF16:
      return limits_fit<unit_bf16>(draw, at);
    case JOIST_F32:
      return limits_fit<unit_f32>(draw, at);
    default:
      return limits_fit<unit_f64>(draw, at);
  }
}

/* ---- kernels ---- */

#define DRAW(NAME, ...) \
  JOIST_KERNEL(joist_draw_##NAME, joist_cuda_draw) { draw_all<__VA_ARGS__>(parameter); }
DRAW(bits, joist_bits)
DRAW(uniform_f16, joist_uniform<unit_f16>)
DRAW(uniform_bf16, joist_uniform<unit_bf16>)
DRAW(uniform_f32, joist_uniform<unit_f32>)
DRAW(uniform_f64, joist_uniform<unit_f64>)
DRAW(normal_f16, joist_normal<parts_narrow, uint16_t, round_f16>)
DRAW(normal_bf16, joist_normal<parts_narrow, uint16_t, round_bf16>)
DRAW(normal_f32, joist_normal<parts_narrow, float, round_f32>)
DRAW(normal_f64, joist_normal<parts_wide, double, round_f64>)
DRAW(normal_c64, joist_normal_complex<parts_narrow, float>)
DRAW(normal_c128, joist_normal_complex<parts_wide, double>)
#undef DRAW

JOIST_KERNEL(joist_draw_narrow, joist_cuda_draw) { draw_integers<false>(parameter); }
JOIST_KERNEL(joist_draw_wide, joist_cuda_draw) { draw_integers<true>(parameter); }

JOIST_KERNEL(joist_draw_binomial, joist_cuda_draw) { draw_binomial(parameter); }

JOIST_KERNEL(joist_draw_check, joist_cuda_draw) {
  for (uint64_t k = thread_number(); k < parameter.count; k += thread_count())
    if (!parameters_fit(parameter, k))
      atomicMin((unsigned long long *)parameter.failure, (unsigned long long)k);
}

JOIST_KERNEL(joist_draw_key, joist_cuda_draw) {
  if (thread_number() > 0) return;
  joist_stream stream = dense_stream(parameter);
  stream.use = parameter.split ? JOIST_STREAM_SPLIT : JOIST_STREAM_FOLD;
  const joist_block bits = stream_block(&stream, parameter_at<uint64_t>(parameter.lhs, 0));
  ((uint32_t *)parameter.out)[0] = bits.word[0];
  ((uint32_t *)parameter.out)[1] = bits.word[1];
}

static const void *uniform_of(uint32_t dtype) {
  switch (dtype) {
    case JOIST_F16:
      return (const void *)joist_draw_uniform_f16;
    case JOIST_BF16:
      return (const void *)joist_draw_uniform_bf16;
    case JOIST_F32:
      return (const void *)joist_draw_uniform_f32;
    default:
      return (const void *)joist_draw_uniform_f64;
  }
}

static const void *normal_of(uint32_t dtype) {
  switch (dtype) {
    case JOIST_F16:
      return (const void *)joist_draw_normal_f16;
    case JOIST_BF16:
      return (const void *)joist_draw_normal_bf16;
    case JOIST_F32:
      return (const void *)joist_draw_normal_f32;
    case JOIST_F64:
      return (const void *)joist_draw_normal_f64;
    case JOIST_C64:
      return (const void *)joist_draw_normal_c64;
    default:
      return (const void *)joist_draw_normal_c128;
  }
}

static int launch(const void *kernel, const joist_cuda_draw *draw, uint64_t threads, void *stream) {
  const uint64_t blocks = (threads + JOIST_CUDA_BLOCK - 1) / JOIST_CUDA_BLOCK;
  const unsigned grid = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  void *arguments[] = {const_cast<joist_cuda_draw *>(draw)};
  return (int)cudaLaunchKernel(kernel, dim3(grid), dim3(JOIST_CUDA_BLOCK), arguments, 0,
                               (cudaStream_t)stream);
}

/* A thread has a block of 128 bits at a time, or four binomial numbers. */
int joist_cuda_start_draw(const joist_cuda_draw *draw, void *stream) {
  joist_cuda_draw bytes = *draw;
  const bool wide = draw->dtype == JOIST_I64 || draw->dtype == JOIST_UI64 ||
                    draw->dtype == JOIST_F64 || draw->dtype == JOIST_C128;
  const uint64_t fours = (draw->count + 3) / 4, twos = (draw->count + 1) / 2;
  switch (draw->op) {
    case JOIST_OP_FOLD_IN:
      return launch((const void *)joist_draw_key, draw, 1, stream);
    case JOIST_OP_RANDOM_BITS:
      bytes.count = draw->count * draw->size;
      return launch((const void *)joist_draw_bits, &bytes, (bytes.count + 15) / 16, stream);
    case JOIST_OP_RUNIF:
      return launch(uniform_of(draw->dtype), draw, (draw->count * draw->size + 15) / 16, stream);
    case JOIST_OP_RNORM:
      return launch(normal_of(draw->dtype), draw,
                    draw->dtype == JOIST_C128                              ? draw->count
                    : draw->dtype == JOIST_F64 || draw->dtype == JOIST_C64 ? twos
                                                                           : fours,
                    stream);
    case JOIST_OP_RBINOM:
      return launch((const void *)joist_draw_binomial, draw, fours, stream);
    default:
      return wide ? launch((const void *)joist_draw_wide, draw, twos, stream)
                  : launch((const void *)joist_draw_narrow, draw, fours, stream);
  }
}

int joist_cuda_start_draw_check(const joist_cuda_draw *draw, void *stream) {
  return launch((const void *)joist_draw_check, draw, draw->count, stream);
}
