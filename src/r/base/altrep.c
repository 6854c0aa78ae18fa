/* Makes families of classes of vectors. */
#include "r/base/altrep.h"

#include <stdio.h>

static const struct {
  SEXPTYPE type;
  const char *name;
  R_altrep_class_t (*make)(const char *name, const char *package, DllInfo *info);
} types[] = {{RAWSXP, "raw", R_make_altraw_class},
             {INTSXP, "integer", R_make_altinteger_class},
             {REALSXP, "real", R_make_altreal_class},
             {CPLXSXP, "complex", R_make_altcomplex_class}};
_Static_assert(sizeof types / sizeof *types == JOIST_R_ALTREP_TYPES, "one class for each type");

struct joist_r_altrep joist_r_altrep(const char *name, R_altrep_Length_method_t length,
                                     R_altvec_Dataptr_method_t data,
                                     R_altvec_Dataptr_or_null_method_t data_or_null) {
  struct joist_r_altrep family;
  for (int k = 0; k < JOIST_R_ALTREP_TYPES; k++) {
    char full[64];
    snprintf(full, sizeof full, "%s_%s", name, types[k].name);
    const R_altrep_class_t class = types[k].make(full, "joist", NULL);
    R_set_altrep_Length_method(class, length);
    R_set_altvec_Dataptr_method(class, data);
    R_set_altvec_Dataptr_or_null_method(class, data_or_null);
    family.classes[k] = class;
  }
  return family;
}

R_altrep_class_t joist_r_altrep_class(const struct joist_r_altrep *family, SEXPTYPE type) {
  for (int k = 1; k < JOIST_R_ALTREP_TYPES; k++)
    if (types[k].type == type) return family->classes[k];
  return family->classes[0];
}

bool joist_r_altrep_has(const struct joist_r_altrep *family, SEXP x) {
  if (!ALTREP(x)) return false;
  for (int k = 0; k < JOIST_R_ALTREP_TYPES; k++)
    if (R_altrep_inherits(x, family->classes[k])) return true;
  return false;
}

void joist_r_altrep_keep(SEXP x, int parts, int own, int part, SEXP what) {
  SEXP kept = R_altrep_data2(x);
  if (TYPEOF(kept) != VECSXP) {
    PROTECT(what);
    SEXP made = PROTECT(Rf_allocVector(VECSXP, parts));
    SET_VECTOR_ELT(made, own, kept);
    R_set_altrep_data2(x, made);
    UNPROTECT(2);
    kept = made;
  }
  SET_VECTOR_ELT(kept, part, what);
}
