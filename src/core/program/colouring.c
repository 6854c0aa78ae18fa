/* Colours of the columns of a sparse matrix. */
#include "core/program/colouring.h"

int32_t joist_colour_columns(const struct joist_columns *columns, const struct joist_columns *rows,
                             const bool *alone, const bool *skip, int32_t *colour, int32_t *room) {
  const int32_t none = -1;
  int32_t *const taken_by = room; /* the latest column that cannot take a colour */
  int32_t count = 0;
  for (size_t j = 0; j < columns->count; j++) colour[j] = taken_by[j] = none;
  taken_by[columns->count] = none;
  for (size_t j = 0; j < columns->count; j++) {
    if (alone[j]) continue;
    for (int32_t k = columns->start[j]; k < columns->start[j + 1]; k++) {
      const int32_t r = columns->row[k];
      if (skip[r]) continue;
      for (int32_t c = rows->start[r]; c < rows->start[r + 1]; c++)
        if (colour[rows->row[c]] != none) taken_by[colour[rows->row[c]]] = (int32_t)j;
    }
    int32_t own = 0;
    while (taken_by[own] == (int32_t)j) own++;
    colour[j] = own;
    if (own >= count) count = own + 1;
  }
  for (size_t j = 0; j < columns->count; j++)
    if (alone[j]) colour[j] = count++;
  return count;
}
