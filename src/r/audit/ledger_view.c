/* What was recorded, as columns. Texts are written to one that R's memory holds. */
#include "r/audit/ledger_view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/audit/explain.h"
#include "r/audit/ledger.h"

enum {
  SITE,
  CALL,
  OP,
  OPERANDS,
  RESULT,
  DTYPE,
  AMBIGUOUS,
  SHAPE,
  BYTES,
  LAST,
  KNOWN,
  WIDENING,
  INT_TO_FLOAT,
  LOSSY,
  LITERAL,
  MISFIT,
  MARKS,
  COLUMNS
};

enum { LINE = 1024 };

/* Text of at most a line; what is longer is cut. */
struct line {
  char text[LINE];
  size_t used;
};

static void JOIST_PRINTF(2, 3) add(struct line *line, const char *format, ...) {
  if (line->used >= LINE) return;
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(line->text + line->used, LINE - line->used, format, arguments);
  va_end(arguments);
  if (n > 0) line->used += (size_t)n;
}

static void add_type(struct line *line, struct joist_type type) {
  add(line, "%s%s", joist_dtype_name(type.dtype), type.ambiguous ? "?" : "");
}

/* A mark that is there already is not repeated: operands are often of one dtype. */
static void add_mark(struct line *marks, const struct line *mark) {
  if (strstr(marks->text, mark->text) != NULL) return;
  add(marks, "%s%s", marks->used > 0 ? "\n" : "", mark->text);
}

static void add_losses(struct line *mark, joist_dtype from, joist_dtype to) {
  static const struct {
    const char *what, *words;
  } known[] = {{"whole", "whole numbers beyond %s"},
               {"digits", "digits after the first %s bits"},
               {"wraps", "integers from %s on"},
               {"infinite", "values beyond %s"},
               {"saturates", "values beyond %s"},
               {"sign", "negative values"},
               {"small", "values below %s"},
               {"fraction", "fractions"},
               {"special", "NaN and infinities"},
               {"imaginary", "the imaginary part"},
               {"value", "all but whether it is zero"},
               {"nan", "values beyond %s"},
               {"largest", "values beyond %s"},
               {"no sign", "negative values"},
               {"no zero", "zero"},
               {"no Inf", "infinities"},
               {"no NaN", "NaN and infinities"}};
  struct joist_lost lost[JOIST_LOST_MAX];
  const size_t n = joist_explain_losses(from, to, lost);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
      if (strcmp(lost[i].what, known[k].what) != 0) continue;
      const char *const limit = strstr(known[k].words, "%s");
      add(mark, "%s%.*s%s%s", i == 0 ? "; may lose " : ", ",
          limit == NULL ? (int)strlen(known[k].words) : (int)(limit - known[k].words),
          known[k].words, limit == NULL ? "" : lost[i].limit, limit == NULL ? "" : limit + 2);
    }
}

static void mark_operand(struct line *marks, const struct joist_ledger_event *event, uint32_t k) {
  const struct joist_ledger_operand *const operand = &event->operand[k];
  const struct joist_type own = operand->operand.type;
  const char *const taken = joist_dtype_name(operand->taken);
  struct line mark = {"", 0};
  if (operand->misfit)
    add(&mark, "an R value does not fit %s", taken);
  else if (operand->changes & JOIST_CHANGE_LITERAL)
    add(&mark, "an R value is not exact in %s", taken);
  else if (joist_ledger_became_known(event, k)) {
    add_type(&mark, own);
    add(&mark, " became known: %s", taken);
  } else if (operand->changes != 0) {
    add_type(&mark, own);
    add(&mark, " became %s without a cast", taken);
  }
  if (operand->changes & JOIST_CHANGE_LOSSY) add_losses(&mark, own.dtype, operand->taken);
  if (mark.used > 0) add_mark(marks, &mark);
}

static void write_marks(struct line *marks, const struct joist_ledger_event *event) {
  for (uint32_t k = 0; k < event->operand_count; k++) mark_operand(marks, event, k);
}

static void write_text(int column, struct line *line, const struct joist_ledger_event *event) {
  char shape[JOIST_SHAPE_TEXT];
  switch (column) {
    case OP:
      add(line, "%s", joist_op_name(event->op));
      return;
    case OPERANDS:
      for (uint32_t k = 0; k < event->operand_count; k++) {
        if (k > 0) add(line, ", ");
        add_type(line, event->operand[k].operand.type);
      }
      return;
    case RESULT:
      add_type(line, event->signature.result[0]);
      return;
    case DTYPE:
      add(line, "%s", joist_dtype_name(event->signature.result[0].dtype));
      return;
    case SHAPE:
      add(line, "%s", joist_shape_format(&event->shape, shape));
      return;
    default:
      write_marks(line, event);
  }
}

static bool flag_of(int column, const struct joist_ledger_event *event) {
  if (column == AMBIGUOUS) return event->signature.result[0].ambiguous;
  if (column == LAST) return event->last;
  for (uint32_t k = 0; k < event->operand_count; k++) {
    const struct joist_ledger_operand *const operand = &event->operand[k];
    if (column == KNOWN ? joist_ledger_became_known(event, k)
        : column == MISFIT
            ? operand->misfit
            : (operand->changes & (1u << (column - WIDENING + JOIST_CHANGE_WIDENING_INDEX))) != 0)
      return true;
  }
  return false;
}

static SEXPTYPE type_of_column(int column) {
  if (column == SITE || column == CALL) return INTSXP;
  if (column == BYTES) return REALSXP;
  return column == AMBIGUOUS || (column >= LAST && column <= MISFIT) ? LGLSXP : STRSXP;
}

SEXP joist_r_ledger_table(SEXP ledger) {
  static const char *names[] = {
      "site",         "call",  "op",      "operands", "result", "dtype",
      "ambiguous",    "shape", "bytes",   "last",     "known",  "widening",
      "int_to_float", "lossy", "literal", "misfit",   "marks",  ""};
  const struct joist_ledger *const own = joist_r_ledger_of(ledger);
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int c = 0; c < COLUMNS; c++)
    SET_VECTOR_ELT(table, c, Rf_allocVector(type_of_column(c), own->event_count));
  for (uint32_t e = 0; e < own->event_count; e++) {
    const struct joist_ledger_event *const event = &own->events[e];
    INTEGER(VECTOR_ELT(table, SITE))[e] = (int)event->site + 1;
    INTEGER(VECTOR_ELT(table, CALL))[e] = (int)event->call + 1;
    REAL(VECTOR_ELT(table, BYTES))[e] = (double)event->bytes;
    for (int c = OP; c < COLUMNS; c++) {
      SEXP cells = VECTOR_ELT(table, c);
      if (TYPEOF(cells) == LGLSXP) LOGICAL(cells)[e] = flag_of(c, event);
      if (TYPEOF(cells) != STRSXP) continue;
      struct line line = {"", 0};
      write_text(c, &line, event);
      SET_STRING_ELT(cells, e, Rf_mkChar(line.text));
    }
  }
  UNPROTECT(1);
  return table;
}
