/* Tensors as R objects: layout, reading operands. */
#include "r/device_payload.h"

#include <math.h>
#include <string.h>

#include "r/operations.h"
#include "r/tensor_fields.h"

/* ---- shared attributes ---- */

static SEXP preserved_strings(const char *const *strings, int n) {
  SEXP made = PROTECT(Rf_allocVector(STRSXP, n));
  for (int i = 0; i < n; i++) SET_STRING_ELT(made, i, Rf_mkChar(strings[i]));
  MARK_NOT_MUTABLE(made);
  R_PreserveObject(made);
  UNPROTECT(1);
  return made;
}

static SEXP class_of(joist_r_form form) {
  static SEXP concrete = NULL, abstract = NULL, traced = NULL;
  if (concrete == NULL) {
    static const char *const plain[] = {"nv_tensor"};
    static const char *const aval[] = {"nv_aval", "nv_tensor"};
    static const char *const trace[] = {"nv_traced", "nv_tensor"};
    abstract = preserved_strings(aval, 2);
    traced = preserved_strings(trace, 2);
    concrete = preserved_strings(plain, 1);
  }
  return form == JOIST_R_ABSTRACT ? abstract : form == JOIST_R_TRACED ? traced : concrete;
}

/* The call that gives it. */
SEXP joist_r_device_object(const char *name) {
  SEXP device = PROTECT(Rf_lang2(Rf_install("nv_device"), PROTECT(Rf_mkString(name))));
  Rf_setAttrib(device, R_ClassSymbol, Rf_mkString("joist_device"));
  MARK_NOT_MUTABLE(device);
  UNPROTECT(2);
  return device;
}

/* ---- making ---- */

SEXP joist_r_shape_object(const struct joist_shape *shape) {
  SEXP extents = Rf_allocVector(INTSXP, shape->rank);
  for (int d = 0; d < shape->rank; d++) INTEGER(extents)[d] = (int)shape->extent[d];
  return extents;
}

SEXP joist_r_shape_among(const struct joist_shape *shape, const struct joist_r_value *values,
                         int n) {
  for (int k = 0; k < n; k++) {
    if (values[k].form == JOIST_R_LITERAL || !joist_shape_equal(shape, &values[k].argument.shape))
      continue;
    SEXP extents = joist_r_field(values[k].object, JOIST_R_SHAPE);
    if (!joist_r_has_attributes(extents)) return extents; /* it can be shared */
  }
  return joist_r_shape_object(shape);
}

/* A tensor of each form without contents, known and ambiguous. Copying it, attributes
 * included, is several times faster than setting the attributes of a new object. */
static SEXP pattern_of(joist_r_form form, bool ambiguous) {
  static SEXP patterns[JOIST_R_TRACED + 1][2];
  if (patterns[form][ambiguous] == NULL) {
    SEXP made = PROTECT(Rf_asS4(PROTECT(Rf_allocS4Object()), FALSE, 0));
    Rf_setAttrib(made, R_ClassSymbol, class_of(form));
    for (int k = form == JOIST_R_ABSTRACT ? JOIST_R_DTYPE : JOIST_R_PAYLOAD; k <= JOIST_R_SHAPE;
         k++)
      Rf_setAttrib(made, joist_r_field_symbol((joist_r_field_name)k), class_of(form));
    if (ambiguous)
      Rf_setAttrib(made, joist_r_field_symbol(JOIST_R_AMBIGUOUS), Rf_ScalarLogical(TRUE));
    MARK_NOT_MUTABLE(made);
    R_PreserveObject(made);
    UNPROTECT(2);
    patterns[form][ambiguous] = made;
  }
  return patterns[form][ambiguous];
}

static SEXP make_tensor(joist_r_form form, SEXP payload, struct joist_type type, SEXP extents) {
  SEXP tensor = Rf_shallow_duplicate(pattern_of(form, type.ambiguous));
  const SEXP fields[] = {payload, joist_r_dtype_object(type.dtype), extents};
  joist_r_write_fields(tensor, fields, form != JOIST_R_ABSTRACT);
  return tensor;
}

SEXP joist_r_tensor_with(SEXP payload, struct joist_type type, SEXP extents) {
  return make_tensor(JOIST_R_CONCRETE, payload, type, extents);
}

SEXP joist_r_tensor(SEXP payload, struct joist_type type, const struct joist_shape *shape) {
  SEXP tensor = joist_r_tensor_with(payload, type, PROTECT(joist_r_shape_object(shape)));
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_aval(struct joist_type type, const struct joist_shape *shape) {
  SEXP extents = PROTECT(joist_r_shape_object(shape));
  SEXP tensor = make_tensor(JOIST_R_ABSTRACT, R_NilValue, type, extents);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_traced(SEXP trace, joist_value_id value, bool literal, struct joist_type type,
                    const struct joist_shape *shape) {
  SEXP extents = PROTECT(joist_r_shape_object(shape));
  SEXP tensor = PROTECT(make_tensor(JOIST_R_TRACED, trace, type, extents));
  /* A literal argument of a jitted function has no value until its dtype is known: its
   * number is that of the argument, negative. */
  const int number = literal ? -(int)value - 1 : (int)value;
  SEXP boxed = PROTECT(Rf_ScalarInteger(number));
  joist_r_set_field(tensor, JOIST_R_VALUE, boxed);
  UNPROTECT(3);
  return tensor;
}

/* ---- reading ---- */

void joist_r_shape(SEXP x, struct joist_shape *shape) {
  const R_xlen_t rank = Rf_xlength(x);
  if (Rf_inherits(x, "nv_tensor"))
    joist_r_stop(
        JOIST_ERROR_SHAPE,
        "a shape is an integer vector of extents, not a tensor; call as.integer() first, or "
        "make it a static argument of jit()");
  if ((TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP && x != R_NilValue) ||
      (Rf_isObject(x) && TYPEOF(x) != NILSXP))
    joist_r_stop(JOIST_ERROR_SHAPE, "a shape is an integer vector of extents, not %s",
                 Rf_type2char(TYPEOF(x)));
  if (rank > JOIST_RANK_MAX)
    joist_r_stop(JOIST_ERROR_SHAPE, "a tensor has at most %d dimensions, not %.0f", JOIST_RANK_MAX,
                 (double)rank);
  shape->rank = (int)rank;
  for (int d = 0; d < shape->rank; d++) {
    const double extent = TYPEOF(x) == REALSXP          ? REAL(x)[d]
                          : INTEGER(x)[d] == NA_INTEGER ? NA_REAL
                                                        : INTEGER(x)[d];
    if (!(extent >= 0) || extent != floor(extent))
      joist_r_stop(JOIST_ERROR_SHAPE, "extent %d of a shape must be a whole number of at least 0",
                   d + 1);
    if (extent > INT32_MAX)
      joist_r_stop(JOIST_ERROR_SHAPE, "extent %d of a shape is %.0f; the largest is 2^31 - 1",
                   d + 1, extent);
    shape->extent[d] = (uint32_t)extent;
  }
}

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
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (Rf_inherits(x, known[i].class))
      joist_r_stop(JOIST_ERROR_VALUE, "a %s is no array of numbers; call %s first", known[i].class,
                   known[i].advice);
  if (Rf_isObject(x)) {
    SEXP class = Rf_getAttrib(x, R_ClassSymbol);
    joist_r_stop(
        JOIST_ERROR_VALUE,
        "an object of class %s is no array of numbers; call as.numeric() or unclass() first",
        Rf_translateCharUTF8(STRING_ELT(class, 0)));
  }
  if (TYPEOF(x) == STRSXP)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "a character vector is no array of numbers; call as.numeric() first, or for whole "
                 "numbers beyond 2^53 nv_tensor() with dtype i64 or ui64");
  if (TYPEOF(x) == VECSXP && XLENGTH(x) > 0 && Rf_inherits(VECTOR_ELT(x, 0), "nv_tensor"))
    joist_r_stop(
        JOIST_ERROR_VALUE,
        "a list of tensors is no tensor; call do.call(c, x) or do.call(nv_stack, x) first");
  if (TYPEOF(x) == VECSXP)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "a list is no array of numbers; call unlist() or simplify2array() first");
  joist_r_stop(JOIST_ERROR_VALUE, "%s is no tensor and no array of numbers",
               x == R_NilValue ? "NULL" : Rf_type2char(TYPEOF(x)));
}

static _Noreturn void taken_apart(void) {
  joist_r_stop(JOIST_ERROR_VALUE,
               "this nv_tensor was taken apart; make a new one with nv_tensor()");
}

/* An R vector can have got the attributes of a tensor, and its class with them. */
static bool is_tensor(SEXP x) {
  if (!Rf_isObject(x)) return false;
  const bool plainly = joist_r_first_class(x) == class_of(JOIST_R_CONCRETE);
  if (!plainly && !Rf_inherits(x, "nv_tensor")) return false;
  if (TYPEOF(x) != S4SXP) taken_apart();
  return true;
}

static SEXP checked(SEXP field, SEXPTYPE type) {
  if ((SEXPTYPE)TYPEOF(field) != type) taken_apart();
  if (type != INTSXP && XLENGTH(field) != 1) taken_apart();
  return field;
}

/* An object of this class may hold anything: nothing is used before it has been looked at. */
static void read_tensor(SEXP x, struct joist_r_value *value) {
  struct joist_argument *const argument = &value->argument;
  SEXP fields[JOIST_R_AMBIGUOUS + 1];
  joist_r_read_fields(x, fields);
  argument->operand.type.dtype = joist_r_dtype(checked(fields[JOIST_R_DTYPE], STRSXP));
  argument->operand.type.ambiguous = fields[JOIST_R_AMBIGUOUS] != R_NilValue &&
                                     LOGICAL(checked(fields[JOIST_R_AMBIGUOUS], LGLSXP))[0] == TRUE;
  SEXP shape = checked(fields[JOIST_R_SHAPE], INTSXP);
  if (XLENGTH(shape) > JOIST_RANK_MAX) taken_apart();
  argument->shape.rank = (int)XLENGTH(shape);
  for (int d = 0; d < argument->shape.rank; d++) {
    if (INTEGER(shape)[d] < 0) taken_apart();
    argument->shape.extent[d] = (uint32_t)INTEGER(shape)[d];
  }
  if (!joist_shape_count(&argument->shape, &value->count)) taken_apart();
  argument->operand.rank = argument->shape.rank;
  value->payload = fields[JOIST_R_PAYLOAD];
  if (value->payload == R_NilValue) {
    if (!Rf_inherits(x, "nv_aval")) taken_apart();
    value->form = JOIST_R_ABSTRACT;
    return;
  }
  if (joist_r_is_remote(value->payload)) {
    value->form = JOIST_R_REMOTE;
    if (joist_r_remote_bytes(value->payload) !=
        value->count * joist_dtype_size(argument->operand.type.dtype))
      taken_apart();
    value->data = joist_r_remote_memory(value->payload);
    return;
  }
  if (TYPEOF(value->payload) == EXTPTRSXP) {
    value->form = JOIST_R_TRACED;
    SEXP numbers = checked(joist_r_field(x, JOIST_R_VALUE), INTSXP);
    if (XLENGTH(numbers) != 1) taken_apart();
    const int number = INTEGER(numbers)[0];
    value->leaf = number < 0;
    argument->operand.literal = value->leaf && argument->operand.type.ambiguous;
    argument->value = (joist_value_id)(number < 0 ? -(number + 1) : number);
    return;
  }
  value->form = JOIST_R_CONCRETE;
  const SEXPTYPE type = joist_r_payload_type(argument->operand.type.dtype);
  const size_t unit = type == RAWSXP ? joist_dtype_size(argument->operand.type.dtype) : 1;
  if ((SEXPTYPE)TYPEOF(value->payload) != type ||
      (size_t)XLENGTH(value->payload) != value->count * unit)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this nv_tensor was taken apart: its payload does not have the type and "
                 "length its dtype and shape ask for");
  value->data = joist_r_elements(value->payload);
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
  switch (TYPEOF(x)) {
    case LGLSXP:
      value->host = JOIST_HOST_LOGICAL;
      value->data = LOGICAL(x);
      return true;
    case INTSXP:
      value->host = JOIST_HOST_INTEGER;
      value->data = INTEGER(x);
      return true;
    case REALSXP:
      value->host = JOIST_HOST_DOUBLE;
      value->data = REAL(x);
      return true;
    case CPLXSXP:
      value->host = JOIST_HOST_COMPLEX;
      value->data = COMPLEX(x);
      return true;
    case RAWSXP:
      value->host = JOIST_HOST_RAW;
      value->data = RAW(x);
      return true;
    default:
      return false;
  }
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
    if (length > INT32_MAX)
      joist_r_stop(JOIST_ERROR_SHAPE,
                   "a vector of %.0f elements is too long for one dimension (the largest extent is "
                   "2^31 - 1); give it dimensions with dim<- or `shape`",
                   (double)length);
    argument->shape.rank = 1;
    argument->shape.extent[0] = (uint32_t)length;
  }
  argument->operand.rank = argument->shape.rank;
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
      argument->operand.type = (struct joist_type){JOIST_BOOL, false};
      break;
    default:
      argument->operand.literal = true;
      argument->operand.type =
          (struct joist_type){(joist_dtype)rules->literal[joist_host_category(value->host)], true};
  }
}

void joist_r_read_any(const struct joist_rules *rules, SEXP x, struct joist_r_value *value) {
  memset(value, 0, offsetof(struct joist_r_value, argument.shape.extent));
  value->object = x;
  value->payload = R_NilValue;
  value->leaf = false;
  value->data = NULL;
  value->argument.operand.has_range = false;
  value->argument.value = 0;
  const bool tensor = is_tensor(x);
  if (tensor) {
    read_tensor(x, value);
  } else {
    read_literal(rules, x, value);
    value->count = (size_t)XLENGTH(value->object);
  }
}

void joist_r_read(const struct joist_rules *rules, SEXP x, struct joist_r_value *value) {
  joist_r_read_any(rules, x, value);
  if (value->form == JOIST_R_REMOTE)
    joist_r_stop(JOIST_ERROR_DEVICE,
                 "this function works on the CPU and the tensor is on %s; call nv_to(x, \"cpu\") "
                 "first",
                 joist_r_remote_device(value->payload)->name);
}

bool joist_r_by_value(const struct joist_rules *rules) {
  return rules->policy == JOIST_BY_VALUE || rules->policy == JOIST_BY_LITERAL_VALUE;
}

joist_status joist_r_import(const struct joist_r_value *value, joist_dtype dtype, void *out,
                            struct joist_error *error) {
  const struct joist_run run = joist_r_run();
  if (dtype == JOIST_BOOL)
    return joist_import_truth(value->host, value->data, value->count, out, &run, error);
  return joist_import(value->host, value->data, value->count, dtype, JOIST_NA_ERROR, out, &run,
                      error);
}

void joist_r_read_range(struct joist_r_value *value) {
  struct joist_operand *const operand = &value->argument.operand;
  if (value->form == JOIST_R_LITERAL) {
    operand->has_range =
        joist_host_range(value->host, value->data, value->count, &operand->low, &operand->high);
  } else if (operand->rank == 0 &&
             (value->form == JOIST_R_CONCRETE || value->form == JOIST_R_REMOTE)) {
    struct joist_r_value here = *value;
    SEXP fetched = PROTECT(value->form == JOIST_R_REMOTE ? joist_r_fetch(&here, 1) : R_NilValue);
    (void)fetched;
    double complex_value[2];
    struct joist_error error;
    const joist_status status = joist_export(operand->type.dtype, here.data, 1, JOIST_HOST_COMPLEX,
                                             true, complex_value, NULL, &error);
    UNPROTECT(1);
    if (status != JOIST_OK) return;
    operand->has_range = true;
    operand->low = operand->high = complex_value[0];
  }
}

void joist_r_operand(SEXP x, struct joist_operand *out) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), x, &value);
  joist_r_read_range(&value);
  *out = value.argument.operand;
}
