/* Colours of the columns of a sparse matrix: two columns of one colour have no row in common. */
#ifndef JOIST_CORE_PROGRAM_COLOURING_H
#define JOIST_CORE_PROGRAM_COLOURING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sparse matrix by its columns: the rows of column j are row[start[j]] to row[start[j + 1] - 1].
 */
struct joist_columns {
  size_t count;
  const int32_t *start, *row;
};

/* Sets the colour of each column, from 0 on, and returns how many there are: each takes the first
 * that it can. Columns of `alone` have one of their own, and rows of `skip` do not count. `rows` is
 * the same matrix by its rows. `room` is for as many numbers as there are columns, and one. */
int32_t joist_colour_columns(const struct joist_columns *columns, const struct joist_columns *rows,
                             const bool *alone, const bool *skip, int32_t *colour, int32_t *room);

#endif
