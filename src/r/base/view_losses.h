/* What ALTREP methods could not show: they raise no conditions, so the next entry into joist warns.
 */
#ifndef JOIST_R_VIEW_LOSSES_H
#define JOIST_R_VIEW_LOSSES_H

#include <stddef.h>

#include "core/types/dtypes.h"

/* Why R sees NA where a tensor has no missing value. */
typedef enum {
  JOIST_R_UNREPRESENTABLE, /* the type that R sees lacks the value */
  JOIST_R_FILE_GONE,       /* a mapped file was truncated */
  JOIST_R_DEVICE_GONE,     /* a device failed */
  JOIST_R_REASONS
} joist_r_reason;

/* Records that so many values are shown as NA, to be warned about. */
void joist_r_view_lose(joist_dtype dtype, size_t count, joist_r_reason reason);
/* The same of a whole vector, which may be read several times before the warning. */
void joist_r_view_lose_again(joist_dtype dtype, size_t count, joist_r_reason reason);
/* Raises the warnings that methods have recorded, of class joist_view_warning. */
void joist_r_view_warn(void);

#endif
