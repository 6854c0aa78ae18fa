/* Reads operands. */
#include "r/tensor/operands.h"

#include "core/base/bits.h"
#include "core/ops/move/walk.h"
#include "core/types/changed.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/poison.h"
#include "r/base/tensor_fields.h"
#include "r/base/view_losses.h"
#include "r/memory/device_payload.h"
#include "r/memory/mapped.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/exact_mark.h"
#include "r/tensor/moved.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/tensor/view.h"
#include "r/tensor/view_values.h"

/* ---- tensors ---- */

static _Noreturn void damaged(void) {
  joist_r_stop(JOIST_ERROR_VALUE, "this nv_tensor is damaged; make a new one with nv_tensor()");
}

bool joist_r_is_tensor(SEXP x) {
  if (!Rf_isObject(x)) return false;
  return joist_r_first_class(x) == joist_r_class(JOIST_R_CONCRETE) || Rf_inherits(x, "nv_tensor");
}

static SEXP checked(SEXP field, SEXPTYPE type) {
  if ((SEXPTYPE)TYPEOF(field) != type) damaged();
  if (type != INTSXP && XLENGTH(field) != 1) damaged();
  return field;
}

static void read_extents(SEXP extents, struct joist_shape *shape) {
  if (TYPEOF(extents) != INTSXP || XLENGTH(extents) > JOIST_RANK_MAX) damaged();
  shape->rank = (int)XLENGTH(extents);
  for (int d = 0; d < shape->rank; d++) {
    if (INTEGER(extents)[d] < 0) damaged();
    shape->extent[d] = (uint32_t)INTEGER(extents)[d];
  }
}

static bool is_zero(SEXP rank) {
  return (TYPEOF(rank) == INTSXP || TYPEOF(rank) == REALSXP) && XLENGTH(rank) == 1 &&
         Rf_asInteger(rank) == 0;
}

/* The shape of a vector of n elements by its attributes. */
static void shape_of_vector(const struct joist_r_marks *marks, R_xlen_t n,
                            struct joist_shape *shape) {
  size_t count = 0;
  if (marks->dim != R_NilValue) {
    read_extents(marks->dim, shape);
    if (!joist_shape_count(shape, &count) || count != (size_t)n) damaged();
  } else if (n == 1 && is_zero(marks->rank)) {
    shape->rank = 0;
  } else {
    joist_r_vector_shape(n, shape);
  }
}

static struct joist_type type_of_vector(const struct joist_r_marks *marks) {
  const struct joist_type type = joist_r_type_of_mark(marks->dtype);
  if (type.dtype == JOIST_DTYPE_NONE)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this nv_tensor is damaged: its `dtype` attribute does not name a dtype; make a "
                 "new one with nv_tensor()");
  return type;
}

/* The type of a vector's elements. R keeps our attributes when it converts a vector to a wider type
 * (`storage.mode<-`), and when its C code or that of a package computes with one: dpois(x), the
 * residuals of lm(), data.table's sums of groups. Such values are R's own numbers, and their dtype
 * is ambiguous. */
static struct joist_type type_of_elements(SEXP x, struct joist_type marked) {
  static const joist_dtype natural[] = {
      [LGLSXP] = JOIST_BOOL, [INTSXP] = JOIST_I32, [REALSXP] = JOIST_F64, [CPLXSXP] = JOIST_C128};
  const SEXPTYPE type = (SEXPTYPE)TYPEOF(x), viewed = joist_r_view_type(marked.dtype);
  const size_t n = (size_t)XLENGTH(x);
  if (joist_r_is_unknown(x)) return marked;
  if (type == viewed && ALTREP(x) && !joist_r_view_exposed(x)) return marked;
  const void *values = joist_r_view_values(x);
  if (values == NULL && type == INTSXP) values = INTEGER_RO(x);
  if (values == NULL && type == REALSXP) values = REAL_RO(x);
  const bool fits =
      type == INTSXP ? viewed != LGLSXP && joist_holds(marked.dtype, JOIST_HOST_INTEGER, values, n)
      : type == REALSXP ? type == viewed && joist_holds(marked.dtype, JOIST_HOST_DOUBLE, values, n)
                        : type == viewed;
  return fits ? marked : (struct joist_type){natural[type], type != LGLSXP};
}

/* The names of a vector of this shape; R_NilValue if it has none that fit. */
static SEXP names_of_vector(const struct joist_r_marks *marks, const struct joist_shape *shape) {
  if (marks->dim == R_NilValue) {
    const bool named = TYPEOF(marks->names) == STRSXP && shape->rank == 1 &&
                       XLENGTH(marks->names) == (R_xlen_t)shape->extent[0];
    return named ? marks->names : R_NilValue;
  }
  SEXP names = marks->dimnames;
  if (TYPEOF(names) != VECSXP || XLENGTH(names) != shape->rank) return R_NilValue;
  for (int d = 0; d < shape->rank; d++) {
    SEXP part = VECTOR_ELT(names, d);
    if (part != R_NilValue &&
        (TYPEOF(part) != STRSXP || XLENGTH(part) != (R_xlen_t)shape->extent[d]))
      return R_NilValue;
  }
  return shape->rank == 1 ? VECTOR_ELT(names, 0) : names;
}

/* Finds NA among values of R: the mask lives until .Call returns. */
static uint8_t *find_na(joist_host host, const void *values, bool all,
                        struct joist_r_value *value) {
  const struct joist_run run = joist_r_run();
  if (joist_missing_count(host, values, value->count, &run) == 0) return NULL;
  if (!all) joist_r_refuse_lost(host, values, value->count);
  uint8_t *const mask = (uint8_t *)R_alloc(value->count, 1);
  joist_missing_mask(host, values, value->count, mask);
  value->mask = mask;
  return mask;
}

/* The values, or a copy with others in the places of NA. */
static const void *without_missing(joist_host host, const void *values,
                                   const struct joist_r_value *value) {
  if (value->mask == NULL) return values;
  void *const filled = R_alloc(value->count, (int)joist_host_size(host));
  joist_missing_filled(host, values, value->count, filled);
  return filled;
}

const void *joist_r_present(const struct joist_r_value *value) {
  return without_missing(value->host, value->data, value);
}

/* Bytes of zeros are an element of every dtype, though no number of R is a value of all: they stand
 * where nothing is present. */
static joist_status import_present(joist_host host, const void *values,
                                   const struct joist_r_value *value, joist_dtype dtype, void *out,
                                   struct joist_error *error) {
  if (value->mask != NULL && memchr(value->mask, 0, value->count) == NULL) {
    memset(out, 0, value->count * joist_dtype_size(dtype));
    return JOIST_OK;
  }
  const struct joist_run run = joist_r_run();
  return joist_import(host, without_missing(host, values, value), value->count, dtype, out, &run,
                      error);
}

joist_status joist_r_import_exact(const struct joist_r_value *value, joist_dtype dtype, void *out,
                                  struct joist_error *error) {
  return import_present(value->host, value->data, value, dtype, out, error);
}

/* Finds the elements of one of R's own vectors and their type; this function lists the types that R
 * has. Returns false for any other object. */
static bool elements_of(SEXP x, joist_host *host, const void **elements) {
  switch (TYPEOF(x)) {
    case LGLSXP:
      *host = JOIST_HOST_LOGICAL;
      *elements = LOGICAL(x);
      return true;
    case INTSXP:
      *host = JOIST_HOST_INTEGER;
      break;
    case REALSXP:
      *host = JOIST_HOST_DOUBLE;
      break;
    case CPLXSXP:
      *host = JOIST_HOST_COMPLEX;
      break;
    case RAWSXP:
      *host = JOIST_HOST_RAW;
      break;
    default:
      return false;
  }
  *elements = joist_r_elements(x);
  return true;
}

/* An ordinary vector: its values in the dtype, exactly. They live until .Call returns. */
static void read_plain(SEXP x, struct joist_type type, SEXP mark, struct joist_r_value *value) {
  joist_host host;
  const void *values;
  if (!elements_of(x, &host, &values)) damaged();
  value->exposed = true;
  const bool restores = joist_r_has_exact_mark(type.dtype) && host == joist_r_view_host(type.dtype);
  uint8_t *const mask = find_na(host, values, restores, value);
  value->data = values;
  if ((type.dtype == JOIST_F64 && host == JOIST_HOST_DOUBLE) ||
      (type.dtype == JOIST_C128 && host == JOIST_HOST_COMPLEX))
    return;
  void *const elements = R_alloc(value->count + 1, (int)joist_dtype_size(type.dtype));
  struct joist_error error;
  joist_r_raise_if(import_present(host, values, value, type.dtype, elements, &error), &error);
  value->data = elements;
  if (!restores || mask == NULL) return;
  joist_r_restore_exact(mark, type.dtype, values, value->count, elements, mask);
  if (memchr(mask, 1, value->count) == NULL) value->mask = NULL;
}

/* A traced or an abstract tensor, of which the type and shape were read. */
static void read_unknown(const struct joist_r_unknown *unknown, struct joist_r_value *value) {
  struct joist_argument *const argument = &value->argument;
  const struct joist_type type = argument->operand.type;
  value->missing = unknown->missing;
  value->form = JOIST_R_ABSTRACT;
  if (unknown->trace == R_NilValue) return;
  value->form = JOIST_R_TRACED;
  value->payload = unknown->trace;
  value->leaf = unknown->number < 0;
  argument->operand.literal =
      value->leaf && (type.ambiguous || (type.dtype == JOIST_BOOL &&
                                         joist_rules_tell_truths(joist_r_rules(R_NilValue))));
  argument->value = value->leaf ? (joist_value_id) - (unknown->number + 1)
                                : joist_r_moved(unknown->trace, (joist_value_id)unknown->number);
}

/* What the attributes of a vector say, whose elements are of that type. */
static void read_attributes(SEXP x, const struct joist_r_marks *marks, struct joist_type type,
                            struct joist_r_value *value) {
  struct joist_argument *const argument = &value->argument;
  argument->operand.type = type;
  value->count = (size_t)XLENGTH(x);
  shape_of_vector(marks, (R_xlen_t)value->count, &argument->shape);
  argument->operand.rank = argument->shape.rank;
  value->dim = marks->dim;
  if (marks->names != R_NilValue || marks->dimnames != R_NilValue)
    value->names = names_of_vector(marks, &argument->shape);
}

static void set_viewed(const struct joist_r_viewed *viewed, struct joist_r_value *value) {
  value->form = JOIST_R_CONCRETE;
  value->payload = viewed->payload;
  value->missing = viewed->mask;
  value->exposed = viewed->exposed;
  if (TYPEOF(viewed->payload) == EXTPTRSXP) {
    value->form = JOIST_R_REMOTE;
    value->data = joist_r_remote_memory(viewed->payload);
  } else {
    value->data = joist_r_elements(viewed->payload);
  }
  if (viewed->mask != R_NilValue)
    value->mask =
        TYPEOF(viewed->mask) == EXTPTRSXP ? joist_r_remote_memory(viewed->mask) : RAW(viewed->mask);
}

static void read_vector(SEXP x, struct joist_r_value *value) {
  struct joist_argument *const argument = &value->argument;
  struct joist_r_marks marks;
  joist_r_read_marks(x, &marks);
  const struct joist_type marked = type_of_vector(&marks);
  /* The common case first: a view without a writable pointer. */
  const bool is_view = joist_r_view_is(x) && !joist_r_view_exposed(x) &&
                       (SEXPTYPE)TYPEOF(x) == joist_r_view_type(marked.dtype);
  read_attributes(x, &marks, is_view ? marked : type_of_elements(x, marked), value);
  struct joist_r_unknown unknown;
  if (!is_view && joist_r_unknown_read(x, &unknown)) {
    read_unknown(&unknown, value);
    return;
  }
  value->form = JOIST_R_CONCRETE;
  struct joist_r_viewed viewed;
  if (argument->operand.type.dtype != marked.dtype || !joist_r_view_read(x, &viewed) ||
      viewed.dtype != marked.dtype) {
    read_plain(x, argument->operand.type, marks.dtype, value);
    return;
  }
  set_viewed(&viewed, value);
}

/* The dtype and shape in the fields of an object that is not a vector. */
static void describe_object(const SEXP fields[JOIST_R_AMBIGUOUS + 1], struct joist_type *type,
                            struct joist_shape *shape) {
  type->dtype = joist_r_dtype(checked(fields[JOIST_R_DTYPE], STRSXP));
  type->ambiguous = fields[JOIST_R_AMBIGUOUS] != R_NilValue &&
                    LOGICAL(checked(fields[JOIST_R_AMBIGUOUS], LGLSXP))[0] == TRUE;
  read_extents(fields[JOIST_R_SHAPE], shape);
}

static bool is_vector(SEXP x) {
  return TYPEOF(x) == LGLSXP || TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP || TYPEOF(x) == CPLXSXP;
}

static void needs_object(SEXP x) {
  if (TYPEOF(x) != S4SXP)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this nv_tensor is damaged: it is an R object of type %s; make a new one with "
                 "nv_tensor()",
                 Rf_type2char(TYPEOF(x)));
}

bool joist_r_describe(SEXP x, struct joist_type *type, struct joist_shape *shape) {
  if (!joist_r_is_tensor(x)) return false;
  if (is_vector(x)) {
    struct joist_r_marks marks;
    joist_r_read_marks(x, &marks);
    const struct joist_type marked = type_of_vector(&marks);
    if (type != NULL) *type = type_of_elements(x, marked);
    shape_of_vector(&marks, XLENGTH(x), shape);
  } else {
    SEXP fields[JOIST_R_AMBIGUOUS + 1];
    needs_object(x);
    joist_r_read_fields(x, fields);
    struct joist_type own;
    describe_object(fields, type == NULL ? &own : type, shape);
  }
  return true;
}

/* An object of this class may hold anything: nothing is used before it has been looked at. */
static void read_object(SEXP x, struct joist_r_value *value) {
  struct joist_argument *const argument = &value->argument;
  SEXP fields[JOIST_R_AMBIGUOUS + 1];
  needs_object(x);
  joist_r_read_fields(x, fields);
  describe_object(fields, &argument->operand.type, &argument->shape);
  if (!joist_shape_count(&argument->shape, &value->count)) damaged();
  argument->operand.rank = argument->shape.rank;
  value->payload = fields[JOIST_R_PAYLOAD];
  if (value->payload == R_NilValue) {
    if (Rf_inherits(x, "nv_chunked"))
      joist_r_stop(JOIST_ERROR_VALUE,
                   "the elements of this tensor are in a store, and this function needs them in "
                   "memory; call nv_compute() first");
    if (!Rf_inherits(x, "nv_aval")) damaged();
    value->form = JOIST_R_ABSTRACT;
    return;
  }
  if (joist_r_is_remote(value->payload)) {
    value->form = JOIST_R_REMOTE;
    if (joist_r_remote_bytes(value->payload) !=
        value->count * joist_dtype_size(argument->operand.type.dtype))
      damaged();
    value->data = joist_r_remote_memory(value->payload);
    return;
  }
  value->form = JOIST_R_CONCRETE;
  const SEXPTYPE type = joist_r_payload_type(argument->operand.type.dtype);
  const size_t unit = type == RAWSXP ? joist_dtype_size(argument->operand.type.dtype) : 1;
  if ((SEXPTYPE)TYPEOF(value->payload) != type ||
      (size_t)XLENGTH(value->payload) != value->count * unit)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this nv_tensor is damaged: its payload does not have the type and length that "
                 "its dtype and shape need");
  value->data = joist_r_elements(value->payload);
}

/* ---- R values ---- */

static _Noreturn void refuse(SEXP x) {
  static const struct {
    const char *class, *advice;
  } known[] = {
      {"factor", "as.integer() for its codes, or as.numeric(as.character())"},
      {"Date", "as.numeric() for days since 1970-01-01"},
      {"POSIXct", "as.numeric() for seconds since 1970-01-01"},
      {"POSIXlt", "as.numeric(as.POSIXct()) for seconds since 1970-01-01"},
      {"difftime", "as.numeric(x, units = \"secs\") or another unit"},
      {"data.frame", "as.matrix() or data.matrix()"},
      {"python.builtin.object", "nv_tensor()"},
      {"nativeRaster", "as_tensor()"},
      {"raster", "as_tensor()"},
      {"bitmap", "as_tensor()"},
      {"SpatRaster", "as_tensor()"},
      {"nv_packed", "as_tensor()"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (Rf_inherits(x, known[i].class))
      joist_r_stop(JOIST_ERROR_VALUE, "a %s is not an array of numbers; call %s first",
                   known[i].class, known[i].advice);
  if (Rf_isObject(x)) {
    SEXP class = Rf_getAttrib(x, R_ClassSymbol);
    if (Rf_isS4(x) && R_has_slot(x, Rf_install("Dim")))
      joist_r_stop(JOIST_ERROR_VALUE,
                   "a matrix of class %s is not an R array; call as.matrix() first",
                   Rf_translateCharUTF8(STRING_ELT(class, 0)));
    joist_r_stop(
        JOIST_ERROR_VALUE,
        "an object of class %s is not an array of numbers; call as.numeric() or unclass() first",
        Rf_translateCharUTF8(STRING_ELT(class, 0)));
  }
  if (TYPEOF(x) == STRSXP)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "a character vector is not an array of numbers; call as.numeric() first or, for "
                 "whole numbers beyond 2^53, nv_tensor() with dtype i64 or ui64");
  if (TYPEOF(x) == VECSXP && XLENGTH(x) > 0 && Rf_inherits(VECTOR_ELT(x, 0), "nv_tensor"))
    joist_r_stop(
        JOIST_ERROR_VALUE,
        "a list of tensors is not a tensor; call do.call(c, x) or do.call(nv_stack, x) first");
  if (TYPEOF(x) == VECSXP)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "a list is not an array of numbers; call unlist() or simplify2array() first");
  joist_r_stop(JOIST_ERROR_VALUE, "%s is neither a tensor nor an array of numbers",
               x == R_NilValue        ? "NULL"
               : Rf_isFunction(x)     ? "a function"
               : TYPEOF(x) == LANGSXP ? "a call"
                                      : Rf_type2char(TYPEOF(x)));
}

/* The host type of an R vector that can be an operand; false if it cannot. */
static bool host_of(SEXP x, struct joist_r_value *value) {
  if (Rf_isObject(x)) {
    if (Rf_inherits(x, "integer64") && TYPEOF(x) == REALSXP) {
      value->host = JOIST_HOST_INTEGER64;
      value->data = REAL(x);
      return true;
    }
    if (Rf_inherits(x, "float32") && Rf_isS4(x)) {
      SEXP data = R_do_slot(x, Rf_install("Data"));
      value->host = JOIST_HOST_FLOAT32;
      value->object = data;
      value->data = INTEGER(data);
      return true;
    }
    if (!Rf_inherits(x, "AsIs") && !Rf_inherits(x, "table")) return false;
  }
  return elements_of(x, &value->host, &value->data);
}

static void read_literal(const struct joist_rules *rules, SEXP x, struct joist_r_value *value) {
  if (!host_of(x, value)) refuse(x);
  value->form = JOIST_R_LITERAL;
  struct joist_argument *const argument = &value->argument;
  SEXP data = value->object;
  const R_xlen_t length = XLENGTH(data);
  SEXP dim = Rf_getAttrib(data, R_DimSymbol);
  if (dim != R_NilValue) {
    joist_r_shape(dim, &argument->shape);
  } else if (length == 1) {
    argument->shape.rank = 0;
  } else {
    joist_r_vector_shape(length, &argument->shape);
  }
  argument->operand.rank = argument->shape.rank;
  if (argument->shape.rank > 0 && joist_r_has_attributes(data)) {
    struct joist_r_marks marks;
    joist_r_read_marks(data, &marks);
    value->names = names_of_vector(&marks, &argument->shape);
  }
  switch (value->host) {
    case JOIST_HOST_RAW:
      argument->operand.type = (struct joist_type){JOIST_UI8, false};
      break;
    case JOIST_HOST_INTEGER64:
      argument->operand.type = (struct joist_type){JOIST_I64, false};
      break;
    case JOIST_HOST_FLOAT32:
      argument->operand.type = (struct joist_type){JOIST_F32, false};
      break;
    case JOIST_HOST_LOGICAL:
      argument->operand.literal = joist_rules_tell_truths(rules);
      argument->operand.type = (struct joist_type){JOIST_BOOL, false};
      break;
    default:
      argument->operand.literal = true;
      argument->operand.type =
          (struct joist_type){(joist_dtype)rules->literal[joist_host_category(value->host)], true};
  }
}

/* ---- any of them ---- */

/* Whether R knows that the vector has no NA. */
static bool knows_no_missing(SEXP x) {
  return (TYPEOF(x) == REALSXP && REAL_NO_NA(x)) || (TYPEOF(x) == INTSXP && INTEGER_NO_NA(x)) ||
         (TYPEOF(x) == LGLSXP && LOGICAL_NO_NA(x));
}

static void start_reading(SEXP x, struct joist_r_value *value) {
  *value = (struct joist_r_value){.object = x,
                                  .payload = R_NilValue,
                                  .dim = R_NilValue,
                                  .names = R_NilValue,
                                  .missing = R_NilValue};
  joist_r_view_warn();
  joist_r_poison_check();
}

bool joist_r_read_shown(SEXP x, struct joist_r_value *value, const void **values) {
  struct joist_r_viewed viewed;
  if (!joist_r_is_tensor(x) || !is_vector(x)) return false;
  if (!joist_r_view_peek(x, &viewed, values)) return false;
  struct joist_r_marks marks;
  joist_r_read_marks(x, &marks);
  const struct joist_type marked = type_of_vector(&marks);
  if (marked.dtype != viewed.dtype || (SEXPTYPE)TYPEOF(x) != joist_r_view_type(marked.dtype))
    return false;
  start_reading(x, value);
  read_attributes(x, &marks, marked, value);
  set_viewed(&viewed, value);
  return true;
}

bool joist_r_refresh(const struct joist_r_value *value, const void *values, size_t n,
                     void *elements, uint8_t *mask) {
  const joist_dtype dtype = value->argument.operand.type.dtype;
  if (values != NULL && TYPEOF(value->object) == REALSXP &&
      !joist_holds(dtype, JOIST_HOST_DOUBLE, values, n))
    return false;
  return joist_r_refresh_values(dtype, values, n, elements, mask);
}

void joist_r_read_missing(const struct joist_rules *rules, SEXP x, struct joist_r_value *value) {
  start_reading(x, value);
  if (joist_r_is_tensor(x)) {
    if (is_vector(x))
      read_vector(x, value);
    else
      read_object(x, value);
  } else {
    read_literal(rules == NULL ? joist_r_rules(R_NilValue) : rules, x, value);
    value->count = (size_t)XLENGTH(value->object);
    if (!knows_no_missing(value->object)) (void)find_na(value->host, value->data, false, value);
  }
}

void joist_r_read_any(const struct joist_rules *rules, SEXP x, struct joist_r_value *value) {
  joist_r_read_missing(rules, x, value);
  joist_r_needs_present(value);
}

void joist_r_needs_present(const struct joist_r_value *value) {
  if (joist_r_has_missing(value))
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this function is not defined for missing values; call na.omit() or "
                 "nv_replace_na() first");
}

void joist_r_read(const struct joist_rules *rules, SEXP x, struct joist_r_value *value) {
  joist_r_read_any(rules, x, value);
  if (value->form == JOIST_R_REMOTE)
    joist_r_stop(
        JOIST_ERROR_DEVICE,
        "this function runs on the CPU and the tensor is on %s; call nv_to(x, \"cpu\") first",
        joist_r_remote_device(value->payload)->name);
}

bool joist_r_by_value(const struct joist_rules *rules) {
  return rules->policy != JOIST_BY_TYPE && rules->policy != JOIST_BY_RANK;
}

/* Whether all are of one known dtype, which is then their common one, whatever the values. */
static bool same_dtype(const struct joist_r_value *values, size_t n) {
  const joist_dtype first = values[0].argument.operand.type.dtype;
  for (size_t k = 0; k < n; k++) {
    const struct joist_operand *const x = &values[k].argument.operand;
    if (x->literal || x->type.ambiguous || x->type.dtype != first) return false;
  }
  return true;
}

void joist_r_needs_values(const struct joist_rules *rules, const struct joist_r_value *values,
                          size_t n, joist_r_form form, const char *which) {
  if (rules->policy != JOIST_BY_VALUE || n < 2 || same_dtype(values, n)) return;
  for (size_t k = 0; k < n; k++)
    if (values[k].form == form && values[k].argument.operand.rank == 0 &&
        !values[k].argument.operand.type.ambiguous)
      joist_r_stop(JOIST_ERROR_PROMOTION,
                   "the rules '%s' promote by the value of a rank-0 tensor, which %s", rules->id,
                   which);
}

joist_status joist_r_import(const struct joist_r_value *value, joist_dtype dtype, void *out,
                            struct joist_error *error) {
  if (dtype != JOIST_BOOL) return joist_r_import_exact(value, dtype, out, error);
  const struct joist_run run = joist_r_run();
  return joist_import_truth(value->host, joist_r_present(value), value->count, out, &run, error);
}

void joist_r_read_range(struct joist_r_value *value) {
  struct joist_operand *const operand = &value->argument.operand;
  if (value->form == JOIST_R_LITERAL) {
    struct joist_host_values found;
    operand->has_range =
        joist_host_range(value->host, joist_r_present(value), value->count, &found);
    operand->low = found.low;
    operand->high = found.high;
    operand->whole = found.whole;
    operand->has_nan = found.has_nan;
    operand->has_infinity = found.has_infinity;
  } else if (operand->rank == 0 &&
             (value->form == JOIST_R_CONCRETE || value->form == JOIST_R_REMOTE)) {
    _Alignas(16) char element[16];
    const bool remote = value->form == JOIST_R_REMOTE;
    if (remote) joist_r_download(value->payload, joist_dtype_size(operand->type.dtype), element);
    double complex_value[2];
    struct joist_error error;
    const joist_status status = joist_export(operand->type.dtype, remote ? element : value->data, 1,
                                             JOIST_HOST_COMPLEX, true, complex_value, NULL, &error);
    if (status != JOIST_OK) return;
    operand->has_range = true;
    operand->low = operand->high = complex_value[0];
  }
}

void joist_r_operand(SEXP x, struct joist_operand *out) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  joist_r_read_range(&value);
  *out = value.argument.operand;
}

void joist_r_needs_data(const struct joist_r_value *value) {
  if (value->form == JOIST_R_TRACED || value->form == JOIST_R_ABSTRACT)
    joist_r_unknown_refuse(value->object);
}

/* ---- several ---- */

const struct joist_device *joist_r_common_device(const struct joist_r_value *values, int n) {
  const struct joist_device *device = NULL;
  for (int k = 0; k < n; k++) {
    if (values[k].form != JOIST_R_CONCRETE && values[k].form != JOIST_R_REMOTE) continue;
    const struct joist_device *const own = values[k].form == JOIST_R_REMOTE
                                               ? joist_r_remote_device(values[k].payload)
                                               : joist_device_at(0);
    if (device != NULL && device != own)
      joist_r_stop(
          JOIST_ERROR_DEVICE,
          "the operands are on different devices, %s and %s; move one of them with nv_to()",
          device->name, own->name);
    device = own;
  }
  return device;
}

SEXP joist_r_dim_among(const struct joist_shape *shape, const struct joist_r_value *values, int n) {
  for (int k = 0; k < n; k++)
    if (values[k].dim != R_NilValue && values[k].form != JOIST_R_LITERAL &&
        joist_shape_equal(shape, &values[k].argument.shape) &&
        !joist_r_has_attributes(values[k].dim))
      return values[k].dim;
  return R_NilValue;
}

SEXP joist_r_shared_payload(const struct joist_r_value *value) {
  if (value->payload != R_NilValue && !value->exposed) return value->payload;
  const joist_dtype dtype = value->argument.operand.type.dtype;
  if (value->form == JOIST_R_REMOTE) return value->payload;
  SEXP payload = PROTECT(joist_r_payload(dtype, value->count));
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  joist_r_raise_if(joist_copy_elements(joist_dtype_size(dtype), value->count, value->data,
                                       joist_r_elements(payload), &run, &error),
                   &error);
  UNPROTECT(1);
  return payload;
}

bool joist_r_is_own(const struct joist_r_value *value) {
  return value->form == JOIST_R_CONCRETE && joist_r_view_is(value->object) && !value->exposed &&
         value->payload != R_NilValue && joist_r_is_sole_owner(value->object, value->payload);
}

bool joist_r_is_reusable(const struct joist_r_value *value, joist_dtype dtype,
                         const struct joist_shape *shape) {
  return value->dying && value->argument.operand.type.dtype == dtype &&
         joist_shape_equal(&value->argument.shape, shape) && joist_r_is_own(value) &&
         !joist_r_is_mapped(value->payload);
}
