/* Random integers and binomial numbers, with core's arithmetic and bits. */
#include "cuda/kernels/draw_count_kernels.h"

#include "cuda/kernels/draws.cuh"
#include "cuda/kernels/stored.cuh"

#include "core/ops/random/binomial.h"

/* ---- integers ---- */

JOIST_DEVICE static inline bool limit_at(const joist_cuda_draw &draw,
                                         const joist_cuda_parameter &parameter, uint64_t at,
                                         uint64_t *limit) {
  const joist_whole whole = {draw.smallest, draw.largest};
  /* One of the carriers of joist_limit_carrier(). */
  if (parameter.dtype == JOIST_UI64)
    return whole_of_unsigned(parameter_at<uint64_t>(parameter, at), whole, limit);
  if (parameter.dtype == JOIST_I64)
    return whole_of_signed(parameter_at<int64_t>(parameter, at), whole, limit);
  return whole_of_double(parameter_at<double>(parameter, at), whole, limit);
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
template <class Element, int E>
JOIST_DEVICE static inline void store_as(const joist_cuda_draw &draw, uint64_t first, uint32_t n,
                                         const uint64_t *numbers) {
  joist_pack<typename Element::stored, E> out;
  JOIST_UNROLL for (int k = 0; k < E; k++) { out.x[k] = Element::made((int64_t)numbers[k]); }
  store_drawn(draw, first, n, out);
}

template <int E, bool WIDE>
JOIST_DEVICE static inline void store(const joist_cuda_draw &draw, uint64_t first, uint32_t n,
                                      const uint64_t *numbers) {
  switch (unsigned_like(draw.dtype)) {
#define X(ID, KIND, T, FACTS, A, B)                                                                \
  case JOIST_##ID:                                                                                 \
    if constexpr (has_wide_parts<T>() == WIDE) store_as<element_##ID, E>(draw, first, n, numbers); \
    break;
    JOIST_DTYPES_UINT(X, , )
    JOIST_DTYPES_NARROW(X, , )
    JOIST_DTYPES_FLOAT(X, , )
    JOIST_DTYPES_COMPLEX(X, , )
#undef X
  }
}

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
    store<E, WIDE>(draw, first, n, numbers);
  }
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
       !binomial_attempt(&known, NULL, element_block(&stream, element, attempt), &number);)
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
    if (draw.wide)
      store<E, true>(draw, first, n, numbers);
    else
      store<E, false>(draw, first, n, numbers);
  }
}

/* ---- checking parameters ---- */

JOIST_DEVICE static inline bool parameters_fit(const joist_cuda_draw &draw, uint64_t at) {
  joist_range range;
  if (draw.op == JOIST_OP_RANDINT) return range_at(draw, at, range);
  return is_size(parameter_at<double>(draw.lhs, at), draw.most) &&
         is_probability(parameter_at<double>(draw.rhs, at));
}

/* ---- kernels ---- */

JOIST_KERNEL(joist_draw_narrow, joist_cuda_draw) { draw_integers<false>(parameter); }
JOIST_KERNEL(joist_draw_wide, joist_cuda_draw) { draw_integers<true>(parameter); }
JOIST_KERNEL(joist_draw_binomial, joist_cuda_draw) { draw_binomial(parameter); }

JOIST_KERNEL(joist_draw_count_check, joist_cuda_draw) {
  for (uint64_t k = thread_number(); k < parameter.count; k += thread_count())
    if (!parameters_fit(parameter, k)) report_draw(parameter, k);
}

/* A thread has a block of 128 bits at a time, or four binomial numbers. */
int joist_cuda_start_count(const joist_cuda_draw *draw, void *stream) {
  const uint64_t fours = (draw->count + 3) / 4, twos = (draw->count + 1) / 2;
  if (draw->op == JOIST_OP_RBINOM)
    return launch_draw((const void *)joist_draw_binomial, draw, fours, stream);
  return draw->wide ? launch_draw((const void *)joist_draw_wide, draw, twos, stream)
                    : launch_draw((const void *)joist_draw_narrow, draw, fours, stream);
}

int joist_cuda_start_count_check(const joist_cuda_draw *draw, void *stream) {
  return launch_draw((const void *)joist_draw_count_check, draw, draw->count, stream);
}
