/* Random bits, keys, uniform and normal numbers: every thread makes what a block of random bits
 * gives, which is a function of the key and of the elements' positions. The arithmetic is core's,
 * so the bits are the CPU's. */
#include "cuda/kernels/draw_kernels.h"

#include "cuda/kernels/draw_count_kernels.h"
#include "cuda/kernels/draws.cuh"
#include "cuda/kernels/stored.cuh"

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

/* Uniform numbers of one dtype: COUNT of a block. */
template <class Element, int DIGITS>
struct unit_narrow {
  typedef typename Element::stored type;
  enum { COUNT = 8 };
  JOIST_DEVICE static float make(const joist_block &bits, int k) {
    return unit_of_half(bits.word[k / 2] >> 16 * (k % 2) & 0xffff, DIGITS);
  }
  JOIST_DEVICE static double widen(type x) { return (double)Element::read(x); }
  template <class V>
  JOIST_DEVICE static type round(V x) {
    return Element::made(x);
  }
};
struct unit_single {
  typedef float type;
  enum { COUNT = 4 };
  JOIST_DEVICE static float make(const joist_block &bits, int k) {
    return unit_of_word(bits.word[k]);
  }
  JOIST_DEVICE static double widen(type x) { return (double)x; }
  template <class V>
  JOIST_DEVICE static type round(V x) {
    return (float)x;
  }
};
struct unit_double {
  typedef double type;
  enum { COUNT = 2 };
  JOIST_DEVICE static double make(const joist_block &bits, int k) {
    return unit_of_words(bits.word[2 * k], bits.word[2 * k + 1]);
  }
  JOIST_DEVICE static double widen(type x) { return x; }
  JOIST_DEVICE static type round(double x) { return x; }
};

#define DIGITS(COUNT, LEAST, LARGEST, SPECIAL) COUNT
#define APPLIED(MACRO, ARGUMENTS) MACRO ARGUMENTS
#define X(ID, KIND, T, FACTS, A, B) \
  typedef unit_narrow<element_##ID, APPLIED(DIGITS, JOIST_VALUES_IN FACTS)> unit_##ID;
JOIST_DTYPES_NARROW(X, , )
#undef X
template <class T>
struct unit_of;
template <>
struct unit_of<float> : unit_single {};
template <>
struct unit_of<double> : unit_double {};
#define X(ID, KIND, T, FACTS, A, B) typedef unit_of<T> unit_##ID;
JOIST_DTYPES_FLOAT(X, , )
#undef X

/* The number before `high`, or `low` if there is none in between. */
template <class Unit>
JOIST_DEVICE static inline double top_of(typename Unit::type low, typename Unit::type high) {
  typename Unit::type below;
  uint64_t bits = 0;
  memcpy(&bits, &high, sizeof high);
  bits = next_below(bits, 8 * sizeof high);
  memcpy(&below, &bits, sizeof below);
  const double top = Unit::widen(below), least = Unit::widen(low);
  return top < least ? least : top;
}

template <class Unit>
struct joist_uniform {
  typedef typename Unit::type type;
  enum { E = Unit::COUNT };
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

template <class Parts, class Element>
struct joist_normal {
  typedef typename Element::stored type;
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
    JOIST_UNROLL for (int k = 0; k < E; k++) { out.x[k] = Element::made(parts.x[k]); }
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

/* By whether elements have wide parts. */
template <bool WIDE>
struct parts_of : parts_narrow {
  using parts_narrow::parts_narrow;
};
template <>
struct parts_of<true> : parts_wide {
  using parts_wide::parts_wide;
};

/* ---- a whole result ---- */

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
    store_drawn(draw, first, n, out);
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
  if (draw.op == JOIST_OP_RNORM) return is_deviation(parameter_at<double>(draw.rhs, at));
  switch (draw.dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return limits_fit<unit_##ID>(draw, at);
    JOIST_DTYPES_NARROW(X, , )
    JOIST_DTYPES_FLOAT(X, , )
#undef X
  }
  return false;
}

/* ---- kernels ---- */

#define DRAW(NAME, ...) \
  JOIST_KERNEL(joist_draw_##NAME, joist_cuda_draw) { draw_all<__VA_ARGS__>(parameter); }
DRAW(bits, joist_bits)
#define REAL(ID, KIND, T, FACTS, A, B)         \
  DRAW(uniform_##ID, joist_uniform<unit_##ID>) \
  DRAW(normal_##ID, joist_normal<parts_of<has_wide_parts<T>()>, element_##ID>)
#define COMPLEX(ID, KIND, T, FACTS, A, B) \
  DRAW(normal_##ID, joist_normal_complex<parts_of<has_wide_parts<T>()>, real_of<T>::type>)
JOIST_DTYPES_NARROW(REAL, , )
JOIST_DTYPES_FLOAT(REAL, , )
JOIST_DTYPES_COMPLEX(COMPLEX, , )
#undef REAL
#undef COMPLEX
#undef DRAW

JOIST_KERNEL(joist_draw_check, joist_cuda_draw) {
  for (uint64_t k = thread_number(); k < parameter.count; k += thread_count())
    if (!parameters_fit(parameter, k)) report_draw(parameter, k);
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
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return (const void *)joist_draw_uniform_##ID;
    JOIST_DTYPES_NARROW(X, , )
    JOIST_DTYPES_FLOAT(X, , )
#undef X
  }
  return nullptr;
}

static const void *normal_of(uint32_t dtype) {
  switch (dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return (const void *)joist_draw_normal_##ID;
    JOIST_DTYPES_NARROW(X, , )
    JOIST_DTYPES_FLOAT(X, , )
    JOIST_DTYPES_COMPLEX(X, , )
#undef X
  }
  return nullptr;
}

/* A thread has a block of 128 bits at a time. */
int joist_cuda_start_draw(const joist_cuda_draw *draw, void *stream) {
  joist_cuda_draw bytes = *draw;
  const bool is_complex = draw->size == (draw->wide ? 16 : 8);
  const uint64_t parts = draw->wide ? 2 : 4; /* normal numbers of a block */
  const uint64_t each = is_complex ? parts / 2 : parts;
  const uint64_t uniform = draw->size == 1 ? 8 : 16 / draw->size; /* numbers of a block */
  bytes.count = draw->count * draw->size;
  switch (draw->op) {
    case JOIST_OP_FOLD_IN:
      return launch_draw((const void *)joist_draw_key, draw, 1, stream);
    case JOIST_OP_RANDOM_BITS:
      return launch_draw((const void *)joist_draw_bits, &bytes, (bytes.count + 15) / 16, stream);
    case JOIST_OP_RUNIF:
      return launch_draw(uniform_of(draw->dtype), draw, (draw->count + uniform - 1) / uniform,
                         stream);
    case JOIST_OP_RNORM:
      return launch_draw(normal_of(draw->dtype), draw, (draw->count + each - 1) / each, stream);
    default:
      return joist_cuda_start_count(draw, stream);
  }
}

int joist_cuda_start_draw_check(const joist_cuda_draw *draw, void *stream) {
  if (draw->op != JOIST_OP_RUNIF && draw->op != JOIST_OP_RNORM)
    return joist_cuda_start_count_check(draw, stream);
  return launch_draw((const void *)joist_draw_check, draw, draw->count, stream);
}
