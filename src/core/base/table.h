/* Hash tables of numbers: of elements of an array that the caller has, whose order is kept. A place
 * is 1 + a number, or 0 if it is free; half of the places are. A search starts at a hash and ends
 * at the number of an equal element or at a free place, which a new element takes. */
#ifndef JOIST_CORE_BASE_TABLE_H
#define JOIST_CORE_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* On the heap; begins as {0}. */
struct joist_table {
  uint32_t *places;
  uint32_t capacity;
};

static inline void joist_table_clear(struct joist_table *table) {
  free(table->places);
  table->places = NULL;
  table->capacity = 0;
}

/* Makes room for one number more than `count`. Returns false when memory is out. If `grown`, all
 * places are free, and the caller puts the numbers there are. */
static inline bool joist_table_reserve(struct joist_table *table, uint32_t count, bool *grown) {
  uint32_t capacity = table->capacity == 0 ? 32 : table->capacity;
  while (2 * ((uint64_t)count + 1) > capacity) {
    if (capacity > UINT32_MAX / 4) return false;
    capacity *= 2;
  }
  *grown = capacity != table->capacity;
  if (!*grown) return true;
  uint32_t *const places = (uint32_t *)calloc(capacity, sizeof *places);
  if (places == NULL) return false;
  free(table->places);
  table->places = places;
  table->capacity = capacity;
  return true;
}

/* The place of a hash; the places of the hashes that follow it come next. */
static inline uint32_t *joist_table_place(const struct joist_table *table, uint64_t hash) {
  return &table->places[hash & (table->capacity - 1)];
}

#endif
