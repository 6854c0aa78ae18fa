/* Reads JSON documents into R objects. */
#include "r/exchange/json.h"

#include <string.h>

#include "core/files/json.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"

enum { DEPTH_MOST = 64, ROOM = 8 };

struct reading {
  struct joist_json json;
  const char *start;
  char *text; /* room for any string of the document */
  int depth;
};

static _Noreturn void misfit(const struct reading *reading, const char *what) {
  joist_r_stop(JOIST_ERROR_VALUE, "this is not JSON: %s at byte %.0f", what,
               (double)(reading->json.at - reading->start) + 1);
}

static SEXP read_value(struct reading *reading);

static SEXP read_string(struct reading *reading) {
  size_t length;
  if (!joist_json_string(&reading->json, reading->text, &length)) misfit(reading, "no string");
  return Rf_mkCharLenCE(reading->text, (int)length, CE_UTF8);
}

static SEXP read_number(struct reading *reading) {
  const char *text = NULL;
  size_t length = 0;
  /* JSON has none of these, but Python writes them. */
  static const char *const others[] = {"NaN", "Infinity", "-Infinity"};
  for (size_t k = 0; k < sizeof others / sizeof *others && text == NULL; k++)
    if (joist_json_word(&reading->json, others[k])) length = strlen(text = others[k]);
  if (text == NULL && !joist_json_number(&reading->json, &text, &length))
    misfit(reading, "no value");
  SEXP number = PROTECT(Rf_ScalarString(Rf_mkCharLenCE(text, (int)length, CE_UTF8)));
  Rf_setAttrib(number, R_ClassSymbol, PROTECT(Rf_mkString("json_number")));
  UNPROTECT(2);
  return number;
}

/* Room for one more element. */
static SEXP grown(SEXP list, R_xlen_t used) {
  return used < XLENGTH(list) ? list : Rf_xlengthgets(list, 2 * used);
}

static SEXP read_members(struct reading *reading, char end) {
  SEXP values = Rf_allocVector(VECSXP, ROOM), keys = R_NilValue;
  PROTECT_INDEX values_at, keys_at;
  PROTECT_WITH_INDEX(values, &values_at);
  PROTECT_WITH_INDEX(keys, &keys_at);
  const bool named = end == '}';
  if (named) REPROTECT(keys = Rf_allocVector(STRSXP, ROOM), keys_at);
  R_xlen_t used = 0;
  if (++reading->depth > DEPTH_MOST) misfit(reading, "too many levels");
  if (!joist_json_take(&reading->json, end)) {
    do {
      REPROTECT(values = grown(values, used), values_at);
      if (named) {
        REPROTECT(keys = grown(keys, used), keys_at);
        SET_STRING_ELT(keys, used, read_string(reading));
        if (!joist_json_take(&reading->json, ':')) misfit(reading, "no colon");
      }
      SET_VECTOR_ELT(values, used++, read_value(reading));
    } while (joist_json_take(&reading->json, ','));
    if (!joist_json_take(&reading->json, end)) misfit(reading, "neither a comma nor the end");
  }
  reading->depth--;
  REPROTECT(values = Rf_xlengthgets(values, used), values_at);
  if (named) {
    REPROTECT(keys = Rf_xlengthgets(keys, used), keys_at);
    Rf_setAttrib(values, R_NamesSymbol, keys);
  }
  UNPROTECT(2);
  return values;
}

static SEXP read_value(struct reading *reading) {
  struct joist_json *const json = &reading->json;
  if (joist_json_take(json, '{')) return read_members(reading, '}');
  if (joist_json_take(json, '[')) return read_members(reading, ']');
  if (joist_json_word(json, "null")) return R_NilValue;
  if (joist_json_word(json, "true")) return Rf_ScalarLogical(TRUE);
  if (joist_json_word(json, "false")) return Rf_ScalarLogical(FALSE);
  if (json->at < json->end && *json->at == '"') {
    SEXP text = PROTECT(read_string(reading));
    SEXP string = Rf_ScalarString(text);
    UNPROTECT(1);
    return string;
  }
  return read_number(reading);
}

SEXP joist_r_read_json(SEXP bytes) {
  joist_r_check_raw(bytes);
  const size_t n = (size_t)XLENGTH(bytes);
  if (n > INT32_MAX) joist_r_stop(JOIST_ERROR_VALUE, "this is not JSON that fits into R's strings");
  const char *const text = (const char *)RAW(bytes);
  struct reading reading = {.json = {text, text + n}, .start = text, .text = R_alloc(n + 1, 1)};
  SEXP value = PROTECT(read_value(&reading));
  if (!joist_json_is_done(&reading.json)) misfit(&reading, "more than one value");
  UNPROTECT(1);
  return value;
}
