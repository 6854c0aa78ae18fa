/* The settings of a run: threads, interrupts, memory. Passed down from where the run starts. */
#ifndef JOIST_CORE_BASE_RUN_H
#define JOIST_CORE_BASE_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether programs that are worth it are compiled. */
typedef enum {
  JOIST_NATIVE_AUTO,  /* in the background */
  JOIST_NATIVE_NEVER, /* also when compiled code is there */
  JOIST_NATIVE_WAIT   /* before they run */
} joist_native_policy;

/* Loops ask whether to stop after so many elements: asking takes as long as some hundred. */
enum { JOIST_POLL_AFTER = 1 << 14 };

struct joist_call;
struct joist_tally;

struct joist_run {
  int threads;
  joist_native_policy native;
  /* Below this many elements times their work one thread is used; 0 for the measured
   * default, 1 to use all threads for everything, as tests do. */
  size_t parallel_from;
  /* From this many bytes on a result is written past the caches; 0 for what they hold. */
  size_t stream_from;
  /* Called between blocks of tiles from the calling thread; true stops the run. May
   * be NULL. Must not jump out of the engine. */
  bool (*poll)(void *context);
  /* Shows the operand of a print, or says what a `require` needs, on the calling thread; true stops
   * the run. May be NULL. Must not jump out of the engine. */
  bool (*print)(void *context, const struct joist_call *call);
  void *context;
  /* For devices with memory of their own: the inputs, of one element each, that are in the
   * process's memory all the same, as literals are. NULL when none is. */
  const bool *here;
  /* Where instructions that are watched report values that do not fit; NULL: nowhere. */
  struct joist_tally *tally;
  /* Everything that may not fit is counted: by the CPU's interpreter, of a plan that fuses nothing.
   * Otherwise it may be suspected alone. */
  bool exact;
};

#endif
