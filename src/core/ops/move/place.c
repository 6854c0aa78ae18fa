/* Putting a part into its place: one walk that writes along the first dim. */
#include "core/ops/move/place.h"

#include "core/ops/move/permute.h"

static int dim_in_part(const struct joist_place *place, int d) {
  return place->turned ? place->part->rank - 1 - d : d;
}

bool joist_place_fits(const struct joist_place *place) {
  if (place->part->rank != place->shape->rank) return false;
  for (int d = 0; d < place->shape->rank; d++) {
    const uint32_t extent = place->part->extent[dim_in_part(place, d)];
    const uint32_t all = place->shape->extent[d];
    if (place->start[d] > all || extent > all - place->start[d]) return false;
  }
  return true;
}

joist_status joist_place_part(size_t size, const struct joist_place *place, const void *in,
                              void *out, const struct joist_run *run, struct joist_error *error) {
  const int rank = place->shape->rank;
  int64_t from[JOIST_RANK_MAX], stride = 1, to = 1;
  for (int d = 0; d < rank; d++) {
    from[d] = stride;
    stride *= (int64_t)place->part->extent[d];
  }
  struct joist_walk walk;
  joist_walk_init(&walk, false);
  for (int d = 0; d < rank; d++) {
    const int own = dim_in_part(place, d);
    joist_walk_add(&walk, place->part->extent[own], from[own], to, NULL);
    walk.out_base += (int64_t)place->start[d] * to;
    to *= (int64_t)place->shape->extent[d];
  }
  return joist_walk_transpose(size, &walk, in, out, run, error);
}
