/* Texts with the facts filled in. Owns no memory. */
#ifdef __MINGW32__
#define __USE_MINGW_ANSI_STDIO 1 /* %zu */
#endif
#include "r/base/error_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/types/host.h"
#include "r/base/error_texts.def"

static const char *const texts[JOIST_E_COUNT] = {
#define X(CODE, TEXT) [JOIST_E_##CODE] = TEXT,
    JOIST_R_ERROR_TEXTS(X)
#undef X
};

enum { FACT_SIZE = JOIST_SHAPE_TEXT };

static bool is(const char *name, size_t length, const char *fact) {
  return strlen(fact) == length && memcmp(name, fact, length) == 0;
}

static const char *whole(size_t value, char text[FACT_SIZE]) {
  snprintf(text, FACT_SIZE, "%zu", value);
  return text;
}

static const char *number(double value, char text[FACT_SIZE]) {
  if (fabs(value) < 1e15 && value == floor(value))
    snprintf(text, FACT_SIZE, "%.0f", value);
  else
    joist_format_element(JOIST_F64, &value, 6, text);
  return text;
}

/* "0 to 255", "-65504 to 65504" */
static const char *range(joist_dtype dtype, char text[FACT_SIZE]) {
  const joist_category category = joist_dtype_category(dtype);
  char least_text[JOIST_TEXT_SIZE], greatest_text[JOIST_TEXT_SIZE];
  if (category == JOIST_CATEGORY_BOOL || category == JOIST_CATEGORY_INTEGER) {
    snprintf(text, FACT_SIZE, "%lld to %llu", (long long)joist_dtype_min_int(dtype),
             (unsigned long long)joist_dtype_max_int(dtype));
    return text;
  }
  const double least = joist_dtype_min_float(dtype), greatest = joist_dtype_max_float(dtype);
  joist_format_element(JOIST_F64, &least, 8, least_text);
  joist_format_element(JOIST_F64, &greatest, 8, greatest_text);
  snprintf(text, FACT_SIZE, "%s to %s", least_text, greatest_text);
  return text;
}

/* "1.5 GiB"; small amounts in bytes. */
static const char *memory(size_t bytes, char text[FACT_SIZE]) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  double amount = (double)bytes / 1024;
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) amount /= 1024;
  if (bytes < 10000)
    snprintf(text, FACT_SIZE, "%zu byte%s", bytes, bytes == 1 ? "" : "s");
  else
    snprintf(text, FACT_SIZE, "%.1f %s", amount, units[unit]);
  return text;
}

/* A fact by its name, as text; `given` says whether there is one. */
static const char *fact(const struct joist_error *error, const char *name, size_t length,
                        char text[FACT_SIZE], bool *given) {
  const int k = isdigit((unsigned char)name[length - 1]) ? name[--length] - '1' : 0;
  *given = true;
  if (is(name, length, "op") || is(name, length, "name")) {
    const char *const constant = is(name, length, "op") ? error->op : error->name[k];
    *given = constant != NULL;
    return *given ? constant : "";
  }
  if (is(name, length, "caller")) {
    /* x[i] is a gather, too. */
    *given = error->op != NULL && strcmp(error->op, "gather") != 0;
    return *given ? error->op : "";
  }
  if (is(name, length, "text")) {
    *given = error->text[k].bytes[0] != '\0';
    return error->text[k].bytes;
  }
  if (is(name, length, "shape")) return joist_shape_format(&error->shape[k], text);
  if (is(name, length, "rank")) return whole((size_t)error->shape[k].rank, text);
  if (is(name, length, "range")) return range(error->type[k].dtype, text);
  if (is(name, length, "count")) return whole(error->count[k], text);
  if (is(name, length, "number")) return number(error->number[k], text);
  if (is(name, length, "type")) {
    const struct joist_type type = error->type[k];
    snprintf(text, FACT_SIZE, "%s%s", joist_dtype_name(type.dtype), type.ambiguous ? "?" : "");
    return text;
  }
  if (is(name, length, "bytes")) {
    *given = error->bytes > 0;
    return memory(error->bytes, text);
  }
  if (is(name, length, "matrix")) {
    if (error->batch == 0) return "the matrix";
    snprintf(text, FACT_SIZE, "matrix %zu of the batch", error->batch);
    return text;
  }
  const size_t place = is(name, length, "dim") ? (size_t)error->dim : error->position;
  *given = place > 0;
  return whole(place, text);
}

struct writer {
  char *text;
  size_t used;
};

static void append(struct writer *writer, const char *from, size_t length) {
  const size_t room = JOIST_R_ERROR_TEXT_SIZE - 1 - writer->used;
  if (length > room) length = room;
  memcpy(writer->text + writer->used, from, length);
  writer->used += length;
}

/* What a pair of braces holds: a fact, and the singular of what it counts. False when it is not
 * given. */
static bool append_fact(struct writer *writer, const struct joist_error *error, const char *braced,
                        size_t length) {
  char text[FACT_SIZE];
  const char *const space = memchr(braced, ' ', length);
  const size_t name = space == NULL ? length : (size_t)(space - braced);
  bool given;
  const char *const value = fact(error, braced, name, text, &given);
  append(writer, value, strlen(value));
  append(writer, braced + name, length - name);
  if (space != NULL && strcmp(value, "1") != 0) append(writer, "s", 1);
  return given;
}

const char *joist_r_error_text(const struct joist_error *error,
                               char text[JOIST_R_ERROR_TEXT_SIZE]) {
  struct writer writer = {text, 0};
  size_t optional = 0;
  bool complete = true;
  for (const char *c = texts[error->code]; *c != '\0'; c++) {
    if (*c == '<') {
      optional = writer.used;
      complete = true;
    } else if (*c == '>') {
      if (!complete) writer.used = optional;
    } else if (*c == '{') {
      const size_t length = strcspn(c + 1, "}");
      complete &= append_fact(&writer, error, c + 1, length);
      c += length + 1;
    } else {
      append(&writer, c, 1);
    }
  }
  text[writer.used] = '\0';
  return text;
}
