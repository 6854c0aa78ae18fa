/* More processors than there are, and no clock by which teams of threads would not pay, for
 * tests/threads/run, which preloads it: every team that joist asks for is made, and the largest is
 * noted. */
#define _GNU_SOURCE
#include <dlfcn.h>

int omp_get_num_procs(void);
double omp_get_wtime(void);
void GOMP_parallel(void (*task)(void *), void *data, unsigned threads, unsigned flags);
void teams_largest(int *threads);

static unsigned largest = 0;

int omp_get_num_procs(void) { return 8; }

double omp_get_wtime(void) { return 0; }

void GOMP_parallel(void (*task)(void *), void *data, unsigned threads, unsigned flags) {
  static void (*own)(void (*)(void *), void *, unsigned, unsigned) = 0;
  if (own == 0) *(void **)&own = dlsym(RTLD_NEXT, "GOMP_parallel");
  if (threads > largest) largest = threads;
  own(task, data, threads, flags);
}

/* Since the last call. */
void teams_largest(int *threads) {
  *threads = (int)largest;
  largest = 0;
}
