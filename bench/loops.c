/* The cases of bench/loops.R in C, on one thread. Operands are those of R, in the order of R's
 * elements; so are the results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPERANDS = 8 };

static double *operand[OPERANDS];
static float *single[OPERANDS]; /* the same, as f32 */
static int length[OPERANDS];
static double *result;
static float *single_result; /* results of f32, as many as `single_count` */
static int result_room, single_count;

static void *room(size_t bytes) {
  void *const memory = calloc(1, bytes + 64);
  if (memory == NULL) abort();
  return memory;
}

void loops_operand(const int *number, const int *count, const double *values) {
  const int k = *number - 1;
  free(operand[k]);
  free(single[k]);
  operand[k] = room((size_t)*count * sizeof(double));
  single[k] = room((size_t)*count * sizeof(float));
  length[k] = *count;
  for (int i = 0; i < *count; i++) single[k][i] = (float)(operand[k][i] = values[i]);
}

/* ---- iterations of scalars ---- */

static void logistic_map(void) {
  double x = operand[0][0];
  for (int i = 0; i < 100000; i++) x = 3.56 * x * (1 - x);
  result[0] = x;
}

static void slope(const double s[3], double k[3]) {
  k[0] = 10 * (s[1] - s[0]);
  k[1] = s[0] * (28 - s[2]) - s[1];
  k[2] = s[0] * s[1] - (8.0 / 3) * s[2];
}

static void lorenz(double s[3]) {
  const double h = 0.001;
  for (int i = 0; i < 20000; i++) {
    double k1[3], k2[3], k3[3], k4[3], t[3];
    slope(s, k1);
    for (int j = 0; j < 3; j++) t[j] = s[j] + h / 2 * k1[j];
    slope(t, k2);
    for (int j = 0; j < 3; j++) t[j] = s[j] + h / 2 * k2[j];
    slope(t, k3);
    for (int j = 0; j < 3; j++) t[j] = s[j] + h * k3[j];
    slope(t, k4);
    for (int j = 0; j < 3; j++) s[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
  }
  memcpy(result, s, 3 * sizeof *s);
}

static void lorenz_scalars(void) {
  double s[3] = {operand[0][0], operand[1][0], operand[2][0]};
  lorenz(s);
}

static void lorenz_vector(void) {
  double s[3] = {operand[0][0], operand[0][1], operand[0][2]};
  lorenz(s);
}

static void scan_gradient(void) {
  const double w = operand[0][0], start = operand[1][0], *const x = operand[2];
  const int n = length[2];
  double *const s = room((size_t)(n + 1) * sizeof *s);
  double total = 0, by_w = 0, by_s = 0;
  s[0] = start;
  for (int t = 0; t < n; t++) {
    s[t + 1] = tanh(w * s[t] + x[t]);
    total += s[t + 1] * s[t + 1];
  }
  for (int t = n; t > 0; t--) {
    const double by_z = (by_s + 2 * s[t]) * (1 - s[t] * s[t]);
    by_w += by_z * s[t - 1];
    by_s = by_z * w;
  }
  free(s);
  result[0] = total;
  result[1] = by_w;
  result[2] = by_s;
}

/* ---- arrays ---- */

static void heat(void) {
  enum { N = 100 };
  static double a[N * N], b[N * N];
  double *from = a, *to = b;
  memcpy(a, operand[0], sizeof a);
  memcpy(b, operand[0], sizeof b);
  for (int turn = 0; turn < 500; turn++) {
    for (int j = 1; j < N - 1; j++)
      for (int i = 1; i < N - 1; i++) {
        const double *const u = from + i + j * N;
        to[i + j * N] = u[0] + 0.2 * (u[-1] + u[1] + u[-N] + u[N] - 4 * u[0]);
      }
    double *const other = from;
    from = to;
    to = other;
  }
  memcpy(result, from, sizeof a);
}

static void black_scholes(void) {
  const int n = length[0];
  const float rate = 0.03f, root = sqrtf(0.5f);
  const float *const spot = single[0], *const strike = single[1], *const years = single[2],
                     *const volatility = single[3];
  float *const call = single_result, *const put = single_result + n;
  for (int i = 0; i < n; i++) {
    const float v = volatility[i], spread = v * sqrtf(years[i]);
    const float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * v * v) * years[i]) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike[i] * expf(-rate * years[i]);
    const float value =
        spot[i] * (0.5f * (1 + erff(d1 * root))) - discounted * (0.5f * (1 + erff(d2 * root)));
    call[i] = value;
    put[i] = value - spot[i] + discounted;
  }
  single_count = 2 * n;
}

static void padded(const float *image, int n, float *to) {
  memset(to, 0, (size_t)(n + 2) * (size_t)(n + 2) * sizeof *to);
  for (int j = 0; j < n; j++)
    memcpy(to + 1 + (j + 1) * (n + 2), image + j * n, (size_t)n * sizeof *to);
}

static void pad(void) {
  padded(single[0], 512, single_result);
  single_count = 514 * 514;
}

static void sobel(void) {
  enum { N = 512, M = N + 2 };
  static float p[M * M];
  padded(single[0], N, p);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      const float *const a = p + i + j * M, *const b = a + M, *const c = b + M;
      const float across = c[0] + 2 * c[1] + c[2] - a[0] - 2 * a[1] - a[2];
      const float along = a[2] + 2 * b[2] + c[2] - a[0] - 2 * b[0] - c[0];
      single_result[i + j * N] = sqrtf(across * across + along * along);
    }
  single_count = N * N;
}

static void resize(void) {
  enum { N = 256, M = 2 * N };
  static float tall[M * N];
  int low[M];
  float part[M];
  for (int i = 0; i < M; i++) {
    const double at = fmin(fmax((i + 0.5) / 2 - 0.5, 0), N - 1);
    low[i] = (int)fmin(floor(at), N - 2);
    part[i] = (float)(at - low[i]);
  }
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      const float *const u = single[0] + low[i] + j * N;
      tall[i + j * M] = u[0] * (1 - part[i]) + u[1] * part[i];
    }
  for (int j = 0; j < M; j++)
    for (int i = 0; i < M; i++) {
      const float *const u = tall + i + low[j] * M;
      single_result[i + j * M] = u[0] * (1 - part[j]) + u[M] * part[j];
    }
  single_count = M * M;
}

static void convolution(void) {
  const int n = length[0], m = length[1];
  memset(result, 0, (size_t)(n + m - 1) * sizeof *result);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) result[i + j] += operand[0][i] * operand[1][j];
}

static void viterbi(void) {
  enum { S = 50 };
  const double *const start = operand[0], *const transition = operand[1],
                      *const emission = operand[2];
  const int symbols = length[2] / S, n = length[3];
  const double *const observed = operand[3];
  int *const back = room((size_t)n * S * sizeof *back);
  double best[S], next[S];
  for (int s = 0; s < S; s++) best[s] = start[s] + emission[(int)observed[0] - 1 + s * symbols];
  for (int t = 1; t < n; t++) {
    for (int s = 0; s < S; s++) {
      int from = 0;
      double most = best[0] + transition[s * S];
      for (int k = 1; k < S; k++) {
        const double score = best[k] + transition[k + s * S];
        if (score > most) {
          most = score;
          from = k;
        }
      }
      next[s] = most + emission[(int)observed[t] - 1 + s * symbols];
      back[s + t * S] = from;
    }
    memcpy(best, next, sizeof best);
  }
  int state = 0;
  for (int s = 1; s < S; s++)
    if (best[s] > best[state]) state = s;
  result[0] = best[state];
  for (int t = n - 1; t > 0; t--) {
    result[1 + t] = state + 1;
    state = back[state + t * S];
  }
  result[1] = state + 1;
  free(back);
}

/* ---- Hamiltonian Monte Carlo ---- */

/* Writes the log density and its gradient for each of the n chains; by[] may be NULL. */
typedef void density(int n, const double *q, double *log_density, double *by);

static void banana_density(int n, const double *q, double *value, double *by) {
  for (int c = 0; c < n; c++) {
    const double x = q[c], y = q[c + n], off = y - x * x;
    value[c] = -0.5 * x * x - 2 * off * off;
    by[c] = -x + 8 * off * x;
    by[c + n] = -4 * off;
  }
}

static void schools_density(int n, const double *q, double *value, double *by) {
  const double *const y = operand[3], *const sigma = operand[4];
  for (int c = 0; c < n; c++) {
    const double mu = q[c], log_tau = q[c + n], tau = exp(log_tau);
    double v = -mu * mu / 50 - 0.5 * (tau / 5) * (tau / 5) + log_tau;
    double by_mu = -mu / 25, by_tau = 0;
    for (int k = 0; k < 8; k++) {
      const double eta = q[c + (k + 2) * n], z = (y[k] - (mu + tau * eta)) / sigma[k];
      v -= 0.5 * eta * eta + 0.5 * z * z;
      by_mu += z / sigma[k];
      by_tau += z / sigma[k] * eta;
      by[c + (k + 2) * n] = -eta + z / sigma[k] * tau;
    }
    value[c] = v;
    by[c] = by_mu;
    by[c + n] = 1 - tau * tau / 25 + by_tau * tau;
  }
}

static void hmc(density *log_density, int n, int d, double step) {
  const int size = n * d, turns = length[2] / n;
  double *const block = room((size_t)(4 * size + 2 * n) * sizeof *block);
  double *const old = block, *const q = old + size, *const p = q + size, *const by = p + size,
                *const before = by + size, *const after = before + n;
  double *const total = result + size, *const accepted = total + size;
  memcpy(old, operand[0], (size_t)size * sizeof *old);
  memset(total, 0, (size_t)(size + n) * sizeof *total);
  for (int t = 0; t < turns; t++) {
    memcpy(q, old, (size_t)size * sizeof *q);
    for (int k = 0; k < size; k++) p[k] = operand[1][t + k * turns];
    log_density(n, q, before, by);
    for (int c = 0; c < n; c++)
      for (int k = 0; k < d; k++) before[c] -= 0.5 * p[c + k * n] * p[c + k * n];
    for (int leap = 0; leap < 10; leap++) {
      for (int k = 0; k < size; k++) p[k] += step / 2 * by[k];
      for (int k = 0; k < size; k++) q[k] += step * p[k];
      log_density(n, q, after, by);
      for (int k = 0; k < size; k++) p[k] += step / 2 * by[k];
    }
    for (int c = 0; c < n; c++) {
      for (int k = 0; k < d; k++) after[c] -= 0.5 * p[c + k * n] * p[c + k * n];
      if (log(operand[2][t + c * turns]) < after[c] - before[c]) {
        for (int k = 0; k < d; k++) old[c + k * n] = q[c + k * n];
        accepted[c]++;
      }
    }
    for (int k = 0; k < size; k++) total[k] += old[k];
  }
  memcpy(result, old, (size_t)size * sizeof *old);
  free(block);
}

static void banana(void) { hmc(banana_density, length[0] / 2, 2, 0.1); }

static void schools(void) { hmc(schools_density, length[0] / 10, 10, 0.1); }

/* ---- LSTM ---- */

enum { T = 20, B = 20, I = 32, H = 64, G = 4 * H };

static float logistic(float x) { return 1 / (1 + expf(-x)); }

/* to[B x n] += a[B x m] b[m x n], with rows of B side by side, as the columns of R's matrices. */
static void add_product(int m, int n, const float *a, const float *b, float *to) {
  for (int j = 0; j < n; j++)
    for (int k = 0; k < m; k++)
      for (int r = 0; r < B; r++) to[r + j * B] += a[r + k * B] * b[k + j * m];
}

/* to[m x n] += transposed a[B x m] times b[B x n]. */
static void add_outer(int m, int n, const float *a, const float *b, float *to) {
  for (int j = 0; j < n; j++)
    for (int k = 0; k < m; k++) {
      float sum = 0;
      for (int r = 0; r < B; r++) sum += a[r + k * B] * b[r + j * B];
      to[k + j * m] += sum;
    }
}

static void lstm(void) {
  const float *const xs = single[0], *const w = single[1], *const u = single[2],
                     *const b = single[3];
  float *const by_w = single_result + 1, *const by_u = by_w + I * G, *const by_b = by_u + H * G;
  static float x[T][B * I], h[T + 1][B * H], c[T + 1][B * H], z[T][B * G];
  static float by_h[B * H], by_c[B * H], by_z[B * G], transposed[G * H];
  memset(single_result, 0, (size_t)(1 + I * G + H * G + G) * sizeof *single_result);
  for (int t = 0; t < T; t++) {
    for (int k = 0; k < B * I; k++) x[t][k] = xs[t + k * T];
    for (int j = 0; j < G; j++)
      for (int r = 0; r < B; r++) z[t][r + j * B] = b[j];
    add_product(I, G, x[t], w, z[t]);
    add_product(H, G, h[t], u, z[t]);
    for (int k = 0; k < B * H; k++) {
      float *const part = z[t] + k;
      part[0] = logistic(part[0]);
      part[B * H] = logistic(part[B * H]);
      part[2 * B * H] = tanhf(part[2 * B * H]);
      part[3 * B * H] = logistic(part[3 * B * H]);
      c[t + 1][k] = part[B * H] * c[t][k] + part[0] * part[2 * B * H];
      h[t + 1][k] = part[3 * B * H] * tanhf(c[t + 1][k]);
    }
  }
  double loss = 0;
  for (int k = 0; k < B * H; k++) {
    loss += h[T][k] * h[T][k] / (B * H);
    by_h[k] = 2 * h[T][k] / (B * H);
    by_c[k] = 0;
  }
  single_result[0] = (float)loss;
  for (int k = 0; k < H; k++)
    for (int j = 0; j < G; j++) transposed[j + k * G] = u[k + j * H];
  for (int t = T - 1; t >= 0; t--) {
    for (int k = 0; k < B * H; k++) {
      const float i = z[t][k], f = z[t][k + B * H], g = z[t][k + 2 * B * H],
                  o = z[t][k + 3 * B * H];
      const float tanh_c = tanhf(c[t + 1][k]);
      const float by = by_c[k] + by_h[k] * o * (1 - tanh_c * tanh_c);
      by_z[k] = by * g * i * (1 - i);
      by_z[k + B * H] = by * c[t][k] * f * (1 - f);
      by_z[k + 2 * B * H] = by * i * (1 - g * g);
      by_z[k + 3 * B * H] = by_h[k] * tanh_c * o * (1 - o);
      by_c[k] = by * f;
    }
    add_outer(I, G, x[t], by_z, by_w);
    add_outer(H, G, h[t], by_z, by_u);
    for (int j = 0; j < G; j++)
      for (int r = 0; r < B; r++) by_b[j] += by_z[r + j * B];
    memset(by_h, 0, sizeof by_h);
    add_product(G, H, by_z, transposed, by_h);
  }
  single_count = 1 + I * G + H * G + G;
}

/* ---- what R calls ---- */

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"logistic_map", logistic_map},
    {"lorenz_scalars", lorenz_scalars},
    {"lorenz_vector", lorenz_vector},
    {"heat_assigned", heat},
    {"heat_padded", heat},
    {"banana_4", banana},
    {"banana_64", banana},
    {"schools_64", schools},
    {"lstm", lstm},
    {"scan_gradient", scan_gradient},
    {"black_scholes", black_scholes},
    {"sobel", sobel},
    {"resize", resize},
    {"pad", pad},
    {"convolution", convolution},
    {"viterbi", viterbi},
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void loops_room(const int *count) {
  free(result);
  free(single_result);
  result_room = *count;
  result = room((size_t)*count * sizeof *result);
  single_result = room((size_t)*count * sizeof *single_result);
}

void loops_time(char **name, const int *count, double *seconds) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (strcmp(cases[k].name, *name) != 0) continue;
    single_count = 0;
    const double start = now();
    for (int i = 0; i < *count; i++) {
      cases[k].run();
      __asm__ volatile("" ::: "memory");
    }
    *seconds = (now() - start) / *count;
  }
}

void loops_result(double *values) {
  for (int i = 0; i < result_room; i++) values[i] = single_count > 0 ? single_result[i] : result[i];
}
