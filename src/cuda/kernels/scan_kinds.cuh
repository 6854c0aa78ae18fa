/* The kinds of cumulative operations: what elements they read and write, what they accumulate
 * in, and how one run of numbers is scanned. */
#ifndef JOIST_CUDA_SCAN_KINDS_CUH
#define JOIST_CUDA_SCAN_KINDS_CUH

#include "cuda/kernels/scaled.cuh"
#include "cuda/kernels/scan_kinds.h"
#include "cuda/kernels/stored.cuh"

/* ---- kinds of scans ----
 *
 * `number` is what runs are made of, `total` what is known of a run as a whole, RUN the rows of one
 * at most: odd, so that threads next to each other meet different banks. */

#define X(ID, KIND, T, FACTS, A, B) || dtype == JOIST_##ID
#define NARROW_ONLY(ID, KIND, T, FACTS, A, B) || (sizeof(T) < 8 && dtype == JOIST_##ID)
#define LONG_ONLY(ID, KIND, T, FACTS, A, B) || (sizeof(T) == 8 && dtype == JOIST_##ID)
JOIST_DEVICE constexpr bool is_narrow_float(int dtype) {
  return false JOIST_DTYPES_NARROW(X, , ) JOIST_DTYPES_FLOAT(NARROW_ONLY, , );
}
JOIST_DEVICE constexpr bool is_float(int dtype) {
  return false JOIST_DTYPES_NARROW(X, , ) JOIST_DTYPES_FLOAT(X, , );
}
JOIST_DEVICE constexpr bool is_complex(int dtype) { return false JOIST_DTYPES_COMPLEX(X, , ); }
JOIST_DEVICE constexpr bool is_long(int dtype) {
  return false JOIST_DTYPES_INT(LONG_ONLY, , ) JOIST_DTYPES_UINT(LONG_ONLY, , );
}
#undef X
#undef NARROW_ONLY
#undef LONG_ONLY

/* A run becomes its own scan, and then what that is behind what comes before it. */
template <class N, int ROWS>
struct scan_of {
  typedef N number;
  typedef N total;
  enum { RUN = ROWS };
  const joist_cuda_scan &scan; /* a kernel's parameter costs no register */
  JOIST_DEVICE explicit scan_of(const joist_cuda_scan &parameter) : scan(parameter) {}
  template <class V>
  JOIST_DEVICE N lift(V v) const {
    return N(v);
  }
  JOIST_DEVICE N lower(N v) const { return v; }
};

struct scan_wrap : scan_of<uint64_t, 11> {
  using scan_of::scan_of;
  JOIST_DEVICE static constexpr bool reads(int dtype) {
    return !is_float(dtype) && !is_complex(dtype);
  }
  JOIST_DEVICE static constexpr bool writes(int dtype) { return is_long(dtype); }
  JOIST_DEVICE uint64_t join(uint64_t a, uint64_t b) const {
    return scan.second ? op_MUL_UINT<uint64_t>(a, b) : op_ADD_UINT<uint64_t>(a, b);
  }
};

/* In i64, where the numbers of ui64 less 2^63 have their order. */
struct scan_order : scan_of<int64_t, 11> {
  using scan_of::scan_of;
  JOIST_DEVICE static constexpr bool reads(int dtype) {
    return !is_float(dtype) && !is_complex(dtype);
  }
  JOIST_DEVICE static constexpr bool writes(int dtype) { return reads(dtype); }
  template <class V>
  JOIST_DEVICE int64_t lift(V v) const {
    return (int64_t)((uint64_t)v ^ flip());
  }
  JOIST_DEVICE uint64_t flip() const { return (uint64_t)(scan.from == JOIST_UI64) << 63; }
  JOIST_DEVICE uint64_t lower(int64_t v) const { return (uint64_t)v ^ flip(); }
  JOIST_DEVICE int64_t join(int64_t a, int64_t b) const {
    return scan.second ? op_MAX_INT<int64_t>(a, b) : op_MIN_INT<int64_t>(a, b);
  }
};

template <class R, int ROWS>
struct scan_order_float : scan_of<R, ROWS> {
  using scan_of<R, ROWS>::scan_of;
  JOIST_DEVICE static constexpr bool reads(int dtype) {
    return sizeof(R) == 8 ? dtype == JOIST_F64 : is_narrow_float(dtype);
  }
  JOIST_DEVICE static constexpr bool writes(int dtype) { return reads(dtype); }
  JOIST_DEVICE R join(R a, R b) const {
    return this->scan.second ? op_MAX_FLOAT<R>(a, b) : op_MIN_FLOAT<R>(a, b);
  }
};

/* In f64 or c128. */
template <class N, int ROWS>
struct scan_inexact : scan_of<N, ROWS> {
  using scan_of<N, ROWS>::scan_of;
  using scan_of<N, ROWS>::lift;
  JOIST_DEVICE static constexpr bool reads(int dtype) {
    return sizeof(N) == 16 ? is_complex(dtype) : is_float(dtype);
  }
  JOIST_DEVICE static constexpr bool writes(int dtype) { return reads(dtype); }
  JOIST_DEVICE N lift(joist_c64 v) const { return to_C128(v); }
};

template <class N, int ROWS>
struct scan_sum : scan_inexact<N, ROWS> {
  using scan_inexact<N, ROWS>::scan_inexact;
  JOIST_DEVICE N join(N a, N b) const { return a + b; }
};

/* Products of runs and of what is made of runs may be of any size: they are scaled. A run itself
 * is multiplied up from what comes before it, number by number. */
template <class N, int ROWS>
struct scan_product : scan_inexact<N, ROWS> {
  typedef joist_scaled<N> total;
  using scan_inexact<N, ROWS>::scan_inexact;
  JOIST_DEVICE total join(const total &a, const total &b) const { return scaled_product(a, b); }
};

/* Of n > 0 numbers, `step` apart. The next one is read before this one is written: the compiler
 * would not know that it may. */
template <class P>
JOIST_DEVICE static inline typename P::total total_of_run(const P &p, typename P::number *run,
                                                          uint32_t step, uint32_t n) {
  typename P::number now = run[0], ahead = n > 1 ? run[step] : now;
  JOIST_ROLLED for (uint32_t k = 1; k < n; k++) {
    const typename P::number next = ahead;
    if (k + 1 < n) ahead = run[(k + 1) * step];
    run[k * step] = now = p.join(now, next);
  }
  return now;
}
template <class N, int ROWS>
JOIST_DEVICE static inline joist_scaled<N> total_of_run(const scan_product<N, ROWS> &p, N *run,
                                                        uint32_t step, uint32_t n) {
  joist_scaled<N> now = scaled(run[0]);
  JOIST_ROLLED for (uint32_t k = 1; k < n; k++) now = p.join(now, scaled(run[k * step]));
  return now;
}

/* Puts the totals in `before` that exist in front of the run; outer levels come first. They are
 * joined to it one after another where that makes a difference. */
template <int LEVELS, class P>
JOIST_DEVICE static inline void finish_run(const P &p, const bool (&any)[LEVELS],
                                           const typename P::total (&before)[LEVELS],
                                           typename P::number *run, uint32_t step, uint32_t n) {
  constexpr uint32_t TOGETHER = 4;
  JOIST_ROLLED for (uint32_t first = 0; first < n; first += TOGETHER) {
    typename P::number now[TOGETHER] = {};
    JOIST_UNROLL for (uint32_t k = 0; k < TOGETHER; k++) {
      if (first + k < n) now[k] = run[(first + k) * step];
    }
    JOIST_UNROLL for (int level = LEVELS - 1; level >= 0; level--) {
      if (!any[level]) continue;
      JOIST_UNROLL for (uint32_t k = 0; k < TOGETHER; k++) now[k] = p.join(before[level], now[k]);
    }
    JOIST_UNROLL for (uint32_t k = 0; k < TOGETHER; k++) {
      if (first + k < n) run[(first + k) * step] = now[k];
    }
  }
}
template <int LEVELS, class N, int ROWS>
JOIST_DEVICE static inline void finish_run(const scan_product<N, ROWS> &p,
                                           const bool (&any)[LEVELS],
                                           const joist_scaled<N> (&before)[LEVELS], N *run,
                                           uint32_t step, uint32_t n) {
  joist_scaled<N> all = before[0];
  bool some = any[0];
  JOIST_UNROLL for (int level = 1; level < LEVELS; level++) {
    if (any[level]) all = some ? p.join(all, before[level]) : before[level];
    some |= any[level];
  }
  N now = some ? scaled_value(all) * run[0] : run[0];
  run[0] = now;
  JOIST_ROLLED for (uint32_t k = 1; k < n; k++) run[k * step] = now = now * run[k * step];
}

#endif
