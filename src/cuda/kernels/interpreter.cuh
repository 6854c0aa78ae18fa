/* The steps of a group run one after the other on registers in a thread's local memory:
 * what runs where no kernel was compiled for the group. */
#ifndef JOIST_CUDA_INTERPRETER_CUH
#define JOIST_CUDA_INTERPRETER_CUH

#include "cuda/kernels/loops.cuh"

struct alignas(16) joist_register {
  uint64_t part[2];
};

/* By way of words: behind a reference the compiler does not know the alignment, and would copy
 * byte by byte. */
template <class T>
JOIST_DEVICE static inline T get(const joist_register &from) {
  T value;
  if constexpr (sizeof(T) <= sizeof from.part[0]) {
    const uint64_t part = from.part[0];
    memcpy(&value, &part, sizeof value);
  } else {
    const joist_register both = from;
    memcpy(&value, &both, sizeof value);
  }
  return value;
}
template <class T>
JOIST_DEVICE static inline void put(joist_register &to, T value) {
  joist_register made = {{0, 0}};
  memcpy(&made, &value, sizeof value);
  to.part[0] = made.part[0];
  if (sizeof(T) > sizeof to.part[0]) to.part[1] = made.part[1];
}

JOIST_DEVICE static inline uint32_t size_of(uint32_t dtype) {
  switch (dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return (uint32_t)sizeof(T);
    JOIST_DTYPES(X, , )
#undef X
  }
  return 0;
}

JOIST_DEVICE static inline void load_element(uint32_t dtype, const void *array, uint64_t at,
                                             joist_register &to) {
  switch (size_of(dtype)) {
    case 1:
      put(to, ((const uint8_t *)array)[at]);
      break;
    case 2:
      put(to, ((const uint16_t *)array)[at]);
      break;
    case 4:
      put(to, ((const uint32_t *)array)[at]);
      break;
    case 8:
      put(to, ((const uint64_t *)array)[at]);
      break;
    default:
      to = ((const joist_register *)array)[at];
      break;
  }
}

JOIST_DEVICE static inline void store_element(uint32_t dtype, const joist_register &from,
                                              void *array, uint64_t at) {
  switch (size_of(dtype)) {
    case 1:
      ((uint8_t *)array)[at] = get<uint8_t>(from);
      break;
    case 2:
      ((uint16_t *)array)[at] = get<uint16_t>(from);
      break;
    case 4:
      ((uint32_t *)array)[at] = get<uint32_t>(from);
      break;
    case 8:
      ((uint64_t *)array)[at] = get<uint64_t>(from);
      break;
    default:
      ((joist_register *)array)[at] = from;
      break;
  }
}

/* Through the widest type of its kind, which holds every value: 4 cases per dtype, not one per
 * pair. */
template <class V>
JOIST_DEVICE static inline void narrow(V value, uint32_t to, joist_register &out) {
  switch (to) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    put<T>(out, to_##ID(value));    \
    return;
    JOIST_DTYPES(X, , )
#undef X
  }
}

#define WIDE_BOOL uint64_t
#define WIDE_INT int64_t
#define WIDE_UINT uint64_t
#define WIDE_FLOAT double
#define WIDE_COMPLEX joist_c128
JOIST_DEVICE static inline joist_c128 widened(joist_c64 v) { return to_C128(v); }
template <class V>
JOIST_DEVICE static inline V widened(V v) {
  return v;
}

JOIST_DEVICE JOIST_OUTLINE static void convert_element(uint32_t from, uint32_t to,
                                                       const joist_register &in,
                                                       joist_register &out) {
  if (from == to) {
    out = in;
    return;
  }
  switch (from) {
#define X(ID, KIND, T, FACTS, A, B)                                            \
  case JOIST_##ID:                                                             \
    narrow<WIDE_##KIND>((WIDE_##KIND)widened(from_##ID(get<T>(in))), to, out); \
    return;
    JOIST_DTYPES(X, , )
#undef X
  }
}

/* out = op(a, b, c); false when it fails for these operands. */
#define CASE(OP, ID) case JOIST_OP_##OP *JOIST_DTYPE_COUNT + JOIST_##ID:
#define CASE_1(RESULT, ID, K, T, OP)                          \
  CASE(OP, ID) put<RESULT>(out, op_##OP##_##K<T>(get<T>(a))); \
  return true;
#define CASE_2(RESULT, ID, K, T, OP)                                     \
  CASE(OP, ID) put<RESULT>(out, op_##OP##_##K<T>(get<T>(a), get<T>(b))); \
  return true;
#define CASE_1_SAME(ID, K, T, F, OP, B) CASE_1(T, ID, K, T, OP)
#define CASE_1_BOOL(ID, K, T, F, OP, B) CASE_1(uint8_t, ID, K, T, OP)
#define CASE_1_REAL(ID, K, T, F, OP, B) CASE_1(real_of<T>::type, ID, K, T, OP)
#define CASE_2_SAME(ID, K, T, F, OP, B) CASE_2(T, ID, K, T, OP)
#define CASE_2_BOOL(ID, K, T, F, OP, B) CASE_2(uint8_t, ID, K, T, OP)
#define CASE_3_SAME(ID, K, T, F, OP, B)                                        \
  CASE(OP, ID) put<T>(out, op_##OP##_##K<T>(get<T>(a), get<T>(b), get<T>(c))); \
  return true;
#define CASE_3_SELECT(ID, K, T, F, OP, B)                                            \
  CASE(OP, ID) put<T>(out, op_##OP##_##K<T>(get<uint8_t>(a), get<T>(b), get<T>(c))); \
  return true;
#define CASE_CHECKED(ID, K, T, F, OP, B)                                    \
  CASE(OP, ID) if (fails_##OP##_##K<T>(get<T>(a), get<T>(b))) return false; \
  put<T>(out, op_##OP##_##K<T>(get<T>(a), get<T>(b)));                      \
  return true;

JOIST_DEVICE JOIST_OUTLINE static bool compute_element(uint32_t op, uint32_t dtype,
                                                       const joist_register &a,
                                                       const joist_register &b,
                                                       const joist_register &c,
                                                       joist_register &out) {
  switch (op * JOIST_DTYPE_COUNT + dtype) {
#define KERNEL(OP, KIND, OPERANDS, RESULT, E) JOIST_DTYPES_##KIND(CASE_##OPERANDS##_##RESULT, OP, )
#define CHECKED(OP, KIND, FAILURE, E) JOIST_DTYPES_##KIND(CASE_CHECKED, OP, )
#define REPAIRED(OP, KIND, OPERANDS, E, CONDITION, REPAIR) \
  JOIST_DTYPES_##KIND(CASE_##OPERANDS##_SAME, OP, )
#include "core/program/ops.def"
  }
  return true;
}

/* Whether op(a, b) does not fit. */
JOIST_DEVICE JOIST_OUTLINE static bool wraps_element(uint32_t op, uint32_t dtype,
                                                     const joist_register &a,
                                                     const joist_register &b) {
  switch (op * JOIST_DTYPE_COUNT + dtype) {
#define CASE_WRAPS(ID, K, T, F, OP, B) \
  CASE(OP, ID) return wraps_##OP##_##K<T>(get<T>(a), get<T>(b));
#define WRAPS(OP, KIND, OPERANDS, HOW, TEST, MAY, WRAP, BELOW) JOIST_DTYPES_##KIND(CASE_WRAPS, OP, )
#include "core/program/ops.def"
  }
  return false;
}

/* Whether an integer is not between the bounds of dtype `bounds`. */
JOIST_DEVICE static inline bool is_beyond(uint32_t bounds, uint32_t dtype,
                                          const joist_register &a) {
  int low = 0, high = 0;
  switch (bounds) {
#define X(ID, KIND, T, FACTS, A, B)              \
  case JOIST_##ID:                               \
    low = -(1 << (JOIST_BITS_IN FACTS - 1));     \
    high = (1 << (JOIST_BITS_IN FACTS - 1)) - 1; \
    break;
    JOIST_DTYPES_BYTE_INT(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B)        \
  case JOIST_##ID:                         \
    high = (1 << JOIST_BITS_IN FACTS) - 1; \
    break;
    JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
  }
  const int value = dtype == JOIST_I8 ? get<int8_t>(a) : get<uint8_t>(a);
  return value < low || value > high;
}

JOIST_DEVICE static inline bool is_large_element(uint32_t dtype, int digits,
                                                 const joist_register &a) {
  switch (dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return is_large(get<T>(a), digits);
    JOIST_DTYPES_INT(X, , )
    JOIST_DTYPES_UINT(X, , )
    JOIST_DTYPES_BYTE_INT(X, , )
    JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
  }
  return false;
}

/* The operations that join the partial results of reductions. */
JOIST_DEVICE JOIST_OUTLINE static void combine_element(uint32_t op, uint32_t dtype,
                                                       const joist_register &a,
                                                       const joist_register &b,
                                                       joist_register &out) {
  switch (op * JOIST_DTYPE_COUNT + dtype) {
#define COMBINE(OP, KIND, E) JOIST_DTYPES_##KIND(CASE_COMBINE, OP, )
#define CASE_COMBINE(ID, K, T, F, OP, B)                            \
  CASE(OP, ID) put<T>(out, op_##OP##_##K<T>(get<T>(a), get<T>(b))); \
  return;
#include "core/program/ops.def"
  }
}

/* One element. Accumulators are those of its lane; `started` says that they hold something. */
JOIST_DEVICE static inline void run_steps(const joist_cuda_group &group, uint64_t at,
                                          joist_register *accumulators, bool started) {
  joist_register registers[JOIST_CUDA_REGISTERS];
  const joist_code_step *const steps = steps_of(group);
  for (uint32_t s = 0; s < group.head.step_count; s++) {
    const joist_code_step step = steps[s];
    switch (step.kind) {
      case JOIST_CODE_LOAD:
        load_element(step.from, array_of(group, step.in[0]), at, registers[step.out]);
        break;
      case JOIST_CODE_SCALAR:
        load_element(step.from, array_of(group, step.in[0]), 0, registers[step.out]);
        break;
      case JOIST_CODE_GIVEN:
        load_element(step.from, given_in(group, step.in[0]), 0, registers[step.out]);
        break;
      case JOIST_CODE_GATHER:
        load_element(step.from, array_of(group, step.in[0]),
                     place_of(group, strides_of(group, step.in[1]), at), registers[step.out]);
        break;
      case JOIST_CODE_TAKE: {
        const uint64_t position = (uint64_t)get<int64_t>(registers[step.in[0]]) - step.op;
        load_element(step.from, array_of(group, step.in[2]),
                     place_of(group, strides_of(group, step.in[1]), at) +
                         position * along_of(group, step.in[1]),
                     registers[step.out]);
        break;
      }
      case JOIST_CODE_STORE:
        store_element(step.from, registers[step.in[0]], array_of(group, step.out), at);
        break;
      case JOIST_CODE_COPY: {
        const joist_register in = registers[step.in[0]];
        registers[step.out] = in;
        break;
      }
      case JOIST_CODE_CONVERT: {
        const joist_register in = registers[step.in[0]];
        convert_element(step.from, step.to, in, registers[step.out]);
        break;
      }
      case JOIST_CODE_KERNEL: {
        joist_register made = {{0, 0}};
        if (!compute_element(step.op, step.from, registers[step.in[0]], registers[step.in[1]],
                             registers[step.in[2]], made)) {
          report(group, at, s);
          return;
        }
        registers[step.out] = made;
        break;
      }
      case JOIST_CODE_WRAPS:
      case JOIST_CODE_BEYOND:
      case JOIST_CODE_LARGE: {
        const joist_register a = registers[step.in[0]], b = registers[step.in[1]];
        const bool counts = step.to == 0 || get<uint8_t>(registers[step.in[2]]) == 0;
        if (counts && (step.kind == JOIST_CODE_WRAPS    ? wraps_element(step.op, step.from, a, b)
                       : step.kind == JOIST_CODE_BEYOND ? is_beyond(step.op, step.from, a)
                                                        : is_large_element(step.from, step.op, a)))
          note_wrapped(group);
        break;
      }
      case JOIST_CODE_FOLD: {
        joist_register &sum = accumulators[step.out];
        const joist_register in = registers[step.in[0]], before = sum;
        if (started)
          combine_element(step.op, step.from, before, in, sum);
        else
          sum = in;
        break;
      }
    }
  }
}

/* Partial results, one per thread: lane by lane, into the arrays that the FOLDs name. */
JOIST_DEVICE static inline void store_partials(const joist_cuda_group &group, uint64_t thread,
                                               uint32_t lanes,
                                               joist_register (*accumulators)[JOIST_CUDA_SINKS]) {
  const joist_code_step *const steps = steps_of(group);
  for (uint32_t s = 0; s < group.head.step_count; s++) {
    const joist_code_step step = steps[s];
    if (step.kind != JOIST_CODE_FOLD) continue;
    joist_register all = accumulators[0][step.out];
    for (uint32_t l = 1; l < lanes; l++) {
      const joist_register before = all;
      combine_element(step.op, step.from, before, accumulators[l][step.out], all);
    }
    store_element(step.from, all, array_of(group, step.in[1]), thread);
  }
}

JOIST_DEVICE static inline void interpret(const joist_cuda_group &group) {
  if (group.head.threads == 0) {
    for (uint64_t at = thread_number(); at < group.head.count; at += thread_count())
      run_steps(group, at, nullptr, false);
    return;
  }
  for (uint64_t thread = thread_number(); thread < group.head.threads; thread += thread_count()) {
    joist_register accumulators[JOIST_CUDA_LANES][JOIST_CUDA_SINKS];
    uint32_t lanes = 0;
    if (group.head.segments == 0) {
      for (uint64_t first = thread * JOIST_CUDA_LANES; first < group.head.count;
           first += group.head.threads * JOIST_CUDA_LANES)
        for (uint32_t l = 0; l < JOIST_CUDA_LANES && first + l < group.head.count; l++) {
          run_steps(group, first + l, accumulators[l], l < lanes);
          if (lanes <= l) lanes = l + 1;
        }
    } else {
      const joist_row row = row_of(group, thread);
      for (uint64_t k = 0; k < row.length; k++) {
        const uint32_t l = (uint32_t)(k % JOIST_CUDA_LANES);
        run_steps(group, row.first + k * row.step, accumulators[l], l < lanes);
        if (lanes <= l) lanes = l + 1;
      }
    }
    store_partials(group, thread, lanes, accumulators);
  }
}

struct joist_interpreted {
  typedef joist_register accumulator;
  enum { rounds = 1 };
  uint32_t op, from, dtype;
  JOIST_DEVICE joist_register load(const void *in, uint64_t at) const {
    joist_register element, wide = {{0, 0}};
    load_element(from, in, at, element);
    convert_element(from, dtype, element, wide);
    return wide;
  }
  JOIST_DEVICE joist_register combine(const joist_register &a, const joist_register &b) const {
    joist_register out = {{0, 0}};
    combine_element(op, dtype, a, b, out);
    return out;
  }
  JOIST_DEVICE void store(void *out, uint64_t at, const joist_register &value) const {
    store_element(dtype, value, out, at);
  }
};

#endif
