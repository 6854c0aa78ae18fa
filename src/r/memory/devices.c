/* What R asks about devices. */
#include "r/memory/devices.h"

#include <stdio.h>
#include <string.h>

#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/error_text.h"

/* The call that gives it. */
SEXP joist_r_device_object(const char *name) {
  SEXP device = PROTECT(Rf_lang2(Rf_install("nv_device"), PROTECT(Rf_mkString(name))));
  Rf_setAttrib(device, R_ClassSymbol, Rf_mkString("joist_device"));
  MARK_NOT_MUTABLE(device);
  UNPROTECT(2);
  return device;
}

SEXP joist_r_device_names(void) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)joist_device_count()));
  for (R_xlen_t k = 0; k < XLENGTH(names); k++)
    SET_STRING_ELT(names, k, Rf_mkChar(joist_device_at((size_t)k)->name));
  UNPROTECT(1);
  return names;
}

SEXP joist_r_devices_in_use(void) {
  R_xlen_t n = 0;
  while (joist_device_in_use((size_t)n) != NULL) n++;
  SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++)
    SET_STRING_ELT(names, k, Rf_mkChar(joist_device_in_use((size_t)k)->name));
  UNPROTECT(1);
  return names;
}

/* A GPU that was asked for is never replaced by the CPU: the error says what is missing. */
static _Noreturn void not_ready(const char *name, const struct joist_device *device,
                                const struct joist_error *why) {
  enum { LINE = JOIST_R_ERROR_TEXT_SIZE };
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  const size_t n = joist_device_diagnose(rows);
  char line[LINE], *const text = R_alloc((n + 1) * LINE, 1);
  size_t used = (size_t)snprintf(text, LINE, "the device \"%.100s\" cannot be used%s%.1800s", name,
                                 device == NULL ? "" : ": ",
                                 device == NULL ? "" : joist_r_error_text(why, line));
  for (size_t k = 0; k < n; k++)
    if (!rows[k].found && (device == NULL || rows[k].why.code != why->code))
      used += (size_t)snprintf(text + used, LINE, "\n  %s: %.2000s", rows[k].item,
                               joist_r_error_text(&rows[k].why, line));
  joist_r_stop(JOIST_ERROR_DEVICE, "%s", text);
}

static _Noreturn void no_device(const char *text) {
  char known[256] = "";
  for (size_t k = 0, used = 0; k < joist_device_count() && used < sizeof known; k++)
    used += (size_t)snprintf(known + used, sizeof known - used, k == 0 ? "%s" : ", %s",
                             joist_device_at(k)->name);
  joist_r_stop(JOIST_ERROR_DEVICE,
               "there is no device \"%s\" in this build of joist; the devices are: %s", text,
               known);
}

const struct joist_device *joist_r_device_named(SEXP name) {
  const char *const text = joist_r_string(name, "device");
  const struct joist_device *const device = joist_device_find(text);
  if (device == NULL) no_device(text);
  return device;
}

SEXP joist_r_device(SEXP name) {
  const bool is_string =
      TYPEOF(name) == STRSXP && XLENGTH(name) == 1 && STRING_ELT(name, 0) != NA_STRING;
  const char *const text = is_string ? Rf_translateCharUTF8(STRING_ELT(name, 0)) : "";
  if (!is_string)
    joist_r_stop(JOIST_ERROR_DEVICE, "a device must be a single string such as \"cpu\"");
  const struct joist_device *const device = joist_device_find(text);
  struct joist_error error;
  if (device != NULL && device->ready(device, &error) == JOIST_OK)
    return joist_r_device_object(device->name);
  if (device != NULL || strncmp(text, "cuda", 4) == 0) not_ready(text, device, &error);
  no_device(text);
}

SEXP joist_r_diagnose(void) {
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  const size_t n = joist_device_diagnose(rows);
  static const char *names[] = {"item", "found", "detail", ""};
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP item = Rf_allocVector(STRSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(table, 0, item);
  SEXP found = Rf_allocVector(LGLSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(table, 1, found);
  SEXP detail = Rf_allocVector(STRSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(table, 2, detail);
  for (size_t k = 0; k < n; k++) {
    SET_STRING_ELT(item, (R_xlen_t)k, Rf_mkChar(rows[k].item));
    LOGICAL(found)[k] = rows[k].found;
    char why[JOIST_R_ERROR_TEXT_SIZE];
    const char *const text = rows[k].found ? rows[k].detail : joist_r_error_text(&rows[k].why, why);
    SET_STRING_ELT(detail, (R_xlen_t)k, Rf_mkCharCE(text, CE_UTF8));
  }
  UNPROTECT(1);
  return table;
}

static const struct joist_device *ready_device(SEXP name) {
  const struct joist_device *const device = joist_r_device_named(name);
  struct joist_error error;
  const joist_status status = device->ready(device, &error);
  joist_r_raise_if(status, &error);
  return device;
}

SEXP joist_r_device_memory(SEXP name) {
  const struct joist_device *const device = ready_device(name);
  const struct joist_device_figures figures = device->figures(device);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 4));
  REAL(out)[0] = (double)figures.used;
  REAL(out)[1] = (double)figures.kept;
  REAL(out)[2] = (double)figures.available;
  REAL(out)[3] = (double)figures.total;
  UNPROTECT(1);
  return out;
}

SEXP joist_r_synchronize(SEXP name) {
  const struct joist_device *const device = ready_device(name);
  struct joist_error error;
  const joist_status status = device->synchronize(device, &error);
  joist_r_raise_if(status, &error);
  return R_NilValue;
}
