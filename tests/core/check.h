/* check.h: the counting checks that the C tests of src/core use.
 *
 * Owns two static counters per test program. A check never stops the program: it counts,
 * prints file:line for the first failures, and check_report() gives main's exit status. */
#ifndef JOIST_TESTS_CHECK_H
#define JOIST_TESTS_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* More failures than this are counted but not printed. */
enum { CHECK_MAX_PRINTED = 20 };

static long check_passed_count;
static long check_failed_count;

#if defined(__GNUC__)
#define CHECK_PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#define CHECK_UNUSED __attribute__((unused))
#else
#define CHECK_PRINTF_LIKE(format_at, first_at)
#define CHECK_UNUSED
#endif

/* Counts one check and returns `ok`; prints the message when the check failed. */
CHECK_UNUSED CHECK_PRINTF_LIKE(4, 5) static int check_count(int ok, const char *file, int line,
                                                            const char *format, ...) {
  if (ok) {
    ++check_passed_count;
    return 1;
  }
  ++check_failed_count;
  if (check_failed_count <= CHECK_MAX_PRINTED) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
  }
  return 0;
}

CHECK_UNUSED static int check_strings(const char *got, const char *want, const char *got_text,
                                      const char *file, int line) {
  int equal = got && want ? strcmp(got, want) == 0 : got == want;
  return check_count(equal, file, line, "%s: want \"%s\", got \"%s\"", got_text,
                     want ? want : "(null)", got ? got : "(null)");
}

CHECK_UNUSED static int check_integers(long long got, long long want, const char *got_text,
                                       const char *file, int line) {
  return check_count(got == want, file, line, "%s: want %lld, got %lld", got_text, want, got);
}

/* Prints "name: N passed, N failed" and returns what main should return. */
CHECK_UNUSED static int check_report(const char *name) {
  if (check_failed_count > CHECK_MAX_PRINTED) {
    fprintf(stderr, "%s: %ld more failures not shown\n", name,
            check_failed_count - CHECK_MAX_PRINTED);
  }
  printf("%s: %ld passed, %ld failed\n", name, check_passed_count, check_failed_count);
  return check_failed_count != 0;
}

/* Each macro gives 1 or 0, so a test can stop early: if (!CHECK(p != NULL)) return; */
#define CHECK(cond) check_count((cond) ? 1 : 0, __FILE__, __LINE__, "not true: %s", #cond)
#define CHECK_MSG(cond, ...) check_count((cond) ? 1 : 0, __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_STR(got, want) check_strings((got), (want), #got, __FILE__, __LINE__)
#define CHECK_INT(got, want) \
  check_integers((long long)(got), (long long)(want), #got, __FILE__, __LINE__)

#endif
