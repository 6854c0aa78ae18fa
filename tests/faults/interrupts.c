/* An interrupt after so many seconds, for interrupts.R: as Ctrl-C, a SIGINT for the process, at a
 * moment that a child which sleeps could not hit. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void interrupt(int unused) {
  (void)unused;
  kill(getpid(), SIGINT);
}

void interrupts_in(const double *seconds);

/* None with 0 seconds, which takes back the one to come. */
void interrupts_in(const double *seconds) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval when = {
      .it_value = {(long)*seconds, (long)((*seconds - (double)(long)*seconds) * 1e6)}};
  setitimer(ITIMER_REAL, &when, NULL);
}
