/* Preloaded by tests/threads/run. Pretends to have 8 processors, and stops the clock by which joist
 * finds that teams of threads do not pay, so that every team is made; notes the largest team. */
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
