/* errors.h: checks of what failed: code and facts, never words. */
#ifndef JOIST_TESTS_ERRORS_H
#define JOIST_TESTS_ERRORS_H

#include "core/types/error.h"
#include "r/base/error_text.h"

#include "check.h"

/* Returns the message after all: for the log of a failed check, and to compare all facts at once.
 * The messages of the last two errors stay valid. */
CHECK_UNUSED static const char *words(const struct joist_error *error) {
  static char text[2][JOIST_R_ERROR_TEXT_SIZE];
  static int turn;
  turn = !turn;
  return joist_r_error_text(error, text[turn]);
}

CHECK_UNUSED static int check_error(joist_status status, const struct joist_error *error,
                                    joist_error_code code, const char *file, int line) {
  if (status == JOIST_OK) return check_count(0, file, line, "no error");
  return check_count(status == joist_error_status(code) && error->code == code, file, line,
                     "status %d, code %d, want %d: %s", (int)status, (int)error->code, (int)code,
                     words(error));
}

/* Whether a call failed with that code: CHECK_ERROR(joist_x(..., &error), error, JOIST_E_Y) */
#define CHECK_ERROR(status, error, code) check_error((status), &(error), (code), __FILE__, __LINE__)

#endif
