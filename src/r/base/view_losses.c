/* Records what R sees as NA, and warns about it. */
#include "r/base/view_losses.h"

#include "r/base/conditions.h"

/* What the next entry into joist warns about: how many values of which dtype are NA, by reason. */
static struct {
  size_t count;
  joist_dtype dtype;
} lost[JOIST_R_REASONS];

void joist_r_view_lose(joist_dtype dtype, size_t count, joist_r_reason reason) {
  lost[reason].count += count;
  lost[reason].dtype = dtype;
}

void joist_r_view_lose_again(joist_dtype dtype, size_t count, joist_r_reason reason) {
  if (lost[reason].count < count) joist_r_view_lose(dtype, count - lost[reason].count, reason);
}

void joist_r_view_warn(void) {
  for (int reason = 0; reason < JOIST_R_REASONS; reason++) {
    if (lost[reason].count == 0) continue;
    static const char *const names[] = {[JOIST_R_UNREPRESENTABLE] = "unrepresentable",
                                        [JOIST_R_FILE_GONE] = "file",
                                        [JOIST_R_DEVICE_GONE] = "device"};
    const size_t count = lost[reason].count;
    lost[reason].count = 0;
    SEXP number = PROTECT(Rf_ScalarReal((double)count));
    SEXP dtype = PROTECT(Rf_mkString(joist_dtype_name(lost[reason].dtype)));
    SEXP name = PROTECT(Rf_mkString(names[reason]));
    joist_r_eval(PROTECT(Rf_lang4(Rf_install("warn_of_view"), number, dtype, name)));
    UNPROTECT(4);
  }
}
