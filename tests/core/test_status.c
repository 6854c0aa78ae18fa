/* Messages: what does not fit is cut off between characters. */
#include "core/base/status.h"

#include "check.h"

/* A message of `ascii` letters and then as many times `character` as there is no room for. */
static void check_cut(size_t ascii, const char *character) {
  enum { REPEATED = 2 * JOIST_MESSAGE_SIZE };
  static char text[5 * REPEATED];
  const size_t size = strlen(character);
  memset(text, 'a', ascii);
  for (size_t k = 0; k < REPEATED; k++) memcpy(text + ascii + k * size, character, size + 1);
  struct joist_error error;
  const joist_status status = joist_fail(&error, JOIST_ERROR_VALUE, "%s", text);
  CHECK_INT(status, JOIST_ERROR_VALUE);
  const size_t room = JOIST_MESSAGE_SIZE - 1;
  const size_t want = ascii + (room - ascii) / size * size;
  CHECK_INT(strlen(error.message), want);
  CHECK_MSG(memcmp(error.message, text, want) == 0, "%zu letters and %s", ascii, character);
}

int main(void) {
  static const char *const characters[] = {"z", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (size_t ascii = 0; ascii < 8; ascii++)
    for (int c = 0; c < 4; c++) check_cut(ascii, characters[c]);
  struct joist_error error;
  CHECK_INT(joist_fail(&error, JOIST_ERROR_SHAPE, "%s", "caf\xc3\xa9"), JOIST_ERROR_SHAPE);
  CHECK_STR(error.message, "caf\xc3\xa9");
  CHECK_INT(joist_fail(NULL, JOIST_ERROR_DTYPE, "%d", 1), JOIST_ERROR_DTYPE);
  return check_report("status");
}
