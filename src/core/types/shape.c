/* Shape arithmetic. Owns no memory. */
#include "core/types/shape.h"

#include <stdio.h>
#include <string.h>

bool joist_shape_count(const struct joist_shape *shape, size_t *count) {
  const size_t limit = (size_t)PTRDIFF_MAX / 16;
  size_t n = 1;
  for (int d = 0; d < shape->rank; d++)
    if (shape->extent[d] == 0) {
      *count = 0;
      return true;
    }
  for (int d = 0; d < shape->rank; d++) {
    if (n > limit / UINT32_MAX && n > limit / shape->extent[d]) return false;
    n *= shape->extent[d];
  }
  *count = n;
  return true;
}

bool joist_shape_equal(const struct joist_shape *lhs, const struct joist_shape *rhs) {
  return lhs->rank == rhs->rank &&
         memcmp(lhs->extent, rhs->extent, (size_t)lhs->rank * sizeof *lhs->extent) == 0;
}

const char *joist_shape_format(const struct joist_shape *shape, char text[JOIST_SHAPE_TEXT]) {
  size_t used = 0;
  text[used++] = '{';
  for (int d = 0; d < shape->rank && used + 16 < JOIST_SHAPE_TEXT; d++)
    used += (size_t)snprintf(text + used, JOIST_SHAPE_TEXT - used, d == 0 ? "%lu" : "x%lu",
                             (unsigned long)shape->extent[d]);
  text[used++] = '}';
  text[used] = '\0';
  return text;
}

void joist_shape_reduce(const struct joist_shape *shape, uint32_t mask, bool drop,
                        struct joist_shape *result) {
  result->rank = 0;
  for (int d = 0; d < shape->rank; d++) {
    const bool reduced = (mask >> d & 1) != 0;
    if (!reduced || !drop) result->extent[result->rank++] = reduced ? 1 : shape->extent[d];
  }
}

struct joist_lines joist_shape_lines(const struct joist_shape *shape, int dim) {
  struct joist_lines lines = {1, 1, 1};
  for (int d = 0; d < shape->rank; d++) {
    if (dim < 0 || d == dim)
      lines.middle *= shape->extent[d];
    else if (d < dim)
      lines.inner *= shape->extent[d];
    else
      lines.outer *= shape->extent[d];
  }
  return lines;
}
